"""Ruijie ePortal: portals 4.3, after public clients."""

import urllib.parse

from lab import Product, Scenario
from pages import *

STUDENT = {"user": "2021001", "password": "p&ss=1"}


class Ruijie(Product):
    name = "ruijie"
    scenarios = [
        Scenario("account", user=STUDENT, fewest=2, logoff=True),
        Scenario("refused", "refused", STUDENT | {"password": "no"}, text="用户不存在或者密码错误"),
        Scenario("encrypted", "handed over", STUDENT, {"encrypt": True}, never=("p%26ss", "p&ss")),
    ]
    query = "wlanuserip=4f2c&wlanacname=a81b&ssid=&nasip=77de&mac=9b01&t=wireless-v2&url=2c0a"

    def intercept(self, request):
        return Answer(200, f"<script>top.self.location.href='http://eportal.example/eportal/index.jsp?{self.query}'</script>\r\n")

    def answer(self, request):
        if request.host != "eportal.example":
            return Answer(404)
        if request.path == "/eportal/index.jsp":
            encrypt = str(bool(self.options.get("encrypt"))).lower()
            answer = page(
                "ePortal",
                f'<input id="username" placeholder="用户名"><input id="pwd" type="password"><a id="loginLink">连接</a><script src="./js/security.js"></script>'
                f'<script>var passwordEncrypt = "{encrypt}"; $("#loginLink").click(function () {{ AuthInterFace.login(); }});</script>',
            )
            answer.body = answer.body.decode().replace("utf-8", "GBK").encode("gbk")
            answer.kind = "text/html;charset=GBK"
            return answer
        fields = request.form
        match request.args.get("method") if request.path == "/eportal/InterFace.do" and request.method == "POST" else None:
            case "pageInfo":
                return jsonAnswer(
                    {
                        "passwordEncrypt": str(bool(self.options.get("encrypt"))).lower(),
                        "publicKeyExponent": "10001",
                        "publicKeyModulus": "94dd2a86",
                    }
                )
            case "login":
                return self.login(fields)
            case "getOnlineUserInfo":
                return jsonAnswer(
                    {"result": "success" if self.isOpen else "fail", "userIndex": "7f01", "maxLeavingTime": "", "ballInfo": "[]"}
                )
            case "keepalive":
                return jsonAnswer({"result": "success" if fields.get("userIndex") == "7f01" else "fail"})
            case "logout" if fields.get("userIndex") == "7f01":
                self.expel()
                return jsonAnswer({"result": "success", "message": "下线成功！"})
            case "logout":
                return jsonAnswer({"result": "fail", "message": "用户不在线"})
        return Answer(404)

    def login(self, fields):
        wanted = {"userId", "password", "service", "queryString", "operatorPwd", "operatorUserId", "validcode", "passwordEncrypt"}
        # Browsers encode the query twice, scripts once; the server reads both.
        query = urllib.parse.unquote(fields.get("queryString", ""))
        if not wanted <= fields.keys() or query != self.query:
            return jsonAnswer({"result": "fail", "message": "获取用户信息失败"})
        if (fields["userId"], fields["password"], fields["passwordEncrypt"]) != (
            STUDENT["user"],
            STUDENT["password"],
            "false",
        ) or self.options.get("encrypt"):
            return jsonAnswer({"userIndex": None, "result": "fail", "message": "用户不存在或者密码错误", "validCodeUrl": ""})
        self.admit()
        return jsonAnswer(
            {
                "userIndex": "7f01",
                "result": "success",
                "message": "",
                "keepaliveInterval": 0,
                "forwordurl": None,
                "validCodeUrl": "",
            }
        )
