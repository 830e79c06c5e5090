"""A hotel's single-page application in the manner of React: the form is built after a request for the settings."""

from lab import Scenario
from scripted.shell import *

GUEST = {"room": "214", "surname": "Lovelace"}
ERROR = "We could not find a guest with this name in this room."


class ReactHotel(Scripted):
    """Controlled inputs: what is sent is the state of the application, which only input events change."""

    name, host, path = "react-hotel", "guest.aurora-hotel.example", "/portal"
    title = "Aurora Hotel – Guest Wi-Fi"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"room": "999"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"room": "999"}, text=ERROR, corrected=GUEST),
        # The helpers end between question and answer: the page is opened anew, and asks the same.
        Scenario("restarted", user=GUEST, options={"restarts": True}),
    ]
    script = r"""
const state = {roomNumber: "", lastName: "", busy: false, csrf: ""};
const field = (id, label, key) => h("div", {class: "TextField_root__x7Yq2"},
  h("label", {for: id, class: "TextField_label__aa01Z"}, label),
  h("input", {id, type: "text", autocomplete: "off", class: "TextField_input__pp31d", oninput: event => { state[key] = event.target.value; }}));
const message = h("p", {class: "FormMessage_error__k2P0s", "aria-live": "polite"});
async function submit(event) {
  event.preventDefault();
  if (state.busy) return;
  state.busy = true;
  const answer = await send("/api/session", {roomNumber: state.roomNumber.trim(), lastName: state.lastName.trim()}, {"X-CSRF-Token": state.csrf});
  state.busy = false;
  if (answer.ok) return show(h("h1", {}, "You are online"), h("p", {}, "Enjoy your stay, your access lasts 24 hours."));
  message.textContent = answer.code === "ROOM_MISMATCH" ? "We could not find a guest with this name in this room." : "Something went wrong.";
}
load("/api/settings").then(settings => {
  state.csrf = settings.csrf;
  show(h("h1", {class: "Hero_title__1a0Bc"}, settings.welcome),
    h("form", {class: "LoginCard_form__Qx91e", novalidate: true, onsubmit: submit},
      field(":r1:", "Room number", "roomNumber"), field(":r3:", "Last name", "lastName"), message,
      h("button", {type: "submit", class: "Button_primary__9sK2j"}, h("span", {}, "Connect"))));
});
"""

    def api(self, request):
        if request.path == "/api/settings" and self.asks(request):
            return jsonAnswer({"welcome": "Welcome to the Aurora Hotel", "csrf": self.csrf, "mode": "pms"})
        if request.path == "/api/session" and self.sends(request, csrf=True):
            value = request.json()
            if (value.get("roomNumber"), str(value.get("lastName")).lower()) == ("214", "lovelace"):
                return self.welcome()
            return jsonAnswer({"ok": False, "code": "ROOM_MISMATCH"}, 403)
        return bad()
