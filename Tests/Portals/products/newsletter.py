"""A habit of many portals: portals 0.2."""

from lab import CLIENT_MAC, Product, Scenario
from pages import *


class Newsletter(Product):
    """Not one chain but a habit of many: an e-mail that may stay empty, and a newsletter that the user did not ask for."""

    name = "newsletter"
    scenarios = [Scenario("terms only", fewest=2)]

    def intercept(self, request):
        return redirect("https://wifi.shop.example/?" + encode(client_mac=CLIENT_MAC))

    def answer(self, request):
        fields = request.form
        if request.host != "wifi.shop.example":
            return Answer(404)
        if request.method == "POST" and fields.get("terms") == "1":
            if fields.get("newsletter") or fields.get("email"):
                return page("Error", "<p>A newsletter was ordered.</p>")
            self.admit()
            return page("Welcome", "<p>You are connected.</p>")
        return page(
            "Free WiFi",
            form(
                "",
                hidden(lang="de"),
                line("email", "E-mail (optional)"),
                box("terms", "I accept the terms of use", "1"),
                box("newsletter", "I want the newsletter", "1"),
                button("Connect"),
            ),
        )
