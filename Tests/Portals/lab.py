"""The lab: one client over a cable, a gateway that answers in place of the Internet until a login, and an Internet behind it.

Gateway, portals and Internet are threads of this process, which sits in private namespaces: every address and port arrives
here, and the address that the client meant says which of the three answers. The client is a network namespace of its own.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Cafe"))
import names
import portal_base
from basics import RUN, run, waitFor
from portal_base import Answer, Server

CLIENT, GATEWAY, NAMESERVER, LINK = "10.20.0.50", "10.20.0.1", "10.20.0.1", "net0"
# Where names of the Internet lead, and those of portals outside the gateway.
INTERNET, OUTSIDE = "198.51.100.4", "203.0.113.80"
CLIENT_MAC, GATEWAY_MAC = "02:00:00:00:20:50", "02:00:00:00:20:01"
PROBE = ("http://connectivitycheck.gstatic.com/generate_204", "204")
# What the usual endpoints of a probe answer without a portal: host and path, status, body.
ENDPOINTS = {
    "connectivitycheck.gstatic.com/generate_204": (204, ""), "www.gstatic.com/generate_204": (204, ""),
    "detectportal.firefox.com/success.txt": (200, "success\n"),
    "nmcheck.gnome.org/check_network_status.txt": (200, "NetworkManager is online\n"),
    # Where the portals of the lab send a guest after the login.
    "example.org/": (200, "A page of the Internet.\n"),
}


class Request(portal_base.Request):
    """One request, with everything that a strict portal may look at."""

    def __init__(self, handler: portal_base.Handler, body: bytes):
        super().__init__(handler, body)
        self.body, self.form, self.args = body, dict(self.fields), dict(self.query)
        self.host = self.headers.get("Host", "").split(":")[0]
        self.to, self.port = handler.connection.getsockname()[:2]
        self.agent, self.target = self.headers.get("User-Agent", ""), handler.path

    def json(self) -> dict:
        """The body's object; an empty one if it is none, or not labelled as JSON."""
        try:
            value = json.loads(self.body) if "json" in self.headers.get("Content-Type", "") else None
        except ValueError:
            value = None
        return value if isinstance(value, dict) else {}


@dataclasses.dataclass
class Entry:
    """One request in the transcript. `part`: internet, gateway (in place of the Internet), or portal."""

    part: str
    method: str
    url: str
    headers: list[tuple[str, str]]
    body: str
    answer: Answer | None

    def says(self, text: str) -> bool:
        return text in self.url or text in self.body or any(text in value for _, value in self.headers)


@dataclasses.dataclass
class Scenario:
    """One visit. `expects`: logged in, refused (and the user is told `text`), handed over (to a browser, nothing sent), failed, or any."""

    name: str
    expects: str = "logged in"
    # What the guest would type: user, password, code, room, surname, name, email, phone, or a field's own name.
    user: dict[str, str] = dataclasses.field(default_factory=dict)
    # How the portal is set up.
    options: dict = dataclasses.field(default_factory=dict)
    text: str = ""
    # What the guest types instead once `text` was told; the visit goes on from there.
    corrected: dict[str, str] = dataclasses.field(default_factory=dict)
    # The fewest requests to the portal with which a client that knows it is in, its page included.
    fewest: int = 0
    # What no request may show, and what no answer of a helper may say.
    never: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()
    # The seconds that the portal tells, and whether it knows a logoff.
    seconds: int | None = None
    logoff: bool = False
    # The gate opens this long after the login.
    delay: float = 0
    # The login succeeds and its answer is lost.
    mute: bool = False


class Product:
    """A portal. A subclass answers for the gateway (`intercept`) and for its own pages (`answer`)."""

    # Names that lead to the gateway, addresses of its own, and the ports beside 80 and 443: http or https.
    gatewayNames: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    ports: dict[int, str] = {}
    portalAPI: str | None = None
    ssid = "Lab"
    scenarios: list[Scenario] = []
    # Visits that do not end yet as a guest would wish.
    gaps: list[Scenario] = []

    def __init__(self, lab: Lab, scenario: Scenario):
        self.lab, self.scenario, self.options = lab, scenario, scenario.options
        self.begin()

    def begin(self) -> None:
        """Sets up the state of one visit."""

    def intercept(self, request: Request) -> Answer | None:
        raise NotImplementedError

    def answer(self, request: Request) -> Answer | None:
        raise NotImplementedError

    def asked(self) -> None:
        """The guest is asked, and has not answered yet."""

    def admit(self) -> None:
        self.lab.admit(self.scenario.delay)

    def expel(self) -> None:
        self.lab.opensAt = None

    @property
    def isOpen(self) -> bool:
        return self.lab.opensAt is not None


class Certificates:
    """A TLS context for each name that a client asks for, made when it is asked for."""

    def __init__(self, folder: pathlib.Path):
        self.folder, self.contexts, self.lock = folder, {}, threading.Lock()
        names.newAuthority(folder)

    def context(self, name: str) -> ssl.SSLContext:
        with self.lock:
            if name not in self.contexts:
                kind = "IP" if name.replace(".", "").isdigit() else "DNS"
                names.issue(self.folder, name, f"{kind}:{name}")
                context = self.contexts[name] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(self.folder / f"{name}.pem", self.folder / f"{name}.key")
                context.sni_callback = self.choose
            return self.contexts[name]

    def choose(self, connection: ssl.SSLObject, name: str | None, _) -> None:
        if name:
            connection.context = self.context(name)


