"""A hotel's page in the manner of jQuery UI: three tabs, for a voucher, for the room, and for another company's account."""

from lab import Scenario
from scripted.shell import *

ROOM, VOUCHER, ERROR = {"room": "12", "surname": "Curie"}, {"code": "WLAN-88"}, "The voucher code is not valid."


class FreshTabs(Scripted):
    """All tabs are in the page, one is shown; each has fields of its own, and a button."""

    name, host, title = "fresh-tabs", "hotspot.grand-hotel.example", "Grand Hotel – Hotspot"
    bundle, body = "/js/hotspot.js?v=1.12.1", '<div id="root"></div>'
    scenarios = [
        Scenario("voucher", user=VOUCHER),
        Scenario("refused", "refused", {"code": "WLAN-00"}, text=ERROR),
        Scenario("room", user=ROOM),
        Scenario("room behind social", user=ROOM, options={"first": 2}),
    ]
    style = """.ui-tabs-nav { display: flex; list-style: none; padding: 0; } .ui-tabs-nav li { padding: .4rem; border: 1px solid #aaa; }
.ui-tabs .ui-tabs-nav .ui-tabs-anchor { cursor: pointer; text-decoration: none; } .fb { background: #1877f2; }"""
    script = r"""
const names = ["Voucher", "Room number", "Social login"];
$("#root").innerHTML = `<h1>Internet access</h1><div id="tabs" class="ui-tabs ui-corner-all ui-widget ui-widget-content"><ul role="tablist"
 class="ui-tabs-nav ui-corner-all ui-helper-reset ui-helper-clearfix ui-widget-header">${names.map((name, n) => `<li role="tab"
   tabindex="-1"
 class="ui-tabs-tab ui-corner-top ui-state-default ui-tab" aria-controls="tabs-${n + 1}" aria-labelledby="ui-id-${n + 1}"
   aria-selected="false"
 aria-expanded="false"><a href="#tabs-${n + 1}" role="presentation" tabindex="-1" class="ui-tabs-anchor" id="ui-id-${n + 1}">${name}</a>
   </li>`)
 .join("")}</ul>
 <div id="tabs-1" aria-labelledby="ui-id-1" role="tabpanel" class="ui-tabs-panel ui-corner-bottom ui-widget-content"><p>
   <label for="voucher">
 Voucher code</label><input id="voucher" name="voucher" class="ui-widget ui-corner-all"></p><p class="error ui-state-error"
   style="display: none"></p>
 <input type="button" id="go1" class="ui-button ui-corner-all ui-widget" role="button" value="Login"></div>
 <div id="tabs-2" aria-labelledby="ui-id-2" role="tabpanel" class="ui-tabs-panel ui-corner-bottom ui-widget-content"><p><label for="room">
 Room number</label><input id="room" name="room"></p><p><label for="lastname">Last name</label><input id="lastname" name="lastname"></p>
 <input type="button" id="go2" class="ui-button ui-corner-all ui-widget" role="button" value="Login"></div>
 <div id="tabs-3" aria-labelledby="ui-id-3" role="tabpanel" class="ui-tabs-panel ui-corner-bottom ui-widget-content">
 <button type="button" id="go3" class="ui-button fb">Log in with Facebook</button></div></div>`;
const open = n => names.forEach((_, at) => {
  const [tab, panel] = [$(`[aria-controls=tabs-${at + 1}]`), $("#tabs-" + (at + 1))];
  tab.classList.toggle("ui-tabs-active", at === n); tab.classList.toggle("ui-state-active", at === n);
  tab.setAttribute("aria-selected", String(at === n)); tab.setAttribute("aria-expanded", String(at === n));
  panel.style.display = at === n ? "" : "none"; panel.setAttribute("aria-hidden", String(at !== n));
});
document.querySelectorAll(".ui-tabs-anchor").forEach((node, n) => node.addEventListener("click", event => { event.preventDefault();
  open(n); }));
open(FIRST);
const post = async value => {
  const answer = await send("/login.php", value);
  if (answer.ok) return show(h("h1", {}, "You are connected"));
  $(".error").textContent = answer.error; $(".error").style.display = "";
};
$("#go1").onclick = () => post({kind: "voucher", code: $("#voucher").value});
$("#go2").onclick = () => post({kind: "room", room: $("#room").value, name: $("#lastname").value});
$("#go3").onclick = () => { location.href = "https://www.facebook.com/v12.0/dialog/oauth?client_id=1"; };
"""

    def answer(self, request):
        if request.path == self.bundle.split("?")[0]:
            return Answer(200, f"{RUNTIME}const FIRST = {self.options.get('first', 0)};{self.script}", "text/javascript; charset=utf-8")
        return super().answer(request)

    def api(self, request):
        if request.path == "/login.php" and self.sends(request):
            value = request.json()
            rights = ({"kind": "voucher", "code": VOUCHER["code"]}, {"kind": "room", "room": ROOM["room"], "name": ROOM["surname"]})
            return self.welcome() if value in rights else refuse(ERROR)
        return bad()
