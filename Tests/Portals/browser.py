"""What the daemon does for a helper that needs a browser: a socket, and for each connection a browser in a sandbox without a network."""

from __future__ import annotations

import os
import pathlib
import socket
import subprocess
import threading
import time

BROWSER = "/usr/bin/chromium"
# As in Sources/HelperHost: Sandbox.systemFiles and BrowserHost.settings, the limits of BrowserHost, the sizes in octets. The filter of system
# calls is the daemon's alone.
FILES = """alternatives ca-certificates crypto-policies gai.conf group host.conf hosts ld.so.cache ld.so.conf ld.so.conf.d localtime mime.types
nsswitch.conf os-release passwd pki/ca-trust pki/tls/certs protocols services ssl/certs ssl/openssl.cnf timezone chromium chromium.d fonts""".split()
FOLDER, DATA = 256 << 20, 1 << 30
LIMITS = ["core=1:1", f"data={DATA}:{DATA}", "cpu=120:121", "nofile=1025:1025", f"fsize={64 << 20}:{64 << 20}", "nproc=400:400"]


class BrowserSocket:
    def __init__(self, folder: pathlib.Path, programs: pathlib.Path):
        self.path, self.programs = folder / "browser.socket", programs
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        self.running: list[subprocess.Popen] = []
        # The most memory of its own that one process of a browser had, in octets; 0 if none ran.
        self.peak = 0
        threading.Thread(target=self.serve, daemon=True).start()
        threading.Thread(target=self.watch, daemon=True).start()

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return

            def hand() -> None:
                os.dup2(connection.fileno(), 3)
                os.set_inheritable(3, True)

            self.running.append(subprocess.Popen(
                self.sandbox(), pass_fds=[3], preexec_fn=hand, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            connection.close()

    def sandbox(self) -> list[str]:
        words = ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--uid", "65534", "--gid", "65534"]
        words += ["--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr"]
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            link = pathlib.Path("/", name)
            words += ["--symlink", str(link.readlink()), str(link)] if link.is_symlink() else ["--ro-bind-try", str(link), str(link)]
        words += [word for file in FILES for word in ("--ro-bind-try", f"/etc/{file}", f"/etc/{file}")]
        # Where the toolchain may be, whose libraries a debug build loads.
        words += ["--ro-bind-try", "/opt", "/opt"]
        words += ["--proc", "/proc", "--dev", "/dev", "--size", str(FOLDER), "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
        words += ["--size", str(FOLDER), "--perms", "0700", "--tmpfs", "/tmp", "--ro-bind", str(self.programs), str(self.programs)]
        words += ["--remount-ro", "/", "--chdir", "/tmp", "--", "prlimit", *(f"--{limit}" for limit in LIMITS), "--"]
        return [*words, str(self.programs / "hotspot-helpers"), "--render", BROWSER]

    def watch(self) -> None:
        while self.listener.fileno() >= 0:
            self.peak = max([self.peak, *(own for _, own in browsers())])
            time.sleep(0.5)

    def left(self, seconds: float) -> int:
        """How many processes of browsers still run after so many seconds."""
        end = time.monotonic() + seconds
        while (count := len(browsers())) and time.monotonic() < end:
            time.sleep(0.1)
        return count

    def close(self) -> None:
        self.listener.close()
        for process in self.running:
            process.kill()
            process.wait()


def browsers() -> list[tuple[int, int]]:
    """The processes of browsers, with the octets of memory of their own. All that run here belong to the lab."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words, status = (folder / "cmdline").read_bytes().split(b"\0"), (folder / "status").read_text()
        except OSError:
            continue
        isBrowser = b"chromium" in words[0]
        if isBrowser or b"--render" in words:
            own = [line.split()[1] for line in status.splitlines() if line.startswith("RssAnon:")]
            found.append((int(folder.name), int(own[0]) << 10 if own and isBrowser else 0))
    return found


class Service:
    """The helpers in one process, as the daemon starts them, for as long as a visit lasts."""

    def __init__(self, words: list[str], names: list[str], folder: pathlib.Path, environment: dict[str, str]):
        self.words, self.folder, self.names, self.environment = words, folder, names, environment
        self.start()

    def start(self) -> None:
        words, names, listeners = self.words, self.names, []
        for name in names:
            (self.folder / name).unlink(missing_ok=True)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(self.folder / name))
            listener.listen()
            listeners.append(listener)

        def hand() -> None:
            copies = [os.dup(listener.fileno()) for listener in listeners]
            high = [os.dup2(copy, 100 + number) for number, copy in enumerate(copies)]
            for number, copy in enumerate(high):
                os.dup2(copy, 3 + number)

        environment = self.environment | {"LISTEN_FDS": str(len(names)), "LISTEN_FDNAMES": ":".join(names)}
        self.process = subprocess.Popen(
            [*words[:-1], "sh", "-c", 'LISTEN_PID=$$ exec "$0"', words[-1]], env=environment, close_fds=False, preexec_fn=hand,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for listener in listeners:
            listener.close()

    def call(self, name: str, message: bytes, deadline: float) -> bytes:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(deadline)
            connection.connect(str(self.folder / name))
            connection.sendall(message + b"\0")
            text = b""
            try:
                while not text.endswith(b"\0") and (piece := connection.recv(65536)):
                    text += piece
            except TimeoutError:
                return b""
            return text

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
