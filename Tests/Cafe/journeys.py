"""The journeys of a guest, over cables: what is asked, what is sent, how long it takes, and what the terminal says at the end.

Pension Ida asks for room number and surname over plain HTTP, as many do. The settings are the default ones but for the probe's
address, which is the café's own Internet; the short journeys are made once more with the short times of the other tests.
"""

import argparse
import contextlib
import json
import pathlib
import signal
import subprocess
import time

import networks
import smoke
from basics import HERE, PYTHON, RUN, Trouble, run, waitFor
from daemon import END, Daemon, Monitor, isQuestion, moment
from fabric import Fabric, PORTS
from networks import FREE, HOTEL
from report import Report
from station import Cable

GUEST = [(r"room", "12"), (r"surname", "Ferreira"), (r"terms|accept", "y"), (r"remember|keep", "y")]
LODGER = [(r"room", "214"), (r"surname", "Brandt"), (r"terms|accept", "y"), (r"remember|keep", "y")]
# Enter for all but the terms, which are accepted each time.
ENTER = [(r"terms|accept", "y")]
# The shortest times that a test of the daemon sets.
SHORT_TIMES = "[Commands]\nTimeoutSec=10\nLowGraceSec=1\nMaintainIntervalSec=1\n"
ENDS = {"authenticated", "presentingUI", "failure", "inactive"}


