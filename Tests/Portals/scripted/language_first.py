"""A language chooser in front of the login: its choice changes only the part of the address behind the hash."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"code": "gare-2026"}, "Ce code d'accès n'est pas valable."
ERRORS = {"fr": ERROR, "en": "This access code is not valid.", "de": "Dieser Zugangscode ist nicht gültig."}


class LanguageFirst(Scripted):
    """A select and a button, or flags; then one field in that language."""

    name, host, lang, title = "language-first", "wifi.gare-centrale.example", "fr", "Gare Centrale"
    scenarios = [
        Scenario("select", user=GUEST | {"choice": "Français"}),
        Scenario("flags", user=GUEST, options={"flags": True}),
        Scenario("refused", "refused", {"code": "bus", "choice": "Français"}, text=ERROR),
        Scenario("corrected", user={"code": "bus", "choice": "Français"}, text=ERROR, corrected=GUEST),
    ]
    script = r"""
const words = {
  fr: ["Bienvenue", "Code d'accès", "Se connecter", "Vous êtes connecté."], en: ["Welcome", "Access code", "Connect", "You are connected."],
  de: ["Willkommen", "Zugangscode", "Verbinden", "Sie sind verbunden."],
};
const names = {fr: "Français", en: "English", de: "Deutsch"};
function chooser() {
  if ($("#root").dataset.flags)
    return show(h("ul", {class: "flags_list__u77"}, Object.entries(names).map(([code, name]) =>
      h("li", {role: "button", tabindex: "0", class: "flags_item__u77", onclick: () => { location.hash = "#/" + code + "/login"; }}, name))));
  const list = h("select", {"aria-label": "Langue / Language / Sprache"}, Object.entries(names).map(([code, name]) => h("option", {value: code}, name)));
  show(list, h("button", {type: "button", onclick: () => { location.hash = "#/" + list.value + "/login"; }}, "OK"));
}
async function login(language) {
  const [title, label, button, done] = words[language], {csrf} = await load("/api/i18n/" + language);
  const code = h("input", {type: "text", id: "code"}), note = h("p", {class: "note", role: "status"});
  show(h("h1", {}, title), h("label", {for: "code"}, label), code, note, h("button", {type: "button", onclick: async () => {
    const answer = await send("/api/access", {code: code.value, language}, {"X-CSRF-Token": csrf});
    if (answer.ok) show(h("h1", {}, done)); else note.textContent = answer.error;
  }}, button));
}
const route = () => { const found = location.hash.match(/^#\/(\w\w)\/login$/); found ? login(found[1]) : chooser(); };
addEventListener("hashchange", route);
route();
"""

    def begin(self):
        super().begin()
        self.body = f'<div id="root"{" data-flags=1" if self.options.get("flags") else ""}></div>'

    def api(self, request):
        if request.path.startswith("/api/i18n/") and self.asks(request):
            return jsonAnswer({"csrf": self.csrf})
        if request.path == "/api/access" and self.sends(request, csrf=True) and request.json().get("language") in ERRORS:
            value = request.json()
            return self.welcome() if value.get("code") == GUEST["code"] else refuse(ERRORS[value["language"]])
        return bad()
