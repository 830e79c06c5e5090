"""Palo Alto's authentication portal: portals 3.14."""

import secrets

from lab import Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}
REFUSED = GUEST | {"password": "no"}


class PaloAlto(Product):
    name, ports, gatewayNames = "paloalto", {6082: "https"}, ("pan.example",)
    scenarios = [Scenario("account", user=GUEST, fewest=2), Scenario("refused", "refused", REFUSED, text="Authentication failed")]

    def begin(self):
        self.preauth = secrets.token_hex(8)

    def intercept(self, request):
        return redirect("https://pan.example:6082/php/uid.php?" + encode(vsys="1", rule="0", url=request.url))

    def answer(self, request):
        if request.host != "pan.example" or request.path != "/php/uid.php" or request.args.get("vsys") != "1":
            return Answer(404)
        fields, error = request.form, ""
        if request.method == "POST":
            if (
                fields.get("ok") == "Login"
                and fields.get("preauthid") == self.preauth
                and {"inputStr", "escapeUser"} <= fields.keys()
                and (fields.get("user"), fields.get("passwd")) == ("guest", "secret")
            ):
                self.admit()
                return page("User Identification Portal", "<p>User authenticated successfully.</p>")
            error = '<div id="taError">Authentication failed</div>'
        return page(
            "Authentication Portal",
            error
            + form(
                "",
                hidden(inputStr="", escapeUser="", preauthid=self.preauth),
                line("user", "User"),
                line("passwd", "Password", "password"),
                '<input type="submit" name="ok" value="Login">',
                id="login_form",
            ),
        )
