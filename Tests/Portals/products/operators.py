"""Operators: portals 5, after the clients that each class names (CPAL is binarynoise/CaptivePortalAutoLogin)."""

import json
import secrets

import wispr_portal
from lab import CLIENT, CLIENT_MAC, GATEWAY, Product, Scenario
from pages import *

ACCOUNT = {"user": "ada@example.org", "password": "sec&ret"}
WRONG = ACCOUNT | {"password": "no"}


def right(fields: dict, user: str = "username", password: str = "password") -> bool:
    return (fields.get(user), fields.get(password)) == (ACCOUNT["user"], ACCOUNT["password"])


class Hotsplots(Product):
    """A portal before CoovaChilli (CPAL Hotsplots)."""

    name, ports = "hotsplots", {3990: "http"}
    scenarios = [Scenario("terms", fewest=3), Scenario("voucher", user={"code": "hs-4711"}, options={"login": "voucher"}, fewest=3),
                 Scenario("voucher refused", "refused", {"code": "no"}, {"login": "voucher"}, "Voucher")]

    def begin(self):
        self.challenge = secrets.token_hex(16)

    def location(self, res):
        return "https://www.hotsplots.de/auth/login.php?" + encode(res=res, uamip=GATEWAY, uamport="3990", challenge=self.challenge, called="02-00-00-00-00-AA", mac=CLIENT_MAC,
                                                                     ip=CLIENT, nasid="cafe", userurl="http://example.org/")

    def intercept(self, request):
        return redirect(self.location("notyet"), phrase="Moved Temporarily")

    def answer(self, request):
        if request.port == 3990:
            if request.path == "/logon" and request.args.get("response") == "ok" + self.challenge:
                self.admit()
                return redirect(self.location("success"))
            if request.path == "/logoff":
                self.expel()
            return redirect(self.location("logoff"))
        fields = request.args | request.form
        if request.host != "www.hotsplots.de" or request.path != "/auth/login.php":
            return Answer(404)
        if fields.get("res") == "success":
            return page("hotsplots", "<p>Sie sind eingeloggt.</p>")
        kind, error = self.options.get("login", "agb"), ""
        if request.method == "POST":
            known = all(fields.get(n) == v for n, v in {"challenge": self.challenge, "uamip": GATEWAY, "uamport": "3990", "myLogin": kind, "haveTerms": "1", "termsOK": "on"}.items())
            if known and (kind == "agb" or fields.get("code") == "hs-4711"):
                return redirect(f"http://{GATEWAY}:3990/logon?" + encode(username="agb", response="ok" + self.challenge, userurl=fields["userurl"]))
            error = '<p class="error">Der Voucher ist ungültig.</p>'
        kept = {n: fields.get(n, "") for n in ("challenge", "uamip", "uamport", "userurl", "nasid")}
        return page("hotsplots", error + form("/auth/login.php", hidden(haveTerms="1", myLogin=kind, ll="de", custom="1", **kept), line("code", "Voucher") if kind == "voucher" else "",
                                              box("termsOK", "Ich akzeptiere die Nutzungsbedingungen"), button("Einloggen", "button", "einloggen")))


