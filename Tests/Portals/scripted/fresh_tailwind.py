"""A gym's page in the manner of Tailwind: the form is there twice, and classes say which copy is for which width of the screen."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"email": "ada@example.org", "code": "FIT-2026"}, "This member code is not active."


class FreshTailwind(Scripted):
    """The wide copy has the class "hidden" as well, which a class for wide screens overrules. In the narrow one nobody can type."""

    name, host, title = "fresh-tailwind", "wifi.iron-gym.example", "Iron Gym Wi-Fi"
    bundle, body = "/_nuxt/entry.7be1.js", '<div id="__nuxt"><div id="root"></div></div>'
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"code": "FIT-1999"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"code": "FIT-1999"}, text=ERROR, corrected=GUEST),
    ]
    style = """.hidden { display: none; } .block { display: block; } @media (min-width: 640px) { .sm\\:block { display: block; }
.sm\\:hidden { display: none; } }
.sr-only { position: absolute; width: 1px; height: 1px; padding: 0; margin: -1px; overflow: hidden; clip: rect(0,0,0,0);
white-space: nowrap; }"""
    script = r"""
const form = key => `<form class="space-y-4" novalidate><div><label for="email-${key}" class="sr-only">Email</label>
  <input id="email-${key}" type="email"
 placeholder="Email" class="appearance-none rounded-md block w-full px-3 py-2 border"></div><div><label for="code-${key}"
   class="sr-only">Member code</label>
 <input id="code-${key}" type="text" placeholder="Member code" class="appearance-none rounded-md block w-full px-3 py-2 border"></div>
 <p class="text-red-600 text-sm" aria-live="polite"></p><button type="submit"
   class="w-full flex justify-center py-2 px-4 rounded-md text-white
 bg-indigo-600">Connect</button></form>`;
$("#root").innerHTML = `<h1 class="text-2xl font-bold">Train online</h1><div class="block sm:hidden">${form("m")}</div>
 <div class="hidden sm:block"><div class="max-w-md mx-auto">${form("d")}</div></div>`;
document.querySelectorAll("form").forEach(node => node.addEventListener("submit", async event => {
  event.preventDefault();
  const [mail, code] = node.querySelectorAll("input");
  const answer = await send("/api/connect", {mail: mail.value, code: code.value});
  if (answer.ok) return show(h("h1", {class: "text-2xl"}, "You are connected"));
  node.querySelector("p").textContent = answer.error;
}));
"""

    def api(self, request):
        if request.path == "/api/connect" and self.sends(request):
            value = request.json()
            if value.get("mail") != GUEST["email"]:
                return bad()
            return self.welcome() if value.get("code") == GUEST["code"] else refuse(ERROR)
        return bad()
