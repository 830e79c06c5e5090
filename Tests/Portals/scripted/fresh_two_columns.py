"""A guest house's page with two ways to log in side by side, of an application that uses no form elements: a voucher, and the room."""

from lab import Scenario
from scripted.shell import *

ROOM, VOUCHER, ERROR = {"room": "7", "surname": "Meitner"}, {"code": "HAUS-7"}, "Voucher not found."


class FreshTwoColumns(Scripted):
    """Each column has its own fields and its own button; the guest has one of both."""

    name, host, title = "fresh-two-columns", "wifi.guesthouse-linde.example", "Guest House Linde"
    bundle, body = "/app/main.js", '<div id="root"></div>'
    scenarios = [
        Scenario("voucher", user=VOUCHER),
        Scenario("room", user=ROOM),
        Scenario("refused", "refused", {"code": "HAUS-0"}, text=ERROR),
    ]
    style = ".columns { display: flex; gap: 2rem; } .columns > div { flex: 1; }"
    script = r"""
const field = (id, text) => h("div", {class: "q-field"}, h("label", {for: id, class: "q-field__label"}, text), h("input", {id,
  class: "q-field__native", type: "text"}));
const note = h("div", {class: "q-banner", role: "alert"});
const post = value => async () => {
  const answer = await send("/api/auth", value());
  if (answer.ok) show(h("h1", {}, "You are online")); else note.textContent = answer.error;
};
show(h("h1", {}, "Welcome to the Linde"), note, h("div", {class: "columns"},
  h("div", {class: "q-card"}, h("h2", {}, "I have a voucher"), field("voucher", "Voucher code"), h("button", {type: "button",
    class: "q-btn",
    onclick: post(() => ({way: "voucher", code: $("#voucher").value}))}, "Redeem")),
  h("div", {class: "q-card"}, h("h2", {}, "I stay in the house"), field("room", "Room number"), field("surname", "Surname"), h("button",
    {type: "button",
    class: "q-btn", onclick: post(() => ({way: "room", room: $("#room").value, surname: $("#surname").value}))}, "Log in"))));
"""

    def api(self, request):
        if request.path == "/api/auth" and self.sends(request):
            rights = ({"way": "voucher", "code": VOUCHER["code"]}, {"way": "room", **ROOM})
            return self.welcome() if request.json() in rights else refuse(ERROR)
        return bad()
