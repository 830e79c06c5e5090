import HotspotCore

/// What is shown of a scan: networks rather than BSSs, and who would take them.
///
/// Claims only label: they never add, hide or reorder a network, and have no part in the race (behaviours 29 to 31).
public enum ScanClaims {
    /// One network in sight: all BSSs of one name and security.
    public struct Group: Hashable, Sendable {
        /// The BSS with the strongest signal; it speaks for the network.
        public var strongest: ScannedBSS
        /// The number of BSSs.
        public var stations: Int
        /// When any of them was seen last, Unix time in milliseconds.
        public var lastSeen: Int

        /// The name.
        public var ssid: SSID { strongest.ssid }
        /// How the air interface is guarded.
        public var security: Security { strongest.security }
    }

    /// Where a claim comes from. The words are those of the control interface.
    public enum Source: String, Codable, Hashable, Sendable, CaseIterable {
        /// The `SSID=` list of the helper's file.
        case manifest
        /// The answer to FilterScanList.
        case filter
        /// An earlier visit.
        case remembered
    }

    /// One label: a helper that would take the network.
    public struct Claim: Hashable, Sendable {
        /// Its name.
        public var helper: String
        /// What people read.
        public var displayName: String
        /// Low or high.
        public var confidence: Confidence
        /// Where the claim comes from.
        public var source: Source
        /// A password or a credential is there, so that joining asks nothing.
        public var ready: Bool
    }

    /// The networks of a scan, the strongest first; equal ones in the order of their names and securities, so that a list does not
    /// jump. A BSS that several stations heard counts once for each.
    public static func groups(_ scan: [ScannedBSS]) -> [Group] {
        struct Key: Hashable {
            let ssid: SSID
            let security: Security
        }
        var groups: [Key: Group] = [:]
        groups.reserveCapacity(scan.count)
        for bss in scan {
            let key = Key(ssid: bss.ssid, security: bss.security)
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

    /// The labels of one network, at most one for each helper, in the order of `helpers`.
    ///
    /// - Parameters:
    ///   - answers: what each helper answered to the latest FilterScanList.
    ///   - remembered: the helper that freed this network before.
    ///   - hasCredential: a password or an answer is stored for this helper and network.
    ///   - isDisabled: this helper is switched off, for all networks or for this one.
    public static func claims(
        for group: Group, helpers: [HelperSpec], answers: [String: [Annotation]], remembered: String?,
        hasCredential: (String) -> Bool, isDisabled: (String) -> Bool
    ) -> [Claim] {
        // A network that hides its name matches nothing, not even `*`.
        guard !group.ssid.isHidden else { return [] }
        var claims: [Claim] = []
        for helper in helpers where helper.enabled && helper.covers(group.ssid, group.security) && !isDisabled(helper.name) {
            let confidence: Confidence
            let source: Source
            var hasPassword = false
            if let annotation = annotation(for: group, in: answers[helper.name]) {
                confidence = annotation.confidence
                source = .filter
                hasPassword = group.security.isSecured
            } else if helper.name == remembered {
                // It is asked first and alone at the next join.
                confidence = .high
                source = .remembered
            } else if !helper.ssids.isEmpty {
                confidence = .low
                source = .manifest
            } else {
                continue
            }
            claims.append(
                Claim(
                    helper: helper.name, displayName: helper.displayName, confidence: confidence, source: source,
                    ready: hasPassword || hasCredential(helper.name)))
        }
        return claims
    }

    /// The part of a scan that a helper may see in FilterScanList: with an `SSID=` list its own networks, without one the whole, if
    /// its file asks for it, and never a hidden one.
    ///
    /// - Parameter isDisabled: the helper is switched off for this network.
    public static func visible(
        to helper: HelperSpec, in groups: [Group], isDisabled: (Group) -> Bool = { _ in false }
    ) -> [Group] {
        guard helper.enabled, !helper.ssids.isEmpty || helper.scanList else { return [] }
        return groups.filter { !$0.ssid.isHidden && helper.covers($0.ssid, $0.security) && !isDisabled($0) }
    }

    /// Whether a password can be one for this security: for WPA 8 to 63 printable ASCII characters or 64 hexadecimal digits (IEEE
    /// 802.11-2020, J.4.1), for WEP a key of 5 or 13 characters or of 10 or 26 digits. 802.1X wants more than a password.
    public static func fits(_ password: String, _ security: Security) -> Bool {
        let octets = Array(password.utf8)
        let isPrintable = octets.allSatisfy { (0x20...0x7E).contains($0) }
        let isHex = octets.allSatisfy { Hex.decode(String(decoding: [$0, $0], as: UTF8.self)) != nil }
        switch security {
        case .psk, .sae, .unknown: return ((8...63).contains(octets.count) && isPrintable) || (octets.count == 64 && isHex)
        case .wep: return ([5, 13].contains(octets.count) && isPrintable) || ([10, 26].contains(octets.count) && isHex)
        case .enterprise: return false
        case .open, .owe, .wired: return true
        }
    }

    /// The first annotation that speaks of this network and may be shown: on a secured one only with a password that fits.
    private static func annotation(for group: Group, in answer: [Annotation]?) -> Annotation? {
        guard let answer, !answer.isEmpty else { return nil }
        let hex = group.ssid.hex
        return answer.first { annotation in
            guard annotation.confidence != .none, annotation.ssidHex.lowercased() == hex,
                annotation.security == nil || annotation.security == group.security
            else { return false }
            guard group.security.isSecured else { return true }
            return annotation.password.map { fits($0, group.security) } ?? false
        }
    }

    private static func isStronger(_ a: ScannedBSS, than b: ScannedBSS) -> Bool {
        if a.signal != b.signal { return a.signal > b.signal }
        return a.bssid.octets.lexicographicallyPrecedes(b.bssid.octets)
    }
}
