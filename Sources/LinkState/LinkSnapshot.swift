import HotspotCore

/// The kernel's view of one network interface at one moment.
public struct LinkSnapshot: Hashable, Sendable {
    /// The kernel's index, which a rename does not change.
    public var index: Int
    public var name: String
    /// `nil` if it has none of six octets, such as a tunnel.
    public var hardwareAddress: HardwareAddress?
    /// Switched on (`IFF_UP`).
    public var isUp: Bool
    /// The cable is plugged in, or the station associated.
    public var hasCarrier: Bool
    /// The driver's kind of a virtual link, such as `veth`, `bridge`, `tun`; `nil` for hardware.
    public var kind: String?
    /// `ARPHRD_…` of linux/if_arp.h: 1 is Ethernet and Wi-Fi, 772 the loopback.
    public var type: Int
    /// Usable addresses with their prefix lengths (CIDR), the most preferred first; no link-local ones.
    public var addresses: [String]
    /// Default routers, the one with the lowest metric first.
    public var gateways: [String]
    /// The metric of its best default route, of either family; `nil` without one.
    public var routeMetric: UInt32?
    /// The interface group (`ip link set group`); `Gate.group` for a link that the gate closed.
    public var group: UInt32
    /// The number of times that the carrier came up since the link was created; `nil` if the kernel does not tell.
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
    /// The mark of the present association, by which a daemon that is restarted knows it again: the boot, the interface, how often its
    /// carrier came up, and its address. A station that leaves its access point loses the carrier, as a cable does that is pulled,
    /// whichever process watches; not every driver reports the age of an association. `nil` where the kernel does not report it.
    public var associationMark: String? {
        guard let carrierUpCount, let boot = Self.boot else { return nil }
        return "\(boot) \(index) \(hardwareAddress?.description ?? "-") \(carrierUpCount) \(addresses.first ?? "-")"
    }

    /// Returns whether this link has addresses or a gateway of a family in which an earlier one had none.
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

/// A change of a link: at most one for each link and turn of the loop, with the state at its end.
public enum LinkChange: Hashable, Sendable {
    /// It is there; also reported for each one that was there at the start.
    case appeared(LinkSnapshot)
    /// Something changed, perhaps its name.
    case changed(LinkSnapshot, from: LinkSnapshot)
    /// It is gone from this network namespace; with its last state.
    case vanished(LinkSnapshot)
}
