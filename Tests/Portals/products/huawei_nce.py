"""Huawei iMaster NCE: portals 3.11, after CPAL IMasterNCE."""

import base64

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *


class IMasterNCE(Product):
    name, ports = "huawei-nce", {19008: "https"}
    scenarios = [Scenario("click", fewest=3), Scenario("late gate", fewest=3, delay=3)]
    host = "https://device.imaster-nce.de:19008"

    def begin(self):
        self.polls = 0

    def intercept(self, request):
        return redirect(
            f"{self.host}/portalpage/1/20210917/auth.html?"
            + encode(
                apmac="0200000000aa",
                uaddress=CLIENT,
                umac=CLIENT_MAC.replace(":", ""),
                authType="2",
                ssid=base64.b64encode(b"Lab").decode(),
            )
        )

    def answer(self, request):
        fields = request.form
        if request.port != 19008:
            return Answer(404)
        if request.path.endswith("/auth.html"):
            return page(
                "Portal",
                '<input type="checkbox" id="agree"> <label for="agree">I agree to the user agreement</label><button id="login">Connect</button>'
                '<script src="js/portal.js"></script><script>$("#login").click(function () { loginAnonymous("/portalauth/login"); });</script>',
            )
        known = (
            fields.get("umac") == CLIENT_MAC.replace(":", "")
            and fields.get("uaddress") == CLIENT
            and fields.get("ssid") == base64.b64encode(b"Lab").decode()
        )
        if request.path == "/portalauth/login" and request.method == "POST":
            right = (
                known
                and fields.get("agreed") == "1"
                and fields.get("userName") == fields.get("userPass") == "~anonymous"
                and fields.get("authType") == "2"
            )
            if right:
                self.admit()
            return jsonAnswer({"success": right, "message": "" if right else "Invalid parameters"})
        if request.path == "/portalauth/syncPortalResult" and request.method == "POST":
            self.polls += 1
            return jsonAnswer(
                {"success": True, "message": "true" if self.isOpen and (self.polls > 1 or not self.scenario.delay) else "false"}
            )
        return Answer(404)
