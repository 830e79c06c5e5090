import CNetlink
import Glibc
import Netlink

/// The gate's rules, as requests to the kernel (linux/fib_rules.h).
///
/// With a link in the gate's group, a family's rules are, in their order:
///
///     32765  oif LINK lookup main                     sockets bound to the link use it
///     32766  lookup main suppress_ifgroup GROUP       all others use main without the gated links
///     32766  iif lo dport 1-65534 lookup TABLE        IPv6 only, like the next rule
///     32766  iif lo dport 1-65534 goto 32767
///     32766  from SOURCE iif lo uidrange 0-0 lookup main
///     32766  lookup TABLE                             routes of main that a gated link's routes hide
///     32766  goto 32767
///     32766  lookup main                              the plain rule, behind the gate's rules, never reached
///     32767  lookup default                           IPv4 only
///     32767  nop                                      target of the goto
///
/// The plain rule stays, behind the gate's rules, so that main is consulted even if another program deletes the gate's rules. The gate's rules take
/// main's own place in the order, so that other programs' rules, such as a tunnel's, keep their order.
///
/// The rule with the source is for incoming answers: with `rp_filter`, the kernel looks up a route back to a packet's source: as user root, with the
/// packet's destination as source address (`__fib_validate_source` in net/ipv4/fib_frontend.c). The rule does not match an ordinary program's socket,
/// which has no source address before it has a route. The rule also admits root's IPv4 sockets that are bound to a source, and root's IPv4
/// connections from before the gate closed.
struct GateRule: Hashable {
    /// "hots": the interface group of gated links, and the table of the routes that they hide. Administrators are unlikely to
    /// choose this number.
    static let group: UInt32 = 0x686F_7473
    static let table: UInt32 = 0x686F_7473
    /// "h": marks the gate's rules and routes. The number is unused in iproute2's rt_protos and in linux/rtnetlink.h.
    static let `protocol`: UInt8 = 0x68
    /// The kernel's priorities of main and of the default table after it (net/ipv4/fib_rules.c, net/ipv6/fib6_rules.c).
    static let mainPriority: UInt32 = 32766
    static let endPriority: UInt32 = 32767

    let payload: [UInt8]

    init(payload: some Collection<UInt8>) { self.payload = Array(payload) }

    private init(
        _ family: Family, priority: UInt32, action: Int = Int(FR_ACT_TO_TBL), table: UInt32 = 0,
        from: (prefix: UInt8, length: UInt8)? = nil, by maker: UInt8 = Self.protocol,
        _ append: (inout PayloadBuilder) -> Void = { _ in }
    ) {
        // struct fib_rule_hdr: family, dst_len, src_len, tos, table, two reserved octets, action, flags.
        let short = table < 256 ? UInt8(table) : UInt8(RT_TABLE_UNSPEC.rawValue)
        var builder = PayloadBuilder(header: [family.number, 0, from?.length ?? 0, 0, short, 0, 0, UInt8(action), 0, 0, 0, 0])
        builder.append(Int(FRA_PRIORITY), integer: priority)
        builder.append(Int(FRA_PROTOCOL), integer: maker)
        if table != 0 { builder.append(Int(FRA_TABLE), integer: table) }
        if let from { builder.append(Int(FRA_SRC), [from.prefix] + [UInt8](repeating: 0, count: family.length - 1)) }
        append(&builder)
        payload = builder.octets
    }

    /// Lets sockets that are bound to the link use the link.
    static func bound(to name: String, _ family: Family) -> GateRule {
        GateRule(family, priority: mainPriority - 1, table: UInt32(RT_TABLE_MAIN.rawValue)) {
            $0.append(Int(FRA_OIFNAME), Array(name.utf8) + [0])
        }
    }

