import ForeignText
import Testing

@Suite struct StreamSafeTests {
    static let marks = String(repeating: "\u{301}\u{323}", count: 16)

    @Test(arguments: [
        "", "a", "Café", "e\u{301}\u{323}", "{\"a\": \"\\u0301\"}", "\\", "\\u", "\\u12", "\u{1F468}\u{200D}\u{1F469}", "नमस्ते",
    ])
    func ordinaryTextIsSafe(_ text: String) {
        #expect(StreamSafe.isSafe(json: Array(text.utf8)))
        #expect(StreamSafe.text(text).utf8.elementsEqual(text.utf8))
    }

    @Test func aLongRunIsNot() {
        #expect(!StreamSafe.isSafe(json: Array(("a" + Self.marks).utf8)))
        #expect(StreamSafe.isSafe(json: Array(("a" + Self.marks.unicodeScalars.prefix(30).map(String.init).joined()).utf8)))
        #expect(StreamSafe.text("a" + Self.marks + "b").unicodeScalars.count == 32)
    }

    @Test func escapesAreWhatTheyStandFor() {
        let escaped = String(repeating: "\\u0301\\u0323", count: 16)
        #expect(!StreamSafe.isSafe(json: Array("{\"a\(escaped)\": 1}".utf8)))
        // An escaped backslash, followed by plain letters.
        #expect(StreamSafe.isSafe(json: Array(String(repeating: "\\\\u0301", count: 40).utf8)))
        // U+1D165, beyond the first plane, as a pair.
        #expect(!StreamSafe.isSafe(json: Array(String(repeating: "\\ud834\\udd65", count: 31).utf8)))
        #expect(StreamSafe.isSafe(json: Array(String(repeating: "\\ud834\\udd65", count: 30).utf8)))
    }

    @Test func otherCharactersEndARun() {
        let run = String(repeating: "\u{301}", count: 30)
        #expect(StreamSafe.isSafe(json: Array((run + "a" + run + "\\n" + run).utf8)))
        #expect(StreamSafe.isSafe(json: Array(run.utf8) + [0xFF] + Array(run.utf8)))
    }

    @Test(arguments: 0..<200) func noOctetsAreTooMuch(_ seed: Int) {
        var generator = SystemRandomNumberGenerator()
        let octets = (0..<64).map { _ in
            [0x5C, 0x75, 0x30, 0xCC, 0x81, 0xED, 0xF0, UInt8.random(in: 0...255, using: &generator)].randomElement()!
        }
        _ = StreamSafe.isSafe(json: octets)
        _ = seed
    }
}
