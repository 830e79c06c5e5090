"""Partners of Fon: portals 5, after rrooggiieerr/WLANderlust.py."""

from lab import Product, Scenario
from pages import *

ACCOUNT = {"user": "ada@example.org", "password": "sec&ret"}
WRONG = ACCOUNT | {"password": "no"}


def right(fields: dict, user: str = "username", password: str = "password") -> bool:
    return (fields.get(user), fields.get(password)) == (ACCOUNT["user"], ACCOUNT["password"])


class Fon(Product):
    """Partners of Fon (rrooggiieerr/WLANderlust.py)."""

    name = "fon"
    scenarios = [
        Scenario("account", user=ACCOUNT, fewest=3),
        Scenario("refused", "refused", WRONG, text="incorrect"),
        Scenario("cosmote", user=ACCOUNT | {"choice": "passusers"}, options={"ote": True}, fewest=3),
    ]

    def intercept(self, request):
        return redirect(f"https://{'ote' if self.options.get('ote') else 'kpn'}.portal.fon.com/")

    def answer(self, request):
        fields, ote = request.form, self.options.get("ote")
        if not request.host.endswith(".portal.fon.com"):
            return Answer(404)
        names = ("USERNAME", "PASSWORD") if ote else ("UserName", "Password")
        error = ""
        if request.method == "POST":
            if right(fields, *names) and (fields.get("chooseUser") == "passusers" if ote else True):
                self.admit()
                return redirect("/success")
            error = '<p class="error">Username or password incorrect</p>'
        if request.path == "/success":
            return page("KPN | Fon - Success", "<p>Enjoy.</p>")
        extra = hidden(chooseUser="passusers") if ote else ""
        return page(
            "Fon",
            error
            + form(
                "/login",
                extra,
                line(names[0], "User name"),
                line(names[1], "Password", "password"),
                box("remember" if ote else "_rememberMe", "Remember me"),
                button("Log in"),
                id="loginForm",
            ),
        )
