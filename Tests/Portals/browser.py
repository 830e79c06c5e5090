"""What the daemon does for a helper that needs a browser: a socket, and for each connection a browser in a sandbox without a network."""

from __future__ import annotations

import os
import pathlib
import socket
import subprocess
import threading

BROWSER = "/usr/bin/chromium"


class BrowserSocket:
    def __init__(self, folder: pathlib.Path, programs: pathlib.Path):
        self.path, self.programs = folder / "browser.socket", programs
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        self.running: list[subprocess.Popen] = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            words = ["bwrap", "--unshare-user", "--uid", "65534", "--gid", "65534", "--unshare-pid", "--unshare-ipc", "--unshare-net"]
            words += ["--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc"]
            words += [word for name in ("bin", "lib", "lib64") for word in ("--symlink", f"usr/{name}", f"/{name}")]
            words += ["--ro-bind-try", "/opt", "/opt", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/dev/shm", "--chdir", "/tmp"]
            words += ["--ro-bind", str(self.programs), str(self.programs), str(self.programs / "hotspot-helpers"), "--render", BROWSER]

            def hand() -> None:
                os.dup2(connection.fileno(), 3)
                os.set_inheritable(3, True)

            self.running.append(subprocess.Popen(
                words, pass_fds=[3], preexec_fn=hand, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            connection.close()

    def left(self) -> int:
        """How many of its browsers still run."""
        return sum(process.poll() is None for process in self.running)

    def close(self) -> None:
        self.listener.close()
        for process in self.running:
            process.kill()
            process.wait()


class Service:
    """The helpers in one process, as the daemon starts them, for as long as a visit lasts."""

    def __init__(self, words: list[str], names: list[str], folder: pathlib.Path, environment: dict[str, str]):
        self.folder, self.names = folder, names
        listeners = []
        for name in names:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(folder / name))
            listener.listen()
            listeners.append(listener)

        def hand() -> None:
            copies = [os.dup(listener.fileno()) for listener in listeners]
            high = [os.dup2(copy, 100 + number) for number, copy in enumerate(copies)]
            for number, copy in enumerate(high):
                os.dup2(copy, 3 + number)

        environment = environment | {"LISTEN_FDS": str(len(names)), "LISTEN_FDNAMES": ":".join(names)}
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
