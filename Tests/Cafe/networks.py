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
    # Lines of its access point's settings, over the air: what it announces before anything is joined.
    announces: tuple[str, ...] = ()

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
# A hotel as the standard wants it: a login is expected, and OpenRoaming is offered.
HONEST = (
    "interworking=1", "access_network_type=2", "internet=1", "asra=1", "venue_group=7", "venue_type=2", "hessid=02:ca:fe:00:02:01",
    "roaming_consortium=5a03ba0000", "roaming_consortium=004096", "venue_name=eng:Hotel Lindenhof", "venue_url=1:https://www.lindenhof.example/info",
    "network_auth_type=02https://portal.lindenhof.example/login", "domain_name=lindenhof.example", "nai_realm=0,lindenhof.example",
)
# Another place's address, names as long as they can be, one of them no UTF-8 and with commands for a terminal, and elements once more: an
# interworking element of a length that there is not, and consortia that are cut off.
LYING = (
    "interworking=1", "access_network_type=3", "internet=1", "asra=0", "network_auth_type=02https://portal.lindenhof.example/login",
    'venue_name=P"eng:\\x1b[2J\\xff\\xfe Hotel Lindenhof"', *(f"venue_name=eng:{'x' * 252}" for _ in range(3)),
    "vendor_elements=6b023f3f6f0400555a03dd03506f9a",
)
HOTEL = Network("hotel", "Hotel Lindenhof", 2, "portal.lindenhof.example", power=10, announces=HONEST)
TRAIN = Network("train", "TrainNet", 3, "login.trainnet.example", power=5)
# Over cables a guest house takes this network for its portal over plain HTTP.
FREE = Network("free", "Library Free", 4, "wlan.pension-ida.example", power=2, announces=LYING)
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
