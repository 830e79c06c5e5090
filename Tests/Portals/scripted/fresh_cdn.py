"""A bar's page whose script comes from the host of the portal's maker, which the gateway lets through, as a module."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"user": "ada", "password": "tea at five"}, "Wrong username or password."


class FreshCdn(Scripted):
    """The module is fetched as from another origin; the script asks the house's host; a counter of visits, a closed one."""

    name, host, title = "fresh-cdn", "hotspot.corner-bar.example", "Corner Bar"
    cdn = "cdn.wifi-maker.example"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"password": "coffee"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"password": "coffee"}, text=ERROR, corrected=GUEST),
    ]
    script = r"""
fetch("https://stats.tracking.example/hit", {mode: "no-cors"}).catch(() => {});
const user = h("input", {type: "text", name: "username", id: "u", autocomplete: "username", class: "mdl-textfield__input"});
const password = h("input", {type: "password", name: "password", id: "p", autocomplete: "current-password", class: "mdl-textfield__input"});
const eye = h("button", {type: "button", class: "icon-eye", "aria-label": "Show password", onclick: () => { password.type = "text"; }},
  h("i", {}, "◉"));
const note = h("div", {class: "mdl-snackbar__text", "aria-live": "assertive"});
show(h("h4", {class: "mdl-typography--title"}, "Login"), h("form", {onsubmit: async event => {
  event.preventDefault();
  const answer = await send("/api/1.0/login", {username: user.value, password: password.value});
  if (answer.ok) show(h("h4", {}, "Logged in"), h("button", {type: "button", onclick: () => send("/api/1.0/logout", {out: 1})}, "Logout"));
  else note.textContent = answer.error;
}}, h("div", {class: "mdl-textfield"}, user, h("label", {class: "mdl-textfield__label", for: "u"}, "Username")),
  h("div", {class: "mdl-textfield"}, password, h("label", {class: "mdl-textfield__label", for: "p"}, "Password"), eye), note,
  h("button", {type: "submit", class: "mdl-button mdl-button--raised"}, "LOGIN"), h("a", {href: "#", class: "forgot"},
    "Forgot password?")));
"""

    def answer(self, request):
        if request.host == self.cdn and request.path == "/portal/v4/index.js":
            ends = {"Access_Control_Allow_Origin": "*"} if request.headers.get("Origin") else {}
            return Answer(200, RUNTIME + self.script, "text/javascript; charset=utf-8", **ends)
        return super().answer(request)

    def shell(self):
        answer = super().shell()
        script = f'<script type="module" crossorigin src="http://{self.cdn}/portal/v4/index.js"></script>'
        answer.body = answer.body.replace(f'<script defer src="{self.bundle}"></script>'.encode(), script.encode())
        return answer

    def api(self, request):
        if request.path == "/api/1.0/login" and self.sends(request):
            value = request.json()
            return self.welcome() if (value.get("username"), value.get("password")) == ("ada", "tea at five") else refuse(ERROR, 401)
        return bad()
