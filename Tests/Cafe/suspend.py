"""A laptop that sleeps in a café and wakes up there: suspend to RAM with the clock's alarm, while authenticated."""

import pathlib
import time

import smoke
from basics import Trouble, waitFor
from daemon import Daemon, Monitor
from director import RIDER
from fabric import Fabric
from networks import PAGE_URL, TRAIN
from report import Report

ALARM = pathlib.Path("/sys/class/rtc/rtc0/wakealarm")
SECONDS = 8


class Suspend:
    def __init__(self, fabric: Fabric, report: Report, daemon: Daemon, monitor: Monitor):
        self.fabric, self.report, self.daemon, self.monitor = fabric, report, daemon, monitor

    def run(self) -> None:
        self.logIn()
        self.sleepAndWake()
        self.fabric.leave()

    def waitUntilOnline(self, mark: int) -> None:
        self.monitor.waitFor({"authenticated"}, mark, 150, lambda event: event.get("helper") == "wispr")

    def logIn(self) -> None:
        self.report.heading(f"Logged in at {TRAIN.ssid}")
        mark = self.monitor.mark()
        self.fabric.join(TRAIN)
        self.monitor.waitFor({"presentingUI"}, mark, 150)
        status, screen = self.daemon.answerInTerminal(RIDER)
        if status != 0:
            raise Trouble(f"no answer: {screen}")
        self.waitUntilOnline(mark)
        self.report.say(self.daemon.ctl("status").stdout.rstrip())

    def slept(self) -> float:
        """Seconds that this machine has spent asleep since its start: the one clock counts them, the other does not."""
        return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)

    def sleepAndWake(self) -> None:
        self.report.heading("Asleep, and awake again")
        process = self.daemon.process.pid
        before, mark = self.slept(), self.monitor.mark()
        ALARM.write_text(f"+{SECONDS}\n")
        pathlib.Path("/sys/power/mem_sleep").write_text("deep")
        # Returns after the resume.
        pathlib.Path("/sys/power/state").write_text("mem")
        asleep, woke = self.slept() - before, time.time()
        self.report.say(f"asleep for {asleep:.1f} s")
        self.report.check("suspend.asleep", asleep > SECONDS / 2, f"{asleep:.2f} s of {SECONDS}")
        # Here the access points slept as well; each is started again.
        if self.fabric.wakeAccessPoints():
            self.report.say("the access points are back")
        waitFor(self.isBack, 150, "authenticated again after the resume")
        for event in self.monitor.transitions(mark):
            by = f"  ({event['helper']})" if event.get("helper") else ""
            self.report.say(f"{event['time'] / 1000 - woke:+7.2f} s  {event.get('from')} → {event['to']}{by}")
        self.report.say(self.daemon.ctl("status").stdout.rstrip())
        states = [event["to"] for event in self.monitor.transitions(mark)]
        alive = self.daemon.process.poll() is None and self.daemon.process.pid == process
        self.report.check("suspend.daemonThere", alive)
        # Renewed at most once and without another login: the session outlived the sleep.
        self.report.check("suspend.oneMaintain", states.count("maintaining") <= 1, " → ".join(states))
        again = {"authenticating", "presentingUI", "failure"} & set(states)
        self.report.check("suspend.sessionKept", not again, " → ".join(states))
        page = smoke.curl(self.fabric, PAGE_URL)
        self.report.check("suspend.page", "Internet side" in page, page[:200])
        self.report.check("laptop.suspend", alive and asleep > SECONDS / 2 and self.isBack(), str(self.daemon.status()))

    def isBack(self) -> bool:
        status = self.daemon.status()
        return status.get("state") == "authenticated" and status.get("helper") == "wispr" and self.fabric.isAssociated()
