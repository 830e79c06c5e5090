"""A ferry's page of plans as cards: one is free for half an hour, the others cost; each has a button of its own."""

from lab import Scenario
from scripted.shell import *


class FreshPlanCards(Scripted):
    """All buttons are called alike, or by their plans. Whoever presses one that costs has bought it."""

    name, host, title = "fresh-plan-cards", "wifi.fjordline-ferry.example", "Fjord Ferry Wi-Fi"
    bundle = "/static/js/main.77ab01cc.js"
    scenarios = [
        Scenario("named", never=("premium", "day"), options={"words": ["Start free session", "Buy for 5 €", "Buy for 9 €"]}),
        # Only the words of the card say what a button buys: the choice is a person's.
        Scenario("alike", "handed over", never=("premium", "day"), options={"words": ["Select", "Select", "Select"]}),
        Scenario("free first", never=("premium", "day"), options={"words": ["Connect", "Connect", "Connect"]}),
        Scenario("paid first", "any", never=("premium", "day"), options={"words": ["Connect", "Connect", "Connect"], "turned": True}),
    ]
    style = ".plans { display: flex; gap: 1rem; } .card { border: 1px solid #ccc; border-radius: 8px; padding: 1rem; flex: 1; }"
    script = r"""
const plans = [["free", "Free", "30 minutes", "0 €", "512 kbit/s"], ["premium", "Premium", "4 hours", "5 €", "10 Mbit/s"],
  ["day", "Whole crossing", "24 hours", "9 €", "20 Mbit/s"]];
load("/api/plans").then(({words, turned}) => { if (turned) plans.reverse(); show(h("h1", {class: "MuiTypography-root MuiTypography-h4"},
  "Choose your plan"),
  h("div", {class: "MuiGrid-root MuiGrid-container plans"}, plans.map(([id, name, time, price, speed], n) =>
    h("div", {class: "MuiPaper-root MuiCard-root card css-1r2k" + n}, h("div", {class: "MuiCardContent-root"},
      h("h2", {class: "MuiTypography-root MuiTypography-h6"}, name), h("p", {class: "MuiTypography-body2"}, time), h("p", {}, speed),
      h("p", {class: "MuiTypography-h5"}, price)),
    h("div", {class: "MuiCardActions-root"}, h("button", {class: "MuiButtonBase-root MuiButton-root MuiButton-contained", tabindex: "0",
      type: "button", onclick: async () => {
        const answer = await send("/api/orders", {plan: id});
        if (answer.ok) show(h("h1", {}, "You are connected"), h("p", {}, "Your free session lasts 30 minutes."));
        else show(h("h1", {}, "Payment"), h("label", {for: "card"}, "Card number"), h("input", {id: "card", autocomplete: "cc-number"}),
          h("button", {type: "button"}, "Pay now"));
      }}, words[n], h("span", {class: "MuiTouchRipple-root"}))))))); });
"""

    def api(self, request):
        if request.path == "/api/plans" and self.asks(request):
            return jsonAnswer({"words": self.options["words"], "turned": self.options.get("turned", False)})
        if request.path == "/api/orders" and self.sends(request):
            return self.welcome() if request.json() == {"plan": "free"} else jsonAnswer({"ok": False})
        return bad()
