"""BT Wi-fi and EE: portals 5, after CPAL EEWifi."""

from lab import Product, Scenario
from pages import *

ACCOUNT = {"user": "ada@example.org", "password": "sec&ret"}
WRONG = ACCOUNT | {"password": "no"}


def right(fields: dict, user: str = "username", password: str = "password") -> bool:
    return (fields.get(user), fields.get(password)) == (ACCOUNT["user"], ACCOUNT["password"])


class BT(Product):
    """BT Wi-fi (`/tbbLogon`) and EE, whose form has another id."""

    name = "bt"
    ports = {8443: "https"}
    scenarios = [
        Scenario("account", user=ACCOUNT, fewest=2, logoff=True),
        Scenario("refused", "refused", WRONG, text="not recognised"),
        Scenario("ee", user=ACCOUNT, options={"ee": True}, fewest=2),
    ]

    def begin(self):
        self.host = "ee-wifi.ee.co.uk" if self.options.get("ee") else "www.btwifi.com"

    def intercept(self, request):
        return redirect(f"https://{self.host}:8443/home")

    def answer(self, request):
        if request.host != self.host or request.port != 8443:
            return Answer(404)
        match request.method, request.path:
            case "POST", "/tbbLogon" if right(request.form):
                self.admit()
                return redirect("/home")
            case "POST", "/tbbLogon":
                return self.page('<p class="error">Your username or password was not recognised.</p>')
            case "GET", "/accountLogoff/home" if request.args.get("confirmed") == "true":
                self.expel()
                return redirect("/home")
            case "GET", "/home" if self.isOpen:
                return page("BT Wi-fi", '<p>You are now logged on.</p><a href="/accountLogoff/home?confirmed=true">Log off</a>')
            case "GET", "/home":
                return self.page("")
        return Answer(404)

    def page(self, error):
        return page(
            "Wi-fi",
            error
            + form(
                "/tbbLogon",
                line("username", "Username"),
                line("password", "Password", "password"),
                button("Log on"),
                id="loginForm-eeb" if self.options.get("ee") else "tbb",
            ),
        )