    /// Returns the rules that exist as long as the gate does, in their order.
    static func standing(_ family: Family) -> [GateRule] {
        let main = UInt32(RT_TABLE_MAIN.rawValue)
        var rules = [
            GateRule(family, priority: mainPriority, table: main) { $0.append(Int(FRA_SUPPRESS_IFGROUP), integer: group) }
        ]
        // If a program finds no IPv6 route, the kernel looks it up again, with a source address (`ip6_dst_lookup_tail`). So the IPv6 exemption
        // applies only to lookups without a port, such as firewalld's check of the return path (nft_fib_ipv6.c).
        if family == .ipv6 {
            let withPort = { (builder: inout PayloadBuilder) in
                builder.append(Int(FRA_IIFNAME), Array("lo".utf8) + [0])
                // struct fib_rule_port_range: first and last. The kernel refuses 65535.
                var range: [UInt8] = []
                range.appendHost(UInt16(1))
                range.appendHost(UInt16(65534))
                builder.append(Int(FRA_DPORT_RANGE), range)
            }
            rules.append(GateRule(family, priority: mainPriority, table: table, withPort))
            rules.append(
                GateRule(family, priority: mainPriority, action: Int(FR_ACT_GOTO)) {
                    withPort(&$0)
                    $0.append(Int(FRA_GOTO), integer: endPriority)
                })
        }
        rules += family.everySource.map { source in
            GateRule(family, priority: mainPriority, table: main, from: source) {
                $0.append(Int(FRA_IIFNAME), Array("lo".utf8) + [0])
                $0.append(Int(FRA_UID_RANGE), integer: UInt64(0))
            }
        }
        rules.append(GateRule(family, priority: mainPriority, table: table))
        rules.append(
            GateRule(family, priority: mainPriority, action: Int(FR_ACT_GOTO)) { $0.append(Int(FRA_GOTO), integer: endPriority) })
        rules.append(GateRule(family, priority: endPriority, action: Int(FR_ACT_NOP)))
        return rules
    }

    /// Returns main's rule in the kernel's form.
    static func plainMain(_ family: Family) -> GateRule {
        GateRule(family, priority: mainPriority, table: UInt32(RT_TABLE_MAIN.rawValue), by: UInt8(RTPROT_KERNEL))
    }

    /// The rule without its flags, which change when links and goto targets come and go.
    var identity: [UInt8] { payload.count < 12 ? payload : payload[..<8] + [0, 0, 0, 0] + payload[12...] }

    var isOurs: Bool { (try? attributes?.integer(Int(FRA_PROTOCOL), as: UInt8.self)) == Self.protocol }

    /// Whether the rule consults main for everything, at main's usual priority, and was not made by the gate.
    var isPlainMain: Bool {
        guard !isOurs, payload.count >= 12, payload[1...3].allSatisfy({ $0 == 0 }), payload[7] == UInt8(FR_ACT_TO_TBL),
            payload[...].host(UInt32.self, at: 8).map({ $0 & UInt32(FIB_RULE_INVERT) }) == 0, let attributes
        else { return false }
        for attribute in attributes.all {
            switch attribute.type {
            case Int(FRA_PRIORITY): if attribute.value.host(UInt32.self) != Self.mainPriority { return false }
            case Int(FRA_TABLE): if attribute.value.host(UInt32.self) != UInt32(RT_TABLE_MAIN.rawValue) { return false }
            case Int(FRA_SUPPRESS_PREFIXLEN), Int(FRA_SUPPRESS_IFGROUP):
                if attribute.value.host(UInt32.self) != .max { return false }
            case Int(FRA_PROTOCOL), Int(FRA_PAD): break
            default: return false
            }
        }
        return (try? attributes.octets(Int(FRA_PRIORITY))) != nil && (try? attributes.octets(Int(FRA_TABLE))) != nil
    }

    private var attributes: AttributeReader? { payload[...].after(12).flatMap { try? AttributeReader($0) } }
}

/// An address family.
enum Family: CaseIterable {
    case ipv4, ipv6

    var number: UInt8 { self == .ipv4 ? UInt8(AF_INET) : UInt8(AF_INET6) }

    /// The length of an address, in octets.
    var length: Int { self == .ipv4 ? 4 : 16 }

    /// Prefixes that cover every source except the unspecified address. An IPv6 rule with any prefix requires a source (`fib6_rule_match`); for IPv4,
    /// the prefixes leave out 0.0.0.0/8.
    var everySource: [(prefix: UInt8, length: UInt8)] {
        switch self {
        case .ipv4: (1...8).map { (UInt8(1) << (8 - $0), $0) }
        case .ipv6: [(0, 1), (0x80, 1)]
        }
    }
}
