"""A portal whose login is built by scripts: the daemon has Chromium render it in a sandbox, asks in the terminal, and types the answers.

Beside it stands the same login without scripts. What runs of the browser, and what it takes, is watched all the time.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import names
import networks
import packages
from app_portal import WRONG
from basics import PAUSE, RUN, Trouble, waitFor
from daemon import Daemon, Monitor, isQuestion, moment
from director import GUEST, SECRETS
from fabric import Fabric, PORTS
from networks import FREE, HOTEL, Network
from report import Report

# The page at the login, and the script that builds it: each load of the page in the browser asks for both.
BUNDLE = "/static/app.5b1f.js"
# Between two looks at what the browser takes, which is work for the kernel.
LOOK = 5 * PAUSE
# After the login, seconds in which the browser ends.
END_SECONDS = 2


class Process:
    """One process as /proc shows it."""

    def __init__(self, folder: pathlib.Path):
        self.folder, self.number = folder, int(folder.name)
        self.words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        self.parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])

    def pss(self) -> int:
        """Proportional memory in KiB."""
        try:
            rollup = (self.folder / "smaps_rollup").read_text()
        except OSError:
            return 0
        return next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)


def processes() -> list[Process]:
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            found.append(Process(folder))
        except OSError:
            pass
    return found


class Browsers:
    """The browsers that the daemon runs: each is bubblewrap with all that it has started."""

    def __init__(self) -> None:
        running = processes()
        ours = {process.number for process in running if process.words[0].endswith("/hotspotd")}
        self.roots = [process for process in running if process.parent in ours and "--render" in process.words]
        known = {root.number for root in self.roots}
        self.all = list(self.roots)
        while more := [process for process in running if process.parent in known and process.number not in known]:
            known |= {process.number for process in more}
            self.all += more

    def pss(self) -> int:
        return sum(process.pss() for process in self.all)


class Watch:
    """Looks at the browsers again and again: the most that there was at once, in number and in KiB."""

    def __init__(self) -> None:
        self.browsers, self.processes, self.memory, self.ended = 0, 0, 0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self) -> None:
        while not self.ended.wait(LOOK):
            seen = Browsers()
            self.browsers, self.processes = max(self.browsers, len(seen.roots)), max(self.processes, len(seen.all))
            self.memory = max(self.memory, seen.pss())

    def end(self) -> "Watch":
        self.ended.set()
        self.thread.join()
        return self


class Scripts:
    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report, self.options = fabric, report, options
        self.radio = fabric.mode == "radio"
        self.manners = RUN / "manners"
        # Seconds from the verdict to the question, and from the answer to online, by portal.
        self.figures: dict[str, tuple[float, float]] = {}
        # Processes and KiB of the browser's sandbox.
        self.before, self.asked, self.most, self.after = 0, (0, 0), (0, 0), None

    def run(self) -> None:
        packages.requireProgram("chromium", "chromium")
        self.fabric.waitUntilOpen()
        self.fabric.setRules(self.fabric.gate(FREE))
        names.makeCertificate(FREE.portal)
        self.manners.write_text("{}")
        self.fabric.startPortal("app_portal", "ap", FREE.portal, "--port", str(PORTS["free"]), "--manners", str(self.manners))
        waitFor(lambda: (RUN / "app_portal.ready").exists(), 20 * self.fabric.patience, "Hotel Seeblick's portal")
        self.daemon = Daemon(self.fabric, pathlib.Path(self.options.bin), acceptTerms=False)
        self.daemon.start()
        self.monitor = Monitor(self.daemon)
        try:
            steps = [self.withoutScripts, self.firstVisit, self.comeBack, self.logOff]
            if not self.radio:
                steps += [self.helperKilled, self.greedy, self.switchedOff]
            # Each step goes on where the one before ended.
            if all(self.attempt(step) for step in steps):
                self.tellFigures()
        finally:
            self.daemon.keepTraces()
            self.monitor.stop()
            self.check("end.nothingLeft", self.daemon.stop(60 * self.fabric.patience) == 0 and not Browsers().all, self.running())
            guilty = self.daemon.filesWith(SECRETS)
            self.check("secrets", not guilty, str(guilty))
            # Another scene may have a portal of its own on this network.
            self.fabric.processes["app_portal"].kill()

    def attempt(self, step) -> bool:
        self.report.heading(step.__doc__.rstrip("."))
        try:
            step()
        except (Trouble, subprocess.SubprocessError, OSError) as trouble:
            self.check(f"{step.__name__}.done", False, str(trouble))
            self.daemon.keepTraces()
            return False
        return True

    # MARK: What a guest does

    def check(self, name: str, ok: bool, detail: str = "") -> bool:
        # Screens show what was typed, and the results are among the logs.
        return self.report.check(f"scripts.{name}", ok, "" if ok else detail)

    def running(self) -> str:
        return "; ".join(" ".join(process.words)[:100] for process in Browsers().all)

    def requests(self, path: str, mark: int = 0) -> list[dict]:
        """What the portal was asked for at this path since the mark."""
        return [entry for entry in self.fabric.transcript("app")[mark:] if entry["url"].endswith(path)]

    def mark(self) -> int:
        return len(self.fabric.transcript("app"))

    def remarks(self, mark: int) -> list[str]:
        return [entry["remark"] for entry in self.fabric.transcript("app")[mark:] if entry.get("remark")]

    def forget(self) -> None:
        self.fabric.processes["app_portal"].send_signal(signal.SIGUSR1)
        if self.fabric.joined:
            self.monitor.leave()
        self.daemon.ctl("forget", FREE.ssid if self.radio else f"wired:{FREE.hardware}")

    def arrive(self, network: Network = FREE) -> dict:
        if self.fabric.joined:
            self.monitor.leave()
        self.seen = self.monitor.mark()
        self.fabric.join(network)
        return self.monitor.waitFor({"presentingUI", "authenticated", "failure"}, self.seen, 60 * self.fabric.patience)

    def answer(self, replies: list[tuple]) -> tuple[dict, str]:
        """Answers in the terminal; returns the event of the login and the screen."""
        mark = self.monitor.mark()
        status, screen = self.daemon.answerInTerminal(replies, timeout=150 * self.fabric.patience)
        self.report.say(f"$ hotspotctl answer\n{screen.rstrip()}")
        return self.monitor.waitFor({"authenticated"}, mark, 60 * self.fabric.patience), screen

    def questions(self, mark: int) -> int:
        return sum(isQuestion(step) for step in self.monitor.steps(mark))

    def measure(self, portal: str) -> None:
        """From the steps of this visit."""
        steps = self.monitor.steps(self.seen)

        def moments(kind: str, to: str | None = None) -> list[float]:
            return [moment(step) for step in steps if step["kind"] == kind and step.get("to") == to]

        began, asked = moments("transition", "authenticating"), moments("transition", "presentingUI")
        answered, online = moments("answered"), moments("transition", "authenticated")
        if began and asked and answered and online:
            self.figures[portal] = asked[0] - began[0], online[-1] - answered[-1]

    def checkEnded(self, name: str) -> None:
        began = time.monotonic()
        while Browsers().all and time.monotonic() - began < END_SECONDS * self.fabric.patience:
            time.sleep(PAUSE)
        self.check(name, not Browsers().all, self.running())

    # MARK: The steps

    def withoutScripts(self) -> None:
        """The same login without scripts."""
        watch = Watch()
        self.check("plain.asks", self.arrive(HOTEL)["to"] == "presentingUI", self.monitor.shortStatus())
        self.answer(GUEST)
        self.check("plain.noBrowser", watch.end().processes == 0, f"{watch.processes} processes")
        self.measure("without scripts")

    def firstVisit(self) -> None:
        """First visit: a wrong answer, the portal's words, and the right one."""
        self.before = len(Browsers().all)
        watch, mark = Watch(), self.mark()
        self.check("asks", self.arrive()["to"] == "presentingUI", self.monitor.shortStatus())
        said = self.daemon.ctl("status").stdout
        self.report.say(f"$ hotspotctl status\n{said.rstrip()}")
        prompt = waitFor(lambda: self.daemon.json("prompts")["prompts"], 10 * self.fabric.patience, "the question")[0]
        labels = [field["label"] for field in prompt["fields"]]
        self.check("fields", prompt["helper"] == "form" and {"Room number", "Surname"} <= set(labels), str(prompt))
        seen = Browsers()
        self.check("whileAsked", len(seen.roots) == 1, f"{len(seen.roots)} browsers: {self.running()}")
        self.asked = len(seen.all), seen.pss()
        loads, browser = self.requests(BUNDLE, mark), {root.number for root in seen.roots}
        self.check("oneLoad", len(loads) == 1 and "Chrome/" in (loads[0].get("agent") or ""), str(loads))
        event, screen = self.answer([(r"room", ["21", "214"]), (r"surname", ["Brandt", ""]), *GUEST[2:]])
        self.check("words", WRONG.rstrip(".") in " ".join(screen.replace("│", " ").split()), screen)
        self.check("helper", event.get("helper") == "form", str(event))
        self.checkEnded("endsAfterTheLogin")
        self.after = len(Browsers().all)
        self.check("samePage", len(self.requests(BUNDLE, mark)) == 1, str(self.requests(BUNDLE, mark)))
        self.check("sentOnce", self.remarks(mark) == ["wrong", "right"], str(self.remarks(mark)))
        self.check("questions", self.questions(self.seen) == 2, str(self.questions(self.seen)))
        watch.end()
        self.check("oneBrowser", watch.browsers == 1 and len(browser) == 1, f"{watch.browsers} at once")
        self.most = watch.processes, watch.memory
        status = self.daemon.status()
        self.check("online", status.get("state") == "authenticated" and status.get("captive") is False, str(status))
        said = self.daemon.ctl("explain", "--verbose").stdout
        self.report.say(f"$ hotspotctl explain --verbose\n{said.rstrip()}")
        self.check("explained", re.search(r"rendered by Chrome/\d\S* in \d+ ms, because of [A-Z]+\d+: ", said) is not None, said)
        self.measure("with scripts")

    def comeBack(self) -> None:
        """Return: logged in with the stored answers."""
        self.fabric.processes["app_portal"].send_signal(signal.SIGUSR1)
        mark, seen = self.mark(), self.arrive()
        self.check("return.online", seen["to"] == "authenticated" and seen.get("helper") == "form", str(seen))
        self.check("return.asksNothing", self.questions(self.seen) == 0, self.monitor.shortStatus())
        self.check("return.sentOnce", self.remarks(mark) == ["right"], str(self.remarks(mark)))
        self.checkEnded("return.ends")

    def logOff(self) -> None:
        """Log off."""
        mark, watch, seen = self.mark(), Watch(), self.monitor.mark()
        done = self.daemon.ctl("logoff")
        self.report.say(f"$ hotspotctl logoff\n{(done.stdout + done.stderr).rstrip()}")
        self.monitor.waitFor({"inactive"}, seen, 60 * self.fabric.patience)
        self.check("logoff", done.returncode == 0 and "logged out" in self.remarks(mark), f"{self.remarks(mark)} {done.stderr}")
        self.check("logoff.noBrowser", watch.end().processes == 0, f"{watch.processes} processes")

    def helperKilled(self) -> None:
        """The helper is killed while the question stands: the answer opens the page anew."""
        self.forget()
        self.arrive()
        mark = self.mark()
        helpers = [process for process in processes() if process.words[0].endswith("/hotspot-helpers") and "--render" not in process.words]
        for process in helpers:
            os.kill(process.number, signal.SIGKILL)
        self.checkEnded("killed.browserEnds")
        event, _ = self.answer(GUEST)
        self.check("killed.online", bool(helpers) and event.get("helper") == "form", f"{len(helpers)} {event}")
        self.check("killed.openedAnew", len(self.requests(BUNDLE, mark)) == 1, str(self.requests(BUNDLE, mark)))
        self.check("killed.sentOnce", self.remarks(mark) == ["right"], str(self.remarks(mark)))
        self.checkEnded("killed.ends")

    def greedy(self) -> None:
        """A page that wants 2 GB."""
        self.forget()
        self.manners.write_text('{"greedy": true}')
        watch = Watch()
        event = self.arrive()
        watch.end()
        self.report.say(f"at most {watch.memory >> 10} MiB in {watch.processes} processes")
        said = self.daemon.ctl("status").stdout
        self.report.say(f"$ hotspotctl status\n{said.rstrip()}")
        self.check("greedy.told", event["to"] in ("presentingUI", "failure") and "hotspotctl browse" in said, f"{event} {said}")
        self.check("greedy.limited", 0 < watch.memory < 1600 << 10, f"{watch.memory >> 10} MiB")
        self.checkEnded("greedy.ends")
        self.manners.write_text("{}")
        self.forget()
        self.arrive()
        event, _ = self.answer(GUEST)
        self.check("greedy.nextWorks", event.get("helper") == "form", str(event))

    def switchedOff(self) -> None:
        """No browser is wanted any more: the page is handed over, at once."""
        before = self.daemon.settings.read_text()
        self.daemon.settings.write_text(before + "\n[Scripts]\nBrowser=none\n")
        self.daemon.process.send_signal(signal.SIGHUP)
        self.forget()
        watch = Watch()
        self.check("off.handedOver", self.arrive()["to"] == "presentingUI", self.monitor.shortStatus())
        status = self.daemon.status()
        self.check("off.told", status.get("handsOver") is True and "needs a browser" in status.get("reason", ""), str(status))
        self.check("off.noBrowser", watch.end().processes == 0, f"{watch.processes} processes")

    def tellFigures(self) -> None:
        self.report.heading("Figures")
        lines = ["| Portal | Verdict to question | Answer to online |", "|---|---|---|"]
        lines += [f"| {portal} | {asked:.1f} s | {online:.1f} s |" for portal, (asked, online) in self.figures.items()]
        if self.after is not None:
            counts = f"{self.before} before, {self.asked[0]} while asked, {self.most[0]} at most, {self.after} two seconds after the login"
            memory = f"{self.asked[1] >> 10} MiB while asked, {self.most[1] >> 10} MiB at most"
            lines += ["", f"Processes of the browser's sandbox: {counts}.", f"Their memory, proportional: {memory}."]
        self.report.say("\n".join(lines))
        (self.fabric.logs / "scripts.md").write_text("\n".join(lines) + "\n")
