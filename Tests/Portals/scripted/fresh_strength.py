"""A dormitory's page with a password that can be shown, and a meter of its strength that changes with each key."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"user": "r204", "password": "Blue-Otter-17"}, "Room and password do not match."


class FreshStrength(Scripted):
    """The button counts the seconds in which it cannot be pressed again after a refusal. The password is sent as base64."""

    name, host, title = "fresh-strength", "net.studentenwerk.example", "Dormitory network"
    bundle = "/app.bundle.js"
    scenarios = [
        Scenario("in", user=GUEST, never=("Blue-Otter-17",)),
        Scenario("refused", "refused", GUEST | {"password": "Red-Otter"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"password": "Red-Otter"}, text=ERROR, corrected=GUEST),
    ]
    style = ".meter { height: 4px; background: #ccc; } .meter span { display: block; height: 4px; background: #0a5; } .eye { padding: .2rem; }"
    script = r"""
const user = h("input", {id: "login", autocomplete: "username"}), secret = h("input", {id: "pw", type: "password", autocomplete: "current-password",
  oninput: () => { bar.style.width = Math.min(100, secret.value.length * 8) + "%";
    words.textContent = ["Very weak", "Weak", "Fair", "Good", "Strong"][Math.min(4, secret.value.length >> 2)]; }});
const bar = h("span", {style: "width: 0"}), words = h("small", {"aria-live": "polite"}), note = h("div", {class: "toast toast--bad", role: "status"});
const eye = h("button", {type: "button", class: "eye", "aria-label": "Show password", onclick: () => { secret.type = secret.type === "text" ? "password" : "text"; }}, "👁");
const button = h("button", {type: "submit"}, "Log in");
show(h("h1", {}, "Dormitory network"), h("form", {onsubmit: async event => {
  event.preventDefault();
  const answer = await send("/api/v2/session", {login: user.value, secret: btoa(secret.value)});
  if (answer.ok) return show(h("h1", {}, "Logged in"), h("p", {}, "You are connected to the Internet."));
  note.textContent = answer.error;
  secret.value = "";
  let left = 3;
  button.disabled = true;
  const tick = () => { button.textContent = left ? `Log in (${left})` : "Log in"; button.disabled = left > 0; if (left--) setTimeout(tick, 1000); };
  tick();
}}, h("label", {for: "login"}, "Room"), user, h("label", {for: "pw"}, "Password"), secret, eye, h("div", {class: "meter"}, bar), words, note, button));
"""

    def api(self, request):
        if request.path == "/api/v2/session" and self.sends(request):
            right = request.json() == {"login": "r204", "secret": "Qmx1ZS1PdHRlci0xNw=="}
            return self.welcome() if right else refuse(ERROR, 401)
        return bad()
