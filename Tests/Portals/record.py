"""Writes a visit as a fixture for `hotspotctl portals check`, without what changes at each visit."""

import pathlib
import re
import time

from lab import CLIENT, PROBE, Entry, Lab, Scenario
from visit import Outcome

# The clock of a fixture, and what its random letters are.
CLOCK, LETTERS = 1_700_000_000, {"uuid": 32, "v": 4}
ANSWER_HEADERS = ("Location", "Set-Cookie", "Server", "P3P", "token")
REQUEST_HEADERS = ("x-csrf-token", "x-requested-with")


def record(folder: pathlib.Path, scenario: Scenario, isFirst: bool, lab: Lab, outcome: Outcome) -> None:
    """Records a login by a portal file from its last probe on."""
    # Some portals answer at an address of the probe.
    entries = [entry for entry in outcome.login if not entry.url.startswith("http://1.1.1.1/?r=")]
    first = next((entry for entry in entries if entry.part == "gateway" and entry.url.startswith(PROBE[0])), None)
    if outcome.helper != "catalogue" or outcome.end not in ("logged in", "refused") or not first or scenario.delay > 0:
        return
    word = "" if isFirst else "-" + re.sub(r"\W+", "-", scenario.name)
    lines = [f"# {type(lab.product).__name__}, {scenario.name}: played by Tests/Portals."]
    lines += [f"answer {name}={value}" for name, value in outcome.answers.items() if value] + [f"link {CLIENT}/24"]
    for entry in [first] + [entry for entry in entries if entry.part == "portal" or entry.url.startswith("http://example.org/")]:
        lines += turn(entry)
    lines.append("= success" if outcome.end == "logged in" else f"= uiRequired\n= reason {outcome.told}")
    lines.append(f"= claims {outcome.confidence}")
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "tests" / f"{outcome.kind}{word}.exchange").write_text(constant("\n".join(lines) + "\n"))


def turn(entry: Entry) -> list[str]:
    lines = [f"> {entry.method} {entry.url}"]
    headers = {name.lower(): value for name, value in entry.headers}
    lines += [f"> {name}: {headers[name]}" for name in REQUEST_HEADERS if name in headers]
    if "json" in headers.get("content-type", ""):
        lines.append(f"> Content-Type: {headers['content-type']}")
    lines += [f">| {line}" for line in entry.body.splitlines()]
    if entry.answer is None:
        return lines + ["< lost"]
    lines.append(f"< {entry.answer.status} {entry.answer.phrase}")
    lines += [f"< {name}: {value}" for name, value in entry.answer.headers.items() if name in ANSWER_HEADERS and value]
    return lines + [f"<| {line}" for line in entry.answer.body.decode("utf-8", "replace").splitlines()]


def constant(text: str) -> str:
    """Replaces the random query of the probe, the time and random letters."""
    text = re.sub(r"(\?|%3F)r(=|%3D)[a-z0-9]+", "", text)
    now = int(time.time())
    text = re.sub(r"\b\d{13}\b", lambda found: f"{CLOCK}000" if abs(int(found[0]) // 1000 - now) < 120 else found[0], text)
    text = re.sub(r"\b\d{10}\b", lambda found: str(CLOCK) if abs(int(found[0]) - now) < 120 else found[0], text)
    for name, count in LETTERS.items():
        text = re.sub(rf"([?&]{name}=)[a-z0-9]{{{count}}}\b", rf"\1{'r' * count}", text)
    return text
