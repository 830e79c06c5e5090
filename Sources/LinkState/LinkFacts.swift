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

extension LinkFacts {
    /// From a file that all links share, and that is written last.
    public var isShared: Bool { source == "resolv.conf" }

    /// Without the resolvers that are on another link and not on this one: of a file that all links share nobody knows which link it
    /// speaks of, and the names of one network are not to be asked for in another.
    public func without(resolversOf others: [LinkSnapshot], on link: LinkSnapshot) -> LinkFacts {
        guard isShared else { return self }
        var own = self
        own.nameservers.removeAll { server in
            !link.reaches(server) && others.contains { $0.index != link.index && $0.reaches(server) }
        }
        return own
    }
}

extension LinkSnapshot {
    /// The address is in the network of one of the link's own addresses.
    func reaches(_ address: String) -> Bool {
        guard let octets = AddressText.octets(of: address) else { return false }
        return addresses.contains { own in
            let parts = own.split(separator: "/")
            guard parts.count == 2, let length = Int(parts[1]), let mine = AddressText.octets(of: String(parts[0])),
                mine.count == octets.count, (0...mine.count * 8).contains(length)
            else { return false }
            return (0..<length).allSatisfy { bit in (mine[bit / 8] ^ octets[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0 }
        }
    }
}
