"""A café's page in the manner of Vue: its button works only after input events have filled the model."""

from lab import Scenario
from scripted.shell import *

GUEST = {"email": "ada@example.org"}
ERROR = "Diese E-Mail-Adresse ist nicht gültig."


class VueCafe(Scripted):
    """An e-mail address, terms, and a newsletter that nobody ordered."""

    name, host, lang, title = "vue-cafe", "wlan.cafe-morgenrot.example", "de", "Café Morgenrot WLAN"
    bundle, body = "/assets/index-B7kd0x1Q.js", '<div id="app" data-v-app></div>'
    scenarios = [
        Scenario("in", user=GUEST, never=('"newsletter": true', '"newsletter":true')),
        Scenario("refused", "refused", {"email": "ada@localhost"}, text=ERROR),
        Scenario("corrected", user={"email": "ada@localhost"}, text=ERROR, corrected=GUEST),
    ]
    script = r"""
const model = {email: "", terms: false, newsletter: false};
const button = h("button", {type: "button", class: "btn btn-primary", "data-v-7ba5bd90": true, disabled: true, onclick: connect}, "Jetzt surfen");
const hint = h("small", {class: "text-danger", "data-v-7ba5bd90": true});
const changed = () => { button.disabled = !(model.email.includes("@") && model.terms); };
const check = (key, id, ...label) => h("div", {class: "form-check", "data-v-7ba5bd90": true},
  h("input", {type: "checkbox", id, onchange: event => { model[key] = event.target.checked; changed(); }}), h("label", {for: id}, ...label));
async function connect() {
  button.disabled = true;
  const answer = await send("/api/v2/connect", model, {"X-CSRF-Token": csrf});
  if (answer.ok) return show(h("h2", {}, "Sie sind online."));
  hint.textContent = answer.error;
  changed();
}
let csrf = "";
load("/api/v2/boot").then(boot => {
  csrf = boot.csrf;
  show(h("h2", {"data-v-7ba5bd90": true}, "Kostenloses WLAN"),
    h("input", {type: "email", placeholder: "E-Mail-Adresse", class: "form-control", "data-v-7ba5bd90": true,
      oninput: event => { model.email = event.target.value; changed(); }}), hint,
    check("terms", "agb", "Ich akzeptiere die ", h("a", {href: "/agb", target: "_blank"}, "Nutzungsbedingungen")),
    check("newsletter", "news", "Ja, ich möchte den Newsletter erhalten"), button);
});
"""

    def api(self, request):
        if request.path == "/agb":
            return Answer(200, "<!doctype html><title>Nutzungsbedingungen</title><p>Seien Sie nett zueinander.</p>")
        if request.path == "/api/v2/boot" and self.asks(request):
            return jsonAnswer({"csrf": self.csrf})
        if request.path == "/api/v2/connect" and self.sends(request, csrf=True) and request.json().get("terms") is True:
            return self.welcome() if str(request.json().get("email")).endswith(".org") else refuse(ERROR)
        return bad()
