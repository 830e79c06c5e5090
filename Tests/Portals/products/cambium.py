"""Cambium cnPilot: portals 3.14, after inverse-inc/packetfence:lib/pf/Switch/Cambium.pm."""

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}


class Cambium(Product):
    name, ports, gatewayNames = "cambium", {880: "http"}, ("ap.cambium.example",)
    scenarios = [Scenario("account", user=GUEST, fewest=2)]

    def intercept(self, request):
        return redirect(
            "http://portal.cambium.example/?"
            + encode(
                ga_ssid="Lab",
                ga_ap_mac="02-00-00-00-00-AA",
                ga_nas_id="ap",
                ga_srvr="ap.cambium.example",
                ga_cmac=CLIENT_MAC,
                ga_cip=CLIENT,
                ga_Qv="eUROBR86HBgAGDEEVgQAGw4UWRUCACYVMgFPHFZeXUQ.",
                ga_orig_url=request.url,
            )
        )

    def answer(self, request):
        fields = request.form
        wanted = {"ga_ssid", "ga_ap_mac", "ga_nas_id", "ga_srvr", "ga_cmac", "ga_cip", "ga_Qv", "ga_orig_url", "autherr"}
        if request.host == "portal.cambium.example" and "ga_srvr" in request.args:
            return page(
                "Guest",
                form(
                    f"http://{request.args['ga_srvr']}:880/cgi-bin/hotspot_login.cgi",
                    hidden(**request.args, autherr="0"),
                    line("ga_user", "User"),
                    line("ga_pass", "Password", "password"),
                    button("Login"),
                ),
            )
        if (
            request.path == "/cgi-bin/hotspot_login.cgi"
            and request.port == 880
            and wanted <= fields.keys()
            and (fields.get("ga_user"), fields.get("ga_pass")) == ("guest", "secret")
        ):
            self.admit()
            return redirect(fields["ga_orig_url"])
        return Answer(404)
