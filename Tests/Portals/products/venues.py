"""Venues and their providers: portals 5, after CPAL's handlers of the same names."""

import json
import secrets

from lab import CLIENT, CLIENT_MAC, GATEWAY, Product, Scenario
from pages import *


class Conn4(Product):
    """A scene names the interface, which has tariffs by JSON: REWE, Kaufland, ibis (CPAL Conn4)."""

    name, root = "conn4", "https://cust.conn4.com"
    scenarios = [Scenario("free tariff", fewest=4, seconds=7200)]

    def begin(self):
        self.token, self.session = secrets.token_urlsafe(24), secrets.token_urlsafe(24)

    def intercept(self, request):
        return redirect(f"{self.root}/ident?" + encode(site_id="123", loggedIn="0", remembered_mac="0"))

    def answer(self, request):
        fields = request.form
        if request.host != "cust.conn4.com":
            return Answer(404)
        match request.method, request.path:
            case "GET", "/ident":
                token = json.dumps({"token": self.token, "urls": {"grant_url": "", "continue_url": "http://example.org/"}})
                schedule = json.dumps({"schedule": {"scene_template": "/scenes/{id}/", "events": [{"payload": {"type": "scene", "data": {"id": "main", "module": "wbs"}}}]}})
                return page("Free WiFi", f'<div id="app"></div><p>Mit der Nutzung akzeptieren Sie die <a href="/agb">AGB</a>.</p>'
                            f'<script>conn4.hotspot.wbsToken = {token};\nconn4.start(_.partial(run, {schedule}));</script>')
            case "GET", "/scenes/main/":
                return page("Scene", '<div data-wbs-base-url="/wbs/api/v1"></div><script src="/scene.js"></script>')
            case "POST", "/wbs/api/v1/create-session/" if fields.get("authorization") == f"token={self.token}" and fields.get("with-tariffs") == "1" \
                    and fields.get("locationId") == "123" and {"locale", "session_id"} <= fields.keys():
                return jsonAnswer({"ok": True, "session": self.session, "tariffs": [
                    {"id": 9, "name": "Premium", "price": 499, "is_paid": True, "is_free": False, "validity": 1440, "duration": 86400},
                    {"id": 4, "name": "Free", "price": 0, "is_paid": False, "is_free": True, "validity": 120, "duration": 7200}]})
            case "POST", "/wbs/api/v1/register/free/" if fields.get("authorization") == f"session={self.session}" and fields.get("registration_type") == "terms-only" \
                    and fields.get("registration[terms]") == "1" and fields.get("tariff") == "4":
                self.admit()
                return jsonAnswer({"ok": True, "tariffId": 4, "message": "OK"})
        return jsonAnswer({"ok": False, "message": "invalid request"}, 400)


class Picopoint(Product):
    """A page by script, then a form with a value from a call (CPAL Picopoint)."""

    name = "picopoint"
    scenarios = [Scenario("click", fewest=4)]

    def begin(self):
        self.form = "f" + secrets.token_hex(3)

    def intercept(self, request):
        return redirect("https://gatekeeper2.picopoint.com/gk/page/begin?" + encode(mac=CLIENT_MAC))

    def answer(self, request):
        if request.host != "gatekeeper2.picopoint.com":
            return Answer(404)
        match request.method, request.path:
            case "GET", "/gk/page/begin":
                return scripted("https://gatekeeper2.picopoint.com/gk/page/options", "window.location")
            case "GET", "/gk/page/options":
                return page("Shell", form("/gk/auth", hidden(__fid=self.form, custom_data_1=""), '<button type="button" onclick="go()">Connect</button>', name="pseudo_auth_form")
                            + '<script>$.getJSON("/gk/rest/session").done(function (s) { $("[name=custom_data_1]").val(s.network.client_mac); });</script>')
            case "GET", "/gk/rest/session":
                return jsonAnswer({"network": {"client_mac": CLIENT_MAC, "name": "Lab"}})
            case "POST", "/gk/auth" if request.form.get("custom_data_1") == CLIENT_MAC and request.form.get("__fid") == self.form and request.form.get(f"{self.form}:_c") == "continue":
                self.admit()
                return redirect("http://example.org/")
        return Answer(400, "<p>Bad request</p>")


