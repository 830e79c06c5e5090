"""A shopping centre's page in the manner of intl-tel-input: a button with a flag before the number, then six boxes for the code."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"phone": "0151 23456789", "code": "480915"}, "The code is wrong or has expired."


class FreshFlagPhone(Scripted):
    """The number is sent in its international form. The last digit of the code sends it; a wrong one empties the boxes."""

    name, host, title = "fresh-flag-phone", "wifi.galeria-center.example", "Galeria Center"
    bundle = "/assets/app-91c.js"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"code": "480916"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"code": "480916"}, text=ERROR, corrected=GUEST),
    ]
    style = """.iti { position: relative; } .iti__country-container { position: absolute; left: 4px; top: 4px; } .iti__tel-input { padding-left: 80px; }
.iti__selected-country { background: #eee; color: #000; padding: .4rem; } .codes { display: flex; gap: 6px; } .codes input { width: 2rem; }"""
    script = r"""
const number = h("input", {type: "tel", id: "phone", class: "iti__tel-input", autocomplete: "tel", placeholder: "01512 3456789"}), note = h("p", {class: "hint"});
const ask = () => {
  const boxes = Array.from({length: 6}, (_, n) => h("input", {type: "text", inputmode: "numeric", maxlength: "1", "aria-label": `Digit ${n + 1}`,
    oninput: event => { if (event.target.value) boxes[n + 1]?.focus(); check(); }}));
  const wrong = h("p", {role: "alert"});
  const check = async () => {
    const code = boxes.map(box => box.value).join("");
    if (code.length < 6) return;
    const answer = await send("/api/sms/check", {code});
    if (answer.ok) return show(h("h1", {}, "Welcome, you are online"));
    boxes.forEach(box => { box.value = ""; });
    wrong.textContent = answer.error;
  };
  show(h("h1", {}, "Enter your code"), h("p", {}, "We have sent you a text message with six digits."), h("div", {class: "codes", role: "group",
    "aria-label": "Code"}, boxes), wrong, h("button", {type: "button", class: "link"}, "Send again"));
};
show(h("h1", {}, "Free Wi-Fi"), h("label", {for: "phone"}, "Mobile number"), h("div", {class: "iti iti--allow-dropdown"}, h("div",
  {class: "iti__country-container"}, h("button", {type: "button", class: "iti__selected-country", "aria-expanded": "false", "aria-label": "Germany: +49",
  "aria-haspopup": "dialog", title: "Germany: +49"}, h("div", {class: "iti__flag iti__de"}), h("div", {class: "iti__arrow", "aria-hidden": "true"}))), number),
  note, h("button", {type: "button", onclick: async () => {
    const answer = await send("/api/sms", {phone: "+49" + number.value.replace(/\D/g, "").replace(/^0/, "")});
    if (answer.ok) ask(); else note.textContent = answer.error;
  }}, "Send code"));
"""

    def api(self, request):
        if request.path == "/api/sms" and self.sends(request):
            return jsonAnswer({"ok": True}) if request.json().get("phone") == "+4915123456789" else refuse("This number is not valid.")
        if request.path == "/api/sms/check" and self.sends(request):
            return self.welcome() if request.json().get("code") == GUEST["code"] else refuse(ERROR)
        return bad()
