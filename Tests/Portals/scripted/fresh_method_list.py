"""A conference hotel's page that asks first how to log in, in a list: what else it asks depends on the choice."""

from lab import Scenario
from scripted.shell import *

ROOM, CODE, ERROR = {"room": "610", "surname": "Turing"}, {"code": "CONF26"}, "The access code has expired."


class FreshMethodList(Scripted):
    """The room is chosen already; the fields of the other way are in the page once it is chosen."""

    name, host, title = "fresh-method-list", "wifi.summit-hotel.example", "Summit Hotel"
    bundle = "/portal/vendor.min.js"
    scenarios = [
        Scenario("room", user=ROOM | {"choice": "Room guest"}),
        Scenario("code", user=ROOM | CODE | {"choice": "Conference access code"}),
        Scenario("refused", "refused", ROOM | {"code": "CONF25", "choice": "Conference access code"}, text=ERROR),
    ]
    script = r"""
const list = h("select", {id: "method", name: "method"}, [["room", "Room guest"], ["code", "Conference access code"]].map(([value, text]) =>
  h("option", {value}, text)));
const place = h("div", {class: "fields"}), note = h("div", {class: "error", role: "alert"});
const field = (id, text) => h("div", {class: "field"}, h("label", {for: id}, text), h("input", {id, name: id, type: "text"}));
const draw = () => place.replaceChildren(...(list.value === "room" ? [field("room", "Room number"), field("surname",
  "Last name")] : [field("code", "Access code")]));
list.addEventListener("change", draw);
draw();
show(h("h1", {}, "Welcome"), h("form", {novalidate: true, onsubmit: async event => {
  event.preventDefault();
  const value = {method: list.value};
  place.querySelectorAll("input").forEach(input => { value[input.id] = input.value; });
  const answer = await send("/portal/login", value);
  if (answer.ok) show(h("h1", {}, "You are connected")); else note.textContent = answer.error;
}}, h("label", {for: "method"}, "How do you want to log in?"), list, place, note, h("button", {type: "submit"}, "Log in")));
"""

    def api(self, request):
        if request.path == "/portal/login" and self.sends(request):
            rights = ({"method": "room", **ROOM}, {"method": "code", **CODE})
            return self.welcome() if request.json() in rights else refuse(ERROR)
        return bad()
