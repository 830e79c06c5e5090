"""The machine itself: what the project relies on, tried on the host and in the virtual laptop."""

import ctypes
import os
import pathlib
import subprocess
import sys

import networks
import smoke
from basics import Trouble, run, waitFor
from daemon import Daemon
from fabric import Fabric
from report import Report

CGROUPS = pathlib.Path("/sys/fs/cgroup")


# MARK: The host

def host(fabric: Fabric, report: Report) -> None:
    report.attempt("host.veth", lambda: run("ip", "link", "add", "tried", "type", "veth", "peer", "name", "tried-too"))
    rules = "add table ip tried; add chain ip tried out { type nat hook postrouting priority srcnat; }; "
    rules += "add rule ip tried out masquerade"
    report.attempt("host.nftables", lambda: run("nft", rules))
    report.attempt("host.landlock", lambda: run(sys.executable, "-B", __file__, "landlock"))
    report.attempt("host.userNamespaces", lambda: firstWord("0", "unshare", "--user", "--map-root-user", "id", "-u"))
    pid = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "sh", "-c", "echo $$")
    report.attempt("host.pidNamespaces", lambda: firstWord("1", *pid))


def firstWord(wanted: str, *words: str) -> None:
    output = run(*words).stdout.strip()
    if output != wanted:
        raise Trouble(f"{' '.join(words)}: {output} instead of {wanted}")


def landlock() -> None:
    """In a process of its own: after it restricts itself, what it could read it cannot (linux/landlock.h)."""
    library = ctypes.CDLL(None, use_errno=True)
    open(__file__, "rb").close()
    # landlock_create_ruleset: no ruleset and the flag LANDLOCK_CREATE_RULESET_VERSION.
    if library.syscall(444, None, ctypes.c_size_t(0), 1) < 1:
        sys.exit(f"no Landlock: {os.strerror(ctypes.get_errno())}")
    # LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR, and no rule that allows any of it.
    handled = ctypes.c_uint64(1 << 2 | 1 << 3)
    ruleset = library.syscall(444, ctypes.byref(handled), ctypes.c_size_t(8), 0)
    # PR_SET_NO_NEW_PRIVS, landlock_restrict_self.
    if ruleset < 0 or library.prctl(38, 1, 0, 0, 0) != 0 or library.syscall(446, ruleset, 0) != 0:
        sys.exit(f"Landlock refuses: {os.strerror(ctypes.get_errno())}")
    try:
        os.open(__file__, os.O_RDONLY)
    except PermissionError:
        sys.exit(0)
    sys.exit("Landlock lets everything through")


# MARK: The virtual laptop

def liveTests(report: Report, bundle: pathlib.Path, logs: pathlib.Path) -> None:
    """Runs the unit tests that need radios before the café uses them: one as root, one as an ordinary user."""
    report.heading("The tests of the radio's code, on these radios")
    # An ordinary user may not look into another user's home; this way leads past it.
    folder = pathlib.Path("/run/live-tests")
    folder.mkdir()
    run("mount", "--bind", str(bundle.parent), str(folder))
    words = [str(folder / bundle.name), "--testing-library", "swift-testing", "--filter", "LiveRadioTests"]
    output = ""
    for name, user in (("joiningAndLeaving", []), ("watchingNeedsNoCapability", ["setpriv", "--reuid=65534", "--regid=65534",
                                                                              "--clear-groups"])):
        done = run(*user, *words, check=False, timeout=400)
        output = done.stdout + done.stderr
        with open(logs / "live-tests.log", "a") as log:
            log.write(output)
        # A run without any test is no success.
        held = done.returncode == 0 and any(f"{name}() passed" in line for line in output.splitlines())
        report.check("radio.liveTests" if not user else "radio.liveTestsAsAnyone", held, output[-1500:])
    waitFor(lambda: not run("pgrep", "-x", "hostapd", check=False).stdout, 30, "the end of the tests' access point")
    for link in ("wlan0", "wlan1"):
        run("ip", "link", "set", link, "down")
        run("iw", "dev", link, "set", "type", "managed")


def laptop(fabric: Fabric, report: Report, daemon: Daemon) -> None:
    """With the client in a network whose portal lets it through."""
    report.attempt("laptop.netem", lambda: netem(fabric))
    report.attempt("laptop.cgroup", lambda: cgroup(daemon))


def netem(fabric: Fabric) -> None:
    """Checks that a delay is at least what was asked for, that lost packets do not arrive, and that both end with the rule."""
    network = fabric.joined

    def shape(*words: str) -> None:
        fabric.inside("ap", "tc", "qdisc", "replace", "dev", network.access, "root", "netem", *words)

    def handshake() -> float:
        words = ("-o", "/dev/null", "--connect-timeout", "10", "-w", "%{time_connect}", f"http://{network.gateway}/")
        return float(smoke.curl(fabric, *words) or 0)

    try:
        shape("delay", "400ms")
        delayed = [handshake() for _ in range(3)]
        shape("loss", "100%")
        lost = smoke.curl(fabric, "--connect-timeout", "3", "-o", "/dev/null", "-w", "%{http_code}", f"http://{network.gateway}/")
    finally:
        fabric.inside("ap", "tc", "qdisc", "del", "dev", network.access, "root", check=False)
    if min(delayed) < 0.4:
        raise Trouble(f"400 ms of delay, and the handshakes took {delayed} s")
    if lost.strip() != "000":
        raise Trouble(f"everything is lost, and the answer is {lost}")
    waitFor(lambda: 0 < handshake() < 0.4, 60, "a handshake without the delay")


def cgroup(daemon: Daemon) -> None:
    """A memory limit ends the process that exceeds it, and no other."""
    (CGROUPS / "cgroup.subtree_control").write_text("+memory")
    place = CGROUPS / "hog"
    place.mkdir()
    try:
        (place / "memory.max").write_text(str(48 << 20))
        greedy = "import sys; open(sys.argv[1], 'w').write('0'); held = b'x' * (512 << 20)"
        hog = subprocess.run([sys.executable, "-c", greedy, str(place / "cgroup.procs")], capture_output=True, timeout=120)
        events = dict(line.split() for line in (place / "memory.events").read_text().splitlines())
        if hog.returncode != -9 or events["oom_kill"] != "1":
            raise Trouble(f"the hog ended with {hog.returncode}: {events}")
        if daemon.process.poll() is not None or daemon.status().get("state") != "authenticated":
            raise Trouble(f"the daemon was hit as well: {daemon.status()}")
    finally:
        waitFor(lambda: not (place / "cgroup.procs").read_text(), 10, "the hog's end")
        place.rmdir()


if __name__ == "__main__":
    landlock()
