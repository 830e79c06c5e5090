"""A market's page with another company's box against robots: a frame that a person has to answer before the button does anything."""

from lab import Scenario
from scripted.shell import *

ERROR = "Please confirm that you are not a robot."


class FreshCaptcha(Scripted):
    """The frame is the company's, and shows a box; what it finds is in a field of the page that nobody sees. It is left to a browser."""

    name, host, title = "fresh-captcha", "wifi.farmers-market.example", "Farmers Market Wi-Fi"
    bundle, frame = "/js/site.js", "www.captcha-service.example"
    scenarios = [Scenario("handed over", "handed over", {"email": "ada@example.org"})]
    script = r"""
$("#root").innerHTML = `<h1>Farmers Market</h1><form id="f"><label for="email">Email</label><input type="email" id="email" name="email">
 <div class="g-recaptcha" data-sitekey="6LeIxAcTAAAAAJcZVRqyHh71UMIEGNQ_MXjiZKhI"><div style="width: 304px; height: 78px;"><div>
   <iframe title="reCAPTCHA"
 width="304" height="78" role="presentation" name="a-1k2j" frameborder="0" scrolling="no"
   sandbox="allow-forms allow-popups allow-same-origin
 allow-scripts" src="http://www.captcha-service.example/recaptcha/api2/anchor?k=6LeIxAcT"></iframe></div><textarea id="g-recaptcha-response"
 name="g-recaptcha-response" class="g-recaptcha-response" style="display: none;"></textarea></div></div><p class="error"></p>
 <button type="submit">Connect</button></form>`;
$("#f").addEventListener("submit", async event => {
  event.preventDefault();
  const answer = await send("/join", {email: $("#email").value, token: $("#g-recaptcha-response").value});
  if (answer.ok) show(h("h1", {}, "Connected")); else $(".error").textContent = answer.error;
});
"""

    def answer(self, request):
        if request.host == self.frame:
            box = '<div class="rc-anchor"><span role="checkbox" aria-checked="false" id="recaptcha-anchor" tabindex="0" ' \
                  'style="display: inline-block; width: 28px; height: 28px; border: 2px solid #999"></span> ' \
                  "<label>I'm not a robot</label></div>"
            return document("reCAPTCHA", box, "/recaptcha/none.js") if request.path.endswith("/anchor") else Answer(404)
        return super().answer(request)

    def api(self, request):
        if request.path == "/join" and self.sends(request):
            return self.welcome() if request.json().get("token") else refuse(ERROR)
        return bad()
