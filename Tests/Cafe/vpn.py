"""A VPN is up: its routes, rules and firewall as each program makes them, and the café's portal behind the cable.

Where the login can go through, it does; where a rule forbids it, the rule and the smallest exception are named, and the
exception is tried. In neither case has anything of the VPN changed.
"""

import argparse
import dataclasses
import pathlib
import re
import signal
import subprocess

import networks
import smoke
from basics import Trouble, run
from daemon import Daemon, Monitor
from fabric import Fabric
from networks import AROMA, HOTEL, Network
from report import Report
from station import fetched

LINK = networks.WIRE
TUNNEL = "10.66.0.2"
# The VPN's server, which has to be reached past the tunnel.
SERVER = "203.0.113.99"
# wg-quick's mark and table, Tailscale's table, Mullvad's mark.
MARK, TABLE, MULLVAD = "51820", "52", "0x6d6f6c65"


def device(kind: str, name: str = "wg0", address: str = f"{TUNNEL}/32") -> list[str]:
    """A tunnel whose other end answers nothing, as before a login; a kernel without this kind of device gets a cable."""
    return [
        f"ip link add {name} type {kind} 2>/dev/null || ip link add {name} type veth peer name far netns inet",
        f"ip address add {address} dev {name}", f"ip link set {name} up arp off",
    ]


def nft(text: str) -> str:
    return f"nft -f - <<'END'\n{text}\nEND"


WIREGUARD = device("wireguard")
# wg-quick(8): policy routing by mark; packets for the tunnel's address come through the tunnel alone.
WG_QUICK = WIREGUARD + [
    f"ip route add default dev wg0 table {MARK}", f"ip rule add not fwmark {MARK} table {MARK}",
    "ip rule add table main suppress_prefixlength 0", "sysctl -qw net.ipv4.conf.all.src_valid_mark=1",
    nft(f"""table ip wg-quick-wg0 {{
 chain preraw {{ type filter hook prerouting priority raw; iifname != "wg0" ip daddr {TUNNEL} fib saddr type != local drop; }}
 chain premangle {{ type filter hook prerouting priority mangle; meta l4proto udp meta mark set ct mark; }}
 chain postmangle {{ type filter hook postrouting priority mangle; meta l4proto udp meta mark {MARK} ct mark set meta mark; }}
}}"""),
]
NETWORK_MANAGER = WIREGUARD + [
    "ip route add default dev wg0 table 52144", "ip rule add priority 31765 not fwmark 52144 table 52144",
    "ip rule add priority 31764 table main suppress_prefixlength 0",
]
OPENVPN = [
    "ip tuntap add dev tun0 mode tun", f"ip address add {TUNNEL}/32 dev tun0", "ip link set tun0 up",
    f"ip route add {SERVER}/32 via {AROMA.gateway}", "ip route add 0.0.0.0/1 dev tun0", "ip route add 128.0.0.0/1 dev tun0",
]
TAILSCALE = WIREGUARD + [
    f"ip route add default dev wg0 table {TABLE}", "ip rule add priority 5210 fwmark 0x80000/0xff0000 table main",
    "ip rule add priority 5230 fwmark 0x80000/0xff0000 table default",
    "ip rule add priority 5250 fwmark 0x80000/0xff0000 type unreachable", f"ip rule add priority 5270 table {TABLE}",
]
PROTON = device("dummy", "pvpnksintrf0", "100.85.0.1/24") + ["ip route add default dev pvpnksintrf0 metric 98"]
MULLVAD_RULES = WIREGUARD + [
    f"ip route add default dev wg0 table {MULLVAD}", f"ip rule add not fwmark {MULLVAD} table {MULLVAD}",
    "ip rule add table main suppress_prefixlength 0", "sysctl -qw net.ipv4.conf.all.src_valid_mark=1",
    nft(f"""table inet mullvad {{
 chain input {{
  type filter hook input priority filter; policy drop;
  iif lo accept
  ct mark 0xf41 accept
  udp sport 67 udp dport 68 accept
  iifname "wg0" accept
 }}
 chain output {{
  type filter hook output priority filter; policy drop;
  oif lo accept
  ct mark 0xf41 accept
  udp sport 68 udp dport 67 accept
  ip daddr {SERVER} meta mark {MULLVAD} accept
  oifname "wg0" accept
  meta l4proto udp udp dport 53 reject
  meta l4proto tcp tcp dport 53 reject with tcp reset
  reject
 }}
}}"""),
]


def killSwitch(*accepted: str) -> str:
    rules = "\n".join(("oif lo accept", f"ip daddr {SERVER} accept", *accepted))
    return nft(f"table inet killswitch {{\n chain out {{\n type filter hook output priority filter; policy drop;\n{rules}\n }}\n}}")