class SocialWave(Product):
    """JSON gives an account, which a MikroTik or a nodogsplash is told (CPAL SocialWave)."""

    name, gatewayNames = "socialwave", ("login.meinwlan.com",)
    ports = {2050: "http"}
    scenarios = [Scenario("anonymous", fewest=4, logoff=True), Scenario("email", user={"email": "ada@example.org"}, options={"method": "email"}, fewest=4, logoff=True),
                 Scenario("openwrt", options={"openwrt": True}, fewest=4, logoff=True), Scenario("switched off", "refused", options={"off": True}, text="DeactivatedLocation")]

    def begin(self):
        self.res, self.token = secrets.token_hex(8), secrets.token_hex(12)

    def intercept(self, request):
        auth = {"auth": f"{GATEWAY}:2050", "redir": "http://example.org/"} if self.options.get("openwrt") else {"auth": "http://login.meinwlan.com/login"}
        return redirect("https://go.meinwlan.com/?" + encode(res=self.res, **auth))

    def answer(self, request):
        fields = request.args | request.form
        known = fields.get("query") == self.res
        match request.host, request.path:
            case "go.meinwlan.com", "/" if fields.get("res") == self.res:
                return page("Free WLAN", '<div id="app"></div><p>Mit Klick akzeptieren Sie die <a href="/agb">AGB</a>.</p><script src="/app.js"></script>')
            case "splash-api.daisy.meinwlan.com", "/api/hello.json" if known:
                if self.options.get("off"):
                    return jsonAnswer({"Success": False, "Reason": "DeactivatedLocation"})
                settings = {"AuthenticationMethods": [self.options.get("method", "anonymous")], "IsCurrentlyOffBySchedule": False, "RedirectUrl": "http://example.org/"}
                return jsonAnswer({"Success": True, "Settings": settings})
            case "splash-api.daisy.meinwlan.com", "/api/anonymous/login.json" if known and fields.get("agree_marketing") == "false" and {"agree_terms", "language", "user_agent"} <= fields.keys():
                return self.account()
            case "splash-api.daisy.meinwlan.com", "/api/email/register.json" if known and request.method == "POST" and fields.get("agree_marketing") == "false" \
                    and fields.get("agree_terms") == "true" and "@" in fields.get("email", ""):
                return self.account()
            case "login.meinwlan.com", "/login" if (fields.get("username"), fields.get("password")) == ("anon", self.token) and "dst" in fields:
                self.admit()
                return redirect(fields["dst"])
            case "login.meinwlan.com", "/logout":
                self.expel()
                return page("logout", "<p>you have just logged out</p>")
            case "10.20.0.1", "/nodogsplash_auth_tok/" if fields.get("token") == self.token and "redir" in fields:
                self.admit()
                return redirect(fields["redir"])
            case "10.20.0.1", "/nodogsplash_deny/":
                self.expel()
                return redirect("/")
        return Answer(404)

    def account(self):
        return jsonAnswer({"Success": True, "AuthenticationToken": self.token} | ({} if self.options.get("openwrt") else {"Username": "anon"}))


class Nomadix(Product):
    """Its own page is a form: room and surname in a hotel, nothing asked to be paid (no source is known)."""

    name, ports, gatewayNames = "nomadix", {1111: "http"}, ("login.nomadix.example",)
    scenarios = [Scenario("room", user={"room": "214", "surname": "Brandt"}, fewest=2), Scenario("refused", "refused", {"room": "1", "surname": "X"}, text="do not match"),
                 Scenario("to be paid", "handed over", {"room": "214", "surname": "Brandt"}, {"paid": True})]

    def intercept(self, request):
        return redirect("http://login.nomadix.example:1111/usg/process?" + encode(OS=request.url, UI="1", MA=CLIENT_MAC.replace(":", ""), RN="214"))

    def answer(self, request):
        fields, error = request.form, ""
        if request.host != "login.nomadix.example" or request.path != "/usg/process":
            return Answer(404)
        if request.method == "POST":
            if (fields.get("RN"), fields.get("NAME")) == ("214", "Brandt"):
                self.admit()
                return page("Welcome", "<p>You are connected.</p>")
            error = '<p class="error">Room and name do not match.</p>'
        label = "Buy 24 hours for 9.95 EUR, charged to your room" if self.options.get("paid") else "Connect"
        return page("Hotel", error + form("/usg/process", line("RN", "Room number"), line("NAME", "Last name"), button(label)))


class Carglass(Product):
    """A page called REDIR, then one box (CPAL Carglass)."""

    name, addresses = "carglass", ("1.1.1.1",)
    scenarios = [Scenario("click", fewest=2)]

    def intercept(self, request):
        return Answer(200, "<html><head><title>REDIR</title></head><body><script>var redirURL = 'http://1.1.1.1/reg.php?url=x'; document.location = redirURL;</script></body></html>")

    def answer(self, request):
        if request.to != "1.1.1.1" or request.path != "/reg.php":
            return self.intercept(request)
        if request.method == "POST" and request.form.get("checkbox") == "checkbox" and request.form.get("url"):
            self.admit()
            return page("Connected", "<p>You are connected.</p>")
        return page("Welcome", form("reg.php", hidden(url=request.args.get("url", "")), box("checkbox", "I accept the terms of use", "checkbox"), button("Accept", "Submit", "Accept")))


