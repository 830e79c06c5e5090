import HotspotCore
import Testing

@testable import HelperHost

@Suite struct JSONReaderTests {
    nonisolated static let readable: [(String, JSONValue)] = [
        ("{}", .object([:])),
        (
            " [1, -2.5e1 , \"a\\u00e9\\ud83d\\ude00\\n\", true,false,null] ",
            [1, .number(-25), "aé😀\n", true, false, nil]
        ),
        ("{\"a\":{\"b\":[]},\"a\":2}", ["a": 2]), ("12345678901234567168", .number(12345678901234567168)),
    ]

    @Test(arguments: readable.indices) func reads(_ index: Int) throws {
        let (text, expected) = Self.readable[index]
        #expect(try JSONReader.read(Array(text.utf8)) == expected)
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "01", "1.", "1e", "-", "+1", "nul", "\"a", "\"\\x\"", "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "\"\u{1}\"", "1 2", "1e999", "{a:1}", "'a'", "NaN",
    ]) func refuses(_ text: String) {
        #expect(throws: JSONReader.ReadError.self) { try JSONReader.read(Array(text.utf8)) }
    }

    @Test func limitsHold() throws {
        #expect(throws: JSONReader.ReadError.tooDeep) {
            try JSONReader.read([UInt8](repeating: UInt8(ascii: "["), count: 1 << 20))
        }
        func list(_ count: Int) -> [UInt8] { Array("[\(String(repeating: "1,", count: count - 1))1]".utf8) }
        #expect(throws: JSONReader.ReadError.tooMany) { try JSONReader.read(list(JSONReader.valueLimit)) }
        #expect(try JSONReader.read(list(JSONReader.valueLimit - 1)).array?.count == JSONReader.valueLimit - 1)
        func names(_ count: Int) -> [UInt8] { Array(#"{"\#(String(repeating: "é", count: count / 2))":1}"#.utf8) }
        #expect(throws: JSONReader.ReadError.tooMuchToCompare) { try JSONReader.read(names(JSONReader.namesLimit + 2)) }
        #expect(try JSONReader.read(names(JSONReader.namesLimit)).object?.count == 1)
        #expect(throws: JSONReader.ReadError.notUTF8) { try JSONReader.read([0x22, 0xC3, 0x28, 0x22]) }
    }
}