class Telekom(Product):
    """Free by one call, or WISPr. How the page carries what its own account login needs is not known well enough (CPAL TMobileHotspot, Haxe18/telekom_fon_connect)."""

    name, ssid = "telekom", "Telekom"
    ports = {8000: "http"}
    scenarios = [Scenario("free", fewest=2), Scenario("account", "handed over", ACCOUNT, {"kind": "account"}),
                 Scenario("wispr", user=ACCOUNT, options={"kind": "wispr"}, fewest=1, logoff=True)]
    root = "https://hotspot.t-mobile.net"

    def begin(self):
        self.cookie, self.token, self.kind = secrets.token_hex(16), secrets.token_hex(16), self.options.get("kind", "free")

    def intercept(self, request):
        body = wispr_portal.document("Redirect", ("AccessProcedure", "1.0"), ("LocationName", "Telekom"), ("LoginURL", f"{self.root}/wlan/index.do?wispr=1"),
                                     ("AbortLoginURL", f"{self.root}/wlan/abort.do"), ("MessageType", "100"), ("ResponseCode", "0")) if self.kind == "wispr" else ""
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
                place = json.dumps({"HSPNAME": "Telekom", "LANGUAGE": "de", "LOCATIONID": "DE-1", "LOCATIONNAME": "Lab", "VNPNAME": "", "WISPURL": f"http://{GATEWAY}:8000/", "WISPURLHOME": ""})
                return page("Telekom HotSpot", f"<div ng-app data-ng-init='rlpRequest={place}'></div><p>Mit der Nutzung akzeptieren Sie die AGB.</p><script src='/wlan/js/app.js'></script>")
            case "POST", "/wlan/index.do" if "wispr" in request.args:
                return self.wispr(request)
            case "POST", "/wlan/rest/freeLogin" if self.kind == "free" and request.cookie("JSESSIONID") == self.cookie and request.json().get("rememberMe") is False:
                self.admit()
                return jsonAnswer({"user": {"wlanLoginStatus": "online"}})
            case "POST", "/wlan/rest/contentapi" if {"HSPNAME", "LOCATIONID", "WISPURL"} <= (request.json().get("rlpRequest") or {}).keys():
                return jsonAnswer({"session": {"id": self.cookie}}, Set_Cookie=f"JSESSIONID={self.cookie}; Path=/wlan; Secure")
            case "POST", path if path == f"/wlan/rest/login;jsessionid={self.cookie}" or (path == "/wlan/rest/login" and request.cookie("JSESSIONID") == self.cookie):
                if self.kind == "account" and right(request.json()):
                    return jsonAnswer({"redirect": {"url": f"http://{GATEWAY}:8000/?" + encode(token=self.token)}})
                return jsonAnswer({"errors": [{"description": "Benutzername oder Passwort ist falsch."}]}, 401)
            case "GET", "/wlan/logoff.do":
                self.expel()
                return Answer(200, wispr_portal.document("LogoffReply", ("MessageType", "130"), ("ResponseCode", "150")))
        return jsonAnswer({"errors": [{"description": "Not found"}]}, 404)

    def wispr(self, request):
        if not right(request.form, "UserName", "Password"):
            return Answer(200, wispr_portal.document("AuthenticationReply", ("MessageType", "120"), ("ResponseCode", "100"), ("ReplyMessage", "Login failed")))
        self.admit()
        return Answer(200, wispr_portal.document("AuthenticationReply", ("MessageType", "120"), ("ResponseCode", "50"), ("LogoffURL", f"{self.root}/wlan/logoff.do")))


class Vodafone(Product):
    """Two calls of JSON (CPAL VodafoneHotspot)."""

    name = "vodafone"
    scenarios = [Scenario("click", fewest=3), Scenario("account", user=ACCOUNT, options={"account": True}, fewest=3),
                 Scenario("account refused", "refused", WRONG, {"account": True}, "not accept")]

    def begin(self):
        self.session = secrets.token_hex(16)

    def intercept(self, request):
        return redirect("https://hotspot.vodafone.de/bw?" + encode(sid=self.session))

    def answer(self, request):
        if request.host != "hotspot.vodafone.de":
            return Answer(404)
        profile, kind = (5, "userpass") if self.options.get("account") else (4, "termsOnly")
        match request.method, request.path:
            case "GET", "/api/v4/session":
                return jsonAnswer({"session": self.session, "landingPageElements": [{"type": "text", "value": "Hi"}, {"type": "loginProfile", "value": str(profile)}],
                                   "loginProfiles": {"4": {"id": 4, "accessType": "termsOnly"}, "5": {"id": 5, "accessType": "userpass"}}})
            case "POST", "/api/v4/login" if request.args.get("sessionID") == self.session:
                values = request.json()
                known = (values.get("loginProfile"), values.get("session"), values.get("accessType")) == (profile, self.session, kind)
                if not known or (self.options.get("account") and not right(values)):
                    return jsonAnswer({"success": False, "message": "login failed"})
                self.admit()
                return jsonAnswer({"success": True})
            case "GET", "/bw" | "/":
                return page("Vodafone Hotspot", '<div id="app"></div><p>Es gelten die <a href="/agb">Nutzungsbedingungen</a>.</p><script src="/app.js"></script>')
        return Answer(404)


