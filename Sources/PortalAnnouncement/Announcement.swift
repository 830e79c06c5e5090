/// A network's announcement of the API of its portal (RFC 8910).
public struct Announcement: Hashable, Sendable {
    public let api: PortalAPIAddress
    /// The program, file or message that had the announcement, in words for people.
    public let source: String

    public init(_ api: PortalAPIAddress, source: String) {
        self.api = api
        self.source = source
    }
}

/// A message in which a network announces its portal's API, by the name in the output of `hotspot-dhcp`. In the order in which
/// they count, which is networkd's (link_get_captive_portal); RFC 8910, 3 leaves it open.
public enum AnnouncingMessage: String, Codable, Hashable, Sendable, CaseIterable {
    case dhcp4, dhcp6, ra

    /// The message in words for people.
    public var words: String {
        switch self {
        case .dhcp4: "DHCP"
        case .dhcp6: "DHCPv6"
        case .ra: "a router advertisement"
        }
    }
}
