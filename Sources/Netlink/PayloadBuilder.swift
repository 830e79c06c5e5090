/// The payload of a request: a fixed header and attributes.
public struct PayloadBuilder {
    public private(set) var octets: [UInt8]

    /// - Parameter header: the family's header; its length is a multiple of four.
    public init(header: [UInt8]) {
        precondition(header.count.isMultiple(of: 4), "netlink headers are aligned")
        octets = header
    }

    /// Begins with the header of generic netlink, for a command of version 0.
    public init(command: UInt8) { self.init(header: [command, 0, 0, 0]) }

    public mutating func append(_ type: Int, _ value: some Collection<UInt8>) {
        octets.appendHost(UInt16(4 + value.count))
        octets.appendHost(UInt16(type))
        octets += value
        octets += [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
    }

    /// Appends an integer in the machine's byte order.
    public mutating func append(_ type: Int, integer: some FixedWidthInteger) {
        var value: [UInt8] = []
        value.appendHost(integer)
        append(type, value)
    }

    /// Appends attributes within an attribute.
    public mutating func append(_ type: Int, nested build: (inout PayloadBuilder) -> Void) {
        var inner = PayloadBuilder(header: [])
        build(&inner)
        // The flag is NLA_F_NESTED, which kernels with strict checks require.
        append(type | 0x8000, inner.octets)
    }
}
