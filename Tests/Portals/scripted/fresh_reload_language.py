"""A hotel's page in the guest's language: a list of languages that loads the page anew, beside the login."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"room": "315", "surname": "Noether"}, "Bitte prüfen Sie Zimmer und Name."


class FreshReloadLanguage(Scripted):
    """The list is at the top and has a value; whoever changes it loses what was typed. The texts come with a request."""

    name, host, title, lang = "fresh-reload-language", "wlan.parkhotel.example", "Parkhotel WLAN", "de"
    bundle = "/static/portal-3.2.js"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"room": "316"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"room": "316"}, text=ERROR, corrected=GUEST),
    ]
    script = r"""
const chosen = new URLSearchParams(location.search).get("lang") ?? "de";
load("/texts/" + chosen).then(texts => {
  const list = h("select", {id: "lang", "aria-label": texts.language, onchange: () => {
    const next = new URL(location.href); next.searchParams.set("lang", list.value); location.href = next; }},
    [["de", "Deutsch"], ["en", "English"]].map(([value, name]) => h("option", {value, selected: value === chosen}, name)));
  const [room, name] = [h("input", {id: "zimmer"}), h("input", {id: "nachname"})], note = h("div", {class: "alert alert-danger", hidden: true});
  show(h("header", {}, list), h("h1", {}, texts.title), h("form", {onsubmit: async event => {
    event.preventDefault();
    const answer = await send("/login", {room: room.value, name: name.value});
    if (answer.ok) return show(h("h1", {}, texts.done));
    note.hidden = false;
    note.textContent = answer.error;
  }}, h("label", {for: "zimmer"}, texts.room), room, h("label", {for: "nachname"}, texts.name), name, note, h("button", {}, texts.go)));
});
"""

    def api(self, request):
        if request.path == "/texts/de" and self.asks(request):
            return jsonAnswer({"language": "Sprache", "title": "Willkommen im WLAN", "room": "Zimmernummer", "name": "Nachname", "go": "Anmelden",
                               "done": "Sie sind jetzt mit dem Internet verbunden"})
        if request.path == "/texts/en" and self.asks(request):
            return jsonAnswer({"language": "Language", "title": "Welcome", "room": "Room", "name": "Surname", "go": "Log in", "done": "You are online"})
        if request.path == "/login" and self.sends(request):
            return self.welcome() if request.json() == {"room": "315", "name": "Noether"} else refuse(ERROR)
        return bad()
