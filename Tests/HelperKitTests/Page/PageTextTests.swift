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
            ("windows-1253", [0xEA, 0xF9, 0xE4], "κωδ"), ("iso-8859-7", [0xEA, 0xF9, 0xE4], "κωδ"),
            ("tis-620", [0xC3, 0xCB, 0x80], "รห€"),
            ("windows-1255", [0xF9, 0xED], "שם"), ("iso-8859-8-i", [0xF9, 0xED], "שם"), ("iso-8859-8", [0xF9, 0xED], "שם"),
            ("windows-1257", [0xFE, 0xEB], "žė"), ("iso-8859-13", [0xFE, 0xEB], "žė"),
            ("windows-1258", [0x50, 0x68, 0xF2], "Pḥ"),
            ("koi8-u", [0xA4, 0xA7], "єї"), ("iso-8859-5", [0xD2, 0xE5, 0xDE, 0xD4], "вход"), ("ISO8859-5", [0xD2], "в"),
            ("x-mac-cyrillic", [0xE2], "в"), ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x49, 0x74, 0x1B, 0x28, 0x42, 0x61], "部a"),
            ("x-sjis", [0xB1], "ｱ"), ("utf-16", [0x61, 0, 0x3B, 0x04], "aл"), ("utf-16be", [0x04, 0x3B], "л"),
            // Without a label that browsers know, a page is in windows-1252.
            ("hz-gb-2312", [0xE9, 0x61, 0x61, 0x61], "éaaa"), ("nothing", [0xE9, 0x61, 0x61, 0x61], "éaaa"),
            // A byte order mark overrides the label.
            ("gbk", [0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "é"),
            // Octets that encode no letter of the character set.
            ("gbk", [0xFF, 0x61, 0xB5], "\u{FFFD}a\u{FFFD}"), ("shift_jis", [0x61, 0xFD, 0x62, 0x83], "a\u{FFFD}b\u{FFFD}"),
            ("gbk", [0xFF, 0xFF, 0xFF, 0xFF], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"), ("gbk", [], ""),
        ] as [(String, [UInt8], String)]) func octetsBecomeText(_ label: String, _ octets: [UInt8], _ text: String)
    {
        let page = PageText.normalized(octets, contentType: "text/html; charset=\(label)")
        #expect(String(decoding: page.octets, as: UTF8.self) == text)
    }

    /// Only a `meta` tag names the character set of its page.
    @Test(
        arguments: [
            ("<script src=a.js charset=utf-8></script><meta http-equiv=Content-Type content='text/html; charset=gb2312'>", "GBK"),
            ("<meta charset=gb2312>", "GBK"), ("<META NAME=x CONTENT=1 ><meta/charset = 'GB2312' />", "GBK"),
            ("<!-- <meta charset=gbk> --><meta charset=koi8-u>", "KOI8-U"), ("<a title='<meta charset=gbk>'>", "CP1252"),
            ("<p>charset=gbk</p><metal charset=gbk></meta charset=gbk>", "CP1252"), ("<meta charset=utf-16>", "UTF-8"),
            ("<meta name=description content='text/html; charset=gbk'>", "CP1252"),
            ("<meta content='text/html; charset=gbk' http-equiv=content-type>", "GBK"),
            ("<meta charset=nothing><meta charset=big5>", "BIG5"), ("<meta charset=gbk charset=big5>", "GBK"),
            ("<meta charset", "CP1252"),
            ("<meta http-equiv=content-type content='charset big; charset = \"greek\"'>", "ISO-8859-7"),
            ("<meta charset=\"", "CP1252"),
            ("", "CP1252"),
        ]) func aMetaTagNamesTheCharacterSet(_ page: String, _ charset: String)
    {
        #expect(PageText.normalized(Array(page.utf8), contentType: "text/html").charset == charset)
    }

    /// iconv(3) knows each character set, and each set has labels of its own, of which its name is one.
    @Test func theLabelsAreThoseOfTheStandard() {
        let labels = CharacterSets.rows.flatMap { $0.labels.split(separator: " ") }
        #expect(Set(labels).count == labels.count && labels.count == 221)
        for row in CharacterSets.rows where row.charset != "UTF-8" {
            #expect(CharacterSets.charset(named: row.name) == row.charset && CharacterSets.name(of: row.charset) == row.name)
            #expect(PageText.octets(of: "é", in: row.charset) != Array("é".utf8), "\(row.name)")
        }
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
