"""Portals that hang, lie and flood, and other mishaps: each ends in a true state, with a reason that people understand."""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import time

import networks
import smoke
from basics import Trouble, waitFor
from daemon import Daemon, Monitor, moment
from director import GUEST, RIDER, SECRETS
from fabric import Fabric
from networks import AROMA, HOTEL, TRAIN, Network
from report import Report

# Seconds for one command. A first look at a silent network takes up to ten of them.
DEADLINE = 12
# The fault, the state that it ends in, the problem's code, and what its sentence must hold. Where nothing answers, the
# network may be an open one without Internet: it counts as joined and not verified, and is probed repeatedly.
SILENT = ("authenticated", "internetLimited", r"Internet")
CASES = [
    ("hang", *SILENT),
    ("garbage", *SILENT),
    ("empty", *SILENT),
    ("drip", *SILENT),
    ("redirects", "failure", "loginDelayed", r"circles"),
    ("gigabyte", "presentingUI", None, r""),
    # It says that a login is needed and shows no way: the user is asked to have a look.
    ("status511", "presentingUI", None, r""),
    ("hang pages", "failure", "loginDelayed", r"not answer in time"),
    # Another try would end the same way: the user is asked to try a browser.
    ("garbage pages", "presentingUI", None, r""),
    ("empty pages", "failure", "loginDelayed", r"without an answer"),
    ("drip pages", "failure", "loginDelayed", r"not answer in time"),
    ("redirects pages", "failure", "loginDelayed", r"circles"),
    ("gigabyte pages", "presentingUI", None, r""),
    ("selfSigned pages", "presentingUI", None, r""),
]


