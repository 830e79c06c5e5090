import HotspotCore

/// The kernel's view of one network interface at one moment.
public struct LinkSnapshot: Hashable, Sendable {
    /// The kernel's index, which a rename does not change.
    public var index: Int
    public var name: String
    /// The hardware address; `nil` if its length is not six octets, as for a tunnel.
    public var hardwareAddress: HardwareAddress?
    /// Whether the link is switched on (`IFF_UP`).
    public var isUp: Bool
    /// Whether the cable is plugged in, or the station associated.
    public var hasCarrier: Bool
    /// The driver's kind of a virtual link, such as `veth`, `bridge`, `tun`; `nil` for hardware.
    public var kind: String?
    /// `ARPHRD_…` of linux/if_arp.h: 1 is Ethernet and Wi-Fi, 772 the loopback.
    public var type: Int
    /// Usable addresses with their prefix lengths (CIDR), the most preferred first; link-local addresses are left out.
    public var addresses: [String]
    /// Default routers, the one with the lowest metric first.
    public var gateways: [String]
    /// The metric of the link's best default route, of either family; `nil` without one.
    public var routeMetric: UInt32?
    /// The interface group (`ip link set group`); `Gate.group` if the gate closed the link.
    public var group: UInt32
    /// The number of times that the carrier came up since the link was created; `nil` if the kernel does not report it.
    public var carrierUpCount: UInt32?

    public init(
        index: Int, name: String, hardwareAddress: HardwareAddress? = nil, isUp: Bool = false, hasCarrier: Bool = false,
        kind: String? = nil, type: Int = 1, addresses: [String] = [], gateways: [String] = [],
        routeMetric: UInt32? = nil, group: UInt32 = 0, carrierUpCount: UInt32? = nil
    ) {
        self.index = index
        self.name = name
        self.hardwareAddress = hardwareAddress
        self.isUp = isUp
        self.hasCarrier = hasCarrier
        self.kind = kind
        self.type = type
        self.addresses = addresses
        self.gateways = gateways
        self.routeMetric = routeMetric
        self.group = group
        self.carrierUpCount = carrierUpCount
    }
}

extension LinkSnapshot {
    /// A text by which a restarted daemon recognises the current association: the boot, the interface and its hardware address, the number of times
    /// that its carrier came up, and its first IP address. A station that leaves its access point loses the carrier, and so does an unplugged cable,
    /// even while no process watches. The age of an association is not used, because not every driver reports it. `nil` if the kernel does not report
    /// the number.
    public var associationMark: String? {
        guard let carrierUpCount, let boot = Self.boot else { return nil }
        return "\(boot) \(index) \(hardwareAddress?.description ?? "-") \(carrierUpCount) \(addresses.first ?? "-")"
    }

    /// Returns whether this link has addresses or a gateway of a family for which the earlier snapshot had none.
    public func hasNewFamily(since earlier: LinkSnapshot) -> Bool {
        [\LinkSnapshot.addresses, \.gateways].contains { part in
            let before = Set(earlier[keyPath: part].map { $0.contains(":") })
            return self[keyPath: part].contains { !before.contains($0.contains(":")) }
        }
    }

    private static let boot = RecordFile.read("/proc/sys/kernel/random/boot_id").map {
        String(decoding: $0.octets.prefix { $0 != 10 }, as: UTF8.self)
    }
}

/// A change of a link: at most one for each link in a turn of the loop, with its state at the end of the turn.
public enum LinkChange: Hashable, Sendable {
    /// The link has appeared; also reported for each link that exists at the start.
    case appeared(LinkSnapshot)
    /// Something about the link changed, perhaps its name.
    case changed(LinkSnapshot, from: LinkSnapshot)
    /// The link has left this network namespace; this is its last state.
    case vanished(LinkSnapshot)
}
