"""What the café's own portals and its Internet side share: a small HTTP(S) server, the transcript, the gate, the faults."""

import argparse
import ctypes
import html
import http.server
import json
import pathlib
import secrets
import socketserver
import ssl
import threading
import time
import urllib.parse

# Values of these fields never reach the transcript, whatever their portal calls them.
# Seconds between two looks at a wish to stop, which a portal never has: each look would wake the virtual laptop up.
POLL = 86400
SECRET_FIELDS = {"room", "surname", "username", "password", "code", "csrf"}


def masked(pairs: list[tuple[str, str]]) -> list[list[str]]:
    """The fields in the order sent; a secret becomes its length."""
    return [[name, f"({len(value)} characters)" if name.lower() in SECRET_FIELDS else value[:200]] for name, value in pairs]


class Transcript:
    """JSON lines, one for each request, for the assertions."""

    def __init__(self, path: str, portal: str):
        self.file, self.portal, self.lock = open(path, "a", buffering=1), portal, threading.Lock()

    def note(self, **entry) -> None:
        with self.lock:
            self.file.write(json.dumps({"time": round(time.time(), 4), "portal": self.portal} | entry) + "\n")

    def record(self, request: "Request", answer: "Answer") -> None:
        self.note(
            client=request.client, method=request.method, url=request.url.split("?")[0], query=masked(request.query),
            fields=masked(request.fields), agent=request.headers.get("User-Agent"), accept=request.headers.get("Accept"),
            status=answer.status, remark=answer.remark,
        )


class Gate:
    """The clients that may pass: a set of client addresses in nftables, changed through libnftables (a new nft process takes
    a third of a second in the virtual laptop, and would be measured as the portal's)."""

    def __init__(self, name: str):
        self.name, self.lock = name, threading.Lock()
        self.sessions: dict[str, "Session"] = {}
        self.library = ctypes.CDLL("libnftables.so.1")
        self.library.nft_ctx_new.restype = ctypes.c_void_p
        self.library.nft_ctx_buffer_error.argtypes = [ctypes.c_void_p]
        self.library.nft_run_cmd_from_buffer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        self.context = self.library.nft_ctx_new(0)
        self.library.nft_ctx_buffer_error(self.context)

    def run(self, command: str) -> None:
        if self.library.nft_run_cmd_from_buffer(self.context, command.encode()) != 0:
            raise RuntimeError(f"the gate refused: {command}")

    def admit(self, address: str, seconds: int) -> "Session":
        with self.lock:
            if address not in self.sessions:
                self.run(f"add element ip {self.name} admitted {{ {address} }}")
            session = self.sessions[address] = Session(seconds)
            return session

    def expel(self, address: str) -> bool:
        with self.lock:
            if self.sessions.pop(address, None) is None:
                return False
            self.run(f"delete element ip {self.name} admitted {{ {address} }}")
            return True

    def session(self, address: str) -> "Session | None":
        return self.sessions.get(address)


class Session:
    def __init__(self, seconds: int):
        self.began, self.seconds, self.token = time.monotonic(), seconds, secrets.token_hex(8)

    def remaining(self) -> int:
        return max(0, int(self.seconds - (time.monotonic() - self.began)))


class Request:
    """One request, read whole; bodies are small here and anything longer is refused."""

    def __init__(self, handler: "Handler", body: bytes):
        parts = urllib.parse.urlsplit(handler.path)
        self.method, self.path, self.query = handler.command, parts.path, urllib.parse.parse_qsl(parts.query, True)
        self.client, self.headers, self.secure = handler.client_address[0], handler.headers, handler.server.secure
        self.body = body
        self.fields = urllib.parse.parse_qsl(body.decode("utf-8", "replace"), True) if body else []
        host = self.headers.get("Host", "")
        self.url = f"{'https' if self.secure else 'http'}://{host}{handler.path}"

    def field(self, name: str) -> str:
        return dict(self.fields).get(name, "")

    def argument(self, name: str) -> str:
        return dict(self.query).get(name, "")

    def cookie(self, name: str) -> str:
        for part in self.headers.get("Cookie", "").split(";"):
            key, _, value = part.strip().partition("=")
            if key == name:
                return value
        return ""


class Answer:
    def __init__(self, status: int, body: str | bytes = "", kind: str = "text/html; charset=utf-8", **headers: str):
        self.status, self.kind, self.headers = status, kind, {k.replace("_", "-"): v for k, v in headers.items()}
        self.body = body.encode() if isinstance(body, str) else body
        self.version, self.phrase = "HTTP/1.1", http.HTTPStatus(status).phrase
        # What the transcript says beside the request, such as whether a login was right.
        self.remark: str | None = None


