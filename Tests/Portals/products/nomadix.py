"""Nomadix: portals 5."""

from lab import CLIENT_MAC, Product, Scenario
from pages import *


class Nomadix(Product):
    """Its own page is a form: room and surname in a hotel, nothing asked to be paid (no source is known)."""

    name, ports, gatewayNames = "nomadix", {1111: "http"}, ("login.nomadix.example",)
    scenarios = [
        Scenario("room", user={"room": "214", "surname": "Brandt"}, fewest=2),
        Scenario("refused", "refused", {"room": "1", "surname": "X"}, text="do not match"),
        Scenario("to be paid", "handed over", {"room": "214", "surname": "Brandt"}, {"paid": True}),
    ]

    def intercept(self, request):
        return redirect(
            "http://login.nomadix.example:1111/usg/process?"
            + encode(OS=request.url, UI="1", MA=CLIENT_MAC.replace(":", ""), RN="214")
        )

    def answer(self, request):
        fields, error = request.form, ""
        if request.host != "login.nomadix.example" or request.path != "/usg/process":
            return Answer(404)
        if request.method == "POST":
            if (fields.get("RN"), fields.get("NAME")) == ("214", "Brandt"):
                self.admit()
                return page("Welcome", "<p>You are connected.</p>")
            error = '<p class="error">Room and name do not match.</p>'
        label = "Buy 24 hours for 9.95 EUR, charged to your room" if self.options.get("paid") else "Connect"
        return page("Hotel", error + form("/usg/process", line("RN", "Room number"), line("NAME", "Last name"), button(label)))
