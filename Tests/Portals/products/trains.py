"""Trains: portals 5, after CPAL DBWifi and Unwired, felix-zenk/onboardapis, sistason/db_wlan_manager, janisstreib/captive.d, TheDrHax/mosmetro-android."""

import json
import re
import secrets

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *


class DBCna(Product):
    """WIFIonICE since 2022: the page is a script that posts JSON."""

    name, ssid = "db-cna", "WIFIonICE"
    scenarios = [Scenario("click", fewest=2, logoff=True), Scenario("late gate", fewest=2, delay=3), Scenario("first page", options={"first": True}, fewest=3),
                 Scenario("refused", "refused", options={"full": True})]

    def intercept(self, request):
        if self.options.get("first"):
            return page("WIFIonICE", form("http://login.wifionice.de/cna/", hidden(url=request.url), method="get", id="urlform") + "<script>document.getElementById('urlform').submit()</script>")
        return redirect("http://login.wifionice.de/cna/")

    def answer(self, request):
        if request.host != "login.wifionice.de":
            return Answer(404)
        match request.method, request.path:
            case "GET", "/cna/":
                return page("WIFIonICE", '<div id="root"></div><p>By connecting you accept the <a href="/cna/agb">terms of use</a>.</p><script src="/cna/static/main.js"></script>')
            case "POST", "/cna/logon":
                if request.headers.get("X-Csrf-Token") != "csrf" or request.body.strip() != b"{}" or "json" not in request.headers.get("Content-Type", ""):
                    return jsonAnswer({"result": "error", "message": "csrf"}, 403)
                if self.options.get("full"):
                    return jsonAnswer({"result": "error", "message": "The login is not possible at present."})
                self.admit()
                return jsonAnswer({"result": "success"})
            case "POST", "/cna/logoff" if request.headers.get("X-Csrf-Token") == "csrf":
                self.expel()
                return jsonAnswer({"result": "success"})
            case "GET", "/cna/wifi/user_info":
                return jsonAnswer({"result": {"authenticated": str(int(self.isOpen)), "userMac": CLIENT_MAC}})
        return Answer(404)


class DBStation(Product):
    """WIFI@DB in stations: a form with one click."""

    name, ssid = "db-sp", "WIFI@DB"
    scenarios = [Scenario("click", fewest=2)]

    def intercept(self, request):
        return redirect("https://wifi.bahn.de/sp/7cb09a17/")

    def answer(self, request):
        if request.host != "wifi.bahn.de":
            return Answer(404)
        if request.method == "POST" and request.path.endswith("/login"):
            if request.form.get("login") != "oneclick" or request.form.get("oneSubscriptionForm_connect_policy_accept") != "on":
                return redirect("/sp/7cb09a17/")
            self.admit()
            return page("WIFI@DB", "<p>You are connected.</p>")
        return page("WIFI@DB", form("/login", hidden(login="oneclick"), box("oneSubscriptionForm_connect_policy_accept", "I accept the terms of use"), button("Connect")))


class Icomera(Product):
    """The form of 2017 with a cookie: ICE then, metronom and others today."""

    name = "icomera"
    scenarios = [Scenario("click", fewest=2, logoff=True)]

    def begin(self):
        self.csrf = secrets.token_hex(16)

    def intercept(self, request):
        return redirect("http://wifi.metronom.de/de/?" + encode(url=request.url))

    def answer(self, request):
        if request.host != "wifi.metronom.de":
            return Answer(404)
        if request.path == "/api/jsonp/user/":
            return jsonp(request.args.get("callback", "cb"), {"version": "1.9", "authenticated": str(int(self.isOpen)), "data_total_limit": "200000000", "data_total_used": "1000"})
        fields = request.form
        if request.method == "POST" and fields.get("CSRFToken") == self.csrf == request.cookie("csrf"):
            if fields.get("login") == "true":
                self.admit()
            elif fields.get("logout") == "true":
                self.expel()
        word, label = ("logout", "Abmelden") if self.isOpen else ("login", "Verbinden")
        kind = "user-online" if self.isOpen else "user-offline"
        return page("WLAN", f'<div class="{kind}">' + form("/de/", hidden(**{word: "true"}, CSRFToken=self.csrf), button(label)) + "</div>", Set_Cookie=f"csrf={self.csrf}; path=/")