STRICT = f"sysctl -qw net.ipv4.conf.{LINK}.rp_filter=1"
STRICT_FOR_ALL = "sysctl -qw net.ipv4.conf.all.rp_filter=1"
# The DHCP client leaves the file alone, as where resolved owns it; its stub answers nothing.
RESOLVED = "echo nameserver 127.0.0.53 >/etc/resolv.conf"
OUTSIDE = "packets that do not go through wg0"


@dataclasses.dataclass
class Shape:
    key: str
    name: str
    commands: list[str]
    # What the sentence must hold where the login cannot go through; without it the login does.
    told: str | None = None
    network: Network = AROMA
    fault: str = ""


SHAPES = [
    Shape("none", "no VPN", []),
    Shape("strictAlone", "no VPN, strict reverse-path filter", [STRICT]),
    Shape("openvpn", "OpenVPN, redirect-gateway def1, on a tun device", OPENVPN),
    Shape("wgQuick", "WireGuard by wg-quick", WG_QUICK),
    Shape("networkManager", "WireGuard by NetworkManager", NETWORK_MANAGER),
    Shape("tailscale", "Tailscale with an exit node", TAILSCALE),
    Shape("proton", "Proton's kill switch by a dummy link", PROTON),
    Shape("resolved", "wg-quick, and resolved answers nothing (DNS over TLS)", [*WG_QUICK, RESOLVED]),
    Shape("loose", "wg-quick, strict for all links, loose for this one",
          [*WG_QUICK, STRICT_FOR_ALL, f"sysctl -qw net.ipv4.conf.{LINK}.rp_filter=2"]),
    Shape("strict", "wg-quick, strict reverse-path filter", [*WG_QUICK, STRICT], f"reverse-path filter of {LINK} .*through wg0"),
    Shape("strictDef1", "OpenVPN def1, strict for all links", [*OPENVPN, STRICT_FOR_ALL], f"reverse-path filter of {LINK} .*through tun0"),
    Shape("mullvad", "Mullvad", MULLVAD_RULES, f"refuses {OUTSIDE}.*chain inet mullvad output"),
    Shape("killSwitch", "kill switch by policy drop, wg-quick", [*WG_QUICK, killSwitch('oifname "wg0" accept')],
          f"refuses {OUTSIDE}.*chain inet killswitch out"),
    Shape("names", "the same, but names pass", [*WG_QUICK, killSwitch('oifname "wg0" accept', "udp dport 53 accept")],
          f"refuses {OUTSIDE}.*chain inet killswitch out"),
    Shape("rejects", "the same, and the rest is rejected", [*WG_QUICK, killSwitch('oifname "wg0" accept', "udp dport 53 accept", "reject")],
          f"refuses {OUTSIDE}.*chain inet killswitch out"),
    Shape("lockdown", "kill switch by policy drop, and the VPN is down", [killSwitch()],
          f"refuses packets of the probe on {LINK}.*chain inet killswitch out"),
    # Nothing here is at fault but the network: no rule of this computer is blamed.
    Shape("dead", "wg-quick, in a network where nothing answers", WG_QUICK, "there is no portal|nor a portal can be found", HOTEL, "hang"),
]


