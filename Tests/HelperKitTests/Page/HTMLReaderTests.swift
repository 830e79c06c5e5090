import HotspotCore
import Testing

@testable import HelperKit
@testable import PortalPages

@Suite struct HTMLReaderTests {
    @Test func aStandingWarningComesBehindAnError() {
        let page = page(
            "<p class=warning>Three wrong passwords lock your device.</p><p class=alert>The password is not correct.</p>")
        #expect(page.errors == ["The password is not correct.", "Three wrong passwords lock your device."])
    }

    @Test func readsAForm() throws {
        let page = page(
            """
            <html><head><title> Hotel  Lindenhof </title><base href="/guest/"></head><body>
            <p class="error">Wrong room.</p><p>Welcome</p>
            <form method=POST action="login?x=1" id=f>
            <input type=hidden name=csrf value="a&amp;b"><label for=r>Room <b>number</b></label><input id=r name=room required>
            <label>Surname <input name=surname></label><input type=password name=pw placeholder="Your code">
            <input type=checkbox name=terms id=t><label for=t>I accept the <a href="/terms">terms</a></label>
            <select name=stay><option value="">Choose<option value=1 selected>One night</select><textarea name=note>hi</textarea>
            <input type=radio name=plan value=free checked><input type=radio name=plan value=fast disabled>
            <button name=go value=1>Connect</button><input type=button value=Help></form>
            <a href="/house">House</a></body></html>
            """)
        #expect(page.title == "Hotel Lindenhof")
        #expect(page.base.text == "http://portal.test/guest/")
        #expect(page.errors == ["Wrong room."])
        let form = try #require(page.forms.first)
        #expect(form.method == .post)
        #expect(form.action == "login?x=1")
        #expect(form.controls.map(\.name) == ["csrf", "room", "surname", "pw", "terms", "stay", "note", "plan", "go", ""])
        #expect(
            form.controls.map(\.kind) == [
                .hidden, .text, .text, .password, .checkbox, .select, .textarea, .radio, .submit, .button,
            ])
        #expect(form.controls[0].value == "a&b")
        #expect(form.controls[1].label == "Room number")
        #expect(form.controls[1].isRequired)
        #expect(form.controls[2].label == "Surname")
        #expect(form.controls[3].label == "Your code")
        #expect(form.controls[4].links == ["/terms"])
        #expect(form.controls[5].options.map(\.value) == ["", "1"])
        #expect(form.controls[8].label == "Connect")
        #expect(page.links.map(\.reference) == ["/terms", "/house"])
        #expect(page.text.contains("Welcome"))
        #expect(!page.text.contains("Hotel"))
    }

    /// A field set disables its controls, but not those in its first legend; a group disables its options.
    @Test func disabledSetsAndGroupsDisableTheirParts() throws {
        let page = page(
            """
            <form><fieldset disabled><input name=a><legend><input name=b></legend><legend><input name=c></legend>
            <fieldset disabled><legend><input name=d></legend></fieldset><fieldset><input name=e></fieldset><button>Go</button>
            </fieldset><fieldset><input name=g></fieldset><select name=s><optgroup disabled><option>1</optgroup><optgroup><option>2
            <option disabled>3</optgroup><option>4</select></form>
            """)
        let form = try #require(page.forms.first)
        #expect(form.inputs.map(\.name) == ["b", "g", "s"])
        #expect(form.submits.map(\.isDisabled) == [true])
        #expect(form.inputs.last?.options.map(\.isDisabled) == [true, false, true, false])
    }

    /// A script submits one form as soon as the page loads, so the other forms do not count, unless the user has to type into one.
    @Test func aScriptMaySubmitOneOfSeveralForms() {
        func own(_ inner: String, _ script: String) -> String? {
            let page = page(
                "<body onload=go()><form name=a action=/a>\(inner)</form><form name=b action=/b></form><script>function go() { \(script) }</script>"
            )
            return page.submitsItself ? page.forms.map(\.action).joined(separator: " ") : nil
        }
        let hidden = "<input type=hidden name=t value=1>"
        #expect(own(hidden, "document.b.submit()") == "/b" && own(hidden, "document.forms['a'].submit()") == "/a")
        #expect(own("<input name=room>", "document.b.submit()") == nil)
        #expect(own(hidden, "document.c.submit()") == nil && own(hidden, "document.b.submit(); document.a.submit()") == nil)
    }

    /// Endless combining marks in text, attributes and entities are cut, so that strings compare in linear time.
    @Test(arguments: ["\u{301}\u{323}", "&#769;&#803;"]) func limitsCombiningMarks(_ pair: String) throws {
        let marks = String(repeating: pair, count: 4_000)
        let page = page("<title>T\(marks)</title><form><input name='a\(marks)' value='v\(marks)'></form>")
        let form = try #require(page.forms.first)
        let control = try #require(form.controls.first)
        for text in [page.title ?? "", control.name, control.value] {
            #expect(text.unicodeScalars.count <= 31, "\(text.unicodeScalars.count) scalars")
        }
    }

    @Test(arguments: ["display:none", "visibility: hidden", "position:absolute; left:-9999px"])
    func recognisesHiddenElements(_ style: String) {
        let page = page("<div style='\(style)'><form><input type=password name=p></form></div>")
        #expect(page.forms[0].isInvisible)
        #expect(page.forms[0].controls[0].isInvisible)
    }

    @Test(arguments: [
        ("0; url=/next", "/next"), ("5;URL='/next'", "/next"), ("1 ; url = \"http://x/\"", "http://x/"),
        ("0;https://x/", "https://x/"),
        ("0, /next", "/next"), ("0 /next", "/next"), ("0.5;/next", "/next"), (".9; url=/next", "/next"),
        (" 0\n;\n/next", "/next"),
        ("0; url='/a\"b' c", "/a\"b"), ("0; \"/next\"x", "/next"), ("0; url /next", "url /next"), ("0; ur=/next", "ur=/next"),
        ("0; url=", ""), ("0; url=/next?a=b;c", "/next?a=b;c"), ("1.2.3,url=/next", "/next"), ("5", ""), ("5;", ""),
    ])
    func readsRefreshes(_ content: String, _ target: String) { #expect(HTMLReader.refresh(content)?.target == target) }

    @Test(arguments: ["x; url=/y", "", "-1; url=/y", "+0; url=/y", "0s; url=/y", "0: /y", "url=/y", "\"0\"; url=/y"])
    func ignoresOtherRefreshes(_ content: String) { #expect(HTMLReader.refresh(content) == nil) }

    @Test(arguments: ["600; url=/later", "99999999999999999999; url=/later", "31;/later", "0", "0;"])
    func aRefreshThatWaitsForLongOrLeadsNowhereIsNotFollowed(_ content: String) {
        #expect(page("<meta http-equiv=Refresh content='\(content)'>").refresh == nil)
    }

    /// The header is read before the page (HTML Standard, "initialise the document object"), and of several elements the first counts.
    @Test func theFirstRefreshCounts() {
        let two =
            "<meta http-equiv=refresh content='x;/bad'><meta http-equiv=refresh content='1;/a'><meta http-equiv=refresh content='0;/b'>"
        #expect(page(two).refresh == "/a" && page(two).refreshDelay == 1)
        let header = HTTPResponse.Header(name: "refresh", value: "0;https://portal.test/c")
        func read(_ body: String) -> HTMLPage {
            HTMLReader.read(HTTPResponse(url: WebURL("http://portal.test/")!, status: 200, headers: [header], body: octets(body)))
        }
        #expect(read(two).refresh == "https://portal.test/c" && read("").refresh == "https://portal.test/c")
        #expect(page("<meta http-equiv=refresh content='30'><meta http-equiv=refresh content='0;/b'>").refresh == nil)
    }

    /// A browser that runs scripts shows neither `noscript` nor `template`.
    @Test(arguments: [
        "<noscript>X</noscript>", "<template>X</template>", "<template><template>a</template>X</template>",
        "<template id=t><script>let a = '</template>'</script>X</template>", "<NoScript>X</NOSCRIPT>",
    ]) func whatIsInertIsNotRead(_ around: String) {
        for markup in [
            "<meta http-equiv=refresh content='0;/bad'>", "<form action=/bad><input name=x></form>", "<input name=x>",
            "<script>location = '/bad'</script>", "<a href=/bad>Continue</a><p>Bad</p>",
        ] {
            let page = page(around.replacing("X", with: markup) + "<form action=/in><input name=room><button>Go</button></form>")
            #expect(page.forms.map(\.action) == ["/in"] && page.forms.first?.inputs.map(\.name) == ["room"], "\(markup)")
            #expect(page.refresh == nil && page.scriptTarget == nil && page.links.isEmpty && !page.hasLooseField, "\(markup)")
            #expect(!page.text.contains("Bad"), "\(markup)")
        }
    }

    @Test func framesOfTheOwnOriginAreNoted() {
        let markup = """
            <iframe src=/login></iframe><iframe src=//ads.test/></iframe><iframe src=/beat width=1 height=1></iframe>
            <iframe src=/hidden style='display:none'></iframe><iframe src=/boxed sandbox='allow-scripts'></iframe><iframe></iframe>
            """
        #expect(page(markup).frames.map(\.path) == ["/login"])
        #expect(
            page("<frameset cols='20%,80%'><frame src=menu.html><frame src=main.html></frameset>").frames.map(\.path) == [
                "/menu.html", "/main.html",
            ])
    }

    @Test(arguments: [
        ("window.location = '/a'", "/a"), ("location.href=\"/a\";", "/a"), ("self.location.replace( '/a' )", "/a"),
        ("top.location.href = 'http:\\/\\/x\\/'", "http://x/"), ("document.location='/a?b=1&amp;c=2'", "/a?b=1&c=2"),
    ])
    func readsScriptRedirects(_ script: String, _ target: String) { #expect(ScriptScan(script).target == target) }

    @Test(arguments: [
        "location.href = base + '/a'", "location.href = '/a' + id", "if (location.href == '/a') {}", "mylocation='/a'",
        "location='", "location.href = `${portal}/in`",
    ])
    func ignoresComputedRedirects(_ script: String) { #expect(ScriptScan(script).target == nil) }

    /// Actions of a script when the page has loaded, and soon after.
    @Test(arguments: [
        "window.onload = function () { ACT }", "function go() { ACT } go()",
        "window.addEventListener('load', go); function go() { ACT }",
        "setTimeout(function () { ACT }, 3000)", "setTimeout(() => { ACT }, 3000)",
        "setTimeout('go()', 3000); function go() { ACT }",
        "$(document).ready(function () { ACT })", "$(function () { ACT })", "(function () { ACT })()", "(() => { ACT })();",
        "document.addEventListener('DOMContentLoaded', () => { if (x) { ACT } })", "const go = async () => { ACT }; go();",
        "var left = 5; setInterval(tick, 1000); function tick() { if (left-- < 1) { ACT } }", "setTimeout(() => ACT, 10)",
    ]) func followsWhatRunsByItself(_ script: String) {
        #expect(ScriptScan(script.replacing("ACT", with: "location.href = '/in'")).target == "/in")
        #expect(!ScriptScan(script.replacing("ACT", with: "document.forms[0].submit()")).submitted.isEmpty)
    }

    @Test(arguments: [
        "function go() { ACT }", "button.onclick = function () { ACT }", "button.addEventListener('click', () => { ACT })",
        "$('#out').click(function () { ACT })", "function end() { go() } function go() { ACT }", "fetch('/x').then(() => ACT)",
        "const out = { end: function () { ACT } }", "function a() { b() } function b() { a(); ACT }",
    ]) func ignoresWhatWaitsForTheUser(_ script: String) {
        #expect(ScriptScan(script.replacing("ACT", with: "location.href = '/in'")).target == nil)
        #expect(ScriptScan(script.replacing("ACT", with: "document.forms[0].submit()")).submitted.isEmpty)
    }

    // MARK: Hostile pages

    @Test func readsPastNULs() {
        let page = page(
            "<title>A\u{0}B</title>\u{0}\u{0}<form act\u{0}ion=x><input na\u{0}me=x value='1\u{0}2'><input name=last></form>")
        #expect(page.title == "A B")
        #expect(page.forms.first?.controls.last?.name == "last")
    }

    @Test func survivesEncodings() {
        #expect(page("<title>caf\u{e9}</title>").title == "café")
        var body = octets("<title>a") + [0xFF, 0xFE, 0xC3]
        body += octets("b</title>")
        #expect(HTMLReader.read(HTTPResponse(url: WebURL("http://x/")!, status: 200, body: body)).title?.hasSuffix("b") == true)
        let utf16: [UInt8] = [0xFF, 0xFE] + "<title>é</title>".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] } + [0x41]
        #expect(HTMLReader.read(HTTPResponse(url: WebURL("http://x/")!, status: 200, body: utf16)).title == "é")
        let latin = octets("<title>") + [0xE9] + octets("</title>")
        let labelled = HTTPResponse(
            url: WebURL("http://x/")!, status: 200,
            headers: [HTTPResponse.Header(name: "content-type", value: "text/html; charset=ISO-8859-1")], body: latin)
        #expect(HTMLReader.read(labelled).title == "é")
        let chinese = octets("<meta charset=gbk><title>") + [0xB5, 0xC7, 0xC2, 0xBC] + octets("</title>")
        #expect(HTMLReader.read(HTTPResponse(url: WebURL("http://x/")!, status: 200, body: chinese)).title == "登录")
    }

    /// 80,000 attributes take the parser 20 s; the page is cut before them, and the part before is read.
    @Test func cutsAttributeBombs() {
        let bomb = (0..<40_000).map { " a\($0)=" }.joined()
        let page = page("<title>T</title><form><input name=x></form><p" + bomb + ">")
        #expect(page.isTruncated)
        #expect(page.title == "T")
        #expect(page.forms.count == 1)
    }

    @Test(arguments: [
        "<b>", "<div>", "<form>", "<table><tr><td>", "<label>", "<a href=x>", "<option>", "<", "<!--", "&#", "<input name=x>",
        // Input that makes HTML 5 parsers open formatting elements again and again.
        "<a><b><i>", "<b><p>", "</p>", "<font size=1><div>", "<table><b>", "<i></p></b>", "<nobr><button>", "<svg><p>",
        "<select><option><table>", "<p x=y><em></p>", "<h1><b><h2></i>",
    ])
    func survivesRepetition(_ piece: String) {
        let page = page("<title>T</title>" + String(repeating: piece, count: HTTPRequest.pageLimit / piece.utf8.count))
        #expect(page.forms.count <= 20)
        #expect(page.links.count <= 200)
    }

    @Test func survivesEveryTruncation() {
        let whole = octets(
            "<html><title>T</title><form action='/x' method=post><input type=hidden name=a value=\"b\"><script>location='/y'</script></form>"
        )
        for length in 0...whole.count {
            _ = HTMLReader.read(HTTPResponse(url: WebURL("http://x/")!, status: 200, body: Array(whole[..<length])))
        }
    }

    @Test func fetchesNothing() {
        let page = page("<!DOCTYPE html SYSTEM 'file:///etc/passwd'><!ENTITY x SYSTEM 'file:///etc/passwd'><title>&x;</title>")
        #expect(!(page.title ?? "").contains("root:"))
    }
}
