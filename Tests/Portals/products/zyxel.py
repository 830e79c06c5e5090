"""Zyxel Nebula: portals 3.14."""

from lab import CLIENT_MAC, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}


class Zyxel(Product):
    """Nothing is published of its fields: whatever form it shows is a browser's to understand, and a script's is handed over."""

    name = "zyxel"
    scenarios = [Scenario("script", "handed over", GUEST)]

    def intercept(self, request):
        return redirect("https://zyxel.example/uamportal.php?" + encode(gw_addr="10.20.0.1", clientmac=CLIENT_MAC))

    def answer(self, request):
        return page("Nebula", '<div id="app"></div><script src="/app.js"></script>')
