"""The café's fabric: three network namespaces (cli, ap, inet), access points or plain cables, DHCP, DNS, portals.

Both modes share everything above the link. The process that builds it sits in a private mount, PID and network
namespace, so that its end takes everything with it, however it ends.
"""

import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import networks
import packages
from networks import Network

HERE = pathlib.Path(__file__).resolve().parent
RUN = pathlib.Path("/run/cafe")
PYTHON = "/usr/bin/python3"
PORTS = {"hotel": 8081, "train": 8082}


class Trouble(Exception):
    """Something in the café did not come up; the message says what, and where its log is."""


def run(*words: str, check: bool = True, quiet: bool = True, timeout: float = 60, **keywords) -> subprocess.CompletedProcess:
    done = subprocess.run(words, capture_output=quiet, text=True, timeout=timeout, stdin=subprocess.DEVNULL, **keywords)
    if check and done.returncode != 0:
        raise Trouble(f"{' '.join(words)}: {(done.stderr or done.stdout or '').strip()[-400:]}")
    return done


def waitFor(condition, seconds: float, what: str):
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise Trouble(f"{what}: not within {seconds:g} s")
        time.sleep(0.03)
    return value


class Fabric:
    def __init__(self, mode: str, logs: pathlib.Path):
        self.mode, self.logs = mode, logs
        self.processes: dict[str, subprocess.Popen] = {}
        self.joined: Network | None = None
        self.events: "WPAEvents | None" = None

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
        # The slowest to start goes first: in the virtual laptop it takes twenty seconds.
        self.startOpenNDS()
        self.makeGates()
        self.startNames()
        self.makeAuthority()
        self.startPortals()
        self.startStation()

    def waitUntilOpen(self) -> None:
        waitFor(self.portalsReady, 90, f"the portals did not all start; see {self.logs}")
        if self.mode == "veth":
            self.unplug()

    def requirePrograms(self) -> None:
        wanted = {
            "ip": "iproute2", "nft": "nftables", "iptables-legacy": "iptables", "dnsmasq": "dnsmasq-base", "openssl": "openssl",
            "dhclient": "isc-dhcp-client", "curl": "curl", "unshare": "util-linux", "pgrep": "procps",
        }
        if self.mode == "radio":
            wanted |= {"iw": "iw", "hostapd": "hostapd", "wpa_supplicant": "wpasupplicant"}
        for program, package in wanted.items():
            packages.requireProgram(program, package)

    def makePrivate(self) -> None:
        """Our own /etc, /run, leases and so on; the machine's stay as they are."""
        inGuest = os.environ.get("HOTSPOTD_VIRTUAL_LAPTOP") == "1"
        if not inGuest:
            run("mount", "-t", "tmpfs", "-o", "mode=755", "run", "/run")
        for folder in ("/var/lib/dhcp", "/var/lib/misc"):
            if os.path.isdir(folder):
                run("mount", "-t", "tmpfs", "-o", "mode=755", "private", folder)
        pathlib.Path("/run/netns").mkdir(exist_ok=True)
        memory = pathlib.Path("/run/cafe-etc")
        memory.mkdir()
        run("mount", "-t", "tmpfs", "-o", "mode=755", "private", str(memory))
        upper, work = memory / "upper", memory / "work"
        upper.mkdir(), work.mkdir()
        layers = f"lowerdir=/etc,upperdir={upper},workdir={work}"
        # Somebody who is not root may not change root's files, not even in a layer over them; a copy is their own.
        ours = os.stat("/etc").st_uid == 0
        if not ours or run("mount", "-t", "overlay", "-o", layers, "private", "/etc", check=False).returncode != 0:
            run("cp", "-r", "--preserve=mode,links", "/etc/.", str(upper), check=False)
            run("mount", "--bind", str(upper), "/etc")
        for hooks in pathlib.Path("/etc/dhcp").glob("dhclient-*-hooks.d"):
            shutil.rmtree(hooks)
        for name in ("resolv.conf", "hosts"):
            path = pathlib.Path("/etc") / name
            path.unlink(missing_ok=True)
            path.write_text("127.0.0.1 localhost\n" if name == "hosts" else "")

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
        run("ip", "-n", "ap", "route", "add", "default", "via", networks.INTERNET)

    def command(self, space: str, *words: str) -> list[str]:
        return ["ip", "netns", "exec", space, *words]

    def inside(self, space: str, *words: str, **keywords) -> subprocess.CompletedProcess:
        return run(*self.command(space, *words), **keywords)

    def start(self, name: str, words: list[str], **keywords) -> subprocess.Popen:
        # A new café does not go on in an old one's logs: what they say is looked at.
        log = open(self.logs / f"{name}.log", "ab" if name in self.processes else "wb")
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **keywords)
        self.processes[name] = process
        return process

    # MARK: Names and keys

    def makeAuthority(self) -> None:
        """An authority of our own, trusted in here only, and a certificate for each name."""
        folder = RUN / "tls"
        folder.mkdir()
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        run("openssl", "req", "-x509", *curve, "-days", "7", "-subj", "/CN=Authority of the Cafe", "-keyout",
            str(folder / "authority.key"), "-out", str(folder / "authority.pem"))
        for host in (networks.HOTEL.portal, networks.TRAIN.portal, networks.PROBE):
            run("openssl", "req", "-x509", *curve, "-days", "7", "-subj", f"/CN={host}", "-CA", str(folder / "authority.pem"),
                "-CAkey", str(folder / "authority.key"), "-addext", f"subjectAltName=DNS:{host},DNS:{networks.PAGE}",
                "-addext", "basicConstraints=critical,CA:FALSE", "-addext", "extendedKeyUsage=serverAuth",
                "-keyout", str(folder / f"{host}.key"), "-out", str(folder / f"{host}.pem"))
        authority = (folder / "authority.pem").read_text()
        certificates = pathlib.Path("/etc/ssl/certs")
        certificates.mkdir(parents=True, exist_ok=True)
        with open(certificates / "ca-certificates.crt", "a") as bundle:
            bundle.write("\n" + authority)
        name = run("openssl", "x509", "-noout", "-hash", "-in", str(folder / "authority.pem")).stdout.strip()
        (certificates / f"{name}.0").write_text(authority)

    def startNames(self) -> None:
        names = [f"address=/{name}/{networks.INTERNET}" for name in (networks.PROBE, networks.PAGE)]
        self.dnsmasq("names-internet", "inet", ["interface=downlink", *names, "local=/#/"])
        for network in networks.ALL:
            lines = [
                f"interface={network.access}", f"dhcp-range={network.prefix}.50,{network.prefix}.99,12h", "dhcp-authoritative",
                # Looking whether somebody has the address already would take three seconds.
                "no-ping", f"dhcp-leasefile=/var/lib/misc/{self.leaseName(network)}",
                f"server={networks.RESOLVER}",
            ]
            if network.portal:
                lines.append(f"address=/{network.portal}/{network.gateway}")
            if network is networks.HOTEL:
                lines.append(f"dhcp-option=114,https://{network.portal}/captive-portal/api")
            if network is networks.AROMA:
                # What openNDS writes into the system's dnsmasq.conf; its own copy of that file is private.
                lines.append(f"dhcp-option-force=114,http://{network.portal}")
            self.dnsmasq(f"names-{network.key}", "ap", lines)

    def leaseName(self, network: Network) -> str:
        # openNDS looks for its clients in a file of this name.
        return "dnsmasq.leases" if network is networks.AROMA else f"{network.key}.leases"

    def dnsmasq(self, name: str, space: str, lines: list[str]) -> None:
        file = RUN / f"{name}.conf"
        common = ["no-resolv", "no-hosts", "bind-interfaces", "except-interface=lo", "user=root", "group=root"]
        common += ["log-facility=-", "log-dhcp"]
        file.write_text("\n".join(common + lines) + "\n")
        self.start(name, self.command(space, "dnsmasq", "--no-daemon", f"--conf-file={file}", f"--pid-file={RUN / name}.pid"))

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
            # One cable, plugged into one network after the other, as a radio joins one after the other.
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
            raise Trouble("not enough simulated radios here: run this in the virtual laptop")
        places = [("cli", networks.RADIO)] + [("ap", network.access) for network in networks.ALL]
        for radio, (space, name) in zip(radios, places):
            link = next((radio / "device/net").iterdir()).name
            run("iw", "phy", radio.name, "set", "netns", "name", space)
            if link != name:
                run("ip", "-n", space, "link", "set", link, "name", name)

    def startAccessPoints(self) -> None:
        files = []
        for network in networks.ALL:
            lines = [
                f"interface={network.access}", "driver=nl80211", f"ssid={network.ssid}", "hw_mode=g", "channel=1",
                "ctrl_interface=/run/hostapd", f"bssid={network.hardware}",
            ]
            if network.passphrase:
                lines += ["wpa=2", "wpa_key_mgmt=WPA-PSK", "rsn_pairwise=CCMP", f"wpa_passphrase={network.passphrase}"]
            file = RUN / f"hostapd-{network.key}.conf"
            file.write_text("\n".join(lines) + "\n")
            files.append(str(file))
        self.start("hostapd", self.command("ap", "hostapd", "-t", *files))
        for network in networks.ALL:
            look = ("ip", "-n", "ap", "link", "show", network.access)
            waitFor(lambda: "state UP" in run(*look).stdout, 20, f"access point {network.ssid}")
            self.inside("ap", "iw", "dev", network.access, "set", "txpower", "fixed", str(network.power * 100), check=False)

    def startStation(self) -> None:
        shutil.copy(HERE.parents[1] / "systemd/dhclient-hotspotd.conf", RUN / "dhclient-hotspotd.conf")
        (RUN / "dhclient.conf").write_text(
            f'initial-delay 0;\ntimeout 20;\nretry 2;\ninclude "/etc/dhcp/dhclient.conf";\ninclude "{RUN}/dhclient-hotspotd.conf";\n'
        )
        if self.mode == "veth":
            return
        blocks = ["ctrl_interface=/run/wpa_supplicant", "p2p_disabled=1", f"freq_list={networks.FREQUENCY}"]
        for network in networks.ALL:
            key = f'key_mgmt=WPA-PSK\npsk="{network.passphrase}"' if network.passphrase else "key_mgmt=NONE"
            frequency = networks.FREQUENCY
            blocks.append(f'network={{\nssid="{network.ssid}"\n{key}\nscan_freq={frequency}\nfreq_list={frequency}\ndisabled=1\n}}')
        file = RUN / "wpa_supplicant.conf"
        file.write_text("\n".join(blocks) + "\n")
        self.start("wpa_supplicant", self.command("cli", "wpa_supplicant", "-t", "-iwlan0", "-Dnl80211", f"-c{file}"))
        waitFor(lambda: os.path.exists("/run/wpa_supplicant/wlan0"), 20, "wpa_supplicant")
        self.events = WPAEvents("/run/wpa_supplicant/wlan0")

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
        for network in (networks.HOTEL, networks.TRAIN):
            port, side = PORTS[network.key], network.access
            rules += f"""table ip {network.key} {{
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
        file = RUN / "gates.nft"
        file.write_text(rules)
        self.inside("ap", "nft", "-f", str(file))

    def startPortals(self) -> None:
        def portal(name: str, space: str, host: str, *extra: str) -> None:
            self.start(name, self.command(
                space, PYTHON, "-B", str(HERE / f"{name}.py"), "--transcript", str(self.logs / "transcript.jsonl"),
                "--certificate", str(RUN / f"tls/{host}.pem"), "--key", str(RUN / f"tls/{host}.key"),
                "--ready", str(RUN / f"{name}.ready"), *extra,
            ))
        portal("internet", "inet", networks.PROBE)
        for name, network in (("hotel_portal", networks.HOTEL), ("wispr_portal", networks.TRAIN)):
            portal(name, "ap", network.portal, "--port", str(PORTS[network.key]), "--faults", str(RUN / "faults" / network.key))

    def setFault(self, network: Network, fault: str) -> None:
        (RUN / "faults" / network.key).write_text(fault)

    def startOpenNDS(self) -> None:
        """A real portal, in a mount namespace of its own: it writes to /etc and /tmp and expects its scripts in /usr/lib."""
        home = RUN / "opennds"
        shims = home / "bin"
        shims.mkdir(parents=True)
        for package, program in (("opennds-daemon", "opennds"), ("opennds-daemon", "ndsctl")):
            shutil.copy(packages.unpacked(package) / "usr/bin" / program, shims / program)
        for name in ("iptables", "ip6tables"):
            # Debian's default back end refuses the chains that it makes.
            (shims / name).symlink_to(packages.requireProgram(f"{name}-legacy", "iptables"))
        # What its scripts call and must not find, or need not wait for, in here.
        # (With iw it would look through every radio, and ping its client once for each.)
        absent = {"systemctl": "exit 0", "logger": "cat >/dev/null", "uci": "exit 1", "ping": "exit 0", "iw": "exit 0"}
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
        (pathlib.Path("/var/lib/misc") / self.leaseName(network)).touch()
        pathlib.Path("/run/tmpfiles.d").mkdir(exist_ok=True)
        scripts = self.openNDSScripts(home)
        library = packages.unpacked("libmicrohttpd12") / "usr/lib"
        pages = packages.unpacked("opennds") / "etc/opennds"
        script = home / "start"
        script.write_text(f"""set -e
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
touch /etc/dnsmasq.conf
mount -t tmpfs private /tmp
export PATH={shims}:/usr/sbin:/usr/bin:/sbin:/bin
exec {shims}/opennds -f -c /etc/opennds/opennds.conf
""")
        self.start("opennds", self.command("ap", "unshare", "--mount", "sh", str(script)))

    def openNDSScripts(self, home: pathlib.Path) -> pathlib.Path:
        """Its pages come from shell scripts that start hundreds of small programs, as routers do in one static program.
        With that program as their shell, as upstream has it, the virtual laptop spends seconds on a page instead of ten."""
        scripts = packages.unpacked("opennds-daemon-common") / "usr/lib"
        busybox = shutil.which("busybox")
        if not busybox:
            return scripts
        (home / "bin/sh").symlink_to(busybox)
        # The static program has its own ip and pgrep, which print something else; what need not be waited for is left out.
        keep = f"""ip() {{ {packages.requireProgram("ip", "iproute2")} "$@"; }}
