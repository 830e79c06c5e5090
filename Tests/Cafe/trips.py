"""Round trips from the address to online, one after the other, on a cable that delays all packets; each wave of packets is shown.
With `--figures` with more than one delay, and how long hotspotd needs to notice that the portal has ended the session.

The settings are the default ones but for stored answers over plain HTTP, which are sent without a question. The probe has its usual
endpoints, whose names lead to the café's own Internet.
"""

import argparse
import json
import pathlib
import signal
import sqlite3
import statistics
import time
import typing

import networks
import smoke
from basics import RUN, Trouble, waitFor
from cable import LongCable
from daemon import Daemon, Monitor, moment
from fabric import PORTS, Fabric
from networks import FREE, HOME, TRAIN
from report import Report

GUEST = [(r"room", "12"), (r"surname", "Ferreira"), (r"terms|accept", "y"), (r"remember|keep", "y")]
RIDER = [(r"user", "rider@trainnet.example"), (r"password", "tunnel-vision"), (r"remember|keep", "y")]
# Milliseconds of a round trip.
ROUND_TRIP = 200
ROUND_TRIPS = [0, 50, ROUND_TRIP]
# The fewest of this number of visits are reported: what is sent again, and what is out of step, adds to the others.
VISITS = 3
# The trips of the plain sequence, and those that are wanted.
WANTED = {
    "first visit, HTTP": (8, 6), "asked, HTTP": (8, 8), "return, HTTP": (8, 5),
    "first visit, HTTP without a name": (7, 6), "asked, HTTP without a name": (7, 8), "return, HTTP without a name": (7, 5),
    "first visit, HTTPS": (9, 6), "asked, HTTPS": (9, 8), "return, HTTPS": (9, 5), "open, no HTTPS endpoint": (3, 2), "open": (3, 3),
}


class Visit(typing.NamedTuple):
    """Round trips that were waited for; seconds from the default route to the first packet, those that the processor worked for hotspotd and
    its helpers meanwhile, and the seconds from there to online."""
    trips: int
    first: float
    own: float
    online: float


class OwnTime:
    """The processor time of a program and of all that it started, between two moments."""

    def __init__(self, program: int):
        self.program = program
        self.before: dict[int, float] = {}
        self.spent = 0.0

    def times(self) -> dict[int, float]:
        times, found = {}, [self.program]
        while found:
            one = found.pop()
            try:
                # CPUCLOCK_SCHED of a whole process: what clock_getcpuclockid(3) returns.
                times[one] = time.clock_gettime(~one << 3 | 2)
                for children in pathlib.Path(f"/proc/{one}/task").glob("*/children"):
                    found += map(int, children.read_text().split())
            except OSError:
                # It has ended.
                pass
        return times

    def begin(self) -> None:
        self.before = self.times()

    def end(self) -> None:
        self.spent = sum(spent - self.before.get(one, 0) for one, spent in self.times().items())


