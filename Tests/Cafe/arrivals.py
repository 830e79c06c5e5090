"""Figures for each program that manages the radio: from the address to the decision, and what the daemon costs while nothing happens."""

import argparse
import pathlib
import statistics
import subprocess
import threading
import time

import managers
import smoke
from basics import Trouble, waitFor
from daemon import Daemon, Monitor, moment
from fabric import Fabric
from figures import Figures
from networks import AROMA
from report import Report

ROUNDS = 3


class Connectivity:
    """When NetworkManager said that the Internet is there."""

    def __init__(self) -> None:
        self.moments: list[float] = []
        self.process = subprocess.Popen(["nmcli", "monitor"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        for line in self.process.stdout:
            if "'full'" in line:
                self.moments.append(time.time())

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


class Arrivals:
    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report, self.options = fabric, report, options

    def run(self) -> None:
        self.fabric.waitUntilOpen()
        self.fabric.client.stop()
        managers.startBus(self.fabric)
        self.daemon = Daemon(self.fabric, pathlib.Path(self.options.bin), match="", name="hotspotd-arrive")
        self.daemon.start(watchdogSeconds=30)
        self.monitor = Monitor(self.daemon)
        self.figures = Figures(self.fabric, self.report, self.daemon, self.options.idle_seconds)
        self.rows: list[str] = []
        for kind in (managers.NetworkManager, managers.Iwd, managers.Supplicant):
            self.report.heading(kind.name)
            manager = kind(self.fabric)
            self.report.attempt(f"{kind.name}.done", lambda: self.measure(manager))
            manager.stop()
        lines = ["| Manager | Address to decision | Address to online | Online to \"full\" | Wake-ups in "
                 f"{self.options.idle_seconds:g} s, online | without association | Memory then, proportional and anonymous: hotspotd "
                 "| the manager |", "|---|---|---|---|---|---|---|---|", *self.rows]
        self.report.say("\n".join(lines))
        (self.fabric.logs / "arrivals.md").write_text("\n".join(lines) + "\n")
        self.monitor.stop()
        self.report.check("daemonEnds", self.daemon.stop(10 * self.fabric.patience) == 0)

    def measure(self, manager: managers.Manager) -> None:
        manager.start()
        self.fabric.inside("cli", "ip", "link", "set", self.fabric.interface, "up")
        self.daemon.watchList({AROMA.ssid}, 150)
        watch = Connectivity() if manager.name == "NetworkManager" else None
        times: list[tuple[float, float, float | None]] = []
        for number in range(ROUNDS):
            times.append(self.arrive(watch))
            if number < ROUNDS - 1:
                self.leave()
        # The links' first seconds belong to the arrival.
        time.sleep(10)
        daemon = pathlib.Path(f"/proc/{self.daemon.process.pid}")
        online, _ = self.figures.rest(daemon)
        self.leave()
        time.sleep(10)
        idle, _ = self.figures.rest(daemon)
        memory = " | ".join(
            self.memory(process) for process in (self.daemon.process, self.fabric.processes[manager.started[-1]]))
        if watch:
            watch.stop()

        def told(count: int | None) -> str:
            return "–" if count is None else str(count)

        def median(part: int) -> str:
            values = [one[part] for one in times if one[part] is not None]
            return f"{statistics.median(values):.2f} s" if values else "–"

        self.rows.append(f"| {manager.name} | {median(0)} | {median(1)} | {median(2)} | {told(online)} | {told(idle)} | {memory} |")
        self.report.say(self.rows[-1])

    def memory(self, process: subprocess.Popen) -> str:
        sizes = self.figures.mapped(pathlib.Path(f"/proc/{process.pid}")).values()
        return " and ".join(f"{sum(size[part] for size in sizes) / 1024:.1f} MiB" for part in (0, 1))

    def arrive(self, watch: Connectivity | None) -> tuple[float, float, float | None]:
        """From the address to the decision for a helper, from there to online, and from that to NetworkManager's word."""
        mark, addresses, words = self.monitor.mark(), len(self.fabric.addresses.moments), len(watch.moments) if watch else 0
        done = self.daemon.ctl("join", AROMA.ssid)
        if done.returncode != 0:
            raise Trouble(f"not joined: {done.stderr}")
        if not watch and "iwd" not in done.stdout:
            self.fabric.client.lease()
        end = moment(self.monitor.waitFor({"authenticated"}, mark, 100))
        decided = moment(self.monitor.waitFor({"authenticating"}, mark, 1))
        address = self.fabric.addresses.moments[addresses]
        known = None
        if watch:
            known = waitFor(lambda: [one for one in watch.moments[words:] if one > address], 60, "NetworkManager's full")[0] - end
        full = "" if known is None else f", NetworkManager's full {known:.2f} s after that"
        self.report.say(f"decided after {decided - address:.2f} s, online after {end - address:.2f} s{full}")
        # The longest wait of an arrival that no source completes; here each has one.
        self.report.check(f"{'nm' if watch else 'other'}.inTime", decided - address < 4, f"{decided - address:.2f} s")
        return decided - address, end - address, known

    def leave(self) -> None:
        smoke.logOff(self.fabric, AROMA)
        mark = self.monitor.mark()
        self.fabric.leases.end(self.fabric.client)
        self.daemon.ctl("leave", self.fabric.interface)
        self.monitor.waitFor({"inactive"}, mark, 15 * self.fabric.patience)
        self.fabric.inside("cli", "ip", "address", "flush", "dev", self.fabric.interface)
        self.daemon.ctl("forget", AROMA.ssid)
