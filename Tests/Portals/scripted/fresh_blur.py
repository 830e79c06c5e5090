"""A bus company's page in the manner of Svelte: each field is checked when it is left, and the button waits for that."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"email": "ada@example.org", "code": "AB12CD"}, "This booking has no Wi-Fi."


class FreshBlur(Scripted):
    """The booking is checked with the server on the way. The notice of a refusal goes after four seconds."""

    name, host, title = "fresh-blur", "onboard.flixbahn.example", "On board"
    bundle = "/_app/immutable/entry/app.D3x.js"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"code": "AB12XX"}, text=ERROR),
    ]
    # The notice of the first try is gone, or the field that was corrected is checked too late.
    gaps = [
        Scenario("corrected", user=GUEST | {"code": "AB12XX"}, text=ERROR, corrected=GUEST),
    ]
    style = ".snackbar { position: fixed; left: 0; right: 0; bottom: 0; background: #333; color: #fff; padding: 1rem; } .bad { color: #b00; }"
    script = r"""
const good = {email: false, code: false};
const field = (id, text, check) => {
  const note = h("span", {class: "bad", id: id + "-note"});
  const input = h("input", {id, "aria-describedby": id + "-note", onblur: async () => {
    const fault = await check(input.value.trim());
    good[id] = !fault;
    note.textContent = fault;
    input.setAttribute("aria-invalid", String(Boolean(fault)));
    button.toggleAttribute("disabled", !(good.email && good.code));
  }});
  return [h("label", {for: id}, text), input, note];
};
const button = h("button", {type: "button", disabled: true, onclick: async () => {
  const answer = await send("/api/onboard", {email: $("#email").value, code: $("#code").value});
  if (answer.ok) return show(h("h1", {}, "Connected"), h("p", {}, "You are online until your last stop."));
  const snackbar = h("div", {class: "snackbar", role: "status"}, answer.error);
  document.body.append(snackbar);
  setTimeout(() => snackbar.remove(), 4000);
}}, "Go online");
show(h("h1", {}, "Wi-Fi on board"), field("email", "E-mail", value => /.@.+\../.test(value) ? "" : "Not an e-mail address"),
  field("code", "Booking code", async value => (await send("/api/onboard/form", {code: value})).ok ? "" : "Six letters and digits"), button);
"""

    def api(self, request):
        if request.path == "/api/onboard/form" and self.sends(request):
            return jsonAnswer({"ok": len(request.json().get("code", "")) == 6})
        if request.path == "/api/onboard" and self.sends(request):
            value = request.json()
            if value.get("email") != GUEST["email"]:
                return bad()
            return self.welcome() if value.get("code") == GUEST["code"] else refuse(ERROR)
        return bad()
