/// A network's announcement of the API of its portal (RFC 8910).
public struct Announcement: Hashable, Sendable {
    public let api: PortalAPIAddress
    /// The program, file or message from which the announcement comes, in words for people.
    public let source: String

    public init(_ api: PortalAPIAddress, source: String) {
        self.api = api
        self.source = source
    }
}

/// A message in which a network announces its portal's API, by its name in the output of `hotspot-dhcp`. The cases are in the order of
/// networkd (link_get_captive_portal), the most important first; RFC 8910, 3 does not define an order.
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
