/// A datagram of UDP (RFC 768).
public struct UDPDatagram: Hashable, Sendable {
    public let (source, destination): (UInt16, UInt16)
    public let payload: [UInt8]

    private static let headerLength = 8

    public init(from source: UInt16, to destination: UInt16, _ payload: [UInt8]) {
        (self.source, self.destination) = (source, destination)
        self.payload = payload
    }

    /// Returns `nil` if the packet is cut short. The checksum is not checked: on a virtual network, the hardware has not filled
    /// it in yet.
    public init?(_ octets: some Collection<UInt8>) {
        let octets = Array(octets)
        guard octets.count >= Self.headerLength else { return nil }
        func number(_ place: Int) -> UInt16 { UInt16(octets[place]) << 8 | UInt16(octets[place + 1]) }
        let length = Int(number(4))
        guard (Self.headerLength...octets.count).contains(length) else { return nil }
        self.init(from: number(0), to: number(2), Array(octets[Self.headerLength..<length]))
    }

    /// The datagram without a checksum. The checksum is optional over IPv4; over IPv6, the kernel adds it.
    public var octets: [UInt8] {
        [source, destination, UInt16(Self.headerLength + payload.count), 0].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            + payload
    }
}
