"""nodogsplash, looked at in version 5.0.2 (2026-01-12, 6beb760): its own splash page, and one that asks for an account."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess

import ground
import names
from basics import RUN, run, waitFor
from guest import Visits
from networks import Network

SOURCE = "https://github.com/nodogsplash/nodogsplash"
NETWORK = Network("nodog", "Splash", 11)
ACCOUNT = [(r"user|name", "guest"), (r"pass", "se&cret")]
# Says for how many seconds this account may stay; its arguments are encoded as in a URL.
BINAUTH = """#!/bin/sh
[ "$1" != auth_client ] || { [ "$3" = guest ] && [ "$4" = "se%26cret" ] && echo 600 || exit 1; }
"""


class Nodogsplash(Visits):
    name, network = "nodogsplash", NETWORK

    @staticmethod
    def require() -> pathlib.Path:
        return ground.program("nodogsplash", SOURCE)

    def version(self) -> str:
        said = subprocess.run([self.require(), "-v"], capture_output=True, text=True)
        return " ".join((said.stdout + said.stderr).split())

    def visits(self) -> list:
        self.ground.open(NETWORK, hasAddress=True)
        names.dnsmasq(self.ground, "names-nodog", "ap", [
            f"interface={NETWORK.access}", f"dhcp-range={NETWORK.prefix}.50,{NETWORK.prefix}.99,12h", "dhcp-authoritative", "no-ping",
            f"dhcp-leasefile={RUN}/nodog.leases", "server=203.0.113.53",
        ])
        return [self.click, self.account, self.refused, self.expired, self.full]

    def begin(self, settings: str = "", form: str = "") -> None:
        """Starts the server. `form`: fields of the splash page beside its own."""
        program, pages = self.require(), RUN / "splash"
        shutil.rmtree(pages, ignore_errors=True)
        # Installed at PREFIX/bin and /etc, or both below one folder.
        shipped = next(folder / "etc/nodogsplash/htdocs" for folder in program.parents if (folder / "etc/nodogsplash/htdocs").is_dir())
        shutil.copytree(shipped, pages)
        page = pages / "splash.html"
        page.write_text(page.read_text().replace('<input type="submit"', form + '<input type="submit"'))
        binauth = RUN / "binauth"
        binauth.write_text(BINAUTH)
        binauth.chmod(0o755)
        configuration = RUN / "nodogsplash.conf"
        configuration.write_text(f"""GatewayInterface {NETWORK.access}
WebRoot {pages}
CheckInterval 1
FirewallRuleSet authenticated-users {{
  FirewallRule allow all
}}
FirewallRuleSet users-to-router {{
  FirewallRule allow udp port 53
  FirewallRule allow tcp port 53
  FirewallRule allow udp port 67
}}
{settings}""")
        self.ground.plug(NETWORK)
        self.ground.private("nodogsplash", f"exec {program} -f -d 2 -c {configuration}\n")
        log = self.ground.logs / "nodogsplash.log"
        waitFor(lambda: "Created web server" in log.read_text(errors="replace"), 20, "nodogsplash")
        self.ground.unplug()

    def stop(self) -> None:
        self.ground.end("nodogsplash")

    # MARK: Visits

    def click(self) -> None:
        """A click-through."""
        self.begin()
        self.arrive()
        self.online("catalogue", asked=0)
        self.logOff()

    def account(self) -> None:
        """User name and password."""
        self.begin(f"BinAuth {RUN}/binauth\n", FIELDS)
        self.arrive()
        self.answer(ACCOUNT, {"authenticated"})
        self.online("catalogue", asked=1)
        self.logOff()

    def refused(self) -> None:
        """A wrong password, corrected."""
        self.begin(f"BinAuth {RUN}/binauth\n", FIELDS)
        self.arrive()
        self.answer([(r"user|name", "guest"), (r"pass", ["mistake", "se&cret"])], {"authenticated"})
        self.online("catalogue", asked=2)

    def expired(self) -> None:
        """The server ends the session; the next one begins by itself."""
        self.begin()
        self.arrive()
        self.online("catalogue", asked=0)
        self.control("deauth", self.address())
        self.mark = self.monitor.mark()
        self.laptop.ctl("check")
        self.until({"authenticated"})
        self.online("catalogue", asked=0)

    def full(self) -> None:
        """The server has as many guests as it takes."""
        self.begin("MaxClients 1\n")
        run("ip", "netns", "add", "guest")
        run("ip", "-n", "ap", "link", "add", "socket1", "master", NETWORK.access, "up", "type", "veth", "peer", "name", "net1", "netns", "guest")
        run("ip", "-n", "guest", "address", "add", f"{NETWORK.prefix}.200/24", "dev", "net1")
        run("ip", "-n", "guest", "link", "set", "net1", "up")
        self.ground.inside("guest", "curl", "-s", "-m", "10", "-A", "Mozilla/5.0", f"http://{NETWORK.gateway}:2050/")
        self.ground.join(NETWORK)
        self.mark = self.monitor.mark()
        waitFor(lambda: self.laptop.status().get("outcome") == "unknown", 20, "the outcome")
        self.offline("No portal answers")

    def address(self) -> str:
        return re.search(r"inet ([\d.]+)", self.ground.inside("cli", "ip", "-4", "address", "show", "net0").stdout)[1]

    def control(self, *words: str) -> None:
        """ndsctl, in the server's own mount namespace, where its socket is."""
        process = self.ground.processes["nodogsplash"]
        self.ground.inside("ap", "nsenter", f"--mount=/proc/{process.pid}/ns/mnt", str(ground.program("ndsctl", SOURCE)), *words)


FIELDS = """<label>Name: <input type="text" name="username"></label>
<label>Password: <input type="text" name="password"></label>"""
