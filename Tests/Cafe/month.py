"""A month of a laptop's life, from one seed, in the virtual laptop, whose clock skips the hours in which nothing happens.

Each day the laptop is plugged into one or two of three networks for up to two hours, and sleeps at night. Portals end sessions,
in use and between visits; one gets another key; the helpers' files are written again as by an upgrade; once the clock is set
back. Each night the daemon is measured: what it keeps must not grow. The journal is kept for a week instead of 90 days, so that
it reaches its limit, and a session is renewed every hour instead of every five minutes, because each renewal costs the emulated
processor seconds.
"""

import argparse
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import time

import smoke
from basics import HERE, PYTHON, RUN, Trouble, run, waitFor
from daemon import Daemon, Monitor, isQuestion
from fabric import Fabric, PORTS
from journeys import GUEST, LODGER
from networks import FREE, HOTEL, PROBE_HTTPS_URL, TRAIN, Network
from report import Report
from trips import RIDER, OwnTime

PROGRAMS = {FREE: "guest_portal", HOTEL: "hotel_portal", TRAIN: "wispr_portal"}
REPLIES = {FREE: GUEST, HOTEL: LODGER, TRAIN: RIDER}
SETTINGS = """PlainHTTPAnswers=automatic
LogoffOn=sleep

[Commands]
MaintainIntervalSec=3600

[Daemon]
HistoryDays=7
LogLevel=info
"""
# A bus that lets everyone play everything: the laptop has no settings for one, and the shipped ones start services.
BUS = """<busconfig><type>system</type><listen>unix:path={}</listen><auth>EXTERNAL</auth><policy context="default">
<allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy></busconfig>
"""
HOUR, DAY = 3600, 86400
# The kernel's own tasks that would wake the laptop up each second or more often.
QUIET = ["vm.compaction_proactiveness=0", "vm.stat_interval=86400", "vm.dirty_writeback_centisecs=0"]
# Columns of a night: the name, and by what factor and by how much more the last night may exceed that of day 10. The database and
# the journal follow the number of visits in a week, which chance decides; work follows those of a day, and is compared as a mean
# of ten days.
COLUMNS = {
    "VmRSS KiB": (1, 512), "RssAnon KiB": (1, 256), "descriptors": (1, 0), "processes": (1, 0), "files": (1, 0),
    "database KiB": (1.5, 64), "steps": (1.5, 100), "wake-ups": (1.5, 100), "processor ms": (1.5, 100),
}
MEANS = {"wake-ups", "processor ms"}


