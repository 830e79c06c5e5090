"""S-Bahn Rhein-Ruhr: portals 5, after CPAL RheinRuhr."""

from lab import Product, Scenario
from pages import *


class RheinRuhr(Product):
    name = "rhein-ruhr"
    addresses, ports = ("10.10.10.1",), {2050: "http"}
    scenarios = [Scenario("click", fewest=2, logoff=True)]

    def intercept(self, request):
        return redirect("http://10.10.10.1:2050/splash.html?" + encode(redir=request.url), 307)

    def answer(self, request):
        match request.path:
            case "/splash.html":
                return page(
                    "WLAN",
                    form(
                        "http://10.10.10.1:2050/nodogsplash_auth/",
                        hidden(tok="0a1b2c3d", redir=request.args.get("redir", "")),
                        "<p>Mit Klick auf Verbinden akzeptieren Sie die AGB.</p>",
                        button("Verbinden"),
                        method="get",
                    ),
                )
            case "/nodogsplash_auth/" if request.args.get("tok") == "0a1b2c3d":
                self.admit()
                return redirect(request.args["redir"])
            case "/nodogsplash_deny/":
                self.expel()
                return redirect("http://10.10.10.1:2050/")
        return Answer(511)
