"""Ucopia: portals 5, after CPAL WifiAccess."""

import secrets

from lab import Product, Scenario
from pages import *


class Ucopia(Product):
    name = "ucopia"
    scenarios = [Scenario("click", fewest=4, logoff=True)]

    def begin(self):
        self.account = (secrets.token_hex(4), secrets.token_hex(4))
        self.steps = 0

    def intercept(self, request):
        return redirect("https://controller.access.network/101/portal/")

    def answer(self, request):
        fields = request.form
        if request.host != "controller.access.network":
            return Answer(404)
        if request.path == "/101/portal/":
            return page(
                "Guest access",
                '<button id="go">Connect</button><script src="/101/portal/js/portal_api.js"></script><script>$("#go").click(function () {'
                'if (!$("#policy").is(":checked")) return; portal.subscribe(); });</script><input type="checkbox" id="policy"><label for="policy">I accept the terms of use</label>',
            )
        if request.path != "/portal_api.php" or request.method != "POST":
            return Answer(404)
        match fields.get("action"):
            case "init":
                self.steps = 1
                return jsonAnswer({"step": "FORM", "type": "CONNECT"})
            case "subscribe" if self.steps and fields.get("type") == "one" and fields.get("connect_policy_accept") == "true":
                return jsonAnswer({"info": {"subscribe": {"login": self.account[0], "password": self.account[1]}}})
            case "authenticate" if (fields.get("login"), fields.get("password")) == self.account and fields.get(
                "policy_accept"
            ) == "true":
                self.admit()
                return jsonAnswer({"step": "FEEDBACK", "type": "CONNECT", "user": {"login": {"value": self.account[0]}}})
            case "disconnect":
                self.expel()
                return jsonAnswer({"step": "FEEDBACK", "type": "LOGOUT"})
        return jsonAnswer({"error": {"code": "error_logon_login-error"}})
