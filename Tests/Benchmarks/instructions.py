#!/usr/bin/python3
"""The instructions that hotspot-helpers executes in user space in a first visit, by part. Other work on the machine does not change
the count.

    Tests/Benchmarks/instructions.py [--bin .build/release] [--check] [--profile FILE --only PART]

Needs root and valgrind: the program runs under cachegrind in a network namespace of its own, on a cable whose other end is the gateway of
`own-time.py`. A part is the difference between two runs. Not counted: the kernel, and the programs that the daemon starts around
hotspot-helpers (bubblewrap, prlimit).
`--check` fails above the limits below. `--profile` writes callgrind's profile of everything up to a part.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

sys.dont_write_bytecode = True
CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT / "Tests/Portals"))
from browser import Service
from helpers import cable, enter, gateway

GATEWAY, CLIENT, PROBED = "192.0.2.1", "192.0.2.2", "probe.example"
LINK = {
    "attempt": "1", "association": "1", "interface": "cable0", "index": 2, "addresses": [f"{CLIENT}/24"], "gateways": [GATEWAY],
    "nameservers": [GATEWAY], "probeURL": f"http://{PROBED}/generate_204", "probeExpect": "204",
}
NETWORK = {
    "ssid": "Cafe", "ssidHex": "43616665", "interface": "cable0", "security": "open", "autoJoined": False, "justJoined": True,
    "chosenHelper": False,
}
HELPERS = ["form", "catalogue", "wispr", "portal-api", "browser"]


class Counted:
    """hotspot-helpers as the daemon starts it, under a tool that counts."""

    def __init__(self, options: argparse.Namespace, folder: pathlib.Path):
        self.log, wrapper = folder / "log", folder / "run"
        tool = f"callgrind --callgrind-out-file={options.profile}" if options.profile else "cachegrind --cache-sim=no --cachegrind-out-file=/dev/null"
        wrapper.write_text(f"#!/bin/sh\nexec valgrind --tool={tool} --log-file={self.log} {options.bin.resolve()}/hotspot-helpers\n")
        wrapper.chmod(0o755)
        environment = os.environ | {"HOTSPOTD_PORTALS": str(CHECKOUT / "Portals")}
        self.service = Service([str(wrapper)], [*HELPERS, "probe"], folder, environment)
        # While a connection is open the process does not end, however long it takes under the tool.
        self.held = socket.socket(socket.AF_UNIX)
        self.held.connect(str(folder / "probe"))
        # It closes this one at once, and so is past its start.
        self.service.call("probe", b"", 60)
        self.settle()

    def settle(self) -> None:
        """Waits until it has been idle for half a second: all threads wait, and none was given processor time. One that only lacks a
        processor does not wait."""
        last, since = None, time.monotonic()
        while time.monotonic() - since < 0.5:
            time.sleep(0.02)
            now = []
            for file in pathlib.Path(f"/proc/{self.service.process.pid}/task").glob("*/stat"):
                # A thread can end before its file is read.
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    # The state, and the ticks in user space and in the kernel.
                    now.append(file.read_text().rsplit(")", 1)[1].split()[:13:11])
            if self.service.process.poll() is not None:
                sys.exit(f"instructions.py: hotspot-helpers ended: {self.log.read_text()}")
            if now != last or any(state != "S" for state, _ in now):
                last, since = now, time.monotonic()

    def ask(self, name: str, method: str, **parameters) -> dict:
        message = json.dumps({"method": method, "parameters": {"link": LINK} | parameters})
        answer = json.loads(self.service.call(name, message.encode(), 60).rstrip(b"\0") or "{}")
        if "error" in answer or "parameters" not in answer:
            sys.exit(f"instructions.py: {name} gave {answer or 'no answer'} to {method}")
        return answer["parameters"]

    def command(self, name: str, command: str, **parameters) -> dict:
        return self.ask(name, f"org.hotspotd.Helper.{command}", network=NETWORK, **parameters)

    def end(self) -> int:
        self.settle()
        self.held.close()
        self.service.process.send_signal(signal.SIGTERM)
        self.service.process.wait()
        return int(re.search(r"(?:I\s+refs|Collected)\s*:\s*([\d,]+)", self.log.read_text())[1].replace(",", ""))


def expect(isSo: bool, what: object) -> None:
    if not isSo:
        sys.exit(f"instructions.py: unexpected: {what}")


def probe(process: Counted) -> None:
    answer = process.ask("probe", "org.hotspotd.Probe.Probe", endpoints=[], fresh=False)
    expect(answer["verdict"] == "captive", answer)


def evaluate(claims: dict[str, str]) -> Callable[[Counted], None]:
    def body(process: Counted) -> None:
        probe(process)
        for name, confidence in claims.items():
            answer = process.command(name, "Evaluate")
            expect(answer["confidence"] == confidence, answer)
    return body


ALL = {"form": "low", "catalogue": "none", "wispr": "none", "portal-api": "none", "browser": "low"}


def authenticate(process: Counted) -> dict:
    evaluate(ALL)(process)
    return process.command("form", "Authenticate")["reply"]


def press(process: Counted) -> None:
    reply = authenticate(process)
    expect(reply["result"] == "success", reply)


def ask(process: Counted) -> dict:
    reply = authenticate(process)
    expect(reply["result"] == "uiRequired", reply)
    return reply


def answer(process: Counted) -> None:
    reply = ask(process)
    reply = process.command(
        "form", "PresentUI", portal=reply["portal"], session=reply["session"], answers={"room": "214"}, consent=False)["reply"]
    expect(reply["result"] == "success", reply)


# What is counted; the part that it goes on from; what is done; whether the portal asks; the limit in million instructions: twice the count
# of 2026-11-29. The computer's addresses and routes are read once a second, at 1.4 million: a slow run counts more of these reads.
PARTS = {
    "start to ready": ("", lambda process: None, False, 104),
    "the probe": ("start to ready", probe, False, 9),
    "Evaluate of form": ("the probe", evaluate({"form": "low"}), False, 12),
    "Evaluate of catalogue, no file fits": ("the probe", evaluate({"catalogue": "none"}), False, 11),
    "Evaluate of all five": ("the probe", evaluate(ALL), False, 19),
    "Authenticate of form, one button": ("Evaluate of all five", press, False, 14),
    "Authenticate of form, a question": ("Evaluate of all five", ask, True, 35),
    "PresentUI of form, the answer": ("Authenticate of form, a question", answer, True, 17),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(".build/release"))
    parser.add_argument("--check", action="store_true", help="fail above the limits")
    parser.add_argument("--profile", help="write callgrind's profile here")
    parser.add_argument("--only", choices=PARTS, help="count everything up to this part")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not enter(options):
        return
    with gateway() as holder:
        cable(f"ip addr add {CLIENT}/24 dev cable0; ip route add default via {GATEWAY}")
        inside = ["nsenter", f"--net=/proc/{holder.pid}/ns/net", sys.executable, str(CHECKOUT / "Tests/Benchmarks/own-time.py")]

        def count(body: Callable[[Counted], object], asks: bool) -> int:
            portal = subprocess.Popen(
                [*inside, "--portal", *["--asks"] * asks], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            portal.stdout.readline()
            try:
                with tempfile.TemporaryDirectory(prefix="hotspotd-bench-") as folder:
                    process = Counted(options, pathlib.Path(folder))
                    try:
                        body(process)
                        return process.end()
                    finally:
                        process.service.end()
            finally:
                portal.kill()
                portal.wait()

        if options.only:
            _, body, asks, _ = PARTS[options.only]
            print(f"{count(body, asks) / 1e6:7.1f}  everything up to: {options.only}")
            return
        print("hotspot-helpers, million instructions in user space (and the limit):")
        totals, tooMany = {"": 0}, False
        for name, (before, body, asks, limit) in PARTS.items():
            totals[name] = count(body, asks)
            part = (totals[name] - totals[before]) / 1e6
            tooMany |= part > limit
            print(f"  {part:6.1f} ({limit:3})  {name}", flush=True)
        if options.check and tooMany:
            sys.exit("instructions.py: above a limit")


if __name__ == "__main__":
    main()
