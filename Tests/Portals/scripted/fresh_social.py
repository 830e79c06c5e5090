"""A restaurant's page with the buttons of three companies above the one for a form, as social portals have it."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"name": "Ada", "email": "ada@example.org"}, "The email format is invalid"


class FreshSocial(Scripted):
    """Who presses another company's button leaves for its host; the form needs a name, an address, and a box for the terms."""

    name, host, title = "fresh-social", "hs.pizzeria-roma.example", "Pizzeria Roma Wi-Fi"
    bundle = "/bundles/splash-1.44.0.js"
    scenarios = [
        Scenario("in", user=GUEST, never=("oauth",)),
        Scenario("refused", "refused", GUEST | {"email": "ada@x.invalid"}, text=ERROR, never=("oauth",)),
        Scenario("corrected", user=GUEST | {"email": "ada@x.invalid"}, text=ERROR, corrected=GUEST, never=("oauth",)),
    ]
    style = """.social { display: block; width: 100%; margin: .3rem 0; } .toggle input { position: absolute; opacity: 0; }
.slider { display: inline-block; width: 40px; height: 20px; background: #ccc; }"""
    script = r"""
const away = host => () => { location.href = `http://hs.pizzeria-roma.example/oauth/${host}`; };
const first = () => show(h("img", {src: "/logo.png", alt: "Pizzeria Roma", width: "150", height: "50"}), h("h2", {},
  "Log in to use our Wi-Fi"),
  h("button", {type: "button", class: "social social--facebook", onclick: away("facebook")}, h("i", {class: "fa fa-facebook"}), h("span",
    {}, "Continue with Facebook")),
  h("button", {type: "button", class: "social social--google", onclick: away("google")}, h("i", {class: "fa fa-google"}), h("span", {},
    "Continue with Google")),
  h("button", {type: "button", class: "social social--apple", onclick: away("apple")}, h("span", {}, "Sign in with Apple")), h("div",
    {class: "or"}, "or"),
  h("button", {type: "button", class: "social social--email", onclick: second}, h("i", {class: "fa fa-envelope"}), h("span", {},
    "Continue with email")));
function second() {
  const name = h("input", {type: "text", id: "name"}), mail = h("input", {type: "email", id: "email"}), box = h("input",
    {type: "checkbox", id: "tos"});
  const note = h("small", {class: "error-text"});
  show(h("h2", {}, "Your details"), h("form", {novalidate: true, onsubmit: async event => {
    event.preventDefault();
    const answer = await send("/splash/form", {name: name.value, email: mail.value, tos: box.checked});
    if (answer.ok) show(h("h2", {}, "Connected!"), h("p", {}, "Buon appetito.")); else note.textContent = answer.error;
  }}, h("label", {for: "name"}, "Name"), name, h("label", {for: "email"}, "Email"), mail, note, h("label", {class: "toggle"}, box,
    h("span", {class: "slider round"}),
    h("span", {}, " I accept the ", h("a", {href: "/tos", target: "_blank"}, "Terms of Service"), " and ", h("a", {href: "/privacy",
      target: "_blank"}, "Privacy Policy"))),
    h("button", {type: "submit", class: "cta"}, "Connect")), h("a", {href: "#", onclick: event => { event.preventDefault(); first(); }},
      "Back"));
}
first();
"""

    def api(self, request):
        if request.path == "/splash/form" and self.sends(request):
            value = request.json()
            if value.get("tos") is not True or value.get("name") != "Ada":
                return refuse("Please accept the Terms of Service")
            return self.welcome() if value.get("email") == GUEST["email"] else refuse(ERROR)
        return Answer(200, "<p>Terms.</p>") if request.path in ("/tos", "/privacy") else Answer(404)
