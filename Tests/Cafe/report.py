"""The café's results: one line for people, one JSON line for the tests."""

import contextlib
import json
import pathlib
import subprocess
import sys
import time

from basics import Trouble


class Report:
    def __init__(self, results: pathlib.Path | None):
        self.file = open(results, "a", buffering=1) if results else None
        self.scene = ""
        self.failed: list[str] = []
        self.passed = 0
        self.began = time.monotonic()

    @contextlib.contextmanager
    def inScene(self, scene: str):
        """Names the scene in all results; trouble that the scene did not handle ends the scene and nothing else."""
        self.scene = scene
        try:
            yield
        except (Trouble, subprocess.SubprocessError, OSError) as trouble:
            self.check("done", False, f"{type(trouble).__name__}: {trouble}")
        else:
            self.check("done", True)

    def heading(self, text: str) -> None:
        print(f"\n[{time.monotonic() - self.began:5.1f} s] {text}", flush=True)

    def say(self, text: str) -> None:
        for line in text.splitlines():
            print(f"    {line}", flush=True)

    def check(self, name: str, ok: bool, detail: str = "") -> bool:
        if self.file:
            self.file.write(json.dumps({"scene": self.scene, "name": name, "ok": bool(ok), "detail": detail[:2000]}) + "\n")
        if ok:
            self.passed += 1
        else:
            self.failed.append(f"{self.scene}: {name}")
        print(f"    {'✓' if ok else '✗'} {name}" + (f": {detail}" if detail and not ok else ""), flush=True)
        return bool(ok)

    def attempt(self, name: str, action) -> bool:
        """Checks that the action can be done; if it raises trouble, that is the detail of the failure."""
        try:
            action()
        except (Trouble, subprocess.SubprocessError, OSError) as trouble:
            return self.check(name, False, str(trouble))
        return self.check(name, True)

    def note(self, **entry) -> None:
        """Writes a fact for the tests that is neither right nor wrong, such as a figure."""
        if self.file:
            self.file.write(json.dumps(entry) + "\n")

    def summary(self) -> int:
        print(f"\n{self.passed} passed, {len(self.failed)} failed, {time.monotonic() - self.began:.0f} s", flush=True)
        for name in self.failed:
            print(f"    ✗ {name}", flush=True)
        sys.stdout.flush()
        return 1 if self.failed else 0
