"""Cisco ISE: portals 3.2, after CPAL CiscoISE."""

import secrets

from lab import Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}


class CiscoISE(Product):
    """Terms, then a change of authorisation that takes seconds."""

    name, host = "cisco-ise", "https://ise.example:8443"
    ports = {8443: "https"}
    scenarios = [
        Scenario("hotspot", fewest=4, delay=3),
        Scenario("guest", user=GUEST, options={"guest": True}, fewest=4, delay=3),
        Scenario("guest refused", "refused", GUEST | {"password": "no"}, {"guest": True}, "Authentication failed"),
    ]

    def begin(self):
        self.token, self.session, self.accepted = secrets.token_hex(16), secrets.token_hex(12), False

    def intercept(self, request):
        query = encode(
            sessionId=self.session, portal="27041710-2e58", action="cwa", type="drw", token=self.token, redirect=request.url
        )
        return redirect(f"{self.host}/portal/gateway?{query}")

    def answer(self, request):
        if request.port != 8443 or request.host != "ise.example":
            return Answer(404)
        fields, known = request.form, request.cookie("portalSessionId") == self.session
        match request.path:
            case "/portal/gateway" if request.args.get("sessionId") == self.session:
                return redirect(
                    f"{self.host}/portal/PortalSetup.action?portal=27041710-2e58",
                    Set_Cookie=f"portalSessionId={self.session}; Path=/portal; Secure; HttpOnly",
                    token=self.token,
                )
            case "/portal/PortalSetup.action" if known:
                return self.page("")
            case "/portal/AupSubmit.action" if known and not self.options.get("guest"):
                return self.after(fields.get("token") == self.token and fields.get("aupAccepted") == "true", "")
            case "/portal/LoginSubmit.action" if known and self.options.get("guest"):
                right = (fields.get("user.username"), fields.get("user.password"), fields.get("token")) == (
                    "guest",
                    "secret",
                    self.token,
                )
                return self.after(right and fields.get("aupAccepted") == "true", "Authentication failed.")
            case "/portal/DoCoA.action" if known and self.accepted:
                if fields.get("token") != self.token or fields.get("coaType") != "Reauth" or fields.get("waitForCoA") != "true":
                    return Answer(400)
                self.admit()
                return page("Success", "<p>You now have Internet access.</p>")
        return page("Error", "<p>Your session has expired. Please retry your original URL request.</p>")

    def after(self, right, error):
        if not right:
            return self.page(error)
        self.accepted = True
        kept = hidden(
            delayToCoA="2",
            waitForCoA="true",
            coaType="Reauth",
            coaReason="Guest authenticated for network access",
            coaSource="GUEST",
            token=self.token,
            portalSessionId=self.session,
        )
        return page(
            "Success",
            "<p>Connecting…</p>"
            + form("DoCoA.action", kept, id="coaForm")
            + '<script>document.getElementById("coaForm").submit();</script>',
        )

    def page(self, error):
        kept = hidden(token=self.token)
        aup = box("aupAccepted", "I agree to the terms and conditions", "true")
        notice = f'<div class="cisco-ise-error error">{error}</div>' if error else ""
        if self.options.get("guest"):
            inner = form(
                "LoginSubmit.action?from=LOGIN",
                kept,
                line("user.username", "Username:"),
                line("user.password", "Password:", "password"),
                aup,
                button("Sign On"),
            )
        else:
            inner = form(
                "AupSubmit.action?from=AUP",
                kept,
                hidden(aupAccepted="true"),
                "<p>Acceptable Use Policy: please accept the policy.</p>",
                button("Accept"),
            )
        return page("Guest Portal", notice + inner)
