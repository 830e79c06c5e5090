"""An airport's login by a code that is sent by e-mail: six boxes of one digit, sent with the last of them, with a count-down beside."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"email": "ada@example.org", "code": "480913"}, "That code is incorrect. Please check your email."


class FreshOtp(Scripted):
    """In the manner of react-otp-input: the boxes have no label but their number, and nothing is pressed to send them."""

    name, host, title = "fresh-otp", "wifi.northport-airport.example", "Northport Airport Free Wi-Fi"
    bundle = "/build/bundle.3fa9.js"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"code": "111111"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"code": "111111"}, text=ERROR, corrected=GUEST),
    ]
    style = """.otp-row input { display: inline-block; width: 2.2rem; text-align: center; }
.link { background: none; color: #06c; border: 0; }"""
    script = r"""
let left = 59, timer;
function first() {
  const mail = h("input", {type: "email", name: "email", placeholder: "Email address", class: "form-control"}), note = h("span",
    {class: "err"});
  show(h("h2", {}, "Sign in with your email"), h("form", {novalidate: true, onsubmit: async event => {
    event.preventDefault();
    const answer = await send("/otp/request", {email: mail.value});
    if (answer.ok) second(mail.value); else note.textContent = answer.error;
  }}, mail, note, h("button", {type: "submit", class: "btn btn-primary btn-block"}, "Send code")));
}
function second(mail) {
  const note = h("div", {class: "invalid-feedback d-block"}), clock = h("span", {}, "00:59");
  clearInterval(timer);
  timer = setInterval(() => { left = Math.max(0, left - 1); clock.textContent = "00:" + String(left).padStart(2, "0"); }, 1000);
  const boxes = [1, 2, 3, 4, 5, 6].map((n, at) => h("input", {"aria-label": `Please enter OTP character ${n}`, autocomplete: "off",
    type: "tel",
    inputmode: "numeric", maxlength: "1", class: "otp-box", onfocus: event => event.target.select(), oninput: async () => {
      if (!/^\d$/.test(boxes[at].value)) { boxes[at].value = ""; return; }
      if (at < 5) return boxes[at + 1].focus();
      if (boxes.some(box => !box.value)) return;
      const answer = await send("/otp/verify", {email: mail, code: boxes.map(box => box.value).join("")});
      if (answer.ok) { clearInterval(timer); return show(h("h2", {}, "Success!"), h("p", {}, "You now have Internet access.")); }
      note.textContent = answer.error;
      boxes.forEach(box => { box.value = ""; });
      boxes[0].focus();
    }}));
  show(h("h2", {}, "Enter the 6-digit code"), h("p", {}, "We sent a code to ", h("strong", {}, mail)), h("div", {class: "otp-row", style:
    "display: flex; align-items: center"}, boxes.map(box => h("div", {style: "display: flex"}, box))), note,
    h("p", {}, "Resend code in ", clock), h("button", {type: "button", class: "link", onclick: first}, "Change email"));
  boxes[0].focus();
}
first();
"""

    def api(self, request):
        value = request.json()
        if request.path == "/otp/request" and self.sends(request):
            return jsonAnswer({"ok": True}) if value == {"email": GUEST["email"]} else refuse("Please enter a valid email address.")
        if request.path == "/otp/verify" and self.sends(request):
            return self.welcome() if value == {"email": GUEST["email"], "code": GUEST["code"]} else refuse(ERROR)
        return bad()
