"""Juniper Mist: portals 3.9, after CPAL JuniperNetworks."""

from lab import CLIENT_MAC, Product, Scenario
from pages import *


class Mist(Product):
    name, host = "mist", "https://portal.eu.mist.com"
    scenarios = [
        Scenario("click", fewest=2),
        Scenario("passphrase", user={"password": "let me in", "code": "let me in"}, options={"phrase": True}, fewest=2),
        Scenario("passphrase refused", "refused", {"password": "no", "code": "no"}, {"phrase": True}, "Invalid passphrase"),
    ]

    def intercept(self, request):
        return redirect(
            f"{self.host}/?"
            + encode(
                ap_mac="0200000000aa",
                client_mac=CLIENT_MAC.replace(":", ""),
                wlan_id="be22bba7",
                url=request.url,
                ap_name="ap",
                site_name="Lab",
            )
        )

    def answer(self, request):
        if request.host != "portal.eu.mist.com":
            return Answer(404)
        fields, phrase = request.form, self.options.get("phrase")
        if request.path == "/logon" and request.method == "POST":
            known = (
                fields.get("wlan_id") == "be22bba7"
                and fields.get("client_mac") == CLIENT_MAC.replace(":", "")
                and fields.get("auth_method") == "passphrase"
            )
            if not known or fields.get("tos") != "true" or (phrase and fields.get("passphrase") != "let me in"):
                return self.page(fields, "Invalid passphrase")
            self.admit()
            return redirect(fields["url"])
        return self.page(request.args, "")

    def page(self, fields, error):
        kept = {name: fields.get(name, "") for name in ("ap_mac", "client_mac", "wlan_id", "url")}
        phrase = line("passphrase", "Passphrase", "password") if self.options.get("phrase") else ""
        return page(
            "Guest Portal",
            (f'<p class="error">{error}</p>' if error else "")
            + form(
                "/logon",
                hidden(**kept, auth_method="passphrase"),
                phrase,
                box("tos", "I accept the Terms of Service", "true"),
                button("Sign In"),
            ),
        )
