"""A refusal that appears in the page, without a navigation; the password is emptied, and the next attempt may be right."""

from lab import Scenario
from scripted.shell import *

GUEST = {"user": "member-0815", "password": "correct horse"}
ERROR = "Wrong membership number or password. You have 2 attempts left."


class AlertRefusal(Scripted):
    """The alert is made anew for each refusal, and the third one locks the account."""

    name, host, title = "alert-refusal", "wifi.coworking-loft.example", "The Loft"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"password": "wrong horse"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"password": "wrong horse"}, text=ERROR, corrected=GUEST),
        Scenario("locked", "refused", GUEST, {"locked": True}, "This account is locked."),
    ]
    script = r"""
const user = h("input", {type: "text", id: "user", autocomplete: "username", "aria-describedby": "msg"});
const password = h("input", {type: "password", id: "pass", autocomplete: "current-password"});
const slot = h("div", {class: "AuthCard_slot__mm1"});
const button = h("button", {type: "submit", class: "AuthCard_submit__mm1"}, "Log in");
const form = h("form", {class: "AuthCard_form__mm1", onsubmit: async event => {
  event.preventDefault();
  slot.replaceChildren();
  button.disabled = true;
  button.textContent = "Please wait…";
  const answer = await send("/api/auth", {membership: user.value, password: password.value}, {"X-CSRF-Token": csrf});
  button.disabled = false;
  button.textContent = "Log in";
  if (answer.ok) return show(h("h1", {}, "Welcome back, you are online."));
  password.value = "";
  slot.append(h("div", {role: "alert", id: "msg", class: "Alert_box__zz9"}, h("strong", {}, "Login failed. "), answer.error));
}}, slot, h("label", {for: "user"}, "Membership number or user name"), user, h("label", {for: "pass"}, "Password"), password, button);
let csrf = "";
load("/api/csrf").then(value => { csrf = value.csrf; show(h("h1", {}, "The Loft members"), form); });
"""

    def begin(self):
        super().begin()
        self.left = 3

    def api(self, request):
        if request.path == "/api/csrf" and self.asks(request):
            return jsonAnswer({"csrf": self.csrf})
        if request.path == "/api/auth" and self.sends(request, csrf=True):
            value = request.json()
            if self.options.get("locked") or self.left == 0:
                return refuse("This account is locked.", 423)
            if (value.get("membership"), value.get("password")) == tuple(GUEST.values()):
                return self.welcome()
            self.left -= 1
            return refuse(f"Wrong membership number or password. You have {self.left} attempts left.", 401)
        return bad()
