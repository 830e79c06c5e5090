/// A message of a DHCP server (RFC 2131, 2). dhcpcd stores the acknowledgement as its lease.
public struct DHCPPacket: Hashable, Sendable {
    /// `xid`: the number of the request.
    public let transaction: UInt32
    /// `yiaddr`: the leased address.
    public let address: String
    /// Whether option 53, the message type, is DHCPACK.
    public private(set) var isAcknowledgement = false
    /// Option 54, the server identifier (RFC 2131, 9.7).
    public private(set) var server: String?
    /// Option 6: addresses of four octets each.
    public private(set) var nameservers: [String] = []
    /// Option 51 in seconds; `nil` if absent, 0xFFFFFFFF for an endless lease.
    public private(set) var leaseTime: UInt32?
    /// Option 114 (RFC 8910), checked.
    public private(set) var portalAPI: PortalAPIAddress?

    /// The number of octets before the options, including the magic cookie.
    private static let fixedLength = 240
    private static let cookie: [UInt8] = [0x63, 0x82, 0x53, 0x63]
    /// The shortest message that every server accepts (RFC 1542, 2.1).
    private static let leastLength = 300
    /// The largest number of nameservers that are read.
    static let nameserverLimit = 8

    /// Reads a message; returns `nil` unless it is well-formed and comes from a server.
    public init?(_ octets: [UInt8]) {
        guard octets.count >= Self.fixedLength, octets.count <= 65_535, octets[0] == 2,
            octets[236..<240].elementsEqual(Self.cookie),
            let address = AddressText.text(of: Array(octets[16..<20]))
        else { return nil }
        self.address = address
        transaction = Self.number(octets[4..<8])
        var options: [UInt8: [UInt8]] = [:]
        var rest = octets[Self.fixedLength...]
        while let code = rest.popFirst(), code != 255 {
            if code == 0 { continue }
            guard let length = rest.popFirst(), Int(length) <= rest.count else { return nil }
            // A long option may come in several parts (RFC 3396).
            options[code, default: []] += rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
        }
        if let servers = options[6], servers.count.isMultiple(of: 4) {
            nameservers = stride(from: 0, to: min(servers.count, 4 * Self.nameserverLimit), by: 4).compactMap {
                AddressText.text(of: Array(servers[$0..<$0 + 4]))
            }
        }
        isAcknowledgement = options[53] == [5]
        if let identifier = options[54], identifier.count == 4 { server = AddressText.text(of: identifier) }
        if let time = options[51], time.count == 4 { leaseTime = Self.number(time) }
        portalAPI = options[114].flatMap { PortalAPIAddress($0) }
    }
    private static func number(_ octets: some Sequence<UInt8>) -> UInt32 { octets.reduce(0) { $0 << 8 | UInt32($1) } }

    /// Returns a DHCPINFORM message (RFC 2131, 4.4.3) that requests option 114, for a machine with this IP address and this MAC
    /// address.
    public static func inform(_ transaction: UInt32, from address: [UInt8], _ hardware: [UInt8]) -> [UInt8] {
        // The fields: a request, Ethernet, six octets in a MAC address; xid; seconds and flags, which are 0; ciaddr; three
        // server addresses, which are 0.
        var octets: [UInt8] = [1, 1, 6, 0]
        for shift: UInt32 in [24, 16, 8, 0] { octets.append(UInt8(truncatingIfNeeded: transaction >> shift)) }
        octets += [0, 0, 0, 0] + address + [UInt8](repeating: 0, count: 12) + hardware
        octets += [UInt8](repeating: 0, count: fixedLength - cookie.count - octets.count) + cookie
        octets += [53, 1, 8, 55, 1, 114, 255]
        return octets + [UInt8](repeating: 0, count: leastLength - octets.count)
    }
}
