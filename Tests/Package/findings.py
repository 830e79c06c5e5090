"""What is found in the copy of the machine: the life of the package there, with NetworkManager and a desktop."""

import ctypes
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import time

from surroundings import GATEWAY, PROBE, Portal, cable, encryptedNames, nmcli, run, startVPN, vpn, waitFor


def ctl(*words: str) -> dict:
    return json.loads(run("hotspotctl", *words, "--json=short", check=False) or "{}")


def interface() -> dict:
    return next((entry for entry in ctl("status").get("interfaces", []) if entry["interface"] == "cable0"), {})


def finding(name: str, holds: bool, what: object = "") -> None:
    print(f"ok {name}" if holds else f"not ok {name}: {what}", flush=True)


# MARK: The laptop

def networkManager() -> None:
    """Has NetworkManager take care of the cable, and look for portals as the desktops have it do."""
    shutil.rmtree("/etc/NetworkManager/system-connections", ignore_errors=True)
    pathlib.Path("/etc/NetworkManager/NetworkManager.conf").write_text(
        "[main]\nplugins=keyfile\ndhcp=internal\ndns=none\n[keyfile]\nunmanaged-devices=except:interface-name:cable0\n")
    # The file that Debian's GNOME brings (network-manager-config-connectivity-debian).
    pathlib.Path("/usr/lib/NetworkManager/conf.d/20-connectivity-debian.conf").write_text(
        "[connectivity]\nuri=http://network-test.debian.org/nm\n")
    run("ip", "link", "set", "cable0", "up")
    run("systemctl", "start", "--no-block", "NetworkManager")
    waitFor(lambda: "running" in nmcli("RUNNING"))
    run("nmcli", "device", "set", "cable0", "managed", "yes", check=False)


def sleepAndWake() -> None:
    """logind says so, and the link goes down and up as a radio's does; nothing sleeps. The portal has forgotten the laptop meanwhile."""
    library, bus = ctypes.CDLL("libsystemd.so.0"), ctypes.c_void_p()
    if library.sd_bus_open_system(ctypes.byref(bus)) < 0 or library.sd_bus_request_name(bus, b"org.freedesktop.login1", ctypes.c_uint64(0)) < 0:
        raise RuntimeError("no bus for logind")

    def say(sleeps: bool) -> None:
        library.sd_bus_emit_signal(bus, b"/org/freedesktop/login1", b"org.freedesktop.login1.Manager", b"PrepareForSleep", b"b", int(sleeps))
        library.sd_bus_flush(bus)
        asleep = waitFor(lambda: (nmcli("STATE") == "asleep") == sleeps)
        finding(f"suspend.networkManager{'Sleeps' if sleeps else 'IsAwake'}", asleep, nmcli("STATE"))

    say(True)
    run("ip", "-n", "gateway", "link", "set", "cable1", "down")
    finding("suspend.left", waitFor(lambda: interface().get("state") == "inactive"), interface())
    Portal.isOpen = False
    run("ip", "-n", "gateway", "link", "set", "cable1", "up")
    say(False)
    # It answers nothing, for which others would wait.
    library.sd_bus_flush_close_unref(bus)


def leave() -> None:
    """As the user hotspotd, whom polkit's rule lets do it."""
    said = run("hotspotctl", "leave", "cable0", check=False)
    finding("leave.throughNetworkManager", "through NetworkManager" in said and waitFor(lambda: interface().get("state") == "inactive"),
            f"{said} {interface()}")
    auto = run("nmcli", "-g", "GENERAL.AUTOCONNECT", "device", "show", "cable0").strip()
    finding("leave.nothingIsJoinedByItself", auto == "no", auto)
    run("nmcli", "device", "connect", "cable0")
    waitFor(lambda: interface().get("state") == "authenticated")


# MARK: Another manager

