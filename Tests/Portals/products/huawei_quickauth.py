"""The carriers' quickauth on Huawei and ZTE gear: portals 3.11."""

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *

STUDENT = {"user": "2021001", "password": "pa+ss"}


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
                return page(
                    "校园网认证",
                    '<input id="userid" placeholder="账号"><input id="passwd" type="password" placeholder="密码"><a href="javascript:quickauth()">登录</a><script src="js/auth.js"></script>',
                )
            case "/quickauth.do" if known and {
                "wlanacIp",
                "ssid",
                "version",
                "portalpageid",
                "timestamp",
                "uuid",
                "portaltype",
            } <= fields.keys() | {"wlanacIp", "ssid", "uuid"}:
                if (fields.get("userid"), fields.get("passwd")) != (STUDENT["user"], STUDENT["password"]):
                    return jsonAnswer({"code": "1", "rec": "", "message": "密码错误"})
                self.admit()
                return jsonAnswer({"code": "0", "rec": "", "message": "认证成功", "wlanacIp": "10.20.0.1"})
            case "/quickauthdisconn.do":
                self.expel()
                return jsonAnswer({"code": "0"})
        return Answer(404)
