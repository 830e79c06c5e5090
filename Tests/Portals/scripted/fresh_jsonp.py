"""A campus portal whose script asks the gateway by JSONP: first for the address and a challenge, then with a digest of the password."""

import hashlib

from lab import Scenario
from pages import jsonp
from scripted.shell import *

GUEST, ERROR = {"user": "s2021044", "password": "kepler-186f"}, "E2553: Password is error."
CLEAR = "Incorrect username or password."


class FreshJsonp(Scripted):
    """No request is a fetch: a script element is added for each answer. The password is sent only as SHA-256 with the challenge."""

    name, host, path, title = "fresh-jsonp", "net.northfield-univ.example", "/srun_portal_pc", "Campus Network"
    bundle = "/static/portal.js?v=1.23"
    scenarios = [
        Scenario("in", user=GUEST, never=("kepler",)),
        Scenario("refused", "refused", GUEST | {"password": "kepler-1"}, text=ERROR, never=("kepler",)),
        Scenario("corrected", user=GUEST | {"password": "kepler-1"}, text=ERROR, corrected=GUEST),
        Scenario("clear words", user=GUEST | {"password": "kepler-1"}, options={"says": CLEAR}, text=CLEAR, corrected=GUEST),
    ]
    script = SHA256 + r"""
let serial = 112400 + Math.floor(Math.random() * 1000);
const jsonp = (path, query) => new Promise(done => {
  const name = "jQuery" + serial++ + "_" + Date.now(), node = document.createElement("script");
  window[name] = value => { delete window[name]; node.remove(); done(value); };
  node.src = path + "?" + new URLSearchParams({callback: name, ...query, _: Date.now()});
  document.head.append(node);
});
$("#root").innerHTML = `<div class="login-panel"><div class="panel-header"><span class="tab active">Account login</span></div>
  <div class="panel-row">
 <input id="username" class="input-box" placeholder="Student or staff number"></div><div class="panel-row"><input id="password"
   type="password"
 class="input-box" placeholder="Password"></div><div class="panel-row"><select id="domain">
   <option value="@campus">Campus network</option><option
 value="@telecom">Telecom</option></select></div><div class="panel-row remember"><input type="checkbox" id="remember">
   <label for="remember">Remember me
 </label></div><div class="panel-row"><button id="login-account" class="btn-login" type="button">Login</button></div></div>`;
$("#login-account").addEventListener("click", async () => {
  const username = $("#username").value + $("#domain").value;
  const {challenge, client_ip} = await jsonp("/cgi-bin/get_challenge", {username});
  const answer = await jsonp("/cgi-bin/srun_portal", {action: "login", username, password: sha256(challenge + $("#password").value),
    ip: client_ip, ac_id: 1, n: 200});
  if (answer.error === "ok") return show(h("div", {class: "success"}, h("p", {}, "Login succeeded"), h("p", {}, "Welcome, " + username)));
  $(".dialog")?.remove();
  const dialog = h("div", {class: "dialog", style: "position: fixed; inset: 0; background: rgba(0,0,0,.5); z-index: 9;"}, h("div",
    {class: "component dialog confirm",
    style: "background: #fff; margin: 5rem auto; width: 18rem; padding: 1rem"}, h("p", {class: "section"}, answer.error_msg), h("button",
      {class: "btn-confirm",
      type: "button", onclick: () => dialog.remove()}, "Confirm")));
  document.body.append(dialog);
});
"""

    def api(self, request):
        if request.path == "/cgi-bin/get_challenge" and request.cookie("sid") == self.session:
            return jsonp(request.args["callback"], {"challenge": self.csrf, "client_ip": request.client, "error": "ok"})
        if request.path == "/cgi-bin/srun_portal" and request.args.get("username") == GUEST["user"] + "@campus":
            digest = hashlib.sha256((self.csrf + GUEST["password"]).encode()).hexdigest()
            if request.args.get("password") != digest:
                return jsonp(request.args["callback"], {"error": "login_error", "error_msg": self.options.get("says", ERROR)})
            self.admit()
            return jsonp(request.args["callback"], {"error": "ok", "suc_msg": "login_ok"})
        return bad()
