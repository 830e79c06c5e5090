import HotspotCore
import Testing

@testable import Varlink

@Suite struct CodingTests {
    struct Room: Codable, Equatable {
        enum Kind: String, Codable { case single, double }
        struct Guest: Codable, Equatable { var name: String }
        var number: Int
        var kind: Kind?
        var guests: [Guest]?
    }

    func failure(_ text: String) -> String? { failure(Array(text.utf8)) }

    func failure(_ octets: [UInt8]) -> String? {
        do {
            _ = try Coding.decode(Room.self, from: octets)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func unknownFieldsAreIgnored() throws {
        let room = try Coding.decode(Room.self, from: Array("{\"number\":7,\"view\":\"sea\",\"kind\":null}".utf8))
        #expect(room == Room(number: 7, kind: nil, guests: nil))
    }

    @Test(
        "Errors name the field",
        arguments: [
            ("{}", "\"number\" is missing"), ("{\"number\":\"7\"}", "\"number\" has the wrong type"),
            ("{\"number\":null}", "\"number\""),
            ("{\"number\":7,\"kind\":\"triple\"}", "\"kind\" has an unknown value"),
            ("{\"number\":7,\"guests\":[{\"name\":\"a\"},{}]}", "name\" is missing"),
            ("{\"number\":7,\"guests\":[{\"name\":\"a\"},{}]}", "guests."),
            ("{\"number\":7,\"guests\":{}}", "\"guests\" has the wrong type"),
            ("[]", "the message"), ("7", "the message"), ("", "no JSON"), ("{", "no JSON"), ("nonsense", "no JSON"),
            ("{\"number\":7}}", "no JSON"),
            // The decoder does not report the place of a number that no type can hold.
            ("{\"number\":1e999}", "the message is malformed"), ("{\"number\":99999999999999999999}", "the message is malformed"),
        ])
    func errors(text: String, expected: String) {
        let message = failure(text)
        #expect(message?.contains(expected) == true, "\(message ?? "no error")")
    }

    @Test func octetsThatAreNotTextAreAnErrorAndNoTrap() {
        for octets: [UInt8] in [
            [0xFF], [0x7B, 0xFF, 0x7D], Array("{\"number\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8), [0xEF, 0xBB, 0xBF],
        ] {
            #expect(failure(octets) != nil)
        }
    }

    @Test func depthIsLimited() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        _ = try Coding.decode(JSONValue.self, from: nested(Coding.maximumDepth))
        #expect(throws: VarlinkError.malformed("nested deeper than 32")) { try Coding.decode(JSONValue.self, from: nested(33)) }
        #expect(throws: VarlinkError.self) {
            try Coding.decode(JSONValue.self, from: [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000))
        }
        // Braces within text are text.
        let text = "\"\\\"" + String(repeating: "{[", count: 100) + "\""
        #expect(try Coding.decode(JSONValue.self, from: Array(text.utf8)).string?.count == 201)
    }

    @Test func aNumberBeyondAllMeasureDoesNotTrap() {
        // Everything decoded must also be encodable: Coding.value relies on it.
        for text in [
            "{\"a\":1e999}", "{\"a\":-1e999}", "{\"a\":1e-999}", "{\"a\":123456789012345678901234567890}", "{\"a\":0.1e1}",
        ] {
            guard let value = try? Coding.decode(JSONValue.self, from: Array(text.utf8)) else { continue }
            #expect(Coding.value(value) == value, "\(text)")
        }
    }

    @Test func encodedKeysAreSortedAndSlashesPlain() {
        let octets = Coding.encode(["b": "http://x/", "a": 1] as JSONValue)
        #expect(String(decoding: octets, as: UTF8.self) == "{\"a\":1,\"b\":\"http://x/\"}")
    }

    @Test func noMessageContainsTheNulThatEndsIt() throws {
        let octets = Coding.encode(["a": "x\0y"] as JSONValue)
        #expect(!octets.contains(0))
        #expect(try Coding.decode(JSONValue.self, from: octets)["a"] == "x\0y")
    }

    @Test func answers() throws {
        #expect(try Answer(parameters: ["a": 1]).get() == ["a": 1] && Answer().get() == [:])
        #expect(throws: VarlinkError.reply(name: "a.B", parameters: ["x": "y"])) {
            try Answer(parameters: ["x": "y"], error: "a.B").get()
        }
        #expect(VarlinkError.reply(name: "a.B", parameters: ["x": "y"]).description == "a.B: x y")
    }
}
