/// The attributes of one level (`struct nlattr`), read with bounds.
///
/// A length that cannot be, a value of the wrong size, an attribute that is there twice where one is asked for, or a nest too deep
/// throw, and the message is dropped.
public struct AttributeReader {
    /// Nests within nests that are followed; the kernel's own messages that we read have three.
    public static let maximumDepth = 8

    /// One attribute.
    public struct Attribute {
        /// The number, without the flags of nesting and byte order.
        public let type: Int
        /// The octets of the value.
        public let value: ArraySlice<UInt8>
    }

    /// All of this level, in their order.
    public let all: [Attribute]
    private let depth: Int

    /// - Parameter octets: the attributes of the level and nothing else.
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

    /// The octets of an attribute, of at most `limit`; `nil` if it is absent.
    public func octets(_ type: Int, limit: Int = .max) throws(MalformedMessage) -> ArraySlice<UInt8>? {
        var found: ArraySlice<UInt8>?
        for attribute in all where attribute.type == type {
            guard found == nil else { throw MalformedMessage("attribute \(type) twice") }
            guard attribute.value.count <= limit else { throw MalformedMessage("attribute \(type) too long") }
            found = attribute.value
        }
        return found
    }

    /// An integer of exactly that size, in the machine's byte order; `nil` if it is absent.
    public func integer<Integer: FixedWidthInteger>(
        _ type: Int, as kind: Integer.Type = Integer.self
    ) throws(MalformedMessage) -> Integer? {
        guard let value = try octets(type) else { return nil }
        guard value.count == MemoryLayout<Integer>.size else { throw MalformedMessage("attribute \(type) of wrong size") }
        return value.host()
    }

    /// Whether a flag is there.
    public func flag(_ type: Int) throws(MalformedMessage) -> Bool { try octets(type) != nil }

    /// Text up to its terminating NUL, if there is one; `nil` if absent. Text that is no UTF-8 is malformed.
    public func string(_ type: Int, limit: Int) throws(MalformedMessage) -> String? {
        guard let value = try octets(type, limit: limit + 1) else { return nil }
        let text = value.prefix { $0 != 0 }
        guard text.count <= limit, let string = String(validating: text, as: UTF8.self) else {
            throw MalformedMessage("attribute \(type) is no text")
        }
        return string
    }

    /// The attributes within an attribute; `nil` if it is absent.
    public func nested(_ type: Int) throws(MalformedMessage) -> AttributeReader? {
        guard let value = try octets(type) else { return nil }
        return try AttributeReader(value, depth: depth + 1)
    }
}
