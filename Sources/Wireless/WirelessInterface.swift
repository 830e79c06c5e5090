import CNetlink
import HotspotCore
import Netlink

/// A network interface of a radio.
public struct WirelessInterface: Hashable, Sendable {
    /// The kernel's index, which a rename does not change.
    public var index: Int
    /// The name when it was last read. Renames are reported by the link, not by the radio.
    public var name: String
    /// The number of the radio.
    public var wiphy: Int
    /// Whether the interface joins networks; `false` for an access point, a monitor, a mesh point and so on.
    public var isStation: Bool
    /// The interface's own address, often a random one.
    public var address: HardwareAddress?
    /// The name of the interface's network, if the kernel knows it.
    public var ssid: SSID?
    /// A number that is unique until reboot, unlike the index: it distinguishes an interface from its successor.
    var identifier: UInt64

    public init(
        index: Int, name: String, wiphy: Int, isStation: Bool, address: HardwareAddress? = nil, ssid: SSID? = nil,
        identifier: UInt64 = 0
    ) {
        self.index = index
        self.name = name
        self.wiphy = wiphy
        self.isStation = isStation
        self.address = address
        self.ssid = ssid
        self.identifier = identifier
    }

    /// Reads `NL80211_CMD_NEW_INTERFACE`; `nil` for a device without a network interface, such as a P2P device.
    init?(_ attributes: AttributeReader) throws(MalformedMessage) {
        guard let index = try attributes.integer(Int(NL80211_ATTR_IFINDEX.rawValue), as: UInt32.self), index > 0,
            index <= Int32.max
        else { return nil }
        // IFNAMSIZ is 16 with the terminating NUL.
        guard let name = try attributes.string(Int(NL80211_ATTR_IFNAME.rawValue), limit: 15), !name.isEmpty else {
            throw MalformedMessage("interface without a name")
        }
        let type = try attributes.integer(Int(NL80211_ATTR_IFTYPE.rawValue), as: UInt32.self)
        self.init(
            index: Int(index), name: name,
            wiphy: Int(try attributes.integer(Int(NL80211_ATTR_WIPHY.rawValue), as: UInt32.self) ?? 0),
            isStation: type == NL80211_IFTYPE_STATION.rawValue,
            address: try attributes.octets(Int(NL80211_ATTR_MAC.rawValue)).flatMap { HardwareAddress(octets: $0) },
            ssid: try attributes.octets(Int(NL80211_ATTR_SSID.rawValue)).flatMap { SSID(octets: $0) },
            identifier: try attributes.integer(Int(NL80211_ATTR_WDEV.rawValue), as: UInt64.self) ?? 0)
    }
}