class TheCloud(Product):
    """A chain of links, then a form (CPAL TheCloud)."""

    name = "thecloud"
    scenarios = [Scenario("terms", fewest=4)]
    root = "https://service.thecloud.eu/service-platform"

    def begin(self):
        self.steps = set()

    def intercept(self, request):
        return redirect(f"{self.root}/?" + encode(nasid="lab", url=request.url))

    def answer(self, request):
        if request.host != "service.thecloud.eu":
            return Answer(404)
        path = request.path.removeprefix("/service-platform")
        self.steps.add(path)
        match request.method, path:
            case "GET", "/":
                return page("The Cloud", '<p>Free Wi-Fi</p><a href="url/welcome">Get online</a> <a href="/help">Help</a>', Set_Cookie="sp=1; Path=/")
            case "GET", "/url/welcome" if request.cookie("sp"):
                return redirect(f"{self.root}/macauthlogin/v1/registration")
            case "GET", "/macauthlogin/v1/registration":
                return page("The Cloud", form("registration", box("terms", "I accept the terms and conditions", "true"), button("Continue")))
            case "POST", "/macauthlogin/v1/registration" if request.form.get("terms") == "true" and "/url/welcome" in self.steps:
                self.admit()
                return redirect(f"{self.root}/online")
            case "GET", "/online":
                return page("The Cloud", "<p>You are online.</p>")
        return redirect(f"{self.root}/getonline")


class BT(Product):
    """BT Wi-fi (`/tbbLogon`) and EE, whose form has another id."""

    name = "bt"
    ports = {8443: "https"}
    scenarios = [Scenario("account", user=ACCOUNT, fewest=2, logoff=True), Scenario("refused", "refused", WRONG, text="not recognised"),
                 Scenario("ee", user=ACCOUNT, options={"ee": True}, fewest=2)]

    def begin(self):
        self.host = "ee-wifi.ee.co.uk" if self.options.get("ee") else "www.btwifi.com"

    def intercept(self, request):
        return redirect(f"https://{self.host}:8443/home")

    def answer(self, request):
        if request.host != self.host or request.port != 8443:
            return Answer(404)
        match request.method, request.path:
            case "POST", "/tbbLogon" if right(request.form):
                self.admit()
                return redirect("/home")
            case "POST", "/tbbLogon":
                return self.page('<p class="error">Your username or password was not recognised.</p>')
            case "GET", "/accountLogoff/home" if request.args.get("confirmed") == "true":
                self.expel()
                return redirect("/home")
            case "GET", "/home" if self.isOpen:
                return page("BT Wi-fi", '<p>You are now logged on.</p><a href="/accountLogoff/home?confirmed=true">Log off</a>')
            case "GET", "/home":
                return self.page("")
        return Answer(404)

    def page(self, error):
        return page("Wi-fi", error + form("/tbbLogon", line("username", "Username"), line("password", "Password", "password"), button("Log on"),
                                          id="loginForm-eeb" if self.options.get("ee") else "tbb"))


class Fon(Product):
    """Partners of Fon (rrooggiieerr/WLANderlust.py)."""

    name = "fon"
    scenarios = [Scenario("account", user=ACCOUNT, fewest=3), Scenario("refused", "refused", WRONG, text="incorrect"),
                 Scenario("cosmote", user=ACCOUNT | {"choice": "passusers"}, options={"ote": True}, fewest=3)]

    def intercept(self, request):
        return redirect(f"https://{'ote' if self.options.get('ote') else 'kpn'}.portal.fon.com/")

    def answer(self, request):
        fields, ote = request.form, self.options.get("ote")
        if not request.host.endswith(".portal.fon.com"):
            return Answer(404)
        names = ("USERNAME", "PASSWORD") if ote else ("UserName", "Password")
        error = ""
        if request.method == "POST":
            if right(fields, *names) and (fields.get("chooseUser") == "passusers" if ote else True):
                self.admit()
                return redirect("/success")
            error = '<p class="error">Username or password incorrect</p>'
        if request.path == "/success":
            return page("KPN | Fon - Success", "<p>Enjoy.</p>")
        extra = hidden(chooseUser="passusers") if ote else ""
        return page("Fon", error + form("/login", extra, line(names[0], "User name"), line(names[1], "Password", "password"),
                                        box("remember" if ote else "_rememberMe", "Remember me"), button("Log in"), id="loginForm"))


