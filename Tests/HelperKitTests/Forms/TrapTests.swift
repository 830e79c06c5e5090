import HotspotCore
import Testing

@testable import HelperKit

/// Pages that want what no portal needs.
@Suite struct TrapTests {
    private func message(_ body: String, _ url: String) -> String? {
        guard case .ask(let prompt, _) = FormEngine().decide(on: page(body, url: url), at: WebURL(url)!) else { return nil }
        return prompt.message
    }

    @Test(arguments: [
        ("<title>Sign in - Google Accounts</title><form><input type=email name=e><input type=submit></form>", true),
        ("<form>Sign in with your Apple ID<input name=u><input type=password name=p><button>Go</button></form>", true),
        ("<form>Log in, <input name=u placeholder='Facebook name'><input type=password name=p><button>Go</button></form>", true),
        ("<form><input name=u placeholder='name@gmail.com'><input type=password name=p><button>Go</button></form>", false),
        ("<title>GoogleAccount</title><form><input type=email name=e><input type=submit></form>", true),
        ("<title>accounts.google.com</title><form><input type=email name=e><input type=submit></form>", true),
        ("<title>Ｇｏｏｇｌｅ</title><form><input type=email name=e><input type=submit></form>", true),
        ("<title>𝐆𝐨𝐨𝐠𝐥𝐞</title><form><input type=email name=e><input type=submit></form>", true),
        ("<title>Gооgle</title><form><input type=email name=e><input type=submit></form>", true),
        ("<a href=/g>Sign in with Google</a><form><input name=room></form>", false),
        ("<title>Hotel Amazonas</title><form><input name=room></form>", false),
        ("<title>Google</title><form><input type=checkbox name=ok required><input type=submit></form>", false),
    ]) func aPageInACompanysNameIsMarked(_ body: String, _ isMarked: Bool) {
        let marked = message(body, "http://accounts.google.com/")
        #expect(marked?.hasPrefix("This page names ") ?? false == isMarked)
        #expect(message(body, "https://accounts.google.com/") == nil)
    }

    /// Returns the company that a page with a password field imitates at an address of its own.
    private func imitated(_ title: String) -> String? {
        let body = "<title>\(title)</title><form><input name=u><input type=password name=p><button>Go</button></form>"
        return Company.imitated(by: page(body, url: "https://login.test/"), at: WebURL("https://login.test/")!)?.name
    }

    @Test(arguments: [
        ("𝕸𝖎𝖈𝖗𝖔𝖘𝖔𝖋𝖙 sign-in", "Microsoft"), ("𝙿𝚊𝚢𝙿𝚊𝚕", "PayPal"), ("Ⓕⓐⓒⓔⓑⓞⓞⓚ", "Facebook"), ("🅰🅼🅰🆉🅾🅽", "Amazon"),
        ("ɪɴꜱᴛᴀɢʀᴀᴍ", "Instagram"), ("ℋ𝒮ℬ𝒞", "HSBC"), ("Rеvоlut", "Revolut"), ("Ｔｅｌｅｇｒａｍ", "Telegram"),
        ("𝛭icr𝝄soft", "Microsoft"), ("Goog1e", "Google"), ("GoogIe", "Google"), ("paypa1 login", "PayPal"),
        ("rnicrosoft 365", "Microsoft"), ("L1nked1n", "LinkedIn"), ("Gōögłe", "Google"), ("Go\u{200B}ogle", "Google"),
        ("LinkedInAccount", "LinkedIn"), ("PayPalLogin", "PayPal"), ("signin.PayPal.secure", "PayPal"),
        ("Office 𝟑𝟔𝟓", "Microsoft"), ("Сбербанк Онлайн", "Sberbank"), ("Яндекс", "Yandex"), ("支付宝", "Alipay"),
    ]) func aNameInAnyLettersIsTheCompanys(_ title: String, _ company: String) {
        #expect(imitated(title) == company)
    }

    @Test(arguments: [
        "Hotel Amazonas", "Pineapple Lodge", "Café Métropole 1905", "ЖК Северный", "𝐀𝐢𝐫𝐩𝐨𝐫𝐭 𝟐𝟒", "Modern Inn", "ING-Wenceslas 3",
    ]) func anotherNameIsNoCompanys(_ title: String) {
        #expect(imitated(title) == nil)
    }
}
