"""A resort's page in the manner of Radix: tabs whose fields are made when they are opened, above one button for all."""

from lab import Scenario
from scripted.shell import *

ROOM, CODE, ERROR = {"room": "88", "surname": "Germain"}, {"code": "POOL-5"}, "We could not verify that."


class FreshLazyTabs(Scripted):
    """Whoever opens another tab loses what was typed in the first. The refusal stands below the button."""

    name, host, title = "fresh-lazy-tabs", "connect.palm-resort.example", "Palm Resort"
    bundle = "/chunks/login-1a2b.js"
    scenarios = [
        Scenario("first tab", user=ROOM),
        Scenario("second tab", user=CODE),
        Scenario("refused", "refused", {"code": "POOL-6"}, text=ERROR),
        Scenario("corrected", user={"code": "POOL-6"}, text=ERROR, corrected=CODE),
        Scenario("other tab", user={"code": "POOL-6"}, text=ERROR, corrected=ROOM | {"code": ""}),
    ]
    style = "[role=tab][aria-selected=false] { background: #ccc; color: #000; }"
    script = r"""
const ways = {Guest: [["room", "Room"], ["surname", "Last name"]], "Access code": [["code", "Access code"]]};
const place = h("div", {role: "tabpanel", id: "radix-panel"}), note = h("p", {class: "text-destructive"});
let open = "Guest";
const tabs = Object.keys(ways).map(name => h("button", {type: "button", role: "tab", "aria-selected": "false", "data-state": "inactive",
  onmousedown: () => draw(name)}, name));
const draw = name => {
  open = name;
  tabs.forEach(tab => tab.setAttribute("aria-selected", String(tab.textContent === name)));
  place.replaceChildren(...ways[name].flatMap(([id, text]) => [h("label", {for: id}, text), h("input", {id})]));
};
draw(open);
show(h("h1", {}, "Palm Resort Wi-Fi"), h("div", {role: "tablist", "aria-label": "Ways to log in"}, tabs), place, h("button", {type: "button",
  onclick: async () => {
    note.textContent = "";
    const answer = await send("/api/verify", Object.fromEntries(ways[open].map(([id]) => [id, $("#" + id).value])));
    if (answer.ok) show(h("h1", {}, "You are connected")); else note.textContent = answer.error;
  }}, "Connect"), note);
"""

    def api(self, request):
        if request.path == "/api/verify" and self.sends(request):
            return self.welcome() if request.json() in (ROOM, CODE) else refuse(ERROR)
        return bad()
