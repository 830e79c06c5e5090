"""Four helpers that record what they were asked; each may know something else."""

import json
import pathlib
import shutil

from basics import HERE, RUN
from daemon import Daemon
from networks import AROMA, FREE, HOME, HOTEL, TRAIN, Network

# What the first one knows of a network that is only to be seen in the list.
PASSWORD = "under-the-attic-stairs"


def label(network: str | Network, confidence: str, **more: str) -> dict:
    name = network.ssid if isinstance(network, Network) else network
    return {"ssidHex": name.encode().hex(), "confidence": confidence} | more


class Listener:
    """One of them: its file, what it answers to the list, and its record."""

    def __init__(self, name: str, keys: str, labels: list[dict], *words: str):
        self.name, self.keys, self.labels, self.words = name, keys, labels, words
        self.record = RUN / "records" / f"{name}.jsonl"

    def write(self, daemon: Daemon) -> None:
        program, labels = daemon.programs / "listener.py", RUN / f"{self.name}.labels"
        shutil.copy(HERE / "listener.py", program)
        labels.write_text(json.dumps(self.labels))
        self.record.parent.mkdir(exist_ok=True)
        words = " ".join([str(program), str(self.record), str(labels), *self.words])
        (daemon.helpers / f"{self.name}.helper").write_text(
            f"[Helper]\nName={self.name}\nDisplayName={self.name}\nExec={words}\nReadWritePaths={self.record.parent}\n{self.keys}"
        )

    def calls(self, method: str | None = None) -> list[dict]:
        """What it was asked, so far."""
        text = self.record.read_text() if self.record.exists() else ""
        # The last line may be on its way: a reader sees a long one grow.
        calls = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        return [call for call in calls if method in (None, call["method"])]

    def lists(self) -> list[set[str]]:
        """The names in each list that it was shown."""
        return [{network["ssid"] for network in call["parameters"]["networks"]} for call in self.calls("FilterScanList")]


# The weakest first and with one that is not there: an answer has no say in what is in the list, nor in its order.
ALL_SEEING = Listener("all-seeing", "ScanList=yes\n", [
    label(HOME, "high", password=PASSWORD), label(FREE, "high"), label("Nowhere", "high"), label(AROMA, "low"),
])
NO_PASSWORD = Listener("no-password", "ScanList=yes\n", [label(HOME, "high"), label(FREE, "low")])
TRAIN_ONLY = Listener("train-only", f"SSID={TRAIN.ssid}\n", [label(TRAIN, "high"), label(HOTEL, "high")], "--train")
JOINED_ONLY = Listener("joined-only", "", [label(AROMA, "high")])
EVERYONE = [ALL_SEEING, NO_PASSWORD, TRAIN_ONLY, JOINED_ONLY]


def writeAll(daemon: Daemon) -> None:
    for listener in EVERYONE:
        listener.write(daemon)


def keepRecords(logs: pathlib.Path) -> None:
    for listener in EVERYONE:
        if listener.record.exists():
            shutil.copy(listener.record, logs / f"told-{listener.name}.jsonl")
