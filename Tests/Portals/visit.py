"""One visit: runs the helpers by hand as the daemon would, plays the user, and says how it ended."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import threading
import time
import uuid

from browser import Service
from lab import CLIENT, GATEWAY, LINK, NAMESERVER, PROBE, Lab, Product, Scenario

DEADLINE = 45
# The prompts that the daemon shows in a row.
ROUNDS = 8
RANK = {"high": 2, "low": 1, "none": 0}
# What a guest makes of a field: the first pattern that is in its name or label.
GUESSES = [
    ("code", r"voucher|code|coupon|token|gutschein|pin\b"), ("email", r"e-?mail"), ("phone", r"phone|mobil|tel"), ("room", r"room|zimmer"),
    ("surname", r"surname|last.?name|nachname|nom de famille"), ("user", r"user|login|account|konto|benutzer|identifiant|usuario|账号|学号"),
    ("name", r"name|nombre"),
]


@dataclasses.dataclass
class Helper:
    name: str
    priority: int

    @staticmethod
    def all(folder: pathlib.Path) -> list[Helper]:
        """The helpers of hotspot-helpers, by their files."""
        files = [dict(re.findall(r"^(\w+)=(.*)$", file.read_text(), re.M)) for file in sorted(folder.glob("*.helper"))]
        return [Helper(file["Name"], int(file.get("Priority", 50))) for file in files]


@dataclasses.dataclass
class Outcome:
    """`end`: logged in, refused, handed over, failed, not claimed."""

    end: str
    told: str = ""
    # What the user was told before the correction.
    refusal: str = ""
    helper: str = "–"
    kind: str = ""
    requests: int = 0
    milliseconds: int = 0
    seconds: int | None = None
    maintained: bool = False
    loggedOff: bool = False
    confidence: str = "none"
    # The login ended with a question, for which its page stays open.
    isAsking: bool = False
    # The most memory of its own that a process of the browser had.
    megabytes: int = 0
    # The login from its last probe on: the user's answers for it, and its requests.
    answers: dict[str, str] = dataclasses.field(default_factory=dict)
    login: list = dataclasses.field(default_factory=list)
    trace: list = dataclasses.field(default_factory=list)

    def faults(self, lab: Lab, scenario: Scenario) -> list[str]:
        """Why this is not what the scenario expects."""
        faults = [error.strip().splitlines()[-1] for error in lab.errors]
        if scenario.corrected and scenario.text not in self.refusal:
            faults.append(f'before the correction the user is told "{self.refusal}"')
        if scenario.expects == "logged in":
            if self.end != "logged in":
                return [*faults, f"{self.end}: {self.told}"]
            if not self.maintained:
                faults.append("Maintain did not find it open")
            if scenario.logoff and not self.loggedOff:
                faults.append("no logoff")
            if scenario.seconds is not None and not (self.seconds is not None and abs(self.seconds - scenario.seconds) <= 60):
                faults.append(f"the session's time is {self.seconds}, not {scenario.seconds}")
        elif scenario.expects == "refused":
            if self.end not in ("refused", "handed over", "failed"):
                faults.append(self.end)
            if scenario.text not in self.told:
                faults.append(f'the user is told "{self.told}"')
        elif scenario.expects not in ("any", self.end) or scenario.text not in self.told:
            faults.append(f"{self.end}: {self.told}")
        faults += [f"a request shows {secret}" for secret in scenario.never if any(entry.says(secret) for entry in lab.entries)]
        said = json.dumps([[answer.get(part) for part in ("portal", "prompt", "reason")] for answer in self.trace], ensure_ascii=False)
        faults += [f"the user is told {words!r}" for words in scenario.untold if json.dumps(words, ensure_ascii=False)[1:-1] in said]
        return faults


class Visit:
    """`service`: the process that answers all commands; without one each command has a process of its own."""

    def __init__(
        self, lab: Lab, programs: pathlib.Path, helpers: list[Helper], portals: pathlib.Path, service: Service | None = None
    ):
        self.service = service
        self.lab, self.programs, self.helpers = lab, programs, helpers
        self.environment = os.environ | {"HOTSPOTD_PORTALS": str(portals)}
        self.product: Product = lab.product
        self.user, self.refusal = self.product.scenario.user, ""
        self.identity = str(uuid.uuid4())

    def call(self, helper: Helper, method: str, **parameters) -> dict:
        ssid = self.product.ssid
        network = {
            "ssid": ssid, "ssidHex": ssid.encode().hex(), "interface": LINK, "security": "open", "autoJoined": False,
            "justJoined": method == "Evaluate", "chosenHelper": method != "Evaluate",
        }
        link = {
            "attempt": self.identity, "association": self.identity, "interface": LINK, "index": 2, "addresses": [f"{CLIENT}/24"],
            "gateways": [GATEWAY], "nameservers": [NAMESERVER], "probeURL": PROBE[0], "probeExpect": PROBE[1],
        }
        if self.product.portalAPI:
            link["portalAPI"] = self.product.portalAPI
        parameters = {name: value for name, value in parameters.items() if value is not None}
        message = {"method": f"org.hotspotd.Helper.{method}", "parameters": {"network": network, "link": link} | parameters}
        if self.service:
            return self.read(helper, self.service.call(helper.name, json.dumps(message).encode(), DEADLINE))
        words = ["nsenter", "--net=/run/netns/cli", str(self.programs / "hotspot-helpers"), helper.name]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment) as process:
            deadline = threading.Timer(DEADLINE, process.kill)
            deadline.start()
            process.stdin.write(json.dumps(message).encode() + b"\0")
            process.stdin.flush()
            text = b""
            while not text.endswith(b"\0") and (piece := process.stdout.read1(65536)):
                text += piece
            deadline.cancel()
            # Like the daemon, it does not wait for the process's own end.
            process.kill()
        return self.read(helper, text)

    def read(self, helper: Helper, text: bytes) -> dict:
        answer = json.loads(text[:-1] or "{}")
        if "parameters" in answer and "error" not in answer:
            return answer["parameters"]
        reason = f"{helper.name} gave {answer.get('error', 'no answer')}"
        return {"confidence": "none", "reply": {"result": "temporaryFailure", "reason": reason}}

    def run(self) -> Outcome:
        with concurrent.futures.ThreadPoolExecutor() as threads:
            claims = list(threads.map(lambda helper: self.call(helper, "Evaluate"), self.helpers))
        trace = [{"helper": helper.name, "evaluate": claim} for helper, claim in zip(self.helpers, claims)]
        asked = [pair for pair in zip(self.helpers, claims) if RANK[pair[1]["confidence"]]]
        asked.sort(key=lambda pair: (RANK[pair[1]["confidence"]], pair[0].priority), reverse=True)
        outcome = Outcome("not claimed", next((claim["reason"] for claim in claims if claim.get("reason")), ""))
        for helper, claim in asked:
            before, began = len(self.lab.portalEntries()), time.monotonic()
            end, told, reply = self.logIn(helper, claim, trace)
            outcome = Outcome(end, told, helper.name, (claim.get("portal") or {}).get("kind", ""))
            outcome.requests = len(self.lab.portalEntries()) - before
            outcome.refusal = self.refusal
            outcome.isAsking = bool((reply.get("prompt") or {}).get("fields"))
            outcome.confidence, outcome.answers, outcome.login = claim["confidence"], self.given, self.login
            outcome.milliseconds = round((time.monotonic() - began) * 1000)
            if end == "logged in":
                self.afterwards(helper, reply, outcome, trace)
            if end != "unsupported":
                break
        outcome.trace = trace
        return outcome

    def logIn(self, helper: Helper, claim: dict, trace: list) -> tuple[str, str, dict]:
        """The end, what the user is told, and the last reply."""
        portal, session, given = claim.get("portal"), claim.get("session"), {}
        self.login, self.given, isToldElsewhere = [], {}, False
        reply = self.step(helper, "Authenticate", {}, portal=portal, session=session)
        for _ in range(ROUNDS):
            trace.append(reply)
            result, prompt = reply["result"], reply.get("prompt") or {}
            told = " ".join(filter(None, [prompt.get("message"), reply.get("reason")]))
            if result == "success":
                return ("logged in" if self.waitUntilOpen() else "failed"), told or "The gate stays closed.", reply
            if result == "unsupportedNetwork":
                return "unsupported", told, reply
            if result != "uiRequired":
                return "failed", told, reply
            fields = [field for field in prompt["fields"] if field["kind"] != "checkbox"]
            if not prompt["fields"]:
                return "handed over", told, reply
            # A page whose scripts send to another address tells of it when they do.
            isTold = "Your answers go to" in (prompt.get("message") or "") and not isToldElsewhere
            isToldElsewhere = isToldElsewhere or isTold
            # A choice among ways to log in may bring other fields.
            isOther = "The page has changed" in (prompt.get("message") or "") and any(field["name"] not in given for field in fields)
            if any(field["name"] in given for field in fields) and not isTold and not isOther:
                if self.refusal or not self.product.scenario.corrected:
                    return "refused", told, reply
                self.refusal, self.user, given = told, self.user | self.product.scenario.corrected, {}
            answers = {field["name"]: self.typed(field) for field in prompt["fields"]}
            missing = [field["label"] for field in prompt["fields"] if field["required"] and not answers[field["name"]]]
            if missing:
                return "failed", f"asks for {', '.join(missing)}", reply
            given |= answers
            portal, session = reply.get("portal", portal), reply.get("session", session)
            typed = {name: value for name, value in answers.items() if value}
            self.think()
            reply = self.step(helper, "PresentUI", answers, portal=portal, session=session, answers=typed)
        return "failed", "asks again and again", reply

    def step(self, helper: Helper, method: str, typed: dict[str, str], **parameters) -> dict:
        """One command of the login. A command that does not probe goes on with the login of the one before."""
        before = len(self.lab.entries)
        reply = self.call(helper, method, consent=False, **parameters)["reply"]
        # The terms are fetched to be shown; a guest who has agreed needs them no more.
        terms = (reply.get("prompt") or {}).get("termsURL")
        sent = [entry for entry in self.lab.entries[before:] if entry.url != terms]
        goesOn = not any(entry.part == "gateway" for entry in sent)
        self.login, self.given = (self.login + sent, self.given | typed) if goesOn else (sent, typed)
        return reply

    def think(self) -> None:
        """The time between a question and its answer."""
        self.product.asked()
        time.sleep(self.product.options.get("thinks", 0))
        if self.product.options.get("restarts"):
            self.service.end()
            self.service.start()

    def typed(self, field: dict) -> str:
        words = f"{field['name']} {field['label']}".lower()
        if field["name"] in self.user:
            return self.user[field["name"]]
        if field["kind"] == "checkbox":
            return "yes" if field["required"] else ""
        if field["kind"] == "choice":
            return self.user.get("choice", (field.get("choices") or [""])[0])
        if field["kind"] in ("password", "code", "email", "phone") and field["kind"] in self.user:
            return self.user[field["kind"]]
        return next((self.user[role] for role, pattern in GUESSES if role in self.user and re.search(pattern, words)), field.get("value", ""))

    def waitUntilOpen(self) -> bool:
        end = time.monotonic() + self.product.scenario.delay + 1
        while not self.lab.isOpen and time.monotonic() < end:
            time.sleep(0.05)
        return self.lab.isOpen

    def afterwards(self, helper: Helper, reply: dict, outcome: Outcome, trace: list) -> None:
        session = reply.get("session")
        # The daemon maintains a session minutes later, in an attempt of its own.
        self.identity = str(uuid.uuid4())
        kept = self.call(helper, "Maintain", session=session)["reply"]
        outcome.maintained = kept["result"] == "success"
        session = kept.get("session", session)
        times = [(value.get("session") or {}).get("secondsRemaining") for value in (kept, reply)]
        outcome.seconds = next((value for value in times if value is not None), None)
        left = self.call(helper, "Logoff", session=session)["reply"]
        outcome.loggedOff = left["result"] == "success" and not self.lab.isOpen
        trace += [kept, left]
