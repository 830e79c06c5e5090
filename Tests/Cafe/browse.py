"""A portal that only a browser can log in to, over cables: Chromium without a screen, started by an ordinary user's `hotspotctl browse`.

The machine's other ways are closed: a VPN that leads nowhere has all routes, resolv.conf names a server behind it, and the gate keeps
ordinary traffic off the link.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess

import networks
import packages
from basics import PYTHON, RUN, run, waitFor
from daemon import Daemon, Monitor
from fabric import Fabric, PORTS
from networks import FREE
from report import Report

HOME, DOOR, BROWSER = RUN / "guest", RUN / "door", RUN / "chromium"
# The guest, and the group that may change things.
GUEST, GROUP = 1990, 990
# Says how much a stranger at a port got.
STRANGER = """import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10) as line:
    line.settimeout(10)
    try:
        line.sendall(bytes([5, 1, 0]))
        print(len(line.recv(10)))
    except ConnectionError:
        print(0)"""


class Browse:
    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report, self.options = fabric, report, options

    def run(self) -> None:
        if "4294967295" not in pathlib.Path("/proc/self/uid_map").read_text():
            raise packages.Missing("the browser's scene needs root: it runs a browser as another user")
        packages.requireProgram("chromium", "chromium")
        self.fabric.waitUntilOpen()
        self.fabric.setRules(self.fabric.gate(FREE))
        self.fabric.startPortal("script_portal", "ap", FREE.portal, "--port", str(PORTS["free"]), "--door", str(DOOR))
        waitFor(lambda: (RUN / "script_portal.ready").exists(), 20, "the portal")
        self.makeGuest()
        # This portal logs in by itself as soon as its scripts run, and here nobody's scripts run but the user's.
        settings = "Gate=routes\n[Scripts]\nBrowser=none\n"
        self.daemon = Daemon(self.fabric, pathlib.Path(self.options.bin), moreSettings=settings, match="net*", acceptTerms=False)
        self.daemon.start()
        self.monitor = Monitor(self.daemon)
        try:
            self.firstVisit()
            self.maintained()
            self.nextVisit()
            self.interrupted()
        finally:
            self.daemon.keepTraces()
            self.monitor.stop()
            self.report.check("daemon.ends", self.daemon.stop() == 0)

    def makeGuest(self) -> None:
        """In the café's own /etc."""
        for file, line in (
            ("passwd", f"guest:x:{GUEST}:{GUEST}::{HOME}:/bin/sh"), ("group", f"guest:x:{GUEST}:"), ("group", f"hotspotd:x:{GROUP}:"),
        ):
            path = pathlib.Path("/etc") / file
            path.write_text(path.read_text().rstrip("\n") + f"\n{line}\n")
        for folder in (HOME, HOME / "run"):
            folder.mkdir(mode=0o700)
            os.chown(folder, GUEST, GUEST)
        BROWSER.write_text('#!/bin/sh\nexec /usr/bin/chromium --headless=new --disable-gpu --disable-dev-shm-usage "$@"\n')
        BROWSER.chmod(0o755)

    def asGuest(self, *words: str) -> list[str]:
        guest = ["setpriv", f"--reuid={GUEST}", f"--regid={GUEST}", f"--groups={GUEST},{GROUP}", "--"]
        return self.fabric.command("cli", *guest, *words)

    def environment(self) -> dict[str, str]:
        return self.daemon.environment() | {"HOME": str(HOME), "XDG_RUNTIME_DIR": str(HOME / "run"), "TMPDIR": str(HOME)}

    def browse(self) -> subprocess.Popen:
        words = self.asGuest(str(self.daemon.programs / "hotspotctl"), "browse", "--browser", str(BROWSER))
        return subprocess.Popen(
            words, env=self.environment(), cwd=HOME, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True,
        )

    def closeOtherWays(self) -> None:
        """After each lease, whose client writes resolv.conf."""
        if run("ip", "-n", "cli", "link", "show", "vpn0", check=False).returncode != 0:
            run("ip", "-n", "cli", "link", "add", "vpn0", "type", "veth", "peer", "name", "nowhere")
            for link in ("nowhere", "vpn0"):
                run("ip", "-n", "cli", "link", "set", link, "up")
            run("ip", "-n", "cli", "address", "add", "192.0.2.2/24", "dev", "vpn0")
        for half in ("0.0.0.0/1", "128.0.0.0/1"):
            run("ip", "-n", "cli", "route", "replace", half, "via", "192.0.2.1", "dev", "vpn0")
        pathlib.Path("/etc/resolv.conf").write_text("nameserver 192.0.2.53\n")

    def arrive(self) -> dict:
        if self.fabric.joined:
            self.monitor.leave()
        self.fabric.processes["script_portal"].send_signal(signal.SIGUSR1)
        DOOR.unlink(missing_ok=True)
        self.mark = self.monitor.mark()
        self.fabric.join(FREE)
        self.closeOtherWays()
        return self.monitor.waitFor({"presentingUI", "authenticated", "failure"}, self.mark, 60)

    # MARK: What happens

    def firstVisit(self) -> None:
        self.report.heading("A portal that is only script, and a VPN that leads nowhere")
        self.check("asks", self.arrive()["to"] == "presentingUI", self.monitor.shortStatus())
        for host in (FREE.gateway, FREE.portal, networks.INTERNET):
            plain = self.fabric.inside("cli", "curl", "-sS", "-m", "3", f"http://{host}/", check=False)
            self.check(f"closed.{host}", plain.returncode != 0, plain.stdout)

        mark, browsing = self.monitor.mark(), self.browse()
        try:
            waitFor(lambda: self.logins() or browsing.poll() is not None, 60, "a login from the browser's script")
            self.check("opens", browsing.poll() is None, "" if browsing.poll() is None else browsing.stdout.read())
            self.check("helper", self.daemon.status().get("helper") == "browser", self.monitor.shortStatus())
            self.check("agent", "Chrome" in (self.logins()[-1].get("agent") or ""), str(self.logins()[-1:]))
            self.check("private", self.modes() == [0o700], str(self.modes()))
            self.checkStrangers()
            DOOR.touch()
            said, _ = browsing.communicate(timeout=90)
        finally:
            if browsing.poll() is None:
                browsing.kill()
        self.report.say(f"$ hotspotctl browse\n{said.rstrip()}")
        self.check("says", browsing.returncode == 0 and re.search(r"Online( after \d+ s)?\.", said) is not None, f"{browsing.returncode}: {said}")
        self.monitor.waitFor({"authenticated"}, mark, 10)
        status = self.daemon.status()
        self.check("online", status.get("state") == "authenticated" and status.get("captive") is False, str(status))
        self.check("counts", status.get("helper") == "browser", str(status))
        attempts = self.daemon.json("history")["attempts"]
        self.check("history", (attempts[0]["helper"], attempts[0]["outcome"]) == ("browser", "online"), str(attempts[:2]))
        self.checkNothingLeft("nothingLeft")

    def checkStrangers(self) -> None:
        """Another program of the same user, and one of root, at the browser's proxy."""
        port = next(found[1] for line in self.processes() if (found := re.search(r"--proxy-server=socks5://127\.0\.0\.1:(\d+)", line)))
        for name, words in (
            ("sameUser", self.asGuest(PYTHON, "-c", STRANGER, port)), ("root", self.fabric.command("cli", PYTHON, "-c", STRANGER, port)),
        ):
            got = subprocess.run(words, capture_output=True, text=True, timeout=30)
            self.check(f"stranger.{name}", got.stdout.strip() == "0", got.stdout + got.stderr)

    def maintained(self) -> None:
        self.report.heading("The session is maintained")
        done = self.daemon.ctl("browse", "--browser", str(BROWSER))
        self.check("onlineAlready", done.returncode == 1 and "already online" in done.stderr, done.stdout + done.stderr)
        mark = self.monitor.mark()
        self.daemon.ctl("login", "--wait=30")
        self.monitor.waitFor({"authenticated"}, mark, 10)
        seen = [event["to"] for event in self.monitor.transitions(mark)]
        self.check("maintain", seen == ["maintaining", "authenticated"], str(seen))
        self.check("maintainedBy", self.daemon.status().get("helper") == "browser", self.monitor.shortStatus())

    def nextVisit(self) -> None:
        self.report.heading("The next visit")
        self.check("next.asks", self.arrive()["to"] == "presentingUI", self.monitor.shortStatus())
        seen = [event["to"] for event in self.monitor.transitions(self.mark)]
        self.check("next.atOnce", seen == ["maintaining", "authenticating", "presentingUI"], str(seen))
        prompt = waitFor(lambda: self.daemon.json("prompts")["prompts"], 10, "the prompt")[0]
        named = prompt["helper"] == "browser" and prompt["title"] == FREE.portal and "browser" in prompt["message"]
        self.check("next.prompt", named and prompt["fields"] == [], str(prompt))

    def interrupted(self) -> None:
        self.report.heading("The user breaks off")
        before = len(self.logins())
        mark, browsing = self.monitor.mark(), self.browse()
        waitFor(lambda: len(self.logins()) > before or browsing.poll() is not None, 60, "a login from the browser's script")
        # The shell's setpriv and ip have become hotspotctl.
        browsing.send_signal(signal.SIGINT)
        said, _ = browsing.communicate(timeout=60)
        self.check("interrupted", browsing.returncode == 128 + signal.SIGINT, f"{browsing.returncode}: {said}")
        self.checkNothingLeft("interrupted.nothingLeft")
        # hotspotctl asks for a login, and does not wait for it.
        self.monitor.waitFor({"presentingUI", "authenticated", "failure"}, mark, 20)
        self.check("interrupted.asks", self.daemon.status().get("state") == "presentingUI", self.monitor.shortStatus())

    # MARK: What is seen

    def check(self, name: str, ok: bool, detail: str = "") -> None:
        self.report.check(f"browse.{name}", ok, detail)

    def logins(self) -> list[dict]:
        return [entry for entry in self.fabric.transcript("script") if entry["url"].endswith("/api/login")]

    def modes(self) -> list[int]:
        return [path.stat().st_mode & 0o777 for path in (HOME / "run").glob("hotspot-browse-*")]

    def processes(self) -> list[str]:
        """The command lines of the guest."""
        lines = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if folder.stat().st_uid == GUEST:
                    lines.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                pass
        return lines

    def checkNothingLeft(self, name: str) -> None:
        # GLib's settings keep a mark there of whether they changed.
        expected = (HOME / "run", HOME / "run/dconf", HOME / "run/dconf/user", HOME / ".config")
        left = [str(path.relative_to(HOME)) for path in HOME.rglob("*") if path not in expected]
        self.check(name, not left and not self.processes(), f"{left[:20]} {self.processes()[:5]}")
