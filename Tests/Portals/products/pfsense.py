"""pfSense: portals 2.6, after pfsense/pfsense:src/usr/local/captiveportal/index.php."""

import secrets

from lab import Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}


class PfSense(Product):
    """`method`: user, voucher or none; `after`: where a login leads (else the page with the way out)."""

    name, host = "pfsense", "https://captive.pfsense.example:8003"
    ports, gatewayNames = {8002: "http", 8003: "https"}, ("captive.pfsense.example",)
    scenarios = [
        Scenario("user", user=GUEST, fewest=2, logoff=True),
        Scenario("refused", "refused", GUEST | {"password": "no"}, text="Invalid credentials specified."),
        Scenario("full", "refused", GUEST, {"full": True}, "System reached maximum login capacity"),
        Scenario("voucher", user={"code": "aB3dE5fG7hJ"}, options={"method": "voucher"}, fewest=2, logoff=True),
        Scenario("voucher used up", "refused", {"code": "old"}, {"method": "voucher"}, "Voucher expired"),
        Scenario("click", options={"method": "none"}, fewest=2),
        Scenario("late gate", user=GUEST, delay=3),
    ]

    def begin(self):
        self.session = secrets.token_hex(8)

    def intercept(self, request):
        return redirect(f"{self.host}/index.php?" + encode(zone="guests", redirurl=request.url), Connection="close", Expires="0")

    def answer(self, request):
        fields = request.args | request.form
        if request.host != "captive.pfsense.example" or request.path not in ("/", "/index.php") or fields.get("zone") != "guests":
            return Answer(404)
        if request.form.get("logout_id"):
            if request.form["logout_id"] == self.session and request.form.get("logout"):
                self.expel()
            return redirect("/index.php?zone=guests")
        if self.isOpen:
            return self.connected()
        if request.method != "POST" or not request.form.get("accept"):
            return self.page(fields.get("redirurl", ""))
        method = self.options.get("method", "user")
        if method == "user" and (fields.get("auth_user"), fields.get("auth_pass")) != ("guest", "secret"):
            return self.page(fields.get("redirurl", ""), "Invalid credentials specified.")
        if method == "voucher" and fields.get("auth_voucher") != "aB3dE5fG7hJ":
            return self.page(fields.get("redirurl", ""), "Voucher expired")
        if self.options.get("full"):
            return self.page(fields.get("redirurl", ""), "System reached maximum login capacity")
        self.admit()
        return redirect(fields["redirurl"]) if method == "none" else self.connected()

    def connected(self):
        return page(
            "Captive Portal",
            "<p>The portal session is connected.</p>"
            + form(
                "/index.php?zone=guests",
                hidden(logout_id=self.session, zone="guests"),
                button("Disconnect", "logout", "Disconnect"),
                name="logout",
            ),
        )

    def page(self, redirurl, error=""):
        parts = {
            "user": [line("auth_user", "User"), line("auth_pass", "Password", "password")],
            "none": [],
            "voucher": [line("auth_voucher", "Voucher Code")],
        }[self.options.get("method", "user")]
        notice = f'<div class="error">{error}</div>' if error else ""
        return page(
            "Captive Portal Login Page",
            f'<div class="login-card">{notice}'
            + form(
                f"{self.host}/index.php?zone=guests",
                hidden(redirurl=redirurl, zone="guests"),
                *parts,
                button("Login", "accept", "Login"),
                name="login_form",
            )
            + "</div>",
        )
