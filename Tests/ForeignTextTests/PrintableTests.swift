import ForeignText
import Testing

@Suite struct PrintableTests {
    @Test func harmlessTextStays() {
        for text in ["Café Aroma", "北京机场 🛫", "Москва-Сити", "ホテル", "a b  c", "100 % \"free\" <wifi> & 'more'", "שלום"] {
            #expect(Printable.text(of: Array(text.utf8)) == text && Printable.octets(of: text) == Array(text.utf8))
        }
    }

    @Test(
        "Characters that command a terminal or deceive a reader are escaped",
        arguments: [
            "\u{1B}[2J", "\u{202E}evil", "\u{2066}x\u{2069}", "\u{200F}", "\u{200B}", "\u{FEFF}", "\u{2028}", "\u{2029}",
            "\u{85}", "\r\n",
            "\u{0}", "\u{7F}", "\u{E000}", "\u{61C}", "\u{AD}", "\u{E0041}", "\\",
            // Invisible: a joiner of graphemes, fillers of Hangul, vowels of Khmer, and selectors without an effect.
            "\u{34F}", "\u{115F}", "\u{1160}", "\u{3164}", "\u{FFA0}", "\u{17B4}", "\u{17B5}", "\u{180E}", "\u{2060}", "\u{2064}",
            "\u{FE0F}", "\u{FE00}", "\u{E0100}", "\u{180B}", "\u{1BCA0}", "\u{1D173}", "\u{FFF0}",
        ])
    func dangerous(text: String) {
        let shown = Printable.text(of: Array(text.utf8))
        #expect(shown.contains("\\x"))
        for scalar in text.unicodeScalars where scalar.value > 0x7E || scalar.value < 0x20 {
            #expect(!shown.unicodeScalars.contains(scalar))
        }
        #expect(Printable.octets(of: shown) == Array(text.utf8))
    }

    @Test func brokenEncodingsAreEscapedOctetByOctet() {
        #expect(Printable.text(of: [0xC3]) == "\\xc3")
        #expect(Printable.text(of: [0xC3, 0x28]) == "\\xc3(")
        #expect(Printable.text(of: [0xE2, 0x82]) == "\\xe2\\x82")
        #expect(Printable.text(of: [0xED, 0xA0, 0x80]) == "\\xed\\xa0\\x80", "a surrogate")
        #expect(Printable.text(of: [0xC0, 0xAF]) == "\\xc0\\xaf", "an overlong slash")
        #expect(Printable.text(of: [0xF4, 0x90, 0x80, 0x80]) == "\\xf4\\x90\\x80\\x80", "beyond Unicode")
    }

    @Test func allPairsOfOctetsGoThereAndBack() {
        for first in 0...UInt8.max {
            for second in stride(from: UInt8(0), through: 0xFC, by: 3) {
                let octets = [first, second, 0x41]
                if Printable.octets(of: Printable.text(of: octets)) != octets { Issue.record("\(octets)") }
            }
        }
    }

    @Test func malformedEscapes() {
        for wrong in ["\\", "\\x", "\\x4", "\\xg0", "\\n", "a\\", "\\X41"] {
            #expect(Printable.octets(of: wrong) == nil, "\(wrong)")
        }
        #expect(Printable.octets(of: "\\x5c") == [0x5C] && Printable.octets(of: "\\xFf") == [0xFF])
    }

    @Test func longForeignTextIsCut() {
        #expect(Printable.text("abc", limit: 3) == "abc" && Printable.text("abcd", limit: 3) == "abc…")
        #expect(Printable.text("ab\u{E9}", limit: 3) == "ab…", "never a broken character")
        for limit in 0...12 {
            let cut = Printable.cut("京a🛫é\u{E0041}", limit: limit)
            #expect(cut.utf8.count <= limit + 3 && cut.hasSuffix("…") && !cut.contains("\u{FFFD}"))
        }
        #expect(Printable.cut("京都", limit: 6) == "京都" && Printable.cut("京都", limit: 5) == "京…")
        #expect(Printable.text(String(repeating: "\u{1B}", count: 5000), limit: 10).utf8.count < 60)
    }

    @Test(
        "Text is escaped once, however often it is made safe",
        arguments: [
            ("a\u{1B}[2Jb", "a\\x1b[2Jb"), ("a\u{202E}b", "a\\xe2\\x80\\xaeb"), ("a\0b", "a\\x00b"), ("a\nb", "a\\x0ab"),
            ("京都", "京都"), ("HOTEL\\guest", "HOTEL\\guest"),
        ]) func shown(text: String, shown: String)
    {
        #expect(Printable.shown(text) == shown)
        #expect(Printable.shown(Printable.shown(text)) == shown)
    }

