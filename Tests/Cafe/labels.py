"""The labels in the list: which helper labels which network, and that no helper is asked while no client watches the list."""

import json
import subprocess
import threading
import time

import networks
from basics import waitFor
from daemon import Daemon
from listeners import ALL_SEEING, EVERYONE, JOINED_ONLY, NO_PASSWORD, PASSWORD, TRAIN_ONLY
from networks import AROMA, FREE, HOME, HOTEL, TRAIN, Network
from report import Report

INTERVAL = 3
PATIENCE = 150


class Watch:
    """A client that watches the list: hotspotctl list --watch, until the end of the with statement."""

    def __init__(self, daemon: Daemon):
        self.daemon, self.lists, self.text = daemon, [], ""

    def __enter__(self) -> "Watch":
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [str(self.daemon.programs / "hotspotctl"), "list", "--watch", "--json=short"], env=self.daemon.environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=open(self.daemon.fabric.logs / "watch.log", "ab"), text=True,
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        self.reader.join(10)
        self.seconds = time.monotonic() - self.began

    def read(self) -> None:
        for line in self.process.stdout:
            self.text += line
            try:
                self.lists.append(json.loads(line)["networks"])
            except (ValueError, KeyError):
                pass

    def entry(self, network: Network) -> dict:
        latest = self.lists[-1] if self.lists else []
        return next((entry for entry in latest if entry["ssid"] == network.ssid), {})

    def labels(self, network: Network) -> dict[str, str]:
        return {claim["helper"]: claim["confidence"] for claim in self.entry(network).get("claims", [])}

    def ready(self, network: Network, helper: str) -> bool:
        return any(claim["ready"] for claim in self.entry(network).get("claims", []) if claim["helper"] == helper)

    def names(self) -> list[str]:
        return [entry["ssid"] for entry in self.lists[-1]] if self.lists else []


