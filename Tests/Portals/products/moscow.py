"""MT_FREE: portals 5, after TheDrHax/mosmetro-android."""

import secrets

from lab import CLIENT_MAC, Product, Scenario
from pages import *


class Moscow(Product):
    """MT_FREE of the second kind: a token in the page goes into a header."""

    name = "moscow-v2"
    scenarios = [
        Scenario("click", fewest=3),
        Scenario("unregistered", "refused", options={"unknown": True}, text="not registered"),
    ]

    def begin(self):
        self.csrf, self.begun = secrets.token_urlsafe(24), False

    def intercept(self, request):
        return redirect("https://auth.wi-fi.ru/auth?" + encode(segment="metro", mac=CLIENT_MAC))

    def answer(self, request):
        if request.host != "auth.wi-fi.ru":
            return Answer(404)
        match request.method, request.path:
            case "GET", "/auth":
                text = page("MT_FREE", '<div id="app"></div><script src="/app.js"></script>', Set_Cookie="session=m1; Path=/")
                text.body = text.body.replace(b"<head>", f'<head><meta name="csrf-token" content="{self.csrf}">'.encode())
                return text
            case "POST", "/auth/init" if (
                request.headers.get("X-CSRF-Token") == self.csrf
                and request.cookie("session") == "m1"
                and (request.form.get("mode"), request.form.get("segment")) == ("0", "metro")
            ):
                if self.options.get("unknown"):
                    return jsonAnswer({"auth_error_code": "err_device_not_identified"})
                self.begun = True
                return jsonAnswer({"auth_status": "started"})
            case "GET", "/auth/check" if request.args.get("segment") == "metro" and self.begun:
                self.admit()
                return jsonAnswer({"auth_status": "success"})
        return jsonAnswer({"auth_error_code": "err_forbidden"}, 403)
