"""Huawei: iMaster NCE (portals 3.11; CPAL IMasterNCE) and the carriers' quickauth; H3C iMC (3.12)."""

import base64
import json
import urllib.parse

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *

STUDENT = {"user": "2021001", "password": "pa+ss"}


class IMasterNCE(Product):
    name, ports = "huawei-nce", {19008: "https"}
    scenarios = [Scenario("click", fewest=3), Scenario("late gate", fewest=3, delay=3)]
    host = "https://device.imaster-nce.de:19008"

    def begin(self):
        self.polls = 0

    def intercept(self, request):
        return redirect(f"{self.host}/portalpage/1/20210917/auth.html?" + encode(apmac="0200000000aa", uaddress=CLIENT, umac=CLIENT_MAC.replace(":", ""), authType="2",
                                                                                 ssid=base64.b64encode(b"Lab").decode()))

    def answer(self, request):
        fields = request.form
        if request.port != 19008:
            return Answer(404)
        if request.path.endswith("/auth.html"):
            return page("Portal", '<input type="checkbox" id="agree"> <label for="agree">I agree to the user agreement</label><button id="login">Connect</button>'
                        '<script src="js/portal.js"></script><script>$("#login").click(function () { loginAnonymous("/portalauth/login"); });</script>')
        known = fields.get("umac") == CLIENT_MAC.replace(":", "") and fields.get("uaddress") == CLIENT and fields.get("ssid") == base64.b64encode(b"Lab").decode()
        if request.path == "/portalauth/login" and request.method == "POST":
            right = known and fields.get("agreed") == "1" and fields.get("userName") == fields.get("userPass") == "~anonymous" and fields.get("authType") == "2"
            if right:
                self.admit()
            return jsonAnswer({"success": right, "message": "" if right else "Invalid parameters"})
        if request.path == "/portalauth/syncPortalResult" and request.method == "POST":
            self.polls += 1
            return jsonAnswer({"success": True, "message": "true" if self.isOpen and (self.polls > 1 or not self.scenario.delay) else "false"})
        return Answer(404)


class QuickAuth(Product):
    """A carrier's campus portal on Huawei and ZTE gear."""

    name = "huawei-quickauth"
    scenarios = [
        Scenario("account", user=STUDENT, fewest=2, logoff=True),
        Scenario("refused", "refused", STUDENT | {"password": "no"}, text="密码错误"),
    ]
    query = {"wlanuserip": CLIENT, "wlanacname": "AC01", "mac": CLIENT_MAC, "vlan": "100", "hostname": ""}

    def intercept(self, request):
        return scripted("http://portal.quickauth.example/portal.do?" + encode(**self.query), "self.location.href")

    def answer(self, request):
        fields = request.args
        if request.host != "portal.quickauth.example":
            return Answer(404)
        known = all(fields.get(name) == value for name, value in self.query.items() if value)
        match request.path:
            case "/portal.do" if known:
                return page("校园网认证", '<input id="userid" placeholder="账号"><input id="passwd" type="password" placeholder="密码"><a href="javascript:quickauth()">登录</a><script src="js/auth.js"></script>')
            case "/quickauth.do" if known and {"wlanacIp", "ssid", "version", "portalpageid", "timestamp", "uuid", "portaltype"} <= fields.keys() | {"wlanacIp", "ssid", "uuid"}:
                if (fields.get("userid"), fields.get("passwd")) != (STUDENT["user"], STUDENT["password"]):
                    return jsonAnswer({"code": "1", "rec": "", "message": "密码错误"})
                self.admit()
                return jsonAnswer({"code": "0", "rec": "", "message": "认证成功", "wlanacIp": "10.20.0.1"})
            case "/quickauthdisconn.do":
                self.expel()
                return jsonAnswer({"code": "0"})
        return Answer(404)


class H3C(Product):
    name, ports = "h3c", {8080: "http"}
    scenarios = [
        Scenario("account", user=STUDENT, fewest=2, logoff=True),
        Scenario("refused", "refused", STUDENT | {"password": "no"}, text="密码错误"),
    ]
    context = base64.b64encode(json.dumps({"clientLanguage": "Chinese", "nasId": "lab"}).encode()).decode()

    def intercept(self, request):
        return redirect("http://imc.h3c.example:8080/portal/?" + encode(userip=CLIENT, userurl=request.url, wlannasid="", ssid="Lab"))

    def answer(self, request):
        if request.host != "imc.h3c.example" or request.port != 8080:
            return Answer(404)
        match request.path, request.args.get("t"):
            case "/portal/", _:
                return redirect("/portal/templatePage/20200101/login.jsp", Set_Cookie=f"i_p_pl={self.context}; Path=/portal")
            case "/portal/templatePage/20200101/login.jsp", _:
                return page("Portal", '<form name="loginForm"><input id="id_userName" placeholder="用户名"><input id="id_userPwd" type="password" placeholder="密码">'
                            '<input type="button" value="上线" onclick="submitLogin()"></form><script src="/portal/js/pws.js"></script>')
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
        wanted = {"language": "Chinese", "usermac": "null", "entrance": "null", "portalProxyPort": "50200", "dcPwdNeedEncrypt": "1", "assignIpType": "0"}
        if any(fields.get(name) != value for name, value in wanted.items()) or fields.get("userip") != CLIENT:
            return self.wrapped({"errorNumber": "7", "portServErrorCode": "3", "portServErrorCodeDesc": "参数错误"})
        password = base64.b64decode(fields.get("userPwd", "") + "==").decode("utf-8", "replace")
        if (fields.get("userName"), password) != (STUDENT["user"], STUDENT["password"]):
            return self.wrapped({"errorNumber": "7", "portServErrorCode": "63018", "portServErrorCodeDesc": "密码错误"})
        self.admit()
        return self.wrapped({"errorNumber": "1", "heartBeatCyc": 60000, "serialNo": 12345, "pl": self.context, "userStatus": 99})

    def wrapped(self, value):
        return Answer(200, base64.b64encode(urllib.parse.quote(json.dumps(value)).encode()), "text/plain")
