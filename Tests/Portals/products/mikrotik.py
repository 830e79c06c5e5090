"""MikroTik RouterOS hotspot: portals 2.5, after the default pages (RanggaBS/mikrotik-hotspot-default:hotspot)."""

import hashlib
import secrets

import wispr_portal
from lab import CLIENT_MAC, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "pa%ss w0rd"}


def octal(octets: bytes) -> str:
    """As RouterOS writes octets into a script: some as characters, the others as octal escapes."""
    return "".join(chr(o) if o < 128 and chr(o).isalnum() else f"\\{chr(o)}" if chr(o) in "\\'" else f"\\{o:03o}" for o in octets)


class MikroTik(Product):
    gatewayNames = ("login.hotspot.example",)
    host = "http://login.hotspot.example"
    scenarios = [
        Scenario("chap", user=GUEST, fewest=2, never=(GUEST["password"], "pa%25ss"), logoff=True),
        Scenario("chap late gate", user=GUEST, fewest=2, delay=3, logoff=True),
        Scenario("chap refused", "refused", GUEST | {"password": "wrong"}, text="invalid username or password"),
        Scenario("pap", user=GUEST, options={"pap": True}, fewest=2, logoff=True),
        Scenario("pap refused", "refused", GUEST | {"user": "nobody"}, {"pap": True}, "invalid username or password"),
        Scenario("trial", options={"trial": True}, fewest=2, logoff=True),
        Scenario("sessions used up", "refused", GUEST, {"full": True}, "no more sessions are allowed for user"),
    ]

    def begin(self) -> None:
        self.chap, self.cookie = (b"", b""), secrets.token_hex(8)

    def intercept(self, request):
        target = f"{self.host}/login?" + encode(dst=request.url)
        children = [
            ("AccessProcedure", "1.0"),
            ("LocationName", "hotspot"),
            ("LoginURL", f"{self.host}/login?target=xml"),
            ("MessageType", "\n\t100\n"),
            ("ResponseCode", "0"),
        ]
        body = f"<html>\n{wispr_portal.document('Redirect', *children)}</html>\n"
        return redirect(target, phrase="Hotspot login required", body=body, Cache_Control="no-cache")

    def answer(self, request):
        match request.path:
            case "/login" if request.args.get("username") or request.form.get("username"):
                return self.login(request.args | request.form)
            case "/login":
                return self.page(request.args.get("dst", ""))
            case "/status" if self.isOpen:
                return page(
                    "mikrotik hotspot > status",
                    '<table><tr><td>uptime</td><td>3s / 59m57s</td></tr></table>\n'
                    + form(f"{self.host}/logout", button("log off"), name="logout"),
                )
            case "/logout":
                self.expel()
                return page(
                    "mikrotik hotspot > logout", "<p>you have just logged out</p>" + form(f"{self.host}/login", button("log in"))
                )
            case "/" | "/status":
                return redirect(f"{self.host}/login", phrase="Hotspot login required")
            case "/md5.js":
                return Answer(200, "function hexMD5 (str) { return binl2hex(coreMD5( str2binl(str))) }\n", "text/javascript")
        return Answer(404)

    def login(self, fields):
        user, password = fields["username"], fields.get("password", "")
        if self.options.get("trial") and user == f"T-{CLIENT_MAC.upper()}":
            return self.success(fields)
        expected = GUEST["password"].encode()
        if not self.options.get("pap"):
            if len(password) != 32:
                return self.page(
                    fields.get("dst", ""), "web browser did not send challenge response (try again, enable JavaScript)"
                )
            expected = hashlib.md5(self.chap[0] + expected + self.chap[1]).hexdigest().encode()
        if user != GUEST["user"] or password.encode() != expected:
            return self.page(fields.get("dst", ""), "invalid username or password")
        if self.options.get("full"):
            return self.page(fields.get("dst", ""), f"no more sessions are allowed for user {user}")
        return self.success(fields)

    def success(self, fields):
        self.admit()
        body = f'<p>You are logged in</p><p>If nothing happens, click <a href="{fields.get("dst", "/status")}">here</a></p>'
        return page("mikrotik hotspot > redirect", body, Set_Cookie=f"username={self.cookie}; path=/")

    def page(self, dst, error=""):
        self.chap = (secrets.token_bytes(1), secrets.token_bytes(16))
        chap = not self.options.get("pap")
        script = (
            f"""<form name="sendin" action="{self.host}/login" method="post">
<input type="hidden" name="username"><input type="hidden" name="password">{hidden(dst=dst, popup="true")}</form>
<script type="text/javascript" src="/md5.js"></script>
<script type="text/javascript">
function doLogin() {{
  document.sendin.username.value = document.login.username.value;
  document.sendin.password.value = hexMD5('{octal(self.chap[0])}' + document.login.password.value + '{octal(self.chap[1])}');
  document.sendin.submit();
  return false;
}}
</script>"""
            if chap
            else ""
        )
        handler = ' onSubmit="return doLogin()"' if chap else ""
        trial = f'<p>Free trial available, <a href="{self.host}/login?{encode(dst=dst, username="T-" + CLIENT_MAC.upper())}">click here</a>.</p>'
        body = f"""{script}<p>Please log on to use the internet hotspot service</p>{trial if self.options.get("trial") else ""}
<form name="login" action="{self.host}/login" method="post"{handler}>{hidden(dst=dst, popup="true")}
<table><tr><td>login</td><td><input name="username" type="text" value=""></td></tr>
<tr><td>password</td><td><input name="password" type="password"></td></tr>
<tr><td></td><td><input type="submit" value="OK"></td></tr></table></form>
<div style="color: #FF8080">{error}</div><p>Powered by MikroTik RouterOS</p>"""
        return page("mikrotik hotspot > login", body)
