"""A fair's page as a stepper: first tiles to choose from, of which none is chosen, then what belongs to the choice."""

from lab import Scenario
from scripted.shell import *

GUEST = {"choice": "Exhibitor", "badge": "EX-881", "surname": "Hopper"}
ERROR = "This badge is not known."


class FreshTiles(Scripted):
    """The tiles are divs with the role of radio buttons; "Next" is disabled until one is chosen. A refusal stays in the second step."""

    name, host, title = "fresh-tiles", "wlan.messe-nord.example", "Messe Nord"
    bundle = "/_next/static/chunks/app/page-77c.js"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"badge": "EX-1"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"badge": "EX-1"}, text=ERROR, corrected=GUEST),
    ]
    style = """.tile { border: 2px solid #ccc; border-radius: 12px; padding: 1rem; margin: .5rem 0; cursor: pointer; }
.tile[aria-checked=true] { border-color: #0a5; } ol { display: flex; gap: 1rem; list-style: none; padding: 0; }"""
    script = r"""
let kind = "";
const steps = at => h("ol", {"aria-label": "Progress"}, ["Who you are", "Your badge"].map((name, n) =>
  h("li", {"aria-current": n === at ? "step" : false}, `${n + 1}. ${name}`)));
const first = () => {
  const next = h("button", {type: "button", disabled: !kind, onclick: () => second()}, "Next");
  const tiles = ["Visitor", "Exhibitor", "Press"].map(name => h("div", {class: "tile", role: "radio", tabindex: "0", "data-value": name.toLowerCase(),
    "aria-checked": String(kind === name), onclick: () => { kind = name; next.disabled = false;
      tiles.forEach(tile => tile.setAttribute("aria-checked", String(tile.textContent.startsWith(name)))); }}, h("strong", {}, name)));
  show(steps(0), h("h2", {id: "who"}, "Who are you?"), h("div", {role: "radiogroup", "aria-labelledby": "who"}, tiles), next);
};
const second = (badge = "", surname = "", note = "") => {
  const [one, two] = [h("input", {id: "badge", value: badge}), h("input", {id: "surname", value: surname})];
  show(steps(1), h("h2", {}, `Welcome, ${kind.toLowerCase()}`), h("label", {for: "badge"}, "Badge number"), one, h("label", {for: "surname"}, "Surname"), two,
    note ? h("p", {class: "field-error"}, note) : null, h("button", {type: "button", class: "ghost", onclick: first}, "Back"),
    h("button", {type: "button", onclick: async () => {
      const answer = await send("/api/badge", {kind, badge: one.value, surname: two.value});
      if (answer.ok) show(h("h2", {}, "All set, you are online")); else second(one.value, two.value, answer.error);
    }}, "Connect"));
};
first();
"""

    def api(self, request):
        if request.path == "/api/badge" and self.sends(request):
            value = request.json()
            return self.welcome() if value == {"kind": "Exhibitor", "badge": "EX-881", "surname": "Hopper"} else refuse(ERROR)
        return bad()
