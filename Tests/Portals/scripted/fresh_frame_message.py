"""The form in a frame of the maker's host, of another site; the house's page learns of it by a message, and has the last button itself."""

from lab import CLIENT_MAC, Scenario
from scripted.shell import *

GUEST, ERROR = {"email": "ada@example.org"}, "This email address is not valid."

OUTER = r"""
const query = new URLSearchParams(location.search);
const frame = h("iframe", {src: "http://forms.capture-maker.example/embed/9?mac=" + query.get("mac"), title: "Registration",
  width: "100%", height: "320",
  style: "border: 0"});
addEventListener("message", event => {
  if (event.origin !== "http://forms.capture-maker.example" || event.data?.event !== "form:complete") return;
  frame.remove();
  $("#root").append(h("p", {}, "Thank you! One last step:"), h("button", {type: "button", class: "btn-start", onclick: async () => {
    const answer = await send("/grant", {token: event.data.token});
    if (answer.ok) show(h("h1", {}, "You are online"));
  }}, "Start browsing"));
});
show(h("h1", {}, "Zoo Wi-Fi"), h("p", {}, "Please register to use our Wi-Fi."), frame);
"""

INNER = r"""
const mail = h("input", {type: "email", id: "mail", required: true}), note = h("p", {class: "error"});
show(h("form", {novalidate: true, onsubmit: async event => {
  event.preventDefault();
  const answer = await send("/embed/9/entries", {mail: mail.value});
  if (!answer.ok) { note.textContent = answer.error; return; }
  show(h("p", {}, "Saved."));
  parent.postMessage({event: "form:complete", token: answer.token}, "*");
}}, h("label", {for: "mail"}, "Email"), mail, note, h("button", {type: "submit"}, "Continue")));
"""


class FreshFrameMessage(Scripted):
    """What the guest types goes to the host of the frame; the button of the page comes behind it, and its frame is gone."""

    name, host, title = "fresh-frame-message", "wifi.city-zoo.example", "City Zoo Wi-Fi"
    frame, script = "forms.capture-maker.example", OUTER
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", {"email": "ada@nowhere.example"}, text=ERROR),
        Scenario("corrected", user={"email": "ada@nowhere.example"}, text=ERROR, corrected=GUEST),
    ]

    def answer(self, request):
        if request.host != self.frame:
            return super().answer(request)
        if request.path == "/embed/9" and request.args.get("mac") == CLIENT_MAC:
            return document("Registration", '<div id="app"></div>', "/embed/9.js")
        if request.path == "/embed/9.js":
            return Answer(200, RUNTIME + INNER, "text/javascript; charset=utf-8")
        if request.path == "/embed/9/entries" and request.headers.get("Origin") == f"http://{self.frame}":
            right = request.json().get("mail") == GUEST["email"]
            return jsonAnswer({"ok": True, "token": self.csrf}) if right else refuse(ERROR)
        return bad()

    def api(self, request):
        if request.path == "/grant" and self.sends(request):
            return self.welcome() if request.json().get("token") == self.csrf else bad()
        return bad()
