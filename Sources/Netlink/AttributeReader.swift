// This target: sockets to the kernel, and its messages and attributes read with bounds.

/// The attributes of one level (`struct nlattr`), read with bounds.
///
/// Throws for an impossible length, a value of the wrong size, a repeated attribute where at most one is expected, and attributes that are nested too
/// deeply.
public struct AttributeReader {
    /// The deepest nesting that is read; the kernel's messages have three levels.
    public static let maximumDepth = 8

    public struct Attribute {
        /// The number of the attribute, without the flags for nesting and byte order.
        public let type: Int
        public let value: ArraySlice<UInt8>
    }

    /// The attributes of this level, in their order.
    public let all: [Attribute]
    private let depth: Int

    /// Reads octets that contain only the attributes of one level.
    public init(_ octets: ArraySlice<UInt8>) throws(MalformedMessage) { try self.init(octets, depth: 0) }

    private init(_ octets: ArraySlice<UInt8>, depth: Int) throws(MalformedMessage) {
        guard depth <= Self.maximumDepth else { throw MalformedMessage("attributes nested too deep") }
        self.depth = depth
        var all: [Attribute] = []
        var rest = octets
        while !rest.isEmpty {
            guard let length = rest.host(UInt16.self), let type = rest.host(UInt16.self, at: 2), length >= 4,
                Int(length) <= rest.count
            else { throw MalformedMessage("attribute of impossible length") }
            // The two upper bits are NLA_F_NESTED and NLA_F_NET_BYTEORDER.
            all.append(
                Attribute(type: Int(type & 0x3FFF), value: rest[rest.startIndex + 4..<rest.startIndex + Int(length)]))
            rest = rest.dropFirst((Int(length) + 3) & ~3)
        }
        self.all = all
    }

    /// Returns the octets of an attribute; `nil` if the attribute is absent. Throws if the attribute has more than `limit` octets.
    public func octets(_ type: Int, limit: Int = .max) throws(MalformedMessage) -> ArraySlice<UInt8>? {
        var value: ArraySlice<UInt8>?
        for attribute in all where attribute.type == type {
            guard value == nil else { throw MalformedMessage("attribute \(type) twice") }
            guard attribute.value.count <= limit else { throw MalformedMessage("attribute \(type) too long") }
            value = attribute.value
        }
        return value
    }

    /// Returns an integer of exactly the size of its type, in the machine's byte order; `nil` if the attribute is absent.
    public func integer<Integer: FixedWidthInteger>(
        _ type: Int, as kind: Integer.Type = Integer.self
    ) throws(MalformedMessage) -> Integer? {
        guard let value = try octets(type) else { return nil }
        guard value.count == MemoryLayout<Integer>.size else { throw MalformedMessage("attribute \(type) of wrong size") }
        return value.host()
    }

    public func flag(_ type: Int) throws(MalformedMessage) -> Bool { try octets(type) != nil }

    /// Returns text up to its terminating NUL, if there is one; `nil` if the attribute is absent. Throws if the text is not UTF-8.
    public func string(_ type: Int, limit: Int) throws(MalformedMessage) -> String? {
        guard let value = try octets(type, limit: limit + 1) else { return nil }
        let text = value.prefix { $0 != 0 }
        guard text.count <= limit, let string = String(validating: text, as: UTF8.self) else {
            throw MalformedMessage("attribute \(type) is not text")
        }
        return string
    }

    /// Returns the attributes within an attribute; `nil` if it is absent.
    public func nested(_ type: Int) throws(MalformedMessage) -> AttributeReader? {
        guard let value = try octets(type) else { return nil }
        return try AttributeReader(value, depth: depth + 1)
    }
}

/// A message with contradictory lengths. The whole message is dropped.
public struct MalformedMessage: Error, Hashable, Sendable, CustomStringConvertible {
    /// The contradiction, for the debug log, without any octets of the message.
    public let description: String

    public init(_ description: String) { self.description = description }
}
