"""A co-working space's page in the manner of React Native for the web: all is a div, the button and the box have no role."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"email": "ada@example.org"}, "We do not know this email address."


class FreshNativeWeb(Scripted):
    """The box is a drawn square beside its words; both take clicks. The button is pale until it is ticked."""

    name, host, title = "fresh-native-web", "join.loft-coworking.example", "Loft Coworking"
    bundle = "/_expo/static/js/web/index-5e1b2c.js"
    scenarios = [
        Scenario("without a box", user=GUEST, options={"box": False}),
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", {"email": "eve@example.org"}, text=ERROR),
    ]
    style = """.r-cursor { cursor: pointer; } .css-view { display: flex; flex-direction: column; position: relative; } .css-text {
display: inline;
white-space: pre-wrap; } .row { flex-direction: row; } .square { width: 22px; height: 22px; border: 2px solid #333; }"""
    script = r"""
const view = (more, attributes, ...nodes) => h("div", {class: "css-view r-alignItems-1awozwy " + more, ...attributes}, ...nodes);
const text = words => h("div", {dir: "auto", class: "css-text r-fontSize-ubezar"}, words);
const state = {mail: "", agreed: !BOX};
const mail = h("input", {placeholder: "Email address", autocapitalize: "none", autocomplete: "email", autocorrect: "on", dir: "auto",
  spellcheck: "true", type: "email", inputmode: "email", class: "css-textinput r-borderRadius-1q9bdsx", oninput: event => {
    state.mail = event.target.value; update(); }});
const square = view("square", {}), note = h("div", {dir: "auto", class: "css-text r-color-error"});
const agree = () => { state.agreed = !state.agreed; square.style.background = state.agreed ? "#0a5" : ""; update(); };
const button = view("r-cursor r-touchAction-1otgn73 r-backgroundColor-cta", {tabindex: "0", style: "background: #0a5; padding: 14px",
  onclick: async () => {
  if (!state.mail || !state.agreed) return;
  const answer = await send("/v1/guests", {email: state.mail, agreed: state.agreed});
  if (answer.ok) show(view("", {}, text("Welcome to the Loft"), text("You can use the Internet now.")));
  else note.textContent = answer.error;
}}, text("Continue"));
const update = () => { button.style.opacity = state.mail && state.agreed ? "1" : "0.5"; };
show(view("", {}, text("Loft Coworking"), text("Sign in to use our Wi-Fi"), mail, note,
  BOX ? view("row", {}, view("r-cursor r-touchAction-1otgn73", {tabindex: "0", onclick: agree}, square),
    h("div", {dir: "auto", class: "css-text"}, "  I agree to the house rules and the terms of use")) : null, button));
update();
"""

    def answer(self, request):
        if request.path == self.bundle:
            boxed = "true" if self.options.get("box", True) else "false"
            return Answer(200, f"{RUNTIME}const BOX = {boxed};{self.script}", "text/javascript; charset=utf-8")
        return super().answer(request)

    def api(self, request):
        if request.path == "/v1/guests" and self.sends(request):
            value = request.json()
            if value.get("agreed") is not True:
                return bad()
            return self.welcome() if value.get("email") == GUEST["email"] else refuse(ERROR)
        return bad()
