import CNetlink
import Netlink

/// A copy, in the gate's table, of a route of main that a gated link's better route hides.
///
/// The kernel picks main's best route, rejects it because of its link's group, and does not try main's other routes.
struct HiddenRoute: Hashable {
    /// The largest number of copies; a laptop has a handful of routes.
    static let limit = 512

    /// The route in the gate's table, as a request to the kernel.
    let payload: [UInt8]
    /// The index of the route's link.
    let link: Int
    /// The original table of the route.
    let table: UInt32
    /// Whether the route leads through a router, so that the route to that router must exist first.
    let hasGateway: Bool

    /// The attributes that are copied, without the kernel's bookkeeping and the numbers of nexthop objects.
    private static let copied: Set<Int> = [
        Int(RTA_DST.rawValue), Int(RTA_OIF.rawValue), Int(RTA_GATEWAY.rawValue), Int(RTA_PRIORITY.rawValue),
        Int(RTA_PREFSRC.rawValue), Int(RTA_METRICS.rawValue), Int(RTA_VIA.rawValue), Int(RTA_PREF.rawValue),
    ]

    /// Returns `nil` unless this is a plain route over one link.
    init?(_ message: NetlinkMessage) {
        // struct rtmsg: family, dst_len, src_len, tos, table, protocol, scope, type, flags.
        guard message.type == UInt16(RTM_NEWROUTE), let rest = message.payload.after(12),
            let flags = message.payload.host(UInt32.self, at: 8), let attributes = try? AttributeReader(rest),
            let oif = try? attributes.integer(Int(RTA_OIF.rawValue), as: Int32.self)
        else { return nil }
        var header = Array(message.payload.prefix(12))
        // The route must not come from a cache, must have no source prefix, and must be unicast.
        guard flags & UInt32(RTM_F_CLONED) == 0, header[2] == 0, header[7] == UInt8(RTN_UNICAST),
            !attributes.all.contains(where: { $0.type == Int(RTA_ENCAP.rawValue) || $0.type == Int(RTA_MULTIPATH.rawValue) })
        else { return nil }
        table = (try? attributes.integer(Int(RTA_TABLE.rawValue), as: UInt32.self)) ?? UInt32(header[4])
        link = Int(oif)
        hasGateway = attributes.all.contains {
            $0.type == Int(RTA_GATEWAY.rawValue) || $0.type == Int(RTA_VIA.rawValue)
        }
        header[4] = UInt8(RT_TABLE_UNSPEC.rawValue)
        header[5] = GateRule.protocol
        var builder = PayloadBuilder(header: Array(header[..<8]) + [UInt8(flags & UInt32(RTNH_F_ONLINK)), 0, 0, 0])
        builder.append(Int(RTA_TABLE.rawValue), integer: GateRule.table)
        // The attributes are sorted, so that a copy equals its original.
        for attribute in attributes.all.sorted(by: { $0.type < $1.type }) where Self.copied.contains(attribute.type) {
            builder.append(attribute.type, attribute.value)
        }
        payload = builder.octets
    }

    /// Compares only ``payload``, because a route and its copy are in different tables.
    static func == (one: HiddenRoute, other: HiddenRoute) -> Bool { one.payload == other.payload }

    func hash(into hasher: inout Hasher) { hasher.combine(payload) }
}
