"""A form of divs: the list, the box and the button are ARIA roles with handlers, as design systems draw them."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"name": "Ada", "choice": "Alemania"}, "Introduzca su nombre completo, por favor."


class AriaWidgets(Scripted):
    """The options exist only while the list is open; the server wants a country that was chosen, and the box ticked."""

    name, host, lang, title = "aria-widgets", "wifi.aeropuerto-sur.example", "es", "Aeropuerto Sur"
    scenarios = [
        Scenario("in", user=GUEST | {"name": "Ada Lovelace"}),
        Scenario("refused", "refused", GUEST, text=ERROR),
        Scenario("corrected", user=GUEST, text=ERROR, corrected={"name": "Ada Lovelace"}),
    ]
    style = """[role=combobox], [role=option] { border: 1px solid #888; padding: .6rem; cursor: pointer; } [role=checkbox] { display: inline-block;
width: 1.2rem; height: 1.2rem; border: 2px solid #333; vertical-align: middle; } [aria-checked=true] { background: #0a5; }"""
    script = r"""
let country = "", csrf = "";
const nombre = h("input", {type: "text", id: "nombre", class: "Input__Field-sc-1x2"});
const combo = h("div", {role: "combobox", tabindex: "0", "aria-haspopup": "listbox", "aria-expanded": "false", "aria-labelledby": "pais-label",
  "aria-controls": "pais-list", class: "Select__Control-sc-9ab", onclick: toggle}, "Seleccione…");
const place = h("div", {class: "Select__Menu-sc-9ab"});
function toggle() {
  const open = combo.getAttribute("aria-expanded") !== "true";
  combo.setAttribute("aria-expanded", String(open));
  place.replaceChildren(...open ? [h("div", {role: "listbox", id: "pais-list"}, ["España", "Francia", "Alemania", "Portugal"].map(name =>
    h("div", {role: "option", "aria-selected": String(name === country), onclick: () => { country = name; combo.textContent = name; toggle(); }}, name)))] : []);
}
const box = h("div", {role: "checkbox", tabindex: "0", "aria-checked": "false", "aria-labelledby": "acepto", class: "Check__Box-sc-77c",
  onclick: () => box.setAttribute("aria-checked", String(box.getAttribute("aria-checked") !== "true"))});
const note = h("div", {role: "alert"});
load("/api/init").then(init => {
  csrf = init.csrf;
  show(h("h1", {}, "Wi-Fi gratis"), h("label", {for: "nombre"}, "Nombre"), nombre, h("span", {id: "pais-label"}, "País"), combo, place,
    h("p", {}, box, " ", h("span", {id: "acepto"}, "Acepto las condiciones de uso")), note,
    h("div", {role: "button", tabindex: "0", class: "Button__Root-sc-5d1", onclick: async () => {
      const answer = await send("/api/connect", {name: nombre.value, country, terms: box.getAttribute("aria-checked") === "true"}, {"X-CSRF-Token": csrf});
      if (answer.ok) show(h("h1", {}, "Ya está conectado")); else note.textContent = answer.error;
    }}, "Conectar"));
});
"""

    def api(self, request):
        if request.path == "/api/init" and self.asks(request):
            return jsonAnswer({"csrf": self.csrf})
        if request.path == "/api/connect" and self.sends(request, csrf=True):
            value = request.json()
            if value.get("terms") is not True:
                return refuse("Debe aceptar las condiciones de uso.")
            if value.get("country") != GUEST["choice"]:
                return refuse("Seleccione su país.")
            return self.welcome() if " " in str(value.get("name")) else refuse(ERROR)
        return bad()
