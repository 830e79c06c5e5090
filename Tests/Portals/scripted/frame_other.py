"""A login in a frame of another host of the same portal: the house's page around the page of its provider."""

from lab import CLIENT_MAC, Scenario
from scripted.shell import *

GUEST = {"user": "hafen17", "password": "moin moin"}
ERROR = "The user name or the password is wrong."

OUTER = r"""
load("/widget.json").then(widget => show(h("header", {class: "Site_header__f01"}, h("h1", {}, "Hafen Lounge"), h("p", {}, "Free Wi-Fi for members")),
  h("iframe", {src: widget.url, title: "Sign in", width: "100%", height: "380", sandbox: "allow-scripts allow-forms allow-same-origin"})));
addEventListener("message", event => { if (event.data && event.data.type === "wifi:online") $("#root").append(h("p", {}, "You are online.")); });
"""

INNER = r"""
const ticket = new URLSearchParams(location.search).get("ticket");
const user = h("input", {type: "text", "aria-label": "User name", autocapitalize: "none"});
const password = h("input", {type: "password", "aria-label": "Password"});
const note = h("div", {role: "alert", class: "Notice_text__3c9"});
show(h("div", {class: "Field_box__b12"}, h("span", {"aria-hidden": "true"}, "User name"), user),
  h("div", {class: "Field_box__b12"}, h("span", {"aria-hidden": "true"}, "Password"), password), note,
  h("button", {type: "button", class: "Button_cta__e44", onclick: async () => {
    const answer = await send("/api/login", {user: user.value, password: password.value}, {"X-Ticket": ticket});
    if (!answer.ok) { note.textContent = answer.error; return; }
    show(h("p", {}, "Signed in."));
    parent.postMessage({type: "wifi:online"}, "*");
  }}, "Sign in"));
"""


class FrameOther(Scripted):
    """Below the same domain, so that a browser keeps both in one process, or of another site, so that it does not."""

    name, host, title = "frame-other", "lounge.hafen.example", "Hafen Lounge"
    script = OUTER
    scenarios = [
        Scenario("same site", user=GUEST, options={"frame": "login.hafen.example"}),
        Scenario("other site", user=GUEST, options={"frame": "connect.wlan-provider.example"}),
        Scenario("refused", "refused", GUEST | {"password": "tach"}, {"frame": "connect.wlan-provider.example"}, ERROR),
        Scenario("corrected", user=GUEST | {"password": "tach"}, options={"frame": "connect.wlan-provider.example"}, text=ERROR, corrected=GUEST),
    ]

    def answer(self, request):
        if request.host != self.options["frame"]:
            return super().answer(request)
        if request.path == "/frame":
            return document("Sign in", '<div id="app"></div>', "/frame.js")
        if request.path == "/frame.js":
            return Answer(200, RUNTIME + INNER, "text/javascript; charset=utf-8")
        own = request.headers.get("Origin") == f"http://{request.host}" and request.headers.get("X-Requested-With") == "XMLHttpRequest"
        if request.path == "/api/login" and request.method == "POST" and own and request.headers.get("X-Ticket") == self.csrf:
            value = request.json()
            return self.welcome() if (value.get("user"), value.get("password")) == tuple(GUEST.values()) else refuse(ERROR, 401)
        return bad()

    def api(self, request):
        if request.path == "/widget.json" and self.asks(request):
            return jsonAnswer({"url": f"http://{self.options['frame']}/frame?" + encode(ticket=self.csrf, mac=CLIENT_MAC)})
        return bad()
