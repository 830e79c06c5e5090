"""CoovaChilli, looked at in its state of 2026-06-22 (1.9, e0c7d7a), with FreeRADIUS 3.2.1: its own pages, and its JSON interface.

The portal on its pages makes the CHAP or PAP response itself, since it knows the gateway's secret (`HS_UAMSECRET`); without one the page's
script asks the gateway. Over HTTPS a client may speak WISPr with it.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import ground
import networks
import packages
import radius
import smoke
from basics import RUN, run, waitFor
from guest import Visits
from names import issue
from networks import Network

SOURCE = "https://github.com/coova/coova-chilli"
NETWORK = Network("coova", "Hotspot", 12)
# The gateway's own name, which it resolves itself to an address of its own.
NAME = "chilli.lan"
PORTAL, PAGES = f"http://{NETWORK.gateway}:4990/www/login.chi", f"http://{NETWORK.gateway}:3990/www"
GUEST = [(r"user", radius.GUEST), (r"pass", radius.PASSWORD)]
TYPO = [(r"user", radius.GUEST), (r"pass", ["mistake", radius.PASSWORD])]
# An operator's page: the form is the gateway's script's.
JSON_PAGE = '<html><head><title>Hotspot</title></head><body><script id="chillijs" src="{0}/chillijs.chi"></script></body></html>\n'


class CoovaChilli(Visits):
    name, network = "CoovaChilli", NETWORK

    @staticmethod
    def require() -> pathlib.Path:
        packages.requireProgram("freeradius", "freeradius")
        packages.requireProgram("ethtool", "ethtool")
        return ground.program("chilli", SOURCE)

    def version(self) -> str:
        return subprocess.run([self.require().parent / "chilli_opt", "--version"], capture_output=True, text=True).stdout.strip()

    def visits(self) -> list:
        self.ground.open(NETWORK, hasAddress=False)
        # It forwards packets as they come; a cable of the kernel leaves their checksums to the receiver.
        self.ground.inside("cli", "ethtool", "-K", networks.WIRE, "tx", "off")
        radius.start(self.ground)
        (RUN / "bin").mkdir()
        shutil.copy(ground.HERE / "haserl", RUN / "bin")
        issue(RUN / "tls", NAME, f"DNS:{NAME}")
        return [
            self.chap, self.pap, self.refused, self.homepage, self.json, self.jsonRefused, self.wispr, self.wisprRefused, self.secureForm, self.expired,
        ]

    def begin(self, *settings: str) -> None:
        """Starts the server as its own start script would, with these settings beside the ones that each installation has."""
        program = self.require()
        etc = next(folder / "etc/chilli" for folder in program.parents if (folder / "etc/chilli/functions").exists())
        lines = [
            f"HS_LANIF={NETWORK.access}", "HS_WANIF=uplink", f"HS_NETWORK={NETWORK.prefix}.0", f"HS_UAMLISTEN={NETWORK.gateway}",
            f"HS_DNS1={networks.RESOLVER}", f"HS_DNS2={networks.RESOLVER}", "HS_RADIUS=127.0.0.1", "HS_RADIUS2=127.0.0.1",
            f"HS_RADSECRET={radius.SECRET}", f"HS_WWWDIR={etc}/www", f"HS_WWWBIN={etc}/wwwsh", "HS_UAMHOMEPAGE=none", *settings,
        ]
        (RUN / "chilli.config").write_text("".join(f"{line}\n" for line in lines))
        (RUN / "hotspot.html").write_text(JSON_PAGE.format(PAGES))
        self.ground.plug(NETWORK)
        self.ground.inside("ap", "iptables", "-F")
        self.ground.private("chilli", f"""export PATH={RUN}/bin:$PATH
