"""Vodafone Hotspot: portals 5, after CPAL VodafoneHotspot."""

import secrets

from lab import Product, Scenario
from pages import *

ACCOUNT = {"user": "ada@example.org", "password": "sec&ret"}
WRONG = ACCOUNT | {"password": "no"}


def right(fields: dict, user: str = "username", password: str = "password") -> bool:
    return (fields.get(user), fields.get(password)) == (ACCOUNT["user"], ACCOUNT["password"])


class Vodafone(Product):
    """Two calls of JSON (CPAL VodafoneHotspot)."""

    name = "vodafone"
    scenarios = [
        Scenario("click", fewest=3),
        Scenario("account", user=ACCOUNT, options={"account": True}, fewest=3),
        Scenario("account refused", "refused", WRONG, {"account": True}, "not accept"),
    ]

    def begin(self):
        self.session = secrets.token_hex(16)

    def intercept(self, request):
        return redirect("https://hotspot.vodafone.de/bw?" + encode(sid=self.session))

    def answer(self, request):
        if request.host != "hotspot.vodafone.de":
            return Answer(404)
        profile, kind = (5, "userpass") if self.options.get("account") else (4, "termsOnly")
        match request.method, request.path:
            case "GET", "/api/v4/session":
                return jsonAnswer(
                    {
                        "session": self.session,
                        "landingPageElements": [{"type": "text", "value": "Hi"}, {"type": "loginProfile", "value": str(profile)}],
                        "loginProfiles": {"4": {"id": 4, "accessType": "termsOnly"}, "5": {"id": 5, "accessType": "userpass"}},
                    }
                )
            case "POST", "/api/v4/login" if request.args.get("sessionID") == self.session:
                values = request.json()
                known = (values.get("loginProfile"), values.get("session"), values.get("accessType")) == (
                    profile,
                    self.session,
                    kind,
                )
                if not known or (self.options.get("account") and not right(values)):
                    return jsonAnswer({"success": False, "message": "login failed"})
                self.admit()
                return jsonAnswer({"success": True})
            case "GET", "/bw" | "/":
                return page(
                    "Vodafone Hotspot",
                    '<div id="app"></div><p>Es gelten die <a href="/agb">Nutzungsbedingungen</a>.</p><script src="/app.js"></script>',
                )
        return Answer(404)