class Journeys:
    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report, self.options = fabric, report, options
        self.rows: list[dict] = []

    def run(self) -> None:
        self.fabric.waitUntilOpen()
        self.fabric.setRules(self.fabric.gate(FREE))
        self.fabric.startPortal("guest_portal", "ap", FREE.portal, "--port", str(PORTS["free"]), "--manners", str(RUN / "manners"))
        waitFor(lambda: (RUN / "guest_portal.ready").exists(), 20, "Pension Ida's portal")
        short = (
            self.firstVisit, self.comeBack, self.plainReturn, self.changedTerms, self.typo, self.refused, self.late5, self.restart,
            self.loginWhileOnline, self.logOffAndIn, self.endedByThePortal, self.browser, self.forgotten,
        )
        self.make("hotspotd", "", (
            self.firstVisit, self.comeBack, self.plainReturn, self.changedTerms, self.changedKey, self.typo, self.refused,
            self.late5, self.late12, self.late40, self.restart, self.loginWhileOnline, self.logOffAndIn, self.endedByThePortal,
            self.browser, self.twoInterfaces, self.switched, self.never, self.pin, self.walkedAway, self.forgotten,
        ))
        self.make("short", SHORT_TIMES, short)

    def make(self, name: str, settings: str, journeys: tuple) -> None:
        """Makes these journeys with a daemon of this name, from nothing."""
        self.kind, self.rows = name, []
        self.endSession()
        self.daemon = Daemon(self.fabric, pathlib.Path(self.options.bin), settings, match="net*", name=name, acceptTerms=False)
        self.daemon.start()
        self.monitor = Monitor(self.daemon)
        for journey in journeys:
            self.attempt(journey)
        self.table()
        self.daemon.keepTraces()
        if self.fabric.joined:
            self.monitor.leave()
        self.monitor.stop()
        ended = self.daemon.stop()
        self.report.check("daemon.ends" if name == "hotspotd" else f"{name}.ends", ended == 0, f"exit status {ended}")

    def attempt(self, journey) -> None:
        name = journey.__name__ if self.kind == "hotspotd" else f"{self.kind}.{journey.__name__}"
        self.report.heading(journey.__doc__.rstrip("."))
        self.manner()
        self.row = {"journey": journey.__doc__.rstrip("."), "asked": "", "sent": "", "online": "", "status": ""}
        self.name, self.portal, self.mark, self.sent = name, "guest", self.monitor.mark(), len(self.fabric.transcript())
        self.connected = time.time()
        try:
            journey()
        except (Trouble, subprocess.SubprocessError, OSError) as trouble:
            self.report.check(f"journeys.{name}.done", False, str(trouble))
            self.daemon.keepTraces()
        self.rows.append(self.row)

    # MARK: What a guest does

    def manner(self, **manners: int) -> None:
        (RUN / "manners").write_text(json.dumps(manners))

    def arrive(self, network=FREE) -> dict:
        """Joins, and returns where that leads."""
        if self.fabric.joined:
            self.monitor.leave()
        self.mark, self.sent = self.monitor.mark(), len(self.fabric.transcript())
        self.connected, _ = self.fabric.join(network)
        return self.until(ENDS)

    def until(self, states: set[str], seconds: float = 60) -> dict:
        return self.monitor.waitFor(states, self.mark, seconds)

    def answer(self, replies: list[tuple[str, str]], seconds: float = 60, isLeft: bool = False) -> str:
        """Answers in the terminal, and waits for the login, unless the guest leaves it at that."""
        mark = self.monitor.mark()
        status, screen = self.daemon.answerInTerminal(replies)
        self.report.say(f"$ hotspotctl answer\n{screen.rstrip()}")
        if not isLeft:
            self.monitor.waitFor({"authenticated"}, mark, seconds)
        return screen

    def prompts(self, mark: int) -> int:
        return sum(isQuestion(step) for step in self.monitor.steps(mark))

    def logIn(self) -> None:
        """A first visit from nothing, with answers that are remembered."""
        self.forget()
        self.arrive()
        self.answer(GUEST)

    @contextlib.contextmanager
    def settings(self, line: str):
        """One more line in [Policy], for a while."""
        before = self.daemon.settings.read_text()
        try:
            self.daemon.settings.write_text(before.replace("[Policy]\n", f"[Policy]\n{line}\n"))
            self.daemon.process.send_signal(signal.SIGHUP)
            yield
        finally:
            self.daemon.settings.write_text(before)
            self.daemon.process.send_signal(signal.SIGHUP)

    def startAgain(self) -> None:
        self.daemon.process.kill()
        self.daemon.process.wait()
        self.monitor.stop()
        self.daemon.start()
        self.monitor = Monitor(self.daemon)

    def endSession(self) -> None:
        ended = RUN / "guest_portal.ended"
        ended.unlink(missing_ok=True)
        self.fabric.processes["guest_portal"].send_signal(signal.SIGUSR1)
        # A guest who arrives earlier finds the gate open.
        waitFor(ended.exists, 20, "the portal ends its sessions")

    def forget(self) -> None:
        self.endSession()
        if self.fabric.joined:
            self.monitor.leave()
        self.daemon.ctl("forget", f"wired:{FREE.hardware}")

    def begin(self) -> None:
        """Counts from here on."""
        self.mark, self.sent, self.connected = self.monitor.mark(), len(self.fabric.transcript()), time.time()

    def posts(self) -> list[dict]:
        return [entry for entry in self.requests() if entry.get("method") == "POST"]

    def requests(self) -> list[dict]:
        return [entry for entry in self.fabric.transcript()[self.sent:] if entry["portal"] == self.portal]

    def settled(self) -> dict | None:
        """The status, unless the session is being checked: with short times each second."""
        status = self.daemon.status()
        return status if status.get("state") != "maintaining" else None

    def end(self, asked: int, posts: int, state: str = "authenticated", helper: str | None = "form") -> None:
        """Checks what the journey came to, and fills its row."""
        status, steps = waitFor(self.settled, 30, "the end of a check of the session"), self.monitor.transitions(self.mark)
        prompts = self.prompts(self.mark)
        online = [moment(step) - self.connected for step in steps if step["to"] == "authenticated"]
        said = self.daemon.ctl("status").stdout
        self.report.say(f"$ hotspotctl status\n{said.rstrip()}")
        self.row |= {"asked": prompts, "sent": len(self.requests()), "online": f"{online[0]:.1f} s" if online else "–",
                     "status": " ".join(said.splitlines()[0].split())}
        path = " → ".join(step["to"] for step in steps)
        self.report.check(f"journeys.{self.name}.state", status.get("state") == state, f"{status.get('state')}: {path}")
        if state == "authenticated":
            self.report.check(f"journeys.{self.name}.helper", status.get("helper") == helper, str(status.get("helper")))
        self.report.check(f"journeys.{self.name}.asked", prompts == asked, f"{prompts} times: {path}")
        self.report.check(f"journeys.{self.name}.sent", len(self.posts()) == posts, f"{len(self.posts())} forms were sent")

    def check(self, name: str, right: bool, detail: str = "") -> None:
        self.report.check(f"journeys.{self.name}.{name}", right, detail)

    # MARK: The journeys

    def firstVisit(self) -> None:
        """First visit."""
        self.arrive()
        self.answer(GUEST)
        self.end(asked=1, posts=1)

    def comeBack(self) -> None:
        """Return, and the portal still knows the laptop."""
        self.arrive()
        self.end(asked=0, posts=0)

    def plainReturn(self) -> None:
        """Return over plain HTTP: the answers stand there, Enter sends them."""
        self.endSession()
        self.arrive()
        screen = self.answer(ENTER)
        self.check("shown", "12" in screen and "Ferreira" in screen, screen)
        self.end(asked=1, posts=1)

    def changedTerms(self) -> None:
        """Return, and the terms have changed."""
        self.endSession()
        self.manner(terms=2)
        self.arrive()
        screen = self.answer(ENTER)
        self.check("shown", "version 2" in screen, screen)
        self.end(asked=1, posts=1)

    def changedKey(self) -> None:
        """Return, and the portal has another key."""
        self.portal = "hotel"
        self.arrive(HOTEL)
        self.answer(LODGER)
        smoke.logOff(self.fabric, HOTEL)
        self.monitor.leave()
        self.fabric.changeKey(HOTEL)
        self.arrive(HOTEL)
        screen = self.answer(LODGER)
        self.check("told", "key differs" in screen, screen)
        self.end(asked=1, posts=1, helper="portal-api")
        self.monitor.leave()

    def typo(self) -> None:
        """A typo in the room number, corrected."""
        self.forget()
        self.arrive()
        screen = self.answer([(r"room", ["21", "12"]), (r"surname", ["Ferreira", ""]), *GUEST[2:]])
        self.check("default", "21" in screen and "Ferreira" in screen, screen)
        self.check("reason", "do not match" in screen, screen)
        self.end(asked=2, posts=2)

    def refused(self) -> None:
        """Refused, and left at that."""
        self.forget()
        self.arrive()
        self.answer([(r"room", ["99", END]), *GUEST[1:]], isLeft=True)
        time.sleep(3)
        self.end(asked=2, posts=1, state="presentingUI")

    def late(self, seconds: int) -> None:
        self.manner(delay=seconds)
        self.forget()
        self.arrive()
        self.answer(GUEST, 150)
        self.end(asked=1, posts=1)
        self.begin()
        self.manner()
        done = self.daemon.ctl("logoff")
        self.check("logoff", done.returncode == 0, done.stdout + done.stderr)

    def late5(self) -> None:
        """The gateway opens 5 s after the login."""
        self.late(5)

    def late12(self) -> None:
        """The gateway opens 12 s after the login."""
        self.late(12)

    def late40(self) -> None:
        """The gateway opens 40 s after the login."""
        self.late(40)

    def restart(self) -> None:
        """The daemon is killed while online, and starts again."""
        self.logIn()
        self.startAgain()
        self.begin()
        waitFor(lambda: self.daemon.status().get("state") == "authenticated", 30, "the daemon is online again")
        self.end(asked=0, posts=0)
        done = self.daemon.ctl("logoff")
        self.check("logoff", done.returncode == 0, done.stdout + done.stderr)

    def loginWhileOnline(self) -> None:
        """login while online."""
        self.logIn()
        self.begin()
        done = self.daemon.ctl("login")
        self.report.say(f"$ hotspotctl login\n{(done.stdout + done.stderr).rstrip()}")
        self.check("status", done.returncode == 0, f"exit {done.returncode}")
        self.until({"authenticated"})
        self.end(asked=0, posts=0)
        done = self.daemon.ctl("logoff")
        self.check("logoff", done.returncode == 0, done.stdout + done.stderr)

    def logOffAndIn(self) -> None:
        """logoff and login."""
        self.logIn()
        done = self.daemon.ctl("logoff")
        self.check("logoff", done.returncode == 0, done.stdout + done.stderr)
        self.begin()
        self.daemon.ctl("login")
        self.until({"presentingUI", "authenticated"})
        screen = self.answer(ENTER)
        self.check("termsStayAccepted", "[y/n]" not in screen, screen)
        self.end(asked=1, posts=1)

    def endedByThePortal(self) -> None:
        """The portal ends the session."""
        self.logIn()
        self.begin()
        self.endSession()
        for _ in range(20):
            # The guest goes on using the network.
            smoke.curl(self.fabric, "-m", "1", networks.PROBE_HTTPS_URL)
            time.sleep(1)
            if self.prompts(self.mark):
                break
        self.answer(ENTER)
        self.end(asked=1, posts=1)

    def browser(self) -> None:
        """A browser is used while the question waits."""
        self.forget()
        self.arrive()
        smoke.curl(self.fabric, "-d", "room=12", "-d", "surname=Ferreira", "-d", "terms=yes", f"http://{FREE.portal}/login")
        self.until({"authenticated"})
        self.end(asked=1, posts=1, helper=None)
        self.check("withdrawn", self.daemon.json("prompts")["prompts"] == [])

    def twoInterfaces(self) -> None:
        """A second cable into another network."""
        self.logIn()
        second = SecondCable(self.fabric)
        self.begin()
        second.join(HOTEL)
        self.monitor.waitFor({"presentingUI", "authenticated"}, self.mark, 60, link=second.link)
        said = self.daemon.ctl("status").stdout
        self.check("both", "net0" in said and second.link in said, said)
        self.end(asked=0, posts=0)
        second.leave()

    def switched(self) -> None:
        """The helper is switched off and on again."""
        self.forget()
        done = self.daemon.ctl("disable", "--helper", "form")
        self.check("disable", done.returncode == 0, done.stdout + done.stderr)
        self.arrive()
        # No helper is left that could log in: a browser may.
        self.check("off", self.daemon.status().get("helper") == "browser", str(self.daemon.status()))
        said = self.daemon.ctl("status").stdout
        self.check("told", "form" in said, said)
        mark = self.monitor.mark()
        done = self.daemon.ctl("enable", "--helper", "form")
        self.check("enable", done.returncode == 0, done.stdout + done.stderr)
        self.monitor.waitFor({"presentingUI"}, mark, 20)
        self.answer(GUEST)
        self.end(asked=2, posts=1)

    def never(self) -> None:
        """Remember=never: nothing is kept."""
        self.forget()
        with self.settings("Remember=never"):
            self.arrive()
            self.answer(GUEST)
            self.end(asked=1, posts=1)
            octets = b"".join(path.read_bytes() for path in self.daemon.state.rglob("*") if path.is_file())
            self.check("nothing", b"Ferreira" not in octets and not self.stored(), "a credential is stored")

    def pin(self) -> None:
        """A PIN guards the answers; it is asked once after a start."""
        self.logIn()
        done = self.daemon.ctl("credentials", "pin", given="4711\n")
        self.check("set", done.returncode == 0, done.stdout + done.stderr)
        self.startAgain()
        self.endSession()
        self.monitor.leave()
        self.arrive()
        screen = self.answer([(r"PIN", "4711"), *ENTER])
        self.check("asked", "PIN of" in screen and "4711" not in screen, screen)
        self.end(asked=1, posts=1)
        self.endSession()
        self.monitor.leave()
        self.arrive()
        screen = self.answer(ENTER)
        self.check("askedOnce", "PIN of" not in screen, screen)
        self.daemon.ctl("credentials", "pin", "--remove", given="4711\n")

    def stored(self) -> list:
        kept = self.daemon.json("credentials", "list").get("credentials", [])
        return [entry for entry in kept if FREE.hardware in entry["ssid"]]

    def walkedAway(self) -> None:
        """LogoffOn=sleep: the guest walks away, and comes back."""
        bus = pathlib.Path("/run/dbus")
        bus.mkdir()
        self.fabric.start("bus", ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address=unix:path={bus}/system_bus_socket"])
        waitFor((bus / "system_bus_socket").exists, 10, "the bus")
        self.fabric.start("logind", [PYTHON, "-B", str(HERE / "logind.py"), str(RUN / "logind.ready")])
        waitFor((RUN / "logind.ready").exists, 10, "logind")
        self.logIn()
        with self.settings("LogoffOn=sleep"):
            self.begin()
            # Until the bus has the daemon's wish, it passes on nothing.
            deadline = time.monotonic() + 20
            while not any(step["to"] == "loggingOff" for step in self.monitor.transitions(self.mark)) and time.monotonic() < deadline:
                self.fabric.processes["logind"].send_signal(signal.SIGUSR1)
                time.sleep(0.3)
            self.until({"inactive"})
            left = [entry for entry in self.requests() if entry.get("remark") == "logged out"]
            self.check("logoff", len(left) == 1, f"{len(left)} logoffs")
            self.fabric.processes["logind"].send_signal(signal.SIGUSR2)
            self.until({"presentingUI"})
            self.answer(ENTER)
            self.end(asked=1, posts=1)

    def forgotten(self) -> None:
        """Forgotten, and asked as at the first visit."""
        self.logIn()
        self.forget()
        self.arrive()
        screen = self.answer(GUEST)
        self.check("nothingKnown", "Ferreira]" not in screen and "another" not in screen, screen)
        self.end(asked=1, posts=1)

    # MARK: The table

    def table(self) -> None:
        self.report.heading("The journeys" if self.kind == "hotspotd" else "The journeys, with short times")
        lines = ["| Journey | Questions | Requests to the portal | Online after | status |", "|---|---|---|---|---|"]
        for row in self.rows:
            lines.append("| {journey} | {asked} | {sent} | {online} | {status} |".format(**row))
        self.report.say("\n".join(lines))
        (self.fabric.logs / f"journeys-{self.kind}.md").write_text("\n".join(lines) + "\n")


class SecondCable(Cable):
    """One more cable and one more socket in the wall."""

    def __init__(self, fabric: Fabric):
        super().__init__(fabric, "net1", metric=200)
        run("ip", "-n", "ap", "link", "add", "socket1", "type", "veth", "peer", "name", self.link, "netns", "cli")
        run("ip", "-n", "cli", "link", "set", self.link, "up")

    def attach(self, network) -> None:
        run("ip", "-n", "ap", "link", "set", "socket1", "master", network.access, "up")

    def detach(self) -> None:
        run("ip", "-n", "ap", "link", "del", "socket1")

    def leave(self) -> None:
        self.fabric.leases.end(self)
        self.detach()
