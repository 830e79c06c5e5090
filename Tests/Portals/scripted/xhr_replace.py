"""A login by XMLHttpRequest with a header of its own, then location.replace to a page of success, as older applications do it."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"user": "alumno7", "password": "biblioteca"}, "Usuario o clave no válidos"


class XHRReplace(Scripted):
    """The refusal is another step of the page; the success is another page, with the session's time."""

    name, host, lang, title = "xhr-replace", "acceso.biblioteca.example", "es", "Biblioteca Municipal"
    bundle, body = "/js/login.min.js?v=118", '''<header class="navbar"><a class="navbar-brand" href="/">Biblioteca Municipal</a></header>
<div id="app" class="container"></div>
<footer class="footer"><p>Biblioteca Municipal, Plaza Mayor 3. Horario: de lunes a viernes, de 9 a 21 horas.</p>
<a href="/aviso-legal">Aviso legal</a> <a href="/privacidad">Privacidad</a></footer>'''
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"password": "x"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"password": "x"}, text=ERROR, corrected=GUEST),
    ]
    script = r"""
function line(name, type, label) {
  return h("div", {class: "form-group"}, h("label", {class: "control-label"}, label, h("input", {type: type, name: name, class: "form-control"})));
}
function enter() {
  var request = new XMLHttpRequest();
  request.open("POST", "/ajax/login.do");
  request.setRequestHeader("X-Requested-With", "XMLHttpRequest");
  request.setRequestHeader("Content-Type", "application/json;charset=UTF-8");
  request.setRequestHeader("X-CSRF-Token", token);
  request.onload = function () {
    var answer = JSON.parse(request.responseText);
    if (answer.ok) location.replace("/bienvenido");
    else { $(".alert").textContent = answer.error; $(".alert").style.display = "block"; }
  };
  request.send(JSON.stringify({usuario: $("[name=usuario]").value, clave: $("[name=clave]").value}));
}
var token = "";
load("/ajax/token.do").then(function (value) {
  token = value.csrf;
  show(h("h3", {}, "Acceso a Internet"), h("div", {class: "alert alert-danger", style: "display: none"}), line("usuario", "text", "Usuario"),
    line("clave", "password", "Clave"), h("a", {href: "javascript:void(0)", class: "btn btn-success", role: "button", onclick: enter}, "Acceder"));
});
"""

    def api(self, request):
        if request.path == "/ajax/token.do" and self.asks(request):
            return jsonAnswer({"csrf": self.csrf})
        if request.path == "/ajax/login.do" and self.sends(request, csrf=True):
            value = request.json()
            return self.welcome() if (value.get("usuario"), value.get("clave")) == tuple(GUEST.values()) else refuse(ERROR)
        if request.path == "/bienvenido" and self.isOpen:
            return Answer(200, "<!doctype html><title>Biblioteca</title><h1>Ya está conectado</h1><p>Tiempo restante: 2 horas</p>")
        return Answer(404)
