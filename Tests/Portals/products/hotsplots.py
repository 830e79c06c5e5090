"""hotsplots: portals 5, after CPAL Hotsplots."""

import secrets

from lab import CLIENT, CLIENT_MAC, GATEWAY, Product, Scenario
from pages import *


class Hotsplots(Product):
    """A portal before CoovaChilli (CPAL Hotsplots)."""

    name, ports = "hotsplots", {3990: "http"}
    scenarios = [
        Scenario("terms", fewest=3),
        Scenario("voucher", user={"code": "hs-4711"}, options={"login": "voucher"}, fewest=3),
        Scenario("voucher refused", "refused", {"code": "no"}, {"login": "voucher"}, "Voucher"),
    ]

    def begin(self):
        self.challenge = secrets.token_hex(16)

    def location(self, res):
        return "https://www.hotsplots.de/auth/login.php?" + encode(
            res=res,
            uamip=GATEWAY,
            uamport="3990",
            challenge=self.challenge,
            called="02-00-00-00-00-AA",
            mac=CLIENT_MAC,
            ip=CLIENT,
            nasid="cafe",
            userurl="http://example.org/",
        )

    def intercept(self, request):
        return redirect(self.location("notyet"), phrase="Moved Temporarily")

    def answer(self, request):
        if request.port == 3990:
            if request.path == "/logon" and request.args.get("response") == "ok" + self.challenge:
                self.admit()
                return redirect(self.location("success"))
            if request.path == "/logoff":
                self.expel()
            return redirect(self.location("logoff"))
        fields = request.args | request.form
        if request.host != "www.hotsplots.de" or request.path != "/auth/login.php":
            return Answer(404)
        if fields.get("res") == "success":
            return page("hotsplots", "<p>Sie sind eingeloggt.</p>")
        kind, error = self.options.get("login", "agb"), ""
        if request.method == "POST":
            known = all(
                fields.get(n) == v
                for n, v in {
                    "challenge": self.challenge,
                    "uamip": GATEWAY,
                    "uamport": "3990",
                    "myLogin": kind,
                    "haveTerms": "1",
                    "termsOK": "on",
                }.items()
            )
            if known and (kind == "agb" or fields.get("code") == "hs-4711"):
                return redirect(
                    f"http://{GATEWAY}:3990/logon?"
                    + encode(username="agb", response="ok" + self.challenge, userurl=fields["userurl"])
                )
            error = '<p class="error">Der Voucher ist ungültig.</p>'
        kept = {n: fields.get(n, "") for n in ("challenge", "uamip", "uamport", "userurl", "nasid")}
        return page(
            "hotsplots",
            error
            + form(
                "/auth/login.php",
                hidden(haveTerms="1", myLogin=kind, ll="de", custom="1", **kept),
                line("code", "Voucher") if kind == "voucher" else "",
                box("termsOK", "Ich akzeptiere die Nutzungsbedingungen"),
                button("Einloggen", "button", "einloggen"),
            ),
        )
