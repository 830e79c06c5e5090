"""Deutsche Telekom: portals 5, after CPAL TMobileHotspot."""

import json
import secrets

import wispr_portal
from lab import GATEWAY, Product, Scenario
from pages import *

ACCOUNT = {"user": "ada@example.org", "password": "sec&ret"}


def right(fields: dict, user: str = "username", password: str = "password") -> bool:
    return (fields.get(user), fields.get(password)) == (ACCOUNT["user"], ACCOUNT["password"])


class Telekom(Product):
    """Free by one call, or WISPr. How the page carries what its own account login needs is not known well enough (CPAL TMobileHotspot, Haxe18/telekom_fon_connect)."""

    name, ssid = "telekom", "Telekom"
    ports = {8000: "http"}
    scenarios = [
        Scenario("free", fewest=2),
        Scenario("account", "handed over", ACCOUNT, {"kind": "account"}),
        Scenario("wispr", user=ACCOUNT, options={"kind": "wispr"}, fewest=1, logoff=True),
    ]
    root = "https://hotspot.t-mobile.net"

    def begin(self):
        self.cookie, self.token, self.kind = secrets.token_hex(16), secrets.token_hex(16), self.options.get("kind", "free")

    def intercept(self, request):
        body = (
            wispr_portal.document(
                "Redirect",
                ("AccessProcedure", "1.0"),
                ("LocationName", "Telekom"),
                ("LoginURL", f"{self.root}/wlan/index.do?wispr=1"),
                ("AbortLoginURL", f"{self.root}/wlan/abort.do"),
                ("MessageType", "100"),
                ("ResponseCode", "0"),
            )
            if self.kind == "wispr"
            else ""
        )
        return redirect(f"{self.root}/wlan/redirect.do?" + encode(origurl=request.url, ts="1700000000"), body=body)

    def answer(self, request):
        if request.port == 8000 and request.args.get("token") == self.token:
            self.admit()
            return page("OK", "<p>OK</p>")
        if request.host != "hotspot.t-mobile.net":
            return Answer(404)
        match request.method, request.path:
            case "GET", "/wlan/redirect.do":
                return redirect(f"{self.root}/wlan/index.do", Set_Cookie=f"JSESSIONID={self.cookie}; Path=/wlan; Secure")
            case "GET", "/wlan/index.do":
                place = json.dumps(
                    {
                        "HSPNAME": "Telekom",
                        "LANGUAGE": "de",
                        "LOCATIONID": "DE-1",
                        "LOCATIONNAME": "Lab",
                        "VNPNAME": "",
                        "WISPURL": f"http://{GATEWAY}:8000/",
                        "WISPURLHOME": "",
                    }
                )
                return page(
                    "Telekom HotSpot",
                    f"<div ng-app data-ng-init='rlpRequest={place}'></div><p>Mit der Nutzung akzeptieren Sie die AGB.</p><script src='/wlan/js/app.js'></script>",
                )
            case "POST", "/wlan/index.do" if "wispr" in request.args:
                return self.wispr(request)
            case "POST", "/wlan/rest/freeLogin" if (
                self.kind == "free" and request.cookie("JSESSIONID") == self.cookie and request.json().get("rememberMe") is False
            ):
                self.admit()
                return jsonAnswer({"user": {"wlanLoginStatus": "online"}})
            case "POST", "/wlan/rest/contentapi" if {"HSPNAME", "LOCATIONID", "WISPURL"} <= (
                request.json().get("rlpRequest") or {}
            ).keys():
                return jsonAnswer({"session": {"id": self.cookie}}, Set_Cookie=f"JSESSIONID={self.cookie}; Path=/wlan; Secure")
            case "POST", path if path == f"/wlan/rest/login;jsessionid={self.cookie}" or (
                path == "/wlan/rest/login" and request.cookie("JSESSIONID") == self.cookie
            ):
                if self.kind == "account" and right(request.json()):
                    return jsonAnswer({"redirect": {"url": f"http://{GATEWAY}:8000/?" + encode(token=self.token)}})
                return jsonAnswer({"errors": [{"description": "Benutzername oder Passwort ist falsch."}]}, 401)
            case "GET", "/wlan/logoff.do":
                self.expel()
                return Answer(200, wispr_portal.document("LogoffReply", ("MessageType", "130"), ("ResponseCode", "150")))
        return jsonAnswer({"errors": [{"description": "Not found"}]}, 404)

    def wispr(self, request):
        if not right(request.form, "UserName", "Password"):
            return Answer(
                200,
                wispr_portal.document(
                    "AuthenticationReply", ("MessageType", "120"), ("ResponseCode", "100"), ("ReplyMessage", "Login failed")
                ),
            )
        self.admit()
        return Answer(
            200,
            wispr_portal.document(
                "AuthenticationReply",
                ("MessageType", "120"),
                ("ResponseCode", "50"),
                ("LogoffURL", f"{self.root}/wlan/logoff.do"),
            ),
        )
