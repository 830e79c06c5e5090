"""The café's fabric: three network namespaces (cli, ap, inet), access points or plain cables, DHCP, DNS, portals.

Both modes share everything above the link. The process that builds it sits in a private mount, PID and network
namespace, so that its end takes everything with it, however it ends.
"""

import json
import os
import pathlib
import subprocess
import time

import leases
import names
import networks
import opennds
import packages
from basics import HERE, PYTHON, RUN, Trouble, run, waitFor
from events import Addresses
from networks import Network
from station import Cable, Station

PORTS = {"hotel": 8081, "train": 8082, "free": 8083}
# Our own portals, by their programs.
PORTALS = {"hotel_portal": networks.HOTEL, "wispr_portal": networks.TRAIN}


class Fabric:
    def __init__(self, mode: str, logs: pathlib.Path):
        self.mode, self.logs = mode, logs
        # Where the transcript of the scene begins, in octets.
        self.transcriptStart = 0
        self.processes: dict[str, subprocess.Popen] = {}
        self.client = Station(self, networks.RADIO) if mode == "radio" else Cable(self, networks.WIRE)
        self.leases = leases.installed()
        # The emulated laptop is slow by its own clock: a Python program takes a second to start.
        self.patience = 5 if os.environ.get("HOTSPOTD_VIRTUAL_LAPTOP") == "1" else 1

    # MARK: Ground

    def build(self) -> None:
        self.requirePrograms()
        self.makePrivate()
        RUN.mkdir(parents=True, exist_ok=True)
        for name in ("transcript.jsonl", "monitor.jsonl"):
            (self.logs / name).unlink(missing_ok=True)
        (RUN / "faults").mkdir(exist_ok=True)
        self.makeNamespaces()
        self.addresses = Addresses("cli")
        self.makeLinks()
        if self.mode == "radio":
            self.startAccessPoints()
        # The slowest to start goes first.
        opennds.start(self)
        self.makeGates()
        names.start(self)
        names.makeAuthority()
        self.startPortal("internet", "inet", networks.PROBE)
        self.startPortals()
        self.startStation()

    def waitUntilOpen(self) -> None:
        waitFor(self.portalsReady, 60 * self.patience, f"the portals did not all start; see {self.logs}")
        if self.mode == "veth":
            self.unplug()

    def requirePrograms(self) -> None:
        wanted = {
            "ip": "iproute2", "nft": "nftables", "iptables-legacy": "iptables", "dnsmasq": "dnsmasq-base", "openssl": "openssl",
            "curl": "curl", "unshare": "util-linux", "pgrep": "procps",
        }
        if self.mode == "radio":
            wanted |= {"iw": "iw", "hostapd": "hostapd", "wpa_supplicant": "wpasupplicant"}
        for program, package in wanted.items():
            packages.requireProgram(program, package)

    def makePrivate(self) -> None:
        """Our own /etc, /run, leases and so on; the machine's stay as they are."""
        inGuest = os.environ.get("HOTSPOTD_VIRTUAL_LAPTOP") == "1"
        if os.stat("/").st_uid != 0:
            self.makeRoot()
        if not inGuest:
            run("mount", "-t", "tmpfs", "-o", "mode=755", "run", "/run")
        for folder in ("/var/lib/dhcp", "/var/lib/dhcpcd", "/var/lib/misc"):
            if os.path.isdir(folder):
                run("mount", "-t", "tmpfs", "-o", "mode=755", "private", folder)
        pathlib.Path("/run/netns").mkdir(exist_ok=True)
        memory = pathlib.Path("/run/cafe-etc")
        memory.mkdir()
        run("mount", "-t", "tmpfs", "-o", "mode=755", "private", str(memory))
        upper, work = memory / "upper", memory / "work"
        upper.mkdir(), work.mkdir()
        layers = f"lowerdir=/etc,upperdir={upper},workdir={work}"
        # An ordinary user may not change root's files, not even in a layer over them, but may change a copy.
        ours = os.stat("/etc").st_uid == 0
        if not ours or run("mount", "-t", "overlay", "-o", layers, "private", "/etc", check=False).returncode != 0:
            run("cp", "-r", "--preserve=mode,links", "/etc/.", str(upper), check=False)
            run("mount", "--bind", str(upper), "/etc")
        for name in ("resolv.conf", "hosts"):
            path = pathlib.Path("/etc") / name
            path.unlink(missing_ok=True)
            path.write_text("127.0.0.1 localhost\n" if name == "hosts" else "")

    def makeRoot(self) -> None:
        """For an ordinary user the root folder belongs to another user, so the daemon would trust no program under it. Makes a root
        folder of our own with the same folders."""
        run("mount", "-t", "tmpfs", "-o", "mode=755", "run", "/run")
        root = pathlib.Path("/run/root")
        root.mkdir()
        run("mount", "-t", "tmpfs", "-o", "mode=755", "root", str(root))
        for entry in sorted(pathlib.Path("/").iterdir()):
            place = root / entry.name
            if entry.is_symlink():
                place.symlink_to(entry.readlink())
            elif entry.is_dir():
                place.mkdir()
                if entry.name != "run":
                    run("mount", "--rbind", str(entry), str(place))
        (root / "old-root").mkdir()
        run("pivot_root", str(root), str(root / "old-root"))
        os.chdir("/")
        # The old one stays: where no sysfs is mounted the kernel refuses to mount one, as ip does in each namespace.

    def makeNamespaces(self) -> None:
        for name in ("cli", "ap", "inet"):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        self.inside("ap", "sysctl", "-qw", "net.ipv4.ip_forward=1")
        run("ip", "-n", "ap", "link", "add", "uplink", "type", "veth", "peer", "name", "downlink", "netns", "inet")
        for space, link, addresses in (
            ("ap", "uplink", [networks.UPSTREAM]), ("inet", "downlink", [networks.INTERNET, networks.RESOLVER]),
        ):
            for address in addresses:
                run("ip", "-n", space, "address", "add", f"{address}/24", "dev", link)
            run("ip", "-n", space, "link", "set", link, "up")
        run("ip", "-n", "inet", "address", "add", f"{networks.USUAL_ADDRESS}/32", "dev", "lo")
        run("ip", "-n", "ap", "route", "add", "default", "via", networks.INTERNET)

    def command(self, space: str, *words: str) -> list[str]:
        return ["ip", "netns", "exec", space, *words]

    def inside(self, space: str, *words: str, **keywords) -> subprocess.CompletedProcess:
        return run(*self.command(space, *words), **keywords)

    def scan(self, *words: str) -> subprocess.CompletedProcess:
        """A scan of the one frequency, which takes a tenth of a second. `iw scan` begins to listen after it has asked, and misses an end that
        comes before; iw 6.9 then asks the kernel again without a pause."""
        iw = ("iw", "dev", self.interface, "scan")
        asked = self.inside("cli", *iw, "trigger", "freq", str(networks.FREQUENCY), *words, check=False)
        if asked.returncode != 0:
            return asked
        time.sleep(2)
        return self.inside("cli", *iw, "dump", check=False)

    def start(self, name: str, words: list[str], **keywords) -> subprocess.Popen:
        # A new café does not append to the logs of an old one, because tests read them.
        log = open(self.logs / f"{name}.log", "ab" if name in self.processes else "wb")
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **keywords)
        self.processes[name] = process
        return process

    # MARK: Links

    def makeLinks(self) -> None:
        if self.mode == "radio":
            self.makeRadios()
        for network in networks.ALL:
            if self.mode == "veth":
                run("ip", "-n", "ap", "link", "add", network.access, "type", "bridge", "forward_delay", "0")
            run("ip", "-n", "ap", "link", "set", network.access, "address", network.hardware)
            run("ip", "-n", "ap", "address", "add", f"{network.gateway}/24", "dev", network.access)
            if self.mode == "veth":
                run("ip", "-n", "ap", "link", "set", network.access, "up")
        if self.mode == "veth":
            run("ip", "-n", "ap", "link", "add", networks.SOCKET, "type", "veth", "peer", "name", networks.WIRE, "netns", "cli")
            run("ip", "-n", "cli", "link", "set", networks.WIRE, "up")
            # openNDS starts only on a link that has its carrier.
            self.plug(networks.AROMA)

    def plug(self, network: Network) -> None:
        run("ip", "-n", "ap", "link", "set", networks.SOCKET, "master", network.access, "up")

    def unplug(self) -> None:
        run("ip", "-n", "ap", "link", "set", networks.SOCKET, "nomaster", "down")
        waitFor(lambda: not self.hasCarrier(), 5, "the carrier's end")

    def hasCarrier(self) -> bool:
        return "LOWER_UP" in run("ip", "-n", "cli", "link", "show", networks.WIRE).stdout

    def makeRadios(self) -> None:
        radios = sorted(pathlib.Path("/sys/class/ieee80211").iterdir(), key=lambda path: int(path.name.removeprefix("phy")))
        if len(radios) < len(networks.ALL) + 1:
            raise Trouble("there are not enough simulated radios: run this in the virtual laptop")
        places = [("cli", networks.RADIO)] + [("ap", network.access) for network in networks.ALL]
        for radio, (space, name) in zip(radios, places):
            link = next((radio / "device/net").iterdir()).name
            run("iw", "phy", radio.name, "set", "netns", "name", space)
            if link != name:
                run("ip", "-n", space, "link", "set", link, "name", name)

    def startAccessPoints(self) -> None:
        places = [(network, network.access, network.hardware) for network in networks.ALL]
        self.startHostapd("hostapd", places)
        for network in networks.ALL:
            self.inside("ap", "iw", "dev", network.access, "set", "txpower", "fixed", str(network.power * 100), check=False)

    def startHostapd(self, name: str, places: list[tuple[Network, str, str]]) -> None:
        """Starts access points, each on a link and with an address, and waits until they send."""
        files = []
        for network, link, hardware in places:
            lines = [
                f"interface={link}", "driver=nl80211", f"ssid={network.ssid}", "hw_mode=g", "channel=1",
                "ctrl_interface=/run/hostapd", f"bssid={hardware}", *network.announces,
            ]
            if network.passphrase:
                lines += ["wpa=2", "wpa_key_mgmt=WPA-PSK", "rsn_pairwise=CCMP", f"wpa_passphrase={network.passphrase}"]
            file = RUN / f"hostapd-{link}.conf"
            file.write_text("\n".join(lines) + "\n")
            files.append(str(file))
        self.start(name, self.command("ap", "hostapd", "-t", *files))
        for network, link, _ in places:
            look = ("ip", "-n", "ap", "link", "show", link)
            waitFor(lambda: "state UP" in run(*look).stdout, 20 * self.patience, f"access point {network.ssid}")

    def addTwin(self, network: Network) -> str:
        """Another access point of the network, on the same radio and without a way out; returns its address."""
        link, hardware = f"{network.access}2", network.hardware[:-1] + "2"
        self.inside("ap", "iw", "dev", network.access, "interface", "add", link, "type", "__ap", "addr", hardware)
        self.startHostapd(f"hostapd-{link}", [(network, link, hardware)])
        return hardware

    def removeTwin(self, network: Network) -> None:
        link = f"{network.access}2"
        process = self.processes[f"hostapd-{link}"]
        process.terminate()
        process.wait(20)
        self.inside("ap", "iw", "dev", link, "del")

    def switchAccessPoint(self, network: Network, word: str) -> None:
        """`disable` or `enable`."""
        self.inside("ap", "hostapd_cli", "-p", "/run/hostapd", "-i", network.access, word, check=False)

    def wakeAccessPoints(self) -> bool:
        """After a sleep of the machine; whether any had to be woken."""
        asleep = [n for n in networks.ALL if "ssid" not in self.inside("ap", "iw", "dev", n.access, "info", check=False).stdout]
        for network in asleep:
            self.switchAccessPoint(network, "disable")
            self.switchAccessPoint(network, "enable")
        return bool(asleep)

    def startStation(self) -> None:
        self.leases.prepare(self)
        if self.mode == "veth":
            return
        blocks = ["ctrl_interface=/run/wpa_supplicant", "p2p_disabled=1", f"freq_list={networks.FREQUENCY}"]
        for network in networks.ALL:
            key = f'key_mgmt=WPA-PSK\npsk="{network.passphrase}"' if network.passphrase else "key_mgmt=NONE"
            where = f"scan_freq={networks.FREQUENCY}\nfreq_list={networks.FREQUENCY}"
            blocks.append(f'network={{\nssid="{network.ssid}"\n{key}\n{where}\ndisabled=1\n}}')
        file = RUN / "wpa_supplicant.conf"
        file.write_text("\n".join(blocks) + "\n")
        self.client.start()

    def addStation(self) -> Station:
        """One more radio for the client, under the name that the kernel gave it."""
        radio = max(pathlib.Path("/sys/class/ieee80211").iterdir(), key=lambda path: int(path.name.removeprefix("phy")))
        link = next((radio / "device/net").iterdir()).name
        run("iw", "phy", radio.name, "set", "netns", "name", "cli")
        station = Station(self, link, metric=200)
        station.start()
        return station

    def setDelay(self, milliseconds: int) -> None:
        """The round trip between the client and everything else, added on the way to the client."""
        for network in networks.ALL:
            if milliseconds:
                self.inside("ap", "tc", "qdisc", "replace", "dev", network.access, "root", "netem", "delay", f"{milliseconds}ms")
            else:
                self.inside("ap", "tc", "qdisc", "del", "dev", network.access, "root", check=False)

    # MARK: Portals

    def makeGates(self) -> None:
        """Closed for everyone but the admitted, apart from names and the portal itself."""
        rules = "table ip shared {\n chain out { type nat hook postrouting priority srcnat; oifname uplink masquerade; }\n}\n"
        self.setRules(rules + "".join(map(self.gate, (networks.HOTEL, networks.TRAIN))))

    def gate(self, network: Network) -> str:
        port, side = PORTS[network.key], network.access
        return f"""table ip {network.key} {{
 set admitted {{ type ipv4_addr; }}
 chain arriving {{
  type nat hook prerouting priority dstnat;
  iifname {side} ip daddr {network.gateway} tcp dport 443 redirect to :{port + 1000}
  iifname {side} ip daddr {network.gateway} tcp dport 80 redirect to :{port}
  iifname {side} ip saddr != @admitted tcp dport 80 redirect to :{port}
 }}
 chain passing {{
  type filter hook forward priority filter;
  iifname {side} ip saddr != @admitted meta l4proto tcp reject with tcp reset
  iifname {side} ip saddr != @admitted reject
 }}
}}
"""

    def setRules(self, rules: str) -> None:
        file = RUN / "gates.nft"
        file.write_text(rules)
        self.inside("ap", "nft", "-f", str(file))

    def startPortal(self, name: str, space: str, host: str, *extra: str) -> None:
        ready = RUN / f"{name}.ready"
        ready.unlink(missing_ok=True)
        self.start(name, self.command(
            space, PYTHON, "-B", str(HERE / f"{name}.py"), "--transcript", str(self.logs / "transcript.jsonl"),
            "--certificate", str(RUN / f"tls/{host}.pem"), "--key", str(RUN / f"tls/{host}.key"), "--ready", str(ready), *extra,
        ))

    def startPortals(self, chosen: list[str] | None = None) -> None:
        for name in chosen or PORTALS:
            network = PORTALS[name]
            self.startPortal(name, "ap", network.portal, "--port", str(PORTS[network.key]), "--faults",
                             str(RUN / "faults" / network.key), "--untrusted", str(RUN / f"tls/{network.key}-untrusted.pem"))

    def changeKey(self, network: Network) -> None:
        """Gives a portal of ours a new certificate with a new key, and starts it again."""
        names.makeCertificate(network.portal)
        name = next(name for name, other in PORTALS.items() if other is network)
        self.processes[name].kill()
        self.processes[name].wait()
        self.startPortals([name])
        waitFor(lambda: (RUN / f"{name}.ready").exists(), 20, name)

    def reset(self) -> None:
        """Before another scene: the laptop is in no network, our portals have forgotten it, and the transcript begins again."""
        self.leave()
        self.transcriptStart = (self.logs / "transcript.jsonl").stat().st_size
        for name, network in PORTALS.items():
            self.processes[name].kill()
            self.processes[name].wait()
            self.inside("ap", "nft", "flush", "set", "ip", network.key, "admitted")
        self.startPortals()

    def setFault(self, network: Network, fault: str) -> None:
        """What the portal does wrong from now on: one word of portal_base, and "pages" if its redirect is as it should be."""
        place = RUN / "faults" / network.key
        # In one step: it is read at any time.
        (RUN / "fault").write_text(fault)
        (RUN / "fault").rename(place)

    def portalsReady(self) -> bool:
        for name in ("hotel_portal", "wispr_portal", "internet", *(f"names-{n.key}" for n in networks.ALL)):
            if self.processes[name].poll() is not None:
                raise Trouble(f"{name} ended too early; see {self.logs / name}.log: " + self.lastWords(name))
        if not all((RUN / f"{name}.ready").exists() for name in ("hotel_portal", "wispr_portal", "internet")):
            return False
        if self.processes["opennds"].poll() is not None:
            raise Trouble(f"openNDS ended too early: {self.lastWords('opennds')}")
        return opennds.isReady(self)

    def lastWords(self, name: str) -> str:
        return (self.logs / f"{name}.log").read_text(errors="replace").strip()[-300:]

    # MARK: The client

    @property
    def interface(self) -> str:
        return self.client.link

    @property
    def joined(self) -> Network | None:
        return self.client.joined

    def join(self, network: Network) -> tuple[float, float]:
        """The moments of the connect event and of the address."""
        return self.client.join(network)

    def leave(self) -> None:
        self.client.leave()

    def hasAddress(self) -> bool:
        return self.client.hasAddress()

    def isAssociated(self) -> bool:
        return self.client.isAssociated()

    def transcript(self, portal: str | None = None) -> list[dict]:
        path = self.logs / "transcript.jsonl"
        text = path.read_bytes()[self.transcriptStart:].decode() if path.exists() else ""
        # The last line may be on its way.
        entries = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        return [entry for entry in entries if portal in (None, entry["portal"])]

    def close(self) -> None:
        """Ends what we started; the namespaces end with this process."""
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
        for process in self.processes.values():
            process.wait()
