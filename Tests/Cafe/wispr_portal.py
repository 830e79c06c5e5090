"""TrainNet's portal: WISPr 1.0 in the body of the redirect and of every answer, and a page for people.

SIGUSR1 ends all sessions.
"""

import html
import secrets
import signal
import urllib.parse
from xml.sax.saxutils import escape

from portal_base import Answer, Gate, Request, Server, Transcript, arguments, page, serve

HOST = "login.trainnet.example"
ACCOUNTS = {"rider@trainnet.example": "tunnel-vision"}
SESSION_SECONDS = 3600
SCHEMA = "http://www.wballiance.net/wispr/wispr_1_0.xsd"


def document(element: str, *children: tuple[str, str]) -> str:
    """One WISPr document inside an HTML comment, as gateways send it."""
    lines = "".join(f"<{name}>{escape(value)}</{name}>\n" for name, value in children)
    return (
        '<!--\n<?xml version="1.0" encoding="UTF-8"?>\n'
        '<WISPAccessGatewayParam xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"\n'
        f'  xsi:noNamespaceSchemaLocation="{SCHEMA}">\n'
        f"<{element}>\n{lines}</{element}>\n</WISPAccessGatewayParam>\n-->\n"
    )


def smart(title: str, xml: str) -> Answer:
    return page(title, xml)


class WISPrPortal:
    def __init__(self) -> None:
        self.gate = Gate("train")

    def intercept(self, request: Request) -> Answer:
        if self.gate.session(request.client):
            return Answer(302, Location=f"https://{HOST}/portal")
        visit = secrets.token_hex(8)
        xml = document(
            "Redirect",
            ("AccessProcedure", "1.0"),
            ("AccessLocation", "isocc=de,cc=49,ac=30,network=TrainNet"),
            ("LocationName", "TrainNet coach 7"),
            ("LoginURL", f"https://{HOST}/wispr/login?visit={visit}&line=RE1"),
            ("AbortLoginURL", f"https://{HOST}/wispr/abort?visit={visit}"),
            ("MessageType", "100"),
            ("ResponseCode", "0"),
        )
        target = f"https://{HOST}/portal?" + urllib.parse.urlencode({"visit": visit, "url": request.url})
        body = f'<html><body><a href="{html.escape(target)}">Sign in</a>\n{xml}</body></html>\n'
        return Answer(302, body, Location=target, Cache_Control="no-store")

    def answer(self, request: Request) -> Answer:
        routes = {
            ("GET", "/"): self.portal, ("GET", "/portal"): self.portal, ("POST", "/wispr/login"): self.login,
            ("POST", "/portal"): self.portal, ("GET", "/wispr/logoff"): self.logoff, ("GET", "/wispr/abort"): self.abort,
        }
        route = routes.get((request.method, request.path))
        if route:
            return route(request)
        return Answer(405 if request.path == "/wispr/login" else 404, "<p>Not this way.</p>")

    def admitted(self, request: Request) -> bool:
        wanted = ACCOUNTS.get(request.field("UserName"))
        right = wanted is not None and secrets.compare_digest(wanted.encode(), request.field("Password").encode())
        if right:
            self.gate.admit(request.client, SESSION_SECONDS)
        return right

    def login(self, request: Request) -> Answer:
        if not request.argument("visit"):
            answer = smart("Error", document("AuthenticationReply", ("MessageType", "120"), ("ResponseCode", "255")))
        elif self.admitted(request):
            session = self.gate.session(request.client)
            answer = smart(
                "Welcome aboard",
                document(
                    "AuthenticationReply",
                    ("MessageType", "120"),
                    ("ResponseCode", "50"),
                    ("ReplyMessage", "Welcome aboard"),
                    ("LogoffURL", f"https://{HOST}/wispr/logoff?token={session.token}"),
                ),
            )
            answer.remark = "right"
        else:
            answer = smart(
                "Not accepted",
                document(
                    "AuthenticationReply",
                    ("MessageType", "120"),
                    ("ResponseCode", "100"),
                    ("ReplyMessage", "User name or password is wrong"),
                ),
            )
            answer.remark = "wrong"
        return answer

    def logoff(self, request: Request) -> Answer:
        session = self.gate.session(request.client)
        good = session is not None and secrets.compare_digest(session.token.encode(), request.argument("token").encode())
        if good:
            self.gate.expel(request.client)
        # MessageType 130 is the LogoffReply; 150 says done, 255 that there was no such session.
        answer = smart("Goodbye", document("LogoffReply", ("MessageType", "130"), ("ResponseCode", "150" if good else "255")))
        answer.remark = "logged out" if good else "was not logged in"
        return answer

    def abort(self, request: Request) -> Answer:
        return smart("Cancelled", document("AbortLoginReply", ("MessageType", "150"), ("ResponseCode", "151")))

    def portal(self, request: Request) -> Answer:
        """The page for people without a WISPr client."""
        if request.method == "POST" and not self.admitted(request):
            notice = '<p class="error">User name or password is wrong.</p>\n'
        else:
            notice = ""
        session = self.gate.session(request.client)
        if session:
            return page("You are on board", f'<p><a href="/wispr/logoff?token={session.token}">Log out</a></p>')
        return page(
            "TrainNet",
            f'{notice}<form method="post" action="/portal">\n<p><label>User name <input name="UserName"></label></p>\n'
            '<p><label>Password <input type="password" name="Password"></label></p>\n'
            '<p><button type="submit">Sign in</button></p>\n</form>',
        )


if __name__ == "__main__":
    options = arguments("port", "faults", "untrusted")
    portal, transcript = WISPrPortal(), Transcript(options.transcript, "train")
    # A test's threads block all signals, and what they start inherits that.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    signal.signal(signal.SIGUSR1, lambda *_: [portal.gate.expel(client) for client in list(portal.gate.sessions)])
    serve(
        [
            Server(int(options.port), portal.intercept, transcript, hostile=options),
            Server(int(options.port) + 1000, portal.answer, transcript, (options.certificate, options.key), hostile=options),
        ],
        options.ready,
    )
