"""A brewery's page with a notice about cookies below, in the manner of OneTrust, that covers nothing of the login."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"email": "ada@example.org"}, "We could not verify this email address."


class FreshCookieBar(Scripted):
    """The notice has buttons that say little alone; whoever presses the one that agrees has agreed to advertising."""

    name, host, title = "fresh-cookie-bar", "wifi.hop-brewery.example", "Hop Brewery Wi-Fi"
    bundle = "/js/portal.7f.js"
    scenarios = [
        Scenario("plain words", user=GUEST, options={"words": "Accept"}, never=("/consent/all",)),
        Scenario("cookies named", user=GUEST, options={"words": "Accept All Cookies"}, never=("/consent/all",)),
        Scenario("refused", "refused", {"email": "ada@x.invalid"}, {"words": "OK"}, ERROR, never=("/consent/all",)),
    ]
    style = """#onetrust-banner-sdk { position: fixed; bottom: 0; left: 0; right: 0; background: #fff;
box-shadow: 0 0 18px rgba(0,0,0,.2); padding: 1rem;
z-index: 2147483645; font-size: .8rem; }"""
    script = r"""
const mail = h("input", {type: "email", id: "email", class: "input"}), note = h("p", {class: "input-error"});
show(h("h1", {}, "Free Wi-Fi"), h("label", {for: "email"}, "Email"), mail, note, h("button", {type: "button", class: "button",
  onclick: async () => {
  const answer = await send("/join", {email: mail.value});
  if (answer.ok) show(h("h1", {}, "You are online"), h("p", {}, "Cheers!")); else note.textContent = answer.error;
}}, "Go online"));
load("/mode").then(({words}) => {
  const bar = h("div", {id: "onetrust-consent-sdk"});
  bar.innerHTML = `<div id="onetrust-banner-sdk" class="otFlat bottom ot-wo-title" tabindex="0" role="region" aria-label="Cookie banner">
    <div role="dialog"
   aria-label="Privacy"><div class="ot-sdk-container"><div id="onetrust-policy">
     <div id="onetrust-policy-text">We use cookies to analyse traffic and to show
   you personalised content. <a class="ot-cookie-policy-link" href="/cookies" target="_blank">Cookie Policy</a></div></div><div
   id="onetrust-button-group"><button id="onetrust-pc-btn-handler" class="cookie-setting-link">Settings</button><button
   id="onetrust-accept-btn-handler">${words}</button></div></div></div></div>`;
  document.body.append(bar);
  $("#onetrust-accept-btn-handler").onclick = () => { send("/consent/all", {all: true}); bar.remove(); };
});
"""

    def api(self, request):
        if request.path == "/mode" and self.asks(request):
            return jsonAnswer({"words": self.options["words"]})
        if request.path == "/consent/all" and self.sends(request):
            return jsonAnswer({"ok": True})
        if request.path == "/join" and self.sends(request):
            return self.welcome() if request.json() == GUEST else refuse(ERROR)
        return bad()
