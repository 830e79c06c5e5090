"""A voucher of six characters with a box for each, in capitals; the last one enables the button."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"code": "k7pq2x"}, "Der Gutschein wurde nicht gefunden."


class VoucherBoxes(Scripted):
    """Each box takes one character and passes the focus on, as a person's typing needs it; a paste fills all of them."""

    name, host, lang, title = "voucher-boxes", "wlan.campingpark.example", "de", "Campingpark am See"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", {"code": "AAAAAA"}, text=ERROR),
        Scenario("corrected", user={"code": "AAAAAA"}, text=ERROR, corrected=GUEST),
    ]
    style = "[role=group] input { display: inline-block; width: 1.4em; text-align: center; }"
    script = r"""
const boxes = [1, 2, 3, 4, 5, 6].map(n => h("input", {type: "text", maxlength: "1", autocapitalize: "characters", "aria-label": "Zeichen " + n,
  class: "otp__cell", oninput: event => changed(n - 1), onpaste: event => {
    event.preventDefault();
    fill(event.clipboardData.getData("text"));
  }, onkeydown: event => { if (event.key === "Backspace" && !event.target.value && n > 1) boxes[n - 2].focus(); }}));
const note = h("p", {role: "alert"});
const button = h("button", {type: "button", disabled: true, class: "otp__send", onclick: async () => {
  const answer = await send("/api/voucher", {code: boxes.map(box => box.value).join("")}, {"X-CSRF-Token": csrf});
  if (answer.ok) return show(h("h1", {}, "Sie sind online"));
  note.textContent = answer.error;
  boxes.forEach(box => { box.value = ""; });
  button.disabled = true;
  boxes[0].focus();
}}, "Einlösen");
const ready = () => { button.disabled = boxes.some(box => !box.value); };
function changed(at) {
  boxes[at].value = boxes[at].value.toUpperCase();
  if (boxes[at].value && at < 5) boxes[at + 1].focus();
  ready();
}
function fill(text) { [...text.trim().toUpperCase()].slice(0, 6).forEach((character, at) => { boxes[at].value = character; }); ready(); }
let csrf = "";
load("/api/start").then(start => {
  csrf = start.csrf;
  show(h("h1", {}, "WLAN-Gutschein"), h("div", {role: "group", "aria-label": "Gutscheincode", class: "otp"}, boxes), note, button);
});
"""

    def api(self, request):
        if request.path == "/api/start" and self.asks(request):
            return jsonAnswer({"csrf": self.csrf})
        if request.path == "/api/voucher" and self.sends(request, csrf=True):
            return self.welcome() if request.json().get("code") == GUEST["code"].upper() else refuse(ERROR, 404)
        return bad()
