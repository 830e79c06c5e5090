"""The networks of the café: names, addresses, portals."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Network:
    key: str
    ssid: str
    number: int
    portal: str | None = None
    passphrase: str | None = None
    # Transmit power in dBm; the simulated medium subtracts 50.
    power: int = 0

    @property
    def prefix(self) -> str:
        return f"10.21.{self.number}"

    @property
    def gateway(self) -> str:
        return f"{self.prefix}.1"

    @property
    def access(self) -> str:
        """The interface on the side of the access point."""
        return f"ap-{self.key}"

    @property
    def hardware(self) -> str:
        return f"02:ca:fe:00:{self.number:02x}:01"


AROMA = Network("aroma", "Cafe Aroma", 1, "status.client", power=20)
HOTEL = Network("hotel", "Hotel Lindenhof", 2, "portal.lindenhof.example", power=10)
TRAIN = Network("train", "TrainNet", 3, "login.trainnet.example", power=5)
# Over cables a guest house takes this network for its portal over plain HTTP.
FREE = Network("free", "Library Free", 4, "wlan.pension-ida.example", power=2)
HOME = Network("home", "Attic 4", 5, passphrase="only to be seen in the list", power=1)
ALL = [AROMA, HOTEL, TRAIN, FREE, HOME]

# The client's interface in either mode, and the socket in the wall for its cable.
RADIO, WIRE, SOCKET = "wlan0", "net0", "socket0"

# Everything on one channel: a scan of one frequency takes under a second in the virtual laptop.
FREQUENCY = 2412

INTERNET = "203.0.113.10"
RESOLVER = "203.0.113.53"
UPSTREAM = "203.0.113.1"
PROBE = "connect.cafe.example"
PAGE = "www.cafe.example"
PROBE_URL = f"http://{PROBE}/generate_204"
PROBE_HTTPS_URL = f"https://{PROBE}/generate_204"
PAGE_URL = f"http://{PAGE}/"
# The probe's usual endpoints, which lead to the café's own Internet: names, the one over HTTPS, and an address.
USUAL_PROBES = ["connectivitycheck.gstatic.com", "detectportal.firefox.com", "nmcheck.gnome.org"]
USUAL_HTTPS = "www.gstatic.com"
USUAL_ADDRESS = "1.1.1.1"
