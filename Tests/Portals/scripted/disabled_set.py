"""A hotel's page that asks for the room, beside the fields of an account that stay disabled until somebody creates one."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"room": "5", "choice": "Guest"}, "No guest in this room."


class DisabledSet(Scripted):
    """The field set and the group of options are disabled, not the controls in them."""

    name, host, title = "disabled-set", "wifi.seaview-hotel.example", "Seaview Hotel Wi-Fi"
    bundle = "/static/js/main.5e1c.js"
    scenarios = [Scenario("room", user=GUEST, never=('"company"', '"secret"', '"staff"'))]
    script = r"""
const room = h("input", {name: "room", id: "room"}), note = h("p", {class: "form-error"});
const kind = h("select", {name: "kind", id: "kind"}, h("option", {value: ""}, "Choose"),
  h("optgroup", {label: "Staff", disabled: ""}, h("option", {value: "staff"}, "Reception"), h("option", {value: "cook"}, "Kitchen")),
  h("option", {value: "guest"}, "Guest"), h("option", {value: "visitor"}, "Visitor"));
const account = h("fieldset", {disabled: ""}, h("legend", {}, "Create an account"), h("label", {for: "company"}, "Company"),
  h("input", {name: "company", id: "company"}), h("label", {for: "secret"}, "Password"), h("input", {type: "password", name: "secret", id: "secret"}),
  h("label", {for: "again"}, "Repeat the password"), h("input", {type: "password", name: "again", id: "again"}));
const form = h("form", {}, h("label", {for: "room"}, "Room"), room, h("label", {for: "kind"}, "You are"), kind, account, note,
  h("button", {type: "submit"}, "Connect"));
form.addEventListener("submit", async event => {
  event.preventDefault();
  const answer = await send("/api/login", Object.fromEntries(new FormData(form)));
  if (answer.ok) show(h("h1", {}, "You are connected")); else note.textContent = answer.error;
});
show(h("h1", {}, "Wi-Fi for our guests"), form);
"""

    def api(self, request):
        if request.path == "/api/login" and self.sends(request):
            return self.welcome() if request.json() == {"room": "5", "kind": "guest"} else refuse(ERROR)
        return bad()
