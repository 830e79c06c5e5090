"""České dráhy: portals 5, after sistason/db_wlan_manager."""

from lab import Product, Scenario
from pages import *


class CD(Product):
    name = "cd"
    scenarios = [Scenario("click", fewest=2)]

    def intercept(self, request):
        return redirect("http://cdwifi.cz/")

    def answer(self, request):
        match request.method, request.host, request.path:
            case "GET", "cdwifi.cz", "/":
                return page("CDWiFi", '<div id="app"></div><script src="/app.js"></script>')
            case "POST", "cdwifi.cz", "/portal/api/vehicle/gateway/user/authenticate":
                self.admit()
                return jsonAnswer({"authenticated": True})
            case "GET", "cdwifi.cz", "/portal/api/vehicle/gateway/data/limit":
                return jsonAnswer({"usedAmount": 1, "totalLimit": 500})
        return Answer(404)
