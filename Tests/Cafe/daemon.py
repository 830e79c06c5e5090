"""The programs under test, as a user meets them: hotspotd in the client's namespace and hotspotctl beside it."""

import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import termios
import threading
import time

import networks
from basics import RUN, Trouble, waitFor
from fabric import Fabric

# Ctrl-D.
END = "\x04"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
PORTALS = pathlib.Path("/etc/hotspotd/portals")


class Daemon:
    """hotspotd, its settings and its helpers' files. It may be started again; its state stays."""

    def __init__(
        self, fabric: Fabric, programs: pathlib.Path, moreSettings: str = "", match: str | None = None, name: str = "hotspotd",
        acceptTerms: bool = True,
    ):
        self.fabric, self.moreSettings, self.name, self.acceptTerms = fabric, moreSettings, name, acceptTerms
        self.match = fabric.interface if match is None else match
        folder = RUN / name
        self.state, self.runtime, self.helpers = folder / "state", folder / "run", folder / "helpers"
        self.settings, self.socket = folder / "hotspotd.conf", self.runtime / "org.hotspotd.Control"
        self.process: subprocess.Popen | None = None
        self.notifications: list[str] = []
        # Each question in the terminal, and whether typing was shown when it appeared.
        self.echoes: list[tuple[str, bool]] = []
        self.channel: socket.socket | None = None
        for program in ("hotspotd", "hotspotctl", "hotspot-helpers"):
            if not os.access(programs / program, os.X_OK):
                raise Trouble(f"no {program} in {programs}: make build")
        # An earlier scene's.
        shutil.rmtree(folder, ignore_errors=True)
        # The daemon runs nothing that another user or a group could change, and the checkout may be of a user whose files are like that.
        self.programs = folder / "bin"
        self.programs.mkdir(parents=True)
        for program in ("hotspotd", "hotspotctl", "hotspot-helpers"):
            shutil.copyfile(programs / program, self.programs / program)
            (self.programs / program).chmod(0o755)
        self.prepare()

    def prepare(self) -> None:
        # From the files that make install ships, with the program's place filled in.
        self.helpers.mkdir(mode=0o755)
        for file in sorted((CHECKOUT / "Sources/hotspot-helpers/Helpers").glob("*.helper")):
            text = file.read_text().replace("@libexecdir@", str(self.programs))
            if file.stem == "wispr" and self.fabric.mode == "radio":
                # So that the list has a claim to show: this operator's name is in the helper's file.
                text = text.rstrip() + f"\nSSID={networks.TRAIN.ssid}\n"
            (self.helpers / file.name).write_text(text)
        # The administrator's folder, which the sandbox of `catalogue` shows; /etc is the café's own.
        shutil.copytree(CHECKOUT / "Portals", PORTALS, ignore=shutil.ignore_patterns("tests"), dirs_exist_ok=True)
        radio = self.fabric.mode == "radio"
        links = f"ScanFrequencies={networks.FREQUENCY}\n" if radio else "ManageEthernet=yes\n"
        self.settings.write_text(
            f"[Daemon]\nStateDirectory={self.state}\nRuntimeDirectory={self.runtime}\nHelperDirectories={self.helpers}\n"
            f"LogLevel=debug\n\n[Interfaces]\nMatch={self.match}\n{links}\n"
            f"[Probe]\nURL={networks.PROBE_URL}\nExpect=204\nHTTPSURL={networks.PROBE_HTTPS_URL}\n\n[Policy]\n"
            f"{'AcceptTerms=yes' if self.acceptTerms else ''}\n{self.moreSettings}"
        )

    def start(self, watchdogSeconds: float = 0) -> None:
        address = RUN / "notify"
        address.unlink(missing_ok=True)
        self.channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.channel.bind(str(address))
        self.notifications = []
        threading.Thread(target=self.listen, args=(self.channel,), daemon=True).start()
        environment = {"PATH": PATH, "LANG": "C.UTF-8", "NOTIFY_SOCKET": str(address)}
        if watchdogSeconds:
            environment["WATCHDOG_USEC"] = str(int(watchdogSeconds * 1e6))
        words = [str(self.programs / "hotspotd"), "--settings", str(self.settings)]
        self.process = self.fabric.start(self.name, self.fabric.command("cli", *words), env=environment)
        waitFor(self.isReady, 30 * self.fabric.patience, f"hotspotd is not ready; see {self.fabric.logs}/{self.name}.log")

    def isReady(self) -> bool:
        if self.process.poll() is not None:
            raise Trouble(f"hotspotd ended at once ({self.process.returncode}): {self.fabric.lastWords(self.name)}")
        return any("READY=1" in text for text in self.notifications) and self.socket.exists()

    def listen(self, channel: socket.socket) -> None:
        try:
            while text := channel.recv(4096).decode(errors="replace"):
                self.notifications.append(text)
        except OSError:
            pass

    def pss(self) -> int:
        """Proportional memory in KiB."""
        rollup = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))

    def problems(self) -> dict[str, str]:
        """What is wrong with the interface's network, by code: the sentences that hotspotctl shows."""
        return {problem["code"]: problem["message"] for problem in self.status().get("problems", [])}

    def stop(self, seconds: float = 60) -> int | None:
        """Its exit status after SIGTERM, or None if it had to be killed."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
        finally:
            self.channel.close()

    def environment(self) -> dict[str, str]:
        plain = {"PATH": PATH, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", "HOME": "/root"}
        return plain | {"HOTSPOTD_SOCKET": str(self.socket)}

    def ctl(self, *words: str, timeout: float = 60, given: str = "") -> subprocess.CompletedProcess:
        return subprocess.run(
            [str(self.programs / "hotspotctl"), *words], env=self.environment(), input=given, capture_output=True, text=True,
            timeout=timeout * self.fabric.patience,
        )

    def json(self, *words: str) -> dict:
        done = self.ctl(*words, "--json=short")
        try:
            return json.loads(done.stdout.splitlines()[-1])
        except (ValueError, IndexError):
            output = (done.stdout + done.stderr)[-300:]
            raise Trouble(f"hotspotctl {' '.join(words)} --json=short ({done.returncode}): {output}") from None

    def watchList(self, wanted: set[str], seconds: float) -> dict[str, dict]:
        """hotspotctl list --watch until all these names were in one list, or the time is up; the last list by name."""
        watching = subprocess.Popen(
            [str(self.programs / "hotspotctl"), "list", "--watch", "--json=short"], env=self.environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=open(self.fabric.logs / "watch.log", "ab"), text=True,
        )
        timer = threading.Timer(seconds, watching.kill)
        timer.start()
        latest: dict[str, dict] = {}
        try:
            for line in watching.stdout:
                try:
                    latest = {entry["ssid"]: entry for entry in json.loads(line)["networks"]}
                except (ValueError, KeyError, TypeError):
                    continue
                if wanted <= set(latest):
                    break
        finally:
            timer.cancel()
            watching.kill()
            watching.wait()
        return latest

    def status(self, link: str | None = None) -> dict:
        """The status of this interface, or of the first one; empty if it is not managed."""
        for entry in self.json("status").get("interfaces", []):
            if entry["interface"] == (link or self.fabric.interface):
                return entry
        return {}

    def filesWith(self, secrets: list[bytes]) -> list[str]:
        """The files of the daemon's state, of its sockets' folder and of the logs that have one of these octets in them."""
        places = [path for folder in (self.state, self.runtime, self.fabric.logs) for path in folder.rglob("*") if path.is_file()]
        return [path.name for path in places if any(secret in path.read_bytes() for secret in secrets)]

    def keepTraces(self) -> None:
        """Copies what a person wants to see after a failure into the logs; none of it contains an answer."""
        for name, words in {"status": ["status"], "explain": ["explain"], "helpers": ["helpers"]}.items():
            try:
                done = self.ctl(*words, timeout=15)
                (self.fabric.logs / f"{name}.txt").write_text(done.stdout + done.stderr)
            except (OSError, subprocess.SubprocessError):
                pass
        if self.state.exists():
            for path in self.state.glob("*.db*"):
                shutil.copy(path, self.fabric.logs)

    def answerInTerminal(self, replies: list[tuple], *words: str, timeout: float = 150) -> tuple[int | None, str]:
        """hotspotctl answer in a real terminal, with a person at it. Returns its exit status and what the screen showed.

        A reply is a text, or a list of texts for a question that comes several times; Ctrl-D is typed without Enter.
        """
        replies = [(pattern, list(reply) if isinstance(reply, list) else [reply]) for pattern, reply in replies]
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(self.programs / "hotspotctl", ["hotspotctl", "answer", *words], self.environment())
        screen, answered, deadline = "", 0, time.monotonic() + timeout
        try:
            while time.monotonic() < deadline:
                if not select.select([terminal], [], [], 0.2)[0]:
                    continue
                try:
                    chunk = os.read(terminal, 4096)
                except OSError:
                    chunk = b""
                if not chunk:
                    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), screen
                screen += chunk.decode(errors="replace").replace("\r\n", "\n")
                # A question is a last line without an end, and nothing more of it is on its way; each is answered once.
                asked = screen[answered:].rsplit("\n", 1)[-1]
                if re.search(r"[:?\]>]\s*$", asked) and not select.select([terminal], [], [], 0.01)[0]:
                    texts = next((texts for pattern, texts in replies if re.search(pattern, asked, re.I)), [""])
                    reply = texts.pop(0) if len(texts) > 1 else texts[0]
                    self.echoes.append((asked, bool(termios.tcgetattr(terminal)[3] & termios.ECHO)))
                    os.write(terminal, b"\x04" if reply == END else reply.encode() + b"\n")
                    answered = len(screen)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None, screen
        finally:
            os.close(terminal)


def isQuestion(step: dict) -> bool:
    """Whether a step of the journal is a question to the user."""
    return step.get("kind") == "prompt"


class Monitor:
    """hotspotctl monitor --json=short, read all the time."""

    def __init__(self, daemon: Daemon):
        self.daemon, self.events, self.changed = daemon, [], threading.Condition()
        self.process = subprocess.Popen(
            [str(daemon.programs / "hotspotctl"), "monitor", "--json=short"], env=daemon.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=open(daemon.fabric.logs / "monitor.log", "ab"), text=True, bufsize=1,
        )
        threading.Thread(target=self.read, daemon=True).start()
        # The stream opens a moment after the process has started.
        time.sleep(0.5)

    def read(self) -> None:
        with open(self.daemon.fabric.logs / "monitor.jsonl", "a") as copy:
            for line in self.process.stdout:
                copy.write(line)
                copy.flush()
                try:
                    event = json.loads(line)
                    step = event["step"]
                except (ValueError, KeyError, TypeError):
                    continue
                with self.changed:
                    self.events.append({"interface": event.get("interface"), "seen": time.time()} | step)
                    self.changed.notify_all()

    def mark(self) -> int:
        with self.changed:
            return len(self.events)

    def steps(self, mark: int, link: str | None = None) -> list[dict]:
        link = link or self.daemon.fabric.interface
        with self.changed:
            return [event for event in self.events[mark:] if event["interface"] == link]

    def transitions(self, mark: int, link: str | None = None) -> list[dict]:
        return [event for event in self.steps(mark, link) if event.get("to") and event.get("from") != event.get("to")]

    def waitFor(self, states: set[str], mark: int, seconds: float, isEnd=lambda event: True, link: str | None = None) -> dict:
        """The first transition into one of the states after the mark that is the end of what is waited for."""
        deadline = time.monotonic() + seconds
        while True:
            for event in self.transitions(mark, link):
                if event["to"] in states and isEnd(event):
                    return event
            left = deadline - time.monotonic()
            if left <= 0 or self.process.poll() is not None:
                seen = " → ".join(event["to"] for event in self.transitions(mark, link)) or "nothing"
                why = "the monitor ended" if self.process.poll() is not None else f"not within {seconds:g} s"
                raise Trouble(f"waiting for {' or '.join(sorted(states))}: {why}; seen: {seen}; status: {self.shortStatus(link)}")
            with self.changed:
                self.changed.wait(min(left, 0.5))

    def leave(self) -> None:
        """Leaves the network, and waits until the daemon has seen it."""
        fabric, mark = self.daemon.fabric, self.mark()
        # An interface that rests after a logoff is inactive already.
        resting = self.daemon.status().get("state") == "inactive"
        fabric.leave()
        if not resting:
            self.waitFor({"inactive"}, mark, 15 * fabric.patience)

    def shortStatus(self, link: str | None = None) -> str:
        try:
            return json.dumps(self.daemon.status(link))[:400]
        except (Trouble, subprocess.SubprocessError) as trouble:
            return str(trouble)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def moment(event: dict) -> float:
    """When it happened, in seconds of the Unix clock: the daemon's own time where it says one."""
    return event["time"] / 1000 if event.get("time") else event["seen"]
