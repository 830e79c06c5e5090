"""A library's page that only wants a click, and counts ten seconds down until its script opens the gate, or shows its button."""

from lab import Scenario
from scripted.shell import *


class FreshCountdown(Scripted):
    """The last request is the script's, at the end of the count; a page that is closed before opens nothing."""

    name, host, title = "fresh-countdown", "wlan.stadtbibliothek.example", "Library Wi-Fi"
    bundle = "/guest/app.js"
    scenarios = [Scenario("ten seconds", options={"seconds": 10}), Scenario("film first", options={"seconds": 15, "film": True})]
    script = r"""
load("/guest/mode").then(({seconds}) => {
  if (!seconds) return first();
  let left = seconds;
  const go = h("button", {type: "button", class: "btn btn-skip", disabled: true, onclick: first}, `Continue (${left})`);
  show(h("h1", {}, "Presented by our sponsor"), h("video", {autoplay: true, muted: true, playsinline: true, width: "320",
    height: "180"}), go);
  const timer = setInterval(() => {
    left -= 1;
    go.textContent = left ? `Continue (${left})` : "Continue";
    if (!left) { go.disabled = false; clearInterval(timer); }
  }, 1000);
});
const first = () => show(h("h1", {}, "Welcome to the library"), h("p", {}, "Your device is registered for today."), h("button",
  {type: "button", class: "btn", onclick: async () => {
  const {seconds} = await send("/guest/register", {start: true});
  const count = h("span", {class: "count"}, String(seconds)), bar = h("div", {class: "progress", role: "progressbar",
    "aria-valuenow": "0"});
  show(h("h1", {}, "Please wait"), h("p", {}, "We are setting up your connection. ", count, " seconds left."), bar);
  let left = seconds;
  const timer = setInterval(async () => {
    left -= 1;
    count.textContent = String(left);
    if (left > 0) return;
    clearInterval(timer);
    if ((await send("/guest/activate", {mac: true})).ok) show(h("h1", {}, "You are connected"));
  }, 1000);
}}, "Connect"));
"""

    def api(self, request):
        film = self.options.get("film")
        if request.path == "/guest/mode" and self.asks(request):
            return jsonAnswer({"seconds": self.options["seconds"] if film else 0})
        if request.path == "/guest/register" and self.sends(request):
            return jsonAnswer({"seconds": 1 if film else self.options["seconds"]})
        if request.path == "/guest/activate" and self.sends(request):
            return self.welcome()
        return bad()
