"""Deutsche Bahn, interface "cna": portals 5, after CPAL DBWifi."""

from lab import CLIENT_MAC, Product, Scenario
from pages import *


class DBCna(Product):
    """WIFIonICE since 2022: the page is a script that posts JSON."""

    name, ssid = "db-cna", "WIFIonICE"
    scenarios = [
        Scenario("click", fewest=2, logoff=True),
        Scenario("late gate", fewest=2, delay=3),
        Scenario("first page", options={"first": True}, fewest=3),
        Scenario("refused", "refused", options={"full": True}),
    ]

    def intercept(self, request):
        if self.options.get("first"):
            return page(
                "WIFIonICE",
                form("http://login.wifionice.de/cna/", hidden(url=request.url), method="get", id="urlform")
                + "<script>document.getElementById('urlform').submit()</script>",
            )
        return redirect("http://login.wifionice.de/cna/")

    def answer(self, request):
        if request.host != "login.wifionice.de":
            return Answer(404)
        match request.method, request.path:
            case "GET", "/cna/":
                return page(
                    "WIFIonICE",
                    '<div id="root"></div><p>By connecting you accept the <a href="/cna/agb">terms of use</a>.</p><script src="/cna/static/main.js"></script>',
                )
            case "POST", "/cna/logon":
                if (
                    request.headers.get("X-Csrf-Token") != "csrf"
                    or request.body.strip() != b"{}"
                    or "json" not in request.headers.get("Content-Type", "")
                ):
                    return jsonAnswer({"result": "error", "message": "csrf"}, 403)
                if self.options.get("full"):
                    return jsonAnswer({"result": "error", "message": "The login is not possible at present."})
                self.admit()
                return jsonAnswer({"result": "success"})
            case "POST", "/cna/logoff" if request.headers.get("X-Csrf-Token") == "csrf":
                self.expel()
                return jsonAnswer({"result": "success"})
            case "GET", "/cna/wifi/user_info":
                return jsonAnswer({"result": {"authenticated": str(int(self.isOpen)), "userMac": CLIENT_MAC}})
        return Answer(404)
