"""A hostel's page with its plans as cards to choose from, of which the dear one is chosen already, and much beside the login."""

from lab import Scenario
from scripted.shell import *

FREE, ERROR = "Basic · 2 Mbit/s · Free", "No guest of this name."
GUEST = {"room": "5", "surname": "Franklin", "choice": FREE, "plan": FREE}


class FreshRadioCards(Scripted):
    """The radio buttons are not displayed, their labels are the cards. Buttons for languages, a chat and an app stand beside."""

    name, host, title = "fresh-radio-cards", "stay.backpack-hostel.example", "Backpack Hostel"
    bundle = "/assets/index-b7c1.js"
    scenarios = [
        # The bill would be the room's: whoever is not asked has bought it.
        Scenario("dear chosen", "any", GUEST, options={"first": "premium"}, never=('"premium"',)),
        Scenario("free chosen", user=GUEST, options={"first": "basic"}, never=('"premium"',)),
    ]
    style = """.plan { display: block; border: 2px solid #ccc; border-radius: 8px; padding: 1rem; margin: .5rem 0; cursor: pointer; }
.plan input { display: none; }
.plan:has(input:checked) { border-color: #0a5; } .fab { position: fixed; right: 16px; bottom: 16px; border-radius: 50%; } header {
display: flex; gap: 1rem; }"""
    script = r"""
const plan = (id, name, speed, price) => `<label class="plan" for="plan-${id}"><input type="radio" name="plan" id="plan-${id}" value="${id}"
 ${id === FIRST ? "checked" : ""}>
   <span class="plan__name">${name}</span> · <span class="plan__speed">${speed}</span> · <span class="plan__price">${price}
 </span></label>`;
$("#root").innerHTML = `<header><div class="dropdown"><button class="btn btn-light dropdown-toggle" type="button" data-bs-toggle="dropdown"
 aria-expanded="false" id="lang">English</button><ul class="dropdown-menu" style="display: none"><li><a class="dropdown-item"
   href="#">Deutsch</a></li>
 <li><a class="dropdown-item" href="#">Français</a></li></ul></div><button type="button" class="btn btn-outline">Get our app</button>
   </header>
 <h1>Wi-Fi for our guests</h1><form novalidate><div class="mb-3"><label for="room" class="form-label">Room or bed number</label>
   <input id="room" name="room"
 class="form-control"></div><div class="mb-3"><label for="surname" class="form-label">Surname</label><input id="surname" name="surname"
 class="form-control"></div><fieldset><legend>Your plan</legend>${plan("basic", "Basic", "2 Mbit/s", "Free")}${plan("premium", "Premium",
   "50 Mbit/s",
 "€ 6.90 per day, on your bill")}</fieldset><p class="text-danger"></p><button type="submit" class="btn btn-primary">Connect</button></form>
 <button type="button" class="fab" aria-label="Chat with us"><svg width="24" height="24" viewBox="0 0 24 24"><circle cx="12" cy="12"
   r="9"/></svg></button>`;
$("form").addEventListener("submit", async event => {
  event.preventDefault();
  const answer = await send("/api/session", {room: $("#room").value, surname: $("#surname").value, plan: $("[name=plan]:checked").value});
  if (answer.ok) show(h("h1", {}, "You are online")); else $(".text-danger").textContent = answer.error;
});
"""

    def answer(self, request):
        if request.path == self.bundle:
            return Answer(200, f'{RUNTIME}const FIRST = "{self.options["first"]}";{self.script}', "text/javascript; charset=utf-8")
        return super().answer(request)

    def api(self, request):
        if request.path == "/api/session" and self.sends(request):
            value = request.json()
            return self.welcome() if (value.get("room"), value.get("surname")) == ("5", "Franklin") else refuse(ERROR)
        return bad()
