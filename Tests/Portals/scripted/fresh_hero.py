"""A shop's page in the manner of a marketing portal: three seconds of animation, a picture with one button, and the form in a dialog."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"email": "ada@example.org", "name": "Ada", "name_first": "Ada"}, "Please enter a valid email address"


class FreshHero(Scripted):
    """The box for news is ticked neither by the page nor for the guest; the dialog's cross closes it."""

    name, host, title = "fresh-hero", "portal.brandworld-store.example", "Brandworld"
    bundle, body = "/w/loader.js?account=4411", '<div id="root"><div class="splash"><div class="loader"></div></div></div>'
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"email": "ada@example.invalid"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"email": "ada@example.invalid"}, text=ERROR, corrected=GUEST),
    ]
    style = """#root { max-width: none; margin: 0; padding: 0; min-height: 100vh; } @keyframes turn { to { transform: rotate(360deg); } }
.loader { width: 60px; height: 60px; border: 6px solid #ddd; border-top-color: #0a5; border-radius: 50%;
animation: turn 1s linear infinite; }
.splash, .hero { position: fixed; inset: 0; background: #222; color: #fff; } .overlay { position: fixed; inset: 0;
background: rgba(0,0,0,.6); z-index: 10; }
.sheet { background: #fff; color: #000; margin: 5rem auto; width: 22rem; padding: 1rem; position: relative; } .close {
position: absolute; right: 8px; top: 8px; }"""
    script = r"""
setTimeout(() => show(h("div", {class: "hero hero--fullbleed"}, h("div", {class: "hero__inner"}, h("h1", {class: "hero__claim"},
  "Shop. Share. Smile."),
  h("button", {type: "button", class: "hero__cta cta cta--primary", onclick: open}, "Connect to Wi-Fi")),
  h("footer", {class: "hero__footer"}, h("a", {href: "/privacy"}, "Privacy"), " ", h("a", {href: "/terms"}, "Terms of Service"))) ), 3000);
function open() {
  const mail = h("input", {type: "email", placeholder: "Email *", class: "field__control"}), note = h("div", {class: "field__error"});
  const name = h("input", {type: "text", placeholder: "First name *", class: "field__control"}), news = h("input", {type: "checkbox",
    id: "optin"});
  const overlay = h("div", {class: "overlay", role: "presentation"}, h("div", {class: "sheet", role: "dialog", "aria-modal": "true"},
    h("button", {class: "close", "aria-label": "Close", type: "button", onclick: () => overlay.remove()}, "×"), h("h2", {},
      "Almost there!"), name, mail, note,
    h("label", {class: "optin", for: "optin"}, news, h("span", {}, "Yes, send me offers and news by email")),
    h("button", {type: "button", class: "cta cta--primary", onclick: async () => {
      const answer = await send("/w/guest", {email: mail.value, name: name.value, news: news.checked});
      if (!answer.ok) { note.textContent = answer.error; return; }
      overlay.remove();
      show(h("div", {class: "hero"}, h("h1", {}, "Thanks, Ada!"), h("p", {}, "You're connected. Enjoy!")));
    }}, "Get online"), h("small", {}, "By clicking Get online you agree to our ", h("a", {href: "/terms"}, "Terms of Service"), ".")));
  $("#root").append(overlay);
}
"""

    def api(self, request):
        if request.path == "/w/guest" and self.sends(request):
            value = request.json()
            if value.get("news") is not False or value.get("name") != "Ada":
                return bad()
            return self.welcome() if value.get("email") == GUEST["email"] else refuse(ERROR)
        return Answer(200, "<p>Terms of Service. Be kind.</p>") if request.path in ("/terms", "/privacy") else bad()
