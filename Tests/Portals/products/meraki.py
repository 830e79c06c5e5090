"""Cisco Meraki: portals 3.3, after CPAL NetworkAuth."""

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *

SPLASH = "http://n123.network-auth.com/splash"
GUEST = {"user": "ada@example.org", "password": "secret"}


class Meraki(Product):
    """Click-through or sign-on, on Meraki's page or on one of the operator's."""

    scenarios = [
        Scenario("click", fewest=2),
        Scenario("external click", options={"external": True}, fewest=3),
        Scenario("sign-on", user=GUEST, options={"signOn": True}, fewest=2),
        Scenario("sign-on refused", "refused", GUEST | {"password": "no"}, {"signOn": True}, "Access denied"),
        Scenario("external sign-on", user=GUEST, options={"signOn": True, "external": True}, fewest=3),
        Scenario("external refused", "refused", GUEST | {"password": "no"}, {"signOn": True, "external": True}, "Access denied"),
    ]
    key = "5gdHY6ab"

    def intercept(self, request):
        return redirect(
            f"{SPLASH}/?"
            + encode(
                mac="02:00:00:00:00:AA",
                real_ip=CLIENT,
                client_ip=CLIENT,
                client_mac=CLIENT_MAC,
                vap="0",
                a="ab12",
                b="7",
                auth_version="5",
                key=self.key,
                acl_ver="P1",
                continue_url=request.url,
            )
        )

    def answer(self, request):
        if request.host == "portal.meraki.example":
            return self.portal(request)
        if request.host != "n123.network-auth.com":
            return Answer(404)
        match request.path:
            case "/splash/" if request.args.get("key") == self.key:
                return self.splash(request)
            case "/splash/grant" if not self.options.get("signOn") and request.method == "GET" and "continue_url" in request.args:
                self.admit()
                return redirect(request.args["continue_url"])
            case "/splash/login" if self.options.get("signOn") and request.method == "POST":
                if (request.form.get("username"), request.form.get("password")) != ("ada@example.org", "secret"):
                    return self.external("Access denied") if self.options.get("external") else self.signOn("Access denied")
                self.admit()
                return redirect(request.form.get("success_url") or f"{SPLASH}/connected")
            case "/splash/connected":
                return page("Connected", "<p>You are connected.</p>")
        return Answer(404)

    def splash(self, request):
        if self.options.get("external"):
            return self.external()
        if self.options.get("signOn"):
            return self.signOn()
        return page(
            "Guest",
            form(
                "/splash/grant",
                hidden(continue_url=request.args["continue_url"]),
                button("Continue to the Internet"),
                method="get",
            ),
        )

    def external(self, error=""):
        common = {"client_ip": CLIENT, "client_mac": CLIENT_MAC, "node_mac": "02:00:00:00:00:aa"}
        if self.options.get("signOn"):
            query = encode(
                login_url=f"{SPLASH}/login?mauth=x",
                continue_url="http://example.org/",
                ap_name="ap",
                error_message=error,
                **common,
            )
        else:
            query = encode(
                base_grant_url=f"{SPLASH}/grant", user_continue_url="http://example.org/", node_id="1", gateway_id="1", **common
            )
        return redirect(f"http://portal.meraki.example/welcome?{query}")

    def signOn(self, error=""):
        return page(
            "Sign in",
            (f'<p class="error">{error}</p>' if error else "")
            + form(
                "/splash/login",
                hidden(success_url=f"{SPLASH}/connected"),
                line("username", "Email"),
                line("password", "Password", "password"),
                button("Sign in"),
                id="signin_form",
            ),
        )

    def portal(self, request):
        arguments = request.args
        if "base_grant_url" in arguments:
            return page(
                "Cafe",
                form(
                    arguments["base_grant_url"],
                    hidden(continue_url=arguments["user_continue_url"]),
                    "<p>Free Wi-Fi</p>",
                    button("Connect"),
                    method="get",
                ),
            )
        if "login_url" in arguments:
            error = arguments.get("error_message")
            return page(
                "Cafe",
                (f'<p class="error">{error}</p>' if error else "")
                + form(
                    arguments["login_url"],
                    hidden(success_url=arguments["continue_url"]),
                    line("username", "Email"),
                    line("password", "Password", "password"),
                    button("Log in"),
                ),
            )
        return Answer(404)
