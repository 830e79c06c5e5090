"""Fortinet FortiGate: portals 3.7, after several public clients."""

import secrets

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}
GATE = "https://fgt.example:1003"


class FortiGate(Product):
    """Its own form, a disclaimer, or an external portal that posts to it."""

    ports, gatewayNames = {1000: "http", 1003: "https"}, ("fgt.example",)
    scenarios = [
        Scenario("account", user=GUEST, fewest=2, logoff=True),
        Scenario("refused", "refused", GUEST | {"password": "no"}, text="Firewall authentication failed"),
        Scenario("disclaimer", options={"kind": "disclaimer"}, fewest=2),
        Scenario("external", user=GUEST, options={"kind": "external"}, fewest=2, logoff=True),
        Scenario("by location", user=GUEST, options={"plain": True}, fewest=2, logoff=True),
    ]

    def begin(self):
        self.magics, self.key, self.kind = [], secrets.token_hex(8), self.options.get("kind", "account")

    def magic(self):
        self.magics.append(secrets.token_hex(8))
        return self.magics[-1]

    def intercept(self, request):
        magic = self.magic()
        if self.kind == "external":
            return redirect(
                "https://portal.fgt.example/guest?"
                + encode(
                    login="",
                    post=f"{GATE}/fgtauth",
                    magic=magic,
                    usermac=CLIENT_MAC,
                    apmac="02:00:00:00:00:aa",
                    apip="10.20.0.1",
                    userip=CLIENT,
                    ssid="Lab",
                    apname="ap",
                    bssid="02:00:00:00:00:aa",
                )
            )
        url = f"{GATE}/fgtauth?{magic}"
        return redirect(url, 303) if self.options.get("plain") else scripted(url)

    def answer(self, request):
        if request.host == "portal.fgt.example" and "magic" in request.args:
            return page(
                "Guest",
                form(
                    request.args["post"],
                    hidden(magic=request.args["magic"]),
                    line("username", "User"),
                    line("password", "Password", "password"),
                    button("Login"),
                ),
            )
        if request.host != "fgt.example":
            return Answer(404)
        magic = request.target.partition("?")[2]
        match request.method, request.path:
            case "GET", "/fgtauth" if magic in self.magics:
                return self.page(magic, "")
            case "POST", "/" | "/fgtauth":
                return self.login(request)
            case "GET", "/keepalive" if magic == self.key:
                return page(
                    "Firewall authentication keepalive window",
                    f'<script>var countDownTime=3600;</script><a href="/logout?{self.key}">logout</a>',
                )
            case "GET", "/logout" if magic == self.key:
                self.expel()
                return page("Logged out", "<p>You have logged out.</p>")
        return Answer(404)

    def login(self, request):
        fields = request.form
        if fields.get("magic") not in self.magics or (self.kind != "external" and "4Tredir" not in fields):
            return page("Error", "<p>Bad request.</p>")
        right = (
            fields.get("answer") == "1"
            if self.kind == "disclaimer"
            else (fields.get("username"), fields.get("password")) == ("guest", "secret")
        )
        if not right:
            return self.page(self.magic(), "Firewall authentication failed. Please try again.")
        self.admit()
        if self.kind == "disclaimer":
            return redirect(fields["4Tredir"], 303)
        return Answer(
            200,
            f'<html><body><script>window.location="{GATE}/keepalive?{self.key}";</script><a href="/logout?{self.key}">logout</a></body></html>',
        )

    def page(self, magic, error):
        kept = hidden(**{"4Tredir": "http://example.org/", "magic": magic})
        if self.kind == "disclaimer":
            body = form(
                "/",
                kept,
                "<h2>Terms and Disclaimer Agreement</h2>",
                button("Yes, I agree", "answer", "1"),
                button("No, I decline", "answer", "0"),
            )
        else:
            body = form(
                "/",
                kept,
                f"<h2>{error or 'Please enter your username and password to continue.'}</h2>",
                line("username", "Username:"),
                line("password", "Password:", "password"),
                button("Continue"),
            )
        return page("Firewall Authentication", body)
