"""OPNsense: portals 2.7 and 1.2, after opnsense/core (Captiveportal/lighttpd-zone.conf, Api/AccessController.php)."""

from lab import CLIENT, CLIENT_MAC, GATEWAY, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "sec ret"}
SECONDS = 14400
SCRIPT = """<script>
$.ajax({type: "POST", url: "/api/captiveportal/access/status/", dataType: "json", data: {user: $("#inputUsername").val(), password: $("#inputPassword").val()}})
  .done(function (data) { $("#login_" + (data['authType'] == 'none' ? 'none' : 'password')).removeClass("hidden"); });
$("#signin").click(function (event) { event.preventDefault(); $.ajax({type: "POST", url: "/api/captiveportal/access/logon/", dataType: "json",
  data: {user: $("#inputUsername").val(), password: $("#inputPassword").val()}}).done(function (data) {
    if (data['clientState'] == 'AUTHORIZED') { window.location = "http://" + getURLparams()["redirurl"]; } else { $("#errorMSGtext").html("authentication failed"); } }); });
</script>"""


class OPNsense(Product):
    ports = {8000: "http"}
    scenarios = [
        Scenario("account", user=GUEST, fewest=2, logoff=True),
        Scenario("refused", "refused", GUEST | {"password": "no"}, text="not accept"),
        Scenario("click", options={"none": True}, fewest=2, logoff=True),
        Scenario("backend away", "refused", GUEST, {"unknown": True}),
    ]

    def intercept(self, request):
        return redirect(
            f"http://{GATEWAY}:8000/index.html?redirurl={request.host}{request.path}", Server="OPNsense", Cache_Control="no-store"
        )

    def answer(self, request):
        none = self.options.get("none")
        if request.port != 8000:
            return Answer(404, Server="OPNsense")
        match request.path:
            case "/" | "/index.html":
                inner = (
                    '<div id="login_none" class="hidden"><button id="signin_anon">Sign in</button></div>'
                    if none
                    else f"""<div id="login_password" class="hidden">
<form class="form-signin" role="form"><h2>Please login</h2><input type="text" id="inputUsername" placeholder="Username">
<input type="password" id="inputPassword" placeholder="Password"><button id="signin" type="button">Sign in</button></form></div>"""
                )
                return page("Login", f'{inner}<div id="errorMSGtext"></div>{SCRIPT}', Server="OPNsense")
            case "/api/captiveportal/access/status/":
                return self.state()
            case "/api/captiveportal/access/logon/" if request.method == "POST" and len(request.body) <= 2048:
                if self.options.get("unknown"):
                    return jsonAnswer({"clientState": "UNKNOWN", "ipAddress": CLIENT})
                if none or (request.form.get("user"), request.form.get("password")) == (GUEST["user"], GUEST["password"]):
                    self.admit()
                return self.state()
            case "/api/captiveportal/access/logoff/" if request.method == "POST":
                self.expel()
                return self.state()
        return jsonAnswer({"message": "bad request"}, 400)

    def state(self):
        value = {
            "clientState": "AUTHORIZED" if self.isOpen else "NOT_AUTHORIZED",
            "ipAddress": CLIENT,
            "authType": "none" if self.options.get("none") else "normal",
        }
        if self.isOpen:
            value |= {
                "sessionId": "s1",
                "zoneid": 0,
                "userName": GUEST["user"],
                "macAddress": CLIENT_MAC,
                "startTime": 1.0,
                "acc_session_timeout": SECONDS,
                "bytes_in": 0,
                "bytes_out": 0,
                "authenticated_via": "local",
            }
        return jsonAnswer(value, Server="OPNsense")
