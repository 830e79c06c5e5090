"""ExtremeCloud IQ Controller: portals 3.13."""

from lab import CLIENT_MAC, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}


class IQController(Product):
    """The approval is signed on the way back; a browser can do it, our facts are too thin."""

    name = "extreme-iqc"
    scenarios = [Scenario("signed approval", "handed over", GUEST)]

    def intercept(self, request):
        return redirect(
            "https://portal.iqc.example/?"
            + encode(
                token="t0k",
                hwc_ip="10.20.0.1",
                hwc_port="444",
                wlan="1",
                dest=request.url,
                bssid="02:00:00:00:00:aa",
                mac=CLIENT_MAC,
                ssid="Lab",
            )
        )

    def answer(self, request):
        return (
            page("Guest", '<div id="root"></div><script src="/main.js"></script>')
            if request.host == "portal.iqc.example"
            else Answer(404)
        )
