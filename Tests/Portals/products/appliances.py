"""Other gear: portals 3.14 and 5: Ucopia (CPAL WifiAccess), Palo Alto, Sangfor, Cambium, LANCOM, WatchGuard, Fritz!Box, Arista (CPAL of these names), Zyxel."""

import secrets

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}
REFUSED = GUEST | {"password": "no"}


class Ucopia(Product):
    name = "ucopia"
    scenarios = [Scenario("click", fewest=4, logoff=True)]

    def begin(self):
        self.account = (secrets.token_hex(4), secrets.token_hex(4))
        self.steps = 0

    def intercept(self, request):
        return redirect("https://controller.access.network/101/portal/")

    def answer(self, request):
        fields = request.form
        if request.host != "controller.access.network":
            return Answer(404)
        if request.path == "/101/portal/":
            return page("Guest access", '<button id="go">Connect</button><script src="/101/portal/js/portal_api.js"></script><script>$("#go").click(function () {'
                        'if (!$("#policy").is(":checked")) return; portal.subscribe(); });</script><input type="checkbox" id="policy"><label for="policy">I accept the terms of use</label>')
        if request.path != "/portal_api.php" or request.method != "POST":
            return Answer(404)
        match fields.get("action"):
            case "init":
                self.steps = 1
                return jsonAnswer({"step": "FORM", "type": "CONNECT"})
            case "subscribe" if self.steps and fields.get("type") == "one" and fields.get("connect_policy_accept") == "true":
                return jsonAnswer({"info": {"subscribe": {"login": self.account[0], "password": self.account[1]}}})
            case "authenticate" if (fields.get("login"), fields.get("password")) == self.account and fields.get("policy_accept") == "true":
                self.admit()
                return jsonAnswer({"step": "FEEDBACK", "type": "CONNECT", "user": {"login": {"value": self.account[0]}}})
            case "disconnect":
                self.expel()
                return jsonAnswer({"step": "FEEDBACK", "type": "LOGOUT"})
        return jsonAnswer({"error": {"code": "error_logon_login-error"}})


class PaloAlto(Product):
    name, ports, gatewayNames = "paloalto", {6082: "https"}, ("pan.example",)
    scenarios = [Scenario("account", user=GUEST, fewest=2), Scenario("refused", "refused", REFUSED, text="Authentication failed")]

    def begin(self):
        self.preauth = secrets.token_hex(8)

    def intercept(self, request):
        return redirect("https://pan.example:6082/php/uid.php?" + encode(vsys="1", rule="0", url=request.url))

    def answer(self, request):
        if request.host != "pan.example" or request.path != "/php/uid.php" or request.args.get("vsys") != "1":
            return Answer(404)
        fields, error = request.form, ""
        if request.method == "POST":
            if fields.get("ok") == "Login" and fields.get("preauthid") == self.preauth and {"inputStr", "escapeUser"} <= fields.keys() \
                    and (fields.get("user"), fields.get("passwd")) == ("guest", "secret"):
                self.admit()
                return page("User Identification Portal", "<p>User authenticated successfully.</p>")
            error = '<div id="taError">Authentication failed</div>'
        return page("Authentication Portal", error + form("", hidden(inputStr="", escapeUser="", preauthid=self.preauth), line("user", "User"),
                                                           line("passwd", "Password", "password"), '<input type="submit" name="ok" value="Login">', id="login_form"))


