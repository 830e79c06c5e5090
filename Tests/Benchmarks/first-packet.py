#!/usr/bin/python3
"""How long from the kernel's word of a route to the first packet of the probe, by part, and the processor time that it takes.

    Tests/Benchmarks/first-packet.py [--bin .build/release] [--rounds 20]

Needs root: the daemon runs in a network namespace of its own, on a cable whose other end is a gateway that answers for its address and
for nothing else. The last event before a join is the route; the address comes just before it. On a busy machine this script itself hears of the route late.
"""

import argparse
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

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
RTMGRP_IPV4_ROUTE, RTM_NEWROUTE = 0x40, 24


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
    return sum(int(path.read_text().split()[0]) for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e6


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
            "[Interfaces]\nMatch=cable0\nManageEthernet=yes\n[Probe]\nNameservers=192.0.2.1\n"
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


def join(laptop: Laptop, round: int, capture: socket.socket) -> tuple[float, float, float, float]:
    """Milliseconds from the route until the first helper is asked, until all are, and until the first packet of the probe; processor time."""
    cable("ip addr flush dev cable0")
    while laptop.state() != "inactive":
        time.sleep(0.01)
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
    cable(f"ip addr add {address}/24 dev cable0; ip route add default via 192.0.2.1")
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
    asked = None
    while True:
        step = monitor.next()["parameters"]["step"]
        if step["kind"] == "command":
            asked = asked or step["time"]
        # The transition is the last thing of that turn of the loop; the helpers are asked before.
        if step["kind"] == "transition" and step["to"] == "evaluating":
            break
    monitor.close()
    route.join()
    return asked - route.at * 1000, step["time"] - route.at * 1000, (packet - route.at) * 1000, daemon


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(".build/release"))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not enter(options):
        return
    with gateway():
        capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        capture.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
        capture.bind(("cable0", 3))
        laptop = Laptop(options.bin)
        try:
            times = [join(laptop, round, capture) for round in range(options.rounds)]
        finally:
            laptop.close()
        print(f"from the route to the first packet, {options.rounds} joins (milliseconds: median, best, worst):")
        for name, column in zip(("the first helper is asked", "all are asked", "the first packet", "processor time of hotspotd"), zip(*times)):
            print(f"  {statistics.median(column):6.1f} {min(column):6.1f} {max(column):6.1f}  {name}")


if __name__ == "__main__":
    main()
