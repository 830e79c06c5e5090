"""Xfinity: portals 5."""

import secrets

from lab import CLIENT_MAC, Product, Scenario
from pages import *

ACCOUNT = {"user": "ada@example.org", "password": "sec&ret"}
WRONG = ACCOUNT | {"password": "no"}


def right(fields: dict, user: str = "username", password: str = "password") -> bool:
    return (fields.get(user), fields.get(password)) == (ACCOUNT["user"], ACCOUNT["password"])


class Xfinity(Product):
    name = "xfinity"
    scenarios = [Scenario("account", user=ACCOUNT, fewest=2), Scenario("refused", "refused", WRONG, text="did not match")]

    def begin(self):
        self.hash = secrets.token_hex(16)

    def intercept(self, request):
        return redirect("https://wifilogin.xfinity.com/start.php?" + encode(h=self.hash, cm=CLIENT_MAC))

    def answer(self, request):
        fields, error = request.form, ""
        if request.host != "wifilogin.xfinity.com":
            return Answer(404)
        if request.path == "/user_login.php" and request.method == "POST":
            known = all(
                fields.get(n) == v
                for n, v in {"method": "authenticate", "client_mac": CLIENT_MAC, "hash": self.hash, "javascript": "true"}.items()
            )
            if known and {"get_url", "friendlyname", "devicetype"} <= fields.keys() and right(fields):
                self.admit()
                return page("Welcome", "<p>You are connected.</p>")
            error = '<p class="error">The username and password did not match our records.</p>'
        script = "<script>document.login.javascript.value = 'true';</script>"
        return page(
            "Xfinity WiFi",
            error
            + form(
                "/user_login.php",
                hidden(
                    method="authenticate",
                    client_mac=CLIENT_MAC,
                    get_url="http://example.org/",
                    hash=self.hash,
                    javascript="false",
                    devicetype="laptop",
                ),
                line("username", "Xfinity ID"),
                line("password", "Password", "password"),
                line("friendlyname", "Name of this device (optional)"),
                box("agree_standard", "Terms of Service", "1"),
                button("Sign in"),
                name="login",
            )
            + script,
        )
