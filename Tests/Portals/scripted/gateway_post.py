"""A portal in the cloud whose script builds a form for the gateway and submits it, as Cisco's and Aruba's external pages do (cisco_wlc.py, aruba.py)."""

import secrets

from lab import CLIENT_MAC, GATEWAY, Scenario
from scripted.shell import *

GUEST = {"user": "visitor", "password": "W1reless"}
ERROR = "The username and password combination you have entered is invalid."


class GatewayPost(Scripted):
    """The answers leave the portal for the gateway's address, which sends a refusal back as a number."""

    name, host, path, title = "gateway-post", "splash.cloud-guest.example", "/s/4711/", "Guest Access"
    addresses = ("1.1.1.1",)
    scenarios = [
        Scenario("virtual address", user=GUEST, options={"gateway": "1.1.1.1"}),
        Scenario("private address", user=GUEST, options={"gateway": GATEWAY}),
        Scenario("refused", "refused", GUEST | {"password": "no"}, {"gateway": "1.1.1.1"}, ERROR),
        Scenario("corrected", user=GUEST | {"password": "no"}, options={"gateway": "1.1.1.1"}, text=ERROR, corrected=GUEST),
    ]
    script = r"""
const query = new URLSearchParams(location.search);
const texts = {1: "You are already logged in.", 3: "The username is already in use.", 5: "The username and password combination you have entered is invalid."};
load("/api/site/4711").then(site => {
  const user = h("input", {type: "text", placeholder: "Username", id: "u"}), password = h("input", {type: "password", placeholder: "Password", id: "p"});
  show(h("img", {alt: "", src: "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="}), h("h1", {}, site.title),
    query.get("statusCode") && h("div", {class: "splash-error_message__0ab"}, texts[query.get("statusCode")] || "Login failed."),
    h("div", {class: "splash-row__0ab"}, user), h("div", {class: "splash-row__0ab"}, password),
    h("button", {type: "button", class: "splash-button__0ab", onclick: () => {
      const values = {buttonClicked: "4", err_flag: "0", redirect_url: query.get("redirect"), ticket: site.ticket, username: user.value, password: password.value};
      const form = h("form", {method: "POST", action: query.get("switch_url")}, Object.entries(values).map(([name, value]) => h("input", {type: "hidden", name, value})));
      document.body.append(form);
      form.submit();
    }}, "Sign In"));
});
"""

    def start(self, **more):
        query = encode(switch_url=f"http://{self.options['gateway']}/login.html", client_mac=CLIENT_MAC, wlan="Lab", redirect="http://example.org/", **more)
        return redirect(f"http://{self.host}{self.path}?{query}")

    def intercept(self, request):
        return self.start()

    def answer(self, request):
        if request.host != self.options["gateway"]:
            return super().answer(request)
        form = request.form
        if request.path != "/login.html" or request.method != "POST" or request.headers.get("Origin") != f"http://{self.host}":
            return Answer(404)
        if form.get("ticket") != self.csrf or form.get("buttonClicked") != "4":
            return self.start(statusCode="2")
        if (form.get("username"), form.get("password")) != tuple(GUEST.values()):
            return self.start(statusCode="5")
        self.admit()
        return Answer(200, "<!doctype html><title>Logged In</title><h1>Login Successful!</h1>")

    def api(self, request):
        if request.path == "/api/site/4711" and self.asks(request):
            self.csrf = secrets.token_hex(8)
            return jsonAnswer({"title": "Visitor Wi-Fi", "ticket": self.csrf})
        return bad()
