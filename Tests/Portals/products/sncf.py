"""SNCF: portals 5."""

from lab import Product, Scenario
from pages import *


class SNCF(Product):
    name, ssid = "sncf", "_SNCF_WIFI_INOUI"
    scenarios = [Scenario("click", fewest=2), Scenario("late gate", fewest=2, delay=3)]

    def intercept(self, request):
        return redirect("https://wifi.sncf/")

    def answer(self, request):
        match request.method, request.host, request.path:
            case "GET", "wifi.sncf", "/router/api/connection/status":
                return jsonAnswer({"active": self.isOpen})
            case "POST", "wifi.sncf", "/router/api/connection/activate/auto" if "json" in request.headers.get(
                "Content-Type", ""
            ) and request.json() in ({}, {"without21NetConnection": False}):
                self.admit()
                return jsonAnswer({"active": True})
            case "GET", "wifi.sncf", "/router/api/connection/statistics":
                return jsonAnswer({"quota": 0.01, "next_reset": 1700003600})
            case "GET", "wifi.sncf", _:
                return page(
                    "WiFi",
                    '<app-root></app-root><p>En vous connectant, vous acceptez les <a href="/cgu">conditions générales d\'utilisation</a>.</p><script src="/main.js"></script>',
                )
        return Answer(404)
