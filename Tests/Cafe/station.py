"""The client's way into a network: a radio with its wpa_supplicant, or the cable; and its DHCP client."""

from __future__ import annotations

import os
import time
import typing

import networks
from basics import RUN, run, waitFor
from events import WPAEvents
from networks import Network

if typing.TYPE_CHECKING:
    from fabric import Fabric


class Client:
    """An interface of the client's. `metric`: of its default route, where another interface has one as well."""

    def __init__(self, fabric: Fabric, link: str, metric: int = 0):
        self.fabric, self.link, self.metric = fabric, link, metric
        self.joined: Network | None = None

    def attach(self, network: Network) -> None:
        raise NotImplementedError

    def detach(self) -> None:
        raise NotImplementedError

    def associate(self, network: Network) -> float:
        """Joins the link alone; returns the moment of the connect event (time.time())."""
        self.joined = network
        self.attach(network)
        return time.time()

    def lease(self) -> float:
        """Asks for an address and returns the moment when it is there."""
        self.fabric.leases.start(self)
        return time.time()

    def join(self, network: Network) -> tuple[float, float]:
        return self.associate(network), self.lease()

    def hasAddress(self) -> bool:
        return "inet " in run("ip", "-n", "cli", "address", "show", self.link).stdout

    def leave(self) -> None:
        if not self.joined:
            return
        self.fabric.leases.end(self)
        self.detach()
        run("ip", "-n", "cli", "address", "flush", "dev", self.link)
        self.joined = None


class Cable(Client):
    """One cable, plugged into one network after the other, as a radio joins one after the other."""

    def attach(self, network: Network) -> None:
        self.fabric.plug(network)
        waitFor(self.fabric.hasCarrier, 5, "carrier")

    def detach(self) -> None:
        self.fabric.unplug()


class Station(Client):
    """A radio. It may be added, renamed, removed and added again while everything else goes on."""

    def __init__(self, fabric: Fabric, link: str, metric: int = 0):
        super().__init__(fabric, link, metric)
        # The radio's name, which outlives the interface.
        self.radio = ""
        self.events: WPAEvents | None = None

    @property
    def supplicant(self) -> str:
        return f"wpa_supplicant-{self.link}"

    def start(self) -> None:
        file, place = RUN / "wpa_supplicant.conf", f"/run/wpa_supplicant/{self.link}"
        words = ["wpa_supplicant", "-t", f"-i{self.link}", "-Dnl80211", f"-c{file}"]
        self.fabric.start(self.supplicant, self.fabric.command("cli", *words))
        waitFor(lambda: os.path.exists(place), 20 * self.fabric.patience, self.supplicant)
        self.events = WPAEvents(place, self.link)
        output = self.fabric.inside("cli", "iw", "dev", self.link, "info").stdout
        self.radio = "phy" + output.split("wiphy ")[1].split()[0]

    def stop(self) -> None:
        """Ends the supplicant, and with it the association; addresses on the link stay."""
        self.fabric.leases.end(self)
        process = self.fabric.processes[self.supplicant]
        process.terminate()
        process.wait(20)
        self.events.close()
        self.joined = None

    def attach(self, network: Network) -> None:
        self.events.request(f"SELECT_NETWORK {networks.ALL.index(network)}")
        self.events.waitFor("CTRL-EVENT-CONNECTED", 20 * self.fabric.patience)

    def detach(self) -> None:
        self.events.request("DISCONNECT")
        self.events.waitFor("CTRL-EVENT-DISCONNECTED", 10 * self.fabric.patience)

    def roam(self, place: str) -> None:
        """Joins the network's access point with this address."""
        self.events.request(f"SCAN freq={networks.FREQUENCY}")
        self.events.waitFor("CTRL-EVENT-SCAN-RESULTS", 20 * self.fabric.patience)
        self.events.request(f"ROAM {place}")
        self.events.waitFor("CTRL-EVENT-CONNECTED", 20 * self.fabric.patience)

    def carriers(self) -> int:
        """How often the kernel has turned the link's carrier on."""
        return int(self.fabric.inside("cli", "cat", f"/sys/class/net/{self.link}/carrier_up_count").stdout)

    def isAssociated(self) -> bool:
        return "Connected to" in self.fabric.inside("cli", "iw", "dev", self.link, "link", check=False).stdout

    def index(self) -> int:
        return int(run("ip", "-n", "cli", "-o", "link", "show", self.link).stdout.split(":")[0])

    def rename(self, name: str) -> None:
        """The kernel renames nothing that is up (IFF_LIVE_RENAME_OK aside), so it goes down in the middle of everything."""
        run("ip", "-n", "cli", "link", "set", self.link, "down")
        self.stop()
        run("ip", "-n", "cli", "address", "flush", "dev", self.link)
        run("ip", "-n", "cli", "link", "set", self.link, "name", name)
        self.link = name
        self.start()

    def remove(self) -> None:
        self.fabric.inside("cli", "iw", "dev", self.link, "del")
        self.stop()

    def addAgain(self) -> None:
        """The same radio and the same name; for the kernel it is another interface."""
        self.fabric.inside("cli", "iw", "phy", self.radio, "interface", "add", self.link, "type", "managed")
        self.start()


def fetched(station: Client, page: str) -> str:
    """Fetches the page through this link. resolv.conf belongs to the latest lease, so the name's address is given."""
    words = ["--interface", station.link, "--resolve", f"{networks.PAGE}:80:{networks.INTERNET}", page]
    done = station.fabric.inside("cli", "curl", "-sS", "-m", str(10 * station.fabric.patience), *words, check=False)
    return done.stdout + done.stderr
