"""Two laptops in one room, over BlueZ and two virtual adapters on one air: paired by a code, a question answered, a login handed over."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import threading
import time
import typing

import managers
import packages
from basics import PAUSE, Trouble, waitFor
from report import Report

if typing.TYPE_CHECKING:
    from fabric import Fabric

ADAPTERS = ["hci0", "hci1"]
FILE = 32 * 1024


class Bluetooth:
    """An air with two LE controllers (btvirt), and BlueZ's daemon, which serves both."""

    def __init__(self, start: typing.Callable[[str, list[str]], subprocess.Popen]):
        self.start, self.daemon = start, None
        pathlib.Path("/var/lib/bluetooth").mkdir(parents=True, exist_ok=True)
        self.air = start("btvirt", [packages.requireProgram("btvirt", "bluez-test-tools"), "-L", "-l2"])
        waitFor(lambda: all(pathlib.Path(f"/sys/class/bluetooth/{name}").exists() for name in ADAPTERS), 30, "the virtual adapters")
        self.startDaemon()

    def startDaemon(self) -> None:
        self.daemon = self.start("bluetoothd", ["/usr/libexec/bluetooth/bluetoothd", "-n", *os.environ.get("BLUETOOTHD", "").split()])

    def stopDaemon(self) -> None:
        self.daemon.terminate()
        self.daemon.wait(30)


class Pair:
    """The program `companion-pair`: a companion on each adapter, told by lines."""

    LINE = re.compile(r"(\d+) (\S+) (\S+) ?(.*)")

    def __init__(self, program: str, log: pathlib.Path, *adapters: str):
        # BlueZ serves every user; the transport needs no privilege.
        words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", program, *adapters]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.lines: list[tuple[int, str, str, str]] = []
        self.log = open(log, "a", buffering=1)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        for line in self.process.stdout:
            self.log.write(line)
            if found := self.LINE.match(line):
                self.lines.append((int(found[1]), found[2], found[3], found[4]))

    def tell(self, adapter: str, words: str) -> int:
        """Returns the mark from which on the answer is looked for."""
        self.log.write(f"> {adapter} {words}\n")
        mark = len(self.lines)
        self.process.stdin.write(f"{adapter} {words}\n")
        return mark

    def find(self, mark: int, adapter: str, name: str, words: str = "") -> tuple[int, str] | None:
        return next(((time, rest) for time, who, what, rest in self.lines[mark:] if (who, what) == (adapter, name) and words in rest), None)

    def wait(self, mark: int, adapter: str, name: str, words: str = "", seconds: float = 60) -> tuple[int, str]:
        """The time in milliseconds and the details of the first such line."""
        def look():
            if self.process.poll() is not None:
                raise Trouble(f"companion-pair ended with {self.process.returncode}")
            return self.find(mark, adapter, name, words)
        return waitFor(look, seconds, f"{adapter}: {name} {words}")

    def counts(self, adapter: str) -> dict[str, tuple[int, int]]:
        """Chunks and octets of each direction of each channel since the last look."""
        _, words = self.wait(self.tell(adapter, "counts"), adapter, "counts")
        pairs = (word.split("=") for word in words.split())
        return {name: tuple(int(number) for number in value.split("/")) for name, value in pairs}

    def end(self) -> int:
        self.process.stdin.write("quit\n")
        return self.process.wait(30)


