"""A resort's page with pictures that turn above its login, in the manner of Bootstrap: the pictures have buttons of their own."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"room": "44", "surname": "Lamarr"}, "The details do not match our records."


class FreshCarousel(Scripted):
    """A picture comes every four seconds; the buttons that turn them say "Next" and "Previous" to screen readers."""

    name, host, title = "fresh-carousel", "guest.palm-resort.example", "Palm Resort Wi-Fi"
    bundle = "/js/main.min.js"
    scenarios = [
        Scenario("in", user=GUEST, untold=("The portal shows the same page again.",)),
        Scenario("refused", "refused", GUEST | {"room": "1"}, text=ERROR),
        Scenario("corrected", user=GUEST | {"room": "1"}, text=ERROR, corrected=GUEST),
    ]
    style = """.carousel { position: relative; height: 160px; background: #8ac; overflow: hidden; }
.carousel-control-prev, .carousel-control-next { position:
absolute; top: 0; bottom: 0; width: 15%; background: none; } .carousel-control-prev { left: 0; } .carousel-control-next { right: 0; }
.carousel-item { display:
none; } .carousel-item.active { display: block; } .visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden;
clip: rect(0,0,0,0); }
.carousel-control-next-icon, .carousel-control-prev-icon { display: inline-block; width: 2rem; height: 2rem; background: #fff8; }"""
    script = r"""
const slides = ["Spa day: 20 % off until Sunday", "Dinner at the beach", "Book your next stay"];
$("#root").innerHTML = `<div id="offers" class="carousel slide" data-bs-ride="carousel"><div class="carousel-indicators">${slides.map((_,
  n) => `<button
 type="button" data-bs-target="#offers" data-bs-slide-to="${n}" aria-label="Slide ${n + 1}" style="width: 30px; height: 3px; padding: 0">
   </button>`).join("")}
 </div><div class="carousel-inner">${slides.map((text, n) => `<div class="carousel-item${n ? "" : " active"}"><h5>${text}</h5>
   </div>`).join("")}</div>
 <button class="carousel-control-prev" type="button" data-bs-target="#offers" data-bs-slide="prev"><span class="carousel-control-prev-icon"
 aria-hidden="true"></span><span class="visually-hidden">Previous</span></button><button class="carousel-control-next" type="button"
 data-bs-target="#offers" data-bs-slide="next"><span class="carousel-control-next-icon" aria-hidden="true"></span><span
 class="visually-hidden">Next</span></button></div>
 <form class="login" novalidate><div class="form-floating"><input type="text" class="form-control" id="room" placeholder="Room number">
   <label
 for="room">Room number</label></div><div class="form-floating"><input type="text" class="form-control" id="surname"
   placeholder="Last name"><label
 for="surname">Last name</label></div><div class="alert alert-danger d-none" role="alert" style="display: none"></div><button type="submit"
 class="btn btn-primary w-100">Connect</button></form>`;
let at = 0;
const turn = by => { const items = document.querySelectorAll(".carousel-item"); if (!items.length) return;
  items[at].classList.remove("active");
  at = (at + by + items.length) % items.length; items[at].classList.add("active"); };
setInterval(() => turn(1), 4000);
$(".carousel-control-next").addEventListener("click", () => turn(1));
$(".carousel-control-prev").addEventListener("click", () => turn(-1));
$("form").addEventListener("submit", async event => {
  event.preventDefault();
  const answer = await send("/auth", {room: $("#room").value, surname: $("#surname").value});
  if (answer.ok) return show(h("h1", {}, "You are connected"));
  $(".alert").style.display = ""; $(".alert").classList.remove("d-none"); $(".alert").textContent = answer.error;
});
"""

    def api(self, request):
        if request.path == "/auth" and self.sends(request):
            return self.welcome() if request.json() == GUEST else refuse(ERROR)
        return bad()
