"""SocialWave: portals 5, after CPAL SocialWave."""

import secrets

from lab import GATEWAY, Product, Scenario
from pages import *


class SocialWave(Product):
    """JSON gives an account, which a MikroTik or a nodogsplash is told (CPAL SocialWave)."""

    name, gatewayNames = "socialwave", ("login.meinwlan.com",)
    ports = {2050: "http"}
    scenarios = [
        Scenario("anonymous", fewest=4, logoff=True),
        Scenario("email", user={"email": "ada@example.org"}, options={"method": "email"}, fewest=4, logoff=True),
        Scenario("openwrt", options={"openwrt": True}, fewest=4, logoff=True),
        Scenario("switched off", "refused", options={"off": True}, text="DeactivatedLocation"),
    ]

    def begin(self):
        self.res, self.token = secrets.token_hex(8), secrets.token_hex(12)

    def intercept(self, request):
        auth = (
            {"auth": f"{GATEWAY}:2050", "redir": "http://example.org/"}
            if self.options.get("openwrt")
            else {"auth": "http://login.meinwlan.com/login"}
        )
        return redirect("https://go.meinwlan.com/?" + encode(res=self.res, **auth))

    def answer(self, request):
        fields = request.args | request.form
        known = fields.get("query") == self.res
        match request.host, request.path:
            case "go.meinwlan.com", "/" if fields.get("res") == self.res:
                return page(
                    "Free WLAN",
                    '<div id="app"></div><p>Mit Klick akzeptieren Sie die <a href="/agb">AGB</a>.</p><script src="/app.js"></script>',
                )
            case "splash-api.daisy.meinwlan.com", "/api/hello.json" if known:
                if self.options.get("off"):
                    return jsonAnswer({"Success": False, "Reason": "DeactivatedLocation"})
                settings = {
                    "AuthenticationMethods": [self.options.get("method", "anonymous")],
                    "IsCurrentlyOffBySchedule": False,
                    "RedirectUrl": "http://example.org/",
                }
                return jsonAnswer({"Success": True, "Settings": settings})
            case "splash-api.daisy.meinwlan.com", "/api/anonymous/login.json" if (
                known and fields.get("agree_marketing") == "false" and {"agree_terms", "language", "user_agent"} <= fields.keys()
            ):
                return self.account()
            case "splash-api.daisy.meinwlan.com", "/api/email/register.json" if (
                known
                and request.method == "POST"
                and fields.get("agree_marketing") == "false"
                and fields.get("agree_terms") == "true"
                and "@" in fields.get("email", "")
            ):
                return self.account()
            case "login.meinwlan.com", "/login" if (fields.get("username"), fields.get("password")) == (
                "anon",
                self.token,
            ) and "dst" in fields:
                self.admit()
                return redirect(fields["dst"])
            case "login.meinwlan.com", "/logout":
                self.expel()
                return page("logout", "<p>you have just logged out</p>")
            case "10.20.0.1", "/nodogsplash_auth_tok/" if fields.get("token") == self.token and "redir" in fields:
                self.admit()
                return redirect(fields["redir"])
            case "10.20.0.1", "/nodogsplash_deny/":
                self.expel()
                return redirect("/")
        return Answer(404)

    def account(self):
        return jsonAnswer(
            {"Success": True, "AuthenticationToken": self.token} | ({} if self.options.get("openwrt") else {"Username": "anon"})
        )
