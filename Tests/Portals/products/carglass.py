"""A chain on Extreme's access points: portals 3.13, after CPAL Carglass."""

from lab import Product, Scenario
from pages import *


class Carglass(Product):
    """A page called REDIR, then one box (CPAL Carglass)."""

    name, addresses = "carglass", ("1.1.1.1",)
    scenarios = [Scenario("click", fewest=2)]

    def intercept(self, request):
        return Answer(
            200,
            "<html><head><title>REDIR</title></head><body><script>var redirURL = 'http://1.1.1.1/reg.php?url=x'; document.location = redirURL;</script></body></html>",
        )

    def answer(self, request):
        if request.to != "1.1.1.1" or request.path != "/reg.php":
            return self.intercept(request)
        if request.method == "POST" and request.form.get("checkbox") == "checkbox" and request.form.get("url"):
            self.admit()
            return page("Connected", "<p>You are connected.</p>")
        return page(
            "Welcome",
            form(
                "reg.php",
                hidden(url=request.args.get("url", "")),
                box("checkbox", "I accept the terms of use", "checkbox"),
                button("Accept", "Submit", "Accept"),
            ),
        )