    /// Texts that become longer by escapes, and texts with an ellipsis of their own, at every limit.
    @Test(arguments: [
        "abcdefghijklmnop", "\u{1B}\u{1B}\u{1B}\u{1B}\u{1B}", "ab\u{202E}cd\u{202E}ef", "京a🛫é\u{E0041}京",
        "1\u{FE0F}\u{20E3}2\u{FE0F}\u{20E3}",
        "❤\u{FE0F}❤\u{FE0F}❤\u{FE0F}", "葛\u{E0100}飾葛\u{E0100}", "abc…", "………", "\\x1b\\x1b\\x1b\\", "a\u{FE0F}\u{FE0F}b", "\n…",
    ]) func shownTwiceIsShownOnce(_ text: String) {
        for limit in 0...40 {
            let once = Printable.shown(text, limit: limit)
            #expect(Printable.shown(once, limit: limit) == once && once.utf8.count <= limit + 3, "\(limit): \(once)")
            #expect(once == Printable.shown(text, limit: 4096) || once.hasSuffix("…"), "\(limit): \(once)")
        }
    }

    /// An escape is shown as a whole or not at all.
    @Test func shownIsCutBetweenCharacters() {
        #expect(Printable.shown("ab\u{1B}", limit: 5) == "ab…" && Printable.shown("ab\u{1B}", limit: 6) == "ab\\x1b")
        #expect(
            Printable.shown("a\u{202E}b", limit: 12) == "a…" && Printable.shown("a\u{202E}b", limit: 13) == "a\\xe2\\x80\\xae…")
        #expect(Printable.shown("1\u{FE0F}\u{20E3}", limit: 4) == "1…" && Printable.shown("abcd", limit: 3) == "abc…")
        let long = Printable.shown(String(repeating: "\u{1B}", count: 5000))
        #expect(long.utf8.count == 1024 + 3 && Printable.shown(long) == long)
    }

    @Test func aSelectorStaysWhereItChooses() {
        let honest = ["❤\u{FE0F}", "☎\u{FE0E} 21", "1\u{FE0F}\u{20E3}", "葛\u{E0100}飾", "神\u{FE00}", "\u{182D}\u{180B}"]
        for text in honest {
            #expect(
                Printable.text(of: text.utf8) == text && Printable.shown(text) == text && Printable.json(text) == text, "\(text)")
        }
        let invisible = [
            ("a\u{FE0F}", "a\\xef\\xb8\\x8f"), ("1\u{FE0F}", "1\\xef\\xb8\\x8f"),
            ("a\u{FE0F}\u{20E3}", "a\\xef\\xb8\\x8f\u{20E3}"),
            ("❤\u{FE0F}\u{FE0F}", "❤\u{FE0F}\\xef\\xb8\\x8f"), ("a\u{E0100}", "a\\xf3\\xa0\\x84\\x80"),
            ("❤\u{200B}\u{FE0F}", "❤\\xe2\\x80\\x8b\\xef\\xb8\\x8f"),
        ]
        for (text, shown) in invisible {
            #expect(Printable.text(of: text.utf8) == shown && Printable.shown(Printable.shown(text)) == shown)
            #expect(Printable.octets(of: shown) == Array(text.utf8))
        }
        #expect(Printable.json(#"{"a\#u{FE0F}":"\#u{34F}1\#u{FE0F}"}"#) == #"{"a\ufe0f":"\u034f1\ufe0f"}"#)
    }

    @Test func jsonKeepsItsValuesAndCommandsNoTerminal() {
        #expect(Printable.json("{\n\"a\":\"京\\\\ é🛫\"}") == "{\n\"a\":\"京\\\\ é🛫\"}")
        #expect(Printable.json("a\u{9B}2J\u{202E}\u{7F}\u{E0041}b") == #"a\u009b2J\u202e\u007f\udb40\udc41b"#)
    }

    @Test func hex() {
        #expect(
            Hex.encode([0, 0x0F, 0xA5, 0xFF]) == "000fa5ff" && Hex.decode("000FA5ff") == [0, 0x0F, 0xA5, 0xFF]
                && Hex.decode("") == [])
        for wrong in ["0", "0x", "zz", "12 ", "1g", "é"] { #expect(Hex.decode(wrong) == nil, "\(wrong)") }
        for octet in 0...UInt8.max { #expect(Hex.decode(Hex.encode([octet])) == [octet]) }
    }
}
