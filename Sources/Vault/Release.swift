import HotspotCore

/// The helper, network and portal for which a credential was stored, or is requested now.
public struct CredentialOwner: Hashable, Sendable {
    public var network: NetworkID
    public var helper: String
    /// `scheme://host[:port]` of the portal.
    public var origin: String
    /// SHA-256 of the portal's public key; `nil` over plain HTTP.
    public var pin: String?
    /// The helper's program, see ``HelperSpec/Activation/identity``; `nil` for credentials of older versions.
    public var program: String?

    public init(network: NetworkID, helper: String, origin: String, pin: String?, program: String? = nil) {
        self.network = network
        self.helper = helper
        self.origin = origin
        self.pin = pin
        self.program = program
    }

    public var purpose: Purpose { .credential(network: network, helper: helper, origin: origin, pin: pin, program: program) }
}

/// The setting for sending stored answers to a portal without encryption (PlainHTTPAnswers=).
public enum PlainHTTPAnswers: String, Hashable, Sendable, CaseIterable {
    /// Answers are offered as defaults of a prompt, and the user confirms them.
    case confirm
    /// Answers are sent as over HTTPS.
    case automatic
    /// Answers are neither sent nor kept.
    case never
}

/// The rule for releasing a credential to a helper, and for keeping one.
public enum Release: Hashable, Sendable {
    case automatic
    /// The credential may be offered as defaults of a prompt, which the user confirms.
    case confirmed
    case refused(Refusal)

    /// The reason why a credential is not released. The raw values never change.
    public enum Refusal: String, Codable, Hashable, Sendable, CaseIterable {
        /// Nothing is stored for a network that cannot be recognised again.
        case anonymousNetwork
        /// The credential was stored for another network.
        case otherNetwork
        /// The credential was stored for another helper.
        case otherHelper
        /// The helper's name now belongs to another program.
        case otherProgram
        /// The portal has another address: perhaps an impostor.
        case portalChanged
        /// The portal has the same address and another key: perhaps an impostor.
        case keyChanged
        /// Anyone nearby could read the answers or impersonate the portal.
        case plainHTTP

        /// One sentence for the user.
        public var sentence: String {
            switch self {
            case .anonymousNetwork: "hotspotd cannot recognise this network again, so nothing is kept for it."
            case .otherNetwork: "The stored answers belong to another network."
            case .otherHelper: "The stored answers belong to another helper."
            case .otherProgram: "The stored answers belong to another program that had the helper's name before."
            case .portalChanged: "This portal's address differs from the one for which your answers were stored."
            case .keyChanged: "This portal's key differs from the one for which your answers were stored."
            case .plainHTTP:
                "The portal uses plain HTTP, so hotspotd neither keeps its answers nor sends them automatically (PlainHTTPAnswers=never)."
            }
        }
    }

    /// Decides whether a stored credential may go to a helper: only if both owners are equal. A stored credential without a program fits every
    /// program.
    ///
    /// - Parameter plain: the user's setting for plain HTTP.
    public static func decide(stored: CredentialOwner, asking: CredentialOwner, plain: PlainHTTPAnswers) -> Release {
        guard asking.network.key != nil, stored.network.key != nil else { return .refused(.anonymousNetwork) }
        guard stored.network == asking.network else { return .refused(.otherNetwork) }
        guard stored.helper == asking.helper else { return .refused(.otherHelper) }
        guard stored.program == nil || stored.program == asking.program else { return .refused(.otherProgram) }
        guard stored.origin == asking.origin else { return .refused(.portalChanged) }
        guard stored.pin == asking.pin else { return .refused(.keyChanged) }
        if asking.origin.hasPrefix("https://") {
            // Refuse a portal over HTTPS without a key, because it cannot be recognised.
            guard let pin = asking.pin, !pin.isEmpty else { return .refused(.keyChanged) }
            return .automatic
        }
        guard asking.origin.hasPrefix("http://"), asking.pin == nil else { return .refused(.plainHTTP) }
        return switch plain {
        case .confirm: .confirmed
        case .automatic: .automatic
        case .never: .refused(.plainHTTP)
        }
    }

    /// Returns why none of a network's stored answers are for this portal, whichever helper asks; `nil` if some are, or if the network has no stored
    /// answers.
    public static func mismatch(origin: String, pin: String?, stored: [CredentialOwner]) -> Refusal? {
        let sameOrigin = stored.filter { $0.origin == origin }
        guard !stored.isEmpty, !sameOrigin.contains(where: { $0.pin == pin }) else { return nil }
        return sameOrigin.isEmpty ? .portalChanged : .keyChanged
    }

    /// Returns the answers that may be stored: the answers to the prompt's fields, without one-time codes and checkboxes. An empty answer is stored
    /// only if the field is merely assumed to be required.
    ///
    /// A code works only once. A tick is the user's consent to the text beside the checkbox; only the user may give that consent again.
    public static func keepable(_ answers: [String: String], fields: [Field]) -> [String: String] {
        let fleeting = Set(fields.filter { $0.kind == .code || $0.kind == .checkbox }.map(\.name))
        let names = Set(fields.map(\.name)).subtracting(fleeting)
        // The page does not say whether these fields may be empty, so leaving them empty is an answer.
        let left = Set(fields.filter(\.isAssumed).map(\.name))
        return answers.filter { names.contains($0.key) && (!$0.value.isEmpty || left.contains($0.key)) }
    }
}
