"""A wizard of three steps in one page, as event and cruise portals have them: language, guest, terms."""

import secrets

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"room": "5012", "surname": "Hopper"}, "Cabin and name do not match our records."


class Wizard(Scripted):
    """No address changes between the steps. The server answers each step, and knows which one is next."""

    name, host, title = "wizard", "onboard.nordlys.example", "Nordlys Onboard Wi-Fi"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"surname": "Nobody"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"surname": "Nobody"}, text=ERROR, corrected=GUEST),
    ]
    script = r"""
const texts = {
  en: ["Who is travelling?", "Cabin / room number", "Surname", "Next", "Almost there", "I accept the terms of use", "Go online", "You are online",
    "Cabin and name do not match our records."],
  de: ["Wer reist?", "Kabinen- / Zimmernummer", "Nachname", "Weiter", "Fast geschafft", "Ich akzeptiere die Nutzungsbedingungen", "Online gehen",
    "Sie sind online", "Kabine und Name passen nicht zusammen."],
  fr: ["Qui voyage ?", "Numéro de cabine / chambre", "Nom de famille", "Suivant", "Presque fini", "J'accepte les conditions d'utilisation",
    "Se connecter", "Vous êtes en ligne", "La cabine et le nom ne correspondent pas."],
};
let language = "en", ticket = "";
const step = (number, ...nodes) => show(h("ol", {class: "Stepper_list__c0a1", "aria-hidden": "true"},
  [1, 2, 3].map(n => h("li", {class: n === number ? "Stepper_active__77b" : "Stepper_dot__77b"}, String(n)))), ...nodes);
const next = value => send("/rpc/step", {...value, ticket}).then(answer => { ticket = answer.ticket || ticket; return answer; });
function first() {
  step(1, h("h1", {}, "Welcome aboard"), h("p", {}, "Choose your language"),
    [["en", "English"], ["de", "Deutsch"], ["fr", "Français"]].map(([code, name]) => h("button", {type: "button", lang: code,
      class: "Lang_item__e2e", onclick: async () => { language = code; await next({step: 1, language}); second(); }}, name)));
}
function second() {
  const [title, room, name, button, , , , , error] = texts[language], note = h("p", {role: "alert"});
  const one = h("input", {id: "f-room", inputmode: "numeric"}), two = h("input", {id: "f-name"});
  document.documentElement.lang = language;
  step(2, h("h1", {}, title), h("label", {for: "f-room"}, room), one, h("label", {for: "f-name"}, name), two, note,
    h("button", {type: "button", onclick: async () => {
      const answer = await next({step: 2, room: one.value, name: two.value});
      if (answer.ok) third(); else note.textContent = error;
    }}, button));
}
function third() {
  const [, , , , title, terms, button, done] = texts[language], box = h("input", {type: "checkbox", id: "f-terms"});
  const go = h("button", {type: "button", disabled: true, onclick: async () => {
    if ((await next({step: 3, terms: box.checked})).ok) show(h("h1", {}, done));
  }}, button);
  box.addEventListener("change", () => { go.disabled = !box.checked; });
  step(3, h("h1", {}, title), h("p", {}, box, " ", h("label", {for: "f-terms"}, terms)), go);
}
first();
"""

    def begin(self):
        super().begin()
        self.next, self.ticket = 1, ""

    def api(self, request):
        value = request.json()
        if request.path != "/rpc/step" or not self.sends(request) or value.get("step") != self.next or value.get("ticket") != self.ticket:
            return bad()
        if self.next == 2 and (value.get("room"), str(value.get("name")).lower()) != ("5012", "hopper"):
            return jsonAnswer({"ok": False})
        if self.next == 3:
            return self.welcome() if value.get("terms") is True else bad()
        self.next, self.ticket = self.next + 1, secrets.token_hex(8)
        return jsonAnswer({"ok": True, "ticket": self.ticket})
