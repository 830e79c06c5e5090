import ForeignText
import TestSupport
import Testing

@testable import HelperKit
@testable import PortalPages

@Suite struct PageTextTests {
    private static let labels = [
        "utf-8", "iso-8859-1", "windows-1252", "iso-8859-15", "gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "koi8-r",
        "windows-1251", "nothing",
    ]
    private static let marks = String(repeating: "\u{300}\u{323}", count: 2000)

    /// The character set comes from a label, a byte order mark, or a tag in the page.
    @Test(arguments: labels) func noLabelKeepsRunsOfMarks(_ label: String) {
        let text = "<style>.a\(Self.marks) { display: none }</style><script>b\(Self.marks)()</script><p>c\(Self.marks)"
        let little: [UInt8] = [0xFF, 0xFE] + text.utf16.flatMap { unit -> [UInt8] in [UInt8(unit & 255), UInt8(unit >> 8)] }
        for (body, type) in [
            (Array(text.utf8), "text/html; charset=\(label)"), (Array("<meta charset=\(label)>\(text)".utf8), nil),
            (little, "text/html; charset=\(label)"),
        ] {
            let page = PageText.normalized(body, contentType: type)
            #expect(StreamSafe.isSafe(json: page.octets) && String(validating: page.octets, as: UTF8.self) != nil)
        }
    }

    @Test(arguments: ["iso-8859-1", "gbk", "utf-8"]) func marksTakeLinearTime(_ label: String) {
        for (before, after) in [("<style>.a", "</style>"), ("<script>a", "</script>"), ("<p id=a", ">"), ("<b>a", "</b>")] {
            let growth = ProcessorTime.growth { size in
                let text = before + String(repeating: "\u{300}\u{323}", count: size / 4) + after
                let type = HTTPResponse.Header(name: "content-type", value: "text/html; charset=\(label)")
                _ = HTMLReader.read(
                    HTTPResponse(url: WebURL("http://x/")!, status: 200, headers: [type], body: Array(text.utf8)))
            }
            #expect(growth < 8, "\(before)")
        }
    }

    @Test(
        arguments: [
            ("gbk", [0xB5, 0xC7, 0xC2, 0xBC], "登录"), ("big5", [0xB5, 0x6E, 0xA4, 0x4A], "登入"),
            ("shift_jis", [0x83, 0x8D, 0xB1], "ロｱ"), ("koi8-r", [0xD7, 0xC8, 0xCF, 0xC4], "вход"),
            ("windows-1251", [0xE2, 0xF5, 0xEE, 0xE4], "вход"), ("euc-kr", [0xB9, 0xE6], "방"),
            // Octets that encode no letter of the character set.
            ("gbk", [0xFF, 0x61, 0xB5], "\u{FFFD}a\u{FFFD}"), ("shift_jis", [0x61, 0xFD, 0x62, 0x83], "a\u{FFFD}b\u{FFFD}"),
            ("gbk", [0xFF, 0xFF, 0xFF, 0xFF], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"), ("gbk", [], ""),
        ] as [(String, [UInt8], String)]) func octetsBecomeText(_ label: String, _ octets: [UInt8], _ text: String)
    {
        let page = PageText.normalized(octets, contentType: "text/html; charset=\(label)")
        #expect(String(decoding: page.octets, as: UTF8.self) == text)
    }

    /// A script is in the page's character set too.
    @Test func aScriptIsTextOfThePage() {
        let body = Array("<script>var a='".utf8) + [0xB5, 0xC7] + Array("'</script>".utf8)
        let page = PageText.normalized(body, contentType: "text/html; charset=gb2312")
        #expect(MarkupScan(page.octets).scripts == ["var a='登'"])
    }

    /// Each element has fewer marks than the limit, but their texts are joined.
    @Test func elementsHaveNoRunsTogether() {
        let piece = "<i>" + String(repeating: "\u{301}", count: 30) + "</i>"
        let page = page(
            "<h1>Inn" + String(repeating: piece, count: 20) + "</h1><p class=error>No" + String(repeating: piece, count: 20))
        for text in [page.title ?? "", page.text, page.errors.first ?? ""] { #expect(StreamSafe.isSafe(json: Array(text.utf8))) }
    }
}