class Companions:
    """What two companions do, by the test program."""

    def __init__(self, report: Report, bluetooth: Bluetooth, program: str, logs: pathlib.Path):
        self.report, self.bluetooth = report, bluetooth
        self.pair = Pair(program, logs / "companion-pair.log", *ADAPTERS)

    def run(self) -> None:
        for adapter in ADAPTERS:
            self.pair.wait(0, adapter, "state", "ready")
        self.pairByCode()
        for name, step in (("answered", self.answer), ("handedOver", self.handOver), ("restarted", self.restart), ("resumed", self.loseLink)):
            self.report.attempt(name, step)
        self.report.check("ends", self.pair.end() == 0)

    def octets(self) -> int:
        """All octets that the two sent since the last look."""
        return sum(octets for adapter in ADAPTERS for name, (_, octets) in self.pair.counts(adapter).items() if name.endswith("sent"))

    def pairByCode(self) -> None:
        self.report.heading("Two laptops pair by a code")
        mark = self.pair.tell("hci0", "pair")
        began, code = self.pair.wait(mark, "hci0", "showCode")
        self.pair.tell("hci1", f"code {code}")
        done = max(self.pair.wait(mark, adapter, "storePeer")[0] for adapter in ADAPTERS)
        link = self.pair.wait(mark, "hci1", "linkOpened")
        self.report.say(f"paired {done - began} ms after the code was shown, MTU {link[1].split()[-1]}, {self.octets()} octets")
        self.report.check("paired", True)

    def answer(self) -> None:
        self.report.heading("A question is answered on the other laptop")
        self.pair.tell("hci1", "listen on")
        mark = self.pair.tell("hci0", "ask q1")
        asked = self.pair.wait(mark, "hci0", "advertise")[0]
        shown = self.pair.wait(mark, "hci1", "showQuestion", "q1")[0]
        self.pair.tell("hci1", "answer q1")
        answered, words = self.pair.wait(mark, "hci0", "answerPrompt", "q1")
        if words != "q1 name=Brandt,room=214":
            raise Trouble(f"answered with {words}")
        self.report.say(f"shown {shown - asked} ms after it was asked, answered at {answered - asked} ms, {self.octets()} octets")

    def handOver(self) -> None:
        self.report.heading("A login is handed over")
        for adapter in ADAPTERS:
            self.pair.tell(adapter, "place")
        self.pair.tell("hci1", "await on")
        for number, size in ((1, 0), (2, FILE)):
            mark = self.pair.tell("hci0", f"offer o{number} {size}")
            sent = time.clock_gettime(time.CLOCK_BOOTTIME) * 1000
            shown, words = self.pair.wait(mark, "hci1", "showOffer", f"o{number}")
            self.pair.tell("hci1", f"accept o{number}")
            self.pair.wait(mark, "hci1", "storeOffer", f"o{number}")
            taken = self.pair.wait(mark, "hci0", "notify", "has the login now")[0]
            if words != f"o{number} {size}":
                raise Trouble(f"shown was {words}")
            chunks = self.pair.counts("hci0").get("bulk-sent", (0, 0))
            self.report.say(
                f"{size} octets of portal file: shown after {shown - sent:.0f} ms, taken after {taken - sent:.0f} ms; in bulk {chunks[0]} chunks, "
                f"{chunks[0] * 1000 / max(1, shown - sent):.0f} a second")

    def restart(self) -> None:
        self.report.heading("BlueZ restarts within a message")
        mark = self.pair.tell("hci0", f"offer o3 {FILE}")
        time.sleep(PAUSE)
        self.bluetooth.stopDaemon()
        for adapter in ADAPTERS:
            self.pair.wait(mark, adapter, "state", "noService")
        self.bluetooth.startDaemon()
        back = self.pair.wait(mark, "hci1", "state", "ready")[0]
        shown = self.pair.wait(mark, "hci1", "showOffer", "o3", 120)[0]
        self.report.say(f"shown {shown - back} ms after BlueZ was back")

    def loseLink(self) -> None:
        self.report.heading("The link is lost within a message")
        mark = self.pair.tell("hci0", f"offer o4 {FILE}")
        time.sleep(PAUSE)
        subprocess.run(["btmgmt", "--index", "1", "power", "off"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
        self.pair.wait(mark, "hci1", "state", "adapterOff")
        lost = self.pair.wait(mark, "hci0", "linkClosed")
        subprocess.run(["btmgmt", "--index", "1", "power", "on"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
        back = self.pair.wait(mark, "hci1", "state", "ready")
        shown = self.pair.wait(mark, "hci1", "showOffer", "o4", 120)
        if shown < lost:
            raise Trouble("the message was over before the link was lost")
        self.report.say(f"shown {shown[0] - back[0]} ms after the adapter was on again")


def alone() -> int:
    """For the inner loop: this scene without the café, in the virtual laptop."""
    import sys
    logs = pathlib.Path("/run/results")
    processes = []

    def start(name: str, words: list[str]) -> subprocess.Popen:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        processes.append(process)

        def copy() -> None:
            with open(logs / f"{name}.log", "a", buffering=1) as log:
                for line in process.stdout:
                    log.write(f"{time.clock_gettime(time.CLOCK_BOOTTIME):.3f} {line}")
        threading.Thread(target=copy, daemon=True).start()
        return process

    report = Report(logs / "results.jsonl")
    report.heading("The air")
    os.makedirs("/run/dbus", exist_ok=True)
    pathlib.Path("/etc/machine-id").write_text(os.urandom(16).hex() + "\n")
    start("bus", ["dbus-daemon", "--system", "--nofork", "--nopidfile"])
    waitFor(lambda: os.path.exists(managers.ADDRESS), 30, "the bus")
    with report.inScene("companion"):
        Companions(report, Bluetooth(start), sys.argv[1], logs).run()
    for process in processes:
        process.kill()
    return report.summary()


if __name__ == "__main__":
    raise SystemExit(alone())
