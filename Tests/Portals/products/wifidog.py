"""WifiDog, and portals on its gateway: portals 2.4, after wifidog/wifidog-gateway:src/http.c and CPAL TargetBox."""

import secrets

from lab import CLIENT, CLIENT_MAC, GATEWAY, Product, Scenario
from pages import *

AUTH = "https://auth.wifidog.example"


class WifiDog(Product):
    """`style`: an account, a code by text message, or TargetBox's button that asks by JSON."""

    ports = {2060: "http"}
    scenarios = [
        Scenario("account", user={"user": "ada", "password": "secret"}, fewest=4, logoff=True),
        Scenario("account refused", "refused", {"user": "ada", "password": "no"}, text="Wrong user name or password"),
        Scenario("activation", "refused", {"user": "new", "password": "secret"}, text="activate"),
        Scenario("phone and code", user={"phone": "13800138000", "code": "4711"}, options={"style": "phone"}, fewest=5),
        Scenario("targetbox", options={"style": "targetbox"}, fewest=3),
    ]

    def begin(self):
        self.token, self.gateway = secrets.token_hex(16), {"gw_address": GATEWAY, "gw_port": "2060", "gw_id": "lab01"}

    def intercept(self, request):
        query = encode(**self.gateway, ip=CLIENT, mac=CLIENT_MAC, url=request.url)
        server = "https://wifi.targetbox.de" if self.options.get("style") == "targetbox" else AUTH
        return redirect(
            f"{server}/login/?{query}",
            phrase="Redirect to login page",
            body="<p>Please <a href='#'>click here</a></p>",
            Server="WiFiDog 1.3.0",
        )

    def answer(self, request):
        if request.port == 2060:
            return self.dog(request)
        if request.host not in ("auth.wifidog.example", "wifi.targetbox.de"):
            return Answer(404)
        fields = request.args | request.form
        match request.path:
            case "/login/" if request.method == "POST":
                return self.login(fields)
            case "/login/":
                return (
                    self.page(fields, "")
                    if all(fields.get(k) == v for k, v in self.gateway.items())
                    else page("Error", "<p>No gateway</p>")
                )
            case "/wifidog/skip" if request.json() == {
                "gwAddress": GATEWAY,
                "gwPort": "2060",
                "gwId": "lab01",
                "mac": CLIENT_MAC,
            }:
                return jsonAnswer({"success": True, "redirectUrl": f"http://{GATEWAY}:2060/wifidog/auth?token={self.token}"})
            case "/wifidog/skip":
                return jsonAnswer({"message": "bad request"}, 400)
            case "/portal/":
                return page(
                    "Welcome",
                    f'<p>You are connected.</p><a href="http://{GATEWAY}:2060/wifidog/auth?logout=1&token={self.token}">Log out</a>',
                )
            case "/gw_message.php":
                return page("Message", f'<p class="error">{fields.get("message")}: please activate your account.</p>')
        return Answer(404)

    def page(self, fields, error):
        kept = hidden(**self.gateway)
        match self.options.get("style"):
            case "phone":
                inner = form("/login/", kept, line("phone", "Phone number", "tel"), button("Send code"))
            case "targetbox":
                inner = """<button id="skip" type="button">Continue</button><script>
const q = new URLSearchParams(location.search);
document.getElementById("skip").addEventListener("click", async () => {
  const r = await fetch("/wifidog/skip", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(
    {gwAddress: q.get("gw_address"), gwPort: q.get("gw_port"), gwId: q.get("gw_id"), mac: q.get("mac")})});
  location = (await r.json()).redirectUrl;
});</script>"""
            case _:
                inner = form(
                    "/login/", kept, line("username", "User name"), line("password", "Password", "password"), button("Login")
                )
        return page("Sign in", (f'<p class="error">{error}</p>' if error else "") + inner)

    def login(self, fields):
        if any(fields.get(name) != value for name, value in self.gateway.items()):
            return page("Error", "<p>No gateway</p>")
        if "phone" in fields and "code" not in fields:
            return page(
                "Sign in",
                form(
                    "/login/",
                    hidden(**self.gateway, phone=fields["phone"]),
                    line("code", "Code from the text message"),
                    button("Login"),
                ),
            )
        right = fields.get("code") == "4711" or (fields.get("username") in ("ada", "new") and fields.get("password") == "secret")
        if not right:
            return self.page(fields, "Wrong user name or password")
        token = "inactive" if fields.get("username") == "new" else self.token
        return redirect(f"http://{GATEWAY}:2060/wifidog/auth?token={token}")

    def dog(self, request):
        if request.path != "/wifidog/auth" or request.method != "GET":
            return Answer(404)
        if request.args.get("token") != self.token:
            return redirect(f"{AUTH}/gw_message.php?message=activate")
        if request.args.get("logout"):
            self.expel()
            return redirect(f"{AUTH}/login/?" + encode(**self.gateway))
        self.admit()
        return redirect(f"{AUTH}/portal/?" + encode(gw_id="lab01", token=self.token))