class Hostile:
    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report, self.options = fabric, report, options
        # In KiB, with the libraries.
        self.largest = 0

    def run(self) -> None:
        self.fabric.waitUntilOpen()
        self.daemon = Daemon(self.fabric, pathlib.Path(self.options.bin), f"\n[Commands]\nTimeoutSec={DEADLINE}\n")
        absent = "[Helper]\nName=absent\nDisplayName=Absent\nExec=/nonexistent/portal-helper\n"
        (self.daemon.helpers / "absent.helper").write_text(absent)
        capture = self.fabric.logs / "hostile.pcap"
        self.fabric.start("tcpdump", self.fabric.command("cli", "tcpdump", "-Z", "root", "-i", "any", "-U", "-w", str(capture)))
        waitFor(capture.exists, 20, "the capture")
        self.daemon.start()
        self.monitor = Monitor(self.daemon)
        self.attempt("wrongWords", self.wrongWords)
        self.report.heading("A good network first")
        self.attempt("before", lambda: self.goodNetwork("before"))
        memory = self.daemon.pss()
        for fault, state, code, sentence in CASES:
            name = fault.replace(" pages", "InPages")
            self.report.heading(f"A portal's fault: {fault}")
            self.attempt(name, lambda: self.fault(name, fault, state, code, sentence))
        self.report.heading("Other mishaps")
        self.attempt("inARow", self.twoInARow)
        self.attempt("killed", self.helperKilled)
        self.attempt("stored", self.storedAnswers)
        grown = self.daemon.pss() - memory
        self.report.check("hostile.memory", grown < 4096, f"the daemon grew by {grown} KiB")
        self.report.say(f"the daemon's memory: {memory} KiB before, {memory + grown} KiB after")
        self.report.check("hostile.helpersMemory", 0 < self.largest < 65536, f"{self.largest} KiB")
        self.report.say(f"the largest of the helpers' processes: {self.largest} KiB")
        self.monitor.stop()
        self.report.check("daemon.ends", self.daemon.stop() == 0)
        self.fabric.processes["tcpdump"].terminate()
        self.fabric.processes["tcpdump"].wait(20)
        guilty = self.daemon.filesWith(SECRETS)
        # The hotel's name is in the clear in each handshake.
        hasHotel = HOTEL.portal.encode() in capture.read_bytes()
        self.report.check("hostile.secretsNowhere", not guilty and hasHotel, str(guilty))

    def attempt(self, name: str, action) -> None:
        try:
            action()
        except (Trouble, subprocess.SubprocessError, OSError) as trouble:
            self.report.check(f"hostile.{name}.done", False, str(trouble))
            self.daemon.keepTraces()
        finally:
            for network in (HOTEL, TRAIN):
                self.fabric.setFault(network, "")
            self.fabric.leave()

    # MARK: Words

    def wrongWords(self) -> None:
        self.report.heading("Wrong words, and a helper without its program")
        for name, words, status, sentence in (
            ("unknownInterface", ["login", "nope"], 10, r"not watch an interface.*nope"),
            ("unknownOption", ["login", "--interface", "nope"], 2, r"--interface"),
        ):
            done = self.daemon.ctl(*words)
            output = done.stdout + done.stderr
            self.report.say(f"$ hotspotctl {' '.join(words)}\n{output.rstrip()}")
            right = done.returncode == status and re.search(sentence, output) is not None
            self.report.check(f"hostile.{name}", right, f"{done.returncode}: {output}")
        entries = self.daemon.json("helpers")["helpers"]
        codes = [problem["code"] for entry in entries if entry["name"] == "absent" for problem in entry["problems"]]
        codes += [problem["code"] for problem in self.daemon.json("status").get("problems") or []]
        output = self.daemon.ctl("helpers").stdout
        self.report.say(f"$ hotspotctl helpers\n{output.rstrip()}")
        shown = "helperProgramMissing" in codes and "/nonexistent/portal-helper" in output
        self.report.check("hostile.missingHelper", shown, str(codes))

    # MARK: Portals

    def goodNetwork(self, name: str) -> None:
        mark = self.monitor.mark()
        self.fabric.join(AROMA)
        # openNDS refuses until it finds the client's lease, which dnsmasq may be writing; the daemon looks again within seconds.
        self.monitor.waitFor({"authenticated"}, mark, 40, lambda event: event.get("helper") == "catalogue")
        page = smoke.curl(self.fabric, networks.PAGE_URL)
        self.report.check(f"hostile.{name}.nextWorks", "Internet side" in page, page[:100])
        self.monitor.leave()

    def fault(self, name: str, fault: str, state: str, code: str | None, sentence: str) -> None:
        self.fabric.setFault(HOTEL, fault)
        mark = self.monitor.mark()
        connected, _ = self.fabric.join(HOTEL)
        event = self.monitor.waitFor({"authenticated", "failure", "presentingUI"}, mark, 3 * DEADLINE)
        path = " → ".join(one["to"] for one in self.monitor.transitions(mark))
        problems, status = self.daemon.problems(), self.daemon.status()
        self.weigh()
        took = moment(event) - connected
        output = "; ".join(problems.values())
        self.report.say(f"{took:.2f} s: {path}  {output}")
        self.report.check(f"hostile.{name}.state", event["to"] == state, path)
        # Evaluate and authenticate have a deadline each.
        self.report.check(f"hostile.{name}.inTime", took < 2 * DEADLINE, f"{took:.1f} s")
        if code:
            right = code in problems and re.search(sentence, problems[code]) is not None and "proberMissing" not in problems
            self.report.check(f"hostile.{name}.reason", right, str(problems))
        else:
            asked = [prompt["title"] for prompt in self.daemon.json("prompts")["prompts"]]
            self.report.check(f"hostile.{name}.asks", len(asked) == 1, str(asked))
        if state == "authenticated":
            # Not verified, and no helper claims to have logged in.
            unproven = status.get("captive") is None and not status.get("helper")
            self.report.check(f"hostile.{name}.notVerified", unproven, str(status))
        # The portal goes on as it was, and the cable goes elsewhere.
        self.monitor.leave()
        self.goodNetwork(name)
        self.daemon.ctl("forget", f"wired:{HOTEL.hardware}")

    def weigh(self) -> None:
        """Keeps the most memory that a process of the helpers has had."""
        for pid in self.helpers():
            try:
                lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
            except OSError:
                continue
            self.largest = max([self.largest] + [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")])

    def helpers(self) -> list[int]:
        """The processes of the helpers, by their ids."""
        found = subprocess.run(["pgrep", "-x", "hotspot-helpers"], capture_output=True, text=True).stdout.split()
        return [int(pid) for pid in found]

    # MARK: Mishaps

    def twoInARow(self) -> None:
        """Leaves a network while it is being probed: nothing of that counts in the next one."""
        self.fabric.setFault(HOTEL, "held")
        mark = self.monitor.mark()
        self.fabric.join(HOTEL)
        self.monitor.waitFor({"evaluating"}, mark, 15)
        self.fabric.leave()
        self.fabric.join(AROMA)
        event = self.monitor.waitFor({"authenticated", "failure", "presentingUI"}, mark, 30)
        self.fabric.setFault(HOTEL, "")
        # The late answers of the first network have every chance to do harm.
        time.sleep(0.5)
        status = self.daemon.status()
        self.report.say(f"{HOTEL.ssid} for a moment, then {AROMA.ssid}: {status.get('state')} at {status.get('ssid')}")
        right = (status.get("state"), status.get("helper")) == ("authenticated", "catalogue")
        right = right and AROMA.hardware in status.get("ssid", "")
        self.report.check("hostile.inARow", right and self.monitor.transitions(mark)[-1] == event, str(status))
        self.monitor.leave()

    def helperKilled(self) -> None:
        """The helpers' process dies in the middle of a login."""
        mark = self.monitor.mark()
        self.fabric.join(TRAIN)
        self.monitor.waitFor({"presentingUI"}, mark, 30)
        status, screen = self.daemon.answerInTerminal(RIDER)
        if status != 0:
            raise Trouble(f"no answer: {screen}")
        self.monitor.waitFor({"authenticated"}, mark, 30)
        # The operator forgets us, so that the next visit logs in with the stored account; its gateway hangs in the middle.
        smoke.logOff(self.fabric, TRAIN)
        self.monitor.leave()
        self.fabric.setFault(TRAIN, "hang pages")
        mark = self.monitor.mark()
        self.fabric.join(TRAIN)
        self.monitor.waitFor({"authenticating"}, mark, 30)
        waitFor(lambda: any(entry.get("fault") == "hang" for entry in self.fabric.transcript("train")), 10, "the login's request")
        killed = self.helpers()
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        self.monitor.waitFor({"failure"}, mark, 10)
        problems = self.daemon.problems()
        self.report.say(f"killed {len(killed)} processes of the helpers: " + "; ".join(problems.values()))
        self.report.check("hostile.killed.reason", bool(killed) and "helperCrashed" in problems, str(problems))
        self.fabric.setFault(TRAIN, "")
        event = self.monitor.waitFor({"authenticated"}, mark, 30)
        page = smoke.curl(self.fabric, networks.PAGE_URL)
        self.report.check("hostile.killed.recovers", event.get("helper") == "wispr" and "Internet side" in page, str(event))
        self.report.check("hostile.killed.calm", not self.daemon.problems(), str(self.daemon.problems()))
        self.monitor.leave()

    def storedAnswers(self) -> None:
        """The hotel has let the guest in before. What is stored goes nowhere while its portal misbehaves, or has another key."""
        self.report.heading("Stored answers, and a portal that misbehaves")
        mark = self.monitor.mark()
        self.fabric.join(HOTEL)
        self.monitor.waitFor({"presentingUI"}, mark, 30)
        status, screen = self.daemon.answerInTerminal(GUEST)
        if status != 0:
            raise Trouble(f"no answer: {screen}")
        self.monitor.waitFor({"authenticated"}, mark, 30)
        smoke.logOff(self.fabric, HOTEL)
        self.monitor.leave()
        for fault in [fault for fault, *_ in CASES if "pages" in fault] + ["another key"]:
            if fault == "another key":
                self.fabric.changeKey(HOTEL)
            else:
                self.fabric.setFault(HOTEL, fault)
            mark, seen = self.monitor.mark(), len(self.fabric.transcript("hotel"))
            self.fabric.join(HOTEL)
            event = self.monitor.waitFor({"authenticated", "failure", "presentingUI"}, mark, 3 * DEADLINE)
            requests = self.fabric.transcript("hotel")[seen:]
            posts = [entry for entry in requests if entry.get("method") == "POST"]
            self.report.say(f"{fault}: {len(requests)} requests, {len(posts)} with answers, {event['to']}")
            quiet = bool(requests) and not posts and event["to"] != "authenticated"
            self.report.check(f"hostile.stored.{fault.replace(' ', '-')}", quiet, str(posts))
            self.monitor.leave()
            self.fabric.setFault(HOTEL, "")
