"""A conference's page in the manner of Material UI: a list whose menu lies over the whole page, a box within its label."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"email": "ada@example.org", "choice": "Speaker"}, "You are not on the list of guests."


class FreshMui(Scripted):
    """The list opens when the pointer goes down, and again if it is open already; its backdrop, the Escape key or an option closes it."""

    name, host, title = "fresh-mui", "wifi.devcon-event.example", "DevCon Wi-Fi"
    bundle = "/static/js/main.1e4d5b3a.js"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"email": "eve@example.org"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"email": "eve@example.org"}, text=ERROR, corrected=GUEST),
    ]
    style = """.MuiFormControl-root { display: inline-flex; flex-direction: column; position: relative; width: 100%; margin: 8px 0; }
.MuiInputLabel-root { position: absolute; left: 14px; top: 16px; pointer-events: none; z-index: 1; } .MuiOutlinedInput-root {
position: relative; }
.MuiOutlinedInput-root input { box-sizing: border-box; width: 100%; margin: 0; padding: 16px 14px; border: 0; }
.MuiOutlinedInput-notchedOutline {
position: absolute; inset: -5px 0 0; margin: 0; pointer-events: none; border: 1px solid #888; } .MuiSelect-select { min-height: 1.4em;
padding: 16px 14px;
cursor: pointer; } .MuiSelect-nativeInput { position: absolute; bottom: 0; left: 0; opacity: 0; pointer-events: none; width: 100%; }
.MuiCheckbox-root { position: relative; display: inline-flex; padding: 9px; } .PrivateSwitchBase-input { position: absolute; opacity: 0;
inset: 0; width: 100%;
height: 100%; margin: 0; cursor: inherit; } .MuiModal-root { position: fixed; z-index: 1300; inset: 0; } .MuiBackdrop-root {
position: fixed; inset: 0;
z-index: -1; } .MuiPaper-root { position: absolute; left: 30%; top: 30%; background: #fff; } .MuiMenuItem-root { padding: 6px 16px;
cursor: pointer; }"""
    script = r"""
$("#root").innerHTML = `<div class="MuiContainer-root MuiContainer-maxWidthXs css-1qsxih2">
  <h1 class="MuiTypography-root MuiTypography-h5">DevCon Wi-Fi</h1>
 <form class="MuiBox-root css-164r41r" novalidate><div class="MuiFormControl-root MuiTextField-root">
   <label class="MuiFormLabel-root MuiInputLabel-root"
 data-shrink="false" for="email" id="email-label">Email Address<span aria-hidden="true"
   class="MuiFormLabel-asterisk MuiInputLabel-asterisk"> *</span>
 </label><div class="MuiInputBase-root MuiOutlinedInput-root"><input aria-invalid="false" autocomplete="email" id="email"
   name="email" required type="text"
 class="MuiInputBase-input MuiOutlinedInput-input" value=""><fieldset aria-hidden="true" class="MuiOutlinedInput-notchedOutline">
   <legend style="display:
 none"><span>Email Address *</span></legend></fieldset></div></div>
 <div class="MuiFormControl-root"><label class="MuiFormLabel-root MuiInputLabel-root" data-shrink="false" id="role-label">Role</label>
 <div class="MuiInputBase-root MuiOutlinedInput-root MuiSelect-root"><div tabindex="0" role="combobox" aria-expanded="false"
   aria-haspopup="listbox"
 aria-labelledby="role-label role" id="role" class="MuiSelect-select MuiSelect-outlined MuiInputBase-input"><span class="notranslate"
 aria-hidden="true">​</span></div><input aria-invalid="false" aria-hidden="true" tabindex="-1" class="MuiSelect-nativeInput" value="">
 <svg class="MuiSvgIcon-root MuiSelect-icon" focusable="false" aria-hidden="true" viewBox="0 0 24 24" width="24" height="24"
   style="position: absolute; right: 7px;
 top: 12px; pointer-events: none"><path d="M7 10l5 5 5-5z"></path></svg>
 <fieldset aria-hidden="true" class="MuiOutlinedInput-notchedOutline"></fieldset>
 </div></div>
 <label class="MuiFormControlLabel-root"><span class="MuiButtonBase-root MuiCheckbox-root PrivateSwitchBase-root">
   <input class="PrivateSwitchBase-input"
 type="checkbox" data-indeterminate="false" name="agree"><svg class="MuiSvgIcon-root" focusable="false"
   aria-hidden="true" viewBox="0 0 24 24" width="24"
 height="24" data-testid="CheckBoxOutlineBlankIcon"><path d="M19 5v14H5V5h14"></path></svg></span><span class="MuiTypography-root
 MuiFormControlLabel-label">I agree to the code of conduct and the terms</span></label><p class="MuiFormHelperText-root Mui-error"></p>
 <button class="MuiButtonBase-root MuiButton-root MuiButton-contained MuiButton-fullWidth" tabindex="0"
   type="submit">Get connected</button></form></div>`;
let role = "";
const list = $("#role"), native = $(".MuiSelect-nativeInput");
const close = () => { $(".MuiModal-root")?.remove(); list.setAttribute("aria-expanded", "false"); list.removeAttribute("aria-controls"); };
list.addEventListener("mousedown", event => {
  if (event.button !== 0) return;
  event.preventDefault();
  if ($(".MuiModal-root")) return;
  list.setAttribute("aria-expanded", "true"); list.setAttribute("aria-controls", ":r3:");
  document.body.append(h("div", {role: "presentation", id: "menu-role", class: "MuiModal-root MuiPopover-root MuiMenu-root"},
    h("div", {"aria-hidden": "true", class: "MuiBackdrop-root MuiBackdrop-invisible MuiModal-backdrop", onclick: close}), h("div",
      {tabindex: "-1",
      "data-testid": "sentinelStart"}), h("div", {class: "MuiPaper-root MuiPaper-elevation MuiPopover-paper", tabindex: "-1"}, h("ul",
        {class: "MuiList-root MuiMenu-list",
      role: "listbox", tabindex: "-1", "aria-labelledby": "role-label", id: ":r3:"}, ["Attendee", "Speaker", "Crew"].map((text,
        n) => h("li", {class:
        "MuiButtonBase-root MuiMenuItem-root", tabindex: n ? "-1" : "0", role: "option", "aria-selected": String(text === role),
          "data-value": text.toLowerCase(),
        onclick: () => { role = text; list.textContent = text; native.value = text.toLowerCase(); close(); }}, text,
        h("span", {class: "MuiTouchRipple-root"})))))));
});
document.addEventListener("keydown", event => { if (event.key === "Escape") close(); });
$("form").addEventListener("submit", async event => {
  event.preventDefault();
  const answer = await send("/api/checkin", {email: $("#email").value, role, agree: $("[name=agree]").checked});
  if (answer.ok) show(h("div", {class: "MuiAlert-root MuiAlert-standardSuccess", role: "alert"}, "You are connected. Have fun!"));
  else $(".Mui-error").textContent = answer.error;
});
"""

    def api(self, request):
        if request.path == "/api/checkin" and self.sends(request):
            value = request.json()
            if value.get("agree") is not True or value.get("role") != GUEST["choice"]:
                return refuse("Please fill in all fields.")
            return self.welcome() if value.get("email") == GUEST["email"] else refuse(ERROR)
        return bad()
