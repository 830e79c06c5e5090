"""A camp site's page with the login in a dialog element that a button opens; a refusal is told by alert()."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"code": "ZELT-77"}, "Sorry, we do not know this ticket."


class FreshDialog(Scripted):
    """The page beneath is inert while the dialog is open. It stays open behind a refusal."""

    name, host, title = "fresh-dialog", "wifi.seecamping.example", "See-Camping"
    bundle = "/main.js"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", {"code": "ZELT-1"}, text=ERROR),
        Scenario("corrected", user={"code": "ZELT-1"}, text=ERROR, corrected=GUEST),
    ]
    script = r"""
const code = h("input", {id: "ticket", name: "ticket", required: true}), dialog = h("dialog", {"aria-labelledby": "t"}, h("form", {method: "dialog",
  onsubmit: async event => {
    event.preventDefault();
    const answer = await send("/ticket", {code: code.value});
    if (!answer.ok) { alert(answer.error); code.value = ""; return; }
    dialog.close();
    show(h("h1", {}, "You are online"), h("p", {}, "Have a nice stay."));
  }}, h("h2", {id: "t"}, "Your ticket"), h("label", {for: "ticket"}, "Ticket code"), code, h("button", {type: "submit"}, "Connect"),
  h("button", {type: "button", "aria-label": "Close", onclick: () => dialog.close()}, "×")));
show(h("h1", {}, "See-Camping"), h("p", {}, "Wi-Fi on the whole site, with the ticket from the reception."), h("button", {type: "button",
  onclick: () => dialog.showModal()}, "Log in"), h("a", {href: "/map"}, "Map of the site"));
document.body.append(dialog);
"""

    def api(self, request):
        if request.path == "/ticket" and self.sends(request):
            return self.welcome() if request.json().get("code") == GUEST["code"] else refuse(ERROR)
        return bad()
