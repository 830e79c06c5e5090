"""A shopping centre's login by telephone in the manner of intl-tel-input: the country is chosen by its flag, the code comes in a text."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"phone": "1701234567", "choice": "Germany +49", "code": "7315"}, "Please enter a valid mobile number."


class FreshFlags(Scripted):
    """The list of countries is in the page, hidden; the flag is its button. A number with +49 chooses its country by itself."""

    name, host, title = "fresh-flags", "wifi.arena-mall.example", "Arena Mall Wi-Fi"
    bundle, body = "/js/portal.js?ver=18.2.1", '<div id="root"></div>'
    scenarios = [
        Scenario("with the country", user=GUEST | {"phone": "+491701234567"}),
        Scenario("by the flag", user=GUEST),
        Scenario("refused", "refused", GUEST | {"phone": "+4912"}, text=ERROR),
    ]
    style = """.iti { position: relative; display: inline-block; width: 100%; } .iti__flag-container { position: absolute; top: 0;
bottom: 0; left: 0; }
.iti__selected-flag { display: flex; align-items: center; height: 100%; padding: 0 6px 0 8px; cursor: pointer; z-index: 1;
position: relative; }
.iti__flag { width: 20px; height: 15px; background: #c00; } .iti__hide { display: none; } .iti__country-list { position: absolute;
z-index: 2;
background: #fff; list-style: none; padding: 0; margin: 0; border: 1px solid #ccc; max-height: 200px; overflow-y: scroll; width: 20rem; }
.iti__country { display: flex; padding: 5px 10px; cursor: pointer; } .iti__arrow { border: 4px solid transparent; border-top-color: #555; }
.iti input { box-sizing: border-box; width: 100%; padding-left: 90px; margin: 0; }"""
    script = r"""
const countries = [["us", "United States", "1"], ["gb", "United Kingdom", "44"], ["de", "Germany", "49"], ["fr", "France", "33"]];
let chosen = countries[0];
$("#root").innerHTML = `<h2 class="text-center">Free Wi-Fi</h2><form class="needs-validation" novalidate><div class="form-group">
  <label for="phone"
 class="control-label">Mobile number</label><div class="iti iti--allow-dropdown iti--separate-dial-code iti--show-flags">
   <div class="iti__flag-container">
 <div class="iti__selected-flag" role="combobox" aria-controls="iti-0__country-listbox" aria-owns="iti-0__country-listbox"
   aria-expanded="false"
 tabindex="0" title="United States: +1" aria-label="Selected country"><div class="iti__flag iti__us"></div>
   <div class="iti__selected-dial-code">+1</div>
 <div class="iti__arrow"></div></div><ul class="iti__country-list iti__hide" id="iti-0__country-listbox" role="listbox"
   aria-label="List of countries">
 ${countries.map(([id, name, code]) => `<li class="iti__country iti__standard" tabindex="-1" id="iti-0__item-${id}" role="option"
 data-dial-code="${code}" data-country-code="${id}" aria-selected="false"><div class="iti__flag-box"><div class="iti__flag iti__${id}">
   </div></div>
 <span class="iti__country-name">${name}</span><span class="iti__dial-code">+${code}</span></li>`).join("")}</ul></div>
 <input type="tel" class="form-control" id="phone" name="phone" autocomplete="off" data-intl-tel-input-id="0"></div>
 <div class="invalid-feedback" style="color: #b00"></div></div><button type="submit"
   class="btn btn-success btn-block">Get code by SMS</button></form>`;
const phone = $("#phone"), flag = $(".iti__selected-flag"), list = $(".iti__country-list");
const choose = country => { chosen = country; flag.title = `${country[1]}: +${country[2]}`;
  $(".iti__selected-dial-code").textContent = "+" + country[2];
  flag.firstElementChild.className = "iti__flag iti__" + country[0]; close(); };
const close = () => { list.classList.add("iti__hide"); flag.setAttribute("aria-expanded", "false"); };
flag.addEventListener("click", event => { event.stopPropagation();
  if (!list.classList.toggle("iti__hide")) flag.setAttribute("aria-expanded", "true"); });
list.addEventListener("click", event => { const id = event.target.closest("li").dataset.countryCode;
  choose(countries.find(country => country[0] === id)); });
document.addEventListener("click", close);
phone.addEventListener("input", () => {
  const country = countries.findLast(([, , code]) => phone.value.startsWith("+" + code));
  if (country) { choose(country); }
});
const number = () => phone.value.startsWith("+") ? phone.value.replace(/[^\d+]/g, "") : `+${chosen[2]}${phone.value.replace(/\D/g, "")}`;
$("form").addEventListener("submit", async event => {
  event.preventDefault();
  const answer = await send("/sms/send", {number: number()});
  if (!answer.ok) { $(".invalid-feedback").textContent = answer.error; return; }
  const code = h("input", {id: "otp", name: "otp", class: "form-control", autocomplete: "one-time-code", maxlength: "4",
    inputmode: "numeric"});
  show(h("h2", {}, "Check your phone"), h("label", {for: "otp"}, "Code from the text message"), code,
    h("button", {type: "button", class: "btn btn-success", onclick: async () => {
      if ((await send("/sms/check", {code: code.value})).ok) show(h("h2", {}, "You are online")); }}, "Verify"));
});
"""

    def api(self, request):
        if request.path == "/sms/send" and self.sends(request):
            return jsonAnswer({"ok": True}) if request.json() == {"number": "+491701234567"} else refuse(ERROR)
        if request.path == "/sms/check" and self.sends(request):
            return self.welcome() if request.json() == {"code": GUEST["code"]} else refuse("Wrong code.")
        return bad()
