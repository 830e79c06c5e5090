"""Arista AGNI: portals 3.14, after CPAL Arista."""

from lab import CLIENT_MAC, Product, Scenario
from pages import *


class Arista(Product):
    name = "arista"
    scenarios = [Scenario("click", fewest=2)]

    def intercept(self, request):
        return redirect("https://onboard.agni.arista.io/portal/Eabc123?" + encode(mac=CLIENT_MAC))

    def answer(self, request):
        if (
            request.path == "/portal/Eabc123/clickThrough/logon"
            and request.method == "POST"
            and (request.form.get("orgID") or request.json().get("orgID")) == "Eabc123"
        ):
            self.admit()
            return jsonAnswer({"success": True})
        if request.path == "/portal/Eabc123":
            return page("Guest", '<button id="connect">Accept and connect</button><script src="/portal/app.js"></script>')
        return Answer(404)
