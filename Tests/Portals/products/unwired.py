"""Unwired trains: portals 5, after CPAL Unwired and felix-zenk/onboardapis."""

import json
import re
import secrets

from lab import Product, Scenario
from pages import *


class Unwired(Product):
    name = "unwired"
    scenarios = [Scenario("click", fewest=3, logoff=True)]

    def begin(self):
        self.session, self.widget = secrets.token_urlsafe(16), secrets.token_hex(6)

    def intercept(self, request):
        return redirect("https://wasabi-splashpage.wifi.unwired.at/?" + encode(user_session_id=self.session))

    def answer(self, request):
        if request.host != "wasabi-splashpage.wifi.unwired.at":
            return Answer(404)
        if request.path != "/api/graphql":
            return page(
                "WLAN",
                '<div id="root"></div><p>Mit der Nutzung akzeptieren Sie die <a href="/agb">Nutzungsbedingungen</a>.</p><script src="/static/js/main.js"></script>',
            )
        query, variables = str(request.json().get("query", "")), request.json().get("variables") or {}
        if request.method != "POST" or not re.fullmatch(r"[\w-]{21}", request.headers.get("x-request-id", "")):
            return jsonAnswer({"errors": [{"message": "Bad request"}]}, 400)
        given = json.dumps(variables) + query
        if "splashpage" in query:
            widgets = [{"__typename": "TextWidget", "widget_id": "t1"}, {"__typename": "ConnectWidget", "widget_id": self.widget}]
            return jsonAnswer(
                {
                    "data": {
                        "splashpage": {
                            "splashpage": {"pages": [{"widgets": widgets}]},
                            "user_session_info": {"session_time": 0, "timeout_session": 14400, "mbytes": 0},
                        }
                    }
                }
            )
        if "client_connect" in query and self.session in given and self.widget in given:
            self.admit()
            return jsonAnswer({"data": {"client_connect": {"redirect_url": "http://example.org/"}}})
        if "client_logout" in query and self.session in given:
            self.expel()
            return jsonAnswer({"data": {"client_logout": True}})
        return jsonAnswer({"errors": [{"message": "Cannot query field"}]})