class Month:
    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report, self.options = fabric, report, options
        self.chance = random.Random(options.seed)
        self.nights: list[dict[str, float]] = []
        # Networks that have to ask: those that were never visited, and the one whose portal has another key.
        self.unknown = set(REPLIES)
        self.visits = 0

    def run(self) -> None:
        self.prepare()
        self.daemon = Daemon(self.fabric, pathlib.Path(self.options.bin), SETTINGS, name="month")
        self.daemon.start()
        self.monitor = Monitor(self.daemon)
        self.before = self.work()
        self.began = time.monotonic()
        middle = self.options.days // 2
        special = {middle - 3: self.setBack, middle: self.changeKey, middle + 2: self.upgrade}
        for day in range(1, self.options.days + 1):
            self.report.heading(f"Day {day}")
            special.get(day, lambda: None)()
            for _ in range(self.chance.randint(1, 2)):
                self.attempt(day)
            self.night(day)
        self.tell()
        self.end()

    def prepare(self) -> None:
        self.fabric.waitUntilOpen()
        # It looks around every few seconds, and its network is not visited.
        self.fabric.processes["opennds"].kill()
        run("sysctl", "-qw", *QUIET)
        self.fabric.setRules(self.fabric.gate(FREE))
        more = ("--port", str(PORTS["free"]), "--manners", str(RUN / "manners"))
        self.fabric.startPortal("guest_portal", "ap", FREE.portal, *more)
        waitFor((RUN / "guest_portal.ready").exists, 20 * self.fabric.patience, "Pension Ida's portal")
        bus = pathlib.Path("/run/dbus/system_bus_socket")
        bus.parent.mkdir(exist_ok=True)
        (RUN / "bus.conf").write_text(BUS.format(bus))
        self.fabric.start("bus", ["dbus-daemon", f"--config-file={RUN}/bus.conf", "--nofork", "--nopidfile"])
        waitFor(bus.exists, 50, "the bus")
        self.fabric.start("logind", [PYTHON, "-B", str(HERE / "logind.py"), str(RUN / "logind.ready")])
        waitFor((RUN / "logind.ready").exists, 50, "logind")

    # MARK: A day

    def attempt(self, day: int) -> None:
        network, hours = self.chance.choice(list(REPLIES)), self.chance.uniform(0.2, 2)
        self.visits += 1
        name = f"month.day{day}.visit{self.visits}"
        try:
            done = self.visit(network, hours)
            self.report.check(name, done == "", f"{network.ssid}: {done}")
        except (Trouble, subprocess.SubprocessError, OSError) as trouble:
            self.report.check(name, False, f"{network.ssid}: {trouble}")
            self.daemon.keepTraces()
            self.fabric.leave()
        time.sleep(self.chance.uniform(0.5, 2) * HOUR)

    def visit(self, network: Network, hours: float) -> str:
        """What was not as expected."""
        if self.fabric.joined:
            self.monitor.leave()
        if self.chance.random() < 0.5:
            self.endSession(network)
        mark, asked = self.monitor.mark(), network in self.unknown
        self.fabric.join(network)
        if asked:
            self.monitor.waitFor({"presentingUI"}, mark, 150)
            self.daemon.answerInTerminal(REPLIES[network])
            self.unknown.discard(network)
        self.monitor.waitFor({"authenticated"}, mark, 150)
        time.sleep(hours * HOUR)
        if self.chance.random() < 0.3:
            # The portal ends the session, and the guest goes on using the network.
            ended = self.monitor.mark()
            self.endSession(network)
            deadline = time.monotonic() + HOUR
            while not self.isOnlineAgain(ended) and time.monotonic() < deadline:
                smoke.curl(self.fabric, "-o", "/dev/null", "-m", "1", PROBE_HTTPS_URL)
                time.sleep(10)
        waitFor(lambda: self.daemon.status().get("state") == "authenticated", 150, "online at the end")
        questions = sum(isQuestion(step) for step in self.monitor.steps(mark))
        return "" if questions == asked else f"{questions} questions instead of {int(asked)}"

    def isOnlineAgain(self, mark: int) -> bool:
        return any(event["to"] == "authenticated" for event in self.monitor.transitions(mark))

    def endSession(self, network: Network) -> None:
        self.fabric.processes[PROGRAMS[network]].send_signal(signal.SIGUSR1)

    def night(self, day: int) -> None:
        """Sleeps from the last visit to the morning: logind says so, and the cable has no carrier."""
        mark = self.monitor.mark()
        joined = self.fabric.joined
        self.fabric.processes["logind"].send_signal(signal.SIGUSR1)
        if joined:
            self.monitor.waitFor({"inactive"}, mark, 60)
            self.fabric.leave()
        time.sleep(max(HOUR, self.began + day * DAY - time.monotonic()))
        self.measure()
        self.fabric.processes["logind"].send_signal(signal.SIGUSR2)

    # MARK: What happens once

    def setBack(self) -> None:
        self.report.say("The clock is set back by 36 hours.")
        time.clock_settime(time.CLOCK_REALTIME, time.time() - 36 * HOUR)

    def changeKey(self) -> None:
        self.report.say(f"The portal of {HOTEL.ssid} has another key.")
        self.endSession(HOTEL)
        time.sleep(5)
        self.fabric.changeKey(HOTEL)
        self.unknown.add(HOTEL)

    def upgrade(self) -> None:
        self.report.say("The helpers' files are written again.")
        for file in sorted(self.daemon.helpers.glob("*.helper")):
            new = file.with_suffix(".new")
            new.write_text(file.read_text())
            new.rename(file)

    # MARK: Figures

    def work(self) -> tuple[int, float]:
        """How often the daemon has slept, each time to wake up once; the milliseconds that it ran (clock_getcpuclockid(3))."""
        process = self.daemon.process.pid
        words = pathlib.Path(f"/proc/{process}/status").read_text().split()
        return int(words[words.index("voluntary_ctxt_switches:") + 1]), 1000 * time.clock_gettime(~process << 3 | 2)

    def measure(self) -> None:
        process = pathlib.Path(f"/proc/{self.daemon.process.pid}")
        words = (process / "status").read_text().split()
        files = list(self.daemon.state.glob("*.db*"))
        database = next(file for file in files if file.suffix == ".db")
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            steps = connection.execute("SELECT count(*) FROM steps").fetchone()[0]
        connection.close()
        before, self.before = self.before, self.work()
        helpers = OwnTime(self.daemon.process.pid)
        values = (
            int(words[words.index("VmRSS:") + 1]), int(words[words.index("RssAnon:") + 1]), len(os.listdir(process / "fd")),
            len(helpers.times()) - 1, len(self.runtimeFiles()), sum(file.stat().st_size for file in files) // 1024,
            steps, self.before[0] - before[0], round(self.before[1] - before[1]),
        )
        self.nights.append(dict(zip(COLUMNS, values, strict=True)))
        self.report.say(", ".join(f"{name} {value}" for name, value in self.nights[-1].items()))

    def runtimeFiles(self) -> list[str]:
        return sorted(str(path.relative_to(self.daemon.runtime)) for path in self.daemon.runtime.rglob("*"))

    def tell(self) -> None:
        self.report.heading(f"{self.options.days} days of seed {self.options.seed}, {self.visits} visits")
        lines = [f"| day | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
        lines += [f"| {day} | {' | '.join(map(str, night.values()))} |" for day, night in enumerate(self.nights, 1)]
        self.report.say("\n".join(lines))
        (self.fabric.logs / "month.md").write_text("\n".join(lines) + "\n")
        tenth = 10
        if len(self.nights) < 2 * tenth:
            return self.report.say("Too few days to compare: the journal is not full before day 8.")
        for name, (factor, more) in COLUMNS.items():
            values = [night[name] for night in self.nights]
            early, late = values[tenth - 1], values[-1]
            if name in MEANS:
                early, late = sum(values[:tenth]) / tenth, sum(values[-tenth:]) / tenth
            detail = f"{early:g} by day {tenth}, {late:g} at the end"
            self.report.check(f"month.flat.{name}", late <= early * factor + more, detail)

    def end(self) -> None:
        self.report.check("month.alive", self.daemon.process.poll() is None, self.fabric.lastWords(self.daemon.name))
        self.monitor.stop()
        ended = self.daemon.stop()
        self.report.check("month.ends", ended == 0, f"exit status {ended}")
        left = run("pgrep", "-af", str(self.daemon.programs), check=False).stdout.strip()
        self.report.check("month.noProcessLeft", left == "", left)
        # A lock that is removed would let two daemons in: one has the old file, the other makes a new one.
        files = [name for name in self.runtimeFiles() if name != "lock" and not (self.daemon.runtime / name).is_dir()]
        self.report.check("month.noFileLeft", files == [], ", ".join(files))
