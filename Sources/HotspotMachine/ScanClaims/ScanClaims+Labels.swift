import HotspotCore

extension ScanClaims {
    /// A helper's answer to FilterScanList: a confidence for some of the networks that it was asked about.
    ///
    /// An answer applies to the list that it was made for, however late it comes: it labels no other network. Of passwords only the fact
    /// that one fits is kept.
    public struct Labels: Hashable, Sendable {
        /// The most annotations of one answer that are read.
        public static let limit = 1024

        private var confidences: [NetworkID: Confidence] = [:]

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
                let annotation = bySSID[group.ssid]?.first { annotation in
                    guard annotation.security == nil || annotation.security == security else { return false }
                    // Without a password no label appears on a secured network.
                    return !security.isSecured || annotation.password.map { fits($0, security) } ?? false
                }
                confidences[group.network] = annotation?.confidence
            }
        }

        public var isEmpty: Bool { confidences.isEmpty }

        /// The helper's confidence for this network. For a secured one it gave a password that fits.
        public subscript(network: NetworkID) -> Confidence? { confidences[network] }

        public mutating func remove(where isGone: (NetworkID) -> Bool) {
            confidences = confidences.filter { !isGone($0.key) }
        }
    }
}
