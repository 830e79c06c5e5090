"""Figures: how long from the connect event to online, beside a script written by hand; what the idle daemon costs."""

import json
import pathlib
import socket
import statistics
import subprocess
import sys
import threading
import time

import networks
import smoke
from daemon import Daemon, Monitor, moment
from basics import HERE, PYTHON, RUN, Trouble
from fabric import Fabric
from networks import AROMA, TRAIN, Network
from report import Report

ROUNDS = 3
# What a visit looks like that nothing disturbed; another is not counted, and made again in a further round.
PATHS = {
    "click-through": ["evaluating", "authenticating", "authenticated"],
    "WISPr, stored account": ["maintaining", "authenticating", "authenticated"],
    "return visit": ["maintaining", "authenticated"],
}


class Figures:
    def __init__(self, fabric: Fabric, report: Report, daemon: Daemon, idleSeconds: float):
        self.fabric, self.report, self.daemon, self.idleSeconds = fabric, report, daemon, idleSeconds
        # (case, program, delay) to seconds, each (from connect, from address), and to the waves of requests.
        self.times: dict[tuple[str, str, int], list[tuple[float, float]]] = {}
        self.waves: dict[tuple[str, str, int], list[int]] = {}
        self.idle: dict[str, float | int | str | None] = {}
        self.mappings: dict[str, tuple[int, int]] = {}

    def run(self) -> None:
        delays = [0, 50] if self.canDelay() else [0]
        for network in (AROMA, TRAIN):
            self.fabric.join(network)
            smoke.logOff(self.fabric, network)
            self.fabric.leave()
        self.daemon.start(watchdogSeconds=30)
        self.measureIdle()
        self.daemon.stop()
        for delay in delays:
            self.fabric.setDelay(delay)
            for number in range(2 * ROUNDS):
                # In turns, so that a busy host is equally unfair to both.
                if number < ROUNDS or not self.isComplete([delay]):
                    self.round(delay)
        self.fabric.setDelay(0)
        counts = {" ".join(map(str, key)): len(values) for key, values in self.times.items()}
        self.report.check("figures.complete", self.isComplete(delays), str(counts))
        self.tell(delays)

    def isComplete(self, delays: list[int]) -> bool:
        keys = [(case, program, delay) for case in PATHS for program in ("hotspotd", "curl") for delay in delays]
        return all(len(self.times.get(key, [])) >= ROUNDS for key in keys)

    def round(self, delay: int) -> None:
        for network in (AROMA, TRAIN):
            self.attempt(lambda: self.byHand(network, delay), f"{network.ssid} by hand, {delay} ms")
        self.daemon.start()
        self.monitor = Monitor(self.daemon)
        for case, network in (("click-through", AROMA), ("WISPr, stored account", TRAIN), ("return visit", AROMA)):
            self.attempt(lambda: self.byDaemon(case, network, delay), f"{case}, {delay} ms")
        # The next round starts at a closed portal.
        self.fabric.join(AROMA)
        smoke.logOff(self.fabric, AROMA)
        self.fabric.leave()
        self.monitor.stop()
        self.daemon.stop()

    def canDelay(self) -> bool:
        try:
            self.fabric.setDelay(1)
            self.fabric.setDelay(0)
            return True
        except Trouble:
            self.report.say("This kernel has no netem: only without delay.")
            return False

    def attempt(self, action, name: str) -> None:
        try:
            action()
        except (Trouble, subprocess.SubprocessError) as trouble:
            # A busy host disturbs both sides; how many were counted is checked at the end.
            self.report.say(f"not counted: {name}: {str(trouble)[:300]}")
            if self.fabric.joined:
                self.fabric.leave()

    # MARK: Logins

    def byHand(self, network: Network, delay: int) -> None:
        with Wire(self.fabric, network) as wire:
            connected, addressed = self.fabric.join(network)
            result = smoke.byHand(self.fabric, network)
            ended = time.time()
        if result != "204":
            raise Trouble(f"the script got: {result}")
        case = "click-through" if network is AROMA else "WISPr, stored account"
        self.keep((case, "curl", delay), ended - connected, ended - addressed, wire, addressed, ended, delay)
        if network is AROMA:
            # Back again: the script has only its probe to send.
            self.fabric.leave()
            with Wire(self.fabric, network) as wire:
                connected, addressed = self.fabric.join(network)
                result = smoke.status(self.fabric, networks.PROBE_URL)
                ended = time.time()
            if result != "204":
                raise Trouble(f"back again, the probe got {result}")
            self.keep(("return visit", "curl", delay), ended - connected, ended - addressed, wire, addressed, ended, delay)
        smoke.logOff(self.fabric, network)
        self.fabric.leave()

    def byDaemon(self, case: str, network: Network, delay: int) -> None:
        if case == "click-through":
            # A first visit: nothing is remembered.
            name = network.ssid if self.fabric.mode == "radio" else f"wired:{network.hardware}"
            self.daemon.ctl("forget", name)
        if case == "return visit":
            # The portal still knows us.
            self.openBefore(network)
        mark = self.monitor.mark()
        with Wire(self.fabric, network) as wire:
            connected, _ = self.fabric.join(network)
            # A login that failed, or a network that opened without a helper, is not measured.
            event = self.monitor.waitFor({"authenticated", "failure", "presentingUI"}, mark, 90)
        path = [event["to"] for event in self.monitor.transitions(mark)]
        if path != PATHS[case]:
            smoke.logOff(self.fabric, network)
            raise Trouble(f"a detour: {' → '.join(path)}")
        # The script above can only start when the DHCP client is done; the daemon starts with the address, which is a little sooner.
        addressed, ended = self.fabric.addresses.latest(), moment(event)
        self.keep((case, "hotspotd", delay), ended - connected, ended - addressed, wire, addressed, ended, delay)
        if case != "return visit":
            smoke.logOff(self.fabric, network)
        self.leave()

    def openBefore(self, network: Network, meanwhile=lambda: None) -> None:
        """A visit that ends with the network open."""
        mark = self.monitor.mark()
        self.fabric.join(network)
        self.monitor.waitFor({"authenticated"}, mark, 90)
        meanwhile()
        self.leave()

    def leave(self) -> None:
        mark = self.monitor.mark()
        self.fabric.leave()
        self.monitor.waitFor({"inactive"}, mark, 15 * self.fabric.patience)

    def keep(self, key, sinceConnect: float, sinceAddress: float, wire: "Wire", began: float, ended: float, delay: int) -> None:
        self.times.setdefault(key, []).append((sinceConnect, sinceAddress))
        if delay:
            self.waves.setdefault(key, []).append(wire.waves(began, ended, delay / 1000))

    # MARK: Rest

    def measureIdle(self) -> None:
        """The daemon without an association, and with one whose login is done. Its first seconds belong to its start, and to the login."""
        # The process that we started became hotspotd by exec, so its PID is the daemon's.
        process = pathlib.Path(f"/proc/{self.daemon.process.pid}")
        time.sleep(min(12, self.idleSeconds))
        pings, rest = self.pings(), self.rest(process)
        self.idle = {
            "seconds": self.idleSeconds, "pssKiB": self.daemon.pss(), "threads": len(list((process / "task").iterdir())),
            "watchdogPings": self.pings() - pings, "rest": rest,
        }
        self.mappings = self.mapped(process)
        self.monitor = Monitor(self.daemon)
        self.openBefore(AROMA, self.measureAssociated)
        self.monitor.stop()
        for program in ("hotspotd", "hotspotctl", "hotspot-helpers"):
            self.idle[f"{program} bytes"] = (self.daemon.programs / program).stat().st_size
            self.idle[f"{program} bytes, stripped"] = self.stripped(self.daemon.programs / program)

    def rest(self, process: pathlib.Path) -> tuple[int, float]:
        """How often the daemon wakes up without the watchdog's pings, and its milliseconds of processor time with them."""
        (sleeps, spent), pings = self.sleeps(process), self.pings()
        time.sleep(self.idleSeconds)
        sleepsNow, spentNow = self.sleeps(process)
        return max(0, sleepsNow - sleeps - self.pings() + pings), (spentNow - spent) / 1e6

    def mapped(self, process: pathlib.Path) -> dict[str, tuple[int, int]]:
        """KiB of each mapped file, and of memory without one: proportional, and anonymous (smaps, proc(5))."""
        sizes: dict[str, tuple[int, int]] = {}
        name = ""
        for words in map(str.split, (process / "smaps").read_text().splitlines()):
            if not words[0].endswith(":"):
                name = pathlib.Path(words[5]).name if len(words) > 5 else "no file"
            elif words[0] in ("Pss:", "Anonymous:"):
                proportional, anonymous = sizes.get(name, (0, 0))
                own = words[0] == "Anonymous:"
                sizes[name] = (proportional + (0 if own else int(words[1])), anonymous + (int(words[1]) if own else 0))
        return sizes

    def measureAssociated(self) -> None:
        # The last packets of the login are this long ago when the kernel calls the gateway unused, and the store is tidied.
        time.sleep(min(75, 2 * self.idleSeconds))
        self.idle["restOnline"] = self.rest(pathlib.Path(f"/proc/{self.daemon.process.pid}"))
        smoke.logOff(self.fabric, AROMA)

    def stripped(self, program: pathlib.Path) -> int | None:
        """The size without symbols; nothing where there is no strip."""
        copy = RUN / "stripped"
        done = subprocess.run(["sh", "-c", 'strip -o "$1" "$2"', "-", str(copy), str(program)], capture_output=True)
        return copy.stat().st_size if done.returncode == 0 else None

    def sleeps(self, process: pathlib.Path) -> tuple[int, int]:
        """How often all threads slept by now, each time to wake up once; and the nanoseconds that they ran."""
        number, spent = 0, 0
        for task in process.glob("task/*"):
            words = (task / "status").read_text().split()
            number += int(words[words.index("voluntary_ctxt_switches:") + 1])
            spent += int((task / "schedstat").read_text().split()[0])
        return number, spent

    def pings(self) -> int:
        return sum("WATCHDOG=1" in text for text in self.daemon.notifications)

    # MARK: Telling

    def tell(self, delays: list[int]) -> None:
        def median(key, part: int) -> float | None:
            values = [value[part] for value in self.times.get(key, [])]
            return statistics.median(values) if values else None

        def cell(value, form: str) -> str:
            return "–" if value is None else format(value, form)

        date = time.strftime("%Y-%m-%d")
        lines = [
            f"Measured on {date}, {'radio' if self.fabric.mode == 'radio' else 'cable'} café, median of at least {ROUNDS}.",
            "",
            "| from CONNECT to online | round trip | hotspotd | by hand | hotspotd from its address | by hand from its start "
            "| fewest waves of requests: hotspotd | by hand |",
            "|---|---|---|---|---|---|---|---|",
        ]
        rows = []
        for case in ("click-through", "WISPr, stored account", "return visit"):
            for delay in delays:
                row: dict[str, object] = {"case": case, "delayMilliseconds": delay}
                for program in ("hotspotd", "curl"):
                    key = (case, program, delay)
                    waves = self.waves.get(key)
                    row[program] = {
                        "sinceConnect": median(key, 0), "sinceAddress": median(key, 1),
                        "waves": min(waves) if waves else None, "samples": len(self.times.get(key, [])),
                    }
                rows.append(row)
                ours, hand = row["hotspotd"], row["curl"]
                lines.append(
                    f"| {case} | {delay} ms | {cell(ours['sinceConnect'], '.2f')} s | {cell(hand['sinceConnect'], '.2f')} s "
                    f"| {cell(ours['sinceAddress'], '.2f')} s | {cell(hand['sinceAddress'], '.2f')} s "
                    f"| {cell(ours['waves'], 'd')} | {cell(hand['waves'], 'd')} |"
                )
        idle = self.idle
        lines += [
            "",
            f"| hotspotd at rest, {idle['seconds']:g} s without an association | |",
            "|---|---|",
            f"| proportional memory (Pss) | {idle['pssKiB'] / 1024:.1f} MiB |",
            f"| threads | {idle['threads']} |",
            f"| anonymous memory | {sum(own for _, own in self.mappings.values()) / 1024:.2f} MiB |",
            "| wake-ups without the watchdog's; processor time | {}; {:.1f} ms |".format(*idle["rest"]),
            "| the same, online | {}; {:.1f} ms |".format(*idle["restOnline"]),
            f"| the watchdog's pings | {idle['watchdogPings']} |",
        ]
        for program in ("hotspotd", "hotspotctl", "hotspot-helpers"):
            stripped = idle[f"{program} bytes, stripped"]
            less = f", stripped {stripped / 2**20:.1f} MiB" if stripped else ""
            lines.append(f"| size of {program} | {idle[f'{program} bytes'] / 2**20:.1f} MiB{less} |")
        lines += ["", "| hotspotd at rest, by mapping | proportional | anonymous |", "|---|---|---|"]
        for name, (proportional, own) in sorted(self.mappings.items(), key=lambda one: -one[1][0]):
            if proportional:
                lines.append(f"| {name} | {proportional} KiB | {own} KiB |")
        self.report.say("\n".join(lines))
        document = {"date": date, "mode": self.fabric.mode, "logins": rows, "idle": idle, "mappings": self.mappings}
        (self.fabric.logs / "figures.md").write_text("\n".join(lines) + "\n")
        (self.fabric.logs / "figures.json").write_text(json.dumps(document, indent=1) + "\n")
        self.report.note(figures=document)
        self.report.say(json.dumps(document))


