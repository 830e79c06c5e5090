"""A telephone number behind a mask that formats it while it is typed, then a code by SMS in the same page."""

import secrets

from lab import Scenario
from scripted.shell import *

GUEST, CODE_ERROR = {"phone": "0170 1234567", "code": "482913"}, "Der eingegebene Code ist falsch."
NUMBER_ERROR = "An diese Rufnummer können wir keine SMS senden."


class PhoneMask(Scripted):
    """The mask turns 0170… into +49 170 …; the server takes only what the mask makes."""

    name, host, lang, title = "phone-mask", "wlan.messe-sued.example", "de", "Messe Süd WLAN"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("in with country code", user=GUEST | {"phone": "+491701234567"}),
        Scenario("number refused", "refused", GUEST | {"phone": "0190 123456"}, text=NUMBER_ERROR),
        Scenario("code refused", "refused", GUEST | {"code": "000000"}, text=CODE_ERROR),
        Scenario("code corrected", user=GUEST | {"code": "000000"}, text=CODE_ERROR, corrected=GUEST),
    ]
    script = r"""
const mask = text => {
  let digits = text.replace(/\D/g, "");
  if (digits.startsWith("0049")) digits = digits.slice(2);
  else if (digits.startsWith("0")) digits = "49" + digits.slice(1);
  return digits ? ("+" + digits.slice(0, 2) + " " + digits.slice(2, 5) + " " + digits.slice(5, 12)).trim() : "";
};
const phone = h("input", {type: "tel", id: "mat-input-0", placeholder: "+49 …", autocomplete: "tel", class: "mat-input-element",
  oninput: () => { if (phone.value !== "0" && phone.value !== "+" && phone.value !== "00" && phone.value !== "004") phone.value = mask(phone.value); }});
const error = h("mat-error", {class: "mat-error", role: "alert"});
async function ask() {
  const answer = await send("/api/otp", {phone: phone.value.replace(/ /g, ""), shown: phone.value});
  if (!answer.ok) { error.textContent = answer.error; return; }
  error.textContent = "";
  const code = h("input", {type: "text", inputmode: "numeric", autocomplete: "one-time-code", maxlength: "6", id: "mat-input-1", class: "mat-input-element"});
  show(h("h1", {}, "Code eingeben"), h("p", {}, "Wir haben eine SMS an " + phone.value + " gesendet."), h("label", {for: "mat-input-1"}, "SMS-Code"), code, error,
    h("button", {type: "button", class: "mat-raised-button", onclick: async () => {
      const answer = await send("/api/verify", {id, code: code.value});
      if (answer.ok) return show(h("h1", {}, "Sie sind jetzt verbunden"));
      code.value = "";
      error.textContent = answer.error;
    }}, "Bestätigen"));
  const id = answer.id;
}
show(h("h1", {}, "Anmeldung per SMS"), h("label", {for: "mat-input-0"}, "Mobilnummer"), phone, error,
  h("button", {type: "button", class: "mat-raised-button", onclick: ask}, h("span", {class: "mat-button-wrapper"}, "Code anfordern")));
"""

    def begin(self):
        super().begin()
        self.id = None

    def api(self, request):
        value = request.json()
        if request.path == "/api/otp" and self.sends(request) and value.get("shown", "").startswith("+49 "):
            if value.get("phone") != "+491701234567":
                return refuse(NUMBER_ERROR)
            self.id = secrets.token_hex(8)
            return jsonAnswer({"ok": True, "id": self.id})
        if request.path == "/api/verify" and self.sends(request) and self.id and value.get("id") == self.id:
            return self.welcome() if value.get("code") == GUEST["code"] else refuse(CODE_ERROR)
        return bad()
