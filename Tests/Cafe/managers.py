"""The programs that manage a laptop's radio, as its distribution starts them: NetworkManager, iwd, and wpa_supplicant with a DHCP client."""

from __future__ import annotations

import os
import pathlib
import typing

import networks
import packages
from basics import RUN, run, waitFor

if typing.TYPE_CHECKING:
    from fabric import Fabric

ADDRESS = "/run/dbus/system_bus_socket"
# udev does not run in the virtual laptop, and only where this cannot be written NetworkManager and networkd do not wait for it.
READ_ONLY = 'mount -o remount,bind,ro /sys; exec "$@"'


def startBus(fabric: Fabric) -> None:
    """The system's bus, with its own rules for the services."""
    if "bus" in fabric.processes:
        return
    os.makedirs(os.path.dirname(ADDRESS), exist_ok=True)
    rules = packages.unpacked("iwd") / "usr/share/dbus-1/system.d/iwd-dbus.conf"
    pathlib.Path("/etc/dbus-1/system.d").mkdir(parents=True, exist_ok=True)
    pathlib.Path("/etc/dbus-1/system.d/iwd-dbus.conf").write_bytes(rules.read_bytes())
    fabric.start("bus", ["dbus-daemon", "--system", "--nofork", "--nopidfile"])
    waitFor(lambda: os.path.exists(ADDRESS), 30, "the bus")


class Manager:
    """A program, or two, with the name that people see and the one that it has on the bus."""

    name = service = ""

    def __init__(self, fabric: Fabric):
        self.fabric, self.link = fabric, fabric.interface
        self.started: list[str] = []

    def launch(self, name: str, *words: str, **environment: str) -> None:
        settings = [f"{key}={value}" for key, value in environment.items()]
        self.fabric.start(name, self.fabric.command("cli", "env", *settings, "sh", "-c", READ_ONLY, "sh", *words))
        self.started.append(name)

    def start(self) -> None:
        startBus(self.fabric)
        self.prepare()
        waitFor(self.isReady, 20 * self.fabric.patience, self.name)

    def prepare(self) -> None:
        raise NotImplementedError

    def isReady(self) -> bool:
        return run("busctl", "status", self.service, check=False).returncode == 0

    def stop(self) -> None:
        for name in reversed(self.started):
            self.fabric.processes[name].terminate()
            self.fabric.processes[name].wait(30)
        self.started = []
        self.fabric.inside("cli", "ip", "address", "flush", "dev", self.link, check=False)


class NetworkManager(Manager):
    """With its own DHCP client, a wpa_supplicant on the bus, and its look for portals as the desktops' packages have it."""

    name, service = "NetworkManager", "org.freedesktop.NetworkManager"

    def prepare(self) -> None:
        folder = pathlib.Path("/etc/NetworkManager")
        for place in (folder / "system-connections", folder / "conf.d", pathlib.Path("/var/lib/NetworkManager")):
            place.mkdir(parents=True, exist_ok=True)
        (folder / "NetworkManager.conf").write_text(
            # There is no polkit here; the daemon is root.
            "[main]\nplugins=keyfile\ndhcp=internal\nauth-polkit=false\n[logging]\nlevel=DEBUG\n"
            f"[keyfile]\nunmanaged-devices=except:interface-name:{self.link}\n")
        (folder / "conf.d/20-connectivity.conf").write_text(f"[connectivity]\nuri={networks.PROBE_URL}\nresponse=\ninterval=300\n")
        # With the control sockets that Debian's unit makes.
        self.launch("wpa_supplicant-bus", "wpa_supplicant", "-t", "-u", "-s", "-O", "DIR=/run/wpa_supplicant GROUP=netdev")
        waitFor(lambda: run("busctl", "status", "fi.w1.wpa_supplicant1", check=False).returncode == 0, 60, "wpa_supplicant on the bus")
        self.launch("NetworkManager", "NetworkManager", "--debug")

    def isReady(self) -> bool:
        return super().isReady() and f"{self.link}:disconnected" in self.ask("-f", "DEVICE,STATE", "device")

    def ask(self, *words: str) -> str:
        return run("nmcli", "-t", *words, check=False).stdout


class Iwd(Manager):
    """With its own DHCP client, on the interface that is there."""

    name, service = "iwd", "net.connman.iwd"

    def prepare(self) -> None:
        settings = RUN / "iwd"
        settings.mkdir(exist_ok=True)
        (settings / "main.conf").write_text(
            "[General]\nEnableNetworkConfiguration=true\nUseDefaultInterface=true\n[Network]\nNameResolvingService=resolvconf\n")
        # It has no other way to tell its resolvers: `resolvconf -a NAME` reads them.
        shims = settings / "bin"
        shims.mkdir(exist_ok=True)
        (shims / "resolvconf").write_text('#!/bin/sh\n[ "$1" != -a ] || exec cat >/etc/resolv.conf\n')
        (shims / "resolvconf").chmod(0o755)
        pathlib.Path("/var/lib/iwd").mkdir(parents=True, exist_ok=True)
        library = packages.unpacked("libell0") / "usr/lib/x86_64-linux-gnu"
        program = packages.unpacked("iwd") / "usr/libexec/iwd"
        self.launch("iwd", str(program), CONFIGURATION_DIRECTORY=str(settings), STATE_DIRECTORY="/var/lib/iwd",
                    LD_LIBRARY_PATH=str(library), PATH=f"{shims}:{os.environ['PATH']}")

    def isReady(self) -> bool:
        return super().isReady() and "net.connman.iwd.Station" in run("busctl", "call", self.service, "/", "org.freedesktop.DBus.ObjectManager",
                                                                     "GetManagedObjects", check=False).stdout


class Supplicant(Manager):
    """Without the bus, by its control socket alone; two networks are its own."""

    name = "wpa_supplicant"

    def prepare(self) -> None:
        file = RUN / "join.conf"
        where = f"scan_freq={networks.FREQUENCY}\nfreq_list={networks.FREQUENCY}"
        file.write_text(
            f"ctrl_interface=/run/wpa_supplicant\np2p_disabled=1\nfreq_list={networks.FREQUENCY}\n"
            f'network={{\nssid="{networks.TRAIN.ssid}"\nkey_mgmt=NONE\n{where}\ndisabled=1\n}}\n'
            f'network={{\nssid="Elsewhere"\nkey_mgmt=NONE\n{where}\n}}\n')
        self.launch("wpa_supplicant-join", "wpa_supplicant", "-t", f"-i{self.link}", "-Dnl80211", f"-c{file}")

    def isReady(self) -> bool: return os.path.exists(f"/run/wpa_supplicant/{self.link}")
