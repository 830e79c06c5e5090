"""Events of other programs: wpa_supplicant's, and the kernel's for a new address."""

import ctypes
import socket
import sys
import threading
import time

from basics import RUN, Trouble


class WPAEvents:
    """wpa_supplicant's control socket: requests on one, events on another."""

    def __init__(self, path: str, link: str):
        self.asking, self.listening = self.connect(path, f"ask-{link}"), self.connect(path, f"hear-{link}")
        self.listening.send(b"ATTACH")
        self.listening.recv(4096)

    def connect(self, path: str, name: str) -> socket.socket:
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        place = RUN / f"wpa-{name}"
        # Left by the radio's earlier life.
        place.unlink(missing_ok=True)
        channel.bind(str(place))
        channel.connect(path)
        channel.settimeout(15)
        return channel

    def close(self) -> None:
        self.asking.close()
        self.listening.close()

    def request(self, command: str) -> str:
        # What is still unread belongs to the past.
        self.listening.setblocking(False)
        try:
            while self.listening.recv(4096):
                pass
        except BlockingIOError:
            pass
        self.asking.send(command.encode())
        answer = self.asking.recv(65536).decode(errors="replace")
        if answer.startswith("FAIL"):
            raise Trouble(f"wpa_supplicant refused {command}")
        return answer

    def waitFor(self, event: str, seconds: float) -> str:
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Trouble(f"wpa_supplicant: no {event} within {seconds:g} s")
            self.listening.settimeout(left)
            try:
                message = self.listening.recv(65536).decode(errors="replace")
            except TimeoutError:
                continue
            if event in message:
                return message


class Addresses:
    """When the kernel gave the client an address, and a default route: rtnetlink's RTM_NEWADDR and RTM_NEWROUTE, heard inside a namespace."""

    def __init__(self, space: str):
        self.moments: list[float] = []
        self.routes: list[float] = []
        # Called at each default route.
        self.onRoute = lambda: None
        ready = threading.Event()
        threading.Thread(target=self.hear, args=(space, ready), daemon=True).start()
        if not ready.wait(10):
            raise Trouble("no rtnetlink in the client's namespace")

    def hear(self, space: str, ready: threading.Event) -> None:
        # A network namespace belongs to the thread: the others stay where they are.
        with open(f"/run/netns/{space}") as place:
            if ctypes.CDLL(None, use_errno=True).setns(place.fileno(), 0x40000000) != 0:
                return
        channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        # RTMGRP_IPV4_IFADDR and RTMGRP_IPV4_ROUTE
        channel.bind((0, 0x50))
        ready.set()
        while message := channel.recv(65536):
            kind = int.from_bytes(message[4:6], sys.byteorder)
            if kind == 20:
                self.moments.append(time.time())
            # A default route has the destination length 0: `rtm_dst_len`, the octet after the address family.
            elif kind == 24 and message[17] == 0:
                self.routes.append(time.time())
                self.onRoute()

    def latest(self) -> float:
        return self.moments[-1]
