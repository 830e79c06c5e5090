import CNetlink
import Glibc
import HotspotCore
import Netlink
import PortalAnnouncement

/// The kernel's links, addresses and default routes. Single messages change links and addresses; default routes are always read as a whole.
///
/// A dump fills a new table, and events change it.
struct LinkTable {
    /// The largest number of links; a host of containers may have thousands.
    static let linkLimit = 4096
    /// The largest number of addresses of one link.
    static let addressLimit = 64
    /// The largest number of default routes.
    static let routeLimit = 256

    /// The change that a message made.
    enum Effect: Hashable {
        /// The message changed nothing in this table.
        case none
        /// The message changed links or addresses.
        case links
        /// The kernel may have dropped routes without an event.
        case routes
    }

    private struct LinkEntry {
        var snapshot: LinkSnapshot
        var addresses: [Address] = []
    }

    private struct Address: Hashable {
        var family: UInt8
        var octets: [UInt8]
        var prefixLength: UInt8
        var flags: UInt32

        /// Whether the address is neither being checked for duplicates nor a duplicate (RFC 4862, 5.4). An optimistic address may be used (RFC 4429).
        var isUsable: Bool {
            if flags & UInt32(IFA_F_DADFAILED) != 0 { return false }
            return flags & UInt32(IFA_F_TENTATIVE) == 0 || flags & UInt32(IFA_F_OPTIMISTIC) != 0
        }

        /// The rank of the address; lower is preferred: current before deprecated, IPv4 before IPv6, primary before secondary. An IPv6 "secondary" is
        /// a temporary address (RFC 8981) and is preferred.
        var rank: Int {
            let isSecondary = flags & UInt32(IFA_F_SECONDARY) != 0
            let isIPv6 = family == UInt8(AF_INET6)
            return (flags & UInt32(IFA_F_DEPRECATED) != 0 ? 4 : 0) + (isIPv6 ? 2 : 0) + (isSecondary != isIPv6 ? 1 : 0)
        }

        var text: String? { AddressText.text(of: octets).map { "\($0)/\(prefixLength)" } }
    }

    private struct Route: Hashable {
        var index: Int
        var metric: UInt32
        var gateway: String
    }

    private var links: [Int: LinkEntry] = [:]
    private var routes: [Route] = []

    /// All links with their addresses and routes.
    var snapshots: [Int: LinkSnapshot] { links.mapValues(snapshot) }

