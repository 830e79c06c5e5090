"""A guest at a real server: joins, answers, and looks at what came of it."""

from __future__ import annotations

import json
import subprocess
import time

import networks
import smoke
from basics import Trouble, waitFor
from daemon import Monitor, isQuestion, moment
from ground import Ground, Laptop
from networks import Network
from report import Report

# Enter takes what stands there; terms are accepted.
CONSENT = [(r"terms|accept", "y"), (r"remember|keep", "y"), (r"send this", "y")]
ENDS = {"authenticated", "presentingUI", "failure"}


class Visits:
    """The visits to one server, each from nothing: the server and the laptop know nothing of each other."""

    name = ""
    network: Network

    def __init__(self, ground: Ground, report: Report, laptop: Laptop):
        self.ground, self.report, self.laptop = ground, report, laptop
        self.monitor = Monitor(laptop)
        self.rows: list[dict] = []

    def visits(self) -> list:
        raise NotImplementedError

    def run(self, only: list[str]) -> None:
        for visit in self.visits():
            self.visit = visit.__name__
            if only and self.visit not in only:
                continue
            self.report.heading(f"{self.name}: {visit.__doc__.rstrip('.')}")
            self.row = {"server": self.name, "visit": visit.__doc__.rstrip("."), "asked": 0, "online": "–", "helper": "–"}
            try:
                visit()
                self.check("done", True)
            except (Trouble, subprocess.SubprocessError, OSError) as trouble:
                self.check("done", False, str(trouble))
                self.laptop.keepTraces()
            self.rows.append(self.row)
            self.depart()
        self.monitor.stop()

    def depart(self) -> None:
        if self.ground.joined:
            self.monitor.leave()
        self.laptop.ctl("forget", f"wired:{self.network.hardware}")
        self.stop()

    def stop(self) -> None:
        """Ends the server."""
        raise NotImplementedError

    def check(self, name: str, right: bool, detail: str = "") -> None:
        self.report.check(f"{self.visit}.{name}", right, detail)

    # MARK: What a guest does

    def arrive(self) -> dict:
        """Joins, and returns where that leads."""
        self.mark = self.monitor.mark()
        self.connected, _ = self.ground.join(self.network)
        return self.until(ENDS)

    def until(self, states: set[str], seconds: float = 60) -> dict:
        return self.monitor.waitFor(states, self.mark, seconds)

    def answer(self, replies: list[tuple], states: set[str] | None = None) -> str:
        """Answers in the terminal, waits for where that leads, and returns what the screen showed."""
        mark = self.monitor.mark()
        _, screen = self.laptop.answerInTerminal([*replies, *CONSENT])
        self.report.say(f"$ hotspotctl answer\n{screen.rstrip()}")
        if "There is no question" in screen or "needs a browser" in screen:
            raise Trouble("no login")
        if states:
            self.monitor.waitFor(states, mark, 60)
        return screen

    # MARK: What came of it

    def online(self, helper: str, asked: int) -> None:
        """Checks that this helper logged in after this number of questions, and that the Internet is there."""
        steps, status = self.monitor.steps(self.mark), self.laptop.status()
        prompts = sum(isQuestion(step) for step in steps)
        path = " → ".join(step["to"] for step in self.monitor.transitions(self.mark))
        moments = [moment(step) - self.connected for step in self.monitor.transitions(self.mark) if step["to"] == "authenticated"]
        self.row |= {"asked": prompts, "online": f"{moments[0]:.1f} s" if moments else "–", "helper": status.get("helper", "–")}
        self.report.say(self.laptop.ctl("status").stdout)
        self.check("state", status.get("state") == "authenticated", f"{status.get('state')}: {path}")
        self.check("helper", status.get("helper") == helper, str(status.get("helper")))
        self.check("asked", prompts == asked, f"{prompts} times: {path}")
        self.check("page", "Internet side" in smoke.curl(self.ground, networks.PAGE_URL))

    def offline(self, text: str = "") -> None:
        """Checks that the network is closed, and that the user was told this text."""
        said = self.laptop.ctl("explain").stdout + self.laptop.ctl("prompts").stdout + self.laptop.ctl("status").stdout
        self.row |= {"asked": sum(isQuestion(step) for step in self.monitor.steps(self.mark))}
        self.check("closed", smoke.isClosed(self.ground))
        self.check("told", text in said, said)

    def secondsLeft(self, wanted: int) -> None:
        """Checks the session's time left, as the status shows it."""
        left = self.laptop.status().get("secondsRemaining") or self.laptop.status().get("session", {}).get("secondsRemaining")
        self.check("seconds", left is not None and wanted - 60 <= left <= wanted, json.dumps(self.laptop.status()))

    def logOff(self) -> None:
        """Logs off with hotspotctl, and checks that the server closed."""
        mark = self.monitor.mark()
        done = self.laptop.ctl("logoff")
        self.monitor.waitFor({"inactive"}, mark, 30)
        self.check("logoff", done.returncode == 0, done.stdout + done.stderr)
        waitFor(lambda: smoke.isClosed(self.ground), 10, "the end of the session")
