"""Joining and leaving through each program that may manage the radio, and by the kernel alone."""

import argparse
import os
import pathlib
import subprocess
import time

import announcements
import listeners
import managers
import networks
from basics import RUN, Trouble, waitFor
from daemon import Daemon
from fabric import Fabric
from networks import FREE, HOME, TRAIN
from report import Report


class Joining:
    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report, self.options = fabric, report, options
        self.link = fabric.interface

    def run(self) -> None:
        self.fabric.client.stop()
        self.daemon = Daemon(self.fabric, pathlib.Path(self.options.bin), match="", name="hotspotd-join")
        for file in self.daemon.helpers.iterdir():
            file.unlink()
        managers.startBus(self.fabric)
        self.daemon.start()
        parts = {"nm": self.withNetworkManager, "iwd": self.withIwd, "wpa": self.withSupplicant, "radio": self.alone}
        for self.name, part in parts.items():
            self.manager: managers.Manager | None = None
            try:
                part()
            except (Trouble, subprocess.SubprocessError, OSError, KeyError, IndexError) as trouble:
                self.check("done", False, f"{type(trouble).__name__}: {trouble}")
            else:
                self.check("done", True)
            if self.manager:
                self.manager.stop()
        self.check("daemonEnds", self.daemon.stop(10 * self.fabric.patience) == 0)

    # MARK: Words

    def check(self, name: str, holds: bool, what: object = "") -> None: self.report.check(f"{self.name}.{name}", holds, str(what))

    def ctl(self, *words: str, given: str = "") -> subprocess.CompletedProcess:
        done = self.daemon.ctl(*words, given=given)
        self.report.say(f"hotspotctl {' '.join(words)}: {done.returncode} {(done.stdout + done.stderr).strip()}")
        return done

    def isIn(self, network: networks.Network) -> bool:
        time.sleep(1)
        return f"SSID: {network.ssid}" in self.fabric.inside("cli", "iw", "dev", self.link, "link", check=False).stdout

    def isAway(self) -> bool: return "Not connected" in self.fabric.inside("cli", "iw", "dev", self.link, "link", check=False).stdout

    def stays(self, condition, looks: int = 4) -> bool:
        """A few scans long."""
        for _ in range(looks):
            if not condition():
                return False
            self.fabric.scan()
        return True

    def awaitSight(self) -> None:
        """The daemon sees the networks: a scan of its own is enough."""
        self.fabric.inside("cli", "ip", "link", "set", self.link, "up")
        self.daemon.watchList({FREE.ssid, HOME.ssid, TRAIN.ssid}, 150)

    def joins(self, name: str, network: networks.Network, *words: str, given: str = "") -> None:
        done = self.ctl("join", *words, network.ssid, given=given)
        self.check(name, done.returncode == 0 and self.isIn(network), done.stdout + done.stderr)

    def refuses(self, name: str, status: int, sentence: str, *words: str, given: str = "") -> None:
        done = self.ctl("join", *words, given=given)
        self.check(name, done.returncode == status and sentence in done.stderr, f"{done.returncode} {done.stdout}{done.stderr}")

    def leaves(self) -> None:
        done = self.ctl("leave", self.link)
        waitFor(self.isAway, 30, "the end of the association")
        self.check("left", done.returncode == 0 and self.stays(self.isAway), done.stderr)

    def isManagedBy(self, name: str | None) -> bool:
        shown = self.daemon.ctl("status", "--verbose").stdout
        return f"managed by {name}" in shown if name else "managed by" not in shown

    def knows(self, manager: str | None) -> None:
        known = waitFor(lambda: self.isManagedBy(manager), 60, f"managed by {manager}")
        doctor = self.daemon.ctl("doctor").stdout
        self.check("shown", known and (manager is None or f"managed by {manager}" in doctor), doctor)

    def passwords(self, wrong: bool = True) -> None:
        self.refuses("passwordNeeded", 4, "requires a password", HOME.ssid)
        self.refuses("passwordTooShort", 1, "8 to 63", "--password", HOME.ssid, given="short\n")
        if wrong:
            self.refuses("wrongPassword", 1, "does not accept this password", "--password", HOME.ssid, given="not the password\n")
        self.joins("password", HOME, "--password", "--once", given=f"{HOME.passphrase}\n")
        logs = "".join(path.read_text(errors="replace") for path in self.fabric.logs.glob("hotspotd-join.log"))
        self.check("passwordNotLogged", HOME.passphrase not in logs and "not the password" not in logs)

    # MARK: NetworkManager

    def withNetworkManager(self) -> None:
        manager = self.startManager(managers.NetworkManager)
        self.leaves()
        # The liar was asked as it was joined, once an hour, perhaps in the middle of a scan.
        announcements.check(self.daemon, self.report, "nm.announced", liar=False)
        self.joins("known", FREE)
        profiles = [line for line in manager.ask("-f", "NAME", "connection").splitlines() if line == FREE.ssid]
        self.check("oneProfile", len(profiles) == 1, profiles)
        self.leaves()
        self.passwords()
        self.leaves()
        self.check("onceIsForgotten", HOME.ssid not in manager.ask("-f", "NAME", "connection"))
        self.passwordOfAHelper()

    # MARK: iwd

    def withIwd(self) -> None:
        self.startManager(managers.Iwd)
        self.leaves()
        self.joins("known", FREE)
        self.leaves()
        self.passwords()
        self.leaves()
        self.check("onceIsForgotten", not [*pathlib.Path("/var/lib/iwd").glob(f"{HOME.ssid}.*")], os.listdir("/var/lib/iwd"))
        self.passwordOfAHelper()

    def startManager(self, kind: type[managers.Manager]) -> managers.Manager:
        """Starts it, and joins an open network through it; which program it is, is found then."""
        self.report.heading(kind.name)
        self.manager = manager = kind(self.fabric)
        manager.start()
        self.awaitSight()
        self.refuses("unknown", 10, "is in sight or remembered", "No Such Net")
        self.joins("open", FREE)
        self.knows(kind.name)
        return manager

    # MARK: wpa_supplicant

    def supplicant(self, *words: str) -> str:
        return self.fabric.inside("cli", "wpa_cli", "-p", "/run/wpa_supplicant", "-i", self.link, *words).stdout.strip()

    def listed(self) -> dict[str, str]:
        """The flags of the networks that it knows."""
        lines = [line.split("\t") for line in self.supplicant("list_networks").splitlines()[1:]]
        # The last one's empty flags end the output.
        return {fields[1]: "".join(fields[3:]) for fields in lines}

    def withSupplicant(self) -> None:
        self.startManager(managers.Supplicant)
        self.check("othersAsBefore", self.listed() == {TRAIN.ssid: "[DISABLED]", "Elsewhere": "", FREE.ssid: "[CURRENT]"}, self.listed())
        self.leaves()
        self.passwords()
        self.leaves()
        self.check("onceIsForgotten", HOME.ssid not in self.listed(), self.listed())
        self.passwordOfAHelper()

    def passwordOfAHelper(self) -> None:
        keeper = listeners.Listener("keeper", "ScanList=yes\n", [listeners.label(HOME, "high", password=HOME.passphrase)])
        keeper.write(self.daemon)
        waitFor(lambda: "keeper" in self.daemon.ctl("helpers").stdout, 60, "the helper")
        self.joins("passwordOfAHelper", HOME, "--once")
        self.leaves()
        (self.daemon.helpers / "keeper.helper").unlink()
        waitFor(lambda: "keeper" not in self.daemon.ctl("helpers").stdout, 60, "the end of the helper")

    # MARK: The kernel alone

    def alone(self) -> None:
        self.report.heading("No program")
        self.awaitSight()
        self.joins("open", FREE)
        self.knows(None)
        self.refuses("needsAProgram", 1, "cannot join networks with this security", "--password", HOME.ssid, given="some password\n")
        self.leaves()
        self.switched()

    def switched(self) -> None:
        """Airplane mode in the middle."""
        radio = "phy" + self.fabric.inside("cli", "iw", "dev", self.link, "info").stdout.split("wiphy ")[1].split()[0]

        def switch(value: int) -> None:
            # Each network namespace has its own view of radios.
            self.fabric.inside("cli", "sh", "-c", f'for one in /sys/class/rfkill/*; do [ "$(cat $one/name)" = {radio} ] && '
                               f"echo {value} >$one/soft; done 2>/dev/null; true")

        self.joins("beforeTheSwitch", FREE)
        switch(1)
        waitFor(self.isAway, 30, "the end of the association")
        done = self.ctl("join", FREE.ssid)
        self.check("switchedOff", done.returncode != 0 and self.isAway(), done.stdout)
        switch(0)
        self.awaitSight()
        self.joins("switchedOn", FREE)
        self.leaves()
