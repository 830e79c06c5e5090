/// An IPv4 packet (RFC 791) or IPv6 packet (RFC 8200) as it comes from a packet socket, without the header of the link layer. The kernel has not
/// checked its checksums; on a virtual network, the sender does not fill them in.
public struct IPPacket: Hashable, Sendable {
    /// The sender's address as the packet states it: four or sixteen octets.
    public let source: [UInt8]
    /// The number of routers that may still forward the packet; each router decrements it.
    public let hopLimit: Int
    /// The protocol of the payload, as a number assigned by IANA.
    public let content: UInt8
    public let payload: [UInt8]

    /// Returns `nil` unless the octets are a whole packet. Fragments are refused, and so are extension headers of IPv6, which no announcement needs.
    public init?(_ octets: [UInt8]) {
        func number(_ place: Int) -> Int { Int(octets[place]) << 8 | Int(octets[place + 1]) }
        switch octets.first.map({ $0 >> 4 }) {
        case 4 where octets.count >= 20:
            let (header, length) = (4 * Int(octets[0] & 0xF), number(2))
            guard header >= 20, length >= header, length <= octets.count, number(6) & 0x3FFF == 0 else { return nil }
            (source, hopLimit, content) = (Array(octets[12..<16]), Int(octets[8]), octets[9])
            payload = Array(octets[header..<length])
        case 6 where octets.count >= 40:
            let length = 40 + number(4)
            guard length <= octets.count else { return nil }
            (source, hopLimit, content) = (Array(octets[8..<24]), Int(octets[7]), octets[6])
            payload = Array(octets[40..<length])
        default: return nil
        }
    }
}

extension Inquiry.Reply {
    /// Reads the reply in a packet; `nil` if the packet contains no reply.
    public init?(_ packet: IPPacket) {
        if packet.content == 58, packet.source.count == 16 {
            let found = RouterAdvertisement(packet.payload, from: packet.source, hopLimit: packet.hopLimit)
            guard let found else { return nil }
            self = .ra(found)
            return
        }
        guard packet.content == 17, let datagram = UDPDatagram(packet.payload) else { return nil }
        switch (packet.source.count, datagram.source, datagram.destination) {
        case (4, 67, 68):
            guard let found = DHCPPacket(datagram.payload) else { return nil }
            self = .dhcp4(found)
        case (16, 547, 546):
            guard let found = DHCPv6Reply(datagram.payload) else { return nil }
            self = .dhcp6(found)
        default: return nil
        }
    }
}