class Trips:
    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report, self.options = fabric, report, options
        self.visits: dict[tuple[str, int], list[Visit]] = {}
        self.losses: list[float] = []
        self.milliseconds = ROUND_TRIP

    def run(self) -> None:
        self.fabric.waitUntilOpen()
        self.fabric.setRules(self.fabric.gate(FREE))
        self.setManners(0)
        self.fabric.startPortal("guest_portal", "ap", FREE.portal, "--port", str(PORTS["free"]), "--manners", str(RUN / "manners"))
        waitFor(lambda: (RUN / "guest_portal.ready").exists(), 20 * self.fabric.patience, "Pension Ida's portal")
        self.fabric.client = self.cable = LongCable(self.fabric)
        for self.milliseconds in ROUND_TRIPS if self.options.figures else [ROUND_TRIP]:
            self.cable.delay = self.milliseconds / 2000
            self.measure()
        self.tell()

    def measure(self) -> None:
        self.start(f"trips-{self.milliseconds}", "")
        for network, kind, replies in (
            (FREE, "HTTP", GUEST), (FREE, "HTTP without a name", GUEST), (TRAIN, "HTTPS", RIDER),
        ):
            self.setManners(kind.endswith("name"))
            for _ in range(VISITS):
                self.visit(f"asked, {kind}", network, replies)
                self.visit(f"return, {kind}", network)
                self.forgetChoices()
                self.visit(f"first visit, {kind}", network)
                self.daemon.ctl("forget", f"wired:{network.hardware}")
        for _ in range(VISITS):
            self.visit("open", HOME)
        self.end()
        # Only an endpoint of one's own comes without one over HTTPS.
        self.start(f"trips-plain-{self.milliseconds}", f"URL={networks.PROBE_URL}\n")
        for _ in range(VISITS):
            self.visit("open, no HTTPS endpoint", HOME)
        self.end()

    def setManners(self, byAddress: bool) -> None:
        """A login is answered by its page, not by a redirect to another; the portal has a name, or an address alone."""
        (RUN / "manners").write_text(json.dumps({"direct": 1, "address": int(byAddress)}))

    def start(self, name: str, probe: str) -> None:
        self.daemon = Daemon(self.fabric, pathlib.Path(self.options.bin), "PlainHTTPAnswers=automatic\n", match="net*", name=name)
        text = self.daemon.settings.read_text()
        probed = text[text.index("[Probe]"):text.index("[Policy]")]
        self.daemon.settings.write_text(text.replace(probed, f"[Probe]\n{probe}\n"))
        self.startDaemon()

    def startDaemon(self) -> None:
        self.daemon.start()
        self.own = OwnTime(self.daemon.process.pid)
        self.fabric.addresses.onRoute, self.cable.onFirst = self.own.begin, self.own.end
        self.monitor = Monitor(self.daemon)
        # A laptop has been online somewhere before.
        self.visit("somewhere", HOME)

    def end(self) -> None:
        self.monitor.stop()
        self.report.check("daemon.ends", self.daemon.stop() == 0)

    def forgetChoices(self) -> None:
        """The next visit is the first one, but for the stored answers."""
        self.end()
        with sqlite3.connect(next(self.daemon.state.glob("*.db"))) as store:
            for table in ("choices", "sessions"):
                store.execute(f"DELETE FROM {table}")
        store.close()
        self.startDaemon()

    def visit(self, kind: str, network: networks.Network, replies: list[tuple[str, str]] | None = None) -> None:
        mark = self.monitor.mark()
        self.fabric.join(network)
        try:
            if replies:
                self.monitor.waitFor({"presentingUI"}, mark, 30)
                _, screen = self.daemon.answerInTerminal(replies)
                self.report.say(f"$ hotspotctl answer\n{screen.rstrip()}")
            ends = {"authenticated", "inactive", "failure"} | (set() if replies else {"presentingUI"})
            event = self.monitor.waitFor(ends, mark, 60)
            if event["to"] != "authenticated":
                raise Trouble(f"{event['to']}: {self.monitor.shortStatus()}")
            ended, began = moment(event), self.cable.record[0][0]
            waves = self.cable.waves(ended)
            # What left less than a round trip before the end was not waited for.
            trips = sum(start + 2 * self.cable.delay <= ended for start, _ in waves) if self.milliseconds else 0
            visit = Visit(trips, began - self.fabric.addresses.routes[-1], self.own.spent, ended - began)
            self.visits.setdefault((kind, self.milliseconds), []).append(visit)
            if kind == "first visit, HTTP" and self.options.figures and not self.milliseconds:
                self.lose()
            self.report.heading(f"{kind}, {self.milliseconds} ms: {trips} trips, {visit.online:.3f} s, {len(waves)} waves; "
                                f"{visit.first * 1000:.0f} ms from the route to the first packet, {visit.own * 1000:.1f} ms of them hotspotd's")
            if self.milliseconds:
                for number, (_, wave) in enumerate(waves, 1):
                    self.report.say(f"{number}. {', '.join(wave)}")
        except Trouble as trouble:
            self.report.check(f"{kind}.done", False, str(trouble))
            self.daemon.keepTraces()
        finally:
            self.expel(network)
            self.monitor.leave()

    def expel(self, network: networks.Network) -> None:
        """The portal ends the session without telling."""
        for program, portal in (("guest_portal", FREE), ("wispr_portal", TRAIN)):
            if network is portal:
                self.fabric.processes[program].send_signal(signal.SIGUSR1)

    def lose(self) -> None:
        """The portal ends the session without telling, while the guest goes on using the network: a page every second."""
        mark = self.monitor.mark()
        self.expel(FREE)
        began = time.time()
        while time.time() - began < 60 and not self.monitor.transitions(mark):
            smoke.curl(self.fabric, "-m", "1", networks.PROBE_HTTPS_URL)
            time.sleep(1)
        self.losses.append(moment(self.monitor.transitions(mark)[0]) - began)

    def tell(self) -> None:
        chosen = ROUND_TRIPS if self.options.figures else [ROUND_TRIP]
        lines = [
            f"Trips: the fewest of {VISITS} visits. Online: seconds from the first packet, the median.", "",
            "| Journey | Plain sequence | Wanted | " + " | ".join(f"Trips at {one} ms | Online" for one in chosen if one)
            + " | Trips ÷ plain |" + (" Online without delay | Route to first packet | Of these hotspotd's |" if 0 in chosen else ""),
        ]
        lines.append("|---" * (lines[-1].count("|") - 1) + "|")
        for kind, (plain, wanted) in WANTED.items():
            cells = [kind, str(plain), str(wanted)]
            for one in chosen:
                visits = self.visits.get((kind, one), [])
                self.report.check(f"{kind}.{one}.measured", len(visits) == VISITS, f"{len(visits)} of {VISITS} visits")
                if one and visits:
                    fewest = min(visit.trips for visit in visits)
                    cells += [str(fewest), f"{statistics.median(visit.online for visit in visits):.2f} s"]
                    self.report.note(journey=kind, milliseconds=one, trips=fewest, visits=visits)
            cells.append(f"{min((visit.trips for visit in self.visits.get((kind, ROUND_TRIP), [])), default=0) / plain:.2f}")
            if visits := self.visits.get((kind, 0)):
                cells += [f"{statistics.median(visit.online for visit in visits) * 1000:.0f} ms",
                          f"{statistics.median(visit.first for visit in visits) * 1000:.0f} ms",
                          f"{statistics.median(visit.own for visit in visits) * 1000:.1f} ms"]
            lines.append(f"| {' | '.join(cells)} |")
        if self.options.figures:
            self.report.check("losses.measured", len(self.losses) == VISITS, str(self.losses))
            noticed = ", ".join(f"{loss:.0f} s" for loss in self.losses)
            lines += ["", f"A session that the portal ended, in use: noticed after {noticed} (15 s wanted)."]
        print("\n".join(lines), flush=True)
        (self.fabric.logs / "trips.md").write_text("\n".join(lines) + "\n")
