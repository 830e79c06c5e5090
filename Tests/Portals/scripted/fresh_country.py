"""An airport's registration with the guest's country: a list of all, or a field that searches in the manner of react-select."""

from lab import Scenario
from scripted.shell import *

NAMES = """Afghanistan Albania Algeria Andorra Angola Argentina Armenia Aruba Australia Austria Azerbaijan Bahamas Bahrain Bangladesh
Barbados Belarus
Belgium Belize Benin Bermuda Bhutan Bolivia Bonaire Botswana Brazil Brunei Bulgaria Burkina+Faso Burundi Cambodia Cameroon Canada
Cabo+Verde Chad Chile
China Colombia Comoros Congo Cook+Islands Costa+Rica Croatia Cuba Curaçao Cyprus Czechia Denmark Djibouti Dominica Ecuador Egypt
El+Salvador Eritrea
Estonia Eswatini Ethiopia Fiji Finland France Gabon Gambia Georgia Germany Ghana Gibraltar Greece Greenland Grenada Guadeloupe Guam
Guatemala Guernsey
Guinea Guyana Haiti Honduras Hong+Kong Hungary Iceland India Indonesia Iran Iraq Ireland Isle+of+Man Israel Italy Jamaica Japan Jersey
Jordan Kazakhstan
Kenya Kiribati Kuwait Kyrgyzstan Laos Latvia Lebanon Lesotho Liberia Libya Liechtenstein Lithuania Luxembourg Macao Madagascar Malawi
Malaysia Maldives
Mali Malta Martinique Mauritania Mauritius Mayotte Mexico Micronesia Moldova Monaco Mongolia Montenegro Morocco Mozambique Myanmar Namibia
Nauru Nepal
Netherlands New+Zealand Nicaragua Niger Nigeria Niue Norway Oman Pakistan Palau Panama Paraguay Peru Philippines Poland Portugal
Puerto+Rico Qatar Réunion
Romania Russia Rwanda Samoa San+Marino Senegal Serbia Seychelles Singapore Slovakia Slovenia Somalia South+Africa South+Korea Spain
Sri+Lanka Sudan
Suriname Sweden Switzerland Syria Taiwan Tajikistan Tanzania Thailand Togo Tonga Tunisia Türkiye Uganda Ukraine United+Kingdom
United+States Uruguay
Uzbekistan Vanuatu Venezuela Vietnam Yemen Zambia Zimbabwe""".replace("+", "_").split()
COUNTRIES = [name.replace("_", " ") for name in NAMES]
GUEST, ERROR = {"email": "ada@example.org", "choice": "United States"}, "Please select your country."


class FreshCountry(Scripted):
    """The list has far more than a hundred choices, and the guest's is near its end; the field shows choices only while someone types."""

    name, host, title = "fresh-country", "wifi.bay-airport.example", "Bay Airport Wi-Fi"
    bundle = "/build/assets/index-4f9d.js"
    scenarios = [
        Scenario("long list", user=GUEST),
        Scenario("search", user=GUEST | {"react-select-2-input": "United States"}, options={"search": True}),
    ]
    style = """.select__control { display: flex; border: 1px solid #ccc; position: relative; min-height: 38px; cursor: default; }
.select__value-container { display:
grid; flex: 1; padding: 2px 8px; } .select__placeholder, .select__single-value, .select__input-container { grid-area: 1/1/2/3; }
.select__input-container input {
border: 0; margin: 0; padding: 0; background: 0; width: 100%; } .select__menu { position: absolute; z-index: 1; background: #fff;
max-height: 300px; overflow-y: auto; }
.select__option { padding: 8px 12px; cursor: default; }"""
    script = r"""
let country = "";
const mail = h("input", {type: "email", id: "email"}), note = h("p", {class: "form-error"});
const plain = () => { const list = h("select", {id: "country", onchange: () => { country = list.value; }}, h("option", {value: ""},
  "Choose a country"),
  NAMES.map(name => h("option", {value: name}, name))); return list; };
const search = () => {
  const input = h("input", {id: "react-select-2-input", type: "text", tabindex: "0", role: "combobox", "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-haspopup": "true", "aria-label": "Country", autocomplete: "off", autocorrect: "off", spellcheck: "false",
      style: "color: inherit; opacity: 1; outline: 0px;"});
  const shown = h("div", {class: "select__placeholder", id: "react-select-2-placeholder"}, "Select..."), place = h("div", {});
  const close = () => { place.replaceChildren(); input.setAttribute("aria-expanded", "false"); };
  const open = () => { input.setAttribute("aria-expanded", "true"); place.replaceChildren(h("div",
    {class: "select__menu css-1nmdiq5-menu"}, h("div", {role: "listbox",
    id: "react-select-2-listbox", class: "select__menu-list"},
      NAMES.filter(name => name.toLowerCase().includes(input.value.toLowerCase())).map((name, n) =>
      h("div", {class: "select__option", "aria-disabled": "false", id: "react-select-2-option-" + n, tabindex: "-1", role: "option",
        onmousedown: event =>
        event.preventDefault(), onclick: () => { country = name; shown.textContent = name; shown.className = "select__single-value";
          input.value = ""; close(); }}, name))))); };
  input.addEventListener("input", open);
  input.addEventListener("blur", () => { input.value = ""; close(); });
  return h("div", {class: "select css-b62m3t-container"}, h("div", {class: "select__control css-13cymwt-control", onmousedown: event => {
    if (event.target !== input) { event.preventDefault(); input.focus(); }
    place.children.length ? close() : open();
  }}, h("div", {class: "select__value-container"}, shown, h("div", {class: "select__input-container", "data-value": ""}, input))), place);
};
show(h("h1", {}, "Free airport Wi-Fi"), h("label", {for: "email"}, "Email"), mail, h("label",
  {for: SEARCH ? "react-select-2-input" : "country"}, "Country"),
  SEARCH ? search() : plain(), note, h("button", {type: "button", class: "btn", onclick: async () => {
    const answer = await send("/api/register", {email: mail.value, country});
    if (answer.ok) show(h("h1", {}, "You are connected")); else note.textContent = answer.error;
  }}, "Connect"));
"""

    def answer(self, request):
        if request.path == self.bundle:
            known = f"const NAMES = {COUNTRIES!r}, SEARCH = {'true' if self.options.get('search') else 'false'};"
            return Answer(200, RUNTIME + known + self.script, "text/javascript; charset=utf-8")
        return super().answer(request)

    def api(self, request):
        if request.path == "/api/register" and self.sends(request):
            value = request.json()
            if value.get("email") != GUEST["email"]:
                return bad()
            return self.welcome() if value.get("country") == GUEST["choice"] else refuse(ERROR)
        return bad()
