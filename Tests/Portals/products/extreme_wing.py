"""Extreme (Motorola, Zebra) WiNG: portals 3.14, after CPAL BlockHouse."""

from lab import Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}


class WiNG(Product):
    name, ports, gatewayNames = "extreme-wing", {880: "http"}, ("wing.example",)
    scenarios = [
        Scenario("account", user=GUEST, fewest=2),
        Scenario("click", options={"agree": True}, fewest=2),
    ]

    def intercept(self, request):
        return redirect(
            "http://wing.example:880/Lab/agreement.html?" + encode(hs_server="wing.example", Qv="it_qpmjdz=Lab@bbb_qpmjdz=Guest@")
        )

    def answer(self, request):
        fields = request.form
        if request.host != "wing.example" or request.port != 880:
            return Answer(404)
        if request.path == "/cgi-bin/hslogin.cgi" and request.method == "POST":
            known = fields.get("f_Qv", "").startswith("it_qpmjdz") and fields.get("f_hs_server") == "wing.example"
            right = (
                "f_agree" in fields
                if self.options.get("agree")
                else (fields.get("f_user"), fields.get("f_pass")) == ("guest", "secret")
            )
            if not (known and right):
                return page("Failure", "<p>Authentication failed.</p>")
            self.admit()
            return page("Success", "<p>You are connected.</p>")
        kept = hidden(f_hs_server="", f_Qv="", f_curr_time="")
        parts = (
            box("f_agree", "I agree to the terms", "agree")
            if self.options.get("agree")
            else line("f_user", "User") + line("f_pass", "Password", "password")
        )
        script = """<script>var port = 880; var postToUrl = "/cgi-bin/hslogin.cgi"; var hs_server = getQueryVariable("hs_server");
document.f.f_hs_server.value = hs_server; document.f.f_Qv.value = getQueryVariable("Qv"); document.f.action = "http://" + hs_server + ":" + port + postToUrl;</script>"""
        return page("Hotspot", form("", kept, parts, button("Sign In", "submit", "Sign In"), name="f") + script)
