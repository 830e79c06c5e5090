import HotspotCore

/// The list of networks in sight. It lists networks, not single BSSs, each with the helpers that claim it.
///
/// Claims are only labels: they never add, hide or reorder a network, and do not count in the race (behaviours 29 to 31).
public enum ScanClaims {
    /// One network in sight: all BSSs with the same name and security.
    public struct Group: Hashable, Sendable {
        /// The BSS with the strongest signal, which represents the network.
        public var strongest: ScannedBSS
        /// The number of the network's BSSs.
        public var stations: Int
        /// The last time at which any of the BSSs was seen, in milliseconds of Unix time.
        public var lastSeen: Int

        public var ssid: SSID { strongest.ssid }
        public var security: Security { strongest.security }
        public var network: NetworkID { .wireless(ssid, security) }
    }

    /// The source of a claim. The raw values are the words of the control interface.
    public enum Source: String, Codable, Hashable, Sendable, CaseIterable {
        /// The `SSID=` list in the helper's file.
        case manifest
        /// The answer to FilterScanList.
        case filter
        /// An earlier visit.
        case remembered
    }

    /// A helper that claims a network.
    public struct NetworkClaim: Hashable, Sendable {
        public var helper: String
        public var displayName: String
        /// Low or high.
        public var confidence: Confidence
        public var source: Source
        /// Whether a password or credential is stored, so that the user need not be asked.
        public var ready: Bool
    }

    /// Returns the networks of a scan, the strongest first; equally strong ones by name and security, so that the order is stable. A BSS that several
    /// stations received counts once for each station.
    public static func groups(_ scan: [ScannedBSS]) -> [Group] {
        var groups: [NetworkID: Group] = [:]
        groups.reserveCapacity(scan.count)
        for bss in scan {
            let key = NetworkID.wireless(bss.ssid, bss.security)
            guard var group = groups[key] else {
                groups[key] = Group(strongest: bss, stations: 1, lastSeen: bss.lastSeen)
                continue
            }
            group.stations += 1
            group.lastSeen = max(group.lastSeen, bss.lastSeen)
            if isStronger(bss, than: group.strongest) { group.strongest = bss }
            groups[key] = group
        }
        return groups.values.sorted { a, b in
            if a.strongest.signal != b.strongest.signal { return a.strongest.signal > b.strongest.signal }
            if a.ssid != b.ssid { return a.ssid.octets.lexicographicallyPrecedes(b.ssid.octets) }
            return a.security.rawValue < b.security.rawValue
        }
    }

    /// Returns whether a password fits this security: for WPA 8 to 63 printable ASCII characters or 64 hexadecimal digits (IEEE
    /// 802.11-2020, J.4.1), for WEP a key of 5 or 13 characters or of 10 or 26 digits. 802.1X needs more than a password.
    public static func fits(_ password: String, _ security: Security) -> Bool {
        let octets = Array(password.utf8)
        let isPrintable = octets.allSatisfy { (0x20...0x7E).contains($0) }
        let isHex = octets.allSatisfy { Unicode.Scalar($0).properties.isASCIIHexDigit }
        switch security {
        case .psk, .sae, .unknown: return ((8...63).contains(octets.count) && isPrintable) || (octets.count == 64 && isHex)
        case .wep: return ([5, 13].contains(octets.count) && isPrintable) || ([10, 26].contains(octets.count) && isHex)
        case .enterprise: return false
        case .open, .owe, .wired: return true
        }
    }

    private static func isStronger(_ a: ScannedBSS, than b: ScannedBSS) -> Bool {
        if a.signal != b.signal { return a.signal > b.signal }
        return a.bssid.octets.lexicographicallyPrecedes(b.bssid.octets)
    }
}
