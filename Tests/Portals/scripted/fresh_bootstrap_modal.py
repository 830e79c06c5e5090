"""A town's free Wi-Fi in the manner of Bootstrap: the terms open in a dialog, which has to be scrolled to its end."""

from lab import Scenario
from scripted.shell import *


class FreshBootstrapModal(Scripted):
    """The button that accepts is enabled at the end of the terms; the one that declines closes the dialog."""

    name, host, title = "fresh-bootstrap-modal", "free-wifi.townhall.example", "Town Hall Free Wi-Fi"
    bundle, body = "/assets/js/portal.min.js?v=3.2", '<div id="root" class="container py-5"></div>'
    scenarios = [Scenario("in"), Scenario("short", options={"short": True})]
    style = """.modal { position: fixed; inset: 0; z-index: 1055; overflow: auto; } .modal-dialog { position: relative;
margin: 2rem auto; width: 30rem;
pointer-events: none; } .modal-content { pointer-events: auto; background: #fff; } .modal-body { max-height: 200px; overflow-y: auto; }
.modal-backdrop { position: fixed; inset: 0; z-index: 1050; background: #000; opacity: .5; } .btn-close { width: 1em; height: 1em; }"""
    script = r"""
const clause = n => `<p><strong>${n}.</strong> The service is provided as it is. You use it at your own risk,
  and you must not use it for anything
 that is against the law, or that disturbs others. We keep the address of your device for seven days.</p>`;
$("#root").innerHTML = `<div class="row justify-content-center"><div class="col-md-6"><div class="card shadow-sm">
  <div class="card-body text-center">
 <img src="/logo.png" class="img-fluid mb-4" alt="Town Hall" width="120" height="40"><h1 class="h4">Free public Wi-Fi</h1>
   <p class="lead">Enjoy two hours of
 free Internet.</p><button type="button" class="btn btn-primary btn-lg w-100" data-bs-toggle="modal"
   data-bs-target="#termsModal">Connect now
 </button></div></div></div></div>
 <div class="modal fade" id="termsModal" data-bs-backdrop="static" data-bs-keyboard="false" tabindex="-1" aria-labelledby="termsModalLabel"
 aria-hidden="true" style="display: none"><div class="modal-dialog modal-dialog-scrollable"><div class="modal-content">
   <div class="modal-header">
 <h5 class="modal-title" id="termsModalLabel">Terms of use</h5><button type="button" class="btn-close" data-bs-dismiss="modal"
 aria-label="Close"></button></div><div class="modal-body">${"x".repeat(SHORT ? 1 : 14).split("").map((_,
   n) => clause(n + 1)).join("")}</div>
 <div class="modal-footer"><button type="button" class="btn btn-outline-secondary" data-bs-dismiss="modal">Decline</button>
 <button type="button" class="btn btn-primary" id="accept" disabled>I accept</button></div></div></div></div>`;
const modal = $("#termsModal"), accept = $("#accept"), body = $(".modal-body");
const atEnd = () => { if (body.scrollTop + body.clientHeight >= body.scrollHeight - 5) accept.disabled = false; };
$("[data-bs-toggle]").addEventListener("click", () => {
  document.body.append(h("div", {class: "modal-backdrop fade show"}));
  modal.style.display = "block"; modal.classList.add("show"); modal.removeAttribute("aria-hidden");
  modal.setAttribute("aria-modal", "true"); modal.setAttribute("role", "dialog");
  setTimeout(atEnd, 300);
});
body.addEventListener("scroll", atEnd);
const close = () => { modal.style.display = "none"; modal.setAttribute("aria-hidden", "true"); $(".modal-backdrop").remove(); };
document.querySelectorAll("[data-bs-dismiss]").forEach(node => node.addEventListener("click", close));
accept.addEventListener("click", async () => {
  const answer = await send("/ajax/connect", {accepted: true, seen: body.scrollTop + body.clientHeight >= body.scrollHeight - 5});
  close();
  $(".card-body").innerHTML = answer.ok ? `<div class="alert alert-success" role="alert">You are now connected.</div>`
    : `<div class="alert alert-danger" role="alert">Please try again.</div>`;
});
"""

    def answer(self, request):
        if request.path == self.bundle.split("?")[0]:
            short = "true" if self.options.get("short") else "false"
            return Answer(200, f"{RUNTIME}const SHORT = {short};{self.script}", "text/javascript; charset=utf-8")
        return super().answer(request)

    def api(self, request):
        if request.path == "/ajax/connect" and self.sends(request):
            return self.welcome() if request.json().get("accepted") is True else bad()
        return Answer(404) if request.path == "/logo.png" else bad()
