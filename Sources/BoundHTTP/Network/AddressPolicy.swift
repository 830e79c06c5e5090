import Glibc
import HotspotCore

/// Decides which addresses a portal may make a helper connect to. The check runs on the socket address at connect time, because
/// one address can be written in a URL in many ways.
///
/// Global and private addresses are allowed, since portals use both. Always refused are loopback, unspecified, link-local (where
/// clouds keep their metadata), multicast and reserved addresses, IPv6 forms that embed an IPv4 address, this machine's own
/// addresses, and the neighbours of its other links.
///
/// Neighbours are the hosts of a network on an interface such as Ethernet, Wi-Fi or a bridge. A route of another interface
/// through a gateway or a tunnel does not refuse addresses, because a socket that is bound to this link cannot follow it. If this
/// link has a route to the address that is at least as narrow as the neighbours' network, the address is allowed: the kernel
/// would use this route, too.
///
/// A link over the loopback interface `lo` is for rehearsals: its network is only this machine, so only loopback is allowed
/// there. The daemon does not manage that interface.
public struct AddressPolicy: Sendable {
    private var own: [AddressPrefix] = []
    private var local: Set<InternetAddress> = []
    private var routed: [AddressPrefix] = []
    private var foreign: [InterfaceRoute] = []
    private var isRehearsal = false
    private var allowsEverything = false

    /// Makes the policy of a link from the machine's interfaces as they are now.
    public init(link: Link) { self.init(link: link, MachineNetworks(), allowsRehearsal: true) }

    init(link: Link, _ machine: MachineNetworks, allowsRehearsal: Bool) {
        self.init(
            link: link, interfaces: machine.interfaces, routes: machine.routes, tunnels: machine.tunnels,
            allowsRehearsal: allowsRehearsal)
    }

    /// - Parameter tunnels: the interfaces without neighbours.
    init(
        link: Link, interfaces: [InterfaceAddress], routes: [InterfaceRoute] = [], tunnels: Set<String> = [],
        allowsRehearsal: Bool = true
    ) {
        own = link.ownNetworks
        local = Set(interfaces.map(\.prefix.address)).union(link.addresses.compactMap(AddressPrefix.init).map(\.address))
        routed = routes.filter { $0.interface == link.interface }.map(\.prefix)
        let networks = interfaces.filter { $0.prefix.length > 0 }.map { InterfaceRoute(interface: $0.name, prefix: $0.prefix) }
        foreign = (networks + routes.filter { !$0.hasGateway }).filter {
            $0.interface != link.interface && !tunnels.contains($0.interface)
        }
        isRehearsal = allowsRehearsal && link.interface == "lo"
    }

    private init(allowsEverything: Bool) { self.allowsEverything = allowsEverything }

    /// Allows everything, for tests against servers on loopback. No setting can select this policy.
    static let testing = AddressPolicy(allowsEverything: true)

    /// Returns the reason for which an address is refused; `nil` if it is allowed.
    public func refusal(of address: InternetAddress) -> String? {
        if allowsEverything { return nil }
        if isRehearsal {
            return Self.isLoopback(address) ? nil : "\(address) is not this machine; a rehearsal reaches nothing else"
        }
        if let reason = Self.forbiddenClass(of: address) { return "\(address) is \(reason)" }
        if local.contains(address) { return "\(address) is this machine's own" }
        if own.contains(where: { $0.contains(address) }) { return nil }
        let neighbours = foreign.filter { $0.prefix.contains(address) }.max { $0.prefix.length < $1.prefix.length }
        guard let neighbours, !routed.contains(where: { $0.contains(address) && $0.length >= neighbours.prefix.length }) else {
            return nil
        }
        return "\(address) belongs to the network of \(neighbours.interface)"
    }

    private static func isLoopback(_ address: InternetAddress) -> Bool { forbiddenClass(of: address) == "loopback" }

    static func forbiddenClass(of address: InternetAddress) -> String? {
        let octets = address.octets
        if address.isIPv4 {
            switch (octets[0], octets[1]) {
            case (0, _): return "unspecified"
            case (127, _): return "loopback"
            case (169, 254): return "link-local"
            case (224...239, _): return "multicast"
            case (240..., _): return "reserved"
            default: return nil
            }
        }
        if octets.allSatisfy({ $0 == 0 }) { return "unspecified" }
        if octets[..<15].allSatisfy({ $0 == 0 }), octets[15] == 1 { return "loopback" }
        if octets[0] == 0xFF { return "multicast" }
        if octets[0] == 0xFE, octets[1] & 0xC0 == 0x80 { return "link-local" }
        // Mapped (::ffff:0:0/96) and compatible (::/96) forms must not appear on a wire (RFC 4291, 2.5.5; RFC 4942, 2.2).
        if octets[..<10].allSatisfy({ $0 == 0 }), octets[10] == octets[11], octets[10] == 0 || octets[10] == 0xFF {
            return "an embedded IPv4 address"
        }
        // NAT64 (RFC 6052; the local range of RFC 8215) and 6to4 (RFC 3056) contain an IPv4 address, whose class decides.
        let nat64: [UInt8] = [0x00, 0x64, 0xFF, 0x9B]
        if Array(octets[..<4]) == nat64 {
            if octets[4] == 0, octets[5] == 1 { return "an embedded IPv4 address" }
            return embedded(octets[12...])
        }
        if octets[0] == 0x20, octets[1] == 0x02 { return embedded(octets[2..<6]) }
        return nil
    }

    private static func embedded(_ octets: ArraySlice<UInt8>) -> String? {
        guard let inner = InternetAddress(octets: Array(octets)), let reason = forbiddenClass(of: inner) else { return nil }
        return "an embedded IPv4 address that is \(reason)"
    }
}

extension Link {
    /// The networks of the link's addresses, and its gateways.
    var ownNetworks: [AddressPrefix] { (addresses + gateways).compactMap(AddressPrefix.init) }

    /// Returns whether a connection to this URL would lead to an address of the link's own networks. The connection itself then
    /// uses the same addresses, because ``NamePins`` keeps them.
    package func leadsInside(_ url: WebURL, in scope: Scope) -> Bool {
        addresses(of: url.host, in: scope).contains { address in ownNetworks.contains { $0.contains(address) } }
    }

    /// Returns whether one of a host's addresses is in the link's own networks but is not a gateway's: it may be another
    /// guest's. Also returns `true` if the host's name cannot be resolved.
    package func mayBeNeighbour(_ host: String, in scope: Scope) -> Bool {
        let gateways = Set(gateways.compactMap { InternetAddress(String($0.prefix { $0 != "/" })) })
        let addresses = addresses(of: host, in: scope)
        return addresses.isEmpty
            || addresses.contains { address in
                !gateways.contains(address) && ownNetworks.contains { $0.contains(address) }
            }
    }

    private func addresses(of host: String, in scope: Scope) -> [InternetAddress] {
        InternetAddress(host).map { [$0] } ?? (try? NamePins.shared.addresses(of: host, link: self, in: scope)) ?? []
    }
}
