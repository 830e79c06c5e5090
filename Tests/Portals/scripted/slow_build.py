"""A page that shows a spinner for three seconds before its login is there."""

import time

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"code": "PALM-55"}, "This access code has expired."


class SlowBuild(Scripted):
    """A reader that takes the page when it has loaded sees the spinner only. The wait is the script's, or a request's."""

    name, host, title = "slow-build", "guest.palm-resort.example", "Palm Resort"
    body = '<div id="root"><div class="Spinner_root__ab1" role="status" aria-busy="true">Loading…</div></div>'
    scenarios = [
        Scenario("timer", user=GUEST),
        Scenario("request", user=GUEST, options={"wait": 3}),
        Scenario("refused", "refused", {"code": "PALM-54"}, text=ERROR),
        Scenario("corrected", user={"code": "PALM-54"}, text=ERROR, corrected=GUEST),
    ]
    script = r"""
load("/api/property").then(property => setTimeout(() => {
  const code = h("input", {type: "text", "aria-label": "Access code"}), note = h("div", {role: "alert"});
  show(h("h1", {}, property.title), code, note, h("button", {type: "button", onclick: async () => {
    $("#root").setAttribute("aria-busy", "true");
    const answer = await send("/api/redeem", {code: code.value}, {"X-CSRF-Token": property.csrf});
    $("#root").removeAttribute("aria-busy");
    if (answer.ok) show(h("h1", {}, "You are all set.")); else note.textContent = answer.error;
  }}, "Continue"));
}, property.wait));
"""

    def api(self, request):
        if request.path == "/api/property" and self.asks(request):
            time.sleep(self.options.get("wait", 0))
            return jsonAnswer({"title": "Palm Resort Wi-Fi", "csrf": self.csrf, "wait": 0 if "wait" in self.options else 3000})
        if request.path == "/api/redeem" and self.sends(request, csrf=True):
            time.sleep(1)
            return self.welcome() if request.json().get("code") == GUEST["code"] else refuse(ERROR, 410)
        return bad()
