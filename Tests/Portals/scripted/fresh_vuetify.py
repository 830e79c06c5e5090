"""A campsite's voucher page in the manner of Vuetify: labels over the fields, a box drawn by an icon, the refusal in a snack bar."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"code": "SEE-4471", "email": "emmy@example.org"}, "Dieser Code ist ungültig oder abgelaufen."


class FreshVuetify(Scripted):
    """The refusal is shown for five seconds, in a layer below; the box for news need not be ticked."""

    name, host, lang, title = "fresh-vuetify", "wlan.seecamping.example", "de", "Seecamping – Gäste-WLAN"
    bundle, body = "/js/app.5b02c1f4.js", '<div id="app" data-app="true" class="v-application v-application--is-ltr theme--light"></div>'
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"code": "SEE-0000"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"code": "SEE-0000"}, text=ERROR, corrected=GUEST),
    ]
    style = """.v-text-field__slot { position: relative; } .v-text-field .v-label { position: absolute; left: 8px; top: 8px;
pointer-events: none; }
.v-input--selection-controls__input { position: relative; display: inline-flex; width: 24px; height: 24px; }
.v-input--selection-controls__input input[role=checkbox] { position: absolute; opacity: 0; width: 100%; height: 100%; margin: 0;
cursor: pointer; }
.v-input--selection-controls__ripple { position: absolute; inset: 0; cursor: pointer; } .v-icon { width: 24px; height: 24px;
border: 2px solid #666;
pointer-events: none; } .v-btn { text-transform: uppercase; letter-spacing: .09em; } .v-snack { position: fixed; bottom: 8px; left: 10%;
right: 10%;
z-index: 1000; } .v-snack__wrapper { background: #333; color: #fff; padding: 1rem; }"""
    script = r"""
const text = (id, label, type) => `<div class="v-input v-text-field v-text-field--is-booted theme--light"><div class="v-input__control">
 <div class="v-input__slot"><div class="v-text-field__slot"><label for="input-${id}" class="v-label theme--light"
 style="left: 0px; right: auto;">${label}</label><input required="required" id="input-${id}" type="${type}"></div></div>
 <div class="v-text-field__details"><div class="v-messages theme--light"><div class="v-messages__wrapper"></div></div></div></div></div>`;
const box = (id, label) => `<div class="v-input v-input--selection-controls v-input--checkbox theme--light"><div class="v-input__control">
 <div class="v-input__slot"><div class="v-input--selection-controls__input"><i aria-hidden="true" class="v-icon notranslate mdi
 mdi-checkbox-blank-outline theme--light"></i><input aria-checked="false" id="input-${id}" role="checkbox" type="checkbox" value="">
 <div class="v-input--selection-controls__ripple"></div></div><label for="input-${id}" class="v-label theme--light"
 style="left: 0px; right: auto; position: relative;">${label}</label></div></div></div>`;
const state = {};
$("#app").innerHTML = `<div class="v-application--wrap"><main class="v-main"><div class="v-main__wrap"><div class="container">
 <div class="v-card v-sheet theme--light"><div class="v-card__title">Willkommen am See</div><form novalidate="novalidate" class="v-form">
 ${text(12, "Gutscheincode", "text")}${text(15, "E-Mail", "email")}${box(18, "Ich akzeptiere die Nutzungsbedingungen")}
 ${box(21, "Ich möchte den Newsletter erhalten")}<button type="button" disabled="disabled" class="v-btn v-btn--disabled v-btn--has-bg
 theme--light v-size--large"><span class="v-btn__content"> Jetzt verbinden </span></button></form></div></div></div></main></div>
 <div class="v-snack v-snack--bottom v-snack--has-background" style="display: none"><div class="v-snack__wrapper v-sheet theme--dark">
 <div role="status" aria-live="polite" class="v-snack__content"></div><div class="v-snack__action"><button type="button"
 class="v-snack__btn v-btn v-btn--text"><span class="v-btn__content"> Schließen </span></button></div></div></div>`;
const [code, mail, terms, news] = [12, 15, 18, 21].map(n => $("#input-" + n)), button = $("form button"), snack = $(".v-snack");
const ready = () => {
  terms.setAttribute("aria-checked", String(terms.checked));
  button.disabled = !(code.value && /.+@.+/.test(mail.value) && terms.checked);
};
for (const input of [code, mail]) input.addEventListener("input", () => { $(`label[for=${input.id}]`).style.top = "-12px"; ready(); });
terms.addEventListener("change", ready);
let timer;
const tell = words => {
  $(".v-snack__content").textContent = words; snack.style.display = "";
  clearTimeout(timer); timer = setTimeout(() => { snack.style.display = "none"; }, 5000);
};
$(".v-snack__btn").addEventListener("click", () => { snack.style.display = "none"; });
button.addEventListener("click", async () => {
  const answer = await send("/api/redeem", {code: code.value, mail: mail.value, terms: terms.checked, news: news.checked});
  if (answer.ok) $(".v-card").innerHTML = `<div class="v-alert v-sheet theme--dark success" role="alert">Du bist jetzt online!</div>`;
  else tell(answer.error);
});
"""

    def api(self, request):
        if request.path == "/api/redeem" and self.sends(request):
            value = request.json()
            if value.get("terms") is not True or value.get("news") is not False or value.get("mail") != GUEST["email"]:
                return bad()
            return self.welcome() if value.get("code") == GUEST["code"] else refuse(ERROR)
        return bad()
