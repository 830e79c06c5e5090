"""Venues and their providers: portals 5, after CPAL's handlers of the same names."""

import json
import secrets

from lab import CLIENT, CLIENT_MAC, GATEWAY, Product, Scenario
from pages import *


class Conn4(Product):
    """Tariffs by JSON: REWE, Kaufland, ibis (CPAL Conn4)."""

    name = "conn4"
    scenarios = [Scenario("free tariff", fewest=3, seconds=7200)]
    base = "https://cust.conn4.example/wbs/api/v1"

    def begin(self):
        self.token, self.session = secrets.token_urlsafe(24), secrets.token_urlsafe(24)

    def intercept(self, request):
        return redirect("https://cust.conn4.example/ident?" + encode(site_id="123", loggedIn="0", remembered_mac=""))

    def answer(self, request):
        fields = request.form
        if request.host != "cust.conn4.example":
            return Answer(404)
        match request.method, request.path:
            case "GET", "/ident":
                token = json.dumps({"token": self.token, "urls": {"grant_url": "", "continue_url": "http://example.org/"}})
                return page("Free WiFi", f'<div id="app"></div><p>Mit der Nutzung akzeptieren Sie die <a href="/agb">AGB</a>.</p><script>conn4.hotspot.wbsToken = {token};\n'
                                         f'conn4.hotspot.wbsBase = "{self.base}/"; conn4.hotspot.locationId = "42";</script><script src="/app.js"></script>')
            case "POST", "/wbs/api/v1/create-session/" if fields.get("authorization") == f"token={self.token}" and fields.get("with-tariffs") == "1" and {"locale", "session_id"} <= fields.keys():
                return jsonAnswer({"session": self.session, "tariffs": [{"id": 9, "name": "Premium", "price": 499, "validity": 1440, "duration": 86400},
                                                                       {"id": 4, "name": "Free", "price": 0, "validity": 120, "duration": 7200}]})
            case "POST", "/wbs/api/v1/register/free/" if fields.get("authorization") == f"session={self.session}" and fields.get("registration_type") == "terms-only" \
                    and fields.get("registration[terms]") == "1" and fields.get("tariff") == "4":
                self.admit()
                return jsonAnswer({"ok": True, "message": "OK"})
        return jsonAnswer({"ok": False, "message": "invalid request"}, 400)


class Picopoint(Product):
    """Two forms and a call between them (CPAL Picopoint)."""

    name = "picopoint"
    scenarios = [Scenario("click", fewest=4)]

    def begin(self):
        self.form = "f" + secrets.token_hex(3)

    def intercept(self, request):
        return redirect("https://gatekeeper2.picopoint.example/gk/page/options?" + encode(mac=CLIENT_MAC))

    def answer(self, request):
        if request.host != "gatekeeper2.picopoint.example":
            return Answer(404)
        match request.method, request.path:
            case "GET", "/gk/page/options":
                return scripted("/gk/page/shell")
            case "GET", "/gk/page/shell":
                return page("Shell", form("/gk/auth", hidden(fid=self.form, custom_data_1=""), '<button type="button" onclick="go()">Connect</button>', id="pseudo_auth_form")
                            + '<script>$.getJSON("/gk/rest/session").done(function (s) { $("[name=custom_data_1]").val(s.mac); });</script>')
            case "GET", "/gk/rest/session":
                return jsonAnswer({"mac": CLIENT_MAC, "id": "1"})
            case "POST", "/gk/auth" if request.form.get("custom_data_1") == CLIENT_MAC and request.form.get(f"{self.form}:_c") == "continue":
                self.admit()
                return redirect("http://example.org/")
        return Answer(400, "<p>Bad request</p>")


