"""Round trips from the address to online, one after the other, on a cable that delays all packets; each wave of packets is shown.

The settings are the default ones but for stored answers over plain HTTP, which are sent without a question. The probe has its usual
endpoints, whose names lead to the café's own Internet.
"""

import argparse
import json
import pathlib
import signal
import sqlite3
import statistics

import networks
from basics import RUN, Trouble, waitFor
from cable import LongCable
from daemon import Daemon, Monitor, moment
from fabric import PORTS, Fabric
from networks import FREE, HOME, TRAIN
from report import Report

GUEST = [(r"room", "12"), (r"surname", "Ferreira"), (r"terms|accept", "y"), (r"remember|keep", "y")]
RIDER = [(r"user", "rider@trainnet.example"), (r"password", "tunnel-vision"), (r"remember|keep", "y")]
# Milliseconds in each direction.
DELAY = 100
# The fewest of this number of visits are reported: what is sent again, and what is out of step, adds to the others.
VISITS = 3
# The trips of the plain sequence, and those that are wanted.
WANTED = {
    "first visit, HTTP": (8, 6), "asked, HTTP": (8, 8), "return, HTTP": (8, 5),
    "first visit, HTTP without a name": (7, 6), "asked, HTTP without a name": (7, 8), "return, HTTP without a name": (7, 5),
    "first visit, HTTPS": (9, 6), "asked, HTTPS": (9, 8), "return, HTTPS": (9, 5), "open, no HTTPS endpoint": (3, 2), "open": (3, 3),
}


class Trips:
    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report, self.options = fabric, report, options
        self.rows: dict[str, list[tuple[int, float]]] = {}

    def run(self) -> None:
        self.fabric.waitUntilOpen()
        self.fabric.setRules(self.fabric.gate(FREE))
        self.setManners(0)
        self.fabric.startPortal("guest_portal", "ap", FREE.portal, "--port", str(PORTS["free"]), "--manners", str(RUN / "manners"))
        waitFor(lambda: (RUN / "guest_portal.ready").exists(), 20, "Pension Ida's portal")
        self.fabric.client = self.cable = LongCable(self.fabric, DELAY)
        self.start("trips", "")
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
        self.start("trips-plain", f"URL={networks.PROBE_URL}\n")
        for _ in range(VISITS):
            self.visit("open, no HTTPS endpoint", HOME)
        self.end()
        self.tell()

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
            waves = self.cable.waves(moment(event))
            # The first packet goes out with the address; what the daemon needs before it is measured elsewhere.
            took = moment(event) - self.cable.record[0][0]
            # The last wave may have left while the answer to the one before was under way, and nothing waits for it.
            trips = int(took / (2 * self.cable.delay))
            self.rows.setdefault(kind, []).append((trips, took))
            self.report.heading(f"{kind}: {trips} trips, {took:.2f} s, {len(waves)} waves")
            for number, wave in enumerate(waves, 1):
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

    def tell(self) -> None:
        lines = [f"Round trip {2 * DELAY} ms, fewest of {VISITS} visits; own time: the median beside these trips.", "",
                 "| Journey | Plain sequence | Wanted | Measured | Own time |", "|---|---|---|---|---|"]
        for kind, (plain, wanted) in WANTED.items():
            visits = self.rows.get(kind, [])
            trips = min((count for count, _ in visits), default=None)
            own = statistics.median(took - count * 2 * self.cable.delay for count, took in visits) if visits else 0
            lines.append(f"| {kind} | {plain} | {wanted} | {'–' if trips is None else trips} | {own * 1000:.0f} ms |")
            self.report.check(f"{kind}.measured", len(visits) == VISITS, f"{len(visits)} of {VISITS} visits")
            self.report.note(journey=kind, trips=trips, own=own)
        print("\n".join(lines), flush=True)
        (self.fabric.logs / "trips.md").write_text("\n".join(lines) + "\n")
