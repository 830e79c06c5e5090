"""CoovaChilli: portals 2.1, after coova/coova-chilli (src/redir.c, www/ChilliLibrary.js, doc/hotspotlogin.cgi) and a real one: 1.9 of
2026-06-22, e0c7d7a (Tests/Portals/servers), which breaks the connection off where an account is refused (`mute`)."""

import hashlib
import secrets

import wispr_portal
from lab import CLIENT, CLIENT_MAC, GATEWAY, Product, Scenario
from pages import *

GUEST = {"user": "guest@example.org", "password": "se&cret="}
SECONDS = 3600


class Coova(Product):
    """With a uamsecret, the portal's form is the only way. Without one (`json`), the page's own script asks the gateway; `script`: which has
    the whole form, too. `quiet`: no WISPr document. `refresh`: the page leads to the gateway by a refresh. `own`: the portal is the gateway's
    own page (miniportal/login.chi), whose answer to WISPr is pending."""

    ports = {3990: "http", 4990: "http"}
    server = "https://www.coova.example/hotspotlogin.cgi"
    scenarios = [
        Scenario("wispr", user=GUEST, fewest=2, logoff=True),
        Scenario("wispr refused", "refused", GUEST | {"password": "no"}, text="Sorry, this account is not known."),
        Scenario("form", user=GUEST, options={"quiet": True}, fewest=4, logoff=True, seconds=SECONDS),
        Scenario("form refused", "refused", GUEST | {"password": "no"}, {"quiet": True}, "Sorry, this account is not known."),
        Scenario("late gate", user=GUEST, options={"quiet": True}, delay=3),
        Scenario(
            "json chap",
            user=GUEST,
            options={"json": True, "quiet": True},
            fewest=2,
            never=(GUEST["password"], "se%26cret"),
            seconds=SECONDS,
            logoff=True,
        ),
        Scenario(
            "json refused",
            "refused",
            GUEST | {"password": "no"},
            {"json": True, "quiet": True},
            "Sorry, this account is not known.",
        ),
        Scenario(
            "json refused mutely",
            "refused",
            GUEST | {"password": "no"},
            {"json": True, "quiet": True, "mute": True},
            "not accept",
        ),
        Scenario("json script", user=GUEST, options={"json": True, "quiet": True, "script": True}, fewest=2, logoff=True),
        Scenario("form refresh", user=GUEST, options={"quiet": True, "refresh": True}, fewest=4, logoff=True),
        Scenario("own form", user=GUEST, options={"own": True}, fewest=4, logoff=True),
        Scenario("own form refused", "refused", GUEST | {"password": "no"}, {"own": True, "mute": True}, "not accept"),
        Scenario("wispr pending", user=GUEST, options={"pending": True}, fewest=2, logoff=True),
        Scenario("wispr refused mutely", "refused", GUEST | {"password": "no"}, {"pending": True, "mute": True}, "may be wrong"),
        Scenario("homepage", user=GUEST, options={"home": True, "quiet": True}, fewest=5),
    ]

    def begin(self):
        # A challenge lives for ten minutes, and for one login.
        self.challenge, self.secret = secrets.token_hex(16), b"" if self.options.get("json") else b"uamsecret"
        if self.options.get("own"):
            self.server = f"http://{GATEWAY}:4990/www/login.chi"

    def location(self, res, **more):
        fields = {
            "res": res,
            "uamip": GATEWAY,
            "uamport": "3990",
            "challenge": self.challenge,
            "called": "02-00-00-00-20-01",
            "mac": CLIENT_MAC.upper().replace(":", "-"),
            "ip": CLIENT,
            "nasid": "nas01",
            "sessionid": "5f0000000001",
            "userurl": "http://example.org/",
        }
        url = f"{self.server}?{encode(**fields, **more)}"
        return url + "&md=" + hashlib.md5(url.encode() + self.secret).hexdigest().upper() if self.secret else url

    def chilli(self, url, *document):
        """What chilli's redirects look like."""
        body = "<HTML><BODY><H2>Browser error!</H2>Browser does not support redirects!</BODY>\n"
        if document and not self.options.get("quiet"):
            body += wispr_portal.document(*document)
        answer = redirect(
            url,
            302,
            "Moved Temporarily",
            body + "</HTML>\n",
            Connection="close",
            Expires="Fri, 01 Jan 1971 00:00:00 GMT",
            P3P='CP="IDC DSP COR ADM DEVi TAIi PSA PSD IVAi IVDi CONi HIS OUR IND CNT"',
        )
        answer.version = "HTTP/1.0"
        return answer

    def intercept(self, request):
        url = self.location("notyet")
        if self.options.get("home"):
            url = "https://www.coova.example/home?" + encode(loginurl=url)
        login = self.location("wispr")
        return self.chilli(
            url,
            "Redirect",
            ("AccessProcedure", "1.0"),
            ("AccessLocation", "CDATA[[isocc=,cc=,ac=,network=Coova,]]"),
            ("LocationName", "CDATA[[Coova]]"),
            ("LoginURL", login),
            ("AbortLoginURL", f"http://{GATEWAY}:3990/abort"),
            ("MessageType", "100"),
            ("ResponseCode", "0"),
        )

    def answer(self, request):
        if request.port == 3990:
            return self.gateway(request)
        if request.port == 4990:
            return self.page(request) if request.path == "/www/login.chi" else Answer(404)
        if request.host != "www.coova.example":
            return Answer(404)
        if request.path == "/home" and "loginurl" in request.args:
            return redirect(request.args["loginurl"])
        if request.path == "/ChilliLibrary.js":
            return Answer(200, "var chilliController = {};", "text/javascript")
        return self.page(request) if request.path == "/hotspotlogin.cgi" else Answer(404)

    def page(self, request):
        fields = request.args | request.form
        if fields.get("UserName"):
            # The gateway's own page knows the challenge of the address that asks.
            if not self.options.get("own") and fields.get("challenge") != self.challenge:
                return page("Login failed", "<p>The challenge is missing.</p>")
            response = hashlib.md5(b"\0" + fields["Password"].encode() + self.key()).hexdigest()
            # Without any encoding.
            result = f"http://{GATEWAY}:3990/logon?username={fields['UserName']}&response={response}&userurl=http://example.org/"
            if not (self.options.get("refresh") or self.options.get("own") or self.options.get("pending")):
                return redirect(result)
            pending = wispr_portal.document(
                "AuthenticationReply", ("MessageType", "120"), ("ResponseCode", "201"), ("LoginResultsURL", result))
            return Answer(200, f'<html><head>\n<meta http-equiv="refresh" content="0;url={result}"/>\n</head></html>\n{pending}')
        res = fields.get("res")
        if res in ("success", "already"):
            return page("Logged in to Coova", f'<p>Welcome</p><a href="http://{GATEWAY}:3990/logoff">Logout</a>')
        if res == "logoff":
            return page("Logged out", "<p>You are logged out.</p>")
        error = f"<h2>Login failed</h2><p>{fields.get('reply', '')}</p>" if res == "failed" else ""
        if self.options.get("script"):
            return page("Hotspot", f'<script id="chillijs" src="http://{GATEWAY}:3990/www/chillijs.chi"></script>')
        if self.options.get("json"):
            return page(
                "Coova",
                f"""{error}<script src="/ChilliLibrary.js"></script><script>chilliController.host = "{GATEWAY}";
chilliController.port = 3990; chilliController.interval = 60; function connect(f) {{ chilliController.logon(f.UserName.value, f.Password.value); return false; }}
</script><form name="logon" onsubmit="return connect(this)">{line("UserName", "User name")}{line("Password", "Password", "password")}{button("Login")}</form>""",
            )
        kept = {name: fields.get(name, "") for name in ("challenge", "uamip", "uamport", "userurl")}
        return page(
            "Coova Login",
            error
            + form(
                "login.chi" if self.options.get("own") else "/hotspotlogin.cgi",
                hidden(**kept),
                line("UserName", "User name"),
                line("Password", "Password", "password"),
                button("Login", "button", "Login"),
            ),
        )

    def gateway(self, request):
        if request.method != "GET":
            return None
        match request.path:
            case "/json/status":
                return self.state()
            case "/json/logon" | "/logon" | "/login":
                isRight, isJSON = self.isRight(request.args), request.path == "/json/logon"
                if isRight:
                    self.admit()
                elif self.options.get("mute"):
                    return None
                if isJSON:
                    return self.state("" if isRight else "Sorry, this account is not known.")
                if isRight:
                    url, code = (
                        self.location("success", uid=request.args["username"], timeleft=SECONDS, sessiontimeout=SECONDS),
                        "50",
                    )
                else:
                    url, code = self.location("failed", reason="reject", reply="Sorry, this account is not known."), "100"
                message = () if isRight else (("ReplyMessage", "Sorry, this account is not known."),)
                return self.chilli(
                    url,
                    "AuthenticationReply",
                    ("MessageType", "140"),
                    ("ResponseCode", code),
                    *message,
                    ("LogoffURL", f"http://{GATEWAY}:3990/logoff"),
                )
            case "/json/logoff":
                self.expel()
                return self.state()
            case "/logoff" | "/logout":
                self.expel()
                return self.chilli(self.location("logoff"), "LogoffReply", ("MessageType", "130"), ("ResponseCode", "150"))
        return self.chilli(self.location("already" if self.isOpen else "notyet"))

    def isRight(self, fields):
        key, password = self.key(), GUEST["password"].encode()
        self.challenge = secrets.token_hex(16)
        if fields.get("username") != GUEST["user"]:
            return False
        isPAP = fields.get("password") == bytes(a ^ b for a, b in zip(password, key)).hex()
        return isPAP or fields.get("response") == hashlib.md5(b"\0" + password + key).hexdigest()

    def key(self):
        octets = bytes.fromhex(self.challenge)
        return hashlib.md5(octets + self.secret).digest() if self.secret else octets

    def state(self, message=""):
        value = {
            "version": "1.0",
            "clientState": int(self.isOpen),
            "challenge": self.challenge,
            "nasid": "nas01",
            "location": {"name": "Coova"},
            "redir": {
                "originalURL": "http://example.org/",
                "redirectionURL": "",
                "logoutURL": f"http://{GATEWAY}:3990/logoff",
                "ipAddress": CLIENT,
                "macAddress": CLIENT_MAC.upper().replace(":", "-"),
            },
        }
        if message:
            value["message"] = message
        if self.isOpen:
            value |= {
                "session": {
                    "sessionId": "5f0000000001",
                    "userName": GUEST["user"],
                    "startTime": 1,
                    "sessionTimeout": SECONDS,
                    "idleTimeout": 600,
                },
                "accounting": {"sessionTime": 2, "idleTime": 0, "inputOctets": 0, "outputOctets": 0},
            }
        return jsonAnswer(value, kind="text/javascript", Connection="close")
