#!/usr/bin/python3
"""How long from the address to the decision with many helpers, beside the same helpers run by a bare script.

    Tests/Benchmarks/helpers.py [--bin .build/release] [--rounds 5] [--counts 1,10,50,200]

Needs root: the daemon runs in a network namespace of its own, on a cable whose other end is a gateway that answers for its address.
All helpers but one answer `none`; the last by name answers `high`, and cannot log in after that, so that nothing is remembered. Times are medians, in milliseconds.
"""

import argparse
import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator

PROGRAM = """#!/bin/sh
head -c 1 >/dev/null
printf '{"parameters":{"confidence":"%s","reply":{"result":"temporaryFailure"}}}\\000' "$1"
"""


class Daemon:
    def __init__(self, binaries: pathlib.Path, count: int):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hotspotd-bench-"))
        os.chmod(self.folder, 0o755)
        helpers = self.folder / "helpers"
        helpers.mkdir()
        self.program = self.folder / "program"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        for number in range(count):
            word = "high" if number == count - 1 else "none"
            (helpers / f"h{number:03}.helper").write_text(f"[Helper]\nName=h{number:03}\nExec={self.program} {word}\n")
        settings = self.folder / "hotspotd.conf"
        settings.write_text(
            f"[Daemon]\nStateDirectory={self.folder}/state\nRuntimeDirectory={self.folder}/run\nHelperDirectories={helpers}\n"
            "[Interfaces]\nMatch=cable0\nManageEthernet=yes\n[Probe]\nExec=/bin/false\nNameservers=192.0.2.1\n"
        )
        self.path = f"{self.folder}/run/org.hotspotd.Control"
        self.process = subprocess.Popen([binaries / "hotspotd", "--settings", settings], stderr=subprocess.DEVNULL)
        while not os.path.exists(self.path):
            if self.process.poll() is not None:
                sys.exit("helpers.py: hotspotd ended")
            time.sleep(0.01)

    def open(self, method: str, parameters: dict | None = None, more: bool = False):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.path)
        call = {"method": f"org.hotspotd.Control.{method}", "parameters": parameters or {}, "more": more}
        connection.sendall(json.dumps(call).encode() + b"\0")
        return Stream(connection)

    def call(self, method: str, parameters: dict | None = None) -> dict:
        stream = self.open(method, parameters)
        try:
            return stream.next()["parameters"]
        finally:
            stream.close()

    def switches(self) -> int:
        words = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().split()
        return int(words[words.index("voluntary_ctxt_switches:") + 1])

    def pss(self) -> int:
        words = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().split()
        return int(words[words.index("Pss:") + 1])

    def hasHelpers(self) -> bool:
        """Whether helpers' processes run; the question to the network for its portal's API is none."""
        for child in pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            try:
                if b"hotspot-dhcp" not in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                    return True
            except OSError:
                # It has ended.
                pass
        return False

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Stream:
    def __init__(self, connection: socket.socket):
        self.connection, self.data = connection, b""

    def next(self) -> dict:
        while b"\0" not in self.data:
            chunk = self.connection.recv(65536)
            if not chunk:
                sys.exit("helpers.py: the daemon closed the connection")
            self.data += chunk
        message, self.data = self.data.split(b"\0", 1)
        return json.loads(message)

    def close(self) -> None:
        self.connection.close()


def cable(command: str) -> None:
    subprocess.run(["sh", "-ec", command], check=True)


def enter(options: argparse.Namespace) -> bool:
    """Goes on in a network namespace of its own; false without root."""
    if options.inside:
        return True
    if os.geteuid() != 0:
        print(f"{pathlib.Path(sys.argv[0]).name}: skipped, network namespaces need root")
        return False
    os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv, "--inside"])


@contextlib.contextmanager
def gateway() -> Iterator[subprocess.Popen]:
    """A cable into another namespace, that of the process, where the gateway has its address."""
    holder = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sh", "-c", "echo; exec sleep infinity"], stdout=subprocess.PIPE
    )
    holder.stdout.readline()
    try:
        cable(
            f"ip link set lo up; ip link add cable0 type veth peer name cable1 netns {holder.pid}\n"
            f"nsenter --net=/proc/{holder.pid}/ns/net sh -ec 'ip addr add 192.0.2.1/24 dev cable1; ip link set cable1 up'\n"
            "ip link set cable0 up"
        )
        yield holder
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()


class Asker(threading.Thread):
    """Asks for the status again and again; the slowest reply tells how long the daemon kept others waiting."""

    def __init__(self, daemon: Daemon):
        super().__init__(daemon=True)
        self.target, self.slowest, self.over = daemon, 0.0, threading.Event()
        self.start()

    def run(self) -> None:
        while not self.over.wait(0.005):
            began = time.monotonic()
            self.target.call("Status")
            self.slowest = max(self.slowest, (time.monotonic() - began) * 1000)


