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

        /// Nobody.
        public init() {}

        /// Makes sure that the networks are known for these helpers.
        public mutating func learn(_ groups: [Group], for helpers: [HelperSpec]) {
            if helpers != self.helpers || known.count > Self.limit {
                self.helpers = helpers
                known = [:]
            }
            for group in groups where known[group.network] == nil {
                // A network that hides its name matches nothing, not even `*`.
                known[group.network] =
                    group.ssid.isHidden
                    ? []
                    : helpers.indices.filter { helpers[$0].enabled && helpers[$0].covers(group.ssid, group.security) }
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
