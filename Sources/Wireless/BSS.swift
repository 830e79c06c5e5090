// This target uses nl80211: scans, access points, associations. ``WirelessMonitor`` reports them.

import CNetlink
import HotspotCore
import Netlink

/// One entry of a scan: one radio of one access point with one name.
public struct BSS: Hashable, Sendable {
    /// The radio's address.
    public var bssid: BSSID
    /// The name on the air; empty or all zero if it is hidden.
    public var ssid: SSID
    /// Centre of the primary channel in MHz; 0 if the driver does not report it.
    public var frequency: Int
    /// Received power in dBm; `nil` if the driver does not report it.
    public var signal: Int?
    public var security: Security
    /// The time at which the last frame was received. An impossible age counts as never, the zero instant.
    public var lastSeen: Instant
    /// Whether the interface is associated with this entry.
    public var isAssociated: Bool
    /// The elements that announce access to the Internet, if there are any.
    public var access: AccessElements
    /// For the open network of an OWE transition pair, the encrypted network (Wi-Fi Alliance, OWE).
    public var oweTransition: OWETransition?
    /// Whether an element had an impossible length; the entry is listed, but never as open.
    public var isMalformed: Bool

    public init(
        bssid: BSSID, ssid: SSID, frequency: Int, signal: Int? = nil, security: Security, lastSeen: Instant,
        isAssociated: Bool = false, access: AccessElements = AccessElements(),
        oweTransition: OWETransition? = nil, isMalformed: Bool = false
    ) {
        self.bssid = bssid
        self.ssid = ssid
        self.frequency = frequency
        self.signal = signal
        self.security = security
        self.lastSeen = lastSeen
        self.isAssociated = isAssociated
        self.access = access
        self.oweTransition = oweTransition
        self.isMalformed = isMalformed
    }
}

extension BSS {
    /// Privacy, in the capability field (IEEE 802.11-2020, 9.4.1.4).
    private static let privacyBit: UInt16 = 0x10

    /// Reads the attributes within `NL80211_ATTR_BSS` (linux/nl80211.h, enum nl80211_bss).
    ///
    /// - Parameter now: the current time, from which the age is subtracted.
    init(_ attributes: AttributeReader, now: Instant) throws(MalformedMessage) {
        guard let address = try attributes.octets(Int(NL80211_BSS_BSSID.rawValue)),
            let bssid = HardwareAddress(octets: address)
        else { throw MalformedMessage("BSS without an address") }
        let capability = try attributes.integer(Int(NL80211_BSS_CAPABILITY.rawValue), as: UInt16.self) ?? 0
        let latest = try attributes.octets(Int(NL80211_BSS_INFORMATION_ELEMENTS.rawValue))
        let beacon = try attributes.octets(Int(NL80211_BSS_BEACON_IES.rawValue))
        let elements = InformationElements(latest ?? beacon ?? [])
        // If the latest elements hide the name, read the beacon's elements too. Only one of beacon and probe response may contain the name.
        let other = latest != nil && beacon != nil && elements.ssid?.isHidden ?? true ? InformationElements(beacon!) : nil
        let names = [elements.ssid, other?.ssid].compactMap { $0 }
        self.init(
            bssid: bssid, ssid: names.first { !$0.isHidden } ?? names.first ?? .empty,
            frequency: Int(try attributes.integer(Int(NL80211_BSS_FREQUENCY.rawValue), as: UInt32.self) ?? 0),
            signal: try Self.signal(attributes),
            security: elements.security(hasPrivacy: capability & Self.privacyBit != 0),
            lastSeen: try Self.lastSeen(attributes, now: now),
            isAssociated: try attributes.integer(Int(NL80211_BSS_STATUS.rawValue), as: UInt32.self)
                == NL80211_BSS_STATUS_ASSOCIATED.rawValue,
            access: elements.access, oweTransition: elements.oweTransition, isMalformed: elements.isMalformed)
        // Without any elements, the security is unknown: the privacy bit alone could make the network look open.
        if latest == nil, beacon == nil { security = .unknown }
    }

    private static func signal(_ attributes: AttributeReader) throws(MalformedMessage) -> Int? {
        if let hundredths = try attributes.integer(Int(NL80211_BSS_SIGNAL_MBM.rawValue), as: Int32.self) {
            return Int(hundredths) / 100
        }
        // 0 to 100 without a unit, mapped to the range of SignalScale: -90 to -40 dBm.
        return try attributes.integer(Int(NL80211_BSS_SIGNAL_UNSPEC.rawValue), as: UInt8.self).map { -90 + min(100, Int($0)) / 2 }
    }

    private static func lastSeen(_ attributes: AttributeReader, now: Instant) throws(MalformedMessage) -> Instant {
        let never = Instant(nanoseconds: 0)
        if let instant = try attributes.integer(Int(NL80211_BSS_LAST_SEEN_BOOTTIME.rawValue), as: UInt64.self) {
            return instant <= UInt64(max(0, now.nanoseconds)) ? Instant(nanoseconds: Int64(instant)) : never
        }
        guard let age = try attributes.integer(Int(NL80211_BSS_SEEN_MS_AGO.rawValue), as: UInt32.self) else { return never }
        let seen = now.nanoseconds - Int64(age) * 1_000_000
        return seen > 0 ? Instant(nanoseconds: seen) : never
    }
}

/// The entries of a scan; at most ``limit`` are kept, because anyone nearby can send beacons with any number of names.
struct ScanTable {
    /// The largest number of entries in ``best``.
    static let limit = 512

    private var entries: [BSS] = []

    /// Adds an entry. The same address with two names makes two entries.
    mutating func insert(_ entry: BSS) {
        entries.append(entry)
        // Sorting only now and then keeps ten thousand entries cheap.
        if entries.count >= 4 * Self.limit { entries = best }
    }

    /// The entries to keep: the associated entry first, then the strongest; among equals, the newest first.
    var best: [BSS] {
        Array(
            entries.sorted { a, b in
                if a.isAssociated != b.isAssociated { return a.isAssociated }
                let signals = (a.signal ?? .min, b.signal ?? .min)
                return signals.0 == signals.1 ? a.lastSeen > b.lastSeen : signals.0 > signals.1
            }.prefix(Self.limit))
    }
}
