"""Two laptops in one room, over BlueZ and two virtual adapters on one air: paired by a code, a question answered, a login handed over."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import typing

import managers
import packages
import smoke
from basics import HERE, PYTHON, RUN, Trouble, run, waitFor
from daemon import Daemon, Monitor, moment
from director import RIDER
from fabric import Fabric
from networks import PAGE_URL, TRAIN
from report import Report

ADAPTERS = ["hci0", "hci1"]
FILE = 32 * 1024
# Where `make python` puts it.
BUMBLE = HERE.parents[1] / ".build/python"


def switchPower(on: bool) -> None:
    """Switches the second adapter on or off, as a desktop does."""
    run("busctl", "set-property", "org.bluez", f"/org/bluez/{ADAPTERS[1]}", "org.bluez.Adapter1", "Powered", "b", str(on).lower(), timeout=30)


class Bluetooth:
    """An air with two LE controllers (btvirt), and BlueZ's daemon, which serves both."""

    def __init__(self, start: typing.Callable[[str, list[str]], subprocess.Popen]):
        self.start, self.daemon = start, None
        self.air = start("btvirt", [packages.requireProgram("btvirt", "bluez-test-tools"), "-L", "-l2"])
        waitFor(lambda: all(pathlib.Path(f"/sys/class/bluetooth/{name}").exists() for name in ADAPTERS), 30, "the virtual adapters")
        self.startDaemon()

    def startDaemon(self) -> None:
        pathlib.Path("/var/lib/bluetooth").mkdir(parents=True, exist_ok=True)
        self.daemon = self.start("bluetoothd", ["/usr/libexec/bluetooth/bluetoothd", "-n", *os.environ.get("BLUETOOTHD", "").split()])

    def stopDaemon(self) -> None:
        self.daemon.terminate()
        self.daemon.wait(30)


class Pair:
    """The program `companion-pair`: a companion on each adapter, told by lines. The one named `lines` has no adapter, but a radio
    beside the program."""

    LINE = re.compile(r"(\d+) (\S+) (\S+) ?(.*)")

    # Tells a radio beside the program what `lines` wants of it.
    onRadio: typing.Callable[[str], None] = staticmethod(lambda line: None)

    def __init__(self, program: str, log: pathlib.Path, *adapters: str):
        self.lock = threading.Lock()
        # BlueZ serves every user; the transport needs no privilege.
        words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", program, *adapters]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.lines: list[tuple[int, str, str, str]] = []
        self.log = open(log, "a", buffering=1)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        for line in self.process.stdout:
            found = self.LINE.match(line)
            if found and found[2] == "lines" and found[3] in ("advertise", "scan", "send", "close"):
                self.onRadio(f"{found[3]} {found[4]}\n")
                # Each chunk would make the log long.
                if found[3] == "send":
                    continue
            self.log.write(line)
            if found:
                self.lines.append((int(found[1]), found[2], found[3], found[4]))

    def tell(self, adapter: str, words: str) -> int:
        """Returns the mark from which on the answer is looked for."""
        self.log.write(f"> {adapter} {words}\n")
        mark = len(self.lines)
        self.write(f"{adapter} {words}\n")
        return mark

    def write(self, line: str) -> None:
        with self.lock:
            self.process.stdin.write(line)

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
        self.write("quit\n")
        return self.process.wait(30)


