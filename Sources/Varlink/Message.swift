import ForeignText
import FoundationEssentials
import HotspotCore

/// A call on the wire: method, parameters, and whether many replies or none are wanted.
public struct Call: Codable, Hashable, Sendable {
    /// Interface and method, such as `org.hotspotd.Control.Status`.
    public var method: String
    /// An object; absent means an empty one.
    public var parameters: JSONValue?
    /// More than one reply may come.
    public var more: Bool?
    /// No reply is wanted.
    public var oneway: Bool?

    /// A call.
    public init(method: String, parameters: JSONValue? = nil, more: Bool? = nil) {
        self.method = method
        self.parameters = parameters
        self.more = more
    }
}

/// An answer on the wire: parameters, or the name of an error with its parameters.
public struct Answer: Codable, Hashable, Sendable {
    /// An object.
    public var parameters: JSONValue?
    /// Name of the error, with its interface.
    public var error: String?
    /// Another answer follows.
    public var continues: Bool?

    /// An answer.
    public init(parameters: JSONValue? = nil, error: String? = nil, continues: Bool? = nil) {
        self.parameters = parameters
        self.error = error
        self.continues = continues
    }

    /// Returns the parameters, or throws the error.
    public func get() throws(VarlinkError) -> JSONValue {
        if let error { throw .reply(name: error, parameters: parameters ?? [:]) }
        return parameters ?? [:]
    }
}

/// JSON in and out, with limits.
public enum Coding {
    /// The deepest nesting of arrays and objects that is read: the decoder recurses, and a peer must not choose how far.
    public static let maximumDepth = 32

    /// Reads one message. Throws ``VarlinkError/malformed(_:)`` with a reason that names the field.
    public static func decode<T: Decodable>(_ type: T.Type, from octets: [UInt8]) throws(VarlinkError) -> T {
        guard depth(of: octets) <= maximumDepth else { throw .malformed("nested deeper than \(maximumDepth)") }
        do {
            return try JSONDecoder().decode(type, from: Data(octets))
        } catch let error as DecodingError {
            throw .malformed(describe(error))
        } catch {
            throw .malformed("no JSON")
        }
    }

    /// Encodes a value as an object of the wire.
    public static func value(_ value: some Encodable) -> JSONValue {
        // Everything that is encoded is of our own types, none of which can fail: no date, no data, and no infinite number.
        try! JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
    }

    /// Decodes an object of the wire as a value.
    public static func decode<T: Decodable>(_ type: T.Type, from value: JSONValue) throws(VarlinkError) -> T {
        try decode(type, from: encode(value))
    }

    /// Returns the octets of a message, keys sorted, without the NUL.
    public static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array((try? encoder.encode(value)) ?? Data("{}".utf8))
    }

    private static func depth(of octets: [UInt8]) -> Int {
        var depth = 0
        var deepest = 0
        var inString = false
        var escaped = false
        for octet in octets {
            if inString {
                if escaped {
                    escaped = false
                } else if octet == UInt8(ascii: "\\") {
                    escaped = true
                } else if octet == UInt8(ascii: "\"") {
                    inString = false
                }
                continue
            }
            switch octet {
            case UInt8(ascii: "\""): inString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        return deepest
    }

    private static func describe(_ error: DecodingError) -> String {
        func path(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
            let keys = context.codingPath + (last.map { [$0] } ?? [])
            return keys.isEmpty
                ? "the message" : "\"" + keys.map { Printable.text($0.stringValue, limit: 64) }.joined(separator: ".") + "\""
        }
        return switch error {
        case .keyNotFound(let key, let context): "\(path(context, key)) is missing"
        case .typeMismatch(_, let context): "\(path(context)) has the wrong type"
        case .valueNotFound(_, let context): "\(path(context)) is null"
        case .dataCorrupted(let context): context.codingPath.isEmpty ? "no JSON" : "\(path(context)) has an unknown value"
        @unknown default: "not readable"
        }
    }
}
