import ForeignText
import HotspotCore

/// A call on the wire: its method, its parameters, and whether the client wants several replies or none.
public struct Call: Codable, Hashable, Sendable {
    /// Interface and method, such as `org.hotspotd.Control.Status`.
    public var method: String
    /// An object; absent means an empty one.
    public var parameters: JSONValue?
    /// Whether the client accepts more than one reply.
    public var more: Bool?
    /// Whether the client wants no reply.
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
    /// Whether another answer follows.
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
    /// The deepest nesting of arrays and objects that is read. The reader recurses for each level, and a peer must not choose how deep.
    public static let maximumDepth = 32

    /// Reads one message. Throws ``VarlinkError/malformed(_:)`` with a reason that names the field.
    public static func decode<T: Decodable>(_ type: T.Type, from octets: [UInt8]) throws(VarlinkError) -> T {
        try decode(type, from: try JSONReader.value(of: octets))
    }

    /// Decodes a JSON value as a type. Throws ``VarlinkError/malformed(_:)`` in the same way.
    public static func decode<T: Decodable>(_ type: T.Type, from value: JSONValue) throws(VarlinkError) -> T {
        do {
            return try JSONDecoding.read(type, from: value)
        } catch let error as DecodingError {
            throw .malformed(describe(error))
        } catch {
            throw .malformed("no JSON")
        }
    }

    /// Encodes a value as a JSON value.
    public static func value(_ value: some Encodable) -> JSONValue {
        // Only hotspotd's own types are encoded, and their `encode(to:)` never throws.
        try! JSONEncoding.value(of: value)
    }

    /// Returns the octets of a message, keys sorted, without the NUL; indented for people.
    public static func encode(_ value: some Encodable, isIndented: Bool = false) -> [UInt8] {
        var writer = JSONWriter(isIndented: isIndented)
        writer.write(Self.value(value))
        return writer.octets
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