def networkd(untouched: set[str]) -> None:
    """The same café with systemd-networkd in NetworkManager's place, and back; networkd leaves alone what it did not make, as it must beside a VPN."""
    for name, text in (("networkd.conf", "[Network]\nManageForeignRoutes=no\nManageForeignRoutingPolicyRules=no\n"),
                       ("network/cable.network", "[Match]\nName=cable0\n[Network]\nDHCP=ipv4\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n")):
        path = pathlib.Path("/etc/systemd") / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    run("nmcli", "device", "set", "cable0", "managed", "no")
    run("ip", "address", "flush", "dev", "cable0")
    waitFor(lambda: interface().get("state") == "inactive")
    Portal.isOpen = False
    begin = len(journal())
    run("systemctl", "start", "systemd-networkd")
    online = waitFor(lambda: interface().get("state") == "authenticated" and Portal.isOpen)
    finding("networkd.online", online and Portal.logins == 4, f"{interface()} {ctl('explain', 'cable0')}")
    link = interface().get("link", {})
    finding("networkd.resolvers", link.get("nameserversFrom") == "networkd" and link["nameservers"] == [GATEWAY], link)
    finding("networkd.vpnUntouched", vpn() == untouched, sorted(vpn() ^ untouched))
    words = ("DHCPv4 address", "cable0: joined", "→ authenticating", "→ authenticated")
    times = [at(journal()[begin:], one) for one in words]
    print("networkd: address, joined, decided, proven at " + ", ".join(f"{(time - times[0]) * 1000:.0f} ms" for time in times), flush=True)
    run("systemctl", "stop", "systemd-networkd.socket", "systemd-networkd")
    run("nmcli", "device", "set", "cable0", "managed", "yes")
    back = waitFor(lambda: interface().get("state") == "authenticated" and interface()["link"]["nameserversFrom"] == "NetworkManager")
    finding("networkManager.isBack", back, interface())


def journal() -> list[str]: return run("journalctl", "-o", "short-unix", check=False).splitlines()


def at(lines: list[str], words: str) -> float:
    """The time of the first of these lines that has the words, in seconds."""
    return next((float(line.split()[0]) for line in lines if words in line), float("nan"))


# MARK: The desktop

MANAGER = ("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager")
OFF = pathlib.Path("/etc/NetworkManager/conf.d/50-off.conf")
TAKEN = pathlib.Path("/etc/NetworkManager/conf.d/zz-hotspotd.conf")


def looks() -> bool: return run("busctl", "get-property", *MANAGER, "ConnectivityCheckEnabled").strip() == "b true"


def setLooks(value: str) -> None: run("busctl", "set-property", *MANAGER, "ConnectivityCheckEnabled", "b", value)


def reload() -> None: run("nmcli", "general", "reload", "conf")


def takenAndGivenBack() -> bool:
    """Takes over, which holds, and gives back. Returns whether NetworkManager looks then."""
    run("hotspotctl", "desktop", "takeover")
    if looks() or ctl("desktop", "status") != {"takenOver": True, "networkManagerChecks": False}:
        raise RuntimeError(f"not taken over: {looks()} {ctl('desktop', 'status')}")
    # Once more changes nothing, and does not remember that it is off.
    run("hotspotctl", "desktop", "takeover")
    run("hotspotctl", "desktop", "give-back")
    return looks()