pgrep() {{ {packages.requireProgram("pgrep", "procps")} "$@"; }}
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

    def portalsReady(self) -> bool:
        for name in ("opennds", "hotel_portal", "wispr_portal", "internet", *(f"names-{n.key}" for n in networks.ALL)):
            if self.processes[name].poll() is not None:
                raise Trouble(f"{name} ended too early; see {self.logs / name}.log: " + self.lastWords(name))
        if not all((RUN / f"{name}.ready").exists() for name in ("hotel_portal", "wispr_portal", "internet")):
            return False
        # It listens seconds before its firewall is ready.
        return "openNDS is now running" in (self.logs / "opennds.log").read_text(errors="replace")

    def lastWords(self, name: str) -> str:
        return (self.logs / f"{name}.log").read_text(errors="replace").strip()[-300:]

    # MARK: The client

    @property
    def interface(self) -> str:
        return networks.RADIO if self.mode == "radio" else networks.WIRE

    def associate(self, network: Network) -> float:
        """Joins the link alone; returns the moment of the connect event (time.time())."""
        self.joined = network
        if self.mode == "veth":
            self.plug(network)
            waitFor(self.hasCarrier, 5, "carrier")
            return time.time()
        self.events.request(f"SELECT_NETWORK {networks.ALL.index(network)}")
        self.events.waitFor("CTRL-EVENT-CONNECTED", 30)
        return time.time()

    def lease(self) -> float:
        """Asks for an address and returns the moment when it is there."""
        link = self.interface
        self.inside(
            "cli", "dhclient", "-4", "-1", "-cf", str(RUN / "dhclient.conf"), "-lf", self.leaseFile,
            "-pf", str(RUN / f"dhclient-{link}.pid"), link, timeout=40,
        )
        return time.time()

    def hasAddress(self) -> bool:
        return "inet " in run("ip", "-n", "cli", "address", "show", self.interface).stdout

    @property
    def leaseFile(self) -> str:
        return f"/var/lib/dhcp/dhclient.{self.interface}.leases"

    def join(self, network: Network) -> tuple[float, float]:
        return self.associate(network), self.lease()

    def leave(self) -> None:
        if not self.joined:
            return
        link = self.interface
        try:
            os.kill(int((RUN / f"dhclient-{link}.pid").read_text()), signal.SIGTERM)
        except (OSError, ValueError):
            pass
        if self.mode == "radio":
            self.events.request("DISCONNECT")
            self.events.waitFor("CTRL-EVENT-DISCONNECTED", 10)
        else:
            self.unplug()
        run("ip", "-n", "cli", "address", "flush", "dev", link)
        self.joined = None

    def transcript(self, portal: str | None = None) -> list[dict]:
        path = self.logs / "transcript.jsonl"
        entries = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [entry for entry in entries if portal in (None, entry["portal"])]

    def close(self) -> None:
        """Ends what we started. Nobody has to tidy up: the namespaces go with us."""
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
        for process in self.processes.values():
            process.wait()


