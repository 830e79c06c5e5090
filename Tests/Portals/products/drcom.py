"""Dr.COM: portals 4.2, after public clients."""

from lab import CLIENT, CLIENT_MAC, Product, Scenario
from pages import *

STUDENT = {"user": "2021001", "password": "p&ss=1"}


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
        return scripted(
            "http://drcom.example/a79.htm?"
            + encode(wlanuserip=CLIENT, wlanacname="", wlanacip="10.20.0.1", mac=CLIENT_MAC.replace(":", "")),
            "location.href",
        )

    def answer(self, request):
        kind, fields = self.options["kind"], request.args
        if request.host != "drcom.example":
            return Answer(404)
        match request.port, request.path:
            case 80, "/a79.htm":
                return self.page()
            case 80, "/" if request.method == "POST" and kind == "old":
                return self.old(request.form)
            case 80, "/drcom/login" if (
                kind == "jsonp" and fields.get("0MKKey") == "123456" and {"R1", "R3", "R6", "para"} <= fields.keys()
            ):
                right = self.right(fields.get("DDDDD"), fields.get("upass"))
                return jsonp(
                    fields["callback"],
                    (
                        {"result": 1, "aolno": 1, "v46ip": CLIENT, "uid": STUDENT["user"]}
                        if right
                        else {"result": 0, "msga": "", "msg": 1}
                    ),
                )
            case 80, "/drcom/chkstatus":
                return jsonp(
                    fields.get("callback", "dr1002"),
                    {"result": int(self.isOpen), "v46ip": CLIENT, "uid": STUDENT["user"], "time": 10, "flow": 100},
                )
            case (80, "/drcom/logout") | (801, "/eportal/portal/logout"):
                self.expel()
                return jsonp(fields.get("callback", "dr1002"), {"result": 1, "msg": "Radius注销成功！"})
            case 801, "/eportal/portal/login" if (
                kind == "eportal" and fields.get("login_method") == "1" and fields.get("wlan_user_ip") == CLIENT
            ):
                right = self.right(fields.get("user_account", "").removeprefix(",0,"), fields.get("user_password")) and fields[
                    "user_account"
                ].startswith(",0,")
                return jsonp(
                    fields["callback"],
                    (
                        {"result": 1, "msg": "Portal协议认证成功！"}
                        if right
                        else {"result": 0, "msg": "账号或密码不正确", "ret_code": 1}
                    ),
                )
        return Answer(404)

    def right(self, user, password):
        if (user, password) == (STUDENT["user"], STUDENT["password"]):
            self.admit()
        return self.isOpen

    def old(self, fields):
        wanted = {"0MKKey": "123456", "R1": "0", "R3": "0", "R6": "0", "para": "00"}
        if any(fields.get(name) != value for name, value in wanted.items()) or not self.right(
            fields.get("DDDDD"), fields.get("upass")
        ):
            return self.gbk("信息返回窗", "<!--Dr.COMWebLoginID_2.htm--><script>Msg=1;time='0';msga='ldap auth error';</script>")
        return self.gbk("认证成功页", "<!--Dr.COMWebLoginID_3.htm--><p>You have successfully logged in.</p>")

    def page(self):
        port = "authloginport=801;" if self.options["kind"] == "eportal" else ""
        script = f"<script>{port} v46ip='{CLIENT}'; v4serip='10.20.0.1'; ss5='{CLIENT}'; pid='1'; calg='12345678';</script>"
        if self.options["kind"] != "old":
            return self.gbk(
                "上网登录页",
                script
                + '<form name="f0"><input name="DDDDD"><input type="password" name="upass"><input type="button" name="0MKKey" value="登录" onclick="ee()"></form>'
                '<script src="a41.js"></script>',
            )
        return self.gbk(
            "上网登录页",
            script
            + form(
                "/",
                hidden(R1="0", R2="", R3="0", R6="0", para="00"),
                '账号 <input name="DDDDD">',
                '密码 <input type="password" name="upass">',
                '<input type="submit" name="0MKKey" value="123456">',
                name="f1",
            ),
        )

    def gbk(self, title, body):
        return Answer(
            200,
            f'<html><head><meta http-equiv="Content-Type" content="text/html; charset=gb2312"><title>{title}</title></head><body>{body}</body></html>'.encode(
                "gbk"
            ),
            "text/html",
        )
