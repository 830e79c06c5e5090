"""Campus systems in China: Ruijie ePortal, srun and Dr.COM: portals 4.1 to 4.3, after public clients; srun's ciphers after a third party's vectors."""

import base64
import hashlib
import hmac
import json
import secrets
import urllib.parse

from lab import CLIENT, CLIENT_MAC, Product, Scenario
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
            answer = page("ePortal", f'<input id="username" placeholder="用户名"><input id="pwd" type="password"><a id="loginLink">连接</a><script src="./js/security.js"></script>'
                          f'<script>var passwordEncrypt = "{encrypt}"; $("#loginLink").click(function () {{ AuthInterFace.login(); }});</script>')
            answer.body = answer.body.decode().replace("utf-8", "GBK").encode("gbk")
            answer.kind = "text/html;charset=GBK"
            return answer
        fields = request.form
        match request.args.get("method") if request.path == "/eportal/InterFace.do" and request.method == "POST" else None:
            case "pageInfo":
                return jsonAnswer({"passwordEncrypt": str(bool(self.options.get("encrypt"))).lower(), "publicKeyExponent": "10001", "publicKeyModulus": "94dd2a86"})
            case "login":
                return self.login(fields)
            case "getOnlineUserInfo":
                return jsonAnswer({"result": "success" if self.isOpen else "fail", "userIndex": "7f01", "maxLeavingTime": "", "ballInfo": "[]"})
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
        if (fields["userId"], fields["password"], fields["passwordEncrypt"]) != (STUDENT["user"], STUDENT["password"], "false") or self.options.get("encrypt"):
            return jsonAnswer({"userIndex": None, "result": "fail", "message": "用户不存在或者密码错误", "validCodeUrl": ""})
        self.admit()
        return jsonAnswer({"userIndex": "7f01", "result": "success", "message": "", "keepaliveInterval": 0, "forwordurl": None, "validCodeUrl": ""})


def words(octets: bytes, length: bool) -> list[int]:
    padded = octets + b"\0" * (-len(octets) % 4)
    values = [int.from_bytes(padded[i:i + 4], "little") for i in range(0, len(padded), 4)]
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
                return page("认证", f'<form><input id="username" placeholder="用户名"><input id="password" type="password"><button type="button" id="login-account">登录</button></form>'
                            f'<script>var CONFIG = {{ page: "account", ip: "{CLIENT}", nas: "", mac: "", url: "", acid: "5", isIPV6: false }};</script><script src="/static/srun.js"></script>')
            case "/cgi-bin/get_challenge" if fields.get("username") and callback:
                self.challenge = secrets.token_hex(32)
                return jsonp(callback, {"challenge": self.challenge, "client_ip": CLIENT, "error": "ok", "expire": "60", "online_ip": CLIENT, "res": "ok"})
            case "/cgi-bin/srun_portal" if fields.get("action") == "login" and callback:
                return jsonp(callback, self.login(fields))
            case "/cgi-bin/srun_portal" if fields.get("action") == "logout" and (fields.get("username"), fields.get("ac_id")) == (STUDENT["user"], "5"):
                self.expel()
                return jsonp(callback or "cb", {"error": "ok", "res": "ok"})
            case "/cgi-bin/rad_user_info":
                return jsonp(callback or "cb", {"error": "ok" if self.isOpen else "not_online_error", "online_ip": CLIENT, "user_name": STUDENT["user"]})
        return Answer(404)

    def login(self, fields):
        user, challenge = fields.get("username", ""), self.challenge
        if not challenge:
            return {"error": "challenge_expire_error", "error_msg": "", "res": "challenge_expire_error"}
        text = json.dumps({"username": user, "password": STUDENT["password"], "ip": CLIENT, "acid": "5", "enc_ver": "srun_bx1"}, separators=(",", ":"))
        info = "{SRBX1}" + base64.b64encode(xencode(text.encode(), challenge.encode())).decode().translate(str.maketrans(STANDARD, ALPHABET))
        digest = hmac.new(challenge.encode(), STUDENT["password"].encode(), "md5").hexdigest()
        parts = (user, digest, "5", CLIENT, "200", "1", info)
        expected = {"password": "{MD5}" + digest, "info": info, "ac_id": "5", "ip": CLIENT, "n": "200", "type": "1",
                    "chksum": hashlib.sha1("".join(challenge + part for part in parts).encode()).hexdigest()}
        self.challenge = ""
        if user != STUDENT["user"] or any(fields.get(name) != value for name, value in expected.items()):
            return {"ecode": "E2901", "error": "login_error", "error_msg": "E2901: (Third party 1)bind_user2: ldap_bind error", "res": "login_error", "client_ip": CLIENT}
        self.admit()
        return {"ecode": 0, "error": "ok", "suc_msg": "login_ok", "res": "ok", "client_ip": CLIENT, "online_ip": CLIENT, "username": user}


