"""A clinic's page in the manner of Angular Material: labels that float, a list in an overlay, a button that waits for valid fields."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"surname": "Lovelace", "code": "K-2209", "choice": "Patient"}, "We found no stay with these data."


class FreshAngular(Scripted):
    """The list's options are in the page only while it is open, behind a transparent sheet over everything that closes it."""

    name, host, title = "fresh-angular", "gast.klinikum-sued.example", "Klinikum Süd Guest Wi-Fi"
    bundle = "/main-ES5KQ2.js"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"code": "K-0000"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"code": "K-0000"}, text=ERROR, corrected=GUEST),
    ]
    style = """.mat-form-field { position: relative; display: block; margin: 1rem 0; } .mat-form-field label { position: absolute; top: 0; left: 8px;
pointer-events: none; color: #666; } .mat-select { border: 1px solid #999; padding: 20px 8px 4px; cursor: pointer; }
.mat-form-field input { padding-top: 20px; } .cdk-overlay-container { position: fixed; inset: 0; pointer-events: none; z-index: 1000; }
.cdk-overlay-backdrop { position: absolute; inset: 0; pointer-events: auto; opacity: 0; } .mat-select-panel { position: absolute; pointer-events: auto;
background: #fff; box-shadow: 0 2px 4px #888; width: 260px; } .mat-option { padding: 12px; cursor: pointer; } .mat-error { color: #b00; }"""
    script = r"""
const value = {surname: "", stay: "", role: "", agreed: false};
const field = (id, text, control) => h("div", {class: "mat-form-field"}, control, h("label", {for: id, id: id + "-label"}, text));
const input = (id, key) => h("input", {id, class: "mat-mdc-input-element", "aria-required": "true", autocomplete: "off",
  oninput: event => { value[key] = event.target.value; check(); }});
const shown = h("span", {class: "mat-select-value"}, "");
let shut = null;
const list = h("div", {id: "mat-select-0", class: "mat-select", role: "combobox", tabindex: "0", "aria-haspopup": "listbox", "aria-expanded": "false",
  "aria-labelledby": "mat-select-0-label", onclick: () => {
  if (shut) return shut();
  const overlay = h("div", {class: "cdk-overlay-container"}), place = list.getBoundingClientRect();
  const close = shut = () => { overlay.remove(); list.setAttribute("aria-expanded", "false"); shut = null; };
  const panel = h("div", {class: "mat-select-panel", role: "listbox", id: "mat-select-0-panel", style: `left: ${place.left}px; top: ${place.bottom}px`},
    ["Patient", "Visitor", "Staff"].map((name, n) => h("div", {class: "mat-option", role: "option", id: "mat-option-" + n, "aria-selected": "false",
      onclick: () => { value.role = name; shown.textContent = name; close(); check(); }}, h("span", {class: "mdc-list-item__primary-text"}, name))));
  overlay.append(h("div", {class: "cdk-overlay-backdrop", onclick: close}), panel);
  document.body.append(overlay);
  list.setAttribute("aria-expanded", "true");
}}, shown);
const box = h("input", {type: "checkbox", id: "mat-checkbox-1-input", class: "mdc-checkbox__native-control",
  onchange: event => { value.agreed = event.target.checked; check(); }});
const error = h("div", {class: "mat-error", "aria-live": "polite"});
const button = h("button", {type: "submit", class: "mat-mdc-raised-button mat-primary", disabled: true}, h("span", {class: "mdc-button__label"}, "Connect"));
const check = () => { button.disabled = !(value.surname && value.stay && value.role && value.agreed); };
show(h("h1", {}, "Guest Wi-Fi"), h("form", {class: "ng-untouched", novalidate: true, onsubmit: async event => {
  event.preventDefault();
  error.textContent = "";
  const answer = await send("/rest/guests", value);
  if (answer.ok) show(h("h1", {}, "You are now connected")); else error.textContent = answer.error;
}}, field("mat-input-0", "Surname", input("mat-input-0", "surname")), field("mat-input-1", "Code of your stay", input("mat-input-1", "stay")),
  field("mat-select-0", "You are", list),
  h("div", {class: "mdc-form-field"}, box, h("label", {for: "mat-checkbox-1-input"}, "I accept the terms of use")), error, button));
"""

    def api(self, request):
        if request.path == "/rest/guests" and self.sends(request):
            value = request.json()
            if value.get("agreed") is not True or value.get("role") != "Patient":
                return bad()
            return self.welcome() if (value.get("surname"), value.get("stay")) == ("Lovelace", "K-2209") else refuse(ERROR)
        return bad()
