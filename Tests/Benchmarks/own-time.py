#!/usr/bin/python3
"""What a first visit takes of hotspotd's own time, on a cable without delay: from the kernel's word of a route to the first packet of the
probe, by part, and from there to online, beside a script that sends the same requests to the same portal one after the other.

    Tests/Benchmarks/own-time.py [--bin .build/release] [--rounds 20]

Needs root: the daemon runs in a network namespace of its own, on a cable whose other end is a gateway with a portal: one button, no
question. The gateway has another hardware address in each round, so that each visit is the first. The last event before a join is the
route; the address comes just before it. On a busy machine this script itself hears of the route late.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
from helpers import Stream, cable, enter, gateway

GATEWAY = "192.0.2.1"
PROBED, PORTAL = "probe.example", "portal.example"
PAGE = (b"<html><title>Cafe</title><body><h1>Free Wi-Fi</h1><form method=post action=/login><input type=hidden name=zone value=1>"
        b"<input type=submit name=go value='Connect'></form></body></html>")
CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
RTMGRP_IPV4_ROUTE, RTM_NEWROUTE = 0x40, 24


class Portal:
    """Runs in the gateway's namespace: a nameserver whose every name is this gateway, and a web server that redirects until the login."""

    def __init__(self, asks: bool = False):
        self.isOpen = False
        self.page = PAGE.replace(b"<input type=submit", b"<label>Room number <input name=room></label><input type=submit") if asks else PAGE
        self.names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.names.bind((GATEWAY, 53))
        self.web = socket.create_server((GATEWAY, 80), backlog=64)
        threading.Thread(target=self.answerNames, daemon=True).start()
        print("ready", flush=True)
        # A line on standard input begins a round.
        threading.Thread(target=self.accept, daemon=True).start()
        for _ in sys.stdin:
            self.isOpen = False
            print("captive", flush=True)

    def answerNames(self) -> None:
        while True:
            query, sender = self.names.recvfrom(512)
            question = query[12:query.index(b"\0", 12) + 5]
            isA = question[-4:-2] == b"\0\1"
            answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton(GATEWAY) if isA else b""
            self.names.sendto(query[:2] + struct.pack("!HHHHH", 0x8180, 1, int(isA), 0, 0) + question + answer, sender)

    def accept(self) -> None:
        while True:
            connection, _ = self.web.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while (request := readMessage(connection)):
                    connection.sendall(self.reply(request))
            except OSError:
                pass

    def reply(self, request: bytes) -> bytes:
        def message(status: str, body: bytes = b"", more: str = "") -> bytes:
            return f"HTTP/1.1 {status}\r\n{more}Content-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body

        if f"host: {PORTAL}".encode() in request.lower():
            if request.startswith(b"POST"):
                self.isOpen = True
                return message("200 OK", b"<html><body>You are connected.</body></html>")
            return message("200 OK", self.page)
        if self.isOpen:
            return b"HTTP/1.1 204 No Content\r\n\r\n"
        return message("302 Found", more=f"Location: http://{PORTAL}/\r\n")


