"""Extreme (Aerohive) HiveOS: portals 3.14, after inverse-inc/packetfence:lib/pf/Switch/AeroHIVE/AP.pm."""

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
        return redirect(
            "http://portal.hive.example/?"
            + encode(
                **{"RADIUS-NAS-IP": "10.20.0.1", "Calling-Station-Id": CLIENT_MAC, "STA-IP": CLIENT, "ssid": "Lab", "url": url},
                **more
            )
        )

    def answer(self, request):
        fields = request.form
        if request.to == "1.1.1.1":
            if request.path != "/reg.php" or request.method != "POST":
                return self.intercept(request)
            if (fields.get("username"), fields.get("password"), fields.get("autherr")) != (
                "guest",
                "secret",
                "0",
            ) or "ssid" not in fields:
                return self.portal(fields.get("url", ""), autherr="1")
            self.admit()
            return redirect(fields.get("url") or "http://example.org/")
        if request.host != "portal.hive.example":
            return Answer(404)
        error = '<p class="error">Login failed</p>' if request.args.get("autherr") == "1" else ""
        return page(
            "Guest",
            error
            + form(
                "http://1.1.1.1/reg.php",
                hidden(ssid="Lab", url=request.args.get("url", ""), autherr="0"),
                line("username", "User name"),
                line("password", "Password", "password"),
                button("Submit", "Submit2", "Submit"),
            ),
        )
