"""Hotel Seeblick's portal: a single-page application over HTTPS. Its page is empty without scripts; a script asks for the settings, builds
the form, sends it as JSON, and shows the answer in the same page.

A token from the settings goes with each login, the session is a cookie, and only a request of the page's own script counts. The file of
its manners may make the page take all memory that it can get, and is read at each request. SIGUSR1 ends all sessions.
"""

import json
import pathlib
import secrets
import signal

import networks
from portal_base import Answer, Gate, Request, Server, Transcript, arguments, serve

HOST = networks.FREE.portal
GUESTS = {"214": "Brandt"}
SESSION_SECONDS = 7200
WRONG = "We could not find a guest with this name in this room."

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Hotel Seeblick – Guest Wi-Fi</title><script defer src="/static/app.5b1f.js"></script></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="app"></div></body></html>
"""
SCRIPT = r"""const h = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value); else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
};
const show = (...nodes) => document.getElementById("app").replaceChildren(...nodes);
const ask = (url, options = {}) =>
  fetch(url, {...options, headers: {"X-Requested-With": "XMLHttpRequest", ...options.headers}}).then(answer => answer.json());
const state = {room: "", surname: "", terms: false, csrf: "", busy: false};
const field = (id, label, key) => h("div", {class: "field"}, h("label", {for: id}, label),
  h("input", {id, type: "text", autocomplete: "off", oninput: event => { state[key] = event.target.value; }}));
const message = h("p", {class: "error", role: "alert"});
const connected = () => show(h("h1", {}, "You are connected"), h("p", {}, "Enjoy your stay."), h("a", {href: "/logout"}, "Log out"));
async function connect(event) {
  event.preventDefault();
  if (state.busy) return;
  if (!state.terms) { message.textContent = "Please accept the terms of use."; return; }
  state.busy = true;
  const answer = await ask("/api/login", {
    method: "POST", body: JSON.stringify({room: state.room.trim(), surname: state.surname.trim(), terms: state.terms}),
    headers: {"Content-Type": "application/json", "X-CSRF-Token": state.csrf},
  });
  state.busy = false;
  if (answer.ok) connected(); else message.textContent = answer.error;
}
ask("/api/settings").then(settings => {
  if (settings.greedy) { const kept = []; for (let i = 0; i < 64; i++) kept.push(new Uint8Array(32 << 20).fill(i + 1)); }
  if (settings.connected) return connected();
  state.csrf = settings.csrf;
  show(h("h1", {}, settings.welcome), h("form", {novalidate: "", onsubmit: connect},
    field("room", "Room number", "room"), field("surname", "Surname", "surname"),
    h("div", {class: "field"},
      h("input", {id: "terms", type: "checkbox", onchange: event => { state.terms = event.target.checked; }}),
      h("label", {for: "terms"}, "I accept the terms of use: be kind to other guests.")),
    message, h("button", {type: "submit"}, h("span", {}, "Connect"))));
});
"""


class AppRequest(Request):
    """A body of JSON has fields as well, so that the transcript masks what is secret in them."""

    def __init__(self, handler, body: bytes):
        super().__init__(handler, body)
        if self.headers.get("Content-Type") == "application/json":
            try:
                value = json.loads(body)
            except ValueError:
                value = None
            self.fields = [(str(name), str(text)) for name, text in value.items()] if isinstance(value, dict) else []


class AppServer(Server):
    requestType = AppRequest


class AppPortal:
    def __init__(self, manners: str):
        self.gate, self.manners, self.tokens = Gate("free"), pathlib.Path(manners), {}

    def manner(self, name: str) -> bool:
        try:
            return bool(json.loads(self.manners.read_text()).get(name))
        except (OSError, ValueError):
            return False

    def intercept(self, request: Request) -> Answer:
        """Port 80."""
        return Answer(302, Location=f"https://{HOST}/", Cache_Control="no-store")

    def answer(self, request: Request) -> Answer:
        if request.headers.get("Host") != HOST:
            return Answer(404)
        if request.path == "/":
            visit = secrets.token_hex(12)
            self.tokens[visit] = secrets.token_hex(16)
            cookie = f"visit={visit}; Path=/; Secure; HttpOnly; SameSite=Lax"
            return Answer(200, PAGE, Cache_Control="no-store", Set_Cookie=cookie)
        if request.path == "/static/app.5b1f.js":
            return Answer(200, SCRIPT, "text/javascript; charset=utf-8", Cache_Control="no-store")
        if request.path == "/logout":
            answer = Answer(303, Location="/", Cache_Control="no-store")
            answer.remark = "logged out" if self.gate.expel(request.client) else "was not logged in"
            return answer
        token = self.tokens.get(request.cookie("visit"))
        if token and request.headers.get("X-Requested-With") == "XMLHttpRequest":
            if request.path == "/api/settings":
                connected = self.gate.session(request.client) is not None
                values = {"welcome": "Welcome to Hotel Seeblick", "csrf": token, "connected": connected}
                return self.json(200, values | {"greedy": self.manner("greedy")})
            if request.path == "/api/login" and request.method == "POST":
                return self.login(request, token)
        return Answer(404)

    def login(self, request: Request, token: str) -> Answer:
        own = request.headers.get("Origin") == f"https://{HOST}" and request.headers.get("X-CSRF-Token") == token
        if not own or request.field("terms") != "True":
            return self.json(400, {"ok": False, "error": "Bad request"}, "no request of the page")
        room = request.field("room")
        if not room or GUESTS.get(room, "").casefold() != request.field("surname").casefold():
            return self.json(403, {"ok": False, "error": WRONG}, "wrong")
        self.gate.admit(request.client, SESSION_SECONDS)
        return self.json(200, {"ok": True}, "right")

    def json(self, status: int, value: dict, remark: str | None = None) -> Answer:
        answer = Answer(status, json.dumps(value), "application/json", Cache_Control="no-store")
        answer.remark = remark
        return answer


if __name__ == "__main__":
    options = arguments("port", "manners")
    portal, transcript = AppPortal(options.manners), Transcript(options.transcript, "app")
    # A test's threads block all signals, and what they start inherits that.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    signal.signal(signal.SIGUSR1, lambda *_: [portal.gate.expel(client) for client in list(portal.gate.sessions)])
    serve(
        [
            AppServer(int(options.port), portal.intercept, transcript),
            AppServer(int(options.port) + 1000, portal.answer, transcript, (options.certificate, options.key)),
        ],
        options.ready,
    )