class SocialWave(Product):
    """JSON gives an account, which a MikroTik is told (CPAL SocialWave)."""

    name, gatewayNames = "socialwave", ("login.meinwlan.example",)
    scenarios = [Scenario("anonymous", fewest=4, logoff=True)]

    def begin(self):
        self.res, self.token = secrets.token_hex(8), secrets.token_hex(12)

    def intercept(self, request):
        return redirect("https://go.meinwlan.example/?" + encode(res=self.res, auth="http://login.meinwlan.example/login"))

    def answer(self, request):
        fields = request.args
        match request.host, request.path:
            case "go.meinwlan.example", "/" if fields.get("res") == self.res:
                return page("Free WLAN", '<div id="app"></div><p>Mit Klick akzeptieren Sie die <a href="/agb">AGB</a>.</p><script src="/app.js"></script>')
            case "go.meinwlan.example", "/api/hello.json" if fields.get("query") == self.res:
                return jsonAnswer({"Code": 0, "Location": "Lab"}, Set_Cookie=f"sw={self.token}; Path=/")
            case "go.meinwlan.example", "/api/anonymous/login.json" if request.cookie("sw") == self.token:
                return jsonAnswer({"Code": 0, "Username": "anon", "AuthenticationToken": self.token})
            case "login.meinwlan.example", "/login" if (fields.get("username"), fields.get("password")) == ("anon", self.token) and "dst" in fields:
                self.admit()
                return redirect(fields["dst"])
            case "login.meinwlan.example", "/logout":
                self.expel()
                return page("logout", "<p>you have just logged out</p>")
        return Answer(404)


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
        if request.to != "1.1.1.1" or request.path not in ("/reg.php",):
            return self.intercept(request)
        if request.method == "POST" and request.form.get("checkbox") == "checkbox":
            self.admit()
            return page("Connected", "<p>You are connected.</p>")
        return page("Welcome", form("reg.php?url=x", box("checkbox", "I accept the terms of use", "checkbox"), button("Accept", "Submit", "Accept")))


class TTLine(Product):
    """OPNsense with another body (CPAL TTLine)."""

    name, ports = "ttline", {8000: "http"}
    scenarios = [Scenario("terms", user={"email": "ada@example.org"}, fewest=2)]

    def intercept(self, request):
        return redirect(f"http://{GATEWAY}:8000/index.html?redirurl={request.host}{request.path}", Server="OPNsense")

    def answer(self, request):
        values = request.json()
        if request.path == "/api/captiveportal/access/logon/" and request.method == "POST":
            if values.get("terms_accepted") is True and "@" in values.get("email", "") and "passenger_type" in values and values.get("newsletter_accepted") is False:
                self.admit()
            return jsonAnswer({"clientState": "AUTHORIZED" if self.isOpen else "NOT_AUTHORIZED"})
        return page("TT-Line", '<input id="email"><input type="checkbox" id="terms"><label for="terms">I accept the terms</label><button id="go">Connect</button><script src="/js/tt.js"></script>')


class AENA(Product):
    """Spanish airports: an account at another company by script; a browser's."""

    name = "aena"
    scenarios = [Scenario("registration", "handed over", {"email": "ada@example.org"})]

    def intercept(self, request):
        return redirect("https://freewifi.aena.example/2f1c?" + encode(cmd="login", mac=CLIENT_MAC, essid="AENA", ip=CLIENT), phrase="Captive Portal")

    def answer(self, request):
        return page("AENA", '<div id="gigya"></div><script src="https://login.aena.example/gigya.js"></script>') if request.host == "freewifi.aena.example" else Answer(404)


class IKEA(Product):
    """A box, an e-mail that may stay empty, a newsletter that the user did not ask for."""

    name = "ikea"
    scenarios = [Scenario("terms", fewest=2)]

    def intercept(self, request):
        return redirect("https://yo-wifi.example/ikea/?" + encode(client_mac=CLIENT_MAC))

    def answer(self, request):
        fields = request.form
        if request.method == "POST" and fields.get("terms") == "1":
            if fields.get("newsletter") or fields.get("email"):
                return page("Error", "<p>An unwanted newsletter was ordered.</p>")
            self.admit()
            return page("Welcome", "<p>You are connected.</p>")
        return page("IKEA WiFi", form("", hidden(lang="de"), line("email", "E-mail (optional)"), box("terms", "I accept the terms of use", "1"),
                                      box("newsletter", "I want the newsletter", "1"), button("Connect")))