    private func snapshot(_ link: LinkEntry) -> LinkSnapshot {
        var snapshot = link.snapshot
        // Sort by position too, to keep the order of equal ranks.
        snapshot.addresses = link.addresses.enumerated().filter(\.element.isUsable)
            .sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }.compactMap(\.element.text)
        var gateways: [String] = []
        for route in routes where route.index == snapshot.index && !gateways.contains(route.gateway) {
            gateways.append(route.gateway)
        }
        snapshot.gateways = gateways
        snapshot.routeMetric = routes.first { $0.index == snapshot.index }?.metric
        return snapshot
    }

    /// Applies a message of a dump or an event. A message about a route only causes all routes to be read again.
    mutating func apply(_ message: NetlinkMessage) throws(MalformedMessage) -> Effect {
        switch Int(message.type) {
        case Int(RTM_NEWLINK): try applyLink(message.payload)
        case Int(RTM_DELLINK): try removeLink(message.payload)
        case Int(RTM_NEWADDR): try applyAddress(message.payload, isNew: true)
        case Int(RTM_DELADDR): try applyAddress(message.payload, isNew: false)
        case Int(RTM_NEWROUTE), Int(RTM_DELROUTE):
            // rtm_dst_len, the second octet, is 0 for a default route.
            message.payload.dropFirst().first == 0 ? .routes : .none
        default: .none
        }
    }

    // MARK: Links

    private mutating func applyLink(_ payload: ArraySlice<UInt8>) throws(MalformedMessage) -> Effect {
        let (index, type, flags, attributes) = try Self.readLink(payload)
        // Ignore ports, which a bridge reports under a family of its own, and messages of the wireless extensions, which contain no change.
        guard payload.first == UInt8(AF_UNSPEC), try attributes.octets(Int(IFLA_WIRELESS)) == nil else { return .none }
        guard let name = try attributes.string(Int(IFLA_IFNAME), limit: 15), !name.isEmpty else {
            throw MalformedMessage("link without a name")
        }
        guard links[index] != nil || links.count < Self.linkLimit else { return .none }
        let isUp = flags & UInt32(bitPattern: Int32(IFF_UP.rawValue)) != 0
        let carrier = try attributes.integer(Int(IFLA_CARRIER), as: UInt8.self)
        let snapshot = LinkSnapshot(
            index: index, name: name,
            hardwareAddress: try attributes.octets(Int(IFLA_ADDRESS)).flatMap { HardwareAddress(octets: $0) }, isUp: isUp,
            // IFF_LOWER_UP, for kernels that leave the attribute out.
            hasCarrier: carrier.map { $0 != 0 } ?? (flags & 0x10000 != 0),
            kind: try attributes.nested(Int(IFLA_LINKINFO))?.string(Int(IFLA_INFO_KIND), limit: 32), type: Int(type),
            group: try attributes.integer(Int(IFLA_GROUP), as: UInt32.self) ?? 0,
            carrierUpCount: try attributes.integer(Int(IFLA_CARRIER_UP_COUNT), as: UInt32.self))
        let old = links[index]
        links[index] = LinkEntry(snapshot: snapshot, addresses: old?.addresses ?? [])
        // Read the routes again if the link went up or down: a link that goes down loses its IPv4 routes without an event.
        return old.map { $0.snapshot.isUp == isUp && $0.snapshot.hasCarrier == snapshot.hasCarrier } ?? false ? .links : .routes
    }

    private mutating func removeLink(_ payload: ArraySlice<UInt8>) throws(MalformedMessage) -> Effect {
        let (index, _, _, _) = try Self.readLink(payload)
        // Ignore a port that leaves its bridge: it is "deleted" in the bridge's family, but still exists.
        guard payload.first == UInt8(AF_UNSPEC), links.removeValue(forKey: index) != nil else { return .none }
        return .routes
    }

    /// Reads `struct ifinfomsg`: family, type, index, flags, change mask.
    private static func readLink(
        _ payload: ArraySlice<UInt8>
    ) throws(MalformedMessage) -> (index: Int, type: UInt16, flags: UInt32, attributes: AttributeReader) {
        guard let type = payload.host(UInt16.self, at: 2), let index = payload.host(Int32.self, at: 4), index > 0,
            let flags = payload.host(UInt32.self, at: 8), let rest = payload.after(16)
        else { throw MalformedMessage("link message too short") }
        return (Int(index), type, flags, try AttributeReader(rest))
    }

    // MARK: Addresses

    private mutating func applyAddress(_ payload: ArraySlice<UInt8>, isNew: Bool) throws(MalformedMessage) -> Effect {
        // struct ifaddrmsg: family, prefix length, flags, scope, index.
        guard let family = payload.first, let prefixLength = payload.host(UInt8.self, at: 1),
            let shortFlags = payload.host(UInt8.self, at: 2), let scope = payload.host(UInt8.self, at: 3),
            let index = payload.host(UInt32.self, at: 4).map(Int.init), let rest = payload.after(8)
        else { throw MalformedMessage("address message too short") }
        let attributes = try AttributeReader(rest)
        let size = family == UInt8(AF_INET) ? 4 : family == UInt8(AF_INET6) ? 16 : 0
        guard size > 0 else { return .none }
        // On a point-to-point link, IFA_ADDRESS is the address of the other end, and IFA_LOCAL is this end's.
        let local = try attributes.octets(Int(IFA_LOCAL))
        let remote = try attributes.octets(Int(IFA_ADDRESS))
        guard let octets = (local ?? remote).map(Array.init), octets.count == size, Int(prefixLength) <= size * 8 else {
            throw MalformedMessage("address of wrong size")
        }
        let flags = try attributes.integer(Int(IFA_FLAGS), as: UInt32.self) ?? UInt32(shortFlags)
        guard var link = links[index] else { return .none }
        let position = link.addresses.firstIndex {
            $0.octets == octets && $0.prefixLength == prefixLength && $0.family == family
        }
        guard isNew else {
            guard let position else { return .none }
            link.addresses.remove(at: position)
            links[index] = link
            // If a route preferred this source address, the kernel drops the route without an event.
            return .routes
        }
        // Addresses of RT_SCOPE_LINK (253) and RT_SCOPE_HOST (254) do not reach a portal.
        guard scope < 253, !AddressText.isLinkLocal(octets) else { return .none }
        let address = Address(family: family, octets: octets, prefixLength: prefixLength, flags: flags)
        if let position {
            link.addresses[position] = address
        } else if link.addresses.count < Self.addressLimit {
            link.addresses.append(address)
        }
        links[index] = link
        return .links
    }

    // MARK: Routes

    mutating func removeRoutes() { routes = [] }

    /// Adds one route of a dump; ignores all routes except default routes.
    mutating func addRoute(_ message: NetlinkMessage) throws(MalformedMessage) {
        let payload = message.payload
        // struct rtmsg: family, destination length, source length, tos, table, protocol, scope, type, flags.
        guard message.type == UInt16(RTM_NEWROUTE) else { return }
        guard let family = payload.first, let length = payload.host(UInt8.self, at: 1),
            let sourceLength = payload.host(UInt8.self, at: 2), let table = payload.host(UInt8.self, at: 4),
            let type = payload.host(UInt8.self, at: 7), let rest = payload.after(12)
        else { throw MalformedMessage("route message too short") }
        guard family == UInt8(AF_INET) || family == UInt8(AF_INET6) else { return }
        let attributes = try AttributeReader(rest)
        // The local table (255) has no default route. Other tables count like main, because connection managers use separate
        // tables for links.
        guard length == 0, sourceLength == 0, type == 1 /* RTN_UNICAST */, table != 255 else { return }
        let metric = try attributes.integer(Int(RTA_PRIORITY.rawValue), as: UInt32.self) ?? 0
        if let index = try attributes.integer(Int(RTA_OIF.rawValue), as: UInt32.self) {
            try insertRoute(Int(index), metric, family, attributes)
        }
        guard var hops = try attributes.octets(Int(RTA_MULTIPATH.rawValue)) else { return }
        while !hops.isEmpty {
            // struct rtnexthop: length, flags, hops, index.
            guard let length = hops.host(UInt16.self), length >= 8, Int(length) <= hops.count,
                let index = hops.host(Int32.self, at: 4)
            else { throw MalformedMessage("next hop of impossible length") }
            try insertRoute(Int(index), metric, family, try AttributeReader(hops.prefix(Int(length)).dropFirst(8)))
            hops = hops.dropFirst((Int(length) + 3) & ~3)
        }
    }

    private mutating func insertRoute(
        _ index: Int, _ metric: UInt32, _ family: UInt8, _ attributes: AttributeReader
    ) throws(MalformedMessage) {
        var gateway = try attributes.octets(Int(RTA_GATEWAY.rawValue))
        if gateway == nil, let via = try attributes.octets(Int(RTA_VIA.rawValue)) {
            // An IPv4 route over an IPv6 router: the family, then the address (struct rtvia).
            gateway = via.after(2)
        }
        guard let gateway, let text = AddressText.text(of: Array(gateway)), routes.count < Self.routeLimit else { return }
        let route = Route(index: index, metric: metric, gateway: text)
        guard !routes.contains(route) else { return }
        routes.insert(route, at: routes.firstIndex { $0.metric > metric } ?? routes.endIndex)
    }
}
