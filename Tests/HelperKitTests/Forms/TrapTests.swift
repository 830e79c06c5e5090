import HotspotCore
import Testing

@testable import HelperKit
@testable import PageLogin
@testable import PortalPages

/// Pages that ask for accounts or data that no portal needs.
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
        return ImitatedBrand.imitated(by: page(body, url: "https://login.test/"), at: WebURL("https://login.test/")!)?.name
    }

    @Test(arguments: [
        ("𝕸𝖎𝖈𝖗𝖔𝖘𝖔𝖋𝖙 sign-in", "Microsoft"), ("𝙿𝚊𝚢𝙿𝚊𝚕", "PayPal"), ("Ⓕⓐⓒⓔⓑⓞⓞⓚ", "Facebook"), ("🅰🅼🅰🆉🅾🅽", "Amazon"),
        ("ɪɴꜱᴛᴀɢʀᴀᴍ", "Instagram"), ("ℋ𝒮ℬ𝒞", "HSBC"), ("Rеvоlut", "Revolut"), ("Ｔｅｌｅｇｒａｍ", "Telegram"),
        ("𝛭icr𝝄soft", "Microsoft"), ("Goog1e", "Google"), ("GoogIe", "Google"), ("paypa1 login", "PayPal"),
        ("rnicrosoft 365", "Microsoft"), ("L1nked1n", "LinkedIn"), ("Gōögłe", "Google"), ("Go\u{200B}ogle", "Google"),
        ("LinkedInAccount", "LinkedIn"), ("PayPalLogin", "PayPal"), ("signin.PayPal.secure", "PayPal"),
        ("Office 𝟑𝟔𝟓", "Microsoft"), ("Сбербанк Онлайн", "Sberbank"), ("Яндекс", "Yandex"), ("支付宝", "Alipay"),
        ("Googⅼe", "Google"), ("PɑyPɑl", "PayPal"), ("Wһatsapp", "WhatsApp"), ("𝑌𝑎ℎ𝑜𝑜", "Yahoo"), ("ᴳᵒᵒᵍˡᵉ", "Google"),
        ("G\u{20DD}oogle", "Google"), ("a.b.c.d.e.f.g.h.PayPal.x", "PayPal"), ("Amazon", "Amazon"), ("Amazon Sign-In", "Amazon"),
        ("Santander Login", "Santander"), ("OutIook", "Microsoft"),
    ]) func aNameInAnyLettersIsTheCompanys(_ title: String, _ company: String) {
        #expect(imitated(title) == company)
    }

    @Test(arguments: [
        "Hotel Amazonas", "Pineapple Lodge", "Café Métropole 1905", "ЖК Северный", "𝐀𝐢𝐫𝐩𝐨𝐫𝐭 𝟐𝟒", "Modern Inn", "ING-Wenceslas 3",
        "Barclays Center", "Santander Airport Wi-Fi", "Outlook Inn Guest WiFi", "Amazon Lodge", "Hotel Outlook",
    ]) func anotherNameIsNoCompanys(_ title: String) {
        #expect(imitated(title) == nil)
    }

    /// A heading above one of several ways names that way, not the page.
    @Test(arguments: [
        ("<h2>Log in with Facebook</h2><h2>Hotel guests</h2>", false), ("<h2>Sign in with Google</h2><h1>Café Aroma</h1>", false),
        ("<h2>Hotel guests</h2><h2>Facebook</h2>", false), ("<h1>Facebook</h1><h2>Log in</h2>", true),
        ("<h1>Sign in with Google</h1>", true), ("<title>Facebook</title><h1>Welcome</h1>", true),
    ]) func theFirstHeadingNamesThePage(_ head: String, _ isTrap: Bool) {
        let body = head + "<form method=post><input name=room><input type=password name=p><button>Go</button></form>"
        let url = WebURL("https://login.test/")!
        #expect((ImitatedBrand.imitated(by: page(body, url: url.text), at: url) != nil) == isTrap)
    }

    /// A form that itself asks for a company's account, or has the company's logo above it. Links and buttons only offer other ways.
    @Test(arguments: [
        ("<p>Welcome", "<label>Apple ID <input name=u></label>", "", true),
        ("", "<label>Gmail address<input name=u></label>", "", true),
        ("", "<legend>Login with your Facebook account</legend><input name=u>", "", true),
        ("<div class=logo>Microsoft</div><div>Sign in</div>", "<input name=u>", "", true),
        ("<b>G o o g l e</b>", "<input name=u>", "", true),
        ("", "<input name=room>", "<a href=/f>Log in with Facebook</a>", false),
        ("<p>Follow us on Facebook", "<input name=room>", "", false),
        ("", "<input name=room>", "<button name=way value=g>Google</button>", false),
    ]) func theFormsAccountIsTheCompanys(_ above: String, _ field: String, _ below: String, _ isTrap: Bool) {
        let body =
            "<title>WiFi</title>\(above)<form method=post>\(field)<input type=password name=p><button>Log in</button>\(below)</form>"
        let url = WebURL("http://login.test/")!
        let field = Field(name: "p", label: "Password", kind: .password, required: true)
        let prompt = Prompt(title: "WiFi", fields: [field])
        #expect((ImitatedBrand.imitated(by: TypedPage(page(body, url: url.text)), asking: prompt, at: url) != nil) == isTrap)
    }
}
