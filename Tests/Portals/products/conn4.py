"""conn4: portals 5, after CPAL Conn4."""

import json
import secrets

from lab import Product, Scenario
from pages import *


class Conn4(Product):
    """A scene names the interface, which has tariffs by JSON: REWE, Kaufland, ibis (CPAL Conn4)."""

    name, root = "conn4", "https://cust.conn4.com"
    scenarios = [Scenario("free tariff", fewest=4, seconds=7200)]

    def begin(self):
        self.token, self.session = secrets.token_urlsafe(24), secrets.token_urlsafe(24)

    def intercept(self, request):
        return redirect(f"{self.root}/ident?" + encode(site_id="123", loggedIn="0", remembered_mac="0"))

    def answer(self, request):
        fields = request.form
        if request.host != "cust.conn4.com":
            return Answer(404)
        match request.method, request.path:
            case "GET", "/ident":
                token = json.dumps({"token": self.token, "urls": {"grant_url": "", "continue_url": "http://example.org/"}})
                schedule = json.dumps(
                    {
                        "schedule": {
                            "scene_template": "/scenes/{id}/",
                            "events": [{"payload": {"type": "scene", "data": {"id": "main", "module": "wbs"}}}],
                        }
                    }
                )
                return page(
                    "Free WiFi",
                    f'<div id="app"></div><p>Mit der Nutzung akzeptieren Sie die <a href="/agb">AGB</a>.</p>'
                    f'<script>conn4.hotspot.wbsToken = {token};\nconn4.start(_.partial(run, {schedule}));</script>',
                )
            case "GET", "/scenes/main/":
                return page("Scene", '<div data-wbs-base-url="/wbs/api/v1"></div><script src="/scene.js"></script>')
            case "POST", "/wbs/api/v1/create-session/" if (
                fields.get("authorization") == f"token={self.token}"
                and fields.get("with-tariffs") == "1"
                and fields.get("locationId") == "123"
                and {"locale", "session_id"} <= fields.keys()
            ):
                return jsonAnswer(
                    {
                        "ok": True,
                        "session": self.session,
                        "tariffs": [
                            {
                                "id": 9,
                                "name": "Premium",
                                "price": 499,
                                "is_paid": True,
                                "is_free": False,
                                "validity": 1440,
                                "duration": 86400,
                            },
                            {
                                "id": 4,
                                "name": "Free",
                                "price": 0,
                                "is_paid": False,
                                "is_free": True,
                                "validity": 120,
                                "duration": 7200,
                            },
                        ],
                    }
                )
            case "POST", "/wbs/api/v1/register/free/" if (
                fields.get("authorization") == f"session={self.session}"
                and fields.get("registration_type") == "terms-only"
                and fields.get("registration[terms]") == "1"
                and fields.get("tariff") == "4"
            ):
                self.admit()
                return jsonAnswer({"ok": True, "tariffId": 4, "message": "OK"})
        return jsonAnswer({"ok": False, "message": "invalid request"}, 400)
