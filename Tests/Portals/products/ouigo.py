"""OUIGO: portals 5."""

from lab import Product, Scenario
from pages import *


class OUIGO(Product):
    """Its login is not known: a browser's."""

    name = "ouigo"
    ports = {8084: "http"}
    scenarios = [Scenario("script", "handed over")]

    def intercept(self, request):
        return redirect("http://ouifi.ouigo.com:8084/")

    def answer(self, request):
        return page("OUIFI", '<div id="root"></div><script src="/main.js"></script>')
