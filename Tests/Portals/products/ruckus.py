"""Ruckus: ZoneDirector and Unleashed, SmartZone: portals 3.5, after the vendor's samples (commscope-ruckus/RUCKUS-Captive-Portals)."""

import secrets

from lab import CLIENT, CLIENT_MAC, GATEWAY, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}


class Ruckus(Product):
    """`kind`: tou (the controller's page of terms), zd (an external page that posts to it), sz (SmartZone, by GET)."""

    ports = {9997: "http", 9998: "https"}
    scenarios = [
        Scenario("terms of use", options={"kind": "tou"}, fewest=2),
        Scenario("zonedirector", user=GUEST, options={"kind": "zd"}, fewest=2, logoff=True),
        Scenario("zonedirector refused", "refused", GUEST | {"password": "no"}, {"kind": "zd"}, "Invalid user"),
        Scenario("smartzone", user=GUEST, options={"kind": "sz"}, fewest=2, logoff=True),
        Scenario("smartzone refused", "refused", GUEST | {"password": "no"}, {"kind": "sz"}, "Login failed"),
    ]

    def begin(self):
        self.mac, self.ip, self.kind = "ENC" + secrets.token_hex(16), "ENC" + secrets.token_hex(12), self.options["kind"]

    def intercept(self, request):
        match self.kind:
            case "tou":
                return redirect(f"http://{GATEWAY}:9997/user/guest_tou.asp?" + encode(origurl=request.url, langname="en_US"))
            case "zd":
                return redirect(
                    "http://portal.ruckus.example/?"
                    + encode(
                        sip=GATEWAY,
                        mac="0200000000aa",
                        lid="",
                        client_mac=CLIENT_MAC.replace(":", ""),
                        uip=CLIENT,
                        url=request.url,
                        ssid="Lab",
                        dn="",
                    )
                )
        return self.portal("")

    def portal(self, reason):
        return redirect(
            "http://portal.ruckus.example/?"
            + encode(
                nbiIP=GATEWAY,
                client_mac=self.mac,
                uip=self.ip,
                mac="0200000000aa",
                ssid="Lab",
                url="http://example.org/",
                reason=reason or "Un-Auth-Captive",
                proxy="0",
                wlan="1",
                vlan="1",
                zoneName="Lab",
                startUrl="",
                sip=GATEWAY,
            )
        )

    def answer(self, request):
        fields = request.args | request.form
        if request.host == "portal.ruckus.example":
            return self.page(request.args)
        match request.path:
            case "/user/guest_tou.asp" if self.kind == "tou":
                return page(
                    "Terms of Use",
                    form(
                        "/user/guest_tou.asp/accept",
                        hidden(origurl=fields.get("origurl", "")),
                        "<p>Terms of Use: be kind.</p>",
                        button("Accept and Continue", "ok", "Accept and Continue"),
                    ),
                )
            case "/user/guest_tou.asp/accept" if request.method == "POST" and fields.get("ok") and self.kind == "tou":
                self.admit()
                return redirect(fields["origurl"])
            case "/login" if self.kind == "zd" and request.method == "POST":
                if (fields.get("username"), fields.get("password")) != ("guest", "secret"):
                    return redirect(
                        "http://portal.ruckus.example/?"
                        + encode(
                            sip=GATEWAY,
                            client_mac=CLIENT_MAC.replace(":", ""),
                            uip=CLIENT,
                            ssid="Lab",
                            err="Invalid user name or password",
                        )
                    )
                self.admit()
                return redirect("http://portal.ruckus.example/?" + encode(uid="guest", mac="0200000000aa", startUrl=""))
            case "/SubscriberPortal/hotspotlogin" if self.kind == "sz" and request.method == "GET":
                known = (fields.get("client-mac"), fields.get("uip")) == (self.mac, self.ip)
                if not known or (fields.get("username"), fields.get("password")) != ("guest", "secret"):
                    return self.portal("Login failed")
                self.admit()
                return redirect("http://portal.ruckus.example/?" + encode(uid="guest", mac="0200000000aa"))
            case "/SubscriberPortal/hotspotlogout" | "/logout":
                self.expel()
                return page("Goodbye", "<p>You are logged out.</p>")
        return Answer(404)

    def page(self, arguments):
        if "uid" in arguments:
            return page("Welcome", "<p>You are connected.</p>")
        error = arguments.get("err") or (arguments.get("reason") if arguments.get("reason") != "Un-Auth-Captive" else "")
        account = line("username", "Username") + line("password", "Password", "password") + button("Login")
        if self.kind == "zd":
            inner = form(f"https://{GATEWAY}:9998/login", hidden(ip=arguments.get("uip", "")), account)
        else:
            inner = form(
                f"https://{GATEWAY}:9998/SubscriberPortal/hotspotlogin",
                hidden(
                    **{
                        "client-mac": arguments.get("client_mac", ""),
                        "uip": arguments.get("uip", ""),
                        "url": "http://example.org/",
                    }
                ),
                account,
                method="get",
            )
        return page("Welcome", (f'<p class="error">{error}</p>' if error else "") + inner)
