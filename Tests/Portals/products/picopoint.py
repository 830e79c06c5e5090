"""Picopoint: portals 5, after CPAL Picopoint."""

import secrets

from lab import CLIENT_MAC, Product, Scenario
from pages import *


class Picopoint(Product):
    """A page by script, then a form with a value from a call (CPAL Picopoint)."""

    name = "picopoint"
    scenarios = [Scenario("click", fewest=4)]

    def begin(self):
        self.form = "f" + secrets.token_hex(3)

    def intercept(self, request):
        return redirect("https://gatekeeper2.picopoint.com/gk/page/begin?" + encode(mac=CLIENT_MAC))

    def answer(self, request):
        if request.host != "gatekeeper2.picopoint.com":
            return Answer(404)
        match request.method, request.path:
            case "GET", "/gk/page/begin":
                return scripted("https://gatekeeper2.picopoint.com/gk/page/options", "window.location")
            case "GET", "/gk/page/options":
                return page(
                    "Shell",
                    form(
                        "/gk/auth",
                        hidden(__fid=self.form, custom_data_1=""),
                        '<button type="button" onclick="go()">Connect</button>',
                        name="pseudo_auth_form",
                    )
                    + '<script>$.getJSON("/gk/rest/session").done(function (s) { $("[name=custom_data_1]").val(s.network.client_mac); });</script>',
                )
            case "GET", "/gk/rest/session":
                return jsonAnswer({"network": {"client_mac": CLIENT_MAC, "name": "Lab"}})
            case "POST", "/gk/auth" if (
                request.form.get("custom_data_1") == CLIENT_MAC
                and request.form.get("__fid") == self.form
                and request.form.get(f"{self.form}:_c") == "continue"
            ):
                self.admit()
                return redirect("http://example.org/")
        return Answer(400, "<p>Bad request</p>")
