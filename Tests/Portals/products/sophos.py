"""Sophos SFOS and Cyberoam: portals 3.8, after fifteen public clients."""

from lab import Product, Scenario
from pages import *

GUEST = {"user": "Ada", "password": "secret"}
SCRIPT = """<script src="/javascript/cyberoamAjax.js"></script><script>var title = 'Captive Portal'; var keepaliverequest='Y';
function submitRequest() { var body = 'mode=191&username=' + encodeURIComponent(document.frmHTTPClientLogin.username.value) + '&password='
  + encodeURIComponent(document.frmHTTPClientLogin.password.value) + '&a=' + (new Date).getTime() + '&producttype=0'; ajax('login.xml', body); return false; }</script>"""


class Sophos(Product):
    """A page by redirect, or none at all: the proxy only says 403."""

    ports, gatewayNames = {8090: "https"}, ("fw.sophos.example",)
    scenarios = [
        Scenario("account", user=GUEST, fewest=2, logoff=True),
        Scenario("refused", "refused", GUEST | {"password": "no"}, text="Login failed"),
        Scenario("data limit", "refused", GUEST, {"limit": True}, "data transfer limit"),
        Scenario("proxy says 403", "refused", GUEST, {"bare": True}, "Forbidden"),
    ]

    def intercept(self, request):
        if self.options.get("bare"):
            return Answer(403, "<html><body>Forbidden</body></html>", Via="HTTP/1.1 forward.http.proxy:3128", Connection="close")
        return redirect("https://fw.sophos.example:8090/httpclient.html")

    def answer(self, request):
        fields = request.args | request.form
        if request.host != "fw.sophos.example" or request.port != 8090:
            return Answer(404)
        match request.method, request.path:
            case "GET", "/httpclient.html":
                return page(
                    "Captive Portal",
                    SCRIPT
                    + form(
                        "",
                        line("username", "Username"),
                        line("password", "Password", "password"),
                        '<input type="button" value="Sign in" onclick="submitRequest()">',
                        name="frmHTTPClientLogin",
                        onsubmit="return submitRequest()",
                    ),
                )
            case "POST", "/login.xml" if (
                fields.get("mode") == "191" and fields.get("producttype") == "0" and fields.get("a", "").isdigit()
            ):
                return self.login(fields)
            case "GET", "/live" if fields.get("mode") == "192":
                return self.xml(
                    f"<liverequestresponse><ack><![CDATA[{'ack' if self.isOpen else 'login_again'}]]></ack></liverequestresponse>"
                )
            case "POST", "/logout.xml" if fields.get("mode") == "193" and fields.get("username") == "ada":
                self.expel()
                return self.xml(
                    "<requestresponse><status><![CDATA[LOGIN]]></status><message><![CDATA[You&#39;ve signed out]]></message></requestresponse>"
                )
        return Answer(404)

    def login(self, fields):
        if (fields.get("username", "").lower(), fields.get("password")) != ("ada", "secret"):
            status, text = "LOGIN", "Login failed. Invalid user name/password. Please contact the administrator."
        elif self.options.get("limit"):
            status, text = "LOGIN", "{username} has exceeded the data transfer limit"
        else:
            self.admit()
            status, text = "LIVE", "You are signed in as {username}"
        return self.xml(
            f"<requestresponse><status><![CDATA[{status}]]></status><message><![CDATA[{text}]]></message><logoutmessage></logoutmessage><state></state></requestresponse>"
        )

    def xml(self, text):
        return Answer(200, f"<?xml version='1.0' ?>{text}", "text/xml")
