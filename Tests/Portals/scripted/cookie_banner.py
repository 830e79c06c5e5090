"""A cookie banner that covers the login until it is answered, as consent managers draw it."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"email": "ada@example.org"}, "Adresse e-mail non reconnue."


class CookieBanner(Scripted):
    """The login is below the banner from the start; a press there hits the banner. Nobody ordered marketing."""

    name, host, lang, title = "cookie-banner", "wifi.galerie-nord.example", "fr", "Galerie Nord"
    marketing = ('"marketing":true', '"marketing": true')
    scenarios = [
        Scenario("in", user=GUEST, never=marketing),
        Scenario("refused", "refused", {"email": "ada@mail.invalid"}, text=ERROR, never=marketing),
        Scenario("corrected", user={"email": "ada@mail.invalid"}, text=ERROR, corrected=GUEST, never=marketing),
    ]
    style = """.cmp-overlay { position: fixed; inset: 0; background: #000b; z-index: 99999; } .cmp-dialog { position: absolute; bottom: 0; left: 0;
right: 0; padding: 2rem; background: #fff; }"""
    script = r"""
let csrf = "";
const email = h("input", {type: "email", placeholder: "Votre adresse e-mail", class: "_input_1kq0c_9"}), note = h("span", {class: "_error_1kq0c_21"});
show(h("h1", {class: "_title_1kq0c_1"}, "Wi-Fi gratuit"), email, note, h("button", {type: "button", class: "_button_1kq0c_30", onclick: async () => {
  const answer = await send("/api/acces", {email: email.value}, {"X-CSRF-Token": csrf});
  if (answer.ok) show(h("h1", {}, "Vous êtes en ligne")); else note.textContent = answer.error;
}}, "Me connecter"));
const decide = marketing => async () => { csrf = (await send("/api/consent", {necessary: true, marketing})).csrf; overlay.remove(); };
const overlay = h("div", {class: "cmp-overlay"}, h("div", {class: "cmp-dialog", role: "dialog", "aria-modal": "true", "aria-label": "Cookies"},
  h("p", {}, "Nous et nos 214 partenaires utilisons des cookies pour mesurer l'audience et personnaliser la publicité."),
  h("button", {type: "button", onclick: decide(true)}, "Tout accepter"), " ",
  h("button", {type: "button", onclick: decide(false)}, "Continuer sans accepter")));
document.body.append(overlay);
"""

    def begin(self):
        super().begin()
        self.decided = False

    def api(self, request):
        if request.path == "/api/consent" and self.sends(request):
            self.decided = True
            return jsonAnswer({"csrf": self.csrf})
        if request.path == "/api/acces" and self.decided and self.sends(request, csrf=True):
            return self.welcome() if str(request.json().get("email")).endswith("@example.org") else refuse(ERROR)
        return bad()
