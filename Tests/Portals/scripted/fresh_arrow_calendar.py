"""A festival's page whose date of birth only a calendar with arrows fills in; the field shows the date in words."""

from lab import Scenario
from scripted.shell import *

GUEST = {"email": "ada@example.org", "birth": "1990-07-14"}
ERROR = "You must be at least 16 years old."


class FreshArrowCalendar(Scripted):
    """Days of the months beside it are shown as well, and cannot be chosen. The calendar goes when the pointer goes down elsewhere."""

    name, host, title = "fresh-arrow-calendar", "wifi.open-air.example", "Open Air Festival"
    bundle = "/build/bundle.js?v=5"
    scenarios = [
        Scenario("refused", "refused", GUEST | {"birth": "2015-07-31"}, text=ERROR),
    ]
    # On a busy machine turning back 36 years takes more than the four seconds that one field has.
    gaps = [
        Scenario("in", user=GUEST),
        Scenario("corrected", user=GUEST | {"birth": "2015-07-31"}, text=ERROR, corrected=GUEST),
    ]
    style = """.dp { position: absolute; background: #fff; border: 1px solid #999; width: 280px; z-index: 10; } .dp button { padding: 4px; width: 38px;
background: #fff; color: #000; } .dp .head { display: flex; justify-content: space-between; } .dp button:disabled { color: #bbb; background: #fff; }"""
    script = r"""
let at = new Date(Date.UTC(2026, 5, 1)), born = "";
const title = date => date.toLocaleDateString("en-GB", {month: "long", year: "numeric", timeZone: "UTC"});
const field = h("input", {id: "birth", type: "text", readonly: true, placeholder: "Select your birthday", class: "dp__input"});
const picker = h("div", {class: "dp", role: "dialog", "aria-label": "Choose a date"});
const move = months => { at = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1)); draw(); };
const arrow = (sign, name, months) => h("button", {type: "button", "aria-label": name, onclick: () => move(months)}, sign);
const draw = () => {
  const first = new Date(at);
  first.setUTCDate(1 - (at.getUTCDay() + 6) % 7);
  picker.replaceChildren(h("div", {class: "head"}, arrow("«", "Previous year", -12), arrow("‹", "Previous month", -1), h("span", {"aria-live": "polite"}, title(at)),
    arrow("›", "Next month", 1), arrow("»", "Next year", 12)), h("div", {role: "grid"}, Array.from({length: 42}, (_, n) => {
      const day = new Date(first);
      day.setUTCDate(first.getUTCDate() + n);
      return h("button", {type: "button", role: "gridcell", disabled: day.getUTCMonth() !== at.getUTCMonth(), onclick: () => {
        born = day.toISOString().slice(0, 10);
        field.value = day.toLocaleDateString("en-GB", {day: "numeric", month: "short", year: "numeric", timeZone: "UTC"});
        picker.remove();
      }}, h("span", {}, String(day.getUTCDate())), h("span", {class: "ripple"}));
    })));
};
field.addEventListener("click", () => { draw(); field.parentElement.append(picker); });
document.addEventListener("mousedown", event => { if (event.target !== field && !picker.contains(event.target)) picker.remove(); });
const mail = h("input", {id: "email", type: "email"}), note = h("p", {class: "msg-error"});
show(h("h1", {}, "Wi-Fi for our guests"), h("label", {for: "email"}, "E-mail"), mail, h("div", {}, h("label", {for: "birth"}, "Date of birth"), field), note,
  h("button", {type: "button", onclick: async () => {
    note.textContent = "";
    const answer = await send("/api/join", {email: mail.value, born});
    if (answer.ok) show(h("h1", {}, "You're connected")); else note.textContent = answer.error;
  }}, "Join"));
"""

    def api(self, request):
        if request.path == "/api/join" and self.sends(request):
            value = request.json()
            if value.get("email") != GUEST["email"] or not value.get("born"):
                return bad()
            return self.welcome() if value["born"] == GUEST["birth"] else refuse(ERROR if value["born"] == "2015-07-31" else f"Born {value['born']}?")
        return bad()
