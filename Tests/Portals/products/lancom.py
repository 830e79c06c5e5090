"""LANCOM Public Spot: portals 3.14, after CPAL Lancom and StaatstheaterStuttgart."""

from lab import Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}
REFUSED = GUEST | {"password": "no"}


class LANCOM(Product):
    name, gatewayNames = "lancom", ("hotspot.lancom.example",)
    scenarios = [
        Scenario("account", user=GUEST, fewest=2),
        Scenario("refused", "refused", REFUSED, text="Login failed"),
        Scenario("room", user={"surname": "Brandt", "room": "214"}, options={"pms": True}, fewest=2),
        Scenario("terms", options={"agb": True}, fewest=2),
        Scenario("cloud", options={"cloud": True}, fewest=2),
    ]

    def intercept(self, request):
        return redirect(
            "https://hotspot.lmc.de/cloud-service-hotspot/lab"
            if self.options.get("cloud")
            else "http://hotspot.lancom.example/authen/"
        )

    def answer(self, request):
        if request.host == "hotspot.lmc.de" and request.path == "/cloud-service-hotspot/lab":
            if request.method == "POST":
                self.admit()
            return page(
                "Hotspot",
                (
                    "<p>You are connected.</p>"
                    if self.isOpen
                    else form("", "<p>Please accept the terms.</p>", button("Accept and connect"))
                ),
            )
        if request.path == "/authen/agblogin/" and self.options.get("agb") and request.form.get("AGB") == "on":
            self.admit()
            return page("Login successful", "<p>You are logged in.</p>")
        if request.host != "hotspot.lancom.example" or request.path not in ("/authen/", "/authen/login/"):
            return Answer(404)
        if self.options.get("agb"):
            return page("Public Spot", form("agblogin/", box("AGB", "Ich akzeptiere die AGB"), button("Anmelden")))
        fields, error = request.form, ""
        parts = (
            line("surname", "Surname") + line("room", "Room number")
            if self.options.get("pms")
            else line("userid", "User ID") + line("password", "Password", "password")
        )
        if request.method == "POST":
            right = {("userid", "guest"), ("password", "secret")} <= fields.items() or {
                ("surname", "Brandt"),
                ("room", "214"),
            } <= fields.items()
            if right and request.path == "/authen/login/":
                self.admit()
                return page("Login successful", "<p>You are logged in.</p>")
            error = '<p class="error">Login failed</p>'
        return page("Public Spot", error + form("/authen/login/", parts, button("Login")))
