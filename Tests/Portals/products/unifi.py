"""Ubiquiti UniFi: portals 3.6, after CPAL UniFi."""

import json
import secrets

from lab import CLIENT_MAC, GATEWAY, Product, Scenario
from pages import *

SCRIPTED = """<div id="app"></div><script src="/guest/s/default/app.js"></script><script>
fetch("hotspotconfig").then(r => r.text()).then(show);
function connect(values) { return fetch("login?t=" + Date.now(), {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(values)}); }
</script>"""


class UniFi(Product):
    """`auth`: none, voucher, password; `legacy`: a page with a form."""

    ports, root = {8880: "http"}, f"http://{GATEWAY}:8880/guest/s/default"
    scenarios = [
        Scenario("click", fewest=3),
        Scenario("late gate", fewest=3, delay=4),
        Scenario("garbage", options={"garbage": True}, fewest=3),
        Scenario("voucher", user={"code": "12345-67890"}, options={"auth": "voucher"}, fewest=3),
        Scenario("voucher refused", "refused", {"code": "99999-99999"}, {"auth": "voucher"}, "voucher"),
        Scenario("password", user={"password": "secret"}, options={"auth": "password"}, fewest=3),
        Scenario("legacy voucher", user={"code": "1234567890"}, options={"auth": "voucher", "legacy": True}, fewest=2),
        Scenario("empty page", options={"broken": True}, fewest=3),
    ]

    def begin(self):
        self.context, self.auth = secrets.token_hex(16), self.options.get("auth", "none")

    def intercept(self, request):
        return redirect(
            f"{self.root}/?" + encode(id=CLIENT_MAC, ap="02:00:00:00:00:aa", t="1700000000", url=request.url, ssid="Lab")
        )

    def answer(self, request):
        if request.port != 8880:
            return Answer(404)
        match request.path.removeprefix("/guest/s/default"):
            case "/" if request.args.get("id") == CLIENT_MAC:
                if self.options.get("broken"):
                    return Answer(200, "", Set_Cookie=f"ec={self.context}; Path=/")
                inner = form(
                    "login",
                    hidden(page_error="", landing_url="http://example.org/"),
                    line("voucher", "Voucher code"),
                    box("accept_tos", "I accept the Terms of Service", "true"),
                    button("Connect", "connect", "connect"),
                )
                return page(
                    "Hotspot portal", inner if self.options.get("legacy") else SCRIPTED, Set_Cookie=f"ec={self.context}; Path=/"
                )
            case "/hotspotconfig":
                return self.reply(
                    {
                        "auth": "none" if self.auth == "none" else "hotspot",
                        "voucher_enabled": self.auth == "voucher",
                        "password_enabled": self.auth == "password",
                        "payment_enabled": False,
                        "radius_enabled": False,
                    }
                )
            case "/login" if request.method == "POST":
                return self.login(request)
        return Answer(404)

    def login(self, request):
        if request.cookie("ec") != self.context or not request.headers.get("Referer", "").startswith(f"http://{GATEWAY}:8880/"):
            return self.reply(None, "api.err.LoginRequired")
        if self.options.get("legacy"):
            right = request.form.get("voucher", "").replace("-", "") == "1234567890" and request.form.get("accept_tos") == "true"
        else:
            values = request.json()
            right = {
                "none": not request.form and values == {},
                "voucher": values.get("by") == "voucher" and values.get("voucher", "").replace("-", "") == "1234567890",
                "password": values == {"by": "password", "password": "secret"},
            }[self.auth]
        if not right:
            return self.reply(None, "api.err.InvalidVoucher" if self.auth == "voucher" else "api.err.InvalidPassword")
        self.admit()
        return (
            redirect("http://example.org/")
            if self.options.get("legacy")
            else self.reply({"authorized": True, "redirect_url": "http://example.org/"})
        )

    def reply(self, data, error=""):
        meta = {"rc": "error", "msg": error} if error else {"rc": "ok"}
        text = json.dumps({"meta": meta, "data": [data] if data else []})
        return Answer(200, (")]}',\n" if self.options.get("garbage") else "") + text, "application/json")
