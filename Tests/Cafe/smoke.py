"""Proves the café without our programs: every portal is closed, opens by hand, and closes again."""

import argparse
import pathlib
import re
import subprocess

import networks
from basics import HERE, RUN
from fabric import Fabric
from networks import Network
from report import Report

ANSWERS = {
    "aroma": ([], ""),
    "hotel": ([str(RUN / "jar")], "214 Brandt\n"),
    "train": (["rider@trainnet.example"], "tunnel-vision\n"),
}


def curl(fabric: Fabric, *words: str) -> str:
    return fabric.inside("cli", "curl", "-sS", "-m", str(10 * fabric.patience), "-A", "Mozilla/5.0", *words, check=False).stdout


def status(fabric: Fabric, url: str) -> str:
    return curl(fabric, "-o", "/dev/null", "-w", "%{http_code}", url)


def byHand(fabric: Fabric, network: Network, answers: str | None = None) -> str:
    """The hand-written script; its last line is the status of the proof."""
    words, given = ANSWERS[network.key]
    done = subprocess.run(
        fabric.command("cli", "env", f"ANSWER={RUN}/answer", str(HERE / f"by-hand/{network.key}.sh"), networks.PROBE_URL, *words),
        input=given if answers is None else answers, capture_output=True, text=True, timeout=60 * fabric.patience,
    )
    return (done.stdout + done.stderr).strip()


def logOff(fabric: Fabric, network: Network) -> None:
    if network is networks.AROMA:
        curl(fabric, f"http://{network.gateway}:2050/opennds_deny/")
    elif network is networks.HOTEL:
        curl(fabric, f"https://{network.portal}/logout")
    else:
        found = re.search(r'href="(/wispr/logoff[^"]*)"', curl(fabric, f"https://{network.portal}/portal"))
        if found:
            curl(fabric, f"https://{network.portal}{found.group(1)}")


def isClosed(fabric: Fabric) -> bool:
    return status(fabric, networks.PROBE_URL) != "204" and status(fabric, networks.PROBE_HTTPS_URL) != "204"


def isOpen(fabric: Fabric) -> bool:
    return (
        status(fabric, networks.PROBE_URL) == "204"
        and status(fabric, networks.PROBE_HTTPS_URL) == "204"
        and "Internet side" in curl(fabric, networks.PAGE_URL)
    )


class Smoke:
    def __init__(self, fabric: Fabric, report: Report, options: argparse.Namespace):
        self.fabric, self.report = fabric, report

    def run(self) -> None:
        smoke(self.fabric, self.report)


def smoke(fabric: Fabric, report: Report) -> None:
    if fabric.mode == "radio":
        report.heading("The list")
        seen = fabric.scan().stdout
        for line in re.findall(r"signal: .*|SSID: .*|RSN:", seen):
            report.say(line)
        for network in networks.ALL:
            report.check(f"{network.ssid} is in the list", network.ssid in seen)
    fabric.waitUntilOpen()
    for network in (networks.AROMA, networks.HOTEL, networks.TRAIN):
        report.heading(network.ssid)
        connected, addressed = fabric.join(network)
        report.say(f"address {addressed - connected:.2f} s after the connect event")
        announced = fabric.leases.announced(fabric.client)
        if network is not networks.TRAIN:
            report.check(f"{network.key}: DHCP announces the portal's API", bool(announced))
            report.say(f"option 114: {announced}")
        report.check(f"{network.key}: closed at first", isClosed(fabric))
        if network is networks.HOTEL:
            wrong = byHand(fabric, network, "214 Nobody\n")
            report.check("hotel: a wrong answer opens nothing", wrong != "204" and isClosed(fabric))
            page = pathlib.Path(RUN / "answer").read_text()
            report.check("hotel: and says why", "do not match" in page, page)
        if network is networks.TRAIN:
            wrong = byHand(fabric, network, "wrong\n")
            report.check("train: a wrong password opens nothing", wrong != "204" and isClosed(fabric))
            page = pathlib.Path(RUN / "answer").read_text()
            report.check("train: and the reply is 100", "<ResponseCode>100<" in page, page)
        result = byHand(fabric, network)
        report.check(f"{network.key}: the login by hand gets the proof", result == "204", result)
        report.check(f"{network.key}: open", isOpen(fabric))
        if network is networks.HOTEL:
            document = curl(fabric, "-H", "Accept: application/captive+json", f"https://{network.portal}/captive-portal/api")
            counts = '"captive": false' in document and "seconds-remaining" in document
            report.check("hotel: the API counts the time", counts, document)
        logOff(fabric, network)
        report.check(f"{network.key}: closed after the logoff", isClosed(fabric))
        fabric.leave()
    report.heading(networks.FREE.ssid)
    fabric.join(networks.FREE)
    report.check("free: open without a portal", isOpen(fabric))
    fabric.leave()
    told = (fabric.logs / "transcript.jsonl").read_text()
    report.check("no secret in the transcript", "tunnel-vision" not in told and "Brandt" not in told)
