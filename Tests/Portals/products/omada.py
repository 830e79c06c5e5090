"""TP-Link Omada (portals 3.10; the vendor's documents) and Juniper Mist (3.9; CPAL MistCom)."""

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}


class Omada(Product):
    """An external portal that posts to the controller. Its built-in page speaks JSON that is not known well enough: a browser's."""

    name, ports = "omada", {8088: "http", 8843: "https"}
    gatewayNames = ("omada.example",)
    scenarios = [
        Scenario("external", user=GUEST, fewest=2),
        Scenario("external refused", "refused", GUEST | {"password": "no"}, text="invalid"),
        Scenario("built in", "handed over", {"password": "secret"}, {"builtIn": True}),
        Scenario("localhost", "handed over", GUEST, {"untrusted": True}),
    ]

    def intercept(self, request):
        common = {"clientMac": CLIENT_MAC, "clientIp": CLIENT, "apMac": "02-00-00-00-00-AA", "ssidName": "Lab", "radioId": "1"}
        if self.options.get("builtIn"):
            return redirect("http://omada.example:8088/portal?" + encode(cid=CLIENT_MAC, ap="02-00-00-00-00-AA", ssid="Lab", t="1700000000", rid="1", site="Default"))
        return redirect("http://portal.omada.example/?" + encode(**common, site="Default", target="omada.example", targetPort="8843", scheme="https",
                                                               originUrl=request.url, raidusServerIp="192.0.2.9"))

    def answer(self, request):
        fields = request.form
        match request.host, request.path:
            case "portal.omada.example", "/" if "target" in request.args:
                query = request.args
                kept = {name: query[name] for name in ("clientMac", "clientIp", "apMac", "ssidName", "radioId", "originUrl")}
                error = f'<p class="error">{query["error"]}</p>' if "error" in query else ""
                return page("Hotel", error + form(f"{query['scheme']}://{query['target']}:{query['targetPort']}/portal/radius/browserauth", hidden(**kept, authType="2"),
                                                  line("username", "Username"), line("password", "Password", "password"), button("Log In")))
            case "omada.example", "/portal":
                return page("Portal", '<div id="app"></div><script src="/pubStatic/portal.js"></script><script>portal.start();</script>')
            case "omada.example", "/portal/radius/browserauth" if request.method == "POST" and request.port == 8843:
                wanted = ("clientMac", "clientIp", "apMac", "ssidName", "radioId", "originUrl")
                right = (fields.get("username"), fields.get("password"), fields.get("authType")) == ("guest", "secret", "2")
                if not right or any(name not in fields for name in wanted) or fields["clientMac"] != CLIENT_MAC:
                    common = {name: fields.get(name, "") for name in wanted}
                    return redirect("http://portal.omada.example/?" + encode(**common, target="omada.example", targetPort="8843", scheme="https", error="Username or password is invalid"))
                self.admit()
                return redirect(fields["originUrl"])
        return Answer(404)


class Mist(Product):
    name, host = "mist", "https://portal.eu.mist.com"
    scenarios = [
        Scenario("click", fewest=2),
        Scenario("passphrase", user={"password": "let me in", "code": "let me in"}, options={"phrase": True}, fewest=2),
        Scenario("passphrase refused", "refused", {"password": "no", "code": "no"}, {"phrase": True}, "Invalid passphrase"),
    ]

    def intercept(self, request):
        return redirect(f"{self.host}/?" + encode(ap_mac="0200000000aa", client_mac=CLIENT_MAC.replace(":", ""), wlan_id="be22bba7", url=request.url, ap_name="ap", site_name="Lab"))

    def answer(self, request):
        if request.host != "portal.eu.mist.com":
            return Answer(404)
        fields, phrase = request.form, self.options.get("phrase")
        if request.path == "/logon" and request.method == "POST":
            known = fields.get("wlan_id") == "be22bba7" and fields.get("client_mac") == CLIENT_MAC.replace(":", "") and fields.get("auth_method") == "passphrase"
            if not known or fields.get("tos") != "true" or (phrase and fields.get("passphrase") != "let me in"):
                return self.page(fields, "Invalid passphrase")
            self.admit()
            return redirect(fields["url"])
        return self.page(request.args, "")

    def page(self, fields, error):
        kept = {name: fields.get(name, "") for name in ("ap_mac", "client_mac", "wlan_id", "url")}
        phrase = line("passphrase", "Passphrase", "password") if self.options.get("phrase") else ""
        return page("Guest Portal", (f'<p class="error">{error}</p>' if error else "") + form(
            "/logon", hidden(**kept, auth_method="passphrase"), phrase, box("tos", "I accept the Terms of Service", "true"), button("Sign In")))