class KPN(Product):
    name = "kpn"
    scenarios = [Scenario("free", fewest=2)]

    def intercept(self, request):
        return redirect("https://login.wifi.kpn.com/")

    def answer(self, request):
        if request.host != "login.wifi.kpn.com":
            return Answer(404)
        if request.path == "/Home/StartSessionForFree":
            if request.method == "POST" and request.form.get("__RequestVerificationToken") == "v1":
                self.admit()
                return page("KPN", "<p>You are online.</p>")
            return Answer(400)
        return page("KPN WiFi", "<p>By using this service you accept the terms.</p>" + form("/Home/StartSessionForFree", hidden(__RequestVerificationToken="v1"), button("Go online")))


class Xfinity(Product):
    name = "xfinity"
    scenarios = [Scenario("account", user=ACCOUNT, fewest=2), Scenario("refused", "refused", WRONG, text="did not match")]

    def begin(self):
        self.hash = secrets.token_hex(16)

    def intercept(self, request):
        return redirect("https://wifilogin.xfinity.com/start.php?" + encode(h=self.hash, cm=CLIENT_MAC))

    def answer(self, request):
        fields, error = request.form, ""
        if request.host != "wifilogin.xfinity.com":
            return Answer(404)
        if request.path == "/user_login.php" and request.method == "POST":
            known = all(fields.get(n) == v for n, v in {"method": "authenticate", "client_mac": CLIENT_MAC, "hash": self.hash, "javascript": "true"}.items())
            if known and {"get_url", "friendlyname", "devicetype"} <= fields.keys() and right(fields):
                self.admit()
                return page("Welcome", "<p>You are connected.</p>")
            error = '<p class="error">The username and password did not match our records.</p>'
        script = "<script>document.login.javascript.value = 'true';</script>"
        return page("Xfinity WiFi", error + form("/user_login.php", hidden(method="authenticate", client_mac=CLIENT_MAC, get_url="http://example.org/", hash=self.hash, javascript="false",
                                                 devicetype="laptop"), line("username", "Xfinity ID"), line("password", "Password", "password"), line("friendlyname", "Name of this device (optional)"),
                                                 box("agree_standard", "Terms of Service", "1"), button("Sign in"), name="login") + script)


class SFR(Product):
    """A page that computes CoovaChilli's response (syam44/Hotspot-Login-Manager)."""

    name, ports = "sfr", {3990: "http"}
    scenarios = [Scenario("account", user=ACCOUNT, fewest=3), Scenario("refused", "refused", WRONG, text="incorrect")]

    def begin(self):
        self.challenge = secrets.token_hex(16)

    def intercept(self, request):
        return redirect("https://hotspot.wifi.sfr.fr/indexEncryptingChilli.php?" + encode(challenge=self.challenge, mode="3", uamip=GATEWAY, uamport="3990", channel="0"))

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
            known = all(fields.get(n) == v for n, v in {"challenge": self.challenge, "accessType": "neuf", "conditions": "on", "uamip": GATEWAY, "uamport": "3990", "mode": "3", "channel": "0"}.items())
            if known and right(fields):
                url = f"http://{GATEWAY}:3990/logon?" + encode(username=fields["username"], response="r" + self.challenge, userurl="http://example.org/")
                return Answer(200, f"<!-- SFRLoginURL_JIL={url} --><script>window.location = '{url}';</script>")
            error = '<p class="error">Identifiant ou mot de passe incorrect</p>'
        return page("SFR WiFi", error + form("/nb4_crypt.php", hidden(challenge=self.challenge, accessType="neuf", lang="fr", mode="3", userurl="http://example.org/", uamip=GATEWAY, uamport="3990",
                                             channel="0"), line("username", "Identifiant (user)"), line("password", "Mot de passe", "password"),
                                             box("conditions", "J'accepte les conditions générales d'utilisation"), button("Connexion")))


