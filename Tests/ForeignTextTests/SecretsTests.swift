import ForeignText
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct SecretsTests {
    /// A secret is masked whatever surrounds it, even if several secrets begin or end alike.
    @Test func secretsAreMaskedWhereverTheyStand() {
        let words = ["aab", "aabaab", "abaa", "opensesame", "open\"sesame", "ä ö"]
        let secrets = Secrets(words)
        for before in ["", "a", "aa", "x", "…"] {
            for after in ["", "b", "ab", "x"] {
                for word in words {
                    let masked = secrets.mask(before + "<" + word + ">" + after)
                    #expect(masked.contains("<•••>"), "\(before)<\(word)>\(after): \(masked)")
                }
            }
        }
        #expect(secrets.mask("aabaabaab") == "••••••")
        #expect(secrets.mask("body=%C3%A4+%C3%B6&x") == "body=•••&x")
        #expect(secrets.mask("aa ab ba opensesam") == "aa ab ba opensesam")
        #expect(secrets.mask("it was opense…") == "it was •••…")
        #expect(Secrets(["abc", "abcdef"]).mask("abcdef abc") == "••• •••")
        #expect(Secrets([]).isEmpty && Secrets(["ab"]).isEmpty)
    }

    /// A room number or a surname may be part of the portal's address, which people need unchanged.
    @Test func whatIsSparedStaysAsItIs() {
        let secrets = Secrets(["102", "Gast"]).sparing(["10.102.0.1", "gast.example"])
        #expect(secrets.mask("http://10.102.0.1/terms?room=102") == "http://10.102.0.1/terms?room=•••")
        #expect(secrets.mask("GET http://Gast.example/gast → 200") == "GET http://Gast.example/••• → 200")
        #expect(!secrets.appear(in: "http://gast.example:8080") && secrets.appear(in: "http://gast.test"))
    }

    @Test func theUsualFormsAreMasked() {
        let secrets = Secrets(["open sesame\\1", "ab"])
        for text in ["open sesame\\1", "open%20sesame%5C1", "open+sesame%5c1", "open sesame\\\\1", "open sesame\\x5c1"] {
            #expect(secrets.mask("<\(text)> ab") == "<•••> ab", "\(text)")
        }
    }

    @Test(arguments: ["BRANDT", "Brandt", "M\u{DC}LLER", "m\u{FC}ller", "M%C3%9CLLER", #"M\u00dcLLER"#, "bran…"])
    func caseDoesNotMatter(_ text: String) {
        let masked = Secrets(["brandt", "M\u{FC}ller"]).mask("Ms \(text) of Room 214")
        #expect(masked == "Ms •••\(text.hasSuffix("…") ? "…" : "") of Room 214", "\(masked)")
    }

    /// A secret as the usual libraries write it into JSON, URLs and forms.
    @Test(arguments: [
        "M\u{FC}ll&S\u{F6}hne: \"x'\u{1F511}", #"M\u00fcll&S\u00f6hne: \"x'\ud83d\udd11"#,
        #"M\u00FCll&S\u00F6hne: \"x'\uD83D\uDD11"#,
        "M\u{FC}ll&S\u{F6}hne: \\\"x'\u{1F511}", "M%c3%bcll%26S%c3%b6hne%3a%20%22x%27%f0%9f%94%91",
        "M%C3%BCll%26S%C3%B6hne%3A+%22x%27%F0%9F%94%91",
    ]) func lettersBeyondASCIIAreMaskedInTheUsualForms(_ text: String) {
        let masked = Secrets(["M\u{FC}ll&S\u{F6}hne: \"x'\u{1F511}"]).mask("<\(text)>")
        #expect(masked == "<•••>", "\(text): \(masked)")
    }

    /// The longest matching beginning of a secret is masked, even if a longer beginning almost matches.
    @Test func theBeginningBeforeAnEllipsisIsMasked() {
        let secrets = Secrets(["aabaabaac", "abaabx"])
        for (text, masked) in [
            ("aabaabaa…", "•••…"), ("xaabaa…", "x•••…"), ("aabaabaaba…", "aab•••…"), ("xaab…", "x•••…"), ("aaba aa…", "aaba aa…"),
            ("xabaab…", "x•••…"), ("abaabx…", "•••…"), ("aabaabaac…", "•••…"), ("…", "…"), ("a…", "a…"),
        ] { #expect(secrets.mask(text) == masked, "\(text): \(secrets.mask(text))") }
        #expect(Secrets(["……b"]).mask("………") == "•••…")
        let other = Secrets(["open sesame\\1"])
        #expect(other.mask("so open sesa…, or") == "so •••…, or" && other.mask("open…") == "•••…" && other.mask("op…") == "op…")
    }

    @Test func octetsAreMaskedAsTextsAre() {
        let secrets = Secrets(["opensesame", "4711"])
        #expect(secrets.mask([0xFF] + Array("opensesame\n4711".utf8)) == [0xFF] + Array("•••\n•••".utf8))
        #expect(secrets.longest == 10)
    }

    /// Found by `make fuzz PARSERS=masking`: an answer with equal parts, in a text of the same parts.
    @Test func equalPartsTakeLinearTime() {
        let growth = ProcessorTime.growth(from: 4096) { count in
            let secrets = Secrets((0..<4).map { String(repeating: "a", count: count / 4 - $0) + "b" })
            let sparing = secrets.sparing([String(repeating: "a", count: count / 4) + "c"])
            #expect(sparing.mask([UInt8](repeating: UInt8(ascii: "a"), count: count)).count == count)
        }
        #expect(growth < 8)
    }

    /// The same if a secret may be cut off at each place.
    @Test func cutsTakeLinearTime() {
        let growth = ProcessorTime.growth(from: 4096) { count in
            let text = [Int](repeating: 0, count: count)
            let lengths = SoughtText.longest(of: [text + [1]], in: text, cuts: Array(text.indices))
            #expect(lengths.elementsEqual((0..<count).reversed()))
        }
        #expect(growth < 8)
    }
}
