"""Extreme and its parts (portals 3.13 and 3.14): HiveOS, WiNG (CPAL BlockHouse), and IQ Controller, whose end is not known well enough."""

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}


class HiveOS(Product):
    name, addresses = "extreme-hiveos", ("1.1.1.1",)
    scenarios = [
        Scenario("account", user=GUEST, fewest=2),
        Scenario("refused", "refused", GUEST | {"password": "no"}, text="Login failed"),
    ]

    def intercept(self, request):
        return self.portal(request.url)

    def portal(self, url, **more):
        return redirect("http://portal.hive.example/?" + encode(**{"RADIUS-NAS-IP": "10.20.0.1", "Calling-Station-Id": CLIENT_MAC, "STA-IP": CLIENT, "ssid": "Lab", "url": url}, **more))

    def answer(self, request):
        fields = request.form
        if request.to == "1.1.1.1":
            if request.path != "/reg.php" or request.method != "POST":
                return self.intercept(request)
            if (fields.get("username"), fields.get("password"), fields.get("autherr")) != ("guest", "secret", "0") or "ssid" not in fields:
                return self.portal(fields.get("url", ""), autherr="1")
            self.admit()
            return redirect(fields.get("url") or "http://example.org/")
        if request.host != "portal.hive.example":
            return Answer(404)
        error = '<p class="error">Login failed</p>' if request.args.get("autherr") == "1" else ""
        return page("Guest", error + form("http://1.1.1.1/reg.php", hidden(ssid="Lab", url=request.args.get("url", ""), autherr="0"), line("username", "User name"),
                                          line("password", "Password", "password"), button("Submit", "Submit2", "Submit")))


class WiNG(Product):
    name, ports, gatewayNames = "extreme-wing", {880: "http"}, ("wing.example",)
    scenarios = [
        Scenario("account", user=GUEST, fewest=2),
        Scenario("click", options={"agree": True}, fewest=2),
    ]

    def intercept(self, request):
        return redirect("http://wing.example:880/Lab/agreement.html?" + encode(hs_server="wing.example", Qv="it_qpmjdz=Lab@bbb_qpmjdz=Guest@"))

    def answer(self, request):
        fields = request.form
        if request.host != "wing.example" or request.port != 880:
            return Answer(404)
        if request.path == "/cgi-bin/hslogin.cgi" and request.method == "POST":
            known = fields.get("f_Qv", "").startswith("it_qpmjdz") and fields.get("f_hs_server") == "wing.example"
            right = "f_agree" in fields if self.options.get("agree") else (fields.get("f_user"), fields.get("f_pass")) == ("guest", "secret")
            if not (known and right):
                return page("Failure", "<p>Authentication failed.</p>")
            self.admit()
            return page("Success", "<p>You are connected.</p>")
        kept = hidden(f_hs_server="", f_Qv="", f_curr_time="")
        parts = box("f_agree", "I agree to the terms", "agree") if self.options.get("agree") else line("f_user", "User") + line("f_pass", "Password", "password")
        script = """<script>var port = 880; var postToUrl = "/cgi-bin/hslogin.cgi"; var hs_server = getQueryVariable("hs_server");
document.f.f_hs_server.value = hs_server; document.f.f_Qv.value = getQueryVariable("Qv"); document.f.action = "http://" + hs_server + ":" + port + postToUrl;</script>"""
        return page("Hotspot", form("", kept, parts, button("Sign In", "submit", "Sign In"), name="f") + script)


class IQController(Product):
    """The approval is signed on the way back; a browser can do it, our facts are too thin."""

    name = "extreme-iqc"
    scenarios = [Scenario("signed approval", "handed over", GUEST)]

    def intercept(self, request):
        return redirect("https://portal.iqc.example/?" + encode(token="t0k", hwc_ip="10.20.0.1", hwc_port="444", wlan="1", dest=request.url, bssid="02:00:00:00:00:aa", mac=CLIENT_MAC, ssid="Lab"))

    def answer(self, request):
        return page("Guest", '<div id="root"></div><script src="/main.js"></script>') if request.host == "portal.iqc.example" else Answer(404)
