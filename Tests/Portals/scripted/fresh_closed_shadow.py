"""A login in a web component whose shadow root is closed: no script but its own sees what is in it."""

from lab import Scenario
from scripted.shell import *


class FreshClosedShadow(Scripted):
    """A person sees and uses it; what no reading shows is left to a browser."""

    name, host, title = "fresh-closed-shadow", "connect.bikeshop.example", "Bike Shop Wi-Fi"
    bundle, body = "/wc/portal-login.esm.js", '<portal-login id="root" tenant="bikeshop"></portal-login>'
    scenarios = [Scenario("handed over", "handed over", {"code": "BIKE7"})]
    script = r"""
customElements.define("portal-login", class extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({mode: "closed"}), code = h("input", {id: "code", part: "input", "aria-label": "Access code"});
    const note = h("p", {role: "alert"});
    root.append(h("style", {}, ":host { display: block; }"), h("h1", {}, "Wi-Fi for customers"), h("label", {for: "code"},
      "Access code"), code, note,
      h("button", {type: "button", part: "button", onclick: async () => {
        const answer = await send("/api/code", {code: code.value});
        if (answer.ok) root.replaceChildren(h("h1", {}, "Connected")); else note.textContent = answer.error;
      }}, "Connect"));
  }
});
"""

    def api(self, request):
        if request.path == "/api/code" and self.sends(request):
            return self.welcome() if request.json().get("code") == "BIKE7" else refuse("This code is wrong.")
        return bad()
