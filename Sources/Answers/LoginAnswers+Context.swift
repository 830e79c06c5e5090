import ForeignText
import HotspotCore
import Vault

/// A credential as it is stored, without its values.
public struct StoredAnswers: Hashable, Sendable {
    public let owner: CredentialOwner
    public let fieldNames: [String]
    /// The names of the answers that may be shown: their fields were never of a secret kind.
    public let shownNames: [String]
    /// The portal's labels of the fields, as ``Field/folded(_:)`` writes them.
    public let labels: [String: String]
    /// Whether the portal refused these answers when they were last sent.
    public let isRefused: Bool
    /// The answers as the vault sealed them. If the octets differ, the answers count as changed.
    public let sealed: [UInt8]

    public init(
        owner: CredentialOwner, fieldNames: [String], shownNames: [String] = [], labels: [String: String] = [:],
        isRefused: Bool = false, sealed: [UInt8]
    ) {
        (self.owner, self.fieldNames, self.shownNames) = (owner, fieldNames, shownNames)
        (self.labels, self.isRefused, self.sealed) = (labels, isRefused, sealed)
    }

    /// Returns whether the portal still gives the field the label that it had when its answer was stored. An unknown label counts as the same.
    func isSame(_ field: Field) -> Bool { labels[field.name].map { $0 == Field.folded(field.label) } ?? true }
}

extension LoginAnswers {
    /// The facts outside of ``LoginAnswers`` that the rules need at the moment of an event.
    public struct Context: Sendable {
        public var network: NetworkID
        /// The helper that asks or is asked.
        public var helper: String
        public var program: String?
        public var portal: Portal?
        /// All credentials of the network.
        public var stored: [StoredAnswers] = []
        /// Whether the user's consent to this portal's terms, as this helper shows them, is stored.
        public var hasStoredConsent = false
        /// Whether the helper runs in a sandbox, or is trusted without one.
        public var mayHaveCredentials = true
        /// Whether the helper keeps a memory of its session, so that it notices changed terms.
        public var hasMemory = true
        public var isLocked = false
        public var hasPIN = false
        public var plain = PlainHTTPAnswers.confirm
        public var remember = Remember.always
        public var terms = AcceptTerms.remembered

        public init(network: NetworkID, helper: String, program: String? = nil, portal: Portal? = nil) {
            (self.network, self.helper, self.program, self.portal) = (network, helper, program, portal)
        }

        /// Returns the owner under which this helper's answers to a portal are stored.
        func owner(at portal: Portal) -> CredentialOwner {
            CredentialOwner(network: network, helper: helper, origin: portal.origin, pin: portal.pin, program: program)
        }

        /// Returns the stored answers of this helper for a portal.
        func own(at portal: Portal?) -> StoredAnswers? {
            portal.flatMap { portal in
                stored.first {
                    $0.owner.helper == helper && $0.owner.origin == portal.origin && $0.owner.pin == portal.pin
                }
            }
        }

        var own: StoredAnswers? { own(at: portal) }

        /// Whether the stored answers may be sent to this portal, and whether the user must confirm them; `nil` if none are stored.
        var release: Release? {
            guard let portal, let own else { return nil }
            return Release.decide(stored: own.owner, asking: owner(at: portal), plain: plain)
        }

        /// The stored answers that may be sent to the helper, perhaps after the user has confirmed them.
        public var available: StoredAnswers? {
            mayHaveCredentials && [.automatic, .confirmed].contains(release) ? own : nil
        }

        /// Returns whether later logins may send answers that are kept now, and whether the user must confirm them.
        func laterRelease(of owner: CredentialOwner) -> Release {
            Release.decide(stored: owner, asking: owner, plain: plain)
        }

        /// Whether the user accepted this portal's terms, or the settings accept all terms.
        public var hasConsent: Bool {
            switch terms {
            case .yes: true
            case .ask: false
            case .remembered: portal != nil && hasStoredConsent
            }
        }

        /// The reason why this helper does not get the answers that are stored for this portal: they belong to another helper or program.
        var otherOwner: AnswerRuling? {
            guard let portal else { return nil }
            if let own { return release == .refused(.otherProgram) ? .ofAnotherProgram(own.owner) : nil }
            let other = stored.first { $0.owner.origin == portal.origin && $0.owner.pin == portal.pin }
            return other.map { .ofAnotherHelper($0.owner.helper, not: helper) }
        }
    }
}