class Labels:
    def __init__(self, daemon: Daemon, report: Report):
        self.daemon, self.report = daemon, report

    def run(self) -> None:
        self.report.heading("Labels: what helpers say of the networks in sight")
        mark = {listener.name: len(listener.lists()) for listener in EVERYONE}
        fabric = self.daemon.fabric
        fabric.switchAccessPoint(FREE, "disable")
        # The kernel remembers for 30 s what an earlier scene saw.
        waitFor(lambda: fabric.scan("flush").returncode == 0, PATIENCE, "a fresh scan")
        with Watch(self.daemon) as watch:
            self.looksAgain(watch)
            self.appear(watch)
            self.switches(watch)
            watched = {listener: listener.lists()[mark[listener.name]:] for listener in EVERYONE}
        self.shown(watch, watched)
        self.unwatched()

    # MARK: A client watches

    def looksAgain(self, watch: Watch) -> None:
        """An access point that goes on the air while a client watches gets into the list by itself."""
        waitFor(lambda: len(watch.names()) > 1, PATIENCE, "a list")
        before = watch.names()
        self.daemon.fabric.switchAccessPoint(FREE, "enable")
        appears = lambda: FREE.ssid not in before and FREE.ssid in watch.names()
        if not self.report.attempt("labels.newNetworkAppears", lambda: waitFor(appears, 60, f"{FREE.ssid} beside {before}")):
            # Asking once more makes the daemon scan; the other checks are useful all the same.
            self.daemon.ctl("list")

    def appear(self, watch: Watch) -> None:
        wanted = {network.ssid for network in networks.ALL}
        everything = lambda: set(watch.names()) >= wanted and watch.labels(FREE) and "train-only" in watch.labels(TRAIN)
        waitFor(everything, PATIENCE, "a list with all networks and labels")
        # Two more rounds of questions, in which a label that must not appear has every chance to.
        rounds = len(NO_PASSWORD.lists())
        waitFor(lambda: len(NO_PASSWORD.lists()) >= rounds + 2, PATIENCE, "two more questions")
        self.report.say(self.daemon.ctl("list").stdout.rstrip())
        self.expect(watch, "labels.open", AROMA, {"all-seeing": "low"})
        self.expect(watch, "labels.twoOnOneNetwork", FREE, {"all-seeing": "high", "no-password": "low"})
        # wispr is there by its file, which names this network.
        self.expect(watch, "labels.ownNetwork", TRAIN, {"train-only": "high", "wispr": "low"})
        self.expect(watch, "labels.notElsewhere", HOTEL, {})
        # One has the password, the other has not.
        self.expect(watch, "labels.passwordNeeded", HOME, {"all-seeing": "high"})
        ready = {network.ssid: watch.ready(network, "all-seeing") for network in (HOME, FREE)}
        self.report.check("labels.passwordMakesReady", ready == {HOME.ssid: True, FREE.ssid: False}, str(ready))

    def expect(self, watch: Watch, name: str, network: Network, wanted: dict[str, str]) -> None:
        labels = watch.labels(network)
        self.report.check(name, labels == wanted, f"{network.ssid}: {labels} instead of {wanted}")

    def switches(self, watch: Watch) -> None:
        """One label, all labels of a network, and everything again."""
        self.switch("disable", "--helper", "all-seeing", FREE.ssid)
        self.becomes(watch, "labels.oneSwitchedOff", FREE, {"no-password": "low"})
        self.unseen("labels.oneNoLongerSeesIt", [ALL_SEEING], FREE)
        self.switch("disable", AROMA.ssid)
        self.becomes(watch, "labels.networkSwitchedOff", AROMA, {})
        self.unseen("labels.noHelperSeesItAnyMore", [ALL_SEEING, NO_PASSWORD], AROMA)
        self.switch("enable", AROMA.ssid)
        self.switch("enable", "--helper", "all-seeing", FREE.ssid)
        self.becomes(watch, "labels.switchedOnAgain", FREE, {"all-seeing": "high", "no-password": "low"})
        self.becomes(watch, "labels.networkSwitchedOnAgain", AROMA, {"all-seeing": "low"})

    def switch(self, *words: str) -> None:
        done = self.daemon.ctl(*words)
        self.report.say(f"$ hotspotctl {' '.join(words)}\n{(done.stdout + done.stderr).rstrip()}")

    def becomes(self, watch: Watch, name: str, network: Network, wanted: dict[str, str]) -> None:
        self.report.attempt(name, lambda: waitFor(
            lambda: watch.entry(network) and watch.labels(network) == wanted, PATIENCE, f"{network.ssid} with {wanted}"))

    def unseen(self, name: str, listeners: list, network: Network) -> None:
        """From the question after the next one on, which may be on its way: the network is not in it, and others are."""
        before = [len(listener.lists()) for listener in listeners]
        asked = lambda: all(len(one.lists()) >= count + 2 for one, count in zip(listeners, before))
        waitFor(asked, PATIENCE, "the next questions")
        shown = [names for one, count in zip(listeners, before) for names in one.lists()[count + 1:]]
        right = all(network.ssid not in names and HOTEL.ssid in names for names in shown)
        self.report.check(name, right, f"{network.ssid} in {[sorted(names) for names in shown]}")

    # MARK: What was shown

    def shown(self, watch: Watch, watched: dict) -> None:
        wanted = {network.ssid for network in networks.ALL}
        added = [{entry["ssid"] for entry in seen} - wanted for seen in watch.lists]
        self.report.check("labels.nothingAdded", bool(added) and not any(added), str([names for names in added if names]))
        # Helpers answered in the opposite order.
        orders = [[entry["signal"] for entry in seen] for seen in watch.lists]
        sortedOnes = [order for order in orders if order == sorted(order, reverse=True)]
        right = sortedOnes == orders and max(map(len, orders)) == len(wanted)
        self.report.check("labels.orderIsTheSignals", right, str(orders[-1:]))
        counts = {listener.name: len(shown) for listener, shown in watched.items()}
        limit = watch.seconds / INTERVAL + 2
        said = ", ".join(f"{name} {count} times" for name, count in counts.items())
        self.report.say(f"asked in {watch.seconds:.0f} s: {said}")
        askers = [counts[one.name] for one in (ALL_SEEING, NO_PASSWORD, TRAIN_ONLY)]
        self.report.check(
            "labels.askedRepeatedly", min(askers) >= 3 and max(askers) <= limit, f"{counts}, at most {limit:.0f}"
        )
        self.report.check("labels.notAskedWithoutScanList", counts[JOINED_ONLY.name] == 0, str(counts))
        own = all(names == {TRAIN.ssid} for names in watched[TRAIN_ONLY])
        self.report.check("labels.ownNetworkOnly", own, str(watched[TRAIN_ONLY][:5]))
        self.report.check("labels.passwordNotInTheList", PASSWORD not in watch.text and len(watch.text) > 0)

    # MARK: No client watches

    def unwatched(self) -> None:
        # The questions on their way come to their end first.
        time.sleep(INTERVAL)
        counts = lambda: [len(listener.lists()) for listener in EVERYONE]
        busy = lambda: subprocess.run(["pgrep", "-f", "listener.py"], capture_output=True).returncode == 0
        waitFor(lambda: not busy(), PATIENCE, "the end of the last questions")
        before = counts()
        time.sleep(3 * INTERVAL)
        after = counts()
        right = after == before and sum(before) > 0
        self.report.check("labels.notAskedWhenUnwatched", right, f"{before}, then {after}")
