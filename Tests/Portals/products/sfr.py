"""SFR WiFi: portals 5, after syam44/Hotspot-Login-Manager."""

import secrets

from lab import GATEWAY, Product, Scenario
from pages import *

ACCOUNT = {"user": "ada@example.org", "password": "sec&ret"}
WRONG = ACCOUNT | {"password": "no"}


def right(fields: dict, user: str = "username", password: str = "password") -> bool:
    return (fields.get(user), fields.get(password)) == (ACCOUNT["user"], ACCOUNT["password"])


class SFR(Product):
    """A page that computes CoovaChilli's response (syam44/Hotspot-Login-Manager)."""

    name, ports = "sfr", {3990: "http"}
    scenarios = [Scenario("account", user=ACCOUNT, fewest=3), Scenario("refused", "refused", WRONG, text="incorrect")]

    def begin(self):
        self.challenge = secrets.token_hex(16)

    def intercept(self, request):
        return redirect(
            "https://hotspot.wifi.sfr.fr/indexEncryptingChilli.php?"
            + encode(challenge=self.challenge, mode="3", uamip=GATEWAY, uamport="3990", channel="0")
        )

    def answer(self, request):
        fields, error = request.form, ""
        if request.port == 3990:
            if request.path == "/logon" and request.args.get("response") == "r" + self.challenge:
                self.admit()
            return redirect("https://hotspot.wifi.sfr.fr/home")
        if request.host != "hotspot.wifi.sfr.fr":
            return Answer(404)
        if request.path == "/home":
            return page("SFR WiFi", "<p>Vous êtes connecté.</p>" if self.isOpen else "<p>Erreur</p>")
        if request.path == "/nb4_crypt.php" and request.method == "POST":
            known = all(
                fields.get(n) == v
                for n, v in {
                    "challenge": self.challenge,
                    "accessType": "neuf",
                    "conditions": "on",
                    "uamip": GATEWAY,
                    "uamport": "3990",
                    "mode": "3",
                    "channel": "0",
                }.items()
            )
            if known and right(fields):
                url = f"http://{GATEWAY}:3990/logon?" + encode(
                    username=fields["username"], response="r" + self.challenge, userurl="http://example.org/"
                )
                return Answer(200, f"<!-- SFRLoginURL_JIL={url} --><script>window.location = '{url}';</script>")
            error = '<p class="error">Identifiant ou mot de passe incorrect</p>'
        return page(
            "SFR WiFi",
            error
            + form(
                "/nb4_crypt.php",
                hidden(
                    challenge=self.challenge,
                    accessType="neuf",
                    lang="fr",
                    mode="3",
                    userurl="http://example.org/",
                    uamip=GATEWAY,
                    uamport="3990",
                    channel="0",
                ),
                line("username", "Identifiant (user)"),
                line("password", "Mot de passe", "password"),
                box("conditions", "J'accepte les conditions générales d'utilisation"),
                button("Connexion"),
            ),
        )