class Wire:
    """Watches the access point's side of the link, and counts the waves of the client's requests.

    A wave is what the client sends before it can have heard the answer to the first packet of it: with a delay that is
    long beside everything else, the number of waves is the number of serial round trips; things done side by side that
    are out of step, and what is sent again, add to it, so the fewest waves of several runs are reported. Bare acknowledgements
    do not count, nor does the address from DHCP.
    """

    def __init__(self, fabric: Fabric, network: Network):
        words = [PYTHON, "-B", str(HERE / "figures.py"), network.access, network.prefix]
        self.process = subprocess.Popen(fabric.command("ap", *words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.packets: list[float] = []

    def __enter__(self) -> "Wire":
        self.process.stdout.readline()
        threading.Thread(target=self.read, daemon=True).start()
        return self

    def read(self) -> None:
        for line in self.process.stdout:
            self.packets.append(float(line))

    def __exit__(self, *_) -> None:
        # What is on its way through the pipe still belongs to us.
        time.sleep(0.1)
        self.process.kill()
        self.process.wait()

    def waves(self, began: float, ended: float, delay: float) -> int:
        count, start = 0, 0.0
        for moment in sorted(self.packets):
            if began - 0.01 <= moment <= ended + 0.01 and moment - start >= 0.9 * delay:
                count, start = count + 1, moment
        return count


def watch(link: str, prefix: str) -> None:
    """The other process: prints the time of each packet that opens a connection or carries something to us."""
    channel = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    channel.bind((link, 0x0800))
    print("ready", flush=True)
    source = socket.inet_aton(prefix + ".0")[:3]
    while True:
        packet, where = channel.recvfrom(65535)
        if where[2] == socket.PACKET_OUTGOING or len(packet) < 20 or packet[12:15] != source:
            continue
        start = (packet[0] & 15) * 4
        total = int.from_bytes(packet[2:4], "big")
        if packet[9] == 17 and int.from_bytes(packet[start + 2:start + 4], "big") != 67:
            print(time.time(), flush=True)
        elif packet[9] == 6 and len(packet) > start + 13:
            carried = total - start - (packet[start + 12] >> 4) * 4
            if packet[start + 13] & 2 or carried > 0:
                print(time.time(), flush=True)


if __name__ == "__main__":
    watch(sys.argv[1], sys.argv[2])
