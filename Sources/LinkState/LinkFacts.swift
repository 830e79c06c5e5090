import EventLoop
import PortalAnnouncement

/// The configuration of a link that programs know but the kernel does not.
public struct LinkFacts: Hashable, Sendable {
    /// Resolvers in their order, as plain addresses; a link-local IPv6 address with its scope (`fe80::1%wlan0`).
    public var nameservers: [String]
    /// The network's announcement of its portal's API, and the announcement's source.
    public var announcement: Announcement?
    /// The server identifier of the DHCP lease (RFC 2131, 9.7); `nil` if no program has the lease.
    public var leaseServer: String?
    /// The program or file with the resolvers, for people: `NetworkManager`, `networkd`, `ConnMan`, `resolved`, `dhclient`, `dhcpcd` or
    /// `resolv.conf`.
    public var source: String

    /// - Parameter api: the portal's API according to the same source.
    public init(nameservers: [String] = [], api: PortalAPIAddress? = nil, leaseServer: String? = nil, source: String) {
        self.nameservers = nameservers
        self.leaseServer = leaseServer.flatMap { AddressText.octets(of: $0)?.count == 4 ? $0 : nil }
        announcement = api.map { Announcement($0, source: source) }
        self.source = source
    }

    /// The portal's API; `nil` if none was announced, or if the network announced that it has no portal.
    public var portalAPI: String? {
        switch announcement?.api {
        case .url(let url): url
        case .unrestricted, nil: nil
        }
    }
}

extension LinkFacts {
    /// Whether the facts come from a file that all links share and that the last writer overwrites.
    public var isShared: Bool { source == "resolv.conf" }

    /// Returns the facts without the resolvers that another link reaches but this link does not. A shared file does not say to which link a resolver
    /// belongs, and the names of one network must not be sent to another.
    public func without(resolversOf others: [LinkSnapshot], on link: LinkSnapshot) -> LinkFacts {
        guard isShared else { return self }
        var own = self
        own.nameservers.removeAll { server in
            !link.reaches(server) && others.contains { $0.index != link.index && $0.reaches(server) }
        }
        return own
    }
}
