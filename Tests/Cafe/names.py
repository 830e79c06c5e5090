"""Names, addresses and keys of the café: dnsmasq for each network, and an authority that only the café trusts."""

from __future__ import annotations

import pathlib
import typing

import networks
from basics import RUN, run
from networks import Network

if typing.TYPE_CHECKING:
    from fabric import Fabric

# Longer than the longest scene.
DAYS = "90"
CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def makeAuthority() -> None:
    """An authority of our own, trusted in here only, and a certificate for each name."""
    folder = RUN / "tls"
    newAuthority(folder)
    trust(folder)
    for host in (networks.HOTEL.portal, networks.TRAIN.portal, networks.PROBE):
        makeCertificate(host)
    # For a portal with a certificate that no authority signed: key and certificate in one file.
    for network in (networks.HOTEL, networks.TRAIN):
        file = folder / f"{network.key}-untrusted.pem"
        run("openssl", "req", "-x509", *CURVE, "-days", DAYS, "-subj", f"/CN={network.portal}", "-addext",
            f"subjectAltName=DNS:{network.portal}", "-keyout", str(file), "-out", f"{file}.certificate")
        file.write_text(file.read_text() + pathlib.Path(f"{file}.certificate").read_text())


def newAuthority(folder: pathlib.Path) -> None:
    folder.mkdir()
    run("openssl", "req", "-x509", *CURVE, "-days", DAYS, "-subj", "/CN=Authority of the Cafe", "-keyout",
        str(folder / "authority.key"), "-out", str(folder / "authority.pem"))


def trust(folder: pathlib.Path) -> None:
    """Adds the authority to those that the system trusts: /etc must be a private copy."""
    authority = (folder / "authority.pem").read_text()
    certificates = pathlib.Path("/etc/ssl/certs")
    certificates.mkdir(parents=True, exist_ok=True)
    with open(certificates / "ca-certificates.crt", "a") as bundle:
        bundle.write("\n" + authority)
    name = run("openssl", "x509", "-noout", "-hash", "-in", str(folder / "authority.pem")).stdout.strip()
    (certificates / f"{name}.0").write_text(authority)


def makeCertificate(host: str) -> None:
    issue(RUN / "tls", host, f"DNS:{host},DNS:{networks.PAGE},DNS:{networks.USUAL_HTTPS}")


def issue(folder: pathlib.Path, host: str, names: str) -> None:
    """Makes HOST.key and HOST.pem for these names, signed by the authority in the folder."""
    run("openssl", "req", "-x509", *CURVE, "-days", DAYS, "-subj", f"/CN={host}", "-CA", str(folder / "authority.pem"),
        "-CAkey", str(folder / "authority.key"), "-addext", f"subjectAltName={names}",
        "-addext", "basicConstraints=critical,CA:FALSE", "-addext", "extendedKeyUsage=serverAuth",
        "-keyout", str(folder / f"{host}.key"), "-out", str(folder / f"{host}.pem"))


def start(fabric: Fabric) -> None:
    names = [f"address=/{name}/{networks.INTERNET}" for name in
             (networks.PROBE, networks.PAGE, *networks.USUAL_PROBES, networks.USUAL_HTTPS)]
    dnsmasq(fabric, "names-internet", "inet", ["interface=downlink", *names, "local=/#/"])
    for network in networks.ALL:
        lines = [
            f"interface={network.access}", f"dhcp-range={network.prefix}.50,{network.prefix}.99,12h", "dhcp-authoritative",
            # Checking whether the address is in use would take three seconds.
            "no-ping", f"dhcp-leasefile=/var/lib/misc/{leaseName(network)}",
            f"server={networks.RESOLVER}",
        ]
        if network.portal:
            lines.append(f"address=/{network.portal}/{network.gateway}")
        if network is networks.HOTEL:
            lines.append(f"dhcp-option=114,https://{network.portal}/captive-portal/api")
        if network is networks.AROMA:
            # What openNDS writes into the system's dnsmasq.conf; its own copy of that file is private.
            lines.append(f"dhcp-option-force=114,http://{network.portal}")
        dnsmasq(fabric, f"names-{network.key}", "ap", lines)


def leaseName(network: Network) -> str:
    # openNDS looks for its clients in a file of this name.
    return "dnsmasq.leases" if network is networks.AROMA else f"{network.key}.leases"


def dnsmasq(fabric: Fabric, name: str, space: str, lines: list[str]) -> None:
    fabric.start(name, fabric.command(space, *dnsmasqCommand(name, lines)))


def dnsmasqCommand(name: str, lines: list[str]) -> list[str]:
    file = RUN / f"{name}.conf"
    common = ["no-resolv", "no-hosts", "bind-interfaces", "except-interface=lo", "user=root", "group=root"]
    common += ["log-facility=-", "log-dhcp"]
    file.write_text("\n".join(common + lines) + "\n")
    return ["dnsmasq", "--no-daemon", f"--conf-file={file}", f"--pid-file={RUN / name}.pid"]
