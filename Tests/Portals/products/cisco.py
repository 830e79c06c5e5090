"""Cisco: web authentication of AireOS and Catalyst 9800 (portals 3.1; CPAL CiscoWirelessMobility) and ISE (3.2; CPAL CiscoISE)."""

import secrets

from lab import CLIENT_MAC, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}


class CiscoWLC(Product):
    """The virtual address has the page itself, or sends to an external portal whose form comes back to it."""

    name, virtual = "cisco-wlc", "http://192.0.2.1"
    addresses = ("192.0.2.1",)
    scenarios = [
        Scenario("internal", user=GUEST, fewest=2),
        Scenario("refused", "refused", GUEST | {"password": "no"}, text="Login Error"),
        Scenario("consent", user={"email": "ada@example.org"}, options={"kind": "consent"}, fewest=2),
        Scenario("passthrough", options={"kind": "passthrough"}, fewest=2),
        Scenario("external", user=GUEST, options={"external": True}, fewest=2),
        Scenario("external refused", "refused", GUEST | {"password": "no"}, {"external": True}, "not"),
        Scenario("self-signed", "handed over", GUEST, {"secure": True, "untrusted": True}),
    ]

    def begin(self):
        self.target = ("https" if self.options.get("secure") else "http") + "://192.0.2.1/login.html"

    def intercept(self, request):
        if self.options.get("external"):
            query = encode(switch_url=self.target, ap_mac="02:00:00:00:00:aa", client_mac=CLIENT_MAC, wlan="Guest", redirect=request.url)
            return redirect(f"http://portal.wlc.example/guest?{query}")
        # The controller leads on by a page.
        return refresh(f"{self.target}?redirect={request.host}{request.path}")

    def answer(self, request):
        if request.host == "portal.wlc.example":
            wrong = {"5": "The username and password combination you have entered is not valid."}.get(request.args.get("statusCode"), "")
            return self.page(request.args["switch_url"], request.args["redirect"], wrong, internal=False) if "switch_url" in request.args else Answer(404)
        if request.path != "/login.html":
            return Answer(404)
        fields = request.form
        if request.method != "POST" or fields.get("buttonClicked") != "4" or "redirect_url" not in fields:
            return self.page("/login.html", request.args.get("redirect", ""))
        kind = self.options.get("kind", "account")
        right = {"account": (fields.get("username"), fields.get("password")) == ("guest", "secret"), "consent": "@" in fields.get("email", ""),
                 "passthrough": "username" not in fields}[kind]
        if not right and self.options.get("external"):
            return redirect("http://portal.wlc.example/guest?" + encode(switch_url=self.target, statusCode="5", redirect=fields["redirect_url"]))
        if not right:
            return self.page("/login.html", fields["redirect_url"], "Login Error. The User Name and Password combination you have entered is invalid.", "1")
        self.admit()
        return page("Login Successful", "<h2>Login Successful !</h2><p>You can now use all our regular network services.</p>")

    def page(self, action, url, error="", flag="0", internal=True):
        # In the field the button's handler sets buttonClicked; without it the controller shows the page again.
        kept = hidden(buttonClicked="0", redirect_url=url[:255], err_flag=flag, err_msg=error, info_flag="0", info_msg="")
        kept += hidden(network_name="Guest Network") if internal else ""
        fields = {"account": line("username", "User Name") + line("password", "Password", "password"), "consent": line("email", "Email", "email"),
                  "passthrough": ""}[self.options.get("kind", "account")]
        script = """<script>function submitAction() { document.forms[0].buttonClicked.value = 4; document.forms[0].submit(); }</script>"""
        return page("Web Authentication", f"{script}<p>{error}</p>" + form(
            action, kept, fields, '<input type="button" name="Submit" value="Submit" class="button" onclick="submitAction();">', name="loginForm"))


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
        query = encode(sessionId=self.session, portal="27041710-2e58", action="cwa", type="drw", token=self.token, redirect=request.url)
        return redirect(f"{self.host}/portal/gateway?{query}")

    def answer(self, request):
        if request.port != 8443 or request.host != "ise.example":
            return Answer(404)
        fields, known = request.form, request.cookie("portalSessionId") == self.session
        match request.path:
            case "/portal/gateway" if request.args.get("sessionId") == self.session:
                return redirect(f"{self.host}/portal/PortalSetup.action?portal=27041710-2e58", Set_Cookie=f"portalSessionId={self.session}; Path=/portal; Secure; HttpOnly", token=self.token)
            case "/portal/PortalSetup.action" if known:
                return self.page("")
            case "/portal/AupSubmit.action" if known and not self.options.get("guest"):
                return self.after(fields.get("token") == self.token and fields.get("aupAccepted") == "true", "")
            case "/portal/LoginSubmit.action" if known and self.options.get("guest"):
                right = (fields.get("user.username"), fields.get("user.password"), fields.get("token")) == ("guest", "secret", self.token)
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
        kept = hidden(delayToCoA="2", waitForCoA="true", coaType="Reauth", coaReason="Guest authenticated for network access", coaSource="GUEST",
                      token=self.token, portalSessionId=self.session)
        return page("Success", "<p>Connecting…</p>" + form("DoCoA.action", kept, id="coaForm") + '<script>document.getElementById("coaForm").submit();</script>')

    def page(self, error):
        kept = hidden(token=self.token)
        aup = box("aupAccepted", "I agree to the terms and conditions", "true")
        notice = f'<div class="cisco-ise-error error">{error}</div>' if error else ""
        if self.options.get("guest"):
            inner = form("LoginSubmit.action?from=LOGIN", kept, line("user.username", "Username:"), line("user.password", "Password:", "password"),
                         aup, button("Sign On"))
        else:
            inner = form("AupSubmit.action?from=AUP", kept, hidden(aupAccepted="true"), "<p>Acceptable Use Policy: please accept the policy.</p>", button("Accept"))
        return page("Guest Portal", notice + inner)