class CD(Product):
    name = "cd"
    scenarios = [Scenario("click", fewest=2)]

    def intercept(self, request):
        return redirect("http://cdwifi.cz/")

    def answer(self, request):
        match request.method, request.host, request.path:
            case "GET", "cdwifi.cz", "/":
                return page("CDWiFi", '<div id="app"></div><script src="/app.js"></script>')
            case "POST", "cdwifi.cz", "/portal/api/vehicle/gateway/user/authenticate":
                self.admit()
                return jsonAnswer({"authenticated": True})
            case "GET", "cdwifi.cz", "/portal/api/vehicle/gateway/data/limit":
                return jsonAnswer({"usedAmount": 1, "totalLimit": 500})
        return Answer(404)


class OEBB(Product):
    name = "oebb"
    scenarios = [Scenario("click", fewest=2)]

    def begin(self):
        self.token, self.ceid = secrets.token_hex(20), secrets.token_hex(8)

    def intercept(self, request):
        return redirect("https://railnet.oebb.at/")

    def answer(self, request):
        if request.host != "railnet.oebb.at":
            return Answer(404)
        if request.method == "POST" and request.path == "/connecttoweb":
            fields = request.form
            known = fields.get("_token") == self.token and fields.get("_ceid") == self.ceid and fields.get("form_type") == "registration"
            if not known or fields.get("checkit") != "on" or not request.headers.get("Referer", "").startswith("https://railnet.oebb.at/"):
                return Answer(403, "<p>Page Expired</p>") if not known else redirect("/")
            self.admit()
            return redirect("/success")
        if request.path == "/success":
            return page("Railnet", "<p>Sie sind verbunden.</p>")
        return page("Railnet", form("/connecttoweb", hidden(_token=self.token, _ceid=self.ceid, form_type="registration"),
                                    box("checkit", "Ich akzeptiere die Nutzungsbedingungen"), button("Jetzt verbinden")))


class SNCF(Product):
    name, ssid = "sncf", "_SNCF_WIFI_INOUI"
    scenarios = [Scenario("click", fewest=2), Scenario("late gate", fewest=2, delay=3)]

    def intercept(self, request):
        return redirect("https://wifi.sncf/")

    def answer(self, request):
        match request.method, request.host, request.path:
            case "GET", "wifi.sncf", "/router/api/connection/status":
                return jsonAnswer({"active": self.isOpen})
            case "POST", "wifi.sncf", "/router/api/connection/activate/auto" if "json" in request.headers.get("Content-Type", "") and request.json() in ({}, {"without21NetConnection": False}):
                self.admit()
                return jsonAnswer({"active": True})
            case "GET", "wifi.sncf", "/router/api/connection/statistics":
                return jsonAnswer({"quota": 0.01, "next_reset": 1700003600})
            case "GET", "wifi.sncf", _:
                return page("WiFi", '<app-root></app-root><p>En vous connectant, vous acceptez les <a href="/cgu">conditions générales d\'utilisation</a>.</p><script src="/main.js"></script>')
        return Answer(404)


class OUIGO(Product):
    """Its login is not known: a browser's."""

    name = "ouigo"
    ports = {8084: "http"}
    scenarios = [Scenario("script", "handed over")]

    def intercept(self, request):
        return redirect("http://ouifi.ouigo.com:8084/")

    def answer(self, request):
        return page("OUIFI", '<div id="root"></div><script src="/main.js"></script>')


