"""TT-Line: portals 2.7, after CPAL TTLine."""

from lab import Product, Scenario
from pages import *


class TTLine(Product):
    """OPNsense with another body (CPAL TTLine)."""

    name, ports, gatewayNames = "ttline", {8000: "http"}, ("tbguest.ttline.com",)
    scenarios = [Scenario("terms", user={"email": "ada@example.org"}, fewest=2)]

    def intercept(self, request):
        return redirect(f"http://tbguest.ttline.com:8000/index.html?redirurl={request.host}{request.path}", Server="OPNsense")

    def answer(self, request):
        values = request.json()
        if request.path == "/api/captiveportal/access/logon/" and request.method == "POST":
            wanted = {"lang", "user", "password", "passenger_type", "newsletter_accepted"}
            if values.get("terms_accepted") == "true" and "@" in values.get("email", "") and wanted <= values.keys():
                self.admit()
            return jsonAnswer({"clientState": "AUTHORIZED" if self.isOpen else "NOT_AUTHORIZED"})
        if request.path == "/api/captiveportal/access/status/":
            return jsonAnswer({"clientState": "AUTHORIZED" if self.isOpen else "NOT_AUTHORIZED", "authType": "none"})
        return page(
            "TT-Line",
            '<input id="email"><input type="checkbox" id="terms"><label for="terms">I accept the terms</label><button id="go">Connect</button><script src="/js/tt.js"></script>',
        )
