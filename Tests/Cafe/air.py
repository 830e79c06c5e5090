"""What only the air shows: labels, two radios, discretion, and a sleep in the middle of a session. One run, one laptop."""

import argparse
import pathlib
import subprocess

import discretion
import labels
import listeners
import stations
import suspend
from basics import Trouble
from daemon import Daemon, Monitor
from fabric import Fabric
from networks import TRAIN
from report import Report


class Air:
    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report, self.options = fabric, report, options

    def run(self) -> None:
        self.fabric.waitUntilOpen()
        # Every Wi-Fi station, whatever its name. The periodic Maintain would look like a disturbance from the other radio.
        settings = f"\n[Commands]\nFilterIntervalSec={labels.INTERVAL}\nMaintainIntervalSec=3600\n"
        self.daemon = Daemon(self.fabric, pathlib.Path(self.options.bin), settings, match="", name="hotspotd-air")
        listeners.writeAll(self.daemon)
        self.daemon.start()
        self.monitor = Monitor(self.daemon)
        self.attempt("labels.done", labels.Labels(self.daemon, self.report).run)
        two = stations.Stations(self.fabric, self.daemon, self.monitor, self.report)
        self.attempt("stations.done", two.run)
        self.discretion = discretion.Discretion(self.fabric, self.daemon, self.report, two.visits)
        self.attempt("suspend.done", lambda: self.sleep(two))
        self.attempt("discretion.done", self.discretion.run)
        listeners.keepRecords(self.fabric.logs)
        self.monitor.stop()
        self.report.check("daemon.ends", self.daemon.stop(10 * self.fabric.patience) == 0)

    def sleep(self, two: stations.Stations) -> None:
        # From now on the helper of our own is asked here, which was switched off.
        self.daemon.ctl("enable", "--helper", "wispr", TRAIN.ssid)
        self.daemon.ctl("disable", "--yes", "--helper", "train-only", TRAIN.ssid)
        # The first station logged off there, and nothing is started until the user wants it.
        self.discretion.keep(TRAIN.ssid)
        self.daemon.ctl("forget", TRAIN.ssid)
        two.visits.add((self.fabric.interface, TRAIN.ssid))
        suspend.Suspend(self.fabric, self.report, self.daemon, self.monitor).run()

    def attempt(self, name: str, part) -> None:
        try:
            part()
        except (Trouble, subprocess.SubprocessError, OSError, KeyError, IndexError) as trouble:
            self.report.check(name, False, f"{type(trouble).__name__}: {trouble}")
            self.daemon.keepTraces()
            listeners.keepRecords(self.fabric.logs)
            self.fabric.leave()
        else:
            self.report.check(name, True)