class LabServer(Server):
    """One port, for every address."""

    requestType = Request

    def __init__(self, lab: Lab, port: int, secure: bool):
        super().__init__(port, lab.answer, lab)
        self.lab, self.secure = lab, secure

    def process_request_thread(self, request: socket.socket, address) -> None:
        target = request.getsockname()[0]
        if not self.lab.accepts(target, self.server_port):
            # A gateway that is closed rejects with a reset.
            request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return request.close()
        if self.secure:
            request.settimeout(15)
            try:
                request = self.lab.certificates().context(target).wrap_socket(request, server_side=True)
            except (OSError, ssl.SSLError):
                return request.close()
        super().process_request_thread(request, address)


class Lab:
    def __init__(self) -> None:
        self.product: Product | None = None
        self.opensAt: float | None = None
        self.entries: list[Entry] = []
        self.errors: list[str] = []
        self.extra: list[LabServer] = []
        self.processes: list[subprocess.Popen] = []

    # MARK: Ground

    def build(self, products: list[type[Product]]) -> None:
        run("mount", "-t", "tmpfs", "-o", "mode=755", "run", "/run")
        RUN.mkdir()
        bundle = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
        authorities = bundle.read_bytes()
        run("mount", "-t", "tmpfs", "-o", "mode=755", "private", str(bundle.parent))
        bundle.write_bytes(authorities)
        self.trusted, self.untrusted = Certificates(RUN / "tls"), Certificates(RUN / "untrusted")
        names.trust(RUN / "tls")
        self.makeLink()
        lines = ["interface=socket", f"address=/#/{OUTSIDE}"]
        lines += [f"address=/{host.split('/')[0]}/{INTERNET}" for host in ENDPOINTS]
        lines += [f"address=/{name}/{GATEWAY}" for product in products for name in product.gatewayNames]
        log = open(RUN / "names.log", "wb")
        self.processes.append(subprocess.Popen(names.dnsmasqCommand("names", lines), stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        for port, secure in ((80, False), (443, True)):
            self.listen(port, secure)
        waitFor(lambda: f":{53:04X}" in pathlib.Path("/proc/net/udp").read_text(), 10, "the nameserver")

    def makeLink(self) -> None:
        pathlib.Path("/run/netns").mkdir()
        run("ip", "netns", "add", "cli")
        run("ip", "link", "set", "lo", "up")
        run("ip", "-n", "cli", "link", "set", "lo", "up")
        run("ip", "link", "add", "socket", "address", GATEWAY_MAC, "type", "veth", "peer", "name", LINK, "address", CLIENT_MAC, "netns", "cli")
        run("ip", "address", "add", f"{GATEWAY}/24", "dev", "socket")
        run("ip", "link", "set", "socket", "up")
        run("ip", "-n", "cli", "address", "add", f"{CLIENT}/24", "dev", LINK)
        run("ip", "-n", "cli", "link", "set", LINK, "up")
        run("ip", "-n", "cli", "route", "add", "default", "via", GATEWAY)
        # Every address beyond the cable is one of ours.
        run("ip", "route", "add", "local", "default", "dev", "lo")

    def listen(self, port: int, secure: bool) -> LabServer:
        server = LabServer(self, port, secure)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return server

    def begin(self, kind: type[Product], scenario: Scenario) -> None:
        """Another visit: the gate is closed, and the transcript is empty."""
        for server in self.extra:
            server.shutdown()
            server.server_close()
        self.product, self.opensAt, self.entries, self.errors = kind(self, scenario), None, [], []
        self.extra = [self.listen(port, scheme == "https") for port, scheme in kind.ports.items()]

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()

    # MARK: Traffic

    @property
    def isOpen(self) -> bool:
        return self.opensAt is not None and time.monotonic() >= self.opensAt

    def admit(self, delay: float) -> None:
        self.opensAt = time.monotonic() + delay

    def certificates(self) -> Certificates:
        return self.untrusted if self.product.options.get("untrusted") else self.trusted

    def isPortal(self, address: str) -> bool:
        return address in (GATEWAY, OUTSIDE) or address in self.product.addresses

    def accepts(self, address: str, port: int) -> bool:
        return self.isPortal(address) or self.isOpen or port == 80

    def answer(self, request: Request) -> Answer | None:
        wasOpen = self.opensAt is not None
        try:
            if self.isPortal(request.to):
                answer = self.product.answer(request)
            else:
                answer = internet(request) if self.isOpen else self.product.intercept(request)
        except Exception:
            self.errors.append(traceback.format_exc())
            answer = Answer(500, "the emulator failed")
        return None if self.product.scenario.mute and not wasOpen and self.opensAt is not None else answer

    def record(self, request: Request, answer: Answer | None) -> None:
        part = "portal" if self.isPortal(request.to) else "internet" if self.isOpen else "gateway"
        headers = list(request.headers.items())
        self.entries.append(Entry(part, request.method, request.url, headers, request.body.decode("utf-8", "replace"), answer))

    def portalEntries(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.part == "portal"]


def internet(request: Request) -> Answer:
    if request.host == "1.1.1.1":
        return Answer(301, Location="https://1.1.1.1/")
    status, body = ENDPOINTS.get(request.host + request.path, (404, "Nothing here."))
    return Answer(status, body, "text/plain")


def enterPrivate(script: str, arguments: list[str], lifeline) -> int:
    """Runs the script again in namespaces of its own, which end with it."""
    words = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        words += ["--user", "--map-root-user"]
    return subprocess.run([*words, sys.executable, "-B", script, "--inside", *arguments], stdin=lifeline).returncode