mkdir -p {RUN}/chilli /var/run
mount -t tmpfs private {RUN}/chilli
mkdir {RUN}/chilli/upper {RUN}/chilli/work
mount -t overlay -o lowerdir={etc},upperdir={RUN}/chilli/upper,workdir={RUN}/chilli/work private {etc}
cp {RUN}/chilli.config {etc}/config
cp {RUN}/hotspot.html {etc}/www/
set +e
. {etc}/functions
writeconfig
radiusconfig
exec {program} -c {etc.parent}/chilli.conf --fg
""")
        waitFor(self.isOpen, 20, "CoovaChilli")
        self.ground.unplug()

    def isOpen(self) -> bool:
        """It listens before its script for the firewall has ended."""
        listens = f"{NETWORK.gateway}:3990 " in self.ground.inside("ap", "ss", "-ltn").stdout
        return listens and "-o uplink -j ACCEPT" in self.ground.inside("ap", "iptables", "-S", "FORWARD").stdout

    def stop(self) -> None:
        self.ground.end("chilli")

    # MARK: Visits

    def chap(self) -> None:
        """Its own portal's form, CHAP."""
        self.begin()
        self.arrive()
        self.answer(GUEST, {"authenticated"})
        self.online("catalogue", asked=1)
        self.secondsLeft(3600)
        self.check("protocol", radius.saw(self.ground, "CHAP-Password"), "no CHAP")
        self.logOff()

    def pap(self) -> None:
        """Its own portal's form, PAP."""
        self.begin("HS_RAD_PROTO=pap")
        self.arrive()
        self.answer(GUEST, {"authenticated"})
        self.online("catalogue", asked=1)
        self.check("protocol", radius.saw(self.ground, "User-Password"), "no PAP")
        self.logOff()

    def refused(self) -> None:
        """A wrong password at the form, corrected. This version closes the connection instead of repeating the RADIUS server's words."""
        self.begin()
        self.arrive()
        screen = self.answer(TYPO, {"authenticated"})
        self.check("reason", "did not accept" in screen, screen)
        self.online("catalogue", asked=2)

    def homepage(self) -> None:
        """Its own home page before the form, which goes on by itself after some seconds."""
        self.begin("HS_UAMHOMEPAGE='http://$HS_UAMLISTEN:$HS_UAMPORT/www/coova.html'")
        self.arrive()
        self.answer(GUEST, {"authenticated"})
        self.online("catalogue", asked=1)
        self.logOff()

    def json(self) -> None:
        """A page whose script asks the gateway, without a secret."""
        self.begin("HS_UAMSECRET=", f"HS_UAMFORMAT={PAGES}/hotspot.html")
        self.arrive()
        self.answer(GUEST, {"authenticated"})
        self.online("catalogue", asked=1)
        self.secondsLeft(3600)
        self.check("protocol", radius.saw(self.ground, "CHAP-Password"), "no CHAP")
        self.logOff()

    def jsonRefused(self) -> None:
        """The same, with a wrong password, corrected."""
        self.begin("HS_UAMSECRET=", f"HS_UAMFORMAT={PAGES}/hotspot.html")
        self.arrive()
        self.answer(TYPO, {"authenticated"})
        self.online("catalogue", asked=2)

    def wispr(self) -> None:
        """WISPr over HTTPS: the portal's answer is pending, and its result is had from the gateway."""
        self.beginSecurely()
        self.arrive()
        self.answer(GUEST, {"authenticated"})
        self.online("wispr", asked=1)
        self.logOff()
        self.laptop.ctl("enable", "--helper", "catalogue")

    def secureForm(self) -> None:
        """The form over HTTPS: the user agrees to what it leads to within the network."""
        self.beginSecurely(without="wispr")
        self.arrive()
        screen = self.answer(GUEST, {"authenticated"})
        self.check("agreed", "a device inside this network" in screen, screen)
        self.online("catalogue", asked=2)
        self.logOff()
        self.laptop.ctl("enable", "--helper", "wispr")

    def wisprRefused(self) -> None:
        """The same, with a wrong password, corrected."""
        self.beginSecurely()
        self.arrive()
        screen = self.answer(TYPO, {"authenticated"})
        self.check("reason", "may be wrong" in screen, screen)
        self.online("wispr", asked=2)
        self.laptop.ctl("enable", "--helper", "catalogue")

    def beginSecurely(self, without: str = "catalogue") -> None:
        key, certificate = RUN / f"tls/{NAME}.key", RUN / f"tls/{NAME}.pem"
        # Which of two helpers comes first is their race.
        self.laptop.ctl("disable", "--yes", "--helper", without)
        self.begin("HS_UAMUISSL=on", f"HS_SSLKEYFILE={key}", f"HS_SSLCERTFILE={certificate}", f"HS_UAMFORMAT=https://{NAME}:4990/www/login.chi")

    def expired(self) -> None:
        """The account's time is over."""
        self.begin()
        self.arrive()
        self.answer([(r"user", radius.SHORT), (r"pass", radius.PASSWORD)], {"authenticated"})
        self.online("catalogue", asked=1)
        waitFor(lambda: smoke.isClosed(self.ground), 60, "the end of the session")
        self.mark = self.monitor.mark()
        self.laptop.ctl("check")
        self.until({"presentingUI"})
        self.offline("Username")
