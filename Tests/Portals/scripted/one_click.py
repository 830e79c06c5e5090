"""One button and nothing to type: the terms are agreed to by pressing it."""

from lab import Scenario
from scripted.shell import *

ERROR = "All places are taken. Please try again in 10 minutes."


class OneClick(Scripted):
    """The script posts a token of its own, and polls until the gateway says that it is open."""

    name, host, title = "one-click", "free.cityhall.example", "City Hall Free Wi-Fi"
    bundle = "/_next/static/chunks/app/page-1f09.js"
    body = '''<main><h1>Welcome to City Hall</h1><p>Free wireless Internet for visitors, a service of your city.</p>
<div id="root"><div class="loading_dots__1sZ"></div></div></main>
<footer>Opening hours: Monday to Friday, 8 am to 4 pm. <a href="/imprint">Imprint</a></footer>'''
    scenarios = [Scenario("in"), Scenario("refused", "refused", options={"full": True}, text=ERROR)]
    script = r"""
const status = h("p", {"aria-live": "polite", class: "page_status__q8T"});
const button = h("button", {type: "button", class: "page_connect__q8T", onclick: async () => {
  button.disabled = true;
  const {csrf} = await load("/api/token"), answer = await send("/api/connect", {accept: true, width: innerWidth}, {"X-CSRF-Token": csrf});
  if (!answer.ok) { status.textContent = answer.error; button.disabled = false; return; }
  status.textContent = "Connecting…";
  for (let state = ""; state !== "open"; state = (await load("/api/state")).state) await new Promise(next => setTimeout(next, 300));
  show(h("h1", {}, "You are connected"));
}}, "Connect");
setTimeout(() => show(h("h1", {}, "Free Wi-Fi at City Hall"), button, status,
  h("small", {}, "By connecting you accept the ", h("a", {href: "/terms"}, "terms of use"), ".")), 150);
"""

    def api(self, request):
        if request.path == "/terms":
            return Answer(200, "<!doctype html><title>Terms of use</title><p>Be kind to each other.</p>")
        if request.path == "/api/token" and self.asks(request):
            return jsonAnswer({"csrf": self.csrf})
        if request.path == "/api/state" and self.asks(request):
            return jsonAnswer({"state": "open" if self.isOpen else "closed"})
        if request.path == "/api/connect" and self.sends(request, csrf=True) and request.json().get("accept") is True:
            return refuse(ERROR, 503) if self.options.get("full") else self.welcome()
        return bad()