class Unwired(Product):
    name = "unwired"
    scenarios = [Scenario("click", fewest=3, logoff=True)]

    def begin(self):
        self.session, self.widget = secrets.token_urlsafe(16), secrets.token_hex(6)

    def intercept(self, request):
        return redirect("https://wasabi-splashpage.wifi.unwired.at/?" + encode(user_session_id=self.session))

    def answer(self, request):
        if request.host != "wasabi-splashpage.wifi.unwired.at":
            return Answer(404)
        if request.path != "/api/graphql":
            return page("WLAN", '<div id="root"></div><p>Mit der Nutzung akzeptieren Sie die <a href="/agb">Nutzungsbedingungen</a>.</p><script src="/static/js/main.js"></script>')
        query, variables = str(request.json().get("query", "")), request.json().get("variables") or {}
        if request.method != "POST" or not re.fullmatch(r"[\w-]{21}", request.headers.get("x-request-id", "")):
            return jsonAnswer({"errors": [{"message": "Bad request"}]}, 400)
        given = json.dumps(variables) + query
        if "splashpage" in query:
            widgets = [{"__typename": "TextWidget", "widget_id": "t1"}, {"__typename": "ConnectWidget", "widget_id": self.widget}]
            return jsonAnswer({"data": {"splashpage": {"splashpage": {"pages": [{"widgets": widgets}]}, "user_session_info": {"session_time": 0, "timeout_session": 14400, "mbytes": 0}}}})
        if "client_connect" in query and self.session in given and self.widget in given:
            self.admit()
            return jsonAnswer({"data": {"client_connect": {"redirect_url": "http://example.org/"}}})
        if "client_logout" in query and self.session in given:
            self.expel()
            return jsonAnswer({"data": {"client_logout": True}})
        return jsonAnswer({"errors": [{"message": "Cannot query field"}]})


class Moscow(Product):
    """MT_FREE of the second kind: a token in the page goes into a header."""

    name = "moscow-v2"
    scenarios = [Scenario("click", fewest=3), Scenario("unregistered", "refused", options={"unknown": True}, text="not registered")]

    def begin(self):
        self.csrf, self.begun = secrets.token_urlsafe(24), False

    def intercept(self, request):
        return redirect("https://auth.wi-fi.ru/auth?" + encode(segment="metro", mac=CLIENT_MAC))

    def answer(self, request):
        if request.host != "auth.wi-fi.ru":
            return Answer(404)
        match request.method, request.path:
            case "GET", "/auth":
                text = page("MT_FREE", '<div id="app"></div><script src="/app.js"></script>', Set_Cookie="session=m1; Path=/")
                text.body = text.body.replace(b"<head>", f'<head><meta name="csrf-token" content="{self.csrf}">'.encode())
                return text
            case "POST", "/auth/init" if request.headers.get("X-CSRF-Token") == self.csrf and request.cookie("session") == "m1" \
                    and (request.form.get("mode"), request.form.get("segment")) == ("0", "metro"):
                if self.options.get("unknown"):
                    return jsonAnswer({"auth_error_code": "err_device_not_identified"})
                self.begun = True
                return jsonAnswer({"auth_status": "started"})
            case "GET", "/auth/check" if request.args.get("segment") == "metro" and self.begun:
                self.admit()
                return jsonAnswer({"auth_status": "success"})
        return jsonAnswer({"auth_error_code": "err_forbidden"}, 403)


class RheinRuhr(Product):
    name = "rhein-ruhr"
    addresses, ports = ("10.10.10.1",), {2050: "http"}
    scenarios = [Scenario("click", fewest=2, logoff=True)]

    def intercept(self, request):
        return redirect("http://10.10.10.1:2050/splash.html?" + encode(redir=request.url), 307)

    def answer(self, request):
        match request.path:
            case "/splash.html":
                return page("WLAN", form("http://10.10.10.1:2050/nodogsplash_auth/", hidden(tok="0a1b2c3d", redir=request.args.get("redir", "")),
                                         "<p>Mit Klick auf Verbinden akzeptieren Sie die AGB.</p>", button("Verbinden"), method="get"))
            case "/nodogsplash_auth/" if request.args.get("tok") == "0a1b2c3d":
                self.admit()
                return redirect(request.args["redir"])
            case "/nodogsplash_deny/":
                self.expel()
                return redirect("http://10.10.10.1:2050/")
        return Answer(511)