class VPN:
    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report, self.options = fabric, report, options
        self.rows: list[str] = []

    def run(self) -> None:
        self.fabric.waitUntilOpen()
        # As NetworkManager's routes for Wi-Fi; Proton's has a lower one.
        self.fabric.client.metric = 600
        self.fabric.leases.leaveResolversAlone()
        self.daemon = Daemon(self.fabric, pathlib.Path(self.options.bin), "\n[Commands]\nTimeoutSec=12\n")
        self.daemon.start()
        self.monitor = Monitor(self.daemon)
        for shape in SHAPES:
            self.report.heading(shape.name)
            before = self.rules()
            try:
                self.visit(shape)
            except (Trouble, subprocess.SubprocessError, OSError) as trouble:
                self.report.check(f"vpn.{shape.key}.done", False, str(trouble))
                self.daemon.keepTraces()
            finally:
                self.takeDown(shape, before)
        self.table()
        self.monitor.stop()
        self.report.check("daemon.ends", self.daemon.stop() == 0)

    def visit(self, shape: Shape) -> None:
        self.fabric.setFault(HOTEL, shape.fault)
        mark = self.monitor.mark()
        # The daemon stands still until the VPN is up: so what it changes is told from what the lease changes.
        self.daemon.process.send_signal(signal.SIGSTOP)
        try:
            self.fabric.join(shape.network)
            for command in shape.commands:
                self.fabric.inside("cli", "sh", "-c", command)
            before = self.rules()
        finally:
            self.daemon.process.send_signal(signal.SIGCONT)
        # openNDS answers 403 until it finds the client's lease, which dnsmasq may be writing; the daemon looks again within seconds.
        isEnd = (lambda event: event.get("helper") == "catalogue") if shape.told is None else (lambda event: True)
        self.monitor.waitFor({"authenticated", "failure", "presentingUI"}, mark, 40, isEnd)
        isOnline = self.isOnline()
        problems = self.daemon.status().get("problems", [])
        touched = sorted(self.rules() ^ before)
        self.report.check(f"vpn.{shape.key}.untouched", not touched, str(touched))
        said = "; ".join(problem["message"] + f" `{problem.get('hint', '')}`" for problem in problems) or "online via Portal file"
        self.report.say(said)
        self.report.check(f"vpn.{shape.key}.online", isOnline == (shape.told is None), str(self.daemon.status()))
        right, telling = self.isRight(shape, problems)
        self.report.check(f"vpn.{shape.key}.said", right, f"{problems}\n{telling}")
        after = ""
        if [problem["code"] for problem in problems] == ["vpnBlocksProbe"]:
            after = self.makeException(shape, problems[0]["hint"])
        word = "yes" if isOnline else f"no{after}"
        self.rows.append(f"| {shape.name} | {word} | {'yes' if touched else 'no'} | {said} |")

    def isOnline(self) -> bool:
        status = self.daemon.status()
        proven = (status.get("state"), status.get("helper")) == ("authenticated", "catalogue")
        return proven and "Internet side" in fetched(self.fabric.client, networks.PAGE_URL)

    def isRight(self, shape: Shape, problems: list[dict]) -> tuple[bool, str]:
        """Whether the problem is the right one, and nothing else is blamed, wherever a user looks; and what a user sees there."""
        if shape.told is None:
            return not problems, ""
        code = "internetLimited" if shape.fault else "vpnBlocksProbe"
        telling = self.daemon.ctl("explain").stdout + self.daemon.ctl("check", "--verbose").stdout
        self.report.say(telling)
        right = [problem["code"] for problem in problems] == [code] and re.search(shape.told, problems[0]["message"])
        blamed = "nameserver" in telling or (code == "vpnBlocksProbe" and problems[0]["message"] not in telling)
        return bool(right) and not blamed, telling

    def makeException(self, shape: Shape, command: str) -> str:
        """Does what the problem says, and logs in."""
        self.fabric.inside("cli", "sh", "-c", command)
        mark = self.monitor.mark()
        self.daemon.ctl("login", "--fresh")
        self.monitor.waitFor({"authenticated"}, mark, 40, lambda event: event.get("helper") == "catalogue")
        right = self.isOnline() and not self.daemon.problems()
        self.report.check(f"vpn.{shape.key}.exception", right, f"{command}: {self.daemon.status()}")
        return "; with the exception yes" if right else ""

    def rules(self) -> set[str]:
        """All that a VPN sets up in the laptop, line by line."""
        words = [
            ("ip", "link"), ("ip", "rule"), ("ip", "-6", "rule"), ("ip", "-4", "route", "show", "table", "all"),
            ("ip", "-6", "route", "show", "default", "table", "all"), ("nft", "list", "ruleset"),
            ("sysctl", "-a", "-r", r"^net\.ipv[46]\.(conf\..*\.(rp_filter|src_valid_mark|forwarding|accept_ra)|ip_forward)$"),
            ("cat", "/etc/resolv.conf"),
        ]
        return {f"{' '.join(one)}: {line}" for one in words for line in self.fabric.inside("cli", *one).stdout.splitlines()}

    def takeDown(self, shape: Shape, before: set[str]) -> None:
        """Leaves the network as it was before: the portal has forgotten the laptop, and the laptop the VPN."""
        run("ip", "netns", "exec", "cli", "nft", "flush", "ruleset")
        for name in ("wg0", "tun0", "pvpnksintrf0"):
            run("ip", "-n", "cli", "link", "del", name, check=False)
        run("ip", "-n", "cli", "rule", "flush")
        for table in ("main", "default"):
            run("ip", "-n", "cli", "rule", "add", "priority", "32766" if table == "main" else "32767", "table", table)
        for key in (f"conf.{LINK}.rp_filter", "conf.all.rp_filter", "conf.all.src_valid_mark"):
            self.fabric.inside("cli", "sysctl", "-qw", f"net.ipv4.{key}=0")
        pathlib.Path("/etc/resolv.conf").write_text("")
        self.fabric.setFault(HOTEL, "")
        smoke.logOff(self.fabric, shape.network)
        if self.fabric.joined:
            self.monitor.leave()
        self.daemon.ctl("forget", f"wired:{shape.network.hardware}")
        left = {line for line in self.rules() - before if not line.startswith("ip link")}
        self.report.check(f"vpn.{shape.key}.takenDown", not left, str(left))

    def table(self) -> None:
        self.report.heading("The VPNs")
        lines = ["| Setup | Login goes through | Touched | What is said |", "|---|---|---|---|", *self.rows]
        self.report.say("\n".join(lines))
        (self.fabric.logs / "vpn.md").write_text("\n".join(lines) + "\n")
