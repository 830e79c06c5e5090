"""AVM Fritz!Box: portals 3.14, after CPAL FritzBox."""

from lab import Product, Scenario
from pages import *


class FritzBox(Product):
    name, ports, gatewayNames = "fritzbox", {8186: "http"}, ("fritz.box",)
    scenarios = [Scenario("accept", fewest=2), Scenario("blocked", "refused", {}, {"blocked": True}, "blocked")]

    def intercept(self, request):
        return redirect(
            "http://fritz.box/blocked" if self.options.get("blocked") else "http://fritz.box:8186/untrusted_guest.lua"
        )

    def answer(self, request):
        match request.path:
            case "/untrusted_guest.lua":
                return page(
                    "FRITZ!Box",
                    "<p>Welcome to the guest network.</p>"
                    + form("/trustme.lua", button("Accept terms and surf", "accept", "yes"), method="get"),
                )
            case "/trustme.lua" if request.args.get("accept") == "yes":
                self.admit()
                return page("FRITZ!Box", "<p>You can surf now.</p>")
            case "/blocked":
                return page("FRITZ!Box", "<p>Internet access is blocked for this device.</p>")
        return Answer(404)
