"""nodogsplash: portals 2.3, after nodogsplash/nodogsplash:src/http_microhttpd.c, and a real one, 5.0.2 (Tests/Portals/servers)."""

import secrets

from lab import GATEWAY, Product, Scenario
from pages import *

GATE = f"http://{GATEWAY}:2050"


class Nodogsplash(Product):
    name = "nodogsplash"
    ports = {2050: "http"}
    scenarios = [
        Scenario("click", fewest=2, logoff=True),
        Scenario("binauth", user={"user": "guest", "password": "secret"}, options={"binauth": True}, fewest=2, logoff=True),
        Scenario("binauth refused", "refused", {"user": "guest", "password": "no"}, {"binauth": True}),
        Scenario("in place", options={"place": True}, fewest=1, logoff=True),
    ]

    def begin(self):
        self.token = secrets.token_hex(4)

    def intercept(self, request):
        return (
            self.splash(request.url)
            if self.options.get("place")
            else redirect(f"{GATE}/splash.html?" + encode(redir=request.url), 307)
        )

    def splash(self, redir):
        extra = line("username", "Username") + line("password", "Password") if self.options.get("binauth") else ""
        return page(
            "Lab Hotspot Gateway.",
            form(f"{GATE}/nodogsplash_auth/", hidden(tok=self.token, redir=redir), extra, button("Enter"), method="get"),
        )

    def answer(self, request):
        if request.method != "GET":
            return Answer(503)
        match request.path:
            case "/" | "/splash.html":
                return self.splash(request.args.get("redir", ""))
            case "/nodogsplash_auth/":
                account = (request.args.get("username"), request.args.get("password"))
                if request.args.get("tok") != self.token or (self.options.get("binauth") and account != ("guest", "secret")):
                    return redirect(f"{GATE}/splash.html?" + encode(redir=request.args.get("redir", "")), 307)
                self.admit()
                return redirect(request.args.get("redir") or f"{GATE}/", 307)
            case "/nodogsplash_deny/":
                self.expel()
                return redirect(f"{GATE}/", 307)
        return Answer(404)
