"""A stadium's registration with a date of birth in the manner of flatpickr: the field takes no typing, a calendar fills it in."""

from lab import Scenario
from scripted.shell import *

GUEST = {"email": "ada@example.org", "date": "1990-07-14", "birthDate": "1990-07-14", "dob": "1990-07-14"}
ERROR = "You must be at least 16 years old."


class FreshBirthDate(Scripted):
    """As three lists of day, month and year, or as a calendar over the page that opens with the field's focus."""

    name, host, title = "fresh-birth-date", "wifi.arena-stadium.example", "Arena Stadium Wi-Fi"
    bundle = "/dist/app.2b7e.js"
    scenarios = [
        Scenario("lists", user=GUEST | {"dob-day": "14", "dob-month": "6", "dob-year": "1990"}, options={"lists": True}),
        Scenario("too young", "refused", GUEST | {"dob-day": "14", "dob-month": "6", "dob-year": "2015"}, {"lists": True}, ERROR),
        Scenario("calendar", user=GUEST),
    ]
    style = """.flatpickr-calendar { position: absolute; z-index: 99999; background: #fff; border: 1px solid #ccc; width: 300px; }
.flatpickr-day { display: inline-block; width: 34px; cursor: pointer; }"""
    script = r"""
const months = "January February March April May June July August September October November December".split(" ");
const options = (from, to, names) => Array.from({length: to - from + 1}, (_,
  n) => `<option value="${from + n}">${names ? names[n] : from + n}</option>`);
const years = Array.from({length: 100}, (_, n) => `<option value="${2020 - n}">${2020 - n}</option>`).join("");
$("#root").innerHTML = `<h1>Fan registration</h1><form novalidate><div class="mb-3"><label for="email" class="form-label">Email</label>
 <input type="email" id="email" class="form-control"></div><div class="mb-3">${LISTS ? `<fieldset><legend>Date of birth</legend>
 <select id="dob-day" aria-label="Day" class="form-select"><option value="">Day</option>${options(1, 31).join("")}</select>
 <select id="dob-month" aria-label="Month" class="form-select"><option value="">Month</option>${options(0, 11, months).join("")}</select>
 <select id="dob-year" aria-label="Year" class="form-select"><option value="">Year</option>${years}</select></fieldset>`
 : `<label for="dob" class="form-label">Date of birth</label><input class="form-control flatpickr-input" id="dob"
   placeholder="YYYY-MM-DD" type="text"
 readonly="readonly">`}</div><div class="text-danger"></div><button type="submit" class="btn btn-primary">Register and connect</button>
   </form>`;
let born = "";
const dob = $("#dob");
dob?.addEventListener("focus", () => {
  if ($(".flatpickr-calendar")) return;
  const month = h("select", {class: "flatpickr-monthDropdown-months", "aria-label": "Month", tabindex: "-1"});
  month.innerHTML = options(0, 11, months).join("");
  const year = h("input", {class: "numInput cur-year", type: "number", tabindex: "-1", "aria-label": "Year"}), days = h("div",
    {class: "dayContainer"});
  year.value = "2026";
  const draw = () => days.replaceChildren(...Array.from({length: 31}, (_, n) => h("span", {class: "flatpickr-day", tabindex: "-1",
    "aria-label": `${months[month.value]} ${n + 1}, ${year.value}`, onmousedown: event => event.preventDefault(), onclick: () => {
      born = `${year.value}-${String(+month.value + 1).padStart(2, "0")}-${String(n + 1).padStart(2, "0")}`;
      dob.value = born; calendar.remove(); }}, String(n + 1))));
  const calendar = h("div", {class: "flatpickr-calendar animate open arrowTop", tabindex: "-1"}, h("div", {class: "flatpickr-months"},
    h("span", {class: "flatpickr-prev-month"}), month, year, h("span", {class: "flatpickr-next-month"})), days);
  month.onchange = year.oninput = draw;
  draw();
  const place = dob.getBoundingClientRect();
  calendar.style.left = place.left + "px"; calendar.style.top = place.bottom + scrollY + "px";
  document.body.append(calendar);
});
$("form").addEventListener("submit", async event => {
  event.preventDefault();
  if (LISTS) born = [$("#dob-year").value, String(+$("#dob-month").value + 1).padStart(2, "0"), $("#dob-day").value.padStart(2,
    "0")].join("-");
  const answer = await send("/api/register", {email: $("#email").value, born});
  if (answer.ok) show(h("h1", {}, "You're in!"), h("p", {}, "Enjoy the match.")); else $(".text-danger").textContent = answer.error;
});
"""

    def answer(self, request):
        if request.path == self.bundle:
            lists = "true" if self.options.get("lists") else "false"
            return Answer(200, f"{RUNTIME}const LISTS = {lists};{self.script}", "text/javascript; charset=utf-8")
        return super().answer(request)

    def api(self, request):
        if request.path == "/api/register" and self.sends(request):
            value = request.json()
            if value.get("email") != GUEST["email"]:
                return bad()
            if value.get("born") == GUEST["date"]:
                return self.welcome()
            return refuse(ERROR if str(value.get("born")) > "2010" else "Please enter your date of birth.")
        return bad()
