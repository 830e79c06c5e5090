import HotspotCore

extension ScanClaims {
    /// What a helper's answer to FilterScanList comes to: a confidence for some of the networks that it was asked about.
    ///
    /// A network that was not in the question gets nothing from the answer, however late it comes: an answer applies to the list that
    /// it was made for. Passwords are looked at here and go no further; that there was one that fits is all that is kept.
    public struct Labels: Hashable, Sendable {
        /// The most annotations of one answer that are read.
        public static let limit = 1024

        private var confidences: [NetworkID: Confidence] = [:]

        /// No label at all.
        public init() {}

        /// - Parameters:
        ///   - annotations: the answer.
        ///   - asked: the networks of the question.
        public init(_ annotations: [Annotation], asked: [Group]) {
            var bySSID: [SSID: [Annotation]] = [:]
            for annotation in annotations.prefix(Self.limit) where annotation.confidence != .none {
                if let ssid = SSID(hex: annotation.ssidHex) { bySSID[ssid, default: []].append(annotation) }
            }
            for group in asked where !group.ssid.isHidden {
                let security = group.security
                let said = bySSID[group.ssid]?.first { annotation in
                    guard annotation.security == nil || annotation.security == security else { return false }
                    // Without a password no label appears on a secured network.
                    return !security.isSecured || annotation.password.map { fits($0, security) } ?? false
                }
                confidences[group.network] = said?.confidence
            }
        }

        /// Nothing is labelled.
        public var isEmpty: Bool { confidences.isEmpty }

        /// What the helper said of this network. On a secured one it named a password that fits.
        public subscript(network: NetworkID) -> Confidence? { confidences[network] }

        /// Takes labels away.
        public mutating func remove(where isGone: (NetworkID) -> Bool) {
            confidences = confidences.filter { !isGone($0.key) }
        }
    }
}
