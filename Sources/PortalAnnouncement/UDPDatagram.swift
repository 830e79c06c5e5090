/// A datagram of UDP (RFC 768) as a raw socket has it.
public struct UDPDatagram: Hashable, Sendable {
    public let (source, destination): (UInt16, UInt16)
    public let payload: [UInt8]

    private static let headerLength = 8

    public init(from source: UInt16, to destination: UInt16, _ payload: [UInt8]) {
        (self.source, self.destination) = (source, destination)
        self.payload = payload
    }

    /// Returns `nil` unless it is whole. The checksum is not looked at: on a virtual network its hardware has yet to make it.
    public init?(_ octets: some Collection<UInt8>) {
        let octets = Array(octets)
        guard octets.count >= Self.headerLength else { return nil }
        func number(_ place: Int) -> UInt16 { UInt16(octets[place]) << 8 | UInt16(octets[place + 1]) }
        let length = Int(number(4))
        guard (Self.headerLength...octets.count).contains(length) else { return nil }
        self.init(from: number(0), to: number(2), Array(octets[Self.headerLength..<length]))
    }

    /// Returns the datagram in a packet of IPv4 (RFC 791); `nil` if there is none. The kernel has checked the header, and put together
    /// what came in parts.
    public init?(inIPv4 packet: [UInt8]) {
        guard packet.count >= 20, packet[0] >> 4 == 4, packet[9] == 17 else { return nil }
        let header = 4 * Int(packet[0] & 0xF)
        guard header >= 20, header <= packet.count else { return nil }
        self.init(packet[header...])
    }

    /// The datagram without a checksum, which is optional over IPv4; over IPv6 the kernel adds it.
    public var octets: [UInt8] {
        [source, destination, UInt16(Self.headerLength + payload.count), 0].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            + payload
    }
}
