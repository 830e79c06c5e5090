/// A DHCP acknowledgement, which dhcpcd stores as its lease (RFC 2131, 2).
struct DHCPPacket {
    /// `yiaddr`: the leased address.
    let address: String
    /// Option 6, each four octets.
    private(set) var nameservers: [String] = []
    /// Option 51 in seconds; `nil` if absent, 0xFFFFFFFF for an endless lease.
    private(set) var leaseTime: UInt32?
    /// Option 114 (RFC 8910), checked.
    private(set) var portalAPI: PortalAPIAddress?

    /// Octets before the options, the magic cookie included.
    private static let fixedLength = 240

    /// Returns `nil` unless this is a well-formed message from a server.
    init?(_ octets: [UInt8]) {
        guard octets.count >= Self.fixedLength, octets.count <= 65_535, octets[0] == 2,
            octets[236..<240].elementsEqual([0x63, 0x82, 0x53, 0x63]),
            let address = AddressText.text(of: Array(octets[16..<20]))
        else { return nil }
        self.address = address
        var options: [UInt8: [UInt8]] = [:]
        var rest = octets[Self.fixedLength...]
        while let code = rest.popFirst(), code != 255 {
            if code == 0 { continue }
            guard let length = rest.popFirst(), Int(length) <= rest.count else { return nil }
            // Parts of one long option (RFC 3396).
            options[code, default: []] += rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
        }
        if let servers = options[6], servers.count.isMultiple(of: 4) {
            nameservers = stride(from: 0, to: min(servers.count, 4 * NameserverText.limit), by: 4).compactMap {
                AddressText.text(of: Array(servers[$0..<$0 + 4]))
            }
        }
        if let time = options[51], time.count == 4 { leaseTime = time.reduce(0) { $0 << 8 | UInt32($1) } }
        portalAPI = options[114].flatMap { PortalAPIAddress($0) }
    }
}
