import EventLoop

/// What the configuration of a link says beyond what the kernel keeps.
public struct LinkFacts: Hashable, Sendable {
    /// Resolvers, in their order, as plain addresses; a link-local IPv6 one carries its scope (`fe80::1%wlan0`).
    public var nameservers: [String]
    /// The portal's API (RFC 8910), checked: HTTPS, at most 255 octets, no user name.
    public var portalAPI: String?
    /// The network said that it has no captive portal (`urn:ietf:params:capport:unrestricted`, RFC 8910, 2).
    public var isUnrestricted: Bool
    /// Where this was found, for people: `networkd`, `NetworkManager`, `dhclient`, `dhcpcd`, `resolved` or `resolv.conf`.
    public var source: String

    /// Facts.
    public init(nameservers: [String] = [], portalAPI: String? = nil, isUnrestricted: Bool = false, source: String) {
        self.nameservers = nameservers
        self.portalAPI = portalAPI
        self.isUnrestricted = isUnrestricted
        self.source = source
    }
}

/// Whoever knows the facts of links.
@LoopActor public protocol LinkFactsSource {
    /// The facts of this link now; `nil` if nothing is known of it.
    func facts(for link: LinkSnapshot) -> LinkFacts?
}
