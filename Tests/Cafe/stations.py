"""Two radios of one daemon: what happens on one never touches the other, and either may be renamed, vanish and come back."""

import station
from basics import Trouble, waitFor
from daemon import Daemon, Monitor
from director import GUEST, RIDER
from fabric import Fabric
from labels import PATIENCE, Watch
from listeners import ALL_SEEING
from networks import FREE, HOTEL, PAGE_URL, TRAIN, Network
from report import Report

NEW_NAME = "guest0"


class Stations:
    def __init__(self, fabric: Fabric, daemon: Daemon, monitor: Monitor, report: Report):
        self.fabric, self.daemon, self.monitor, self.report = fabric, daemon, monitor, report
        self.first = fabric.client
        # Which interface was in which network: the helpers' records are compared with it.
        self.visits: set[tuple[str, str]] = set()
        # The helper that freed the hotel: it has a form, and an API.
        self.host: str | None = None

    def run(self) -> None:
        self.report.heading("Two stations")
        self.second = self.fabric.addStation()
        self.report.attempt("stations.secondIsManaged", lambda: self.isManaged(self.second.link))
        self.firstLogsIn()
        self.secondIsAsked()
        self.secondRoams()
        self.firstLeaves()
        self.secondAnswers()
        self.firstComesBack()
        self.listWhileJoined()
        self.renamed()
        self.removed()
        self.logOff()
        self.second.remove()
        self.report.attempt("stations.secondIsGone", lambda: waitFor(self.secondGone, PATIENCE, "the second station's end"))
        self.first.leave()

    # MARK: Words

    def join(self, client: station.Station, network: Network, states: set[str], isEnd=lambda event: True) -> list[str]:
        """The states on the way to one of these."""
        self.visits.add((client.link, network.ssid))
        mark = self.monitor.mark()
        client.join(network)
        self.monitor.waitFor(states, mark, PATIENCE, isEnd, client.link)
        path = [event["to"] for event in self.monitor.transitions(mark, client.link)]
        self.report.say(f"{client.link} at {network.ssid}: {' → '.join(path)}")
        return path

    def answer(self, client: station.Station, replies: list[tuple[str, str]]) -> None:
        """Answers the prompt; the helper that asked must free the network."""
        mark, helper = self.monitor.mark(), self.daemon.status(client.link)["helper"]
        status, screen = self.daemon.answerInTerminal(replies, self.daemon.status(client.link)["prompt"])
        if status != 0:
            raise Trouble(f"no answer on {client.link} ({status}): {screen}")
        self.monitor.waitFor({"authenticated"}, mark, PATIENCE, lambda event: event.get("helper") == helper, client.link)

    def now(self, client: station.Station) -> dict:
        """What another interface's doings must leave as it is."""
        status = self.daemon.status(client.link)
        return {key: status.get(key) for key in ("state", "since", "ssid", "bssid", "helper", "prompt", "problems")}

    def undisturbed(self, name: str, client: station.Station, before: dict, mark: int) -> None:
        """Neither a step of the machine nor a word of the status since then; what it finds out by itself is its own business."""
        steps = [step for step in self.monitor.steps(mark, client.link) if not self.isItsOwn(step)]
        after = self.now(client)
        self.report.check(name, bool(before["state"]) and after == before and not steps, f"{before}, then {after}; {steps}")

    def isItsOwn(self, step: dict) -> bool:
        # A question that is under way when the last client stops watching is withdrawn; the journal has its late answer.
        begin = {"disclosed": "scan list", "ignored": "filterScanList:"}.get(step["kind"])
        isOfTheList = begin is not None and step["detail"].startswith(begin)
        return isOfTheList or step["kind"] in ("verdict", "trace")

    def isMaintained(self, path: list[str]) -> bool:
        """Asked after its session first; and whatever came in the way on a busy host, nothing was asked of the user."""
        return path[:1] == ["maintaining"] and "presentingUI" not in path

    def isOnline(self, name: str, client: station.Station) -> None:
        page = station.fetched(client, PAGE_URL)
        self.report.check(name, "Internet side" in page, page[:200])

    def isManaged(self, link: str) -> None:
        waitFor(lambda: self.daemon.status(link).get("state"), PATIENCE, f"{link} in the status")

    def secondGone(self) -> bool:
        return not self.daemon.status(self.second.link)

    # MARK: Each in a network of its own

    def firstLogsIn(self) -> None:
        # So that the one helper that may hear of this network only is the one that frees it.
        self.daemon.ctl("disable", "--yes", "--helper", "wispr", TRAIN.ssid)
        self.join(self.first, TRAIN, {"presentingUI"})
        self.answer(self.first, RIDER)
        self.isOnline("stations.firstOnline", self.first)

    def secondIsAsked(self) -> None:
        before, mark = self.now(self.first), self.monitor.mark()
        self.join(self.second, HOTEL, {"presentingUI"})
        self.report.say(self.daemon.ctl("status").stdout.rstrip())
        self.undisturbed("stations.joinUnnoticed", self.first, before, mark)
        states = {client.link: (self.now(client)["state"], self.now(client)["ssid"]) for client in (self.first, self.second)}
        wanted = {self.first.link: ("authenticated", TRAIN.ssid), self.second.link: ("presentingUI", HOTEL.ssid)}
        self.report.check("stations.independent", states == wanted, str(states))
        prompts = [(prompt["interface"], prompt["ssid"]) for prompt in self.daemon.json("prompts")["prompts"]]
        self.report.check("stations.oneQuestion", prompts == [(self.second.link, HOTEL.ssid)], str(prompts))

    def secondRoams(self) -> None:
        """To another access point of the hotel and back, with a question on the screen. Meanwhile the driver turns the carrier off."""
        before, mark = self.now(self.second), self.monitor.mark()
        ups = self.second.carriers()
        twin = self.fabric.addTwin(HOTEL)
        for place in (twin, HOTEL.hardware):
            self.second.roam(place)
            waitFor(lambda: self.now(self.second)["bssid"] == place, PATIENCE, f"{self.second.link} at {place}")
        self.report.check("stations.roamHasNoCarrier", self.second.carriers() > ups, str(ups))
        self.undisturbed("stations.roamUnnoticed", self.second, before, mark)
        self.fabric.removeTwin(HOTEL)

    def firstLeaves(self) -> None:
        before, mark = self.now(self.second), self.monitor.mark()
        self.first.leave()
        self.monitor.waitFor({"inactive"}, mark, PATIENCE)
        self.undisturbed("stations.leaveUnnoticed", self.second, before, mark)

    def secondAnswers(self) -> None:
        mark = self.monitor.mark()
        self.answer(self.second, GUEST)
        self.host = self.daemon.status(self.second.link)["helper"]
        self.isOnline("stations.secondOnline", self.second)
        moved = [event["to"] for event in self.monitor.transitions(mark)]
        self.report.check("stations.firstStaysOut", not moved and self.now(self.first)["state"] == "inactive", str(moved))

    def firstComesBack(self) -> None:
        before, mark = self.now(self.second), self.monitor.mark()
        path = self.join(self.first, TRAIN, {"authenticated"}, lambda event: event.get("helper") == "train-only")
        self.report.check("stations.firstMaintained", self.isMaintained(path), " → ".join(path))
        self.undisturbed("stations.returnUnnoticed", self.second, before, mark)
        self.isOnline("stations.bothOnline", self.second)

    def listWhileJoined(self) -> None:
        """A client watches while both are online, and one helper is shown another list than before: the journal has that too."""
        before, mark = [self.now(client) for client in (self.first, self.second)], self.monitor.mark()
        with Watch(self.daemon):
            count = len(ALL_SEEING.lists())
            waitFor(lambda: len(ALL_SEEING.lists()) > count, PATIENCE, "a question")
            self.daemon.ctl("disable", "--yes", "--helper", "all-seeing", FREE.ssid)
            waitFor(lambda: FREE.ssid not in ALL_SEEING.lists()[-1], PATIENCE, "a question without the network")
            self.daemon.ctl("enable", "--helper", "all-seeing", FREE.ssid)
        # It is asked in every state and moves nothing (T44).
        for client, then in zip((self.first, self.second), before):
            self.undisturbed(f"stations.listMovesNothing.{'first' if client is self.first else 'second'}", client, then, mark)

    # MARK: Renamed, removed, there again

    def renamed(self) -> None:
        old, index = self.second.link, self.second.index()
        before, mark = self.now(self.first), self.monitor.mark()
        self.second.rename(NEW_NAME)
        self.report.attempt("stations.renamed", lambda: self.isManaged(NEW_NAME))
        self.report.check("stations.oldNameGone", not self.daemon.status(old) and self.second.index() == index, str(
            self.daemon.status(old)))
        path = self.join(self.second, HOTEL, {"authenticated"}, lambda event: event.get("helper") == self.host)
        # What is remembered belongs to the network, not to the interface's name.
        self.report.check("stations.renamedMaintained", self.isMaintained(path), " → ".join(path))
        self.isOnline("stations.renamedOnline", self.second)
        self.undisturbed("stations.renameUnnoticed", self.first, before, mark)

    def removed(self) -> None:
        index, before, mark = self.second.index(), self.now(self.first), self.monitor.mark()
        self.second.remove()
        self.report.attempt("stations.removed", lambda: waitFor(self.secondGone, PATIENCE, f"the end of {self.second.link}"))
        last = [event["to"] for event in self.monitor.transitions(mark, self.second.link)][-1:]
        self.report.check("stations.removedEndsInactive", last == ["inactive"], str(last))
        self.second.addAgain()
        self.report.attempt("stations.addedAgain", lambda: self.isManaged(self.second.link))
        self.report.check("stations.addedAgainIsAnother", self.second.index() != index, str(index))
        self.join(self.second, FREE, {"authenticated"})
        status = self.daemon.status(self.second.link)
        right = status.get("captive") is False and status.get("ssid") == FREE.ssid
        self.report.check("stations.addedAgainOpen", right, str(status))
        self.isOnline("stations.addedAgainOnline", self.second)
        self.undisturbed("stations.removalUnnoticed", self.first, before, mark)

    def logOff(self) -> None:
        before, mark = self.now(self.second), self.monitor.mark()
        self.daemon.ctl("logoff", self.first.link)
        self.monitor.waitFor({"inactive"}, mark, PATIENCE)
        left = [entry for entry in self.fabric.transcript("train") if entry.get("remark") == "logged out"]
        self.report.check("stations.logoffAtThePortal", len(left) == 1, f"{len(left)} logoffs")
        self.undisturbed("stations.logoffUnnoticed", self.second, before, mark)
        self.isOnline("stations.secondStillOnline", self.second)