class Sangfor(Product):
    name = "sangfor"
    scenarios = [Scenario("account", user=GUEST, fewest=2, logoff=True), Scenario("refused", "refused", REFUSED, text="用户名或密码错误"),
                 Scenario("rc4", "handed over", GUEST, {"rc4": True}, never=("pwd=secret",))]

    def intercept(self, request):
        return redirect("http://ac.sangfor.example/ac_portal/default/pc.html?" + encode(template="default", tabs="pwd", vlanid="0", _ID_="0", switch_url="", url=request.url,
                                                                                         mac=CLIENT_MAC.replace(":", "-")))

    def answer(self, request):
        fields = request.form
        if request.host != "ac.sangfor.example":
            return Answer(404)
        if request.path.endswith("/pc.html"):
            return page("上网认证", '<input id="password_name" placeholder="用户名"><input id="password_pwd" type="password"><button id="password_submitBtn">登录</button>'
                        f'<script>var rc4 = {str(bool(self.options.get("rc4"))).lower()};</script><script src="../js/pc.js"></script>')
        if request.path != "/ac_portal/login.php" or request.method != "POST":
            return Answer(404)
        if fields.get("opr") == "logout":
            self.expel()
            return self.said(True, "logout success")
        password = self.cipher(b"secret", fields.get("auth_tag", "").encode()).hex() if self.options.get("rc4") and fields.get("auth_tag") else "secret"
        if self.options.get("rc4") and not fields.get("auth_tag") or fields.get("opr") != "pwdLogin" or fields.get("rememberPwd") != "0" \
                or (fields.get("userName"), fields.get("pwd")) != ("guest", password):
            return self.said(False, "用户名或密码错误")
        self.admit()
        return self.said(True, "logon success")

    def said(self, success, text):
        return Answer(200, f"{{'success':{str(success).lower()}, 'msg':'{text}', 'action':'location', 'pop':0, 'userName':'guest'}}", "text/html; charset=utf-8")

    def cipher(self, text, key):
        state, j = list(range(256)), 0
        for i in range(256):
            j = (j + state[i] + key[i % len(key)]) % 256
            state[i], state[j] = state[j], state[i]
        i = j = 0
        out = bytearray()
        for octet in text:
            i = (i + 1) % 256
            j = (j + state[i]) % 256
            state[i], state[j] = state[j], state[i]
            out.append(octet ^ state[(state[i] + state[j]) % 256])
        return bytes(out)


class Cambium(Product):
    name, ports, gatewayNames = "cambium", {880: "http"}, ("ap.cambium.example",)
    scenarios = [Scenario("account", user=GUEST, fewest=2)]

    def intercept(self, request):
        return redirect("http://portal.cambium.example/?" + encode(ga_ssid="Lab", ga_ap_mac="02-00-00-00-00-AA", ga_nas_id="ap", ga_srvr="ap.cambium.example", ga_cmac=CLIENT_MAC,
                                                                    ga_cip=CLIENT, ga_Qv="eUROBR86HBgAGDEEVgQAGw4UWRUCACYVMgFPHFZeXUQ.", ga_orig_url=request.url))

    def answer(self, request):
        fields = request.form
        wanted = {"ga_ssid", "ga_ap_mac", "ga_nas_id", "ga_srvr", "ga_cmac", "ga_cip", "ga_Qv", "ga_orig_url", "autherr"}
        if request.host == "portal.cambium.example" and "ga_srvr" in request.args:
            return page("Guest", form(f"http://{request.args['ga_srvr']}:880/cgi-bin/hotspot_login.cgi", hidden(**request.args, autherr="0"), line("ga_user", "User"),
                                      line("ga_pass", "Password", "password"), button("Login")))
        if request.path == "/cgi-bin/hotspot_login.cgi" and request.port == 880 and wanted <= fields.keys() and (fields.get("ga_user"), fields.get("ga_pass")) == ("guest", "secret"):
            self.admit()
            return redirect(fields["ga_orig_url"])
        return Answer(404)


class LANCOM(Product):
    name, gatewayNames = "lancom", ("hotspot.lancom.example",)
    scenarios = [Scenario("account", user=GUEST, fewest=2), Scenario("refused", "refused", REFUSED, text="Login failed"),
                 Scenario("room", user={"surname": "Brandt", "room": "214"}, options={"pms": True}, fewest=2), Scenario("terms", options={"agb": True}, fewest=2),
                 Scenario("cloud", options={"cloud": True}, fewest=2)]

    def intercept(self, request):
        return redirect("https://hotspot.lmc.de/cloud-service-hotspot/lab" if self.options.get("cloud") else "http://hotspot.lancom.example/authen/")

    def answer(self, request):
        if request.host == "hotspot.lmc.de" and request.path == "/cloud-service-hotspot/lab":
            if request.method == "POST":
                self.admit()
            return page("Hotspot", "<p>You are connected.</p>" if self.isOpen else form("", "<p>Please accept the terms.</p>", button("Accept and connect")))
        if request.path == "/authen/agblogin/" and self.options.get("agb") and request.form.get("AGB") == "on":
            self.admit()
            return page("Login successful", "<p>You are logged in.</p>")
        if request.host != "hotspot.lancom.example" or request.path not in ("/authen/", "/authen/login/"):
            return Answer(404)
        if self.options.get("agb"):
            return page("Public Spot", form("agblogin/", box("AGB", "Ich akzeptiere die AGB"), button("Anmelden")))
        fields, error = request.form, ""
        parts = line("surname", "Surname") + line("room", "Room number") if self.options.get("pms") else line("userid", "User ID") + line("password", "Password", "password")
        if request.method == "POST":
            right = {("userid", "guest"), ("password", "secret")} <= fields.items() or {("surname", "Brandt"), ("room", "214")} <= fields.items()
            if right and request.path == "/authen/login/":
                self.admit()
                return page("Login successful", "<p>You are logged in.</p>")
            error = '<p class="error">Login failed</p>'
        return page("Public Spot", error + form("/authen/login/", parts, button("Login")))


