"""A library's page in the manner of htmx: the server sends parts of a page, which a script puts in place of others."""

import urllib.parse

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"email": "ada@example.org", "code": "4711"}, "This code is not the one that we sent."


class FreshPartials(Scripted):
    """No answer is JSON and none is a page. The second step asks for a code; a wrong one brings the step again, with a sentence."""

    name, host, title = "fresh-partials", "wifi.stadtbibliothek.example", "City Library"
    bundle, body = "/js/partials.min.js", '<div id="root"><section id="step" data-load="/part/start">Loading…</section></div>'
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"code": "4712"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"code": "4712"}, text=ERROR, corrected=GUEST),
    ]
    script = r"""
const step = $("#step");
const swap = async (url, body) => {
  const answer = await fetch(url, {method: body ? "POST" : "GET", body, headers: {"HX-Request": "true"}});
  step.innerHTML = await answer.text();
};
document.addEventListener("submit", event => {
  if (!event.target.dataset.post) return;
  event.preventDefault();
  swap(event.target.dataset.post, new URLSearchParams(new FormData(event.target)));
});
swap(step.dataset.load);
"""

    def part(self, text: str) -> Answer:
        return Answer(200, text, "text/html; charset=utf-8")

    def askForCode(self, note: str = "") -> Answer:
        return self.part(f"""<h2>Check your inbox</h2><form data-post="/part/code"><label>Code from our e-mail
<input name="code" inputmode="numeric" autocomplete="one-time-code"></label>{note}<button>Confirm</button></form>""")

    def api(self, request):
        if request.headers.get("HX-Request") != "true":
            return bad()
        value = dict(urllib.parse.parse_qsl(request.body.decode()))
        if request.path == "/part/start":
            return self.part("""<h2>Free Wi-Fi for readers</h2><form data-post="/part/mail"><label>E-mail
<input type="email" name="email"></label><button>Send me a code</button></form>""")
        if request.path == "/part/mail" and value.get("email") == GUEST["email"]:
            return self.askForCode()
        if request.path == "/part/code":
            if value.get("code") != GUEST["code"]:
                return self.askForCode(f'<p class="note">{ERROR}</p>')
            self.admit()
            return self.part("<h2>You are online</h2><p>Enjoy reading.</p>")
        return bad()
