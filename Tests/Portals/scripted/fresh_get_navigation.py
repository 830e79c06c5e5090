"""A portal in the cloud before an access point: its script goes on to the gateway with a password that it was given."""

import secrets

from lab import CLIENT_MAC, Scenario
from scripted.shell import *

GUEST, ERROR = {"name": "Ada Lovelace", "email": "ada@example.org"}, "Please enter your real name."


class FreshGetNavigation(Scripted):
    """The gateway is another host, opened by an address that the script puts together; it sends back to the page of welcome."""

    name, host, path, title = "fresh-get-navigation", "cloud.guestwifi-portal.example", "/p/4711", "Museum Guest Wi-Fi"
    gatewayNames = ("securelogin.gateway.example",)
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"name": "x"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"name": "x"}, text=ERROR, corrected=GUEST),
    ]
    script = r"""
const query = new URLSearchParams(location.search);
if (query.get("status") === "done") show(h("h1", {}, "You are connected"), h("a", {href: "http://example.org/"},
  "Continue to the museum's site"));
else {
  const name = h("input", {type: "text", name: "full_name", placeholder: "Full name"}), mail = h("input", {type: "email", name: "mail",
    placeholder: "E-mail"});
  const note = h("div", {class: "alert alert-danger", role: "alert", style: "display: none"});
  show(h("h1", {}, "Welcome to the museum"), h("div", {class: "form-group"}, name), h("div", {class: "form-group"}, mail), note,
    h("a", {class: "btn btn-primary btn-block", role: "button", href: "javascript:void(0)", onclick: async () => {
      const answer = await send("/p/4711/guests", {name: name.value, mail: mail.value, mac: query.get("mac")});
      if (!answer.ok) { note.style.display = ""; note.textContent = answer.error; return; }
      const back = location.origin + "/p/4711?status=done";
      location.href = "http://securelogin.gateway.example/cgi-bin/login?" + new URLSearchParams({cmd: "authenticate", user: answer.user,
        password: answer.password, url: back});
    }}, "Go online"));
}
"""

    def begin(self):
        super().begin()
        self.ticket = secrets.token_hex(6)

    def answer(self, request):
        if request.host in self.gatewayNames and request.path == "/cgi-bin/login":
            if request.args.get("cmd") == "authenticate" and request.args.get("password") == self.ticket:
                self.admit()
                return redirect(request.args["url"])
            return Answer(403, "Authentication failed")
        return super().answer(request)

    def api(self, request):
        if request.path == "/p/4711/guests" and self.sends(request):
            value = request.json()
            if value.get("mac") != CLIENT_MAC or value.get("mail") != GUEST["email"]:
                return bad()
            if " " not in str(value.get("name")):
                return refuse(ERROR)
            return jsonAnswer({"ok": True, "user": "guest-" + self.ticket[:4], "password": self.ticket})
        return bad()
