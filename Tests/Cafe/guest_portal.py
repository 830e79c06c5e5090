"""Pension Ida's portal: room number and surname over plain HTTP, with the manners of the trade.

A refused page keeps what was typed. The gateway may open late, as one does with a slow RADIUS server behind it, the terms may
change, the login may be answered at once instead of by a redirect, and the portal may have an address and no name: the file of its
manners says so, and is read at each request. SIGUSR1 ends all sessions, and makes a file with
the suffix `.ended` afterwards.
"""

import html
import json
import pathlib
import signal
import threading

import networks
from portal_base import Answer, Gate, Request, Server, Transcript, arguments, page, serve

HOST, ADDRESS = networks.FREE.portal, networks.FREE.gateway
GUESTS = {"12": "Ferreira"}
SESSION_SECONDS = 7200


class GuestPortal:
    def __init__(self, manners: str):
        self.gate, self.manners, self.admitting = Gate("free"), pathlib.Path(manners), set()

    def manner(self, name: str, standard: int) -> int:
        try:
            return json.loads(self.manners.read_text()).get(name, standard)
        except (OSError, ValueError):
            return standard

    @property
    def host(self) -> str:
        return ADDRESS if self.manner("address", 0) else HOST

    def answer(self, request: Request) -> Answer:
        if request.headers.get("Host") != self.host:
            return Answer(302, Location=f"http://{self.host}/", Cache_Control="no-store")
        if request.path == "/login" and request.method == "POST":
            return self.login(request)
        if request.path == "/logout":
            answer = page("Goodbye", '<p>You are logged out. <a href="/">Connect again</a></p>')
            answer.remark = "logged out" if self.gate.expel(request.client) else "was not logged in"
            return answer
        if request.path not in ("/", "/done"):
            return Answer(404, "<p>No such page.</p>")
        if self.gate.session(request.client):
            return page("You are connected", '<p>Enjoy your stay. <a href="/logout">Log out</a></p>')
        if request.client in self.admitting:
            return page("One moment", "<p>You are being connected.</p>")
        return self.form("", "", "")

    def form(self, room: str, surname: str, error: str) -> Answer:
        terms = self.manner("terms", 1)
        notice = f'<p class="error" role="alert">{error}</p>\n' if error else ""
        return page("Pension Ida", f"""{notice}<form method="post" action="/login">
<p><label for="room">Room number</label> <input type="text" id="room" name="room" value="{html.escape(room)}" required></p>
<p><label for="surname">Surname</label> <input type="text" id="surname" name="surname" value="{html.escape(surname)}" required></p>
<p><input type="checkbox" id="terms" name="terms" value="yes" required>
<label for="terms">I accept version {terms} of the terms: no noise after ten.</label></p>
<p><button type="submit">Connect</button></p>
</form>""")

    def login(self, request: Request) -> Answer:
        room, surname = request.field("room").strip(), request.field("surname").strip()
        if request.field("terms") != "yes" or GUESTS.get(room, "").casefold() != surname.casefold() or not room:
            answer = self.form(room, surname, "Room number and surname do not match.")
            answer.remark = "wrong"
            return answer
        delay = self.manner("delay", 0)
        if delay > 0:
            self.admitting.add(request.client)
            threading.Timer(delay, self.admit, [request.client]).start()
        else:
            self.gate.admit(request.client, SESSION_SECONDS)
        if self.manner("direct", 0):
            answer = page("You are connected", '<p>Enjoy your stay. <a href="/logout">Log out</a></p>')
        else:
            answer = Answer(303, Location=f"http://{self.host}/done", Cache_Control="no-store")
        answer.remark = "right"
        return answer

    def admit(self, client: str) -> None:
        self.gate.admit(client, SESSION_SECONDS)
        self.admitting.discard(client)


if __name__ == "__main__":
    options = arguments("port", "manners")
    portal = GuestPortal(options.manners)
    # A test's threads block all signals, and what they start inherits that.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})

    def endSessions(*_) -> None:
        for client in list(portal.gate.sessions):
            portal.gate.expel(client)
        pathlib.Path(options.ready).with_suffix(".ended").touch()

    signal.signal(signal.SIGUSR1, endSessions)
    serve([Server(int(options.port), portal.answer, Transcript(options.transcript, "guest"))], options.ready)