class OtherStack:
    """A companion on BlueZ and one on Bumble, a stack by other authors, which takes the second adapter from the kernel."""

    MTUS = [23, 185, 517]

    def __init__(self, report: Report, program: str, logs: pathlib.Path, isMeasured: bool):
        self.report, self.isMeasured = report, isMeasured
        # Bumble takes an adapter that is off; BlueZ's daemon then loses it.
        switchPower(False)
        self.log = open(logs / "bumble.log", "a")
        self.radio = subprocess.Popen(
            [PYTHON, str(HERE / "bumble-radio"), "1"], env=os.environ | {"PYTHONPATH": str(BUMBLE)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True, bufsize=1)
        if self.radio.stdout.readline() != "ready\n":
            raise Trouble("Bumble did not take the adapter: bumble.log")
        self.pair = Pair(program, logs / "companion-pair.log", "hci0", "lines")
        self.pair.onRadio = self.radio.stdin.write
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        for line in self.radio.stdout:
            self.pair.write(f"lines {line}")

    def run(self) -> None:
        self.pair.wait(0, "hci0", "state", "ready")
        for name in ("hci0", "lines"):
            self.pair.tell(name, "place")
            self.pair.tell(name, "await on")
        for mtu in self.MTUS:
            for central, peripheral in (("lines", "hci0"), ("hci0", "lines")):
                name = f"stack.{mtu}.{'central' if central == 'lines' else 'peripheral'}"
                self.report.attempt(name, lambda: self.visit(mtu, central, peripheral))
        self.report.check("stack.ends", self.pair.end() == 0)
        self.radio.stdin.close()
        self.radio.wait(30)

    def visit(self, mtu: int, central: str, peripheral: str) -> None:
        """The two pair, one answers the other's question, and they hand over a login with a file. Then they forget each other."""
        self.report.heading(f"Bumble {'connects' if central == 'lines' else 'advertises'}, MTU {mtu}")
        self.radio.stdin.write(f"mtu {mtu}\n")
        mark = self.pair.tell(peripheral, "pair")
        began, code = self.pair.wait(mark, peripheral, "showCode")
        self.pair.tell(central, f"code {code}")
        done = max(self.pair.wait(mark, name, "storePeer")[0] for name in (central, peripheral))
        for name, role in ((central, "central"), (peripheral, "peripheral")):
            _, words = self.pair.wait(mark, name, "linkOpened")
            if words.split()[1:] != [role, str(mtu)]:
                raise Trouble(f"{name} opened a link as {words}")
        self.pair.tell(peripheral, "ask q1")
        self.pair.wait(mark, central, "showQuestion", "q1")
        self.pair.tell(central, "answer q1")
        self.pair.wait(mark, peripheral, "answerPrompt", "q1 name=Brandt,room=214")
        self.report.say(f"paired {done - began} ms after the code was shown")
        # Each chunk costs the emulated processor the same: at the least MTU a quarter of the file goes one way.
        isShort = mtu == 23 and not self.isMeasured
        for giver, taker in (("hci0", "lines"), ("lines", "hci0"))[:1 if isShort else 2]:
            self.handOver(giver, taker, f"o-{mtu}-{giver}-{central}", FILE // 4 if isShort else FILE)
        mark = self.pair.tell(central, "forget")
        self.pair.tell(peripheral, "forget")
        for name in (central, peripheral):
            self.pair.wait(mark, name, "removePeer")
            # From here or from the other side.
            waitFor(lambda: any(self.pair.find(mark, name, end) for end in ("close", "linkClosed")), 60, f"{name}: no link")

    def handOver(self, giver: str, taker: str, offer: str, size: int) -> None:
        for name in (giver, taker):
            self.pair.counts(name)
        mark = self.pair.tell(giver, f"offer {offer} {size}")
        sent = time.clock_gettime(time.CLOCK_BOOTTIME) * 1000
        shown, words = self.pair.wait(mark, taker, "showOffer", offer, 300)
        if words != f"{offer} {size}":
            raise Trouble(f"shown was {words}")
        counts = [self.pair.counts(name) for name in (giver, taker)]
        self.pair.tell(taker, f"accept {offer}")
        self.pair.wait(mark, giver, "notify", "has the login now")
        chunks, octets = counts[0]["bulk-sent"]
        control = sum(count.get("control-sent", (0, 0))[1] for count in counts)
        stack = "Bumble" if giver == "lines" else "BlueZ"
        self.report.say(
            f"{size} octets of file by {stack}: shown after {shown - sent:.0f} ms; {chunks} chunks with {octets} octets in bulk, "
            f"{control} octets on control; {chunks * 1000 / max(1, shown - sent):.0f} chunks a second")


class Companions:
    """What two companions do, by the test program."""

    def __init__(self, report: Report, bluetooth: Bluetooth, program: str, logs: pathlib.Path, *options: str):
        self.report, self.bluetooth = report, bluetooth
        self.isL2CAP = "--l2cap" in options
        self.pair = Pair(program, logs / "companion-pair.log", *options, *ADAPTERS)

    def run(self) -> None:
        for adapter in ADAPTERS:
            self.pair.wait(0, adapter, "state", "ready")
        self.pairByCode()
        for name, step in (("pair.answered", self.answer), ("pair.handedOver", self.handOver), ("pair.restarted", self.restart), ("pair.resumed", self.loseLink)):
            self.report.attempt(name, step)
        self.report.check("pair.ends", self.pair.end() == 0)

    def runOverL2CAP(self) -> None:
        """Laptops with L2CAP channels: a long offer goes over one, in both directions."""
        for adapter in ADAPTERS:
            self.pair.wait(0, adapter, "state", "ready")
        self.pairByCode("l2cap")
        self.report.attempt("l2cap.handedOver", self.handOver)
        self.report.attempt("l2cap.used", self.useL2CAP)
        self.report.check("l2cap.ends", self.pair.end() == 0)

    def useL2CAP(self) -> None:
        self.report.heading("The other laptop sends over the same channel")
        self.pair.tell("hci0", "await on")
        for adapter in ADAPTERS:
            self.pair.counts(adapter)
        mark = self.pair.tell("hci1", f"offer o5 {FILE}")
        sent = time.clock_gettime(time.CLOCK_BOOTTIME) * 1000
        shown, words = self.pair.wait(mark, "hci0", "showOffer", "o5")
        counts = self.pair.counts("hci1")
        self.say(FILE, shown - sent, counts)
        if words != f"o5 {FILE}" or "bulk-sent" in counts:
            raise Trouble(f"shown was {words}, sent was {counts}")
        opened = [adapter for adapter in ADAPTERS for _, who, what, _ in self.pair.lines if (who, what) == (adapter, "l2capOpened")]
        if opened != ADAPTERS:
            raise Trouble(f"channels opened on {opened}")

    def say(self, size: int, duration: float, counts: dict[str, tuple[int, int]]) -> None:
        ways = [(way, *counts[f"{way}-sent"]) for way in ("bulk", "l2cap") if f"{way}-sent" in counts]
        self.report.say(f"{size} octets of portal file: shown after {duration:.0f} ms" + "".join(
            f"; {chunks} chunks with {octets} octets by {'L2CAP' if way == 'l2cap' else 'GATT'}, {chunks * 1000 / max(1, duration):.0f} a second"
            for way, chunks, octets in ways))

    def octets(self) -> int:
        """All octets that the two sent since the last look."""
        return sum(octets for adapter in ADAPTERS for name, (_, octets) in self.pair.counts(adapter).items() if name.endswith("sent"))

    def pairByCode(self, name: str = "pair") -> None:
        self.report.heading("Two laptops pair by a code")
        mark = self.pair.tell("hci0", "pair")
        began, code = self.pair.wait(mark, "hci0", "showCode")
        self.pair.tell("hci1", f"code {code}")
        done = max(self.pair.wait(mark, adapter, "storePeer")[0] for adapter in ADAPTERS)
        link = self.pair.wait(mark, "hci1", "linkOpened")
        if self.isL2CAP:
            # The channel's first packets are none of the messages' chunks.
            for adapter in ADAPTERS:
                self.pair.wait(mark, adapter, "logL2CAP")
        self.report.say(f"paired {done - began} ms after the code was shown, MTU {link[1].split()[-1]}, {self.octets()} octets")
        self.report.check(f"{name}.paired", True)

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
            counts = self.pair.counts("hci0")
            self.report.say(f"taken after {taken - sent:.0f} ms")
            self.say(size, shown - sent, counts)
            way = "l2cap-sent" if self.isL2CAP else "bulk-sent"
            if {name for name in counts if name in ("bulk-sent", "l2cap-sent")} != ({way} if size else set()):
                raise Trouble(f"sent was {counts}")

    @contextlib.contextmanager
    def withinAMessage(self, name: str):
        """Sends an offer with a file. Both laptops' program stops itself at the twentieth of its chunks."""
        self.pair.tell("hci1", "stop 20")
        self.pair.tell("hci0", f"offer {name} {FILE}")
        state = pathlib.Path(f"/proc/{self.pair.process.pid}/stat")
        waitFor(lambda: state.read_text().rpartition(")")[2].split()[0] == "T", 60, "twenty chunks of the offer")
        try:
            yield
        finally:
            self.pair.process.send_signal(signal.SIGCONT)

    def restart(self) -> None:
        self.report.heading("BlueZ restarts within a message")
        mark = len(self.pair.lines)
        with self.withinAMessage("o3"):
            self.bluetooth.stopDaemon()
        for adapter in ADAPTERS:
            self.pair.wait(mark, adapter, "state", "noService")
        self.bluetooth.startDaemon()
        back = self.pair.wait(mark, "hci1", "state", "ready")[0]
        shown = self.pair.wait(mark, "hci1", "showOffer", "o3", 120)[0]
        if shown < back:
            raise Trouble("the message was over before BlueZ ended")
        self.report.say(f"shown {shown - back} ms after BlueZ was back")

    def loseLink(self) -> None:
        self.report.heading("The link is lost within a message")
        mark = len(self.pair.lines)
        with self.withinAMessage("o4"):
            switchPower(False)
        self.pair.wait(mark, "hci1", "state", "adapterOff")
        lost = self.pair.wait(mark, "hci0", "linkClosed")
        switchPower(True)
        back = self.pair.wait(mark, "hci1", "state", "ready")
        shown = self.pair.wait(mark, "hci1", "showOffer", "o4", 120)
        if shown < lost:
            raise Trouble("the message was over before the link was lost")
        self.report.say(f"shown {shown[0] - back[0]} ms after the adapter was on again")


class Laptop:
    """A laptop of the café with hotspotd and the companion service, told by hotspotctl."""

    def __init__(self, fabric: Fabric, name: str, adapter: str, programs: pathlib.Path, match: str | None = None):
        self.fabric, self.name = fabric, name
        self.daemon = Daemon(fabric, programs, match=match, name=name)
        self.daemon.start()
        folder = RUN / f"{name}-companion"
        self.socket = folder / "run/org.hotspotd.Companion"
        folder.mkdir()
        self.process = fabric.start(f"{name}-companion", [
            str(programs / "hotspot-companion"), "--state", str(folder / "state"), "--runtime", str(folder / "run"),
            "--daemon", str(self.daemon.socket), "--adapter", adapter, "--name", name, "--l2cap"])
        waitFor(self.socket.exists, 30 * fabric.patience, f"the companion of {name}")

    def begin(self, *words: str) -> subprocess.Popen:
        """hotspotctl companion …, which goes on."""
        return subprocess.Popen(
            [str(self.daemon.programs / "hotspotctl"), "companion", *words, "--companion-socket", str(self.socket)],
            env=self.daemon.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def ctl(self, *words: str) -> str:
        return self.end(self.begin(*words))

    def end(self, process: subprocess.Popen) -> str:
        said, _ = process.communicate(timeout=120 * self.fabric.patience)
        if process.returncode != 0:
            raise Trouble(f"{self.name}: hotspotctl ended with {process.returncode}: {said.strip()[-400:]}")
        return said

    def memory(self) -> str:
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return ", ".join(" ".join(line.split()) for line in lines if line.startswith(("VmRSS", "RssAnon")))


class Companion:
    """The test program first, then two laptops with the real programs. They share one cable, which the portal cannot tell from two: the
    second one has another hardware address, and the portal has forgotten the first one."""

    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report, self.programs = fabric, report, pathlib.Path(options.bin)
        self.isMeasured = options.figures

    def run(self) -> None:
        if os.environ.get("HOTSPOTD_VIRTUAL_LAPTOP") != "1":
            raise packages.Missing("the kernel here may have no Bluetooth: --laptop")
        managers.startBus(self.fabric)
        bluetooth, program = Bluetooth(self.fabric.start), str(self.programs / "companion-pair")
        Companions(self.report, bluetooth, program, self.fabric.logs).run()
        Companions(self.report, bluetooth, program, self.fabric.logs, "--l2cap").runOverL2CAP()
        OtherStack(self.report, program, self.fabric.logs, self.isMeasured).run()
        self.fabric.waitUntilOpen()
        self.first = Laptop(self.fabric, "ida", "hci0", self.programs)
        self.logIn()
        self.leave()
        self.second = Laptop(self.fabric, "box", "hci1", self.programs)
        self.pair()
        self.share()

    def logIn(self) -> None:
        self.report.heading(f"One laptop is logged in at {TRAIN.ssid}")
        monitor = Monitor(self.first.daemon)
        mark = monitor.mark()
        self.fabric.join(TRAIN)
        monitor.waitFor({"presentingUI"}, mark, 150)
        status, screen = self.first.daemon.answerInTerminal(RIDER)
        if status != 0:
            raise Trouble(f"no answer: {screen}")
        monitor.waitFor({"authenticated"}, mark, 150)
        self.network = self.first.daemon.status()["network"]
        monitor.stop()

    def leave(self) -> None:
        """The first laptop goes elsewhere: its daemon has no interface here."""
        self.fabric.reset()
        daemon = self.first.daemon
        daemon.stop()
        daemon.settings.write_text(daemon.settings.read_text().replace(f"Match={daemon.match}\n", "Match=elsewhere\n"))
        daemon.start()
        self.fabric.inside("cli", "ip", "link", "set", self.fabric.interface, "address", "02:00:00:00:b0:b0")

    def pair(self) -> None:
        self.report.heading("A second laptop is paired with it")
        shows = self.first.begin("pair")
        for line in shows.stdout:
            if code := re.search(r"\b(\d{4})\s?(\d{4})\b", line):
                break
        else:
            raise Trouble("no code was shown")
        self.report.say(self.second.ctl("pair", code[1] + code[2]).rstrip())
        self.report.say(self.first.end(shows).rstrip())
        self.report.check("paired.both", all(name in laptop.ctl("list") for name, laptop in (("box", self.first), ("ida", self.second))))

    def share(self) -> None:
        self.report.heading("It never saw the portal, and logs in by what the first one shares")
        monitor = Monitor(self.second.daemon)
        mark = monitor.mark()
        self.fabric.join(TRAIN)
        monitor.waitFor({"presentingUI"}, mark, 150)
        given, taken = RUN / "given.portal", RUN / "taken.portal"
        given.write_text("# A line of a long file.\n" * (FILE // 25))
        taken.unlink(missing_ok=True)
        accepts = self.second.begin("accept", "--yes", "--portal-file", str(taken))
        shared = time.time()
        shares = self.first.begin("share", self.network, "--portal-file", str(given))
        event = monitor.waitFor({"authenticated"}, mark, 150)
        self.report.say(self.first.end(shares).rstrip())
        self.report.say(self.second.end(accepts).rstrip())
        self.report.say(self.second.daemon.ctl("status").stdout.rstrip())
        self.report.check("shared.online", "Internet side" in smoke.curl(self.fabric, PAGE_URL))
        self.report.check("shared.file", taken.read_text() == given.read_text())
        log = (self.fabric.logs / "ida-companion.log").read_text()
        self.report.check("shared.byL2CAP", log.count("an L2CAP channel for long messages is open") == 1 and "GATT carries" not in log, log)
        self.report.say(f"online {moment(event) - shared:.2f} s after share began; the service: {self.second.memory()}")
        secrets = [path for path in self.fabric.logs.glob("*companion*.log") if b"tunnel-vision" in path.read_bytes()]
        self.report.check("shared.notLogged", not secrets, str(secrets))
        self.first.ctl("forget", "box")
        self.report.check("shared.forgotten", "box" not in self.first.ctl("list"))
        monitor.stop()
