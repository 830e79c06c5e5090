"""srun: portals 4.1; its ciphers after a third party's test vectors."""

import base64
import hashlib
import hmac
import json
import secrets

from lab import CLIENT, Product, Scenario
from pages import *

STUDENT = {"user": "2021001", "password": "p&ss=1"}


def words(octets: bytes, length: bool) -> list[int]:
    padded = octets + b"\0" * (-len(octets) % 4)
    values = [int.from_bytes(padded[i : i + 4], "little") for i in range(0, len(padded), 4)]
    return values + [len(octets)] if length else values


def xencode(text: bytes, key: bytes) -> bytes:
    """The cipher of srun: XXTEA over the text and its length."""
    v, k = words(text, True), (words(key, False) + [0] * 4)[:4]
    n, total = len(v) - 1, 0
    z = v[n]
    for _ in range(6 + 52 // (n + 1)):
        total = (total + 0x9E3779B9) & 0xFFFFFFFF
        e = total >> 2 & 3
        for p in range(n + 1):
            y = v[(p + 1) % (n + 1)]
            m = ((z >> 5 ^ y << 2) + ((y >> 3 ^ z << 4) ^ (total ^ y)) + (k[p & 3 ^ e] ^ z)) & 0xFFFFFFFF
            z = v[p] = (v[p] + m) & 0xFFFFFFFF
    return b"".join(value.to_bytes(4, "little") for value in v)


STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
ALPHABET = "LVoJPiCN2R8G90yg+hmFHuacZ1OWMnrsSTXkYpUq/3dlbfKwv6xztjI7DeBE45QA"


class Srun(Product):
    name = "srun"
    scenarios = [
        Scenario("account", user=STUDENT, fewest=3, never=(STUDENT["password"], "p%26ss"), logoff=True),
        Scenario("refused", "refused", STUDENT | {"password": "no"}, text="E2901"),
    ]

    def begin(self):
        self.challenge = ""

    def intercept(self, request):
        return redirect("http://srun.example/srun_portal_pc?ac_id=5&theme=basic")

    def answer(self, request):
        fields = request.args
        if request.host != "srun.example":
            return Answer(404)
        callback = fields.get("callback", "")
        match request.path:
            case "/srun_portal_pc" if fields.get("ac_id") == "5":
                return page(
                    "认证",
                    f'<form><input id="username" placeholder="用户名"><input id="password" type="password"><button type="button" id="login-account">登录</button></form>'
                    f'<script>var CONFIG = {{ page: "account", ip: "{CLIENT}", nas: "", mac: "", url: "", acid: "5", isIPV6: false }};</script><script src="/static/srun.js"></script>',
                )
            case "/cgi-bin/get_challenge" if fields.get("username") and callback:
                self.challenge = secrets.token_hex(32)
                return jsonp(
                    callback,
                    {
                        "challenge": self.challenge,
                        "client_ip": CLIENT,
                        "error": "ok",
                        "expire": "60",
                        "online_ip": CLIENT,
                        "res": "ok",
                    },
                )
            case "/cgi-bin/srun_portal" if fields.get("action") == "login" and callback:
                return jsonp(callback, self.login(fields))
            case "/cgi-bin/srun_portal" if fields.get("action") == "logout" and (fields.get("username"), fields.get("ac_id")) == (
                STUDENT["user"],
                "5",
            ):
                self.expel()
                return jsonp(callback or "cb", {"error": "ok", "res": "ok"})
            case "/cgi-bin/rad_user_info":
                return jsonp(
                    callback or "cb",
                    {"error": "ok" if self.isOpen else "not_online_error", "online_ip": CLIENT, "user_name": STUDENT["user"]},
                )
        return Answer(404)

    def login(self, fields):
        user, challenge = fields.get("username", ""), self.challenge
        if not challenge:
            return {"error": "challenge_expire_error", "error_msg": "", "res": "challenge_expire_error"}
        text = json.dumps(
            {"username": user, "password": STUDENT["password"], "ip": CLIENT, "acid": "5", "enc_ver": "srun_bx1"},
            separators=(",", ":"),
        )
        info = "{SRBX1}" + base64.b64encode(xencode(text.encode(), challenge.encode())).decode().translate(
            str.maketrans(STANDARD, ALPHABET)
        )
        digest = hmac.new(challenge.encode(), STUDENT["password"].encode(), "md5").hexdigest()
        parts = (user, digest, "5", CLIENT, "200", "1", info)
        expected = {
            "password": "{MD5}" + digest,
            "info": info,
            "ac_id": "5",
            "ip": CLIENT,
            "n": "200",
            "type": "1",
            "chksum": hashlib.sha1("".join(challenge + part for part in parts).encode()).hexdigest(),
        }
        self.challenge = ""
        if user != STUDENT["user"] or any(fields.get(name) != value for name, value in expected.items()):
            return {
                "ecode": "E2901",
                "error": "login_error",
                "error_msg": "E2901: (Third party 1)bind_user2: ldap_bind error",
                "res": "login_error",
                "client_ip": CLIENT,
            }
        self.admit()
        return {
            "ecode": 0,
            "error": "ok",
            "suc_msg": "login_ok",
            "res": "ok",
            "client_ip": CLIENT,
            "online_ip": CLIENT,
            "username": user,
        }
