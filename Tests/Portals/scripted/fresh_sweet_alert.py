"""A gym's page in the manner of SweetAlert: whatever the portal says, it says in a box over the page."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"member": "M-1207", "pin": "5566"}, "Member or PIN unknown to us"


class FreshSweetAlert(Scripted):
    """The box has three buttons, two of which are not shown; the one for success has to be closed as well."""

    name, host, title = "fresh-sweet-alert", "wifi.ironworks-gym.example", "Ironworks Gym"
    bundle = "/js/gym.js"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"pin": "1"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"pin": "1"}, text=ERROR, corrected=GUEST),
    ]
    style = """.swal2-container { position: fixed; inset: 0; background: rgba(0,0,0,.4); display: grid; z-index: 1060; } .swal2-popup { margin: auto;
background: #fff; padding: 1rem; width: 20rem; text-align: center; }"""
    script = r"""
const fire = (title, text) => new Promise(done => {
  const close = () => { box.remove(); done(); };
  const box = h("div", {class: "swal2-container swal2-center swal2-backdrop-show"}, h("div", {class: "swal2-popup swal2-modal", role: "dialog", tabindex: "-1",
    "aria-modal": "true"}, h("button", {type: "button", class: "swal2-close", "aria-label": "Close this dialog", style: "display: none"}, "×"),
    h("div", {class: "swal2-icon", style: "display: flex"}, h("span", {class: "swal2-x-mark"})), h("h2", {class: "swal2-title"}, title),
    h("div", {class: "swal2-html-container"}, text), h("div", {class: "swal2-actions"}, h("button", {type: "button", class: "swal2-confirm",
    onclick: close}, "OK"), h("button", {type: "button", class: "swal2-deny", style: "display: none"}, "No"), h("button", {type: "button",
    class: "swal2-cancel", style: "display: none"}, "Cancel"))));
  document.body.append(box);
});
const [member, pin] = [h("input", {id: "member", placeholder: "Member number"}), h("input", {id: "pin", type: "password", placeholder: "PIN"})];
show(h("h1", {}, "Ironworks"), member, pin, h("button", {type: "button", onclick: async () => {
  const answer = await send("/wifi", {member: member.value, pin: pin.value});
  if (!answer.ok) return fire("Oops...", answer.error);
  await fire("Great!", "Your device is registered for today.");
  show(h("h1", {}, "See you at the squat rack"));
}}, "Sign in"));
"""

    def api(self, request):
        if request.path == "/wifi" and self.sends(request):
            return self.welcome() if request.json() == {"member": "M-1207", "pin": "5566"} else refuse(ERROR)
        return bad()
