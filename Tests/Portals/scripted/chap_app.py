"""CHAP in the page as RouterOS has it (portals 2.5), in an application of the operator's own: the form is the script's, and navigates."""

import hashlib
import html
import json
import secrets

from lab import Scenario
from scripted.shell import *

GUEST = {"user": "ada", "password": "pässwörd 7"}
ERROR = "Nom d'utilisateur ou mot de passe incorrect"


class ChapApp(Scripted):
    """MD5 of identifier, password and challenge. A refusal is another page with another challenge."""

    name, host, lang, title = "chap-app", "hotspot.lumiere.example", "fr", "Hôtel Lumière"
    bundle = "/js/chunk-vendors.0b21.js"
    scenarios = [
        Scenario("in", user=GUEST, never=("pässwörd", "p%C3%A4ss")),
        Scenario("refused", "refused", GUEST | {"password": "faux"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"password": "faux"}, text=ERROR, corrected=GUEST, never=("pässwörd", "p%C3%A4ss")),
    ]
    script = MD5 + r"""
const octets = hex => hex.match(/../g).map(pair => parseInt(pair, 16));
const {id, challenge, message} = JSON.parse($("#boot").textContent);
const input = (name, type, label) => h("div", {class: "v-text-field"}, h("label", {for: "input-" + name, class: "v-label"}, label),
  h("input", {id: "input-" + name, type, autocomplete: "off"}));
show(h("h1", {}, "Accès Internet"), message && h("div", {class: "v-alert error"}, message),
  input("10", "text", "Identifiant"), input("13", "password", "Mot de passe"),
  h("div", {role: "button", tabindex: "0", class: "v-btn v-btn--contained", onclick: enter}, h("span", {class: "v-btn__content"}, "Se connecter")));
function enter() {
  const password = [...new TextEncoder().encode($("#input-13").value)];
  const form = h("form", {method: "post", action: "/login", style: "display: none"},
    h("input", {name: "username", value: $("#input-10").value}),
    h("input", {name: "password", value: md5([...octets(id), ...password, ...octets(challenge)])}),
    h("input", {name: "sid", value: id + challenge.slice(0, 8)}));
  document.body.append(form);
  form.submit();
}
"""

    def shell(self, message=""):
        self.id, self.challenge = secrets.token_bytes(1), secrets.token_bytes(16)
        boot = {"id": self.id.hex(), "challenge": self.challenge.hex(), "message": message}
        self.body = f'<script type="application/json" id="boot">{json.dumps(boot)}</script>\n<div id="app"></div>'
        return super().shell()

    def api(self, request):
        if request.path == "/login" and request.method == "POST" and request.cookie("sid") == self.session:
            form, known = request.form, self.id.hex() + self.challenge.hex()[:8]
            if form.get("sid") != known or len(form.get("password", "")) != 32:
                return self.shell("Erreur")
            right = hashlib.md5(self.id + GUEST["password"].encode() + self.challenge).hexdigest()
            if (form.get("username"), form["password"]) != (GUEST["user"], right):
                return self.shell(ERROR)
            self.admit()
            return Answer(200, f"<!doctype html><title>{html.escape(self.title)}</title><h1>Vous êtes connecté</h1>")
        return Answer(404)