class GlobalReach(Product):
    """A coffee chain's page in front of Aruba: name, e-mail, then the controller's login."""

    name, gatewayNames = "globalreach", ("aruba.odyssys.net",)
    scenarios = [Scenario("register", user={"name": "Ada", "email": "ada@example.org", "zip": "10115"}, fewest=3)]

    def intercept(self, request):
        return redirect("https://sbux-portal.globalreachtech.com/?" + encode(cmd="login", mac=CLIENT_MAC, essid="Lab", ip=CLIENT, switchip="aruba.odyssys.net", url=request.url), phrase="Captive Portal")

    def answer(self, request):
        fields = request.form
        if request.host == "aruba.odyssys.net":
            if request.path == "/cgi-bin/login" and (fields.get("cmd"), fields.get("user"), fields.get("password")) == ("authenticate", "g-1", "p-1"):
                self.admit()
                return redirect("http://example.org/")
            return Answer(404)
        if request.host != "sbux-portal.globalreachtech.com":
            return Answer(404)
        if request.method == "POST" and fields.get("first_name") and "@" in fields.get("email", "") and fields.get("zip") and fields.get("accept") == "1":
            return page("Connecting", form("http://aruba.odyssys.net/cgi-bin/login", hidden(cmd="authenticate", user="g-1", password="p-1"), name="f") + "<script>document.f.submit();</script>")
        return page("Welcome", form("", line("first_name", "First name"), line("email", "Email address", "email"), line("zip", "Postal code"), box("accept", "I accept the terms of use", "1"),
                                    button("Accept &amp; connect")))


class Boingo(Product):
    """WISPr with a realm, and a result that is fetched at the gateway."""

    name, gatewayNames = "boingo", ("gateway.boingohotspot.net",)
    scenarios = [Scenario("account", user={"user": "boingo/ada", "password": "sec&ret"}, fewest=1, logoff=True),
                 Scenario("pending", user={"user": "boingo/ada", "password": "sec&ret"}, options={"pending": True}, fewest=2, logoff=True),
                 Scenario("refused", "refused", {"user": "boingo/ada", "password": "no"}, text="Invalid username or password")]
    root = "https://portal.boingohotspot.net"

    def begin(self):
        self.polls = 0

    def intercept(self, request):
        body = wispr_portal.document("Redirect", ("AccessProcedure", "1.0"), ("AccessLocation", "isocc=us,cc=1,ac=312,network=Boingo"), ("LocationName", "Airport"),
                                     ("LoginURL", f"{self.root}/wispr"), ("AbortLoginURL", f"{self.root}/abort"), ("MessageType", "100"), ("ResponseCode", "0"))
        return redirect(f"{self.root}/", body=body)

    def answer(self, request):
        fields = request.form
        match request.host, request.path:
            case "portal.boingohotspot.net", "/wispr" if request.method == "POST":
                if fields.get("button") != "Login" or fields.get("FNAME") != "0" or "OriginatingServer" not in fields:
                    return self.reply("AuthenticationReply", "120", "255")
                if (fields.get("UserName"), fields.get("Password")) != ("boingo/ada", "sec&ret"):
                    return self.reply("AuthenticationReply", "120", "100", ("ReplyMessage", "Invalid username or password"))
                if self.options.get("pending"):
                    return self.reply("AuthenticationReply", "120", "201", ("LoginResultsURL", "http://gateway.boingohotspot.net/results"), ("Delay", "1"))
                self.admit()
                return self.reply("AuthenticationReply", "120", "50", ("LogoffURL", f"{self.root}/logoff"))
            case "gateway.boingohotspot.net", "/results":
                self.admit()
                return self.reply("AuthenticationPollReply", "140", "50", ("LogoffURL", f"{self.root}/logoff"))
            case "portal.boingohotspot.net", "/logoff":
                self.expel()
                return self.reply("LogoffReply", "130", "150")
            case "portal.boingohotspot.net", "/":
                return page("Boingo", '<p>Choose a plan.</p><div id="app"></div><script src="/app.js"></script>')
        return Answer(404)

    def reply(self, element, kind, code, *more):
        return Answer(200, wispr_portal.document(element, ("MessageType", kind), ("ResponseCode", code), *more))
