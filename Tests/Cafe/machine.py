"""The machine itself: what the project relies on, tried on the host and in the virtual laptop."""

import pathlib

import smoke
from basics import Trouble, run, waitFor
from fabric import Fabric
from report import Report


# MARK: The host

def host(fabric: Fabric, report: Report) -> None:
    report.attempt("host.veth", lambda: run("ip", "link", "add", "tried", "type", "veth", "peer", "name", "tried-too"))
    rules = "add table ip tried; add chain ip tried out { type nat hook postrouting priority srcnat; }; "
    rules += "add rule ip tried out masquerade"
    report.attempt("host.nftables", lambda: run("nft", rules))
    report.attempt("host.userNamespaces", lambda: firstWord("0", "unshare", "--user", "--map-root-user", "id", "-u"))
    pid = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "sh", "-c", "echo $$")
    report.attempt("host.pidNamespaces", lambda: firstWord("1", *pid))


def firstWord(wanted: str, *words: str) -> None:
    output = run(*words).stdout.strip()
    if output != wanted:
        raise Trouble(f"{' '.join(words)}: {output} instead of {wanted}")


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
