"""What all of the café uses: running programs, waiting for something, and the words of what went wrong."""

import pathlib
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
RUN = pathlib.Path("/run/cafe")
PYTHON = "/usr/bin/python3"


class Trouble(Exception):
    """Something in the café did not come up; the message says what, and where its log is."""


def run(*words: str, check: bool = True, quiet: bool = True, timeout: float = 60, **keywords) -> subprocess.CompletedProcess:
    done = subprocess.run(words, capture_output=quiet, text=True, timeout=timeout, stdin=subprocess.DEVNULL, **keywords)
    if check and done.returncode != 0:
        raise Trouble(f"{' '.join(words)}: {(done.stderr or done.stdout or '').strip()[-400:]}")
    return done


def waitFor(condition, seconds: float, what: str):
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise Trouble(f"{what}: not within {seconds:g} s")
        time.sleep(0.03)
    return value
