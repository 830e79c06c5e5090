/// A router advertisement (RFC 4861, 4.2), without its IPv6 header.
public struct RouterAdvertisement: Hashable, Sendable {
    /// The ICMPv6 type of the advertisement, and the whole solicitation without options (RFC 4861, 4.1).
    public static let type: UInt8 = 134
    public static let solicitation: [UInt8] = [133, 0, 0, 0, 0, 0, 0, 0]

    /// Whether flag M or O is set: DHCPv6 then provides more information.
    public let namesDHCPv6: Bool
    /// Option 37 (RFC 8910, 2.3), checked; if there are several, the first valid one.
    public let portalAPI: PortalAPIAddress?

    private static let fixedLength = 16
    private static let portalOption: UInt8 = 37

    /// Returns `nil` unless the octets are a well-formed advertisement of a router on the link (RFC 4861, 6.1.2).
    ///
    /// - Parameters:
    ///   - source: the sender's address, sixteen octets.
    ///   - hopLimit: the hop limit in the header; 255 means that the packet came through no router.
    public init?(_ octets: [UInt8], from source: [UInt8], hopLimit: Int) {
        guard hopLimit == 255, source.count == 16, AddressText.isLinkLocal(source), octets.count >= Self.fixedLength,
            octets[0] == Self.type, octets[1] == 0
        else { return nil }
        namesDHCPv6 = octets[5] & 0xC0 != 0
        var portalAPI: PortalAPIAddress?
        var rest = octets[Self.fixedLength...]
        while let code = rest.first {
            // The length is given in units of eight octets, and includes the octets of code and length.
            let length = 8 * Int(rest.dropFirst().first ?? 0)
            guard length > 0, length <= rest.count else { return nil }
            if code == Self.portalOption, portalAPI == nil {
                var value = rest.prefix(length).dropFirst(2)
                while value.last == 0 { value.removeLast() }
                portalAPI = PortalAPIAddress(value)
            }
            rest = rest.dropFirst(length)
        }
        self.portalAPI = portalAPI
    }
}
