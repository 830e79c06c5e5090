"""openNDS as the café's click-through portal: a real one, in a mount namespace of its own."""

from __future__ import annotations

import pathlib
import re
import shutil
import typing

import names
import networks
import packages
from basics import RUN, run

if typing.TYPE_CHECKING:
    from fabric import Fabric


def start(fabric: Fabric) -> None:
    """A real portal, in a mount namespace of its own: it writes to /etc and /tmp and expects its scripts in /usr/lib."""
    home = RUN / "opennds"
    shims = home / "bin"
    shims.mkdir(parents=True)
    for package, program in (("opennds-daemon", "opennds"), ("opennds-daemon", "ndsctl")):
        shutil.copy(packages.unpacked(package) / "usr/bin" / program, shims / program)
    for name in ("iptables", "ip6tables"):
        # Debian's default back end refuses the chains that it makes.
        (shims / name).symlink_to(packages.requireProgram(f"{name}-legacy", "iptables"))
    # The programs that its scripts call and must not find, or need not wait for, in here.
    # (With iw it would look through every radio, and ping its client once for each.)
    # (Version 10 asks its own pages whether it is well, and begins again where it gets no answer.)
    absent = {"uclient-fetch": 'shift $(($# - 1)); exec curl -s -m 2 "$1"',
              "systemctl": "exit 0", "logger": "cat >/dev/null", "ping": "exit 0", "iw": "exit 0"}
    for name, body in absent.items():
        (shims / name).write_text(f"#!/bin/sh\n{body}\n")
        (shims / name).chmod(0o755)
    network = networks.AROMA
    (home / "opennds.conf").write_text(f"""GatewayInterface {network.access}
GatewayName Cafe Aroma
login_option_enabled 1
use_outdated_mhd 1
unescape_callback_enabled 0
MaxClients 20
debuglevel 2
FirewallRuleSet authenticated-users {{
  FirewallRule allow all
}}
FirewallRuleSet users-to-router {{
  FirewallRule allow udp port 53
  FirewallRule allow tcp port 53
  FirewallRule allow udp port 67
  FirewallRule allow tcp port 80
}}
""")
    # Version 10, of Debian 13, reads this file, in OpenWrt's format.
    rules = [("users_to_router", f"allow {rule}") for rule in ("udp port 53", "tcp port 53", "udp port 67", "tcp port 80")]
    (home / "opennds.uci").write_text("config opennds\n" + "".join(f"\toption {name} '{value}'\n" for name, value in (
        ("enabled", 1), ("gatewayinterface", network.access), ("gatewayname", "Cafe Aroma"), ("login_option_enabled", 1),
        ("use_outdated_mhd", 1), ("maxclients", 20), ("debuglevel", 2),
    )) + "".join(f"\tlist {name} '{rule}'\n" for name, rule in [("authenticated_users", "allow all"), *rules]))
    (pathlib.Path("/var/lib/misc") / names.leaseName(network)).touch()
    pathlib.Path("/run/tmpfiles.d").mkdir(exist_ok=True)
    scripts = quickScripts(home)
    library = packages.unpacked("libmicrohttpd12") / "usr/lib"
    pages = packages.unpacked("opennds") / "etc/opennds"
    script = home / "start"
    # Its scripts ask df for the room in a place of theirs and can only take one answer: one file system on /tmp, and none of
    # those in the old root folder.
    script.write_text(f"""set -e
umount -l /old-root 2>/dev/null || true
mount -t overlay -o lowerdir={scripts}:{library}:/usr/lib private /usr/lib
mkdir -p {home}/memory
mount -t tmpfs private {home}/memory
mkdir {home}/memory/upper {home}/memory/work
if ! mount -t overlay -o lowerdir=/etc,upperdir={home}/memory/upper,workdir={home}/memory/work private /etc 2>/dev/null; then
    cp -a /etc/. {home}/memory/upper || true
    mount --bind {home}/memory/upper /etc
fi
cp -r {pages} /etc/opennds
cp {home}/opennds.conf /etc/opennds/opennds.conf
mkdir -p /etc/config
cp {home}/opennds.uci /etc/config/opennds
touch /etc/dnsmasq.conf
umount -l /tmp 2>/dev/null || true
mount -t tmpfs private /tmp
export PATH={shims}:/usr/sbin:/usr/bin:/sbin:/bin
exec {shims}/opennds -f -c /etc/opennds/opennds.conf
""")
    fabric.start("opennds", fabric.command("ap", "unshare", "--mount", "sh", str(script)))


def isReady(fabric: Fabric) -> bool:
    """It listens seconds before its firewall is ready. Version 10 says so only to the system's log; its rules are complete then."""
    if "openNDS is now running" in (fabric.logs / "opennds.log").read_text(errors="replace"):
        return True
    rules = fabric.inside("ap", "nft", "list", "ruleset", check=False).stdout
    inside = ("nsenter", "--mount", "--target", str(fabric.processes["opennds"].pid))
    return f"dnat to {networks.AROMA.gateway}:2050" in rules and run(*inside, str(RUN / "opennds/bin/ndsctl"), "status", check=False).returncode == 0


def quickScripts(home: pathlib.Path) -> pathlib.Path:
    """Its pages come from shell scripts that start hundreds of small programs, as routers do in one static program.
    With that program as their shell, as upstream has it, the virtual laptop spends seconds on a page instead of ten."""
    scripts = packages.unpacked("opennds-daemon-common") / "usr/lib"
    busybox = shutil.which("busybox")
    if not busybox:
        return scripts
    (home / "bin/sh").symlink_to(busybox)
    # The static program has its own ip, pgrep and sed, which print or take something else; what need not be waited for is left out.
    keep = f"""ip() {{ {packages.requireProgram("ip", "iproute2")} "$@"; }}
pgrep() {{ {packages.requireProgram("pgrep", "procps")} "$@"; }}
sed() {{ {packages.requireProgram("sed", "sed")} "$@"; }}
logger() {{ cat >/dev/null; }}
ping() {{ :; }}
"""
    shutil.copytree(scripts, home / "lib")
    for script in (home / "lib").rglob("*.sh"):
        first, _, rest = script.read_text(errors="surrogateescape").partition("\n")
        # Two dozen processes to encode a word in which there is nothing to encode; the outcome is the same.
        for name, result in (("urlencode", "urlencoded"), ("htmlentityencode", "entityencoded")):
            shortcut = f'case "$1" in *[!A-Za-z0-9_./:-]*) ;; *) {result}="$1"; return ;; esac'
            rest = re.sub(rf"^({name} ?\(\) \{{)$", lambda found: f"{found[1]}\n{shortcut}", rest, flags=re.M)
        if first.startswith("#!/bin/bash"):
            script.write_text(f"#!{home}/bin/sh\n{keep}{rest}", errors="surrogateescape")
    return home / "lib"
