"""The six steps, in order, on one screen, with the real programs."""

import argparse
import pathlib
import subprocess
import time

import figures
import networks
import smoke
from daemon import Daemon, Monitor, moment
from fabric import Fabric, Trouble
from networks import AROMA, HOTEL, TRAIN, Network
from report import Report

GUEST = [(r"room", "214"), (r"surname|last name", "Brandt"), (r"terms|accept", "y"), (r"remember|keep", "y")]
RIDER = [(r"user|account", "rider@trainnet.example"), (r"pass", "tunnel-vision"), (r"terms|accept", "y"), (r"remember|keep", "y")]
SECRETS = [b"Brandt", b"tunnel-vision"]


class Director:
    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report, self.options = fabric, report, options
        self.radio = fabric.mode == "radio"
        self.took: dict[str, float] = {}

    def run(self) -> None:
        if not self.radio:
            self.fabric.waitUntilOpen()
        self.daemon = Daemon(self.fabric, pathlib.Path(self.options.bin))
        self.daemon.start()
        self.report.say("hotspotd runs; its settings:")
        self.report.say("\n".join("  " + line for line in self.daemon.settings.read_text().splitlines() if line))
        self.monitor = Monitor(self.daemon)
        steps = [self.list, self.joinAndLogIn, self.question, self.comeBack, self.logOff, self.train]
        for step in steps:
            try:
                step()
            except (Trouble, subprocess.SubprocessError) as trouble:
                self.report.check(f"{step.__name__}.done", False, str(trouble))
                self.daemon.keepTraces()
                self.fabric.leave()
                if self.daemon.process.poll() is not None:
                    self.report.check("daemon.alive", False, self.fabric.lastWords("hotspotd"))
                    return
        self.end()
        if self.options.figures:
            self.report.heading("Figures")
            figures.Figures(self.fabric, self.report, self.daemon, self.options.idle_seconds).run()

    # MARK: Telling

    def show(self, *words: str) -> str:
        done = self.daemon.ctl(*words)
        self.report.say(f"$ hotspotctl {' '.join(words)}".rstrip())
        self.report.say((done.stdout + done.stderr).rstrip())
        return done.stdout

    def tellTransitions(self, mark: int, since: float) -> list[str]:
        path: list[str] = []
        for event in self.monitor.transitions(mark):
            by = f"  ({event['helper']})" if event.get("helper") else ""
            self.report.say(f"{moment(event) - since:+7.2f} s  {event.get('from')} → {event['to']}{by}")
            path += [event["to"]] if path else [str(event.get("from")), event["to"]]
        return path

    def join(self, network: Network, states: set[str], seconds: float = 90) -> tuple[list[str], float, dict]:
        """Joins and tells the states as they pass; returns them, the connect moment, and the event that was waited for."""
        mark = self.monitor.mark()
        self.report.say(f"joining {network.ssid}" if self.radio else f"plugging the cable into {network.ssid}")
        connected, addressed = self.fabric.join(network)
        event = self.monitor.waitFor(states, mark, seconds)
        self.report.say(f"{0:+7.2f} s  connected")
        self.report.say(f"{addressed - connected:+7.2f} s  address from DHCP")
        return self.tellTransitions(mark, connected), connected, event

    def leave(self) -> None:
        mark = self.monitor.mark()
        # A held interface is inactive already and has nowhere to go.
        resting = self.daemon.status().get("state") == "inactive"
        self.fabric.leave()
        if not resting:
            self.monitor.waitFor({"inactive"}, mark, 15)

    def proof(self, name: str) -> None:
        page = smoke.curl(self.fabric, networks.PAGE_URL)
        line = next((part for part in page.splitlines() if "Internet side" in part), page[:200])
        self.report.say(f"$ curl {networks.PAGE_URL}")
        self.report.say(line)
        self.report.check(name, "Internet side" in page, page[:300])

    # MARK: The steps

    def list(self) -> None:
        self.report.heading("1. What is in sight, and who would take care of it" if self.radio else "1. The helpers (no radio, no list)")
        if not self.radio:
            self.show("helpers")
            names = {helper["name"] for helper in self.daemon.json("helpers")["helpers"]}
            self.report.check("helpers.known", {"form", "wispr", "portal-api"} <= names, str(names))
            return
        wanted = {network.ssid for network in networks.ALL}
        # Looking on is what makes the daemon scan; a single list shows what is known.
        found = self.daemon.watchList(wanted, 45)
        self.show("list")
        self.report.check("list.names", wanted <= set(found), f"seen {sorted(found)}")
        self.report.check("list.signal", all(-100 < entry["signal"] < 0 for entry in found.values()))
        securities = {ssid: entry["security"] for ssid, entry in found.items()}
        right = securities.get(AROMA.ssid) == "open" and securities.get(networks.HOME.ssid) == "psk"
        self.report.check("list.security", right, str(securities))
        claims = {ssid: [claim["helper"] for claim in entry["claims"]] for ssid, entry in found.items()}
        self.report.check("list.claims", "wispr" in claims.get(TRAIN.ssid, []) and not claims.get(networks.HOME.ssid), str(claims))
        self.fabric.waitUntilOpen()

    def joinAndLogIn(self) -> None:
        self.report.heading(f"2. Joining {AROMA.ssid}")
        path, connected, event = self.join(AROMA, {"authenticated", "failure", "presentingUI"})
        self.took["first"] = moment(event) - connected
        self.report.check("join.states", path == ["inactive", "evaluating", "authenticating", "authenticated"], " → ".join(path))
        self.report.heading("3. Logged in without a word (the settings say AcceptTerms=yes)")
        self.show("status")
        status = self.daemon.status()
        self.report.check("silent.authenticated", status.get("state") == "authenticated" and bool(status.get("helper")), str(status))
        self.report.check("silent.noPrompt", self.daemon.json("prompts")["prompts"] == [])
        self.proof("silent.page")
        word = self.show("check").strip()
        self.report.check("silent.check", word == "online", word)
        self.show("explain")
        self.leave()

    def question(self) -> None:
        self.report.heading(f"4. {HOTEL.ssid} asks for room number and surname")
        path, connected, event = self.join(HOTEL, {"presentingUI", "authenticated", "failure"})
        self.report.check("question.asked", path == ["inactive", "evaluating", "authenticating", "presentingUI"], " → ".join(path))
        prompts = self.daemon.json("prompts")["prompts"]
        self.show("prompts")
        labels = [field["label"] for prompt in prompts for field in prompt["fields"]]
        self.report.check("question.fields", {"Room number", "Surname"} <= set(labels), str(labels))
        mark = self.monitor.mark()
        began = time.time()
        status, screen = self.daemon.answerInTerminal(GUEST)
        self.report.say("$ hotspotctl answer")
        self.report.say(screen.rstrip())
        if not self.report.check("question.answered", status == 0, f"exit {status}"):
            raise Trouble("no answer, so nothing more happens here")
        event = self.monitor.waitFor({"authenticated"}, mark, 60)
        self.tellTransitions(mark, began)
        self.proof("question.page")
        right = [entry for entry in self.fabric.transcript("hotel") if entry.get("remark") == "right"]
        self.report.check("question.atThePortal", len(right) == 1, f"{len(right)} logins")
        self.leave()

    def comeBack(self) -> None:
        self.report.heading(f"5. Back at {AROMA.ssid}")
        path, connected, event = self.join(AROMA, {"authenticated", "failure", "presentingUI"})
        back = moment(event) - connected
        self.report.check("return.maintained", path == ["inactive", "maintaining", "authenticated"], " → ".join(path))
        if first := self.took.get("first"):
            self.report.say(f"{back:.2f} s instead of {first:.2f} s: {first / max(back, 0.001):.1f} times as fast")
            self.report.check("return.faster", back < first, f"{back:.2f} s, first {first:.2f} s")
        self.proof("return.page")
        self.leave()

    def logOff(self) -> None:
        self.report.heading(f"6. Logging off at {HOTEL.ssid}")
        path, *_ = self.join(HOTEL, {"authenticated", "failure", "presentingUI"})
        self.report.check("logoff.maintainedBefore", path == ["inactive", "maintaining", "authenticated"], " → ".join(path))
        self.proof("logoff.openBefore")
        mark, began = self.monitor.mark(), time.time()
        done = self.daemon.ctl("logoff")
        self.report.say("$ hotspotctl logoff")
        self.report.say((done.stdout + done.stderr).rstrip())
        if not self.report.check("logoff.accepted", done.returncode == 0, f"exit {done.returncode}"):
            raise Trouble("no logoff, so nothing more happens here")
        self.monitor.waitFor({"inactive"}, mark, 60)
        path = self.tellTransitions(mark, began)
        self.report.check("logoff.states", path == ["authenticated", "loggingOff", "inactive"], " → ".join(path))
        if self.fabric.hasAddress():
            self.report.say(f"$ curl {networks.PROBE_URL}")
            self.report.say(f"{smoke.status(self.fabric, networks.PROBE_URL)}, sent to the portal")
            self.report.check("logoff.closed", smoke.isClosed(self.fabric))
        left = [entry for entry in self.fabric.transcript("hotel") if entry.get("remark") == "logged out"]
        self.report.check("logoff.atThePortal", len(left) == 1, f"{len(left)} logoffs")
        self.leave()

    def train(self) -> None:
        self.report.heading(f"And {TRAIN.ssid}, which speaks WISPr")
        path, *_ = self.join(TRAIN, {"presentingUI", "authenticated", "failure"})
        self.report.check("wispr.asked", path[-1:] == ["presentingUI"], " → ".join(path))
        mark, began = self.monitor.mark(), time.time()
        status, screen = self.daemon.answerInTerminal(RIDER)
        self.report.say("$ hotspotctl answer")
        self.report.say(screen.rstrip())
        if not self.report.check("wispr.answered", status == 0, f"exit {status}"):
            raise Trouble("no answer, so nothing more happens here")
        self.report.check("wispr.noPasswordOnScreen", "tunnel-vision" not in screen)
        event = self.monitor.waitFor({"authenticated"}, mark, 60)
        self.tellTransitions(mark, began)
        self.report.check("wispr.helper", self.daemon.status().get("helper") == "wispr", str(self.daemon.status().get("helper")))
        self.proof("wispr.page")
        # The operator forgets us; the next visit needs the stored account, and nobody asks.
        smoke.logOff(self.fabric, TRAIN)
        self.leave()
        path, *_ = self.join(TRAIN, {"presentingUI", "authenticated", "failure"})
        self.report.check("wispr.storedAccount", path[-1:] == ["authenticated"] and "authenticating" in path, " → ".join(path))
        self.proof("wispr.secondPage")
        self.leave()

    def end(self) -> None:
        self.report.heading("Afterwards")
        self.daemon.keepTraces()
        self.monitor.stop()
        status = self.daemon.stop()
        self.report.check("daemon.ends", status == 0, f"exit {status}")
        left = subprocess.run(["pgrep", "-x", "hotspot-helpers|hotspot-helper"], capture_output=True, text=True).stdout.split()
        self.report.check("daemon.leavesNothing", not left, f"still there: {left}")
        places = [path for folder in (self.daemon.state, self.daemon.runtime) for path in folder.rglob("*") if path.is_file()]
        places += [path for path in self.fabric.logs.iterdir() if path.is_file()]
        guilty = [path.name for path in places if any(secret in path.read_bytes() for secret in SECRETS)]
        self.report.check("secrets.nowhereInTheClear", not guilty, str(guilty))
