"""Hotel Lindenhof's portal: HTTPS, room number, surname and terms, and the RFC 8908 API that DHCP announces.

SIGUSR1 ends all sessions.
"""

import html
import json
import secrets
import signal
import threading
import urllib.parse

from portal_base import Answer, Gate, Request, Server, Transcript, arguments, page, serve

HOST = "portal.lindenhof.example"
GUESTS = {"214": "Brandt", "7": "Okonkwo"}
SESSION_SECONDS = 7200

TERMS = """<p>Terms of use, version 3. Be kind to other guests. We keep no record of the pages that you read.
The connection ends after two hours; you may start it again as often as you like.</p>"""


class HotelPortal:
    def __init__(self) -> None:
        self.gate = Gate("hotel")
        # Cookie to form token; each page has a token of its own, so that an old page cannot be sent twice.
        self.visits: dict[str, str] = {}
        self.lock = threading.Lock()

    def intercept(self, request: Request) -> Answer:
        """Port 80 of clients that are not admitted."""
        if self.gate.session(request.client):
            return Answer(302, Location=f"https://{HOST}/done")
        target = f"https://{HOST}/welcome?" + urllib.parse.urlencode({"url": request.url})
        body = f'<html><body>Please <a href="{html.escape(target)}">sign in</a>.</body></html>\n'
        return Answer(302, body, Location=target, Cache_Control="no-store")

    def answer(self, request: Request) -> Answer:
        routes = {
            ("GET", "/"): self.welcome, ("GET", "/welcome"): self.welcome, ("POST", "/login"): self.login,
            ("GET", "/done"): self.done, ("GET", "/logout"): self.logout, ("GET", "/captive-portal/api"): self.api,
        }
        if (request.method, request.path) == ("GET", "/terms"):
            return page("Terms of use", TERMS)
        if (request.method, request.path) == ("GET", "/house"):
            return page("Hotel Lindenhof", "<p>Breakfast from seven.</p>")
        route = routes.get((request.method, request.path))
        return route(request) if route else Answer(404, "<p>No such page.</p>")

    def welcome(self, request: Request) -> Answer:
        if self.gate.session(request.client):
            return self.done(request)
        return self.form(request.argument("url"), "")

    def form(self, url: str, error: str) -> Answer:
        visit, token = secrets.token_hex(12), secrets.token_hex(16)
        with self.lock:
            self.visits[visit] = token
            while len(self.visits) > 1000:
                self.visits.pop(next(iter(self.visits)))
        notice = f'<p class="error" role="alert">{html.escape(error)}</p>\n' if error else ""
        body = f"""{notice}<p>Free Wi-Fi for our guests.</p>
<form method="post" action="/login?lang=en">
<input type="hidden" name="csrf" value="{token}">
<input type="hidden" name="url" value="{html.escape(url, quote=True)}">
<p><label for="room">Room number</label> <input type="text" id="room" name="room" required></p>
<p><label for="surname">Surname</label> <input type="text" id="surname" name="surname" required></p>
<p><input type="checkbox" id="terms" name="terms" value="yes" required>
<label for="terms">I accept the <a href="/terms">terms of use</a></label></p>
<p><button type="submit" name="go" value="connect">Connect</button></p>
</form>"""
        return page("Hotel Lindenhof", body, Set_Cookie=f"visit={visit}; Path=/; Secure; HttpOnly; SameSite=Lax")

    def login(self, request: Request) -> Answer:
        with self.lock:
            expected = self.visits.pop(request.cookie("visit"), None)
        if expected is None or not secrets.compare_digest(expected.encode(), request.field("csrf").encode()):
            answer = Answer(403, "<h1>This page is out of date</h1><p>Please start again.</p>")
            answer.remark = "stale form"
            return answer
        url, room = request.field("url"), request.field("room").strip()
        if request.field("terms") != "yes":
            answer = self.form(url, "Please accept the terms of use.")
            answer.remark = "terms not accepted"
        elif not room or GUESTS.get(room, "").casefold() != request.field("surname").strip().casefold():
            answer = self.form(url, "Room number and surname do not match our guest list.")
            answer.remark = "wrong"
        else:
            self.gate.admit(request.client, SESSION_SECONDS)
            answer = Answer(303, Location="/done", Cache_Control="no-store")
            answer.remark = "right"
        return answer

    def done(self, request: Request) -> Answer:
        session = self.gate.session(request.client)
        if not session:
            return Answer(302, Location="/welcome", Cache_Control="no-store")
        return page(
            "You are connected",
            f'<p>{session.remaining() // 60} minutes left.</p>\n<p><a id="logout" href="/logout">Log out</a></p>',
        )

    def logout(self, request: Request) -> Answer:
        answer = page("You are disconnected", '<p><a href="/welcome">Connect again</a></p>')
        answer.remark = "logged out" if self.gate.expel(request.client) else "was not logged in"
        return answer

    def api(self, request: Request) -> Answer:
        session = self.gate.session(request.client)
        document: dict[str, object] = {
            "captive": session is None,
            "user-portal-url": f"https://{HOST}/welcome",
            "venue-info-url": f"https://{HOST}/house",
            "can-extend-session": True,
        }
        if session:
            document["seconds-remaining"] = session.remaining()
        return Answer(200, json.dumps(document), "application/captive+json", Cache_Control="private")


if __name__ == "__main__":
    options = arguments("port", "faults", "untrusted")
    portal, transcript = HotelPortal(), Transcript(options.transcript, "hotel")
    tls = (options.certificate, options.key)
    # A test's threads block all signals, and what they start inherits that.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    signal.signal(signal.SIGUSR1, lambda *_: [portal.gate.expel(client) for client in list(portal.gate.sessions)])
    # The portal's own pages answer on an address of their own; one server for both would need the destination.
    serve(
        [
            Server(int(options.port), portal.intercept, transcript, hostile=options),
            Server(int(options.port) + 1000, portal.answer, transcript, tls, hostile=options),
        ],
        options.ready,
    )
