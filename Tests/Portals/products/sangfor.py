"""Sangfor AC: portals 3.14."""

from lab import CLIENT_MAC, Product, Scenario
from pages import *

GUEST = {"user": "guest", "password": "secret"}
REFUSED = GUEST | {"password": "no"}


class Sangfor(Product):
    name = "sangfor"
    scenarios = [
        Scenario("account", user=GUEST, fewest=2, logoff=True),
        Scenario("refused", "refused", REFUSED, text="用户名或密码错误"),
        Scenario("rc4", "handed over", GUEST, {"rc4": True}, never=("pwd=secret",)),
    ]

    def intercept(self, request):
        return redirect(
            "http://ac.sangfor.example/ac_portal/default/pc.html?"
            + encode(
                template="default",
                tabs="pwd",
                vlanid="0",
                _ID_="0",
                switch_url="",
                url=request.url,
                mac=CLIENT_MAC.replace(":", "-"),
            )
        )

    def answer(self, request):
        fields = request.form
        if request.host != "ac.sangfor.example":
            return Answer(404)
        if request.path.endswith("/pc.html"):
            return page(
                "上网认证",
                '<input id="password_name" placeholder="用户名"><input id="password_pwd" type="password"><button id="password_submitBtn">登录</button>'
                f'<script>var rc4 = {str(bool(self.options.get("rc4"))).lower()};</script><script src="../js/pc.js"></script>',
            )
        if request.path != "/ac_portal/login.php" or request.method != "POST":
            return Answer(404)
        if fields.get("opr") == "logout":
            self.expel()
            return self.said(True, "logout success")
        password = (
            self.cipher(b"secret", fields.get("auth_tag", "").encode()).hex()
            if self.options.get("rc4") and fields.get("auth_tag")
            else "secret"
        )
        if (
            self.options.get("rc4")
            and not fields.get("auth_tag")
            or fields.get("opr") != "pwdLogin"
            or fields.get("rememberPwd") != "0"
            or (fields.get("userName"), fields.get("pwd")) != ("guest", password)
        ):
            return self.said(False, "用户名或密码错误")
        self.admit()
        return self.said(True, "logon success")

    def said(self, success, text):
        return Answer(
            200,
            f"{{'success':{str(success).lower()}, 'msg':'{text}', 'action':'location', 'pop':0, 'userName':'guest'}}",
            "text/html; charset=utf-8",
        )

    def cipher(self, text, key):
        state, j = list(range(256)), 0
        for i in range(256):
            j = (j + state[i] + key[i % len(key)]) % 256
            state[i], state[j] = state[j], state[i]
        i = j = 0
        out = bytearray()
        for octet in text:
            i = (i + 1) % 256
            j = (j + state[i]) % 256
            state[i], state[j] = state[j], state[i]
            out.append(octet ^ state[(state[i] + state[j]) % 256])
        return bytes(out)
