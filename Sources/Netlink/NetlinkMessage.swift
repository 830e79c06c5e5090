import CNetlink

/// One message of a netlink datagram (RFC 3549, 2.2; linux/netlink.h).
public struct NetlinkMessage: Hashable, Sendable {
    /// The number of octets of `struct nlmsghdr`.
    public static let headerLength = 16

    /// The family or command; numbers below 16 are control messages.
    public var type: UInt16
    /// The flags `NLM_F_…`.
    public var flags: UInt16
    /// The number of the request that this message answers; an event has 0 or the number of another program's request.
    public var sequence: UInt32
    /// The port of the program whose request this message answers, or whose request caused this event.
    public var port: UInt32
    public var payload: ArraySlice<UInt8>

    public init(type: UInt16, flags: UInt16, sequence: UInt32, port: UInt32, payload: ArraySlice<UInt8>) {
        self.type = type
        self.flags = flags
        self.sequence = sequence
        self.port = port
        self.payload = payload
    }

    /// Whether the table changed during the dump (`NLM_F_DUMP_INTR`).
    public var isInterrupted: Bool { flags & UInt16(0x10) != 0 }

    /// For an error message or the end of a dump: a positive errno, or 0 for success. `nil` for other messages.
    public var errorCode: Int32? {
        guard type == UInt16(NLMSG_ERROR) || type == UInt16(NLMSG_DONE) else { return nil }
        // The end of a dump may come without a code. An error without a code counts as EIO.
        guard let code = payload.host(Int32.self) else { return type == UInt16(NLMSG_DONE) ? 0 : 5 }
        // Linux has no errno above 4095, so a larger number counts as EIO.
        return code >= 0 ? 0 : code > -4096 ? -code : 5
    }

    /// The message with its header, ready to send.
    public var octets: [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(Self.headerLength + payload.count)
        octets.appendHost(UInt32(Self.headerLength + payload.count))
        octets.appendHost(type)
        octets.appendHost(flags)
        octets.appendHost(sequence)
        octets.appendHost(port)
        octets += payload
        return octets
    }
}

/// The messages of one datagram, in order; the sequence ends early at a message with an impossible length.
public struct NetlinkMessages: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>
    /// Whether the iteration ended at a length that is smaller than a header or larger than the rest.
    public private(set) var isMalformed = false

    public init(datagram: [UInt8]) { rest = datagram[...] }

    public mutating func next() -> NetlinkMessage? {
        guard !rest.isEmpty else { return nil }
        guard let length = rest.host(UInt32.self), length >= NetlinkMessage.headerLength, Int(length) <= rest.count,
            let type = rest.host(UInt16.self, at: 4), let flags = rest.host(UInt16.self, at: 6),
            let sequence = rest.host(UInt32.self, at: 8), let port = rest.host(UInt32.self, at: 12)
        else {
            isMalformed = true
            rest = []
            return nil
        }
        let payload = rest[(rest.startIndex + NetlinkMessage.headerLength)..<(rest.startIndex + Int(length))]
        // Messages start at multiples of four octets; the last message may lack its padding.
        rest = rest.dropFirst((Int(length) + 3) & ~3)
        return NetlinkMessage(type: type, flags: flags, sequence: sequence, port: port, payload: payload)
    }
}

extension ArraySlice<UInt8> {
    /// Returns the integer at `offset` from the slice's start, in the machine's byte order, which netlink uses; `nil` if the
    /// slice ends before the integer does.
    public func host<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self, at offset: Int = 0) -> Integer? {
        let size = MemoryLayout<Integer>.size
        guard offset >= 0, count >= size, offset <= count - size else { return nil }
        var value: Integer = 0
        Swift.withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: self[startIndex + offset..<startIndex + offset + size]) }
        return value
    }

    /// Returns the slice without its first `length` octets; `nil` if it has fewer octets.
    public func after(_ length: Int) -> ArraySlice<UInt8>? {
        length <= count ? self[(startIndex + length)...] : nil
    }
}

extension [UInt8] {
    /// Appends an integer in the machine's byte order.
    public mutating func appendHost(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value) { append(contentsOf: $0) }
    }
}
