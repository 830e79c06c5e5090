"""Who was told what, over the whole run: the helpers' own records on one side, the daemon's journal on the other."""

import json

import networks
from daemon import Daemon
from director import SECRETS
from fabric import Fabric
from listeners import ALL_SEEING, EVERYONE, JOINED_ONLY, NO_PASSWORD, PASSWORD, TRAIN_ONLY
from networks import TRAIN
from report import Report

COMMANDS = {"FilterScanList", "Evaluate", "Authenticate", "PresentUI", "Maintain", "Logoff"}


def named(call: dict) -> set[str]:
    """The networks that a call gives away, by name, octets, access point or address, wherever in it that may be."""
    text = json.dumps(call["parameters"]).lower()
    words = {n.ssid: (n.ssid, n.ssid.encode().hex(), n.hardware, f"{n.prefix}.") for n in networks.ALL}
    return {ssid for ssid, giveaways in words.items() if any(word.lower() in text for word in giveaways)}


class Discretion:
    def __init__(self, fabric: Fabric, daemon: Daemon, report: Report, visits: set[tuple[str, str]]):
        self.fabric, self.daemon, self.report, self.visits = fabric, daemon, report, visits
        # Of a network that is forgotten, and its history with it.
        self.kept: list[tuple[str, dict]] = []

    def run(self) -> None:
        self.report.heading("Discretion: who was told what")
        for listener in EVERYONE:
            calls = listener.calls()
            methods = {method: sum(call["method"] == method for call in calls) for method in sorted(COMMANDS)}
            asked = ", ".join(f"{method} {count}" for method, count in methods.items() if count)
            self.report.say(f"{listener.name}: {asked}; heard of {sorted(set().union(*map(named, calls)))}")
        self.trainOnly()
        self.joinedOnly()
        self.scanList()
        self.journal()
        self.secrets()

    def trainOnly(self) -> None:
        calls = TRAIN_ONLY.calls()
        methods = {call["method"] for call in calls}
        self.report.check("discretion.allSixCommands", methods >= COMMANDS, f"lacking {COMMANDS - methods}")
        others = [(call["method"], sorted(named(call))) for call in calls if named(call) != {TRAIN.ssid}]
        self.report.check("discretion.ownNetworkOnly", bool(calls) and not others, str(others[:5]))

    def joinedOnly(self) -> None:
        calls = JOINED_ONLY.calls()
        wrong = [call for call in calls if call["method"] == "FilterScanList" or not self.isOfAVisit(call)]
        self.report.check("discretion.joinedNetworkOnly", bool(calls) and not wrong, json.dumps(wrong[:3]))
        heard = set().union(*map(named, calls))
        # It did hear of what was joined, and it was not by chance one network alone.
        joined = {ssid for _, ssid in self.visits}
        self.report.check("discretion.everyJoinedNetwork", heard == joined and len(heard) > 2, f"{heard}, joined {joined}")

    def isOfAVisit(self, call: dict) -> bool:
        network, link = call["parameters"]["network"]["ssid"], call["parameters"]["link"]["interface"]
        return named(call) == {network} and (link, network) in self.visits

    def scanList(self) -> None:
        askers = {listener.name for listener in EVERYONE if listener.lists()}
        wanted = {ALL_SEEING.name, NO_PASSWORD.name, TRAIN_ONLY.name}
        self.report.check("discretion.listOnlyOnRequest", askers == wanted, str(askers))
        # A control for the checks above: here the list is sent, and the same check finds it.
        everything = {network.ssid for network in networks.ALL}
        seen = [named(call) for call in ALL_SEEING.calls("FilterScanList")]
        self.report.check("discretion.wholeListForOne", everything in seen, str(seen[:3]))
        alone = all(set(call["parameters"]) == {"networks"} for one in EVERYONE for call in one.calls("FilterScanList"))
        self.report.check("discretion.listAlone", alone, "a list came with more than the networks")

    # MARK: The daemon's own word

    def disclosures(self) -> list[tuple[str, dict]]:
        """The steps of all attempts that tell of a disclosure, each with the network of its attempt."""
        found = []
        for attempt in self.daemon.json("history")["attempts"]:
            steps = self.daemon.json("explain", "--attempt", attempt["id"])["steps"]
            found += [(attempt["ssid"], step) for step in steps if step["kind"] == "disclosed"]
        return found

    def keep(self, network: str) -> None:
        self.kept = [(ssid, step) for ssid, step in self.disclosures() if ssid == network]

    def journal(self) -> None:
        disclosed = self.kept + self.disclosures()
        races = [(ssid, step["detail"]) for ssid, step in disclosed if not step.get("helper")]
        for listener in EVERYONE:
            asked = [call["parameters"]["network"]["ssid"] for call in listener.calls("Evaluate")]
            told = [ssid for ssid, detail in races if listener.name in detail.split(": ")[-1].split(", ")]
            # A process that was cancelled before it could write is told of in the journal alone.
            missing = [ssid for ssid in set(asked) if told.count(ssid) < asked.count(ssid)]
            said = f"{asked} asked, {told} in the journal"
            self.report.check(f"discretion.journal.{listener.name}", bool(asked) and not missing, said)
        lists = [(step["helper"], step["detail"]) for _, step in disclosed if step.get("helper")]
        said = any(helper == ALL_SEEING.name and "Hotel Lindenhof" in detail for helper, detail in lists)
        known = {helper for helper, _ in lists} <= {ALL_SEEING.name, NO_PASSWORD.name, TRAIN_ONLY.name, "wispr"}
        self.report.check("discretion.journal.scanList", said and known, str(lists))
        narrow = [detail for helper, detail in lists if helper in (TRAIN_ONLY.name, "wispr")]
        leaks = [detail for detail in narrow if not detail.endswith(f": {TRAIN.ssid}")]
        leaks += [ssid for ssid, detail in races if TRAIN_ONLY.name in detail and ssid != TRAIN.ssid]
        self.report.check("discretion.journal.nothingElse", not leaks and bool(races), str(leaks))
        # With nobody in any network there is no attempt to put it under; then the log has it.
        log = (self.fabric.logs / f"{self.daemon.name}.log").read_text(errors="replace")
        lines = [line for line in log.splitlines() if ": told " in line]
        right = all(any(f"told {one.name}: scan list" in line for line in lines) for one in (ALL_SEEING, NO_PASSWORD, TRAIN_ONLY))
        self.report.check("discretion.log", right and not any(JOINED_ONLY.name in line for line in lines), str(lines[:5]))

    def secrets(self) -> None:
        """The password in a helper's answer, and what was typed: in no log, no journal and no state."""
        guilty = self.daemon.filesWith([PASSWORD.encode(), *SECRETS])
        log = (self.fabric.logs / f"{self.daemon.name}.log").read_bytes()
        self.report.check("discretion.noSecretAnywhere", not guilty and b"all-seeing" in log, str(guilty))
