import CNetlink
import Glibc
import Netlink

/// The rules of this computer that now affect the packets of one link. Reading them changes nothing.
public struct PacketRules: Hashable, Sendable {
    /// The other link that ordinary traffic uses, such as a VPN's tunnel; `nil` if ordinary traffic uses this link, or no link at all.
    var otherWay: String?
    /// Whether the link drops packets whose answers would leave by another link (rp_filter in the kernel's ip-sysctl.rst).
    var isStrict: Bool
    var chains: [FilterChain]

    init(otherWay: String? = nil, isStrict: Bool = false, chains: [FilterChain] = []) {
        (self.otherWay, self.isStrict, self.chains) = (otherWay, isStrict, chains)
    }

    /// Reads the rules for a link.
    public init(link name: String, index: Int) {
        otherWay = Self.ordinaryWay.flatMap { $0 == index ? nil : Self.name(of: $0) }
        isStrict = Self.strictness("all", name) == 1
        chains = FilterChain.all
    }

    /// Returns the effective rp_filter: the larger of the link's value and the value for all links. 1 is strict, 2 is loose.
    private static func strictness(_ names: String...) -> Int {
        let values = names.map { name in
            RecordFile.read("/proc/sys/net/ipv4/conf/\(name)/rp_filter").flatMap {
                Int(String(decoding: $0.octets.filter { $0 > 0x20 }, as: UTF8.self))
            }
        }
        return values.compactMap(\.self).max() ?? 0
    }

    /// The link by which an unbound packet leaves for the Internet. The kernel decides: by a default route, two halves of a default route, or a
    /// policy rule.
    private static var ordinaryWay: Int? {
        // struct rtmsg: family, length of the destination, and zeros.
        var payload = PayloadBuilder(header: [UInt8(AF_INET), 32] + [UInt8](repeating: 0, count: 10))
        payload.append(Int(RTA_DST.rawValue), [1, 1, 1, 1])
        guard let socket = try? NetlinkSocket(protocol: NETLINK_ROUTE),
            let route = (try? socket.ask(type: UInt16(RTM_GETROUTE), payload: payload.octets))?.first,
            let attributes = route.payload.after(12).flatMap({ try? AttributeReader($0) }),
            let index = try? attributes.integer(Int(RTA_OIF.rawValue), as: Int32.self)
        else { return nil }
        return Int(index)
    }

    private static func name(of index: Int) -> String? {
        // IFNAMSIZ, with its NUL.
        var name = [CChar](repeating: 0, count: 16)
        guard let number = UInt32(exactly: index), if_indextoname(number, &name) != nil else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