def desktop() -> None:
    os.makedirs(OFF.parent, exist_ok=True)
    finding("desktop.before", ctl("desktop", "status") == {"takenOver": False, "networkManagerChecks": True}, ctl("desktop", "status"))
    finding("desktop.givenBack", takenAndGivenBack() and not TAKEN.exists(), looks())
    OFF.write_text("[connectivity]\nenabled=false\n")
    reload()
    finding("desktop.offByFileBefore", not takenAndGivenBack())
    OFF.unlink()
    reload()
    setLooks("false")
    finding("desktop.offByProgramBefore", not takenAndGivenBack())
    setLooks("true")
    asUser = subprocess.run(["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "hotspotctl", "desktop", "takeover"],
                            capture_output=True, text=True)
    finding("desktop.needsTheAdministrator", asUser.returncode == 1 and "try: sudo hotspotctl desktop takeover" in asUser.stderr
            and looks(), asUser)
    run("hotspotctl", "desktop", "takeover")
    doctor = run("hotspotctl", "doctor", check=False)
    finding("desktop.takenOver", not looks() and "NetworkManager does not check for portals." in doctor, doctor)


# MARK: The package

PROFILE = pathlib.Path("/etc/apparmor.d/hotspotd")
NOTIFIER = "hotspot-notify.service"
AUTOSTART = pathlib.Path("/etc/xdg/autostart/hotspot-notify.desktop")
# systemctl of the user whose desktop it is.
USER = ("env", "XDG_RUNTIME_DIR=/run/user/0", "systemctl", "--user")


def isEnabled(*unit: str) -> bool: return run("systemctl", "is-enabled", *unit, check=False).strip() == "enabled"


def startDesktop() -> None:
    """Starts what a desktop starts; the target of a graphical session cannot be started by hand."""
    # logind would say where, to the user's manager and to sessions.
    with open("/etc/environment", "a") as file:
        file.write("XDG_RUNTIME_DIR=/run/user/0\n")
    settings = pathlib.Path("/etc/systemd/system/user@.service.d/place.conf")
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("[Service]\nEnvironment=XDG_RUNTIME_DIR=/run/user/%i\n")
    run("systemctl", "daemon-reload")
    pathlib.Path("/etc/systemd/user/session.target").write_text("[Unit]\nBindsTo=graphical-session.target\n")
    run("systemctl", "start", "user@0")
    # A desktop without that target runs what the file says.
    words = next(line for line in AUTOSTART.read_text().splitlines() if line.startswith("Exec=")).removeprefix("Exec=")
    run(*USER[:2], *shlex.split(words), check=False)
    finding("install.notifierStartsByItself", waitFor(notifierRuns), run(*USER, "status", NOTIFIER, check=False))
    run(*USER, "stop", NOTIFIER)
    run(*USER, "start", "session.target")


def notifierRuns() -> bool: return run(*USER, "is-active", NOTIFIER, check=False).strip() == "active"


def newer() -> str:
    """The same package with a higher version."""
    run("dpkg-deb", "-R", "/run/package/first.deb", "/run/package/tree")
    control = pathlib.Path("/run/package/tree/DEBIAN/control")
    control.write_text("".join(
        line.rstrip("\n") + ("+1\n" if line.startswith("Version:") else "\n") for line in control.read_text().splitlines()))
    run("dpkg-deb", "-Znone", "-b", "/run/package/tree", "/run/package/second.deb")
    return "/run/package/second.deb"


def isActive(unit: str) -> bool: return run("systemctl", "is-active", unit, check=False).strip() == "active"


def companion() -> None:
    """The companion service is off until it is switched on; then it reaches the daemon."""
    unit = "hotspot-companion"
    finding("companion.isOff", not isEnabled(unit) and not isActive(unit))
    run("hotspotctl", "companion", "on")
    finding("companion.isOn", isEnabled(unit) and waitFor(lambda: isActive(unit)), run("systemctl", "status", unit, check=False))
    finding("companion.reachesTheDaemon",
            waitFor(lambda: '"daemon":true' in run("hotspotctl", "companion", "--json=short", check=False)),
            run("hotspotctl", "companion", check=False))
    run("hotspotctl", "companion", "off")
    finding("companion.isOffAgain", not isEnabled(unit) and not isActive(unit))


def install() -> None:
    """The settings are the administrator's; they name the cable, and a probe that is at its other end."""
    os.makedirs("/etc/hotspotd/hotspotd.conf.d", exist_ok=True)
    pathlib.Path("/etc/hotspotd/hotspotd.conf.d/cable.conf").write_text(
        f"[Interfaces]\nMatch=cable*\nManageEthernet=yes\n[Daemon]\nLogLevel=debug\n[Probe]\nURL=http://{PROBE}/generate_204\nExpect=204\n")
    run("dpkg", "-i", "/run/package/first.deb")
    finding("install.runs", waitFor(lambda: run("systemctl", "is-active", "hotspotd", check=False).strip() == "active"),
            run("systemctl", "status", "hotspotd", check=False))
    finding("install.enabled", isEnabled("hotspotd"))
    finding("install.notifierEnabled", isEnabled("--global", NOTIFIER))
    startDesktop()
    finding("install.notifierRuns", waitFor(notifierRuns), run(*USER, "status", NOTIFIER, check=False))
    companion()
    # AppArmor before 4.0, or none, cannot read the profile.
    reads = shutil.which("apparmor_parser") and subprocess.run(
        ["apparmor_parser", "--skip-kernel-load", "--skip-cache", "/usr/share/hotspotd/apparmor-hotspotd"], capture_output=True).returncode == 0
    finding("install.profileWhereItCanBeRead", os.path.lexists(PROFILE) == bool(reads), reads)
    finding("install.user", "hotspotd" in run("getent", "passwd", "hotspotd", check=False))
    finding("install.manual", "hotspotctl" in run("man", "-P", "cat", "hotspotctl", check=False) or not shutil.which("man"))
    completed = run("bash", "-c", ". /usr/share/bash-completion/completions/hotspotctl && COMP_WORDS=(hotspotctl forg) COMP_CWORD=1 "
                    "&& _hotspotctl 2>/dev/null; echo ${COMPREPLY[*]}", check=False)
    finding("install.completion", "forget" in completed, completed)
    exposure = run("systemd-analyze", "security", "--no-pager", "hotspotd", check=False).strip().splitlines()[-1]
    # "→ Overall exposure level for hotspotd.service: 2.7 OK"
    finding("install.exposure", float(exposure.split(":")[1].split()[0]) <= 2.9, exposure)


def login(name: str, begin, logins: int, untouched: set[str]) -> None:
    """A login with no terminal open, which NetworkManager is told, and of which the VPN notices nothing."""
    before = timesAsked()
    begin()
    online = waitFor(lambda: interface().get("state") == "authenticated" and Portal.isOpen)
    finding(f"{name}.online", online and Portal.logins == logins, f"{interface()} {ctl('explain', 'cable0')}")
    told = waitFor(lambda: nmcli("CONNECTIVITY") == "full" and timesAsked() > before, 5)
    finding(f"{name}.networkManagerKnows", told and Portal.wordBefore != "full", f"{Portal.wordBefore}, {nmcli('CONNECTIVITY')}")
    seconds = time.time() - interface().get("since", 0) / 1000
    print(f"{name}: NetworkManager was seen full {seconds:.2f} s after the proof", flush=True)
    finding(f"{name}.soon", seconds < 10, seconds)
    finding(f"{name}.vpnUntouched", vpn() == untouched, sorted(vpn() ^ untouched))


def timesAsked() -> int: return run("journalctl", "-u", "hotspotd", check=False).count("NetworkManager checked again")


def comeBack() -> None:
    """Out of reach and back; the portal has forgotten the laptop meanwhile."""
    run("ip", "-n", "gateway", "link", "set", "cable1", "down")
    waitFor(lambda: interface().get("state") == "inactive")
    Portal.isOpen = False
    run("ip", "-n", "gateway", "link", "set", "cable1", "up")


def process() -> str: return run("systemctl", "show", "-P", "MainPID", "hotspotd").strip()


def isRestarted(before: str) -> bool: return waitFor(lambda: process() not in (before, "0"))


def laterAppArmor() -> None:
    """A package in place of AppArmor 4, installed after hotspotd, whose parser keeps what it is asked: the profile is loaded, and the daemon started
    again under it."""
    PROFILE.unlink(missing_ok=True)
    tree = pathlib.Path("/run/package/later")
    for name, text in (("DEBIAN/control", "Package: later\nVersion: 1\nArchitecture: all\nMaintainer: A <a@b.example>\nDescription: a\n"),
                       ("etc/apparmor.d/abi/later", "a\n"),
                       ("usr/local/sbin/apparmor_parser", '#!/bin/sh\necho "$@" >>/run/package/parser\n')):
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tree / "usr/local/sbin/apparmor_parser").chmod(0o755)
    run("dpkg-deb", "-Znone", "-b", str(tree), "/run/package/later.deb")
    before = process()
    run("dpkg", "-i", "/run/package/later.deb")
    finding("later.profile", "userns," in PROFILE.read_text() and lastAsked() == f"--replace {PROFILE}", lastAsked())
    finding("later.restarted", isRestarted(before))
    waitFor(lambda: interface().get("state") == "authenticated")
    finding("later.sessionGoesOn", Portal.logins == 1, interface())


