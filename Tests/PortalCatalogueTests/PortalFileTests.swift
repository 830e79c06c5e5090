import HelperKit
import HotspotCore
import Testing

@testable import PortalCatalogue

/// Portal files as they are read, and each mistake with its line.
@Suite struct PortalFileTests {
    private func parse(_ text: String) throws -> PortalFile? { try PortalFileParser.parse(Array(text.utf8), file: "/x/a.portal") }

    private static let head = "[Match]\nHost=a.example\n[Portal]\nName=A\nAsk=user text User name\nAsk=pass? password Password\n"

    @Test func reads() throws {
        let portal = try #require(
            try parse(
                Self.head
                    + "[Step]\nPost=/in\nField=u=${answer:user}\nHeader=X-A: ${query:b}\nSet=token=${json:t}\nWait=2\nUntil=${json:done} is yes;true\n"
                    + "[Failure]\nWhen=${body} has wrong\nMeans=refused\nText=${json:why}\n[Logoff]\nOpen=/out\n"))
        #expect(portal.id == "a" && portal.name == "A" && portal.matches.count == 1 && portal.steps.count == 1)
        #expect(portal.fields.map(\.name) == ["user", "pass"] && portal.fields.map(\.required) == [true, false])
        #expect(portal.steps[0].wait == 2 && portal.steps[0].times == 20 && portal.steps[0].sets.map(\.name) == ["token"])
        #expect(portal.failures.map(\.meaning) == [.refused])
        #expect(try parse("# nothing\n") == nil, "an empty file masks another")
    }

    /// A file, the line of its mistake, and a part of the sentence.
    @Test(arguments: [
        ("[Match]\nHost=a\n[Portal]\nName=A\n", 0, "[Step] is missing"), ("[Portal]\nName=A\n[Step]\nOpen=/a\n", 0, "[Match]"),
        ("[Match]\nHost=a\n[Portal]\n[Step]\nOpen=/a\n", 0, "Name="),
        ("[Match]\nSSID=Cafe\n[Portal]\nName=A\n", 1, "no evidence"), ("[Match]\nPath=/*\n[Portal]\nName=A\n", 1, "no evidence"),
        (head + "[Stpe]\nOpen=/a\n", 7, "did you mean [Step]?"), (head + "[Step]\nOpn=/a\n", 8, "did you mean Open=?"),
        (head + "[Step]\nOpen=/a\nPost=/b\n", 9, "second action"), (head + "[Step]\nOpen=/a\nOpen=/b\n", 9, "is repeated"),
        (head + "[Step]\nOpen=/a\n[Portal]\nName=B\n", 9, "already in line 3"),
        (head + "[Step]\nOpen=/a?u=${answer:user}\n", 8, "send answers as fields"),
        (head + "[Step]\nOpen=/a\nField=u=${answer:name}\n", 9, "no Ask= asks"),
        (head + "[Step]\nOpen=/a\nField=u=${value:x}\n", 9, "no Set= keeps"),
        (head + "[Step]\nOpen=/a\nField=u=${value:x\n", 9, "contains ${ without }"),
        (head + "[Step]\nOpen=/a\nField=u\n", 9, "NAME=VALUE"),
        (head + "[Step]\nOpen=/a\nWait=31\n", 9, "0 to 30"), (head + "[Step]\nOpen=/a\nTimes=21\n", 9, "1 to 20"),
        (head + "[Step]\nOpen=/a\nWhen=maybe\n", 9, "not a condition"),
        (head + "[Step]\nOpen=/a\nWhen=${json:ok}=true\n", 9, "instead of `=`, write `VALUE is true`"),
        (head + "[Step]\nOpen=/a\nUntil=${json:ok} == true\n", 9, "instead of `=`"),
        (head + "[Step]\nOpen=/a\nWhen=${json:ok} true\n", 9, "not a condition"),
        (head + "[Step]\nOpen=/a\nField=u=${value:x}\nSet=x=${title}\n", 9, "must be in an earlier step"),
        (head + "[Step]\nSet=y=${value:x}\n[Step]\nOpen=/a\nSet=x=${title}\n", 8, "uses the value x before"),
        (head + "[Step]\nOpen=/a\nSet=x=${body|betwen:a:b}\n", 9, "betwen, which does not exist"),
        (head + "[Step]\nOpen=/a\nSet=x=${body|between:a:b:c}\n", 9, "quote an argument that contains `:`"),
        (head + "[Step]\nOpen=/a\nJSON={}\n", 9, "is a second body, or the request is not Post="),
        (head + "[Step]\nPost=/a\nJSON={\"a\":}\n", 9, "not JSON"),
        (head + "[Step]\nPost=/a\nJSON={}\nField=a=b\n", 9, "one body"),
        (head + "[Step]\nWait=3\nSet=a=b\n", 8, "needs an action"),
        (head + "[Step]\nOpen=/a\n[Failure]\nMeans=later\n", 9, "needs When="),
        (head + "[Step]\nOpen=/a\n[Failure]\nWhen=${body} has x\nMeans=bad\n", 11, "is one of refused"),
        (head + "[Step]\nOpen=/a\n[Logoff]\nOpen=/out\nField=p=${answer:pass}\n", 9, "keep a password"),
        (head + "[Step]\nSet=x=${answer:pass|hex}\n[Step]\nOpen=/a\n[Session]\nOpen=/s?${value:x}\n", 11, "keep a password"),
        (head + "[Step]\nSet=x=${answer:pass|hex}\n[Step]\nOpen=/a?${value:x}\n", 9, "contains a password"),
        (head + "Ask=user text Again\n[Step]\nOpen=/a\n", 3, "asks for a field twice"),
        (head + "Ask=u colour Colour\n", 7, "kinds are text"),
        (head + "Ask=u choice Plan\n", 7, "ONE, OTHER"), ("[Match]\nHost=a\\q\n", 2, "unknown escape"),
        (head + "[Step]\nOpen=/\(String(repeating: "a", count: 1024))\n", 8, "longer than 1024"),
        (head + String(repeating: "[Step]\nOpen=/a\n", count: 17), 39, "at most 16 [Step]"),
        (String(repeating: "[Match]\nHost=a\n", count: 9), 17, "at most 8 [Match]"),
        (head + String(repeating: "[Failure]\nWhen=${body} has x\nMeans=over\n", count: 17), 55, "at most 16 [Failure]"),
        (head + "[Step]\nPost=/a\n" + String(repeating: "Field=a=b\n", count: 64), 7, "at most 64 lines"),
        (head + (0..<19).map { "Ask=a\($0) text A\n" }.joined() + "[Step]\nOpen=/a\n", 3, "more than 20"),
        (head + "[Step]\nOpen=/a\nSet=x=${body|replace:a:\(String(repeating: "b", count: 33))}\n", 9, "function replace"),
        (head + "# " + String(repeating: "x", count: 65536) + "\n", 0, "larger than 64 KiB"),
        ("[Match]\nBody=\(String(repeating: "a;", count: 33))\n", 2, "1 to 32 entries"),
    ]) func refuses(_ text: String, _ line: Int, _ words: String) throws {
        let mistake = try #require(throws: Keyfile.Error.self) { try parse(text) }
        #expect(mistake.line == line && mistake.message.contains(words), "\(mistake)")
    }

    /// A page that asks for a code alone has a script that makes the password.
    @Test func aPageWithAHiddenPasswordIsLeftToItsForms() throws {
        let file = "[Match]\nPath=/in\n[Portal]\nName=A\nAsk=user text User\nAsk=pass password Password\n"
        let portal = try #require(try parse(file + "[Step]\nPost=/in\nField=u=${answer:user}\nField=p=${answer:pass}\n"))
        func isFor(_ inner: String) -> Bool {
            let url = WebURL("http://a.test/in")!
            return portal.isFor(HTMLPage.read(Array("<form>\(inner)</form>".utf8), at: url))
        }
        #expect(isFor("") && isFor("<input name=user>") && isFor("<input name=user><input type=password name=p>"))
        #expect(!isFor("<input name=user><input type=hidden name=pass>"))
    }

    /// A step that is repeated may use the values that it kept.
    @Test func aRepeatedStepUsesWhatItKept() throws {
        let step = "[Step]\nOpen=/a\nField=t=${value:t}\nSet=t=${json:t}\nUntil=${value:t} is 7\n"
        #expect(try parse(Self.head + step)?.steps.count == 1)
    }

    @Test func aPageMayLackWhatAnotherFileIsFor() throws {
        let portal = try #require(
            try parse("[Match]\nPath=/guest\nLacks=<form;<FORM\n[Portal]\nName=A\n[Step]\nOpen=/in\n"))
        func claims(_ body: String) -> Int {
            let page = HTTPResponse(url: WebURL("http://a.test/guest")!, status: 200, body: Array(body.utf8))
            return Matcher.claims([portal], on: [page], ssid: nil).count
        }
        #expect(claims("<div id=app></div>") == 1)
        #expect(claims("<form action=/x>") == 0 && claims("<FORM>") == 0)
        let mistake = #expect(throws: Keyfile.Error.self) { try parse("[Match]\nLacks=a\n[Portal]\nName=A\n[Step]\nOpen=/in\n") }
        #expect(mistake?.message.contains("is not evidence") == true)
    }

    /// A pattern that its trigrams rule out would not have matched: each pattern finds the text that it was cut from.
    @Test func aPatternIsFoundWhereverItsTextStands() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let letters = (0..<Int.random(in: 1...40, using: &generator)).map { _ in "abcdé-_".randomElement(using: &generator)! }
            let text = String(letters)
            let start = Int.random(in: 0..<letters.count, using: &generator)
            let part = String(letters[start..<Int.random(in: start...letters.count, using: &generator)])
            let pattern = part.isEmpty ? "*" : part.enumerated().map { $0.offset % 7 == 5 ? "?" : String($0.element) }.joined()
            let isASCII = part.utf8.count == part.count
            for (line, url, body) in [
                ("Body=\(isASCII ? pattern : part + "*")", "http://a.test/in", text),
                ("Path=/x\nBody=\(part.isEmpty ? "a;b;*" : part + ";zzz")", "http://a.test/x", text),
                (
                    "Query=\(isASCII && !part.isEmpty ? part : "k")",
                    "http://a.test/in?\(isASCII && !part.isEmpty ? part : "k")=1", ""
                ),
            ] {
                let portal = try #require(try parse("[Match]\n\(line)\n[Portal]\nName=A\n[Step]\nOpen=/in\n"))
                let page = HTTPResponse(url: WebURL(url)!, status: 200, body: Array(body.utf8))
                #expect(Matcher.claims([portal], on: [page], ssid: nil).count == 1, "\(line) in \(url) \(text)")
            }
        }
    }

    // MARK: - The guide

    private static let guide = String(
        decoding: PortalCatalogue.octets(
            of: "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/docs/portals.md") ?? [],
        as: UTF8.self)

    @Test func theGuidesExamplesAreWell() throws {
        let block = try #require(Self.guide.components(between: "```ini\n", and: "```"))
        let portal = try #require(try parse(block.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: "\n")))
        #expect(portal.name == "Café Aroma" && portal.matches.first?.evidence == [.host, .address] && portal.success.count == 1)
        let values = try #require(Self.guide.components(between: "## Values", and: "## Fixtures"))
        let steps = try #require(values.components(between: "```ini\n", and: "```"))
        #expect(try parse(Self.head + "Ask=code text Code\n" + steps)?.steps.count == 2)
    }

    /// The values and functions in the guide's two tables exist, with these arguments.
    @Test(arguments: [("| Source | |", ""), ("| Function | |", "body|")])
    func theGuidesValuesAreThere(_ heading: String, _ before: String) throws {
        let table = try #require(Self.guide.components(between: heading + "\n", and: "\n\n"))
        let words = table.split(separator: "\n").dropFirst().flatMap { row in
            row.split(separator: "|")[0].split(separator: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        }
        let alphabet = String(decoding: (0x30..<0x70).map { UInt8($0) }, as: UTF8.self).replacing("\\", with: "\\\\")
        #expect(words.count > 15)
        for word in words {
            var parts = word.split(separator: ":")
            for index in parts.indices.dropFirst() {
                parts[index] = parts[index] == "N" ? "4" : parts[index] == "ALPHABET" ? "\"\(alphabet)\"" : "a"
            }
            #expect(throws: Never.self, "\(word)") { try Template("${\(before)\(parts.joined(separator: ":"))}") }
        }
    }

    @Test func theGuideHasEveryKey() {
        for (section, keys) in PortalFileParser.keys {
            #expect(Self.guide.contains("**`[\(section)]`**"), "[\(section)]")
            for key in keys { #expect(Self.guide.contains("`\(key)`") || Self.guide.contains("`\(key)="), "\(key)=") }
        }
    }
}

extension String {
    fileprivate func components(between start: String, and end: String) -> String? {
        guard let first = firstRange(of: start) else { return nil }
        let rest = self[first.upperBound...]
        return rest.firstRange(of: end).map { String(rest[..<$0.lowerBound]) }
    }
}
