"""H3C iMC: portals 3.12."""

import base64
import json
import urllib.parse

from lab import CLIENT, Product, Scenario
from pages import *

STUDENT = {"user": "2021001", "password": "pa+ss"}


class H3C(Product):
    name, ports = "h3c", {8080: "http"}
    scenarios = [
        Scenario("account", user=STUDENT, fewest=2, logoff=True),
        Scenario("refused", "refused", STUDENT | {"password": "no"}, text="密码错误"),
    ]
    context = base64.b64encode(json.dumps({"clientLanguage": "Chinese", "nasId": "lab"}).encode()).decode()

    def intercept(self, request):
        return redirect(
            "http://imc.h3c.example:8080/portal/?" + encode(userip=CLIENT, userurl=request.url, wlannasid="", ssid="Lab")
        )

    def answer(self, request):
        if request.host != "imc.h3c.example" or request.port != 8080:
            return Answer(404)
        match request.path, request.args.get("t"):
            case "/portal/", _:
                return redirect("/portal/templatePage/20200101/login.jsp", Set_Cookie=f"i_p_pl={self.context}; Path=/portal")
            case "/portal/templatePage/20200101/login.jsp", _:
                return page(
                    "Portal",
                    '<form name="loginForm"><input id="id_userName" placeholder="用户名"><input id="id_userPwd" type="password" placeholder="密码">'
                    '<input type="button" value="上线" onclick="submitLogin()"></form><script src="/portal/js/pws.js"></script>',
                )
            case "/portal/pws", "li" if request.method == "POST":
                return self.login(request)
            case "/portal/pws", "lo" if request.method == "POST":
                self.expel()
                return self.wrapped({"errorNumber": "1"})
            case "/portal/pws", "hb":
                return self.wrapped({"errorNumber": "1" if self.isOpen else "7"})
        return Answer(404)

    def login(self, request):
        fields = request.form
        if request.cookie("i_p_pl") != self.context:
            return self.wrapped({"errorNumber": "-1", "portServErrorCode": "-1", "portServErrorCodeDesc": "会话已过期"})
        wanted = {
            "language": "Chinese",
            "usermac": "null",
            "entrance": "null",
            "portalProxyPort": "50200",
            "dcPwdNeedEncrypt": "1",
            "assignIpType": "0",
        }
        if any(fields.get(name) != value for name, value in wanted.items()) or fields.get("userip") != CLIENT:
            return self.wrapped({"errorNumber": "7", "portServErrorCode": "3", "portServErrorCodeDesc": "参数错误"})
        password = base64.b64decode(fields.get("userPwd", "") + "==").decode("utf-8", "replace")
        if (fields.get("userName"), password) != (STUDENT["user"], STUDENT["password"]):
            return self.wrapped({"errorNumber": "7", "portServErrorCode": "63018", "portServErrorCodeDesc": "密码错误"})
        self.admit()
        return self.wrapped({"errorNumber": "1", "heartBeatCyc": 60000, "serialNo": 12345, "pl": self.context, "userStatus": 99})

    def wrapped(self, value):
        return Answer(200, base64.b64encode(urllib.parse.quote(json.dumps(value)).encode()), "text/plain")
