"""Web authentication of Cisco AireOS and Catalyst 9800: portals 3.1, after CPAL CiscoWirelessMobility."""

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
            query = encode(
                switch_url=self.target, ap_mac="02:00:00:00:00:aa", client_mac=CLIENT_MAC, wlan="Guest", redirect=request.url
            )
            return redirect(f"http://portal.wlc.example/guest?{query}")
        # The controller leads on by a page.
        return refresh(f"{self.target}?redirect={request.host}{request.path}")

    def answer(self, request):
        if request.host == "portal.wlc.example":
            wrong = {"5": "The username and password combination you have entered is not valid."}.get(
                request.args.get("statusCode"), ""
            )
            return (
                self.page(request.args["switch_url"], request.args["redirect"], wrong, internal=False)
                if "switch_url" in request.args
                else Answer(404)
            )
        if request.path != "/login.html":
            return Answer(404)
        fields = request.form
        if request.method != "POST" or fields.get("buttonClicked") != "4" or "redirect_url" not in fields:
            return self.page("/login.html", request.args.get("redirect", ""))
        kind = self.options.get("kind", "account")
        right = {
            "account": (fields.get("username"), fields.get("password")) == ("guest", "secret"),
            "consent": "@" in fields.get("email", ""),
            "passthrough": "username" not in fields,
        }[kind]
        if not right and self.options.get("external"):
            return redirect(
                "http://portal.wlc.example/guest?"
                + encode(switch_url=self.target, statusCode="5", redirect=fields["redirect_url"])
            )
        if not right:
            return self.page(
                "/login.html",
                fields["redirect_url"],
                "Login Error. The User Name and Password combination you have entered is invalid.",
                "1",
            )
        self.admit()
        return page("Login Successful", "<h2>Login Successful !</h2><p>You can now use all our regular network services.</p>")

    def page(self, action, url, error="", flag="0", internal=True):
        # In the field the button's handler sets buttonClicked; without it the controller shows the page again.
        kept = hidden(buttonClicked="0", redirect_url=url[:255], err_flag=flag, err_msg=error, info_flag="0", info_msg="")
        kept += hidden(network_name="Guest Network") if internal else ""
        fields = {
            "account": line("username", "User Name") + line("password", "Password", "password"),
            "consent": line("email", "Email", "email"),
            "passthrough": "",
        }[self.options.get("kind", "account")]
        script = """<script>function submitAction() { document.forms[0].buttonClicked.value = 4; document.forms[0].submit(); }</script>"""
        return page(
            "Web Authentication",
            f"{script}<p>{error}</p>"
            + form(
                action,
                kept,
                fields,
                '<input type="button" name="Submit" value="Submit" class="button" onclick="submitAction();">',
                name="loginForm",
            ),
        )