class TTLine(Product):
    """OPNsense with another body (CPAL TTLine)."""

    name, ports, gatewayNames = "ttline", {8000: "http"}, ("tbguest.ttline.com",)
    scenarios = [Scenario("terms", user={"email": "ada@example.org"}, fewest=2)]

    def intercept(self, request):
        return redirect(f"http://tbguest.ttline.com:8000/index.html?redirurl={request.host}{request.path}", Server="OPNsense")

    def answer(self, request):
        values = request.json()
        if request.path == "/api/captiveportal/access/logon/" and request.method == "POST":
            wanted = {"lang", "user", "password", "passenger_type", "newsletter_accepted"}
            if values.get("terms_accepted") == "true" and "@" in values.get("email", "") and wanted <= values.keys():
                self.admit()
            return jsonAnswer({"clientState": "AUTHORIZED" if self.isOpen else "NOT_AUTHORIZED"})
        if request.path == "/api/captiveportal/access/status/":
            return jsonAnswer({"clientState": "AUTHORIZED" if self.isOpen else "NOT_AUTHORIZED", "authType": "none"})
        return page("TT-Line", '<input id="email"><input type="checkbox" id="terms"><label for="terms">I accept the terms</label><button id="go">Connect</button><script src="/js/tt.js"></script>')


class AENA(Product):
    """Spanish airports: an account at another company by script; a browser's."""

    name = "aena"
    scenarios = [Scenario("registration", "handed over", {"email": "ada@example.org"})]

    def intercept(self, request):
        return redirect("https://freewifi.aena.es/2f1c?" + encode(cmd="login", mac=CLIENT_MAC, essid="AENA", ip=CLIENT), phrase="Captive Portal")

    def answer(self, request):
        return page("AENA", '<div id="gigya"></div><script src="https://login.aena.es/gigya.js"></script>') if request.host == "freewifi.aena.es" else Answer(404)


class IKEA(Product):
    """JSON gives an account, which a LANCOM is told (CPAL IKEA)."""

    name, gatewayNames = "ikea", ("yo-wifi.net",)
    scenarios = [Scenario("terms", fewest=3)]

    def begin(self):
        self.password = secrets.token_hex(8)

    def intercept(self, request):
        return redirect("https://yo-wifi.net/authen/?" + encode(user_mac=CLIENT_MAC, device_name="lab1", url=request.url))

    def answer(self, request):
        fields = request.args
        if request.host != "yo-wifi.net":
            return Answer(404)
        match request.method, request.path:
            case "GET", "/authen/":
                return redirect("/?" + encode(user_mac=CLIENT_MAC, device_name="lab1"))
            case "GET", "/":
                return page("IKEA WiFi", '<div id="app"></div><p>By connecting you accept the <a href="/terms">terms of use</a>.</p><script src="/app.js"></script>')
            case "POST", "/login/tc" if fields.get("client_id") == "1" and fields.get("nasid") == "lab1" and fields.get("user_type") == "9" \
                    and fields.get("user_mac") == CLIENT_MAC.replace(":", "-"):
                return jsonAnswer({"payload": {"realm": "R", "username": "u1", "password": self.password}})
            case "GET", "/authen/login/" if (fields.get("userid"), fields.get("password")) == ("R1\\u1\\9", self.password):
                self.admit()
                return redirect("http://example.org/")
        return Answer(404)


class Optional(Product):
    """Not one chain but a habit of many: an e-mail that may stay empty, and a newsletter that the user did not ask for."""

    name = "newsletter"
    scenarios = [Scenario("terms only", fewest=2)]

    def intercept(self, request):
        return redirect("https://wifi.shop.example/?" + encode(client_mac=CLIENT_MAC))

    def answer(self, request):
        fields = request.form
        if request.host != "wifi.shop.example":
            return Answer(404)
        if request.method == "POST" and fields.get("terms") == "1":
            if fields.get("newsletter") or fields.get("email"):
                return page("Error", "<p>A newsletter was ordered.</p>")
            self.admit()
            return page("Welcome", "<p>You are connected.</p>")
        return page("Free WiFi", form("", hidden(lang="de"), line("email", "E-mail (optional)"), box("terms", "I accept the terms of use", "1"),
                                      box("newsletter", "I want the newsletter", "1"), button("Connect")))
