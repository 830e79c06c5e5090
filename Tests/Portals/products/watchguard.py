"""WatchGuard: portals 3.14, after CPAL FotoProfi."""

from lab import Product, Scenario
from pages import *


class WatchGuard(Product):
    name, ports, gatewayNames = "watchguard", {4100: "https"}, ("wg.example",)
    scenarios = [Scenario("click", fewest=2)]

    def intercept(self, request):
        return redirect("https://wg.example:4100/index.shtml?" + encode(redirect=request.url))

    def answer(self, request):
        if request.host != "wg.example":
            return Answer(404)
        if request.path == "/wgcgi.cgi" and request.method == "POST":
            kind, text = request.headers.get("Content-Type", ""), request.body.decode("utf-8", "replace")
            names = ("action", "hsContinueBtnName", "hsAcceptCkbName", "redirect", "lang", "style")
            if (
                "Referer" not in request.headers
                or not kind.startswith("multipart/form-data")
                or any(f'name="{name}"' not in text for name in names)
            ):
                return Answer(403, "<p>Forbidden</p>")
            self.admit()
            return redirect("http://example.org/")
        return page(
            "Hotspot",
            form(
                "/wgcgi.cgi",
                hidden(action="hotspot_accept", redirect=request.args.get("redirect", ""), lang="en-US", style="hotspot"),
                "<p>Terms</p>",
                box("hsAcceptCkbName", "I have read and accept the terms and conditions"),
                button("Continue", "hsContinueBtnName", "Continue"),
                enctype="multipart/form-data",
            ),
        )
