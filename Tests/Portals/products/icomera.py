"""Icomera: portals 5, after felix-zenk/onboardapis and sistason/db_wlan_manager."""

import secrets

from lab import Product, Scenario
from pages import *


class Icomera(Product):
    """The form of 2017 with a cookie: ICE then, metronom and others today."""

    name = "icomera"
    scenarios = [Scenario("click", fewest=2, logoff=True)]

    def begin(self):
        self.csrf = secrets.token_hex(16)

    def intercept(self, request):
        return redirect("http://wifi.metronom.de/de/?" + encode(url=request.url))

    def answer(self, request):
        if request.host != "wifi.metronom.de":
            return Answer(404)
        if request.path == "/api/jsonp/user/":
            return jsonp(
                request.args.get("callback", "cb"),
                {
                    "version": "1.9",
                    "authenticated": str(int(self.isOpen)),
                    "data_total_limit": "200000000",
                    "data_total_used": "1000",
                },
            )
        fields = request.form
        if request.method == "POST" and fields.get("CSRFToken") == self.csrf == request.cookie("csrf"):
            if fields.get("login") == "true":
                self.admit()
            elif fields.get("logout") == "true":
                self.expel()
        word, label = ("logout", "Abmelden") if self.isOpen else ("login", "Verbinden")
        kind = "user-online" if self.isOpen else "user-offline"
        return page(
            "WLAN",
            f'<div class="{kind}">' + form("/de/", hidden(**{word: "true"}, CSRFToken=self.csrf), button(label)) + "</div>",
            Set_Cookie=f"csrf={self.csrf}; path=/",
        )
