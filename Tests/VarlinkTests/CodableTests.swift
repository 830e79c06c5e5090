import Foundation
import HotspotCore
import Testing

@testable import Varlink

/// Types of ours to JSON values and back, compared with Foundation's coders.
@Suite struct CodableTests {
    struct Everything: Codable, Equatable {
        enum Colour: String, Codable { case red, blue }
        enum Choice: Codable, Equatable {
            case none, some(Int, name: String)
        }
        var text = "a"
        var absent: String?
        var truth: Bool? = true
        var numbers: [Double] = [0, 5, 0.1, -1e300]
        var float: Float = 0.1
        var octets: [UInt8] = [0, 255]
        var sizes: [Int64] = [.min, .max]
        var small: Int8 = -128
        var colours: [String: Colour] = ["b": .red, "a": .blue]
        var choices: [Choice] = [.none, .some(7, name: "x")]
        var anything: [JSONValue?] = [nil, ["a": [1, 2.5.json, nil]], "s"]
        var set: Set<Int> = [3]
        var byNumber: [Int: String] = [1: "one"]
        var empty: [String: Int] = [:]
        var nested: [[Colour?]] = [[.red, nil], []]
    }

    /// A type that encodes and decodes itself with all kinds of containers.
    struct Handmade: Codable, Equatable {
        enum CodingKeys: String, CodingKey { case list, members, parent }
        var list: [Int] = [1, 2]
        var name = "x"
        var parent = "p"

        init() {}

        func encode(to encoder: any Encoder) throws {
            var all = encoder.container(keyedBy: CodingKeys.self)
            var members = all.nestedContainer(keyedBy: CodingKeys.self, forKey: .members)
            var numbers = all.nestedUnkeyedContainer(forKey: .list)
            try members.encode(name, forKey: .parent)
            for number in list {
                var inner = numbers.nestedUnkeyedContainer()
                try inner.encode(number)
                var other = numbers.nestedContainer(keyedBy: CodingKeys.self)
                try other.encodeNil(forKey: .list)
                try parent.encode(to: numbers.superEncoder())
            }
            try parent.encode(to: all.superEncoder())
            try parent.encode(to: all.superEncoder(forKey: .parent))
        }

        init(from decoder: any Decoder) throws {
            let all = try decoder.container(keyedBy: CodingKeys.self)
            name = try all.nestedContainer(keyedBy: CodingKeys.self, forKey: .members).decode(String.self, forKey: .parent)
            var numbers = try all.nestedUnkeyedContainer(forKey: .list)
            list = []
            while !numbers.isAtEnd {
                var inner = try numbers.nestedUnkeyedContainer()
                list.append(try inner.decode(Int.self))
                guard try numbers.nestedContainer(keyedBy: CodingKeys.self).decodeNil(forKey: .list),
                    try String(from: numbers.superDecoder()) == "p"
                else { throw CancellationError() }
            }
            parent = try String(from: all.superDecoder())
            guard try String(from: all.superDecoder(forKey: .parent)) == parent else { throw CancellationError() }
        }
    }

    private func check<T: Codable & Equatable>(_ value: T) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let octets = Coding.encode(value)
        #expect(String(decoding: octets, as: UTF8.self) == String(decoding: try encoder.encode(value), as: UTF8.self))
        #expect(try Coding.decode(T.self, from: octets) == value)
        #expect(try Coding.decode(T.self, from: Coding.value(value)) == value)
    }

    @Test func everyKindIsWrittenAndReadAsByFoundation() throws {
        try check(Everything())
        try check(Handmade())
        try check([Everything(), Everything(absent: "b", truth: nil)])
        try check(7)
        try check("x")
        try check([true, false])
        try check([Int?.none, 1])
        try check(["a": UInt32.max])
    }

    private struct One<T: Decodable>: Decodable { let x: T }

    /// Returns the kind of error and its place; "read" if there is none.
    private func outcome(_ read: () throws -> Void) -> String {
        func place(_ context: DecodingError.Context) -> String { context.codingPath.map(\.stringValue).joined(separator: ".") }
        do {
            try read()
            return "read"
        } catch let error as DecodingError {
            switch error {
            case .keyNotFound(let key, let context): return "no \(key.stringValue) in \(place(context))"
            case .typeMismatch(_, let context): return "type at \(place(context))"
            case .valueNotFound(_, let context): return "null at \(place(context))"
            case .dataCorrupted: return "corrupted"
            @unknown default: return "unknown"
            }
        } catch { return "\(error)" }
    }

    private func compare<T: Decodable>(_ type: T.Type, _ text: String) {
        let octets = Array("{\"x\":\(text)}".utf8)
        let ours = outcome { _ = try JSONDecoding.read(One<T>.self, from: JSONReader.value(of: octets)) }
        let usual = outcome { _ = try JSONDecoder().decode(One<T>.self, from: Data(octets)) }
        // Foundation reports null as another type if a Boolean is expected.
        guard type != Bool.self || text != "null" else { return }
        #expect(ours == usual, "\(text) as \(type)")
    }

    @Test(
        "Errors are of the same kind and at the same place as Foundation's",
        arguments: [
            "1", "1.0", "1e2", "1.5", "300", "-1", "null", "\"a\"", "\"red\"", "true", "[]", "{}", "1e19", "9223372036854775808",
            "[1,null]",
            "[null,\"a\"]", "{\"a\":null}", "{\"x\":[{}]}", "[[1]]", "{\"a\":1}",
        ])
    func errors(text: String) {
        compare(Int.self, text)
        compare(UInt8.self, text)
        compare(UInt64.self, text)
        compare(Double.self, text)
        compare(Bool.self, text)
        compare(String.self, text)
        compare(Int?.self, text)
        compare([Int].self, text)
        compare([Int?].self, text)
        compare([String: Int].self, text)
        compare(Everything.Colour.self, text)
        compare(One<Int>.self, text)
        compare(One<[One<Int>]>.self, text)
        compare(JSONValue.self, text)
    }

    @Test func aNumberThatDoesNotFitIsNamed() {
        #expect(throws: VarlinkError.malformed("\"x\" has an unknown value")) {
            try Coding.decode(One<UInt8>.self, from: Array("{\"x\":300}".utf8))
        }
        #expect(throws: VarlinkError.malformed("\"x.Index 1\" has an unknown value")) {
            try Coding.decode(One<[Int]>.self, from: Array("{\"x\":[1,1.5]}".utf8))
        }
    }
}

extension Double {
    fileprivate var json: JSONValue { .number(self) }
}
