"""A railway's page as in Japan: a list of languages, the rules with a button that agrees, an address, and a notice."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"email": "ada@example.org"}, "Enter a valid e-mail address."


class FreshJapan(Scripted):
    """The page begins in Japanese whatever the browser's language is; languages are lines of a list with handlers."""

    name, host, lang, title = "fresh-japan", "freewifi.seto-railway.example", "ja", "瀬戸鉄道 無料Wi-Fi"
    bundle = "/common/js/index.js"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", {"email": "ada@localhost"}, text="mail"),
        Scenario("address first", user=GUEST, options={"start": "ja"}),
    ]
    style = """.lang-list { list-style: none; padding: 0; }
.lang-list li { padding: .6rem; border-bottom: 1px solid #ccc; cursor: pointer; }
.rule { height: 120px; overflow: auto; }"""
    script = r"""
const texts = {
  ja: ["インターネットに接続", "利用規約", "本サービスは無料です。利用者は自己の責任において利用するものとします。", "同意する", "同意しない", "メールアドレス", "登録",
    "正しいメールアドレスを入力してください。", "セキュリティについて", "通信は暗号化されていません。", "インターネットを開始", "接続しました"],
  en: ["Connect to the Internet", "Terms of Use", "This service is free of charge. You use it at your own risk.", "Agree", "Disagree",
    "E-mail address",
    "Register", "Enter a valid e-mail address.", "Security notice", "Your communication is not encrypted.", "Start the Internet",
      "You are connected"],
};
let language = "ja";
const menu = () => show(h("img", {src: "/common/img/logo.png", alt: "Seto Railway Free Wi-Fi", width: "200", height: "60"}), h("ul",
  {class: "lang-list"},
  [["ja", "日本語"], ["en", "English"], ["zh", "中文(简体)"], ["ko", "한국어"]].map(([code, name]) => h("li", {"data-lang": code,
    onclick: () => { language = texts[code] ? code : "en"; document.documentElement.lang = language; hello(); }}, name))));
const hello = () => show(h("h1", {}, "Seto Free Wi-Fi"), h("div", {class: "btn-area"}, h("a", {href: "javascript:void(0);",
  class: "btn btn-connect",
  onclick: rules}, texts[language][0])), h("p", {}, h("a", {href: "javascript:void(0);", onclick: menu}, "Language / 言語")));
const rules = () => show(h("h2", {}, texts[language][1]), h("div", {class: "rule"}, h("p", {}, texts[language][2])), h("div",
  {class: "btn-area"},
  h("a", {href: "javascript:void(0);", class: "btn", onclick: address}, texts[language][3]),
  h("a", {href: "javascript:void(0);", class: "btn btn-gray", onclick: hello}, texts[language][4])));
const address = () => {
  const mail = h("input", {type: "text", id: "mail", inputmode: "email"}), note = h("p", {class: "err", style: "color: #c00"});
  show(h("h2", {}, texts[language][5]), mail, note, h("a", {href: "javascript:void(0);", class: "btn", onclick: async () => {
    if ((await send("/api/entry", {mail: mail.value, language})).ok) notice(); else note.textContent = texts[language][7];
  }}, texts[language][6]));
};
const notice = () => show(h("h2", {}, texts[language][8]), h("p", {}, texts[language][9]), h("a", {href: "javascript:void(0);",
  class: "btn",
  onclick: async () => { if ((await send("/api/start", {start: 1})).ok) show(h("h2", {}, texts[language][11])); }}, texts[language][10]));
START === "menu" ? menu() : hello();
"""

    def begin(self):
        super().begin()
        self.isEntered = False

    def answer(self, request):
        if request.path == self.bundle:
            start = self.options.get("start", "menu")
            return Answer(200, f'{RUNTIME}const START = "{start}";{self.script}', "text/javascript; charset=utf-8")
        return super().answer(request)

    def api(self, request):
        if request.path == "/api/entry" and self.sends(request):
            self.isEntered = request.json().get("mail") == GUEST["email"]
            return jsonAnswer({"ok": self.isEntered})
        if request.path == "/api/start" and self.sends(request):
            return self.welcome() if self.isEntered else bad()
        return Answer(404)