def lastAsked() -> str: return pathlib.Path("/run/package/parser").read_text().splitlines()[-1]


def upgrade(untouched: set[str]) -> None:
    """While online: the session goes on, and nothing is sent to the portal again."""
    before = process()
    helper = interface().get("helper")
    run("dpkg", "-i", newer())
    finding("upgrade.newProgramRuns", isRestarted(before))
    online = waitFor(lambda: interface().get("state") == "authenticated")
    finding("upgrade.sessionGoesOn", online and interface().get("helper") == helper and Portal.logins == 1, f"{interface()} {Portal.logins}")
    finding("upgrade.networkManagerKnows", nmcli("CONNECTIVITY") == "full", nmcli("CONNECTIVITY"))
    finding("upgrade.vpnUntouched", vpn() == untouched, sorted(vpn() ^ untouched))
    finding("upgrade.profile", "userns," in PROFILE.read_text() and lastAsked() == f"--replace {PROFILE}", lastAsked())


def remove() -> None:
    """Removal leaves settings and state, a purge only the user."""
    run("dpkg", "-r", "hotspotd")
    finding("remove.stopped", run("systemctl", "is-active", "hotspotd", check=False).strip() != "active")
    finding("remove.notifierStopped", not notifierRuns())
    programs = ("/usr/bin/hotspotctl", "/usr/libexec/hotspotd", "/usr/lib/hotspotd", f"/usr/lib/systemd/user/{NOTIFIER}", PROFILE)
    finding("remove.programs", not any(map(os.path.lexists, programs)))
    # It was left taken over.
    finding("remove.desktopGivenBack", looks() and not TAKEN.exists())
    finding("remove.keeps", os.path.exists("/etc/hotspotd/hotspotd.conf") and bool(os.listdir("/var/lib/hotspotd")))
    run("dpkg", "-P", "hotspotd")
    finding("purge.state", not any(os.path.exists("/var/lib/" + name) for name in ("hotspotd", "hotspotd-companion")))
    left = [path for path in pathlib.Path("/etc/hotspotd").rglob("*") if not path.is_dir()]
    finding("purge.settings", left == [pathlib.Path("/etc/hotspotd/hotspotd.conf.d/cable.conf")] and not AUTOSTART.exists(), left)
    finding("purge.notifier", not [*pathlib.Path("/etc/systemd/user").rglob(NOTIFIER)])


def main() -> None:
    os.environ.update(PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", DEBIAN_FRONTEND="noninteractive", LC_ALL="C.UTF-8")
    cable()
    install()
    encryptedNames()
    startVPN()
    untouched = vpn()
    login("login", networkManager, 1, untouched)
    finding("login.resolversFromNetworkManager", "from NetworkManager" in run("journalctl", "-u", "hotspotd", check=False))
    asked = waitFor(lambda: interface().get("link", {}).get("portalAPIFrom") == "DHCP", 5)
    finding("login.portalAPIFromTheNetwork", asked and interface()["link"]["portalAPI"] == "https://portal.example/api", interface())
    laterAppArmor()
    upgrade(untouched)
    login("upgraded", comeBack, 2, untouched)
    login("suspend", sleepAndWake, 3, untouched)
    leave()
    networkd(untouched)
    desktop()
    remove()
    print("ended", flush=True)


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        print(f"not ok package.runs: {error}", flush=True)
        raise
