import CNetlink
import Glibc
import Netlink

/// A chain of nftables through which packets of this computer's programs pass, and which may drop them.
struct FilterChain: Hashable, Sendable {
    enum Direction: UInt32 {
        // NF_INET_LOCAL_IN and NF_INET_LOCAL_OUT of linux/netfilter.h.
        case input = 1
        case output = 3
    }

    /// The name as the command `nft` writes it, such as `inet mullvad output`.
    let name: String
    let direction: Direction
    /// Whether a packet without a matching rule is dropped.
    let dropsTheRest: Bool

    /// Reads all chains for IPv4 that may drop packets of programs. Empty if there are none, or without CAP_NET_ADMIN, which reading them needs.
    static var all: [FilterChain] {
        let dump = UInt16(NFNL_SUBSYS_NFTABLES) << 8 | UInt16(NFT_MSG_GETCHAIN.rawValue)
        // struct nfgenmsg: family, version, resource.
        guard let socket = try? NetlinkSocket(protocol: NETLINK_NETFILTER),
            let answers = try? socket.ask(type: dump, flags: UInt16(NLM_F_DUMP), payload: [UInt8(AF_UNSPEC), 0, 0, 0])
        else { return [] }
        return answers.compactMap { FilterChain($0) }
    }

    /// Returns `nil` for all other chains: other families, types and hooks, and chains without rules that accept everything.
    init?(_ message: NetlinkMessage) {
        let type = UInt16(NFNL_SUBSYS_NFTABLES) << 8 | UInt16(NFT_MSG_NEWCHAIN.rawValue)
        guard message.type == type, let family = message.payload.first.flatMap(Self.family), let rest = message.payload.after(4),
            let attributes = try? AttributeReader(rest),
            let table = try? attributes.string(Int(NFTA_CHAIN_TABLE.rawValue), limit: 255),
            let chain = try? attributes.string(Int(NFTA_CHAIN_NAME.rawValue), limit: 255),
            (try? attributes.string(Int(NFTA_CHAIN_TYPE.rawValue), limit: 32)) == "filter",
            let hook = try? attributes.nested(Int(NFTA_CHAIN_HOOK.rawValue)),
            let number = Self.number(Int(NFTA_HOOK_HOOKNUM.rawValue), hook), let direction = Direction(rawValue: number)
        else { return nil }
        name = "\(family) \(table) \(chain)"
        self.direction = direction
        // NF_DROP is 0.
        dropsTheRest = Self.number(Int(NFTA_CHAIN_POLICY.rawValue), attributes) == 0
        guard dropsTheRest || Self.number(Int(NFTA_CHAIN_USE.rawValue), attributes) != 0 else { return nil }
    }

    init(_ name: String, _ direction: Direction, dropsTheRest: Bool) {
        (self.name, self.direction, self.dropsTheRest) = (name, direction, dropsTheRest)
    }

    private static func family(_ number: UInt8) -> String? {
        switch number {
        // NFPROTO_INET of linux/netfilter.h.
        case 1: "inet"
        case UInt8(AF_INET): "ip"
        default: nil
        }
    }

    /// The numbers of nftables are in network byte order.
    private static func number(_ type: Int, _ attributes: AttributeReader) -> UInt32? {
        (try? attributes.integer(type, as: UInt32.self)).flatMap { $0 }.map(UInt32.init(bigEndian:))
    }
}
