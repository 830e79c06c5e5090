"""Records a login with `hotspotctl portals record` as a guest would, and plays what it wrote."""

import base64
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import urllib.parse

from lab import CLIENT, CLIENT_MAC, LINK, NAMESERVER
from visit import DEADLINE, Visit

RESOLVER = pathlib.Path("/run/systemd/resolve/resolv.conf")
QUESTION = re.compile(r"\{([^{}]*)\}: $")


def shows(text: str, spelling: str) -> bool:
    """A short one may be a part of the portal's own words."""
    return spelling in text if len(spelling) > 5 else bool(re.search(rf"(?<![^\W_]){re.escape(spelling)}(?![^\W_])", text))


class HandIn:
    def __init__(self, lab, kind, scenario, options, outcome):
        RESOLVER.parent.mkdir(parents=True, exist_ok=True)
        RESOLVER.write_text(f"nameserver {NAMESERVER}\n")
        lab.begin(kind, scenario)
        self.portals, self.kind, self.isByFile = pathlib.Path(options.portals), outcome.kind, outcome.helper == "catalogue"
        self.program = [str(pathlib.Path(options.bin).resolve() / "hotspot-helpers"), "--author"]
        self.environment = os.environ | {"HOTSPOTD_PORTALS": str(self.portals)}
        self.visit, self.given = Visit(lab, pathlib.Path(options.bin), [], self.portals), []
        prompts = [(reply.get("prompt") or {}).get("fields", []) for reply in outcome.trace]
        self.fields = {field["name"]: field for fields in prompts for field in fields}

    def faults(self) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/tests")
            file = pathlib.Path(folder, "tests", f"{self.kind}.exchange")
            said = self.record(file)
            if not file.exists():
                # The file that matches best may fail where another helper logs in.
                return [] if not self.isByFile and "Nothing was written" in said else [said.strip()[-1500:]]
            text = file.read_text()
            faults = [f"shows {spelling}" for spelling in self.private() if shows(text, spelling)]
            if file.stat().st_mode & 0o777 != 0o600:
                faults.append("others may read it")
            if "exists already" not in self.record(file):
                faults.append("overwrites a file")
            if self.isByFile:
                shutil.copy(self.portals / f"{self.kind}.portal", folder)
                checked = subprocess.run([*self.program, "portals", "check", f"{folder}/{self.kind}.portal"], capture_output=True, text=True)
                if "1 recorded logins were played" not in checked.stdout:
                    faults.append(checked.stdout.strip())
            return faults

    def record(self, file: pathlib.Path) -> str:
        """Answers each question; returns everything that was said."""
        words = ["nsenter", "--net=/run/netns/cli", *self.program, "portals", "record", f"--interface={LINK}", str(file)]
        # Without a terminal of its own, so that secrets are read from standard input as well.
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.environment,
                              start_new_session=True) as process:
            deadline = threading.Timer(DEADLINE, process.kill)
            deadline.start()
            said = ""
            while piece := process.stdout.read1(65536):
                said += piece.decode("utf-8", "replace")
                if question := QUESTION.search(said):
                    process.stdin.write(self.answer(question[1]).encode() + b"\n")
                    process.stdin.flush()
                    said += "\n"
            deadline.cancel()
        return said

    def answer(self, name: str) -> str:
        field = self.fields.get(name, {"name": name, "label": name, "kind": "text"})
        typed = self.visit.typed(field)
        if field["kind"] not in ("checkbox", "choice") and len(typed) > 2:
            self.given.append(typed)
        return typed

    def private(self) -> set[str]:
        """The answers, and the client's addresses, in the usual spellings."""
        digits = CLIENT_MAC.replace(":", "")
        spellings = {CLIENT_MAC, CLIENT_MAC.replace(":", "-"), CLIENT_MAC.replace(":", "%3A"), digits, f"{CLIENT}&", f"{CLIENT}/"}
        for value in self.given:
            octets = value.encode()
            spellings |= {value, urllib.parse.quote(value, ""), base64.b64encode(octets).decode(), octets.hex()}
        return spellings