def readMessage(connection: socket.socket) -> bytes:
    """Reads a request or a reply with its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (chunk := connection.recv(65536)):
            return b""
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    while lengths and len(body) < int(lengths[0].split(b":")[1]):
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def plainSequence() -> float:
    """Milliseconds of the plain sequence: name, probe, name, page, login, proof with a new connection."""
    def ask(name: str) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as query:
            labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
            query.sendto(b"\0\1\1\0\0\1\0\0\0\0\0\0" + labels + b"\0\0\1\0\1", (GATEWAY, 53))
            query.recv(512)

    def fetch(connection: socket.socket, host: str, request: str = "GET /", body: str = "") -> bytes:
        connection.sendall(f"{request} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        return readMessage(connection)

    begin = time.perf_counter()
    ask(PROBED)
    with socket.create_connection((GATEWAY, 80)) as probe:
        assert b"302" in fetch(probe, PROBED)
    ask(PORTAL)
    with socket.create_connection((GATEWAY, 80)) as portal:
        assert b"form" in fetch(portal, PORTAL)
        assert b"200" in fetch(portal, PORTAL, "POST /login", "zone=1&go=Connect")
    with socket.create_connection((GATEWAY, 80)) as proof:
        assert b"204" in fetch(proof, PROBED)
    return (time.perf_counter() - begin) * 1000


class Route(threading.Thread):
    """The moment at which the kernel tells of the default route."""

    def __init__(self):
        super().__init__(daemon=True)
        self.netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self.netlink.bind((0, RTMGRP_IPV4_ROUTE))
        self.at = None
        self.start()

    def run(self) -> None:
        while self.at is None:
            message = self.netlink.recv(65536)
            now = time.time()
            # Of a default route the destination's length, the octet after the family, is 0.
            if struct.unpack_from("=H", message, 4)[0] == RTM_NEWROUTE and message[17] == 0:
                self.at = now


def used(pid: int) -> float:
    """Processor time of a process in milliseconds."""
    total = 0
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        # A thread can end before its file is read.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            total += int(path.read_text().split()[0])
    return total / 1e6


class Laptop:
    def __init__(self, binaries: pathlib.Path):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hotspotd-bench-"))
        os.chmod(self.folder, 0o755)
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        for program in ("hotspotd", "hotspot-helpers"):
            shutil.copy(binaries / program, self.programs / program)
        helpers = self.folder / "helpers"
        helpers.mkdir(mode=0o755)
        for file in (CHECKOUT / "Sources/hotspot-helpers/Helpers").glob("*.helper"):
            (helpers / file.name).write_text(file.read_text().replace("@libexecdir@", str(self.programs)))
        settings = self.folder / "hotspotd.conf"
        settings.write_text(
            f"[Daemon]\nStateDirectory={self.folder}/state\nRuntimeDirectory={self.folder}/run\nHelperDirectories={helpers}\n"
            f"[Interfaces]\nMatch=cable0\nManageEthernet=yes\n[Probe]\nURL=http://{PROBED}/generate_204\nHTTPSURL=\nNameservers={GATEWAY}\n"
        )
        self.path = f"{self.folder}/run/org.hotspotd.Control"
        self.process = subprocess.Popen([self.programs / "hotspotd", "--settings", settings], stderr=subprocess.DEVNULL)
        while not os.path.exists(self.path):
            time.sleep(0.01)

    def open(self, method: str, more: bool = False) -> Stream:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.path)
        connection.sendall(json.dumps({"method": f"org.hotspotd.Control.{method}", "parameters": {}, "more": more}).encode() + b"\0")
        return Stream(connection)

    def state(self) -> str:
        stream = self.open("Status")
        try:
            return stream.next()["parameters"]["interfaces"][0]["state"]
        finally:
            stream.close()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def visit(laptop: Laptop, round: int, capture: socket.socket, beginRound) -> tuple[float, ...]:
    """Milliseconds from the route until the first helper is asked, until all are, and until the first packet of the probe; the daemon's
    processor time until then; milliseconds from that packet until online, and of the plain sequence beside it."""
    cable("ip addr flush dev cable0")
    while laptop.state() != "inactive":
        time.sleep(0.01)
    beginRound(round)
    time.sleep(0.3)
    monitor = laptop.open("Monitor", more=True)
    laptop.state()
    capture.setblocking(False)
    try:
        while capture.recv(2048):
            pass
    except BlockingIOError:
        pass
    capture.setblocking(True)
    address = f"192.0.2.{2 + round % 200}"
    before = used(laptop.process.pid)
    route = Route()
    cable(f"ip addr add {address}/24 dev cable0; ip route add default via {GATEWAY}")
    while True:
        data, control, _, origin = capture.recvmsg(2048, 128)
        # Sent, IPv4, and for a name or a web server; the network itself is asked for its portal's API too, which is no part of this.
        # Of a former address nothing counts.
        isOwn = data[26:30] == socket.inet_aton(address)
        isAsked = isOwn and origin[2] == socket.PACKET_OUTGOING and data[12:14] == b"\x08\x00" and data[23] in (6, 17)
        if isAsked and struct.unpack_from("!H", data, 36)[0] in (53, 80, 443):
            seconds, nanoseconds = struct.unpack("=qq", control[0][2])
            packet = seconds + nanoseconds / 1e9
            break
    daemon = used(laptop.process.pid) - before
    asked, evaluating = None, None
    while True:
        step = monitor.next()["parameters"]["step"]
        if step["kind"] == "command":
            asked = asked or step["time"]
        # The transition is the last thing of that turn of the loop; the helpers are asked before.
        if step["kind"] == "transition":
            evaluating = step["time"] if step["to"] == "evaluating" else evaluating
            if step["to"] == "authenticated":
                break
    online = step["time"] / 1000
    monitor.close()
    route.join()
    beginRound(round)
    plain = plainSequence()
    return asked - route.at * 1000, evaluating - route.at * 1000, (packet - route.at) * 1000, daemon, (online - packet) * 1000, plain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(".build/release"))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--portal", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--asks", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.portal:
        return Portal(options.asks)
    if not enter(options):
        return
    with gateway() as holder:
        inside = ["nsenter", f"--net=/proc/{holder.pid}/ns/net"]
        portal = subprocess.Popen(
            [*inside, sys.executable, __file__, "--portal"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        portal.stdout.readline()

        def beginRound(number: int) -> None:
            subprocess.run([*inside, "ip", "link", "set", "cable1", "address", f"02:00:00:00:00:{number + 1:02x}"], check=True)
            subprocess.run(["ip", "neigh", "flush", "dev", "cable0"], check=True)
            portal.stdin.write("\n")
            portal.stdout.readline()

        capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        capture.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
        capture.bind(("cable0", 3))
        laptop = Laptop(options.bin)
        try:
            # The first visit reads files that are in memory from then on.
            times = [visit(laptop, round, capture, beginRound) for round in range(options.rounds + 1)][1:]
        finally:
            laptop.close()
            portal.kill()
            portal.wait()
        print(f"{options.rounds} first visits without delay (milliseconds: median, best, worst):")
        names = ("from the route until the first helper is asked", "until all are asked", "until the first packet",
                 "processor time of hotspotd until then", "from the first packet until online", "the plain sequence, a script")
        columns = list(zip(*times))
        for name, column in zip(names, columns):
            print(f"  {statistics.median(column):6.1f} {min(column):6.1f} {max(column):6.1f}  {name}")
        own = [online - plain for online, plain in zip(*columns[-2:])]
        print(f"  {statistics.median(own):6.1f} {min(own):6.1f} {max(own):6.1f}  more than the script")


if __name__ == "__main__":
    main()
