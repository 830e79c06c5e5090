"""openNDS: portals 2.2, after its source and a real openNDS 9.10 that was measured."""

import base64
import hashlib
import secrets
import urllib.parse

from lab import CLIENT, CLIENT_MAC, GATEWAY, GATEWAY_MAC, Product, Scenario
from pages import *

GATE = f"http://{GATEWAY}:2050"


class OpenNDS(Product):
    """`theme`: click, user or voucher; `fas`: the level of a forward authentication service outside."""

    name = "opennds"
    ports, gatewayNames = {2050: "http"}, ("status.client",)
    scenarios = [
        Scenario("click", fewest=3, logoff=True),
        Scenario(
            "user and email", user={"name": "Ada", "email": "ada@example.org"}, options={"theme": "user"}, fewest=3, logoff=True
        ),
        Scenario("voucher", user={"code": "ABCD-1234"}, options={"theme": "voucher"}, fewest=3, logoff=True),
        Scenario("voucher refused", "refused", {"code": "XXXX"}, {"theme": "voucher"}, "Voucher is not valid"),
        Scenario("fas 0", options={"fas": 0}, fewest=2),
        Scenario("fas 1", options={"fas": 1}, fewest=3),
        Scenario("fas 2", options={"fas": 2}, fewest=3),
        Scenario("fas 3", options={"fas": 3}, fewest=2, delay=2),
    ]

    def begin(self):
        self.hid, self.token, self.sealed = secrets.token_hex(32), secrets.token_hex(4), secrets.token_hex(48)
        self.clicked = False

    def fas(self):
        level = self.options.get("fas")
        values = {
            "hid": self.hid,
            "clientip": CLIENT,
            "clientmac": CLIENT_MAC,
            "client_type": "cpd_can",
            "gatewayname": "Lab%20Node",
            "gatewayurl": urllib.parse.quote(f"{GATE}/", safe=""),
            "version": "9.10.0",
            "gatewayaddress": f"{GATEWAY}:2050",
            "gatewaymac": GATEWAY_MAC.replace(":", ""),
            "originurl": "http%3a%2f%2fconnectivitycheck.gstatic.com%2fgenerate_204",
            "clientif": "socket lab",
        }
        match level:
            case None | 1:
                query = "fas=" + urllib.parse.quote(
                    base64.b64encode(", ".join(f"{k}={v}" for k, v in values.items()).encode()), safe=""
                )
            case 0:
                query = encode(
                    authaction=f"{GATE}/opennds_auth/",
                    tok=self.token,
                    redir="http://example.org/",
                    gatewayname="Lab Node",
                    clientip=CLIENT,
                )
            case _:
                query = encode(fas=self.sealed, iv="0123456789abcdef")
        return (
            (f"{GATE}/opennds_preauth/" if level is None else f"{'https' if level == 3 else 'http'}://fas.example/splash.php")
            + "?"
            + query
        )

    def intercept(self, request):
        return redirect(self.fas(), 307, body="<html><body>Redirecting</body></html>" + "\0" * 200, Connection="close")

    def answer(self, request):
        if request.host == "fas.example":
            return self.outside(request)
        if request.port != 2050 and request.host != "status.client":
            return Answer(404)
        if request.method != "GET":
            return Answer(511, "<html><body>Network Authentication Required</body></html>")
        if not request.agent:
            return None
        match request.path:
            case "/opennds_preauth/":
                return self.theme(request)
            case "/opennds_auth/":
                right = {self.token, hashlib.sha256((self.hid + "faskey").encode()).hexdigest()}
                if request.args.get("tok") not in right:
                    return redirect(self.fas(), 307)
                self.admit()
                return redirect(request.args.get("redir") or f"{GATE}/", 307)
            case "/opennds_deny/":
                self.expel()
                return redirect(f"{GATE}/", 307)
            case "/" if self.isOpen:
                return page(
                    "Lab Node",
                    "<p>Connected. Session times: unlimited</p>" + form("/opennds_deny/", button("Logout"), method="get"),
                )
        return redirect(self.fas(), 307) if request.path == "/login" else Answer(511, f'<a href="{GATE}/login">Login</a>')

    def theme(self, request):
        fas, theme = request.args.get("fas", ""), self.options.get("theme", "click")
        if f"hid={self.hid}".encode() not in base64.b64decode(fas + "==", validate=False):
            return Answer(403, "<h1>403 Forbidden</h1>")
        kept, fields = hidden(fas=fas), request.args
        if fields.get("landing") == "yes" and self.clicked:
            self.admit()
            return page(
                "Lab Node",
                "<big-red>You are now logged in and have been granted access to the Internet.</big-red>"
                + form(GATE + "/", button("Continue"), method="get"),
            )
        if theme == "user" and fields.get("username") and "@" in fields.get("emailaddress", ""):
            return self.thanks(kept + hidden(username=fields["username"], emailaddress=fields["emailaddress"]))
        if theme == "voucher" and fields.get("voucher") == "ABCD-1234":
            return self.thanks(kept + hidden(voucher="ABCD-1234"))
        if theme == "click" and fields.get("continue") == "clicked":
            return self.thanks(kept)
        error = '<p class="error">Voucher is not valid</p>' if "voucher" in fields else ""
        parts = {
            "click": hidden(continue_="clicked").replace("continue_", "continue"),
            "voucher": line("voucher", "Voucher"),
            "user": line("username", "Name") + line("emailaddress", "Email", "email"),
        }[theme]
        return page(
            "Lab Node", error + "<p>Welcome!</p>" + form("/opennds_preauth/", kept, parts, button("Continue"), method="get")
        )

    def thanks(self, kept):
        self.clicked = True
        return page(
            "Lab Node",
            "<p>Thank you!</p>" + form("/opennds_preauth/", kept, hidden(landing="yes"), button("Continue"), method="get"),
        )

    def outside(self, request):
        level, fields = self.options["fas"], request.args | request.form
        if request.path != "/splash.php":
            return Answer(404)
        if level == 0:
            if fields.get("tok") != self.token:
                return page("Portal", "<p>Your session has expired.</p>")
            return page(
                "Portal",
                form(fields["authaction"], hidden(tok=fields["tok"], redir=fields["redir"]), button("Continue"), method="get"),
            )
        if level == 1 and f"hid={self.hid}".encode() not in base64.b64decode(fields.get("fas", "") + "=="):
            return page("Portal", "<p>Your session has expired.</p>")
        if level > 1 and (fields.get("fas"), fields.get("iv")) != (self.sealed, "0123456789abcdef"):
            return page("Portal", "<p>Your session has expired.</p>")
        if fields.get("go") != "1":
            kept = hidden(**{name: fields[name] for name in ("fas", "iv") if name in fields})
            return page(
                "Portal", "<p>Free Wi-Fi</p>" + form("/splash.php", kept, hidden(go="1"), button("Connect"), method="get")
            )
        if level == 3:
            self.admit()
            return page("Portal", "<p>You are being connected; this takes a moment.</p>")
        token = hashlib.sha256((self.hid + "faskey").encode()).hexdigest()
        return redirect(f"{GATE}/opennds_auth/?" + encode(tok=token, redir="http://fas.example/done"))
