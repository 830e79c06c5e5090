"""A station's page with a slider that has to be drawn to the right, as a proof that a person is there."""

from lab import Scenario
from scripted.shell import *


class FreshSlide(Scripted):
    """Only a pointer that moves with its button down unlocks it; a click tells the person to draw. It is left to a browser."""

    name, host, title = "fresh-slide", "wifi.central-station.example", "Central Station Wi-Fi"
    bundle = "/slide/app.js"
    scenarios = [Scenario("handed over", "handed over")]
    style = """.slide-verify-slider { position: relative; height: 40px; background: #e7e9eb; text-align: center; line-height: 40px; }
.slide-verify-slider-mask-item { position: absolute; left: 0; top: 0; width: 40px; height: 40px; background: #0a5; cursor: pointer;
color: #fff; }"""
    script = r"""
const knob = h("div", {class: "slide-verify-slider-mask-item"}, h("i", {class: "icon-right"}, "→"));
const text = h("span", {class: "slide-verify-slider-text"}, "Slide to unlock");
let from = null;
knob.addEventListener("mousedown", event => { from = event.clientX; });
document.addEventListener("mousemove", event => { if (from !== null) knob.style.left = Math.min(Math.max(0, event.clientX - from),
  260) + "px"; });
document.addEventListener("mouseup", async () => {
  if (from === null) return;
  from = null;
  if (parseInt(knob.style.left || "0") < 240) { knob.style.left = "0px"; text.textContent = "Please slide to the end"; return; }
  if ((await send("/slide/verify", {ok: 1})).ok) show(h("h1", {}, "Connected"));
});
show(h("h1", {}, "Free Wi-Fi"), h("p", {}, "Please show that you are not a robot."), h("div", {class: "slide-verify"},
  h("div", {class: "slide-verify-slider"}, text, knob)));
"""

    def api(self, request):
        return self.welcome() if request.path == "/slide/verify" and self.sends(request) else bad()
