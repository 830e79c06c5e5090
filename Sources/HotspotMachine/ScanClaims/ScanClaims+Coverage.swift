import HotspotCore

extension ScanClaims {
    /// The helpers that may be asked about each network, kept from one list to the next. A name is matched with a thousand patterns only when it
    /// comes into sight, not for every list.
    public struct Coverage: Sendable {
        /// The largest number of networks that are kept; beyond it, all earlier ones are forgotten.
        static let limit = 4096

        /// The helpers, in the order of their labels.
        public private(set) var helpers: [HelperSpec] = []
        private var known: [NetworkID: [Int]] = [:]
        private var index = PatternIndex([])

        public init() {}

        /// Adds networks. If the helpers have changed, or there are too many networks, all earlier ones are forgotten.
        public mutating func add(_ groups: [Group], for helpers: [HelperSpec]) {
            if helpers != self.helpers || known.count > Self.limit {
                if helpers != self.helpers { index = PatternIndex(helpers) }
                self.helpers = helpers
                known = [:]
            }
            for group in groups where known[group.network] == nil {
                // A network that hides its name matches nothing, not even `*`.
                known[group.network] =
                    group.ssid.isHidden
                    ? []
                    : index.helpers(for: group.ssid).filter { index in
                        let helper = helpers[index]
                        return helper.enabled && (helper.security.isEmpty || helper.security.contains(group.security))
                    }
            }
        }

        /// Returns the claims on one network, at most one for each helper, in the helpers' order.
        ///
        /// - Parameters:
        ///   - labels: each helper's answer to FilterScanList.
        ///   - remembered: the helper that logged in to this network before.
        ///   - credentials: the helpers with a stored password or answer for this network.
        ///   - isDisabled: returns whether a helper is switched off, for all networks or for this one.
        public func claims(
            for group: Group, labels: [String: Labels], remembered: String?, credentials: Set<String>,
            isDisabled: (String) -> Bool
        ) -> [NetworkClaim] {
            let network = group.network
            return (known[network] ?? []).compactMap { index in
                let helper = helpers[index]
                guard !isDisabled(helper.name) else { return nil }
                let confidence: Confidence
                let source: Source
                var hasPassword = false
                if let labelled = labels[helper.name]?[network] {
                    confidence = labelled
                    source = .filter
                    hasPassword = group.security.isSecured
                } else if helper.name == remembered {
                    // The claim is high, because the remembered helper is asked first and alone at the next join.
                    confidence = .high
                    source = .remembered
                } else if !helper.ssids.isEmpty {
                    confidence = .low
                    source = .manifest
                } else {
                    return nil
                }
                return NetworkClaim(
                    helper: helper.name, displayName: helper.displayName, confidence: confidence, source: source,
                    ready: hasPassword || credentials.contains(helper.name))
            }
        }

        /// Returns the part of a list that each helper may see in FilterScanList, in the helpers' order. A helper with an `SSID=` list sees its own
        /// networks; a helper without a list sees all networks if its file requests that. Hidden networks are never included. A helper that is not
        /// asked gets an empty list.
        ///
        /// - Parameter isDisabled: returns whether a helper is switched off, for all networks or for this one.
        public func visible(in groups: [Group], isDisabled: (HelperSpec, Group) -> Bool = { _, _ in false }) -> [[Group]] {
            var visible = [[Group]](repeating: [], count: helpers.count)
            let wants = helpers.map { !$0.ssids.isEmpty || $0.scanList }
            for group in groups {
                for index in known[group.network] ?? [] where wants[index] && !isDisabled(helpers[index], group) {
                    visible[index].append(group)
                }
            }
            return visible
        }
    }
}

/// Finds the helpers for a name. The patterns of their `SSID=` lists are sorted by their first octets, so that a name is matched with only a few of a
/// thousand patterns.
private struct PatternIndex {
    private var entries: [[UInt8]: [(helper: Int, pattern: SSIDPattern)]] = [:]
    private var lengths: [Int] = []
    /// Helpers without a list.
    private var unconfined: [Int] = []

    init(_ helpers: [HelperSpec]) {
        for (number, helper) in helpers.enumerated() {
            if helper.ssids.isEmpty { unconfined.append(number) }
            for pattern in helper.ssids {
                // The part of a pattern before the first wildcard or escape is literal.
                let start = pattern.source.utf8.prefix { !Array("*?\\".utf8).contains($0) }
                entries[Array(start), default: []].append((number, pattern))
            }
        }
        lengths = Set(entries.keys.map(\.count)).sorted()
    }

    /// Returns the helpers whose list contains the name, and the helpers without a list, in their order.
    func helpers(for ssid: SSID) -> [Int] {
        var matching = Set(unconfined)
        for length in lengths where length <= ssid.octets.count {
            for (helper, pattern) in entries[Array(ssid.octets[..<length])] ?? [] where pattern.matches(ssid) {
                matching.insert(helper)
            }
        }
        return matching.sorted()
    }
}
