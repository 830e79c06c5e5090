import HotspotCore

/// One network interface at one moment, as the kernel knows it.
public struct LinkSnapshot: Hashable, Sendable {
    /// The kernel's index, which a rename does not change.
    public var index: Int
    /// The present name.
    public var name: String
    /// `nil` if it has none of six octets, as tunnels do.
    public var hardwareAddress: HardwareAddress?
    /// Switched on (`IFF_UP`).
    public var isUp: Bool
    /// The wire is plugged in, or the station associated.
    public var hasCarrier: Bool
    /// The driver's kind of a virtual link, such as `veth`, `bridge`, `tun`; `nil` for hardware.
    public var kind: String?
    /// `ARPHRD_…` of linux/if_arp.h: 1 is Ethernet and Wi-Fi, 772 the loopback.
    public var type: Int
    /// Usable addresses with their prefix lengths (CIDR), the most preferred first; no link-local ones.
    public var addresses: [String]
    /// Default routers, the one with the lowest metric first.
    public var gateways: [String]
    /// The interface group (`ip link set group`); the gate's is ``Gate/group``.
    public var group: UInt32

    /// A link.
    public init(
        index: Int, name: String, hardwareAddress: HardwareAddress? = nil, isUp: Bool = false, hasCarrier: Bool = false,
        kind: String? = nil, type: Int = 1, addresses: [String] = [], gateways: [String] = [],
        group: UInt32 = 0
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
        self.group = group
    }

    /// It has an address and a router: packets can leave.
    public var isRoutable: Bool { isUp && hasCarrier && !addresses.isEmpty && !gateways.isEmpty }
}

/// What happened to a link; at most one of these for each link and turn, with the state at its end.
public enum LinkChange: Hashable, Sendable {
    /// It is there, also each one that was there at the start.
    case appeared(LinkSnapshot)
    /// Something of it changed, perhaps its name.
    case changed(LinkSnapshot, from: LinkSnapshot)
    /// It is gone from this network namespace; the last that was known.
    case vanished(LinkSnapshot)
}