class DrCOM(Product):
    """`kind`: old (a form), jsonp, eportal (port 801)."""

    name, ports = "drcom", {801: "http"}
    scenarios = [
        Scenario("form", user=STUDENT, options={"kind": "old"}, fewest=2),
        Scenario("form refused", "refused", STUDENT | {"password": "no"}, {"kind": "old"}, "ldap auth error"),
        Scenario("jsonp", user=STUDENT, options={"kind": "jsonp"}, fewest=2, logoff=True),
        Scenario("jsonp refused", "refused", STUDENT | {"password": "no"}, {"kind": "jsonp"}, "not accept"),
        Scenario("eportal", user=STUDENT, options={"kind": "eportal"}, fewest=2, logoff=True),
        Scenario("eportal refused", "refused", STUDENT | {"password": "no"}, {"kind": "eportal"}, "密码不正确"),
    ]

    def intercept(self, request):
        return scripted("http://drcom.example/a79.htm?" + encode(wlanuserip=CLIENT, wlanacname="", wlanacip="10.20.0.1", mac=CLIENT_MAC.replace(":", "")), "location.href")

    def answer(self, request):
        kind, fields = self.options["kind"], request.args
        if request.host != "drcom.example":
            return Answer(404)
        match request.port, request.path:
            case 80, "/a79.htm":
                return self.page()
            case 80, "/" if request.method == "POST" and kind == "old":
                return self.old(request.form)
            case 80, "/drcom/login" if kind == "jsonp" and fields.get("0MKKey") == "123456" and {"R1", "R3", "R6", "para"} <= fields.keys():
                right = self.right(fields.get("DDDDD"), fields.get("upass"))
                return jsonp(fields["callback"], {"result": 1, "aolno": 1, "v46ip": CLIENT, "uid": STUDENT["user"]} if right else {"result": 0, "msga": "", "msg": 1})
            case 80, "/drcom/chkstatus":
                return jsonp(fields.get("callback", "dr1002"), {"result": int(self.isOpen), "v46ip": CLIENT, "uid": STUDENT["user"], "time": 10, "flow": 100})
            case (80, "/drcom/logout") | (801, "/eportal/portal/logout"):
                self.expel()
                return jsonp(fields.get("callback", "dr1002"), {"result": 1, "msg": "Radius注销成功！"})
            case 801, "/eportal/portal/login" if kind == "eportal" and fields.get("login_method") == "1" and fields.get("wlan_user_ip") == CLIENT:
                right = self.right(fields.get("user_account", "").removeprefix(",0,"), fields.get("user_password")) and fields["user_account"].startswith(",0,")
                return jsonp(fields["callback"], {"result": 1, "msg": "Portal协议认证成功！"} if right else {"result": 0, "msg": "账号或密码不正确", "ret_code": 1})
        return Answer(404)

    def right(self, user, password):
        if (user, password) == (STUDENT["user"], STUDENT["password"]):
            self.admit()
        return self.isOpen

    def old(self, fields):
        wanted = {"0MKKey": "123456", "R1": "0", "R3": "0", "R6": "0", "para": "00"}
        if any(fields.get(name) != value for name, value in wanted.items()) or not self.right(fields.get("DDDDD"), fields.get("upass")):
            return self.gbk("信息返回窗", "<!--Dr.COMWebLoginID_2.htm--><script>Msg=1;time='0';msga='ldap auth error';</script>")
        return self.gbk("认证成功页", "<!--Dr.COMWebLoginID_3.htm--><p>You have successfully logged in.</p>")

    def page(self):
        port = "authloginport=801;" if self.options["kind"] == "eportal" else ""
        script = f"<script>{port} v46ip='{CLIENT}'; v4serip='10.20.0.1'; ss5='{CLIENT}'; pid='1'; calg='12345678';</script>"
        if self.options["kind"] != "old":
            return self.gbk("上网登录页", script + '<form name="f0"><input name="DDDDD"><input type="password" name="upass"><input type="button" name="0MKKey" value="登录" onclick="ee()"></form>'
                            '<script src="a41.js"></script>')
        return self.gbk("上网登录页", script + form("/", hidden(R1="0", R2="", R3="0", R6="0", para="00"), '账号 <input name="DDDDD">',
                                                 '密码 <input type="password" name="upass">', '<input type="submit" name="0MKKey" value="123456">', name="f1"))

    def gbk(self, title, body):
        return Answer(200, f'<html><head><meta http-equiv="Content-Type" content="text/html; charset=gb2312"><title>{title}</title></head><body>{body}</body></html>'.encode("gbk"), "text/html")