class WatchGuard(Product):
    name, ports, gatewayNames = "watchguard", {4100: "https"}, ("wg.example",)
    scenarios = [Scenario("click", fewest=2)]

    def intercept(self, request):
        return redirect("https://wg.example:4100/index.shtml?" + encode(redirect=request.url))

    def answer(self, request):
        if request.host != "wg.example":
            return Answer(404)
        if request.path == "/wgcgi.cgi" and request.method == "POST":
            kind, text = request.headers.get("Content-Type", ""), request.body.decode("utf-8", "replace")
            names = ("action", "hsContinueBtnName", "hsAcceptCkbName", "redirect", "lang", "style")
            if "Referer" not in request.headers or not kind.startswith("multipart/form-data") or any(f'name="{name}"' not in text for name in names):
                return Answer(403, "<p>Forbidden</p>")
            self.admit()
            return redirect("http://example.org/")
        return page("Hotspot", form("/wgcgi.cgi", hidden(action="hotspot_accept", redirect=request.args.get("redirect", ""), lang="en-US", style="hotspot"), "<p>Terms</p>",
                                    box("hsAcceptCkbName", "I have read and accept the terms and conditions"), button("Continue", "hsContinueBtnName", "Continue"),
                                    enctype="multipart/form-data"))


class FritzBox(Product):
    name, ports, gatewayNames = "fritzbox", {8186: "http"}, ("fritz.box",)
    scenarios = [Scenario("accept", fewest=2), Scenario("blocked", "handed over", options={"blocked": True})]

    def intercept(self, request):
        return redirect("http://fritz.box/blocked" if self.options.get("blocked") else "http://fritz.box:8186/untrusted_guest.lua")

    def answer(self, request):
        match request.path:
            case "/untrusted_guest.lua":
                return page("FRITZ!Box", "<p>Welcome to the guest network.</p>" + form("/trustme.lua", button("Accept terms and surf", "accept", "yes"), method="get"))
            case "/trustme.lua" if request.args.get("accept") == "yes":
                self.admit()
                return page("FRITZ!Box", "<p>You can surf now.</p>")
            case "/blocked":
                return page("FRITZ!Box", "<p>Internet access is blocked for this device.</p>")
        return Answer(404)


class Arista(Product):
    name = "arista"
    scenarios = [Scenario("click", fewest=2)]

    def intercept(self, request):
        return redirect("https://onboard.agni.arista.io/portal/Eabc123?" + encode(mac=CLIENT_MAC))

    def answer(self, request):
        if request.path == "/portal/Eabc123/clickThrough/logon" and request.method == "POST" and (request.form.get("orgID") or request.json().get("orgID")) == "Eabc123":
            self.admit()
            return jsonAnswer({"success": True})
        if request.path == "/portal/Eabc123":
            return page("Guest", '<button id="connect">Accept and connect</button><script src="/portal/app.js"></script>')
        return Answer(404)


class Zyxel(Product):
    """Nothing is published of its fields: whatever form it shows is a browser's to understand, and a script's is handed over."""

    name = "zyxel"
    scenarios = [Scenario("script", "handed over", GUEST)]

    def intercept(self, request):
        return redirect("https://zyxel.example/uamportal.php?" + encode(gw_addr="10.20.0.1", clientmac=CLIENT_MAC))

    def answer(self, request):
        return page("Nebula", '<div id="app"></div><script src="/app.js"></script>')
