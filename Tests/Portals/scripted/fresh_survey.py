"""A coffee chain's page with a question before the network opens: stars for the last visit, which may be passed over."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"email": "ada@example.org"}, "Please check your email address."


class FreshSurvey(Scripted):
    """The stars are buttons without words; sending is enabled once one is chosen, and a lesser button skips the question."""

    name, host, title = "fresh-survey", "wifi.bean-coffee.example", "Bean Coffee Wi-Fi"
    bundle = "/a/customer.9981.js"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", {"email": "ada@localhost"}, text=ERROR),
        Scenario("must answer", user=GUEST, options={"skip": False}),
    ]
    style = """.stars button { background: none; color: #f5a623; font-size: 2rem; padding: 0; }
.text-button { background: none; color: #555; }"""
    script = r"""
const mail = h("input", {type: "email", id: "email", name: "email"}), note = h("p", {class: "help is-danger"});
show(h("h1", {class: "title"}, "Free Wi-Fi"), h("label", {for: "email", class: "label"}, "Email"), mail, note,
  h("button", {type: "button", class: "button is-primary", onclick: async () => {
    const answer = await send("/a/join", {email: mail.value});
    if (answer.ok) survey(answer.skip); else note.textContent = answer.error;
  }}, "Join Wi-Fi"));
function survey(skip) {
  let stars = 0;
  const go = h("button", {type: "button", class: "button is-primary", disabled: true, onclick: () => done({stars})}, "Submit");
  const done = async value => { if ((await send("/a/feedback", value)).ok) show(h("h1", {class: "title"}, "You're online!"), h("p", {},
    "Thanks for visiting.")); };
  show(h("h1", {class: "title"}, "How was your last visit?"), h("div", {class: "stars", role: "radiogroup", "aria-label": "Rating"}, [1,
    2, 3, 4, 5].map(n =>
    h("button", {type: "button", role: "radio", "aria-checked": "false", "aria-label": n === 1 ? "1 star" : n + " stars",
      onclick: event => {
      stars = n; go.disabled = false; event.currentTarget.setAttribute("aria-checked", "true"); }}, h("i", {class: "star-icon"}, "★")))),
        go,
    skip ? h("button", {type: "button", class: "text-button", onclick: () => done({skipped: true})}, "Skip for now") : null);
}
"""

    def begin(self):
        super().begin()
        self.isKnown = False

    def api(self, request):
        value = request.json()
        if request.path == "/a/join" and self.sends(request):
            self.isKnown = value == {"email": GUEST["email"]}
            return jsonAnswer({"ok": True, "skip": self.options.get("skip", True)}) if self.isKnown else refuse(ERROR)
        if request.path == "/a/feedback" and self.sends(request) and self.isKnown:
            return self.welcome() if value.get("stars") or value.get("skipped") else bad()
        return bad()
