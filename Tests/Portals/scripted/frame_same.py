"""A login in a frame of the same origin that a script makes, by address or by srcdoc, as page builders embed theirs."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"code": "KIEL-7731"}, "Dieser Gutschein ist ungültig oder abgelaufen."

OUTER = r"""
const frame = h("iframe", {title: "Anmeldung", style: "width: 100%; height: 320px; border: 0", class: "embed-responsive-item"});
show(h("h1", {}, "Gäste-WLAN"), frame);
if ($("#root").dataset.mode === "srcdoc") fetch("/embed/login").then(answer => answer.text()).then(text => { frame.srcdoc = text; });
else frame.src = "/embed/login";
addEventListener("message", event => { if (event.data === "online") show(h("h1", {}, "Sie sind online")); });
"""

INNER = r"""
const code = h("input", {type: "text", name: "voucher", placeholder: "Gutschein-Code", autocomplete: "off", class: "inp"});
const note = h("div", {class: "err"});
show(code, note, h("button", {type: "button", class: "btn", onclick: async () => {
  const answer = await send("/embed/redeem", {voucher: code.value});
  if (answer.ok) parent.postMessage("online", "*"); else note.textContent = answer.error;
}}, "Einlösen"));
"""


class FrameSame(Scripted):
    """The frame's own page has no form either: a second bundle builds it there."""

    name, host, lang, title = "frame-same", "gast.foerde-hotel.example", "de", "Förde-Hotel"
    script = OUTER
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("srcdoc", user=GUEST, options={"mode": "srcdoc"}),
        Scenario("refused", "refused", {"code": "KIEL-0000"}, text=ERROR),
        Scenario("corrected", user={"code": "KIEL-0000"}, text=ERROR, corrected=GUEST),
    ]

    def begin(self):
        super().begin()
        self.body = f'<div id="root" data-mode="{self.options.get("mode", "src")}"></div>'

    def api(self, request):
        if request.path == "/embed/login":
            return document("Login", '<div id="app"></div>', "/embed/login.js", self.lang)
        if request.path == "/embed/login.js":
            return Answer(200, RUNTIME + INNER, "text/javascript; charset=utf-8")
        if request.path == "/embed/redeem" and self.sends(request):
            return self.welcome() if request.json().get("voucher") == GUEST["code"] else refuse(ERROR)
        return bad()
