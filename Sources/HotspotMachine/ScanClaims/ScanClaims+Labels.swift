import HotspotCore

extension ScanClaims {
    /// Returns whether an annotation for a network's name also fits the network's security. For a secured network, the annotation needs a password.
    private static func labels(_ annotation: Annotation, _ security: Security) -> Bool {
        guard annotation.security == nil || annotation.security == security else { return false }
        return !security.isSecured || annotation.password.map { fits($0, security) } ?? false
    }

    /// Returns the password that an answer contains for a network.
    public static func password(for group: Group, in annotations: [Annotation]) -> String? {
        annotations.prefix(Labels.limit).first {
            $0.confidence != .none && SSID(hex: $0.ssidHex) == group.ssid && labels($0, group.security)
        }?.password
    }

    /// A helper's answer to FilterScanList: a confidence for some of the networks that it was asked about.
    ///
    /// An answer applies only to the list in its question, however late it comes. Passwords are not kept, only whether one fits.
    public struct Labels: Hashable, Sendable {
        /// The largest number of annotations that are read from one answer.
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
                confidences[group.network] = bySSID[group.ssid]?.first { labels($0, group.security) }?.confidence
            }
        }

        public var isEmpty: Bool { confidences.isEmpty }

        /// The helper's confidence for this network. For a secured network, the helper also gave a password that fits.
        public subscript(network: NetworkID) -> Confidence? { confidences[network] }

        public mutating func remove(where isGone: (NetworkID) -> Bool) {
            confidences = confidences.filter { !isGone($0.key) }
        }
    }
}
