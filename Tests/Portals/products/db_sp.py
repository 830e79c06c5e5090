"""Deutsche Bahn, interface "sp": portals 5, after CPAL DBWifi."""

from lab import Product, Scenario
from pages import *


class DBStation(Product):
    """WIFI@DB in stations: a form with one click."""

    name, ssid = "db-sp", "WIFI@DB"
    scenarios = [Scenario("click", fewest=2)]

    def intercept(self, request):
        return redirect("https://wifi.bahn.de/sp/7cb09a17/")

    def answer(self, request):
        if request.host != "wifi.bahn.de":
            return Answer(404)
        if request.method == "POST" and request.path.endswith("/login"):
            if request.form.get("login") != "oneclick" or request.form.get("oneSubscriptionForm_connect_policy_accept") != "on":
                return redirect("/sp/7cb09a17/")
            self.admit()
            return page("WIFI@DB", "<p>You are connected.</p>")
        return page(
            "WIFI@DB",
            form(
                "/login",
                hidden(login="oneclick"),
                box("oneSubscriptionForm_connect_policy_accept", "I accept the terms of use"),
                button("Connect"),
            ),
        )
