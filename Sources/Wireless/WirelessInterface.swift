import CNetlink
import HotspotCore
import Netlink

/// A network interface of a radio.
public struct WirelessInterface: Hashable, Sendable {
    /// What an interface is there for.
    public enum Kind: Hashable, Sendable {
        /// It joins networks.
        case station
        /// An access point, a monitor, a mesh point and so on: none of our business.
        case other
    }

    /// The kernel's index, which a rename does not change.
    public var index: Int
    /// Its name when it was last read; a rename is told by the link, not by the radio.
    public var name: String
    /// The number of the radio.
    public var wiphy: Int
    /// What it is there for.
    public var type: Kind
    /// Its own address, often a random one.
    public var address: HardwareAddress?
    /// The name of the network that it is in, if the kernel tells.
    public var ssid: SSID?
    /// Unique as long as the system runs, unlike the index: tells an interface from its successor.
    var identifier: UInt64

    /// An interface.
    public init(
        index: Int, name: String, wiphy: Int, type: Kind, address: HardwareAddress? = nil, ssid: SSID? = nil,
        identifier: UInt64 = 0
    ) {
        self.index = index
        self.name = name
        self.wiphy = wiphy
        self.type = type
        self.address = address
        self.ssid = ssid
        self.identifier = identifier
    }

    /// Reads `NL80211_CMD_NEW_INTERFACE`; `nil` if it is about a device without a network interface, such as a P2P device.
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
            type: type == NL80211_IFTYPE_STATION.rawValue ? .station : .other,
            address: try attributes.octets(Int(NL80211_ATTR_MAC.rawValue)).flatMap { HardwareAddress(octets: $0) },
            ssid: try attributes.octets(Int(NL80211_ATTR_SSID.rawValue)).flatMap { SSID(octets: $0) },
            identifier: try attributes.integer(Int(NL80211_ATTR_WDEV.rawValue), as: UInt64.self) ?? 0)
    }
}

/// The network that an interface is in.
public struct Association: Hashable, Sendable {
    /// Its name; empty if nobody could tell.
    public var ssid: SSID
    /// The access point.
    public var bssid: BSSID
    /// How it is guarded; `unknown` if the scan did not tell.
    public var security: Security
    /// In MHz; 0 if unknown.
    public var frequency: Int
    /// Received power at the last reading, in dBm.
    public var signal: Int?

    /// An association.
    public init(ssid: SSID, bssid: BSSID, security: Security, frequency: Int = 0, signal: Int? = nil) {
        self.ssid = ssid
        self.bssid = bssid
        self.security = security
        self.frequency = frequency
        self.signal = signal
    }
}
