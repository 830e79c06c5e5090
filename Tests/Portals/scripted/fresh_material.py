"""A hotel's application in the manner of Angular Material: fields with floating labels, a list in an overlay, a drawn box."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"room": "318", "surname": "Noether", "choice": "Conference"}, "Room number and last name do not match."


class FreshMaterial(Scripted):
    """The list opens in a layer with a backdrop, which only the backdrop, the Escape key or an option closes."""

    name, host, title = "fresh-material", "guest.parkview-hotel.example", "Parkview Hotel Wi-Fi"
    bundle, body = "/main.9c1f2ab77d.js", '<app-root id="root" ng-version="17.3.8"></app-root>\n<div class="cdk-overlay-container"></div>'
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"room": "1"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"room": "1"}, text=ERROR, corrected=GUEST),
    ]
    style = """.mat-mdc-form-field { display: inline-flex; flex-direction: column; width: 100%; } .mat-mdc-text-field-wrapper {
position: relative; }
.mdc-notched-outline { position: absolute; inset: 0; display: flex; pointer-events: none; border: 1px solid #888; border-radius: 4px; }
.mdc-floating-label { position: absolute; left: 12px; top: 50%; transform: translateY(-50%); } .mdc-text-field__input { border: 0;
margin: 0; }
.mat-mdc-select { display: block; padding: 1rem; cursor: pointer; } .mdc-checkbox { position: relative; width: 18px; height: 18px;
flex: none; }
.mdc-checkbox__native-control { position: absolute; inset: 0; width: 18px; height: 18px; margin: 0; opacity: 0; z-index: 1;
cursor: pointer; }
.mdc-checkbox__background { position: absolute; inset: 0; border: 2px solid #555; pointer-events: none; } .mdc-form-field { display: flex; }
.cdk-overlay-container { position: fixed; inset: 0; z-index: 1000; pointer-events: none; } .cdk-overlay-backdrop { position: absolute;
inset: 0; pointer-events: auto; } .cdk-overlay-pane { position: absolute; left: 20%; top: 40%; pointer-events: auto; background: #fff; }
.mat-mdc-option { display: flex; padding: .8rem; cursor: pointer; } .mat-mdc-button-touch-target { position: absolute; inset: 0; }
.mat-mdc-unelevated-button { position: relative; } .mat-ripple { position: absolute; inset: 0; pointer-events: none; }"""
    script = r"""
const field = (n, label, error) => `<mat-form-field class="mat-mdc-form-field mat-form-field-appearance-outline ng-untouched ng-pristine
 ng-invalid"><div class="mat-mdc-text-field-wrapper mdc-text-field mdc-text-field--outlined"><div class="mat-mdc-form-field-flex">
 <div matformfieldnotchedoutline class="mdc-notched-outline"><div class="mat-mdc-notch-piece mdc-notched-outline__notch">
 <label matformfieldfloatinglabel class="mdc-floating-label mat-mdc-floating-label" id="mat-mdc-form-field-label-${n}" for="mat-input-${n}">
 <mat-label>${label}</mat-label><span aria-hidden="true" class="mat-mdc-form-field-required-marker"> *</span></label></div></div>
 <div class="mat-mdc-form-field-infix"><input matinput class="mat-mdc-input-element mdc-text-field__input" id="mat-input-${n}" required
 aria-required="true" aria-invalid="false"></div></div></div>
 <div class="mat-mdc-form-field-subscript-wrapper"><div class="mat-mdc-form-field-error-wrapper"></div></div></mat-form-field>`;
$("#root").innerHTML = `<router-outlet></router-outlet><app-login><mat-card class="mat-mdc-card mdc-card"><mat-card-header>
 <mat-card-title class="mat-mdc-card-title">Guest login</mat-card-title></mat-card-header><form novalidate class="ng-untouched ng-invalid">
 ${field(0, "Room number")}${field(1, "Last name")}
 <mat-form-field class="mat-mdc-form-field mat-mdc-form-field-type-mat-select"><div class="mat-mdc-text-field-wrapper mdc-text-field">
 <div class="mat-mdc-form-field-flex"><div class="mdc-notched-outline"><label class="mdc-floating-label" id="mat-mdc-form-field-label-2"
 for="mat-select-0"><mat-label>Reason of your stay</mat-label></label></div><div class="mat-mdc-form-field-infix">
 <mat-select role="combobox" aria-haspopup="listbox" class="mat-mdc-select" tabindex="0" id="mat-select-0" aria-expanded="false"
 aria-labelledby="mat-mdc-form-field-label-2 mat-select-value-1" aria-required="true">
   <div cdk-overlay-origin class="mat-mdc-select-trigger">
 <div class="mat-mdc-select-value" id="mat-select-value-1"><span class="mat-mdc-select-placeholder mat-mdc-select-min-line"></span></div>
 <div class="mat-mdc-select-arrow-wrapper"><div class="mat-mdc-select-arrow"><svg viewBox="0 0 24 24" width="24px" height="24px"
 focusable="false" aria-hidden="true"><path d="M7 10l5 5 5-5z"></path></svg></div></div></div></mat-select></div></div></div>
   </mat-form-field>
 <mat-checkbox class="mat-mdc-checkbox mat-accent" id="mat-mdc-checkbox-1"><div class="mdc-form-field"><div class="mdc-checkbox">
 <div class="mat-mdc-checkbox-touch-target"></div><input type="checkbox" class="mdc-checkbox__native-control" id="mat-mdc-checkbox-1-input"
 tabindex="0"><div class="mdc-checkbox__ripple"></div><div class="mdc-checkbox__background"><svg focusable="false" viewBox="0 0 24 24"
 aria-hidden="true" class="mdc-checkbox__checkmark"><path d="M1.73,12.91 8.1,19.28 22.79,4.59"></path></svg></div></div>
 <label class="mdc-label" for="mat-mdc-checkbox-1-input">I have read and accept the terms and conditions</label></div></mat-checkbox>
 <button mat-flat-button color="primary" type="submit" class="mdc-button mdc-button--unelevated mat-mdc-unelevated-button" disabled="true">
 <span class="mat-mdc-button-persistent-ripple mdc-button__ripple"></span><span class="mdc-button__label">Log in</span>
 <span class="mat-focus-indicator"></span><span class="mat-mdc-button-touch-target"></span></button></form></mat-card></app-login>`;
const [room, name] = [$("#mat-input-0"), $("#mat-input-1")], list = $("#mat-select-0"), box = $("#mat-mdc-checkbox-1-input");
const button = $("button[type=submit]"), overlay = $(".cdk-overlay-container");
let reason = "";
const ready = () => { button.disabled = !(room.value && name.value && reason && box.checked); };
for (const input of [room, name]) {
  const label = $(`label[for=${input.id}]`);
  const float = () => { label.style.top = input.value || document.activeElement === input ? "0" : ""; ready(); };
  input.addEventListener("input", float); input.addEventListener("focus", float); input.addEventListener("blur", float);
}
box.addEventListener("change", ready);
const close = () => { overlay.replaceChildren(); list.setAttribute("aria-expanded", "false"); list.removeAttribute("aria-controls"); };
list.addEventListener("click", () => {
  if (overlay.children.length) return;
  list.setAttribute("aria-expanded", "true"); list.setAttribute("aria-controls", "mat-select-0-panel");
  const panel = h("div", {role: "listbox", tabindex: "-1", id: "mat-select-0-panel", class: "mat-mdc-select-panel mdc-menu-surface--open",
    "aria-labelledby": "mat-mdc-form-field-label-2"}, ["Holiday", "Business", "Conference"].map((text, n) => h("mat-option",
      {role: "option",
    class: "mat-mdc-option mdc-list-item", id: "mat-option-" + n, tabindex: "0", "aria-selected": String(text === reason), onclick: () => {
      reason = text; $("#mat-select-value-1").innerHTML = `<span class="mat-mdc-select-value-text"><span class="mat-mdc-select-min-line">
${text}</span></span>`; close(); ready(); }}, h("span", {class: "mdc-list-item__primary-text"}, ` ${text} `), h("div",
  {class: "mat-ripple"}))));
  overlay.append(h("div", {class: "cdk-overlay-backdrop cdk-overlay-transparent-backdrop", onclick: close}),
    h("div", {class: "cdk-overlay-connected-position-bounding-box"}, h("div", {class: "cdk-overlay-pane"}, panel)));
});
document.addEventListener("keydown", event => { if (event.key === "Escape" || event.keyCode === 27) close(); });
$("form").addEventListener("submit", async event => {
  event.preventDefault();
  const answer = await send("/api/v2/guest/login", {room: room.value, lastName: name.value, reason, terms: box.checked});
  if (answer.ok) return show(h("mat-card", {}, h("h1", {}, "Welcome, you are connected.")));
  $(".mat-mdc-form-field-error-wrapper").innerHTML = `<mat-error class="mat-mdc-form-field-error"
    id="mat-mdc-error-0">${answer.error}</mat-error>`;
});
"""

    def api(self, request):
        if request.path == "/api/v2/guest/login" and self.sends(request):
            value = request.json()
            if value.get("reason") != GUEST["choice"] or value.get("terms") is not True:
                return bad()
            return self.welcome() if (value.get("room"), value.get("lastName")) == ("318", "Noether") else refuse(ERROR)
        return bad()
