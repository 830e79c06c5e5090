/// A host on a link: an IP address, and the MAC address of the frames that carry its packets.
public struct LinkHost: Hashable, Sendable, CustomStringConvertible {
    /// The IP address as ``AddressText`` writes it, without a scope.
    public let address: String
    /// The MAC address: six octets.
    public let hardware: [UInt8]

    /// Returns `nil` unless `address` is an IP address without a scope, and `hardware` has six octets.
    public init?(_ address: some StringProtocol, _ hardware: [UInt8]) {
        guard let octets = AddressText.octets(of: address), hardware.count == 6, let text = AddressText.text(of: octets) else {
            return nil
        }
        (self.address, self.hardware) = (text, hardware)
    }

    /// Reads the form of ``description``.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let octets = parts[1].split(separator: ":", omittingEmptySubsequences: false).map { part in
            part.utf8.count == 2 && part.first != "+" ? UInt8(part, radix: 16) : nil
        }
        self.init(parts[0], octets.compactMap { $0 }.count == octets.count ? octets.compactMap { $0 } : [])
    }

    /// For example `192.0.2.1/02:00:00:00:00:01`.
    public var description: String {
        let digits = hardware.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return address + "/" + digits.joined(separator: ":")
    }

    public var isIPv6: Bool { address.utf8.contains(UInt8(ascii: ":")) }
}

/// The hosts whose announcements count on one link. Any guest can answer with the router's IP address as the source. Forging the router's MAC address
/// is harder, because an access point knows each station by its MAC address. So both addresses of a reply must belong to the same host.
///
/// Without hosts, no announcement counts. A DHCPv6 reply counts if a default router sent it, because no program reports which host is the DHCPv6
/// server.
public struct Announcers: Hashable, Sendable {
    /// For IPv4, the server of the lease or the router that forwards its answers; without a lease, the default routers. For IPv6,
    /// the default routers.
    public let hosts: Set<LinkHost>
    /// The server identifier of the lease (RFC 2131, 9.7); `nil` if no program has the lease.
    public let leaseServer: String?

    public init(_ hosts: Set<LinkHost> = [], leaseServer: String? = nil) {
        self.hosts = hosts
        self.leaseServer = leaseServer
    }

    /// The reason why an answer does not count.
    public enum Objection: String, Codable, Hashable, Sendable {
        case stranger, hardware, identifier

        /// The reason, in words for people.
        public var words: String {
            switch self {
            case .stranger: "the sender is neither the lease's server nor a default router"
            case .hardware: "the sender's MAC address does not belong to its IP address"
            case .identifier: "the server identifier is not the lease's"
            }
        }
    }

    /// Returns the reason for which a reply does not count; `nil` if it counts.
    func objection(to reply: Inquiry.Reply, from sender: LinkHost) -> Objection? {
        guard hosts.contains(sender) else {
            return hosts.contains { $0.address == sender.address } ? .hardware : .stranger
        }
        // A relay forwards the answers of several servers, so the server identifier must match as well. RFC 2131, 4.3.1 requires each answer to
        // contain it.
        if case .dhcp4(let packet) = reply, let leaseServer, packet.server != leaseServer { return .identifier }
        return nil
    }

    // MARK: Arguments

    /// The arguments of `hotspot-dhcp` after the interface: the lease's server or `-`, then the hosts.
    public var arguments: [String] { [leaseServer ?? "-"] + hosts.map(\.description).sorted() }

    /// Reads ``arguments``; `nil` if one of them is malformed.
    public init?(arguments: some Collection<String>) {
        guard let server = arguments.first, server == "-" || AddressText.octets(of: server)?.count == 4 else { return nil }
        let hosts = arguments.dropFirst().map { LinkHost($0) }
        guard hosts.allSatisfy({ $0 != nil }) else { return nil }
        self.init(Set(hosts.compactMap { $0 }), leaseServer: server == "-" ? nil : server)
    }
}
