"""What the laptop is in: a café behind a cable, a VPN as wg-quick(8) sets it up, and a resolver with DNS over TLS."""

import ctypes
import fcntl
import http.server
import os
import pathlib
import socket
import struct
import subprocess
import threading
import time

PROBE = "probe.example"
GATEWAY, LAPTOP = "192.0.2.1", "192.0.2.2"
# Of the VPN: the laptop's address, and wg-quick's mark and table.
TUNNEL, MARK = "10.66.0.2", "51820"
# The stub of an encrypted resolver.
STUB = "127.0.0.53"


def run(*words: str, check: bool = True) -> str:
    done = subprocess.run(words, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stdout[-500:]}{done.stderr[-800:]}")
    return done.stdout


def waitFor(condition, seconds: float = 40) -> bool:
    for _ in range(int(seconds / 0.1)):
        if condition():
            return True
        time.sleep(0.1)
    return False


def nmcli(field: str) -> str: return run("nmcli", "-t", "-f", field, "general", check=False).strip()


class Portal(http.server.BaseHTTPRequestHandler):
    """A page with a button; whoever pressed it gets the probe's 204."""

    protocol_version = "HTTP/1.1"
    isOpen = False
    logins = 0
    # What NetworkManager finds when the button is pressed.
    wordBefore = ""

    def log_message(self, *_) -> None: pass

    def answer(self, status: int, text: str = "", **headers: str) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        if self.path == "/welcome":
            form = '<form method="post" action="/login"><button>Connect</button></form>'
            return self.answer(200, f"<html><title>Wi-Fi</title><p>Welcome.</p>{form}</html>", **{"Content-Type": "text/html"})
        if Portal.isOpen and self.path == "/nm":
            return self.answer(200, "NetworkManager is online\n")
        if Portal.isOpen:
            return self.answer(204)
        self.answer(302, Location=f"http://{GATEWAY}/welcome")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        Portal.wordBefore = run("nmcli", "networking", "connectivity", "check").strip()
        Portal.isOpen, Portal.logins = True, Portal.logins + 1
        self.answer(303, Location=f"http://{GATEWAY}/generate_204")


def cable() -> None:
    """The portal and a DHCP server are at the other end of a cable; a socket belongs to the namespace that it was made in."""
    run("ip", "link", "set", "lo", "up")
    run("ip", "netns", "add", "gateway")
    run("ip", "link", "add", "cable0", "type", "veth", "peer", "name", "cable1", "netns", "gateway")
    run("ip", "-n", "gateway", "addr", "add", f"{GATEWAY}/24", "dev", "cable1")
    run("ip", "-n", "gateway", "link", "set", "cable1", "up")
    subprocess.Popen(["ip", "netns", "exec", "gateway", "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--interface=cable1",
                      f"--address=/#/{GATEWAY}", f"--dhcp-range={LAPTOP},192.0.2.9,1h", f"--dhcp-option=option:router,{GATEWAY}",
                      # NetworkManager drops it, even where it is sent unasked.
                      "--dhcp-option-force=114,https://portal.example/api",
                      "--dhcp-leasefile=/run/package/leases", "--dhcp-authoritative", "--user=root"])
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    libc = ctypes.CDLL(None, use_errno=True)
    there = os.open("/run/netns/gateway", os.O_RDONLY)
    if libc.setns(there, 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    server = http.server.ThreadingHTTPServer((GATEWAY, 80), Portal)
    if libc.setns(home, 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    threading.Thread(target=server.serve_forever, daemon=True).start()


# As wg-quick(8) makes them.
VPN = f"""
ip address add {TUNNEL}/32 dev wg0
ip link set wg0 up arp off
ip route add default dev wg0 table {MARK}
ip rule add not fwmark {MARK} table {MARK}
ip rule add table main suppress_prefixlength 0
sysctl -qw net.ipv4.conf.all.src_valid_mark=1
nft -f - <<'END'
table ip wg-quick-wg0 {{
 chain preraw {{ type filter hook prerouting priority raw; iifname != "wg0" ip daddr {TUNNEL} fib saddr type != local drop; }}
 chain premangle {{ type filter hook prerouting priority mangle; meta l4proto udp meta mark set ct mark; }}
 chain postmangle {{ type filter hook postrouting priority mangle; meta l4proto udp meta mark {MARK} ct mark set meta mark; }}
}}
END
"""


def startVPN() -> None:
    """A tunnel that takes all traffic; without WireGuard in the kernel a tun device, whose other end answers nothing."""
    if subprocess.run(["ip", "link", "add", "wg0", "type", "wireguard"], capture_output=True).returncode != 0:
        tunnel = os.open("/dev/net/tun", os.O_RDWR)
        # TUNSETIFF, IFF_TUN | IFF_NO_PI: it has its carrier as long as this process lives.
        fcntl.ioctl(tunnel, 0x400454CA, struct.pack("16sH22x", b"wg0", 0x1001))
    run("sh", "-ec", VPN)


def vpn() -> set[str]:
    """The links, rules, routes and firewall of this machine, but for the cable's own."""
    words = [("ip", "-o", "link"), ("ip", "-o", "address"), ("ip", "rule"), ("ip", "-6", "rule"), ("ip", "route", "show", "table", "all"),
             ("ip", "-6", "route", "show", "table", "all"), ("nft", "list", "ruleset"),
             ("sysctl", "net.ipv4.conf.all.src_valid_mark", "net.ipv4.conf.all.rp_filter"), ("cat", "/etc/resolv.conf")]
    return {f"{' '.join(one)}: {line}" for one in words for line in run(*one).splitlines() if "cable0" not in line}


def encryptedNames() -> None:
    """Answers as a resolver with DNS over TLS does behind a portal: with no name before the login, then with the one server for each."""
    stub = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    stub.bind((STUB, 53))
    pathlib.Path("/etc/resolv.conf").write_text(f"nameserver {STUB}\n")

    def serve() -> None:
        while True:
            query, client = stub.recvfrom(4096)
            end = query.index(0, 12) + 5
            isAddress = Portal.isOpen and query[end - 4:end - 2] == b"\0\1"
            # SERVFAIL, or no error.
            header = query[:2] + bytes((0x81, 0x80 if Portal.isOpen else 0x82, 0, 1, 0, isAddress, 0, 0, 0, 0))
            record = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton(GATEWAY) if isAddress else b""
            stub.sendto(header + query[12:end] + record, client)

    threading.Thread(target=serve, daemon=True).start()
