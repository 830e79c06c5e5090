"""A portal that is only script, over plain HTTP: its page has no form, fetches a token, and logs in with JSON until it is let in.

It lets no client in before the file `--door` is there. SIGUSR1 ends all sessions.
"""

import json
import pathlib
import secrets
import signal

from portal_base import Answer, Gate, Request, Server, Transcript, arguments, page, serve

HOST = "wlan.pension-ida.example"
SESSION_SECONDS = 7200
SCRIPT = """<p id="state">One moment.</p>
<script>
async function enter() {
  const { token } = await (await fetch("/api/token")).json();
  const answer = await fetch("/api/login", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token, accept: true }),
  });
  if (answer.ok) document.getElementById("state").textContent = "You are connected.";
  else setTimeout(enter, 200);
}
enter();
</script>"""


class ScriptPortal:
    def __init__(self, door: str):
        self.gate, self.door, self.tokens = Gate("free"), pathlib.Path(door), set()

    def answer(self, request: Request) -> Answer:
        if request.headers.get("Host") != HOST:
            return Answer(302, Location=f"http://{HOST}/", Cache_Control="no-store")
        if request.path == "/api/token":
            token = secrets.token_hex(8)
            self.tokens.add(token)
            return self.json(200, {"token": token})
        if request.path == "/api/login" and request.method == "POST":
            return self.login(request)
        return page("Pension Ida", SCRIPT) if request.path == "/" else Answer(404, "<p>No such page.</p>")

    def login(self, request: Request) -> Answer:
        try:
            said = json.loads(request.body)
            isRight = said["accept"] is True and said["token"] in self.tokens
        except (ValueError, KeyError, TypeError):
            isRight = False
        if not isRight:
            return self.json(400, {"error": "no token"})
        self.tokens.discard(said["token"])
        if not self.door.exists():
            return self.json(403, {"error": "not yet"})
        self.gate.admit(request.client, SESSION_SECONDS)
        return self.json(200, {"state": "in"})

    def json(self, status: int, value: dict) -> Answer:
        return Answer(status, json.dumps(value), "application/json", Cache_Control="no-store")


if __name__ == "__main__":
    options = arguments("port", "door")
    portal = ScriptPortal(options.door)
    # A test's threads block all signals, and what they start inherits that.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    signal.signal(signal.SIGUSR1, lambda *_: [portal.gate.expel(client) for client in list(portal.gate.sessions)])
    serve([Server(int(options.port), portal.answer, Transcript(options.transcript, "script"))], options.ready)
