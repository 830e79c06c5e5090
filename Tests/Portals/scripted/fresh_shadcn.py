"""A clinic's page in the manner of Radix and shadcn/ui: box, list and cards to choose from are buttons with roles."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"name": "Grace Hopper", "choice": "Visitor"}, "Please tell us your full name."


class FreshShadcn(Scripted):
    """The list is a button without a word of a pop-up, and opens when the pointer goes down; beside each there is a hidden control."""

    name, host, title = "fresh-shadcn", "guest.stmary-clinic.example", "St Mary's Clinic Guest Wi-Fi"
    bundle, body = "/_next/static/chunks/app/page-1f0d3c2b7a9e4d55.js", '<div id="root" class="min-h-screen bg-background"></div>'
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"name": "Grace"}, text=ERROR),
        Scenario("without a list", user=GUEST, options={"list": False}),
    ]
    style = """[role=combobox] { width: 100%; background: #fff; color: #000; border: 1px solid #ccc; } button[role=checkbox] {
width: 16px; height: 16px;
padding: 0; border: 1px solid #333; background: #fff; border-radius: 4px; } button[role=radio] { width: 16px; height: 16px; padding: 0;
background: #fff;
border: 1px solid #333; border-radius: 50%; } [role=option] { padding: .4rem; cursor: default; } .text-destructive { color: #c00; }"""
    script = r"""
const tick = `<span data-state="checked" style="pointer-events: none;"><svg width="12" height="12" viewBox="0 0 24 24">
  <path d="M20 6 9 17l-5-5"/></svg></span>`;
const radio = (id, text, on) => `<div class="flex items-center space-x-2"><button type="button" role="radio" aria-checked="${on}"
  data-state="${on
 ? "checked" : "unchecked"}" value="${id}" class="aspect-square h-4 w-4 rounded-full border" id="${id}" tabindex="${on ? 0 : -1}"
 data-radix-collection-item>${on ? `<span data-state="checked">•</span>` : ""}</button><input type="radio" aria-hidden="true"
   tabindex="-1" value="${id}"
 ${on ? "checked" : ""}
   style="transform: translateX(-100%); position: absolute; pointer-events: none; opacity: 0; margin: 0px; width: 16px;">
   <label class="text-sm font-medium" for="${id}">${text}</label></div>`;
$("#root").innerHTML = `<div class="rounded-xl border bg-card shadow"><div class="flex flex-col space-y-1.5 p-6">
  <h3 class="font-semibold">Guest Wi-Fi
 </h3><p class="text-sm text-muted-foreground">Free for patients and visitors.</p></div><form class="space-y-6 p-6" novalidate>
 <div class="space-y-2"><label class="text-sm font-medium" for=":r0:-form-item">Full name</label>
   <input class="flex h-9 w-full rounded-md border"
 placeholder="Ada Lovelace" id=":r0:-form-item" aria-describedby=":r0:-form-item-description" aria-invalid="false" name="fullName">
 <p id=":r0:-form-item-message" class="text-destructive"></p></div>
 ${LIST ? `<div class="space-y-2"><label class="text-sm font-medium" for=":r1:-form-item">I am a</label><button type="button"
   role="combobox"
 aria-controls="radix-:r2:" aria-expanded="false" aria-autocomplete="none" dir="ltr" data-state="closed" data-placeholder
 class="flex h-9 w-full items-center justify-between" id=":r1:-form-item"><span style="pointer-events: none;">Select one</span>
   <svg width="16"
 height="16" viewBox="0 0 24 24" aria-hidden="true"><path d="m6 9 6 6 6-6"></path></svg></button><select aria-hidden="true" tabindex="-1"
   style="position: absolute; border: 0px; width: 1px; height: 1px;
 padding: 0px; margin: -1px; overflow: hidden; clip: rect(0px, 0px, 0px,
   0px);"><option value=""></option><option>Patient</option><option>Visitor</option>
 <option>Staff</option></select></div>` : ""}
 <div role="radiogroup" aria-required="false" dir="ltr" class="grid gap-2" tabindex="0" style="outline: none;"
   aria-label="Session">${radio("h1",
 "1 hour", true)}${radio("h24", "24 hours", false)}</div>
 <div class="flex items-center space-x-2"><button type="button" role="checkbox" aria-checked="false" data-state="unchecked" value="on"
 class="peer h-4 w-4 shrink-0 rounded-sm border" id="terms"></button><input type="checkbox" aria-hidden="true" tabindex="-1" value="on"
 style="transform: translateX(-100%); position: absolute; pointer-events: none; opacity: 0; margin: 0px; width: 16px; height: 16px;">
 <label for="terms" class="text-sm font-medium leading-none">Accept terms and conditions</label></div>
 <button class="inline-flex items-center justify-center rounded-md bg-primary" type="submit">Connect</button></form></div>`;
const box = $("#terms"), list = $("[role=combobox]"), state = {person: LIST ? "" : "Visitor", hours: "h1"};
box.addEventListener("click", () => {
  const on = box.getAttribute("aria-checked") !== "true";
  box.setAttribute("aria-checked", String(on)); box.dataset.state = on ? "checked" : "unchecked"; box.innerHTML = on ? tick : "";
});
const radios = [...document.querySelectorAll("[role=radio]")];
radios.forEach(node => node.addEventListener("click", () => { state.hours = node.value;
  radios.forEach(other => { other.setAttribute("aria-checked", String(other === node)); }); }));
const close = () => { $("[data-radix-popper-content-wrapper]")?.remove(); list.setAttribute("aria-expanded", "false");
  list.dataset.state = "closed";
  document.body.style.pointerEvents = ""; };
list?.addEventListener("pointerdown", event => {
  if (event.button !== 0 || list.dataset.state === "open") return;
  list.setAttribute("aria-expanded", "true"); list.dataset.state = "open"; document.body.style.pointerEvents = "none";
  const menu = h("div", {"data-radix-popper-content-wrapper": "", dir: "ltr",
    style: "position: fixed; left: 30px; top: 40px; min-width: max-content; z-index: 50; background: #fff; pointer-events: auto;"},
    h("div", {role: "listbox", id: "radix-:r2:", "data-state": "open", class: "relative z-50"}, h("div", {role: "presentation"},
      ["Patient", "Visitor", "Staff"].map((text, n) => h("div", {role: "option", "aria-labelledby": `radix-:r${n + 5}:`,
        "aria-selected": "false",
        "data-state": "unchecked", tabindex: "-1", class: "relative flex w-full cursor-default select-none",
          "data-radix-collection-item": "",
        onpointerup: () => { state.person = text; list.firstElementChild.textContent = text; close(); }},
        h("span", {class: "absolute right-2"}), h("span", {id: `radix-:r${n + 5}:`}, text))))));
  document.body.append(menu);
});
document.addEventListener("pointerdown", event => {
  if (list?.dataset.state === "open" && !event.target.closest("[role=listbox], [role=combobox]")) close(); });
document.addEventListener("keydown", event => { if (event.key === "Escape" && list) close(); });
$("form").addEventListener("submit", async event => {
  event.preventDefault();
  const answer = await send("/api/connect", {name: $("[name=fullName]").value, person: state.person, hours: state.hours,
    terms: box.getAttribute("aria-checked") === "true"});
  if (answer.ok) return show(h("h3", {}, "You're connected"));
  $(".text-destructive").textContent = answer.error;
});
"""

    def answer(self, request):
        if request.path == self.bundle:
            listed = "true" if self.options.get("list", True) else "false"
            return Answer(200, f"{RUNTIME}const LIST = {listed};{self.script}", "text/javascript; charset=utf-8")
        return super().answer(request)

    def api(self, request):
        if request.path == "/api/connect" and self.sends(request):
            value = request.json()
            if value.get("terms") is not True:
                return refuse("You must accept the terms.")
            if value.get("person") != "Visitor":
                return refuse("Please select who you are.")
            return self.welcome() if " " in str(value.get("name")) else refuse(ERROR)
        return bad()
