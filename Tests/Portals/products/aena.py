"""AENA: portals 5, after CPAL AenaES."""

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *


class AENA(Product):
    """Spanish airports: an account at another company by script; a browser's."""

    name = "aena"
    scenarios = [Scenario("registration", "handed over", {"email": "ada@example.org"})]

    def intercept(self, request):
        return redirect(
            "https://freewifi.aena.es/2f1c?" + encode(cmd="login", mac=CLIENT_MAC, essid="AENA", ip=CLIENT),
            phrase="Captive Portal",
        )

    def answer(self, request):
        return (
            page("AENA", '<div id="gigya"></div><script src="https://login.aena.es/gigya.js"></script>')
            if request.host == "freewifi.aena.es"
            else Answer(404)
        )
