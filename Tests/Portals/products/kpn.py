"""KPN: portals 5, after CPAL KPN."""

from lab import Product, Scenario
from pages import *


class KPN(Product):
    name = "kpn"
    scenarios = [Scenario("free", fewest=2)]

    def intercept(self, request):
        return redirect("https://login.wifi.kpn.com/")

    def answer(self, request):
        if request.host != "login.wifi.kpn.com":
            return Answer(404)
        if request.path == "/Home/StartSessionForFree":
            if request.method == "POST" and request.form.get("__RequestVerificationToken") == "v1":
                self.admit()
                return page("KPN", "<p>You are online.</p>")
            return Answer(400)
        return page(
            "KPN WiFi",
            "<p>By using this service you accept the terms.</p>"
            + form("/Home/StartSessionForFree", hidden(__RequestVerificationToken="v1"), button("Go online")),
        )
