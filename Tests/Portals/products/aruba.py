"""Aruba: controllers, Instant, Central and ClearPass: portals 3.4, after CPAL ArubaInstantOn, ArubaNetworks and ArubaClearPass."""

import json
import secrets

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}
SWITCH = "http://securelogin.arubanetworks.com"


class Aruba(Product):
    """`kind`: instant (the access point's own page), external (a portal that posts to the controller), clearpass, central."""

    gatewayNames = ("securelogin.arubanetworks.com",)
    scenarios = [
        Scenario("instant click", options={"kind": "instant"}, fewest=2),
        Scenario("old firmware", options={"kind": "instant", "arubalp": True}, fewest=2),
        Scenario("external", user=GUEST, options={"kind": "external"}, fewest=2),
        Scenario("external refused", "refused", GUEST | {"password": "no"}, {"kind": "external"}, "Authentication failed"),
        Scenario("clearpass", user={"name": "Ada Lovelace", "email": "ada@example.org"}, options={"kind": "clearpass"}, fewest=5),
        Scenario("central", options={"kind": "central"}, fewest=3),
    ]

    def begin(self):
        self.token, self.kind = secrets.token_hex(16), self.options["kind"]

    def intercept(self, request):
        if self.options.get("arubalp") and "arubalp" not in request.args:
            return refresh(f"http://{request.host}{request.path}?cmd=redirect&arubalp=12345")
        query = encode(
            cmd="login",
            mac=CLIENT_MAC,
            essid="Lab",
            ip=CLIENT,
            apname="ap1",
            apmac="02:00:00:00:00:aa",
            vcname="vc",
            switchip="securelogin.arubanetworks.com",
            url=request.url,
        )
        place = {
            "instant": f"{SWITCH}/swarm.cgi?" + encode(opcode="cp_generate", orig_url=request.url.encode().hex()),
            "external": f"http://portal.aruba.example/login?{query}",
            "clearpass": f"https://clearpass.example/guest/visitor.php?{query}",
            "central": "https://eu1.cloudguest.central.arubanetworks.com/portal/scope.cust-1/Guest/login?capture=" + "c1",
        }[self.kind]
        return redirect(
            place, phrase="Captive Portal", Server="", Cache_Control="no-cache,no-store,must-revalidate,post-check=0,pre-check=0"
        )

    def answer(self, request):
        fields = request.form
        match request.host, request.path:
            case "securelogin.arubanetworks.com", "/swarm.cgi" if request.args.get("opcode") == "cp_generate":
                return page(
                    "Guest",
                    form(
                        "/swarm.cgi",
                        hidden(opcode="cp_ack", orig_url=request.args["orig_url"]),
                        "<p>Acceptable use: be kind.</p>",
                        button("Accept"),
                    ),
                )
            case "securelogin.arubanetworks.com", "/swarm.cgi" if (
                fields.get("opcode") == "cp_ack" and "orig_url" in fields and self.kind == "instant"
            ):
                self.admit()
                return redirect("http://example.org/")
            case "securelogin.arubanetworks.com", "/cgi-bin/login":
                return self.login(request.args | fields)
            case "portal.aruba.example", "/login" if request.args.get("cmd") == "login":
                return self.portal(request.args.get("errmsg", ""))
            case "clearpass.example", path if path.startswith("/guest/"):
                return self.clearpass(request)
            case "eu1.cloudguest.central.arubanetworks.com", "/portal/scope.cust-1/Guest/login" if (
                request.args.get("capture") == "c1" or fields.get("capture") == "c1"
            ):
                return self.central(fields)
        return Answer(404)

    def login(self, fields):
        accounts = {("guest", "secret"), ("v-" + self.token, "p-" + self.token)}
        if fields.get("cmd") != "authenticate" or (fields.get("user"), fields.get("password")) not in accounts:
            return redirect(
                "http://portal.aruba.example/login?"
                + encode(cmd="login", mac=CLIENT_MAC, essid="Lab", errmsg="Authentication failed")
            )
        self.admit()
        return page("External Welcome Page", "<h1>Authentication successful</h1>")

    def portal(self, error):
        return page(
            "Welcome",
            (f'<p class="error">{error}</p>' if error else "")
            + form(
                f"{SWITCH}/cgi-bin/login",
                hidden(cmd="authenticate", mac=CLIENT_MAC, essid="Lab", url="http://example.org/"),
                line("user", "User"),
                line("password", "Password", "password"),
                button("Log In"),
            ),
        )

    def clearpass(self, request):
        fields = request.args | request.form
        if fields.get("_browser") != "1":
            return page(
                "Please wait",
                form(request.path, hidden(**request.args), hidden(_browser="1"), method="get", name="f")
                + "<script>document.f.submit();</script>",
            )
        if (
            request.method == "POST"
            and fields.get("visitor_accept_terms") == "1"
            and "@" in fields.get("email", "")
            and fields.get("visitor_name")
        ):
            return page(
                "Receipt",
                form(
                    f"{SWITCH}/cgi-bin/login",
                    hidden(cmd="authenticate", user="v-" + self.token, password="p-" + self.token),
                    button("Log In"),
                    name="weblogin_form",
                ),
            )
        return page(
            "Visitor registration",
            form(
                request.path + "?" + encode(_browser="1", cmd="login", mac=CLIENT_MAC),
                line("visitor_name", "Your Name:"),
                line("email", "Email Address:", "email"),
                box("visitor_accept_terms", "I accept the terms of use", "1"),
                button("Register"),
            ),
        )

    def central(self, fields):
        if fields.get("csrf_token") == self.token and fields.get("accept_terms") == "on":
            config = json.dumps(
                {
                    "page": {},
                    "network_login": {
                        "action": f"{SWITCH}/cgi-bin/login",
                        "username": "v-" + self.token,
                        "password": "p-" + self.token,
                    },
                }
            )
            return page("Connecting", f'<div id="app"></div><script>var portal_login_page_config = {config};</script>')
        config = json.dumps(
            {
                "page": {"csrf_token": self.token, "require_sponsor_approval": False},
                "capture": {"capture": "c1"},
                "network_login": False,
            }
        )
        return page(
            "Guest",
            f'<div id="app"></div><p>By connecting you accept the <a href="/terms">terms</a>.</p><script>var portal_login_page_config = {config};</script>',
        )
