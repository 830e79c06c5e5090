"""A cable with a length: two TAP devices, and between them each packet is late by the same time in each direction.

The kernel of a test machine may have no netem. Address resolution and DHCP are not delayed, so that a trip is
one of the protocols above.
"""

import fcntl
import heapq
import os
import select
import struct
import threading
import time

import networks
from basics import run
from fabric import Fabric
from station import Cable

TUNSETIFF, TUNSETCARRIER = 0x400454CA, 0x400454E2
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000


class LongCable(Cable):
    """Replaces the laptop's cable. Records when the laptop sent something that waits for an answer."""

    def __init__(self, fabric: Fabric):
        super().__init__(fabric, networks.WIRE)
        # Seconds in each direction.
        self.delay = 0.0
        run("ip", "-n", "cli", "link", "del", networks.WIRE)
        self.laptop, self.wall = (self.device(name, space) for name, space in ((networks.WIRE, "cli"), (networks.SOCKET, "ap")))
        self.record: list[tuple[float, str]] = []
        # Called at the first packet of a visit.
        self.onFirst = lambda: None
        # The laptop's ports of connections that were opened since it was plugged in: older ones still say farewell.
        self.opened: set[bytes] = set()
        self.connect(False)
        threading.Thread(target=self.carry, daemon=True).start()

    def device(self, name: str, space: str) -> int:
        descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
        run("ip", "link", "set", name, "netns", space)
        run("ip", "-n", space, "link", "set", name, "up")
        return descriptor

    def connect(self, isConnected: bool) -> None:
        """A TAP device has a carrier as long as a program holds it, unless it is told otherwise."""
        fcntl.ioctl(self.laptop, TUNSETCARRIER, struct.pack("i", isConnected))

    def attach(self, network: networks.Network) -> None:
        self.record.clear()
        self.opened.clear()
        self.fabric.plug(network)
        self.connect(True)
        # The kernel tells of a carrier at most once a second (linkwatch), and a lease that came first would be one of the link before.
        time.sleep(1.1)

    def detach(self) -> None:
        self.connect(False)
        self.fabric.unplug()

    def carry(self) -> None:
        late: list[tuple[float, int, int, bytes]] = []
        number = 0
        while True:
            wait = max(0.0, late[0][0] - time.monotonic()) if late else 1.0
            for descriptor in select.select([self.laptop, self.wall], [], [], wait)[0]:
                try:
                    frame = os.read(descriptor, 65536)
                except OSError:
                    continue
                target = self.wall if descriptor == self.laptop else self.laptop
                if not isDelayed(frame):
                    self.deliver(target, frame)
                    continue
                if descriptor == self.laptop and (what := question(frame, self.opened)):
                    self.record.append((time.time(), what))
                    if len(self.record) == 1:
                        self.onFirst()
                number += 1
                heapq.heappush(late, (time.monotonic() + self.delay, number, target, frame))
            while late and late[0][0] <= time.monotonic():
                _, _, target, frame = heapq.heappop(late)
                self.deliver(target, frame)

    def deliver(self, target: int, frame: bytes) -> None:
        try:
            os.write(target, frame)
        except OSError:
            # Its device is down.
            pass

    def waves(self, until: float) -> list[tuple[float, list[str]]]:
        """What the laptop sent up to this moment, in waves, each with its beginning: a packet that comes a round trip after the first
        one of a wave, or later, may be due to an answer, and begins the next."""
        waves: list[tuple[float, list[str]]] = []
        for moment, what in list(self.record):
            if moment > until:
                break
            if not waves or moment - waves[-1][0] >= 2 * self.delay:
                waves.append((moment, []))
            waves[-1][1].append(what)
        return waves


def isDelayed(frame: bytes) -> bool:
    if frame[12:14] != b"\x08\x00":
        return False
    start = 14 + (frame[14] & 15) * 4
    return not (frame[23] == 17 and frame[start + 2:start + 4] in (b"\0\x43", b"\0\x44"))


def question(frame: bytes, opened: set[bytes]) -> str | None:
    """What a packet of the laptop asks, or nothing for an acknowledgement, a connection's end, or a datagram without an answer."""
    start = 14 + (frame[14] & 15) * 4
    port = int.from_bytes(frame[start + 2:start + 4], "big")
    if frame[23] == 17:
        return "name " + name(frame[start + 20:]) if port == 53 else None
    if frame[23] != 6:
        return None
    where, own = ".".join(map(str, frame[30:34])) + f":{port}", frame[start:start + 2]
    if frame[start + 13] & 2:
        opened.add(own)
        return f"connect {where}"
    data = frame[start + (frame[start + 12] >> 4) * 4:14 + int.from_bytes(frame[16:18], "big")]
    # A sealed record of two octets is the alert at the end (RFC 8446, section 6.1): 24 octets with head, type and seal.
    if not data or own not in opened or data[0] == 21 or (data[0] == 23 and len(data) == 24):
        return None
    first = data.split(b"\r\n", 1)[0]
    if first.endswith(b"HTTP/1.1"):
        return f"{first.split(b'?')[0].split(b' HTTP')[0].decode('latin-1')} {where}"
    return f"{'hello' if data[0] == 22 else 'sealed' if data[0] in (20, 23) else 'data'} {where}"


def name(question: bytes) -> str:
    labels, at = [], 0
    while at < len(question) and question[at]:
        labels.append(question[at + 1:at + 1 + question[at]].decode("latin-1"))
        at += question[at] + 1
    return ".".join(labels)
