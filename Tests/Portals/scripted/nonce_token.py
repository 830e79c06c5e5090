"""A password that never leaves the page: a script sends its SHA-256 together with a nonce, as many access points do."""

import hashlib
import secrets

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"password": "tinto de verano"}, "Contraseña incorrecta"


class NonceToken(Scripted):
    """The hash is the page's own code: crypto.subtle needs https. Each attempt has a nonce of its own."""

    name, host, lang, title = "nonce-token", "wifi.posada.example", "es", "Posada del Sol"
    bundle = "/js/app.3d9e.js"
    secret = (GUEST["password"], "tinto+de", "tinto%20de")
    scenarios = [
        Scenario("in", user=GUEST, never=secret),
        Scenario("refused", "refused", {"password": "sangria"}, text=ERROR),
        Scenario("corrected", user={"password": "sangria"}, text=ERROR, corrected=GUEST, never=secret),
    ]
    script = SHA256 + r"""
const password = h("input", {type: "password", "aria-label": "Contraseña", class: "css-1x5jdmq"});
const alertBox = h("div", {class: "css-11o2879 MuiAlert-message", role: "alert"});
async function enter() {
  const {nonce} = await load("/auth/nonce");
  const fields = new URLSearchParams({nonce, token: sha256(nonce + ":" + password.value), v: "2"});
  const answer = await (await fetch("/auth/login", {method: "POST", body: fields, headers: {"X-Requested-With": "XMLHttpRequest"}})).json();
  if (answer.ok) return show(h("h1", {}, "¡Conectado!"));
  password.value = "";
  alertBox.textContent = answer.error;
}
show(h("h1", {class: "css-wi1zbk"}, "Bienvenidos"), h("p", {}, "Escriba la contraseña que recibió en recepción."), password, alertBox,
  h("button", {type: "button", class: "css-1lmn0px", onclick: enter}, "Entrar"));
"""

    def begin(self):
        super().begin()
        self.nonce = ""

    def api(self, request):
        if request.path == "/auth/nonce" and self.asks(request):
            self.nonce = secrets.token_hex(12)
            return jsonAnswer({"nonce": self.nonce})
        if request.path == "/auth/login" and request.method == "POST" and self.asks(request):
            nonce, self.nonce = self.nonce, ""
            right = hashlib.sha256(f"{nonce}:{GUEST['password']}".encode()).hexdigest()
            if not nonce or request.form.get("nonce") != nonce or len(request.form.get("token", "")) != 64:
                return bad()
            return self.welcome() if request.form["token"] == right else refuse(ERROR, 401)
        return bad()