def joined(daemon: Daemon, round: int) -> tuple[float, float, float, float]:
    """From the address to the decision, the race alone, until every process is gone, and the slowest reply meanwhile."""
    cable("ip addr flush dev cable0")
    while daemon.call("Status")["interfaces"][0]["state"] != "inactive":
        time.sleep(0.01)
    monitor = daemon.open("Monitor", more=True)
    # The daemon serves one after the other: once this is answered, it monitors.
    daemon.call("Status")
    asker = Asker(daemon)
    began = time.time()
    cable(f"ip addr add 192.0.2.{2 + round % 200}/24 dev cable0; ip route add default via 192.0.2.1")
    started = None
    while True:
        step = monitor.next()["parameters"]["step"]
        if step["kind"] != "transition":
            continue
        if step["to"] == "evaluating":
            started = step["time"]
        if step["to"] == "authenticating":
            break
    decided = step["time"]
    monitor.close()
    while daemon.hasHelpers():
        time.sleep(0.005)
    gone = time.time()
    asker.over.set()
    asker.join()
    return decided - began * 1000, decided - started, (gone - began) * 1000, asker.slowest


def bare(program: pathlib.Path, count: int) -> float:
    """The same programs, started without a sandbox and asked by a script."""
    began = time.time()
    children = [
        subprocess.Popen([program, "high" if n == count - 1 else "none"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for n in range(count)
    ]
    for child in children:
        child.stdin.write(b"{}\0")
        child.stdin.close()
    waiting = {child.stdout.fileno(): child for child in children}
    decided = None
    while decided is None:
        for descriptor in select.select(list(waiting), [], [])[0]:
            answer = os.read(descriptor, 65536)
            waiting.pop(descriptor)
            if b"high" in answer:
                decided = time.time()
    for child in children:
        child.kill()
        child.wait()
        child.stdout.close()
    return (decided - began) * 1000


def start(binaries: pathlib.Path) -> None:
    """A start in the sandbox beside a bare one, in turn: /bin/true from the call until it is reaped. The command line of bubblewrap is that
    of a helper of the daemon, without the two descriptors that only the daemon has (the filter, and the report of the end)."""
    daemon = Daemon(binaries, 1)
    cable("ip addr flush dev cable0; ip addr add 192.0.2.99/24 dev cable0; ip route add default via 192.0.2.1")
    words: list[str] = []
    while not words:
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                line = path.read_bytes().decode().split("\0")[:-1]
            except OSError:
                continue
            if line and line[0].endswith("/bwrap") and str(daemon.program) in line:
                words = line
    words = words[:words.index(str(daemon.program))] + ["/bin/true"]
    for option in ("--seccomp", "--json-status-fd"):
        place = words.index(option)
        del words[place:place + 2]
    times: dict[str, list[float]] = {"contained": [], "bare": []}
    for _ in range(100):
        for name, command in (("contained", words), ("bare", ["/bin/true"])):
            began = time.monotonic()
            subprocess.run(command, check=True, env={"PATH": "/usr/bin:/bin"}, cwd="/")
            times[name].append((time.monotonic() - began) * 1000)
    # Its folder is part of the command line until here.
    daemon.close()
    contained, plain = (statistics.median(times[name]) for name in ("contained", "bare"))
    print(f"start of a helper: {contained:.1f} ms in its sandbox, {plain:.1f} ms bare ({contained / plain:.1f} times; medians of 100 by turns)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(".build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--counts", default="1,10,50,200")
    parser.add_argument("--idle", type=float, default=10, help="seconds to look at the idle daemon with the most helpers")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not enter(options):
        return
    with gateway():
        start(options.bin)
        print(f"{'helpers':>8} {'address→decision':>18} {'race alone':>12} {'all gone':>10} {'slowest reply':>14} {'bare script':>12} {'daemon before and after':>24}   (ms, medians of {options.rounds}; MB, Pss)")
        for count in [int(word) for word in options.counts.split(",")]:
            daemon = Daemon(options.bin, count)
            try:
                before = daemon.pss()
                times = [joined(daemon, round) for round in range(options.rounds)]
                plain = [bare(daemon.program, count) for _ in range(options.rounds)]
                medians = [statistics.median(column) for column in zip(*times)]
                print(f"{count:>8} {medians[0]:>18.0f} {medians[1]:>12.0f} {medians[2]:>10.0f} {medians[3]:>14.0f} {statistics.median(plain):>12.0f} {before / 1024:>12.1f} {daemon.pss() / 1024:>11.1f}", flush=True)
                if count == max(int(word) for word in options.counts.split(",")):
                    cable("ip addr flush dev cable0")
                    time.sleep(1)
                    before = daemon.switches()
                    time.sleep(options.idle)
                    print(f"idle with {count} helpers registered: {daemon.switches() - before} wake-ups in {options.idle:.0f} s, {daemon.pss() / 1024:.1f} MB (Pss)")
            finally:
                daemon.close()


if __name__ == "__main__":
    main()
