"""ÖBB Railnet: portals 5, after janisstreib/captive.d."""

import secrets

from lab import Product, Scenario
from pages import *


class OEBB(Product):
    name = "oebb"
    scenarios = [Scenario("click", fewest=2)]

    def begin(self):
        self.token, self.ceid = secrets.token_hex(20), secrets.token_hex(8)

    def intercept(self, request):
        return redirect("https://railnet.oebb.at/")

    def answer(self, request):
        if request.host != "railnet.oebb.at":
            return Answer(404)
        if request.method == "POST" and request.path == "/connecttoweb":
            fields = request.form
            known = (
                fields.get("_token") == self.token
                and fields.get("_ceid") == self.ceid
                and fields.get("form_type") == "registration"
            )
            if (
                not known
                or fields.get("checkit") != "on"
                or not request.headers.get("Referer", "").startswith("https://railnet.oebb.at/")
            ):
                return Answer(403, "<p>Page Expired</p>") if not known else redirect("/")
            self.admit()
            return redirect("/success")
        if request.path == "/success":
            return page("Railnet", "<p>Sie sind verbunden.</p>")
        return page(
            "Railnet",
            form(
                "/connecttoweb",
                hidden(_token=self.token, _ceid=self.ceid, form_type="registration"),
                box("checkit", "Ich akzeptiere die Nutzungsbedingungen"),
                button("Jetzt verbinden"),
            ),
        )
