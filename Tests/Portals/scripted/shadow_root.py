"""A login of web components: its fields and its button are in open shadow roots, two deep."""

from lab import Scenario
from scripted.shell import *

GUEST = {"name": "Grace Hopper", "email": "grace@example.org"}
ERROR = "Please use your work e-mail address."


class ShadowRoot(Scripted):
    """No selector of the document finds an input here."""

    name, host, title = "shadow-root", "visitor.campus.example", "Campus Visitor Access"
    bundle, body = "/build/p-8c1e3d.esm.js", "<guest-login></guest-login>"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"email": "grace@mail.invalid"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"email": "grace@mail.invalid"}, text=ERROR, corrected=GUEST),
    ]
    script = r"""
customElements.define("ui-field", class extends HTMLElement {
  connectedCallback() {
    this.input = h("input", {id: "native", type: this.getAttribute("type") || "text", class: "sc-ui-field"});
    this.attachShadow({mode: "open"}).append(h("style", {}, "input { display: block; padding: 8px; width: 90%; }"),
      h("label", {for: "native", part: "label"}, this.getAttribute("label")), this.input);
  }
  get value() { return this.input.value; }
});
customElements.define("guest-login", class extends HTMLElement {
  async connectedCallback() {
    const {csrf} = await load("/v1/context");
    const name = h("ui-field", {label: "Full name"}), email = h("ui-field", {label: "E-mail", type: "email"}), note = h("output", {class: "note"});
    const root = this.attachShadow({mode: "open"});
    root.append(h("h2", {part: "title"}, "Visitor registration"), name, email, note, h("button", {type: "button", part: "button", onclick: async () => {
      const answer = await send("/v1/visitors", {name: name.value, email: email.value}, {"X-CSRF-Token": csrf});
      if (answer.ok) root.replaceChildren(h("p", {}, "You are connected. Enjoy your visit."));
      else note.textContent = answer.error;
    }}, "Get access"));
  }
});
"""

    def api(self, request):
        if request.path == "/v1/context" and self.asks(request):
            return jsonAnswer({"csrf": self.csrf})
        if request.path == "/v1/visitors" and self.sends(request, csrf=True):
            value = request.json()
            if not value.get("name"):
                return refuse("Please tell us your name.")
            return self.welcome() if str(value.get("email")).endswith("@example.org") else refuse(ERROR)
        return bad()
