import Foundation
import HotspotCore
import TestSupport
import Testing

@testable import Varlink

/// JSON in and out, compared with Foundation's coders where both have a result.
@Suite struct JSONTests {
    private func read(_ text: String) -> JSONValue? { read(Array(text.utf8)) }

    private func read(_ octets: [UInt8]) -> JSONValue? { try? Coding.decode(JSONValue.self, from: octets) }

    private func written(_ value: JSONValue) -> String { String(decoding: Coding.encode(value), as: UTF8.self) }

    /// Returns a value of any kind, with all that is difficult to write: controls, escapes, other planes, numbers of all magnitudes.
    private func random(_ numbers: inout SeededNumbers, depth: Int = 0) -> JSONValue {
        func text() -> String {
            let scalars: [Unicode.Scalar] = ["a", "Z", "\"", "\\", "/", "\u{7F}", "é", "\u{301}", "\u{2028}", "\u{FFFE}", "😀"]
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...6, using: &numbers) {
                let control = Unicode.Scalar(UInt8.random(in: 0..<0x20, using: &numbers))
                text.append(Bool.random(using: &numbers) ? control : scalars.randomElement(using: &numbers)!)
            }
            return String(text)
        }
        switch Int.random(in: 0...(depth < 5 ? 8 : 6), using: &numbers) {
        case 0: return .null
        case 1: return .bool(.random(using: &numbers))
        case 2: return .integer(Int.random(in: .min ... .max, using: &numbers) >> Int.random(in: 0...63, using: &numbers))
        case 3:
            let number = Double(bitPattern: numbers.next())
            return .number(number.isFinite ? number : 0.1)
        case 4: return .number(Double(Int.random(in: -1000...1000, using: &numbers)) / 8)
        case 5, 6: return .string(text())
        case 7: return .array((0..<Int.random(in: 0...4, using: &numbers)).map { _ in random(&numbers, depth: depth + 1) })
        default:
            let keys = (0..<Int.random(in: 0...5, using: &numbers)).map { _ in text() }
            return .object(Dictionary(keys.map { ($0, random(&numbers, depth: depth + 1)) }) { $1 })
        }
    }

    @Test func octetsAreThoseOfFoundation() throws {
        var numbers = SeededNumbers(seed: 1)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for _ in 0..<5_000 {
            let value = random(&numbers)
            #expect(Coding.encode(value) == Array(try encoder.encode(value)), "\(value)")
        }
    }

    @Test func valuesAreThoseOfFoundation() throws {
        var numbers = SeededNumbers(seed: 2)
        for _ in 0..<5_000 {
            let octets = Coding.encode(random(&numbers))
            // libjansson accepts no key that has a NUL.
            guard let value = read(octets) else {
                #expect(octets.firstRange(of: Array("\\u0000".utf8)) != nil)
                continue
            }
            #expect(try JSONDecoder().decode(JSONValue.self, from: Data(octets)) == value)
            #expect(Coding.encode(value) == Coding.encode(try Coding.decode(JSONValue.self, from: value)))
        }
    }

    @Test(
        "Numbers",
        arguments: [
            ("5", 5, "5"), ("5.0", 5, "5"), ("-0", 0, "0"), ("-0.0", 0, "0"), ("1e2", 100, "100"), ("0.1", .number(0.1), "0.1"),
            ("9223372036854775807", .integer(.max), "9223372036854775807"), ("1E-400", 0, "0"),
            ("-9223372036854775808", .integer(.min), "-9223372036854775808"),
            ("9223372036854775808", .number(9_223_372_036_854_775_808), "9.223372036854776e+18"),
            ("12345678901234567890123", .number(1.2345678901234568e22), "1.2345678901234568e+22"),
            ("1.7976931348623157e308", .number(.greatestFiniteMagnitude), "1.7976931348623157e+308"),
        ] as [(String, JSONValue, String)])
    func numbers(text: String, value: JSONValue, again: String) throws {
        #expect(read(text) == value && written(value) == again)
        // A number that no integer can hold leaves the numbers beside it integers, as far as a fraction holds them.
        #expect(read("[7,9007199254740992,99999999999999999999,\(text)]")?.array?.prefix(2) == [7, 9_007_199_254_740_992])
    }

    @Test(
        "Invalid JSON is refused",
        arguments: [
            "", " ", "{", "[", "\"", "{\"a\"", "{\"a\":", "{\"a\":1", "[1", "[1 2]", "[1,]", "{\"a\":1,}", "{,}", "{1:2}", "{} x",
            "1 2", "}", "nul", "True", "NaN", "Infinity", "-", "+1", ".5", "1.", "01", "1e", "0x1", "1e400", "-1e400", "[1e400]",
            "'a'", "// c\n1", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"a\tb\"",
            "\"a\u{1}b\"",
            "\"a\nb\"", "1\0", "[1\0]", "\0", "{\"a\u{0}b\":1}", "{\"a\\u0000b\":1}", "\u{B}1", "\u{FEFF}", "\u{FEFF}\u{FEFF}1",
        ])
    func refused(text: String) { #expect(read(text) == nil) }

    @Test(
        "Octets that are no UTF-8 are refused, in keys as well",
        arguments: [[0xFF], [0xC0, 0x80], [0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]] as [[UInt8]])
    func noText(octets: [UInt8]) {
        #expect(read([0x22] + octets + [0x22]) == nil)
        #expect(read(Array("{\"".utf8) + octets + Array("\":1}".utf8)) == nil)
        #expect(read(octets) == nil)
    }

    @Test func oddTextsThatAreRead() {
        #expect(read("{\"a\":1,\"b\":2,\"a\":3}") == ["a": 3, "b": 2], "of two equal keys the last counts")
        #expect(read("\u{FEFF} {\"a\" : [ ] }\r\n") == ["a": []], "portals send the mark of octets")
        #expect(read("\"\\ud83d\\ude00\\/\\u00e9\\uFFFE\\u0000\u{7F}\"") == "😀/é\u{FFFE}\0\u{7F}")
        #expect(read("{\"\":null}") == ["": nil])
    }

    @Test func randomChangesNeitherTrapNorGetLost() throws {
        var numbers = SeededNumbers(seed: 3)
        let pieces = [
            "{", "}", "[", "]", "\"", "\\", "\\u", "\\ud800", ",", ":", "null", "1e309", "-", "99999999999999999999", "\0",
            "\u{301}",
        ]
        for _ in 0..<20_000 {
            var octets = Coding.encode(random(&numbers))
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                let place = Int.random(in: 0...octets.count, using: &numbers)
                switch Int.random(in: 0...3, using: &numbers) {
                case 0: octets.insert(UInt8.random(in: 0...255, using: &numbers), at: place)
                case 1 where place < octets.count: octets.remove(at: place)
                case 2: octets.removeSubrange(place...)
                default: octets.insert(contentsOf: Array(pieces.randomElement(using: &numbers)!.utf8), at: place)
                }
            }
            _ = try? Coding.decode(CodingTests.Room.self, from: octets)
            guard let value = read(octets) else { continue }
            let again = Coding.encode(value)
            #expect(read(again) == value && Coding.value(value) == value, "\(String(decoding: octets, as: UTF8.self))")
        }
    }

    /// In names, texts and escapes, and after a byte order mark.
    @Test(arguments: ["{\"a@\":1}", "[\"a@\"]", "\"@\"", "\u{FEFF}{\"a\":\"@\"}"], ["\u{300}\u{323}", "\\u0301\\u0323"])
    func marksWithoutEndAreNoJSON(_ text: String, _ pair: String) {
        func octets(_ count: Int) -> [UInt8] { Array(text.replacing("@", with: String(repeating: pair, count: count)).utf8) }
        #expect(read(octets(16)) == nil && read(octets(15)) != nil)
        #expect(ProcessorTime.growth { _ = read(octets($0 / pair.utf8.count)) } < 8)
    }

    @Test func indentedForPeople() {
        let value: JSONValue = ["b": [1, ["x": "y"]], "a": [:], "c": []]
        let text = """
            {
              "a" : {},
              "b" : [
                1,
                {
                  "x" : "y"
                }
              ],
              "c" : []
            }
            """
        #expect(String(decoding: Coding.encode(value, isIndented: true), as: UTF8.self) == text)
    }
}
