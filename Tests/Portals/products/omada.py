"""TP-Link Omada: portals 3.10, after the vendor's documents."""

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}


class Omada(Product):
    """An external portal that posts to the controller. Its built-in page speaks JSON that is not known well enough: a browser's."""

    name, ports = "omada", {8088: "http", 8843: "https"}
    gatewayNames = ("omada.example",)
    scenarios = [
        Scenario("external", user=GUEST, fewest=2),
        Scenario("external refused", "refused", GUEST | {"password": "no"}, text="invalid"),
        Scenario("built in", "handed over", {"password": "secret"}, {"builtIn": True}),
        Scenario("localhost", "handed over", GUEST, {"untrusted": True}),
    ]

    def intercept(self, request):
        common = {"clientMac": CLIENT_MAC, "clientIp": CLIENT, "apMac": "02-00-00-00-00-AA", "ssidName": "Lab", "radioId": "1"}
        if self.options.get("builtIn"):
            return redirect(
                "http://omada.example:8088/portal?"
                + encode(cid=CLIENT_MAC, ap="02-00-00-00-00-AA", ssid="Lab", t="1700000000", rid="1", site="Default")
            )
        return redirect(
            "http://portal.omada.example/?"
            + encode(
                **common,
                site="Default",
                target="omada.example",
                targetPort="8843",
                scheme="https",
                originUrl=request.url,
                raidusServerIp="192.0.2.9",
            )
        )

    def answer(self, request):
        fields = request.form
        match request.host, request.path:
            case "portal.omada.example", "/" if "target" in request.args:
                query = request.args
                kept = {name: query[name] for name in ("clientMac", "clientIp", "apMac", "ssidName", "radioId", "originUrl")}
                error = f'<p class="error">{query["error"]}</p>' if "error" in query else ""
                return page(
                    "Hotel",
                    error
                    + form(
                        f"{query['scheme']}://{query['target']}:{query['targetPort']}/portal/radius/browserauth",
                        hidden(**kept, authType="2"),
                        line("username", "Username"),
                        line("password", "Password", "password"),
                        button("Log In"),
                    ),
                )
            case "omada.example", "/portal":
                return page(
                    "Portal", '<div id="app"></div><script src="/pubStatic/portal.js"></script><script>portal.start();</script>'
                )
            case "omada.example", "/portal/radius/browserauth" if request.method == "POST" and request.port == 8843:
                wanted = ("clientMac", "clientIp", "apMac", "ssidName", "radioId", "originUrl")
                right = (fields.get("username"), fields.get("password"), fields.get("authType")) == ("guest", "secret", "2")
                if not right or any(name not in fields for name in wanted) or fields["clientMac"] != CLIENT_MAC:
                    common = {name: fields.get(name, "") for name in wanted}
                    return redirect(
                        "http://portal.omada.example/?"
                        + encode(
                            **common,
                            target="omada.example",
                            targetPort="8843",
                            scheme="https",
                            error="Username or password is invalid",
                        )
                    )
                self.admit()
                return redirect(fields["originUrl"])
        return Answer(404)
