"""The Cloud, Sky WiFi, o2: portals 5, after CPAL TheCloud."""

from lab import Product, Scenario
from pages import *


class TheCloud(Product):
    """A chain of links, then a form (CPAL TheCloud)."""

    name = "thecloud"
    scenarios = [Scenario("terms", fewest=4)]
    root = "https://service.thecloud.eu/service-platform"

    def begin(self):
        self.steps = set()

    def intercept(self, request):
        return redirect(f"{self.root}/?" + encode(nasid="lab", url=request.url))

    def answer(self, request):
        if request.host != "service.thecloud.eu":
            return Answer(404)
        path = request.path.removeprefix("/service-platform")
        self.steps.add(path)
        match request.method, path:
            case "GET", "/":
                return page(
                    "The Cloud",
                    '<p>Free Wi-Fi</p><a href="url/welcome">Get online</a> <a href="/help">Help</a>',
                    Set_Cookie="sp=1; Path=/",
                )
            case "GET", "/url/welcome" if request.cookie("sp"):
                return redirect(f"{self.root}/macauthlogin/v1/registration")
            case "GET", "/macauthlogin/v1/registration":
                return page(
                    "The Cloud",
                    form("registration", box("terms", "I accept the terms and conditions", "true"), button("Continue")),
                )
            case "POST", "/macauthlogin/v1/registration" if request.form.get("terms") == "true" and "/url/welcome" in self.steps:
                self.admit()
                return redirect(f"{self.root}/online")
            case "GET", "/online":
                return page("The Cloud", "<p>You are online.</p>")
        return redirect(f"{self.root}/getonline")
