"""Boingo and other roaming by WISPr: portals 1.5 and 5."""

import wispr_portal
from lab import Product, Scenario
from pages import *


class Boingo(Product):
    """WISPr with a realm, and a result that is fetched at the gateway."""

    name, gatewayNames = "boingo", ("gateway.boingohotspot.net",)
    scenarios = [
        Scenario("account", user={"user": "boingo/ada", "password": "sec&ret"}, fewest=1, logoff=True),
        Scenario("pending", user={"user": "boingo/ada", "password": "sec&ret"}, options={"pending": True}, fewest=2, logoff=True),
        Scenario("refused", "refused", {"user": "boingo/ada", "password": "no"}, text="Invalid username or password"),
    ]
    root = "https://portal.boingohotspot.net"

    def begin(self):
        self.polls = 0

    def intercept(self, request):
        body = wispr_portal.document(
            "Redirect",
            ("AccessProcedure", "1.0"),
            ("AccessLocation", "isocc=us,cc=1,ac=312,network=Boingo"),
            ("LocationName", "Airport"),
            ("LoginURL", f"{self.root}/wispr"),
            ("AbortLoginURL", f"{self.root}/abort"),
            ("MessageType", "100"),
            ("ResponseCode", "0"),
        )
        return redirect(f"{self.root}/", body=body)

    def answer(self, request):
        fields = request.form
        match request.host, request.path:
            case "portal.boingohotspot.net", "/wispr" if request.method == "POST":
                if fields.get("button") != "Login" or fields.get("FNAME") != "0" or "OriginatingServer" not in fields:
                    return self.reply("AuthenticationReply", "120", "255")
                if (fields.get("UserName"), fields.get("Password")) != ("boingo/ada", "sec&ret"):
                    return self.reply("AuthenticationReply", "120", "100", ("ReplyMessage", "Invalid username or password"))
                if self.options.get("pending"):
                    return self.reply(
                        "AuthenticationReply",
                        "120",
                        "201",
                        ("LoginResultsURL", "http://gateway.boingohotspot.net/results"),
                        ("Delay", "1"),
                    )
                self.admit()
                return self.reply("AuthenticationReply", "120", "50", ("LogoffURL", f"{self.root}/logoff"))
            case "gateway.boingohotspot.net", "/results":
                self.admit()
                return self.reply("AuthenticationPollReply", "140", "50", ("LogoffURL", f"{self.root}/logoff"))
            case "portal.boingohotspot.net", "/logoff":
                self.expel()
                return self.reply("LogoffReply", "130", "150")
            case "portal.boingohotspot.net", "/":
                return page("Boingo", '<p>Choose a plan.</p><div id="app"></div><script src="/app.js"></script>')
        return Answer(404)

    def reply(self, element, kind, code, *more):
        return Answer(200, wispr_portal.document(element, ("MessageType", kind), ("ResponseCode", code), *more))
