"""GlobalReach Odyssys in front of Aruba: portals 5 and 3.4."""

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *


class GlobalReach(Product):
    """A coffee chain's page in front of Aruba: name, e-mail, then the controller's login."""

    name, gatewayNames = "globalreach", ("aruba.odyssys.net",)
    scenarios = [Scenario("register", user={"name": "Ada", "email": "ada@example.org", "zip": "10115"}, fewest=3)]

    def intercept(self, request):
        return redirect(
            "https://sbux-portal.globalreachtech.com/?"
            + encode(cmd="login", mac=CLIENT_MAC, essid="Lab", ip=CLIENT, switchip="aruba.odyssys.net", url=request.url),
            phrase="Captive Portal",
        )

    def answer(self, request):
        fields = request.form
        if request.host == "aruba.odyssys.net":
            if request.path == "/cgi-bin/login" and (fields.get("cmd"), fields.get("user"), fields.get("password")) == (
                "authenticate",
                "g-1",
                "p-1",
            ):
                self.admit()
                return redirect("http://example.org/")
            return Answer(404)
        if request.host != "sbux-portal.globalreachtech.com":
            return Answer(404)
        if (
            request.method == "POST"
            and fields.get("first_name")
            and "@" in fields.get("email", "")
            and fields.get("zip")
            and fields.get("accept") == "1"
        ):
            return page(
                "Connecting",
                form("http://aruba.odyssys.net/cgi-bin/login", hidden(cmd="authenticate", user="g-1", password="p-1"), name="f")
                + "<script>document.f.submit();</script>",
            )
        return page(
            "Welcome",
            form(
                "",
                line("first_name", "First name"),
                line("email", "Email address", "email"),
                line("zip", "Postal code"),
                box("accept", "I accept the terms of use", "1"),
                button("Accept &amp; connect"),
            ),
        )