def page(title: str, body: str, **headers: str) -> Answer:
    text = f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title></head>\n'
    text += f"<body>\n<h1>{html.escape(title)}</h1>\n{body}\n</body></html>\n"
    return Answer(200, text, Cache_Control="no-store", **headers)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 30

    def handle_any(self) -> None:
        try:
            length = int(self.headers.get("Content-Length") or 0)
        except ValueError:
            length = -1
        if not 0 <= length <= 65536:
            self.close_connection = True
            return
        request = self.server.requestType(self, self.rfile.read(length))
        if self.server.faults and self.misbehave(request):
            return
        answer = self.server.answer(request)
        self.server.transcript.record(request, answer)
        if answer is None:
            self.close_connection = True
        else:
            self.reply(answer)

    do_GET = do_POST = do_HEAD = do_PUT = handle_any

    def reply(self, answer: Answer) -> None:
        lines = [f"{answer.version} {answer.status} {answer.phrase}", f"Date: {self.date_time_string()}"]
        headers = dict(answer.headers)
        if answer.status != 204:
            headers |= {"Content-Type": answer.kind, "Content-Length": str(len(answer.body))}
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.close_connection |= headers.get("Connection") == "close"
        body = b"" if self.command == "HEAD" else answer.body
        # One write for head and body: two segments would wait for each other's acknowledgement.
        self.connection.sendall("\r\n".join(lines + ["", ""]).encode("latin-1") + body)

    def misbehave(self, request: Request) -> bool:
        """What a hostile or broken portal does, as the fault switches say."""
        fault = self.server.fault()
        if not fault or fault == "selfSigned":
            return False
        self.server.transcript.note(client=request.client, method=request.method, url=request.url.split("?")[0], fault=fault)
        self.close_connection = True
        if fault in ("hang", "held"):
            # Until the switch is turned: a held request is served then, a hanging one is dropped.
            self.server.waitWhile(fault)
            return fault == "hang"
        if fault == "drip":
            # Always something, never the end of it.
            self.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n")
            for _ in range(1200):
                self.connection.sendall(b"<")
                time.sleep(0.1)
        elif fault == "redirects":
            self.reply(Answer(302, "", Location=f"{request.url.split('?')[0]}?again={secrets.token_hex(4)}"))
        elif fault == "garbage":
            self.connection.sendall(secrets.token_bytes(4096))
        elif fault == "gigabyte":
            self.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1073741824\r\n\r\n")
            for _ in range(16384):
                self.connection.sendall(b"<p>" * 21845 + b"\n")
        elif fault == "status511":
            self.reply(Answer(511))
        # "empty": no answer at all.
        return True

    def log_message(self, *_) -> None:
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64
    requestType = Request

    def __init__(
        self, port: int, answer, transcript: Transcript, tls: tuple[str, str] | None = None,
        hostile: argparse.Namespace | None = None,
    ):
        self.answer, self.transcript, self.secure = answer, transcript, tls is not None
        self.faults = pathlib.Path(hostile.faults) if hostile else None
        self.context = self.contextOf(*tls) if tls else None
        self.untrusted = self.contextOf(hostile.untrusted) if tls and hostile else None
        super().__init__(("", port), Handler)

    def contextOf(self, certificate: str, key: str | None = None) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context

    def fault(self) -> str:
        """The fault switch: one word, and "pages" if the redirect of port 80 is as it should be.
        The file is read each time, so that a test can change its mind."""
        try:
            words = self.faults.read_text().split() if self.faults else []
        except OSError:
            return ""
        return words[0] if words and (self.secure or "pages" not in words) else ""

    def waitWhile(self, fault: str) -> None:
        end = time.monotonic() + 120
        while self.fault() == fault and time.monotonic() < end:
            time.sleep(0.05)

    def server_bind(self) -> None:
        # The original looks its own name up, which has no answer in here and takes seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "portal", self.server_address[1]

    def process_request_thread(self, request, address) -> None:
        # The handshake happens in the connection's own thread: a client that stalls holds up no other.
        if self.context:
            request.settimeout(15)
            try:
                context = self.untrusted if self.fault() == "selfSigned" else self.context
                request = context.wrap_socket(request, server_side=True)
            except (OSError, ssl.SSLError):
                request.close()
                return
        super().process_request_thread(request, address)

    def handle_error(self, *_) -> None:
        # A client that goes away in the middle is everyday life here.
        pass


def arguments(*extra: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for name in ("transcript", "certificate", "key", "ready", *extra):
        parser.add_argument(f"--{name}", required=True)
    return parser.parse_args()


def serve(servers: list[Server], ready: str) -> None:
    """Runs until killed; the file says that the ports are open."""
    for server in servers[1:]:
        threading.Thread(target=server.serve_forever, args=(POLL,), daemon=True).start()
    pathlib.Path(ready).write_text("ready\n")
    servers[0].serve_forever(POLL)
