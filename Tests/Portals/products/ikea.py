"""IKEA: portals 5, after CPAL IKEA."""

import secrets

from lab import CLIENT_MAC, Product, Scenario
from pages import *


class IKEA(Product):
    """JSON gives an account, which a LANCOM is told (CPAL IKEA)."""

    name, gatewayNames = "ikea", ("yo-wifi.net",)
    scenarios = [Scenario("terms", fewest=3)]

    def begin(self):
        self.password = secrets.token_hex(8)

    def intercept(self, request):
        return redirect("https://yo-wifi.net/authen/?" + encode(user_mac=CLIENT_MAC, device_name="lab1", url=request.url))

    def answer(self, request):
        fields = request.args
        if request.host != "yo-wifi.net":
            return Answer(404)
        match request.method, request.path:
            case "GET", "/authen/":
                return redirect("/?" + encode(user_mac=CLIENT_MAC, device_name="lab1"))
            case "GET", "/":
                return page(
                    "IKEA WiFi",
                    '<div id="app"></div><p>By connecting you accept the <a href="/terms">terms of use</a>.</p><script src="/app.js"></script>',
                )
            case "POST", "/login/tc" if (
                fields.get("client_id") == "1"
                and fields.get("nasid") == "lab1"
                and fields.get("user_type") == "9"
                and fields.get("user_mac") == CLIENT_MAC.replace(":", "-")
            ):
                return jsonAnswer({"payload": {"realm": "R", "username": "u1", "password": self.password}})
            case "GET", "/authen/login/" if (fields.get("userid"), fields.get("password")) == ("R1\\u1\\9", self.password):
                self.admit()
                return redirect("http://example.org/")
        return Answer(404)
