"""What all parts of the café use: running programs, waiting for a condition, and the error for what went wrong."""

import os
import pathlib
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
RUN = pathlib.Path("/run/cafe")
PYTHON = "/usr/bin/python3"
# Between two looks at what is waited for. In the virtual laptop idle time costs nothing, and each look many instructions.
PAUSE = 0.3 if os.environ.get("HOTSPOTD_VIRTUAL_LAPTOP") else 0.03


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
        time.sleep(PAUSE)
    return value
