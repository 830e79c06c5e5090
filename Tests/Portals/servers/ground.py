"""The ground of a visit to a real server: the café's laptop, cable and Internet, with one gateway between them, which the server is."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parents[2]
sys.path.insert(0, str(CHECKOUT / "Tests/Cafe"))
import daemon
import fabric
import names
import networks
import packages
from basics import RUN, run, waitFor
from events import Addresses
from networks import Network

# Where the servers are, beside PATH: the folders of what was built by hand, as "make install" filled them.
FOLDERS = [pathlib.Path(place) for place in os.environ.get("HOTSPOTD_SERVERS", "").split(":") if place]
PROGRAMS = {
    "ip": "iproute2", "nft": "nftables", "iptables": "iptables", "dnsmasq": "dnsmasq-base", "openssl": "openssl",
    "curl": "curl", "tcpdump": "tcpdump",
}


def program(name: str, source: str) -> pathlib.Path:
    """The path of a server's program; where it is not, one line says how to get it."""
    for folder in FOLDERS:
        for place in ("usr/sbin", "usr/bin", "sbin", "bin", "."):
            if os.access(folder / place / name, os.X_OK):
                return (folder / place / name).resolve()
    found = shutil.which(name)
    if not found:
        raise packages.Missing(f"{name} is not in PATH, nor under a folder of HOTSPOTD_SERVERS; Debian has no package, its source is {source}")
    return pathlib.Path(found).resolve()


class Ground(fabric.Fabric):
    """A laptop (namespace cli), a gateway (ap), and an Internet (inet). The gateway's side of the cable is the bridge of the network."""

    def __init__(self, logs: pathlib.Path):
        super().__init__("veth", logs)

    def build(self) -> None:
        for name, package in PROGRAMS.items():
            packages.requireProgram(name, package)
        self.makePrivate()
        RUN.mkdir()
        self.makeNamespaces()
        self.addresses = Addresses("cli")
        run("ip", "-n", "ap", "link", "add", networks.SOCKET, "type", "veth", "peer", "name", networks.WIRE, "netns", "cli")
        run("ip", "-n", "cli", "link", "set", networks.WIRE, "up")
        self.setRules("table ip shared {\n chain out { type nat hook postrouting priority srcnat; oifname uplink masquerade; }\n}\n")
        lines = [f"address=/{name}/{networks.INTERNET}" for name in (networks.PROBE, networks.PAGE)]
        names.dnsmasq(self, "names-internet", "inet", ["interface=downlink", *lines, "local=/#/"])
        names.makeAuthority()
        self.startPortal("internet", "inet", networks.PROBE)
        # To be read after a failure; the accounts in it are made up.
        self.start("capture", self.command("cli", "tcpdump", "-i", networks.WIRE, "-U", "-w", str(self.logs / "laptop.pcap"), "-Z", "root"))
        self.startStation()
        waitFor((RUN / "internet.ready").exists, 20, "the Internet")
        # The daemon passes no environment on: its catalogue is the administrator's folder.
        shutil.copytree(CHECKOUT / "Portals", "/etc/hotspotd/portals", ignore=lambda *_: ["tests"], dirs_exist_ok=True)

    def open(self, network: Network, hasAddress: bool) -> None:
        """Makes the network's bridge and puts the cable in: some servers start only on a link with a carrier."""
        run("ip", "-n", "ap", "link", "add", network.access, "type", "bridge", "forward_delay", "0")
        run("ip", "-n", "ap", "link", "set", network.access, "address", network.hardware, "up")
        if hasAddress:
            run("ip", "-n", "ap", "address", "add", f"{network.gateway}/24", "dev", network.access)
        self.plug(network)

    def end(self, name: str, seconds: float = 10) -> None:
        """Ends a server as a service manager would: what it started ends with it, and a child of CoovaChilli would go on serving."""
        process = self.processes.pop(name)
        process.terminate()
        process.wait(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def private(self, name: str, script: str) -> None:
        """Starts a server in a mount namespace of its own, with an empty /tmp: files that it writes there are gone with it."""
        keep, back = "", ""
        for number, folder in enumerate(FOLDERS):
            place = RUN / f"server{number}"
            place.mkdir(exist_ok=True)
            keep += f"mount --bind {folder} {place}\n"
            back += f"mkdir -p {folder}\nmount --bind {place} {folder}\n"
        file = RUN / f"{name}.sh"
        file.write_text(f"set -e\n{keep}mount -t tmpfs private /tmp\n{back}{script}")
        self.start(name, self.command("ap", "unshare", "--mount", "sh", str(file)), env={"PATH": daemon.PATH})


class Laptop(daemon.Daemon):
    """hotspotd with default settings and all helpers that make install ships."""

    def prepare(self) -> None:
        super().prepare()
        shipped = CHECKOUT / "Sources/hotspot-helpers/Helpers"
        for file in shipped.glob("*.helper"):
            (self.helpers / file.name).write_text(file.read_text().replace("@libexecdir@", str(self.programs)))
