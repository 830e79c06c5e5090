import HotspotCore

extension ScanClaims {
    /// Which helpers may hear of which networks, kept from one list to the next: a thousand patterns are held against a name when it
    /// comes into sight, and not every few seconds again.
    public struct Coverage: Sendable {
        /// So many names are kept; then it starts anew.
        static let limit = 4096

        /// The helpers, in the order in which they label.
        public private(set) var helpers: [HelperSpec] = []
        private var known: [NetworkID: [Int]] = [:]
        private var index = PatternIndex([])

        /// Nobody.
        public init() {}

        /// Makes sure that the networks are known for these helpers.
        public mutating func learn(_ groups: [Group], for helpers: [HelperSpec]) {
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

        /// The labels of one network, at most one for each helper, in the helpers' order.
        ///
        /// - Parameters:
        ///   - labels: what each helper answered to FilterScanList.
        ///   - remembered: the helper that freed this network before.
        ///   - credentials: the helpers for which a password or an answer is stored here.
        ///   - isDisabled: this helper is switched off, for all networks or for this one.
        public func claims(
            for group: Group, labels: [String: Labels], remembered: String?, credentials: Set<String>,
            isDisabled: (String) -> Bool
        ) -> [Claim] {
            let network = group.network
            return (known[network] ?? []).compactMap { index in
                let helper = helpers[index]
                guard !isDisabled(helper.name) else { return nil }
                let confidence: Confidence
                let source: Source
                var hasPassword = false
                if let said = labels[helper.name]?[network] {
                    confidence = said
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
                    return nil
                }
                return Claim(
                    helper: helper.name, displayName: helper.displayName, confidence: confidence, source: source,
                    ready: hasPassword || credentials.contains(helper.name))
            }
        }

        /// The part of a list that each helper may see in FilterScanList, in the helpers' order: with an `SSID=` list its own
        /// networks, without one the whole, if its file asks for it, and never a hidden one. Empty for who is not to be asked.
        ///
        /// - Parameter isDisabled: the helper is switched off, for all networks or for this one.
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

/// The `SSID=` lists of many helpers, filed by the octets with which their entries begin: a name is held only against those that it
/// begins like, a few of a thousand.
private struct PatternIndex {
    private var entries: [[UInt8]: [(helper: Int, pattern: SSIDPattern)]] = [:]
    private var lengths: [Int] = []
    /// Those without a list.
    private var unconfined: [Int] = []

    init(_ helpers: [HelperSpec]) {
        for (number, helper) in helpers.enumerated() {
            if helper.ssids.isEmpty { unconfined.append(number) }
            for pattern in helper.ssids {
                // As far as it was written without wildcards and escapes, it is the octets themselves.
                let start = pattern.source.utf8.prefix { !Array("*?\\".utf8).contains($0) }
                entries[Array(start), default: []].append((number, pattern))
            }
        }
        lengths = Set(entries.keys.map(\.count)).sorted()
    }

    /// The helpers whose list has the name, or who have none, in their order.
    func helpers(for ssid: SSID) -> [Int] {
        var found = Set(unconfined)
        for length in lengths where length <= ssid.octets.count {
            for (helper, pattern) in entries[Array(ssid.octets[..<length])] ?? [] where pattern.matches(ssid) {
                found.insert(helper)
            }
        }
        return found.sorted()
    }
}
