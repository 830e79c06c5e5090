"""The DHCP clients of Debian: dhclient of Debian 12, dhcpcd of Debian 13. The café uses the one that is installed."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import signal
import typing

import packages
from basics import HERE, RUN

if typing.TYPE_CHECKING:
    from fabric import Fabric
    from station import Client


class DHClient:
    program, package = "dhclient", "isc-dhcp-client"

    def prepare(self, fabric: Fabric) -> None:
        for hooks in pathlib.Path("/etc/dhcp").glob("dhclient-*-hooks.d"):
            shutil.rmtree(hooks)
        shutil.copy(HERE.parents[1] / "systemd/dhclient-hotspotd.conf", RUN / "dhclient-hotspotd.conf")
        (RUN / "dhclient.conf").write_text(
            f'initial-delay 0;\ntimeout {20 * fabric.patience};\nretry 2;\n'
            f'include "/etc/dhcp/dhclient.conf";\ninclude "{RUN}/dhclient-hotspotd.conf";\n'
        )

    def start(self, client: Client) -> None:
        metric = ["-e", f"IF_METRIC={client.metric}"] if client.metric else []
        client.fabric.inside(
            "cli", "dhclient", "-4", "-1", *metric, "-cf", str(RUN / "dhclient.conf"), "-lf", self.file(client),
            "-pf", self.process(client), client.link, timeout=40 * client.fabric.patience,
        )

    def end(self, client: Client) -> None:
        try:
            os.kill(int(pathlib.Path(self.process(client)).read_text()), signal.SIGTERM)
        except (OSError, ValueError):
            pass

    def announced(self, client: Client) -> list[str]:
        """The addresses of the portal's API in the newest lease."""
        lease = pathlib.Path(self.file(client)).read_text().rsplit("lease {", 1)[-1]
        return re.findall(r"option (?:v4-captive-portal|default-url) (.*);", lease)

    def leaveResolversAlone(self) -> None:
        hooks = pathlib.Path("/etc/dhcp/dhclient-enter-hooks.d")
        hooks.mkdir(parents=True, exist_ok=True)
        (hooks / "resolved").write_text("make_resolv_conf() { :; }\n")

    def file(self, client: Client) -> str: return f"/var/lib/dhcp/dhclient.{client.link}.leases"

    def process(self, client: Client) -> str: return str(RUN / f"dhclient-{client.link}.pid")


class DHCPCD:
    program, package = "dhcpcd", "dhcpcd-base"
    settings = RUN / "dhcpcd.conf"

    def prepare(self, fabric: Fabric) -> None:
        # Nobody else has the address, which would take five seconds to see; another program has the radio.
        self.settings.write_text(
            pathlib.Path("/etc/dhcpcd.conf").read_text()
            + f"\nipv4only\nnoarp\nnoipv4ll\nnodev\ntimeout {20 * fabric.patience}\noption captive_portal_uri\nnohook wpa_supplicant hostname\n")
        # Where one user alone is known, it cannot become its own.
        if "4294967295" not in pathlib.Path("/proc/self/uid_map").read_text():
            users = pathlib.Path("/etc/passwd")
            users.write_text("".join(line for line in users.read_text().splitlines(True) if not line.startswith("dhcpcd:")))

    def start(self, client: Client) -> None:
        metric = ["-m", str(client.metric)] if client.metric else []
        client.fabric.inside(
            "cli", "dhcpcd", "-q", "-4", "-w", *metric, "-f", str(self.settings), client.link, timeout=40 * client.fabric.patience)

    def end(self, client: Client) -> None:
        client.fabric.inside("cli", "dhcpcd", "-4", "-x", "-f", str(self.settings), client.link, check=False)

    def announced(self, client: Client) -> list[str]:
        packets = sorted(pathlib.Path("/var/lib/dhcpcd").glob(f"{client.link}*.lease"), key=lambda path: path.stat().st_mtime)
        return [found.decode() for found in re.findall(rb"https?://[!-~]+", packets[-1].read_bytes())]

    def leaveResolversAlone(self) -> None:
        with open(self.settings, "a") as file:
            file.write("nohook resolv.conf\n")


def installed() -> DHClient | DHCPCD:
    for kind in (DHClient, DHCPCD):
        if shutil.which(kind.program, path="/usr/sbin:/sbin"):
            return kind()
    raise packages.Missing("there is no DHCP client: apt-get install dhcpcd-base, or isc-dhcp-client")