class WPAEvents:
    """wpa_supplicant's control socket: requests on one, events on another."""

    def __init__(self, path: str):
        self.asking, self.listening = self.connect(path, "ask"), self.connect(path, "hear")
        self.listening.send(b"ATTACH")
        self.listening.recv(4096)

    def connect(self, path: str, name: str) -> socket.socket:
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        channel.bind(str(RUN / f"wpa-{name}"))
        channel.connect(path)
        channel.settimeout(15)
        return channel

    def request(self, command: str) -> str:
        # Whatever is still unread belongs to the past.
        self.listening.setblocking(False)
        try:
            while self.listening.recv(4096):
                pass
        except BlockingIOError:
            pass
        self.asking.send(command.encode())
        answer = self.asking.recv(65536).decode(errors="replace")
        if answer.startswith("FAIL"):
            raise Trouble(f"wpa_supplicant refused {command}")
        return answer

    def waitFor(self, event: str, seconds: float) -> str:
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Trouble(f"wpa_supplicant: no {event} within {seconds:g} s")
            self.listening.settimeout(left)
            try:
                message = self.listening.recv(65536).decode(errors="replace")
            except TimeoutError:
                continue
            if event in message:
                return message


class Addresses:
    """When the kernel gave the client an address: rtnetlink's RTM_NEWADDR, heard inside a namespace."""

    def __init__(self, space: str):
        self.moments: list[float] = []
        ready = threading.Event()
        threading.Thread(target=self.hear, args=(space, ready), daemon=True).start()
        if not ready.wait(10):
            raise Trouble("no rtnetlink in the client's namespace")

    def hear(self, space: str, ready: threading.Event) -> None:
        # A network namespace belongs to the thread: the rest of us stays where it is.
        with open(f"/run/netns/{space}") as place:
            if ctypes.CDLL(None, use_errno=True).setns(place.fileno(), 0x40000000) != 0:
                return
        channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        # RTMGRP_IPV4_IFADDR
        channel.bind((0, 0x10))
        ready.set()
        while message := channel.recv(65536):
            if int.from_bytes(message[4:6], sys.byteorder) == 20:
                self.moments.append(time.time())

    def latest(self) -> float:
        return self.moments[-1]
