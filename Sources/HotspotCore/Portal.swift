import ForeignText

/// A portal that asks for a login. Stored credentials are sent only to a known portal; the network's name alone never suffices.
public struct Portal: Codable, Hashable, Sendable {
    /// `scheme://host[:port]`, after the redirects; see ``Origin``.
    public var origin: String
    /// SHA-256 of the certificate's public key, base64; absent over plain HTTP.
    public var pin: String?
    /// The protocol or the vendor, such as `wispr` or `form`.
    public var kind: String
    /// The page's own title.
    public var title: String?

    public init(origin: String, pin: String? = nil, kind: String, title: String? = nil) {
        self.origin = origin
        self.pin = pin
        self.kind = kind
        self.title = title
    }
}

/// One field of a prompt.
public struct Field: Codable, Hashable, Sendable {
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        case text, password, email, phone, code, checkbox, choice

        /// Whether an answer is never shown again after it is typed, and never becomes a default.
        public var isSecret: Bool { self == .password || self == .code }
        /// Whether the answer is typed without echo. A code is typed with echo, because it is read from paper or a telephone and used once.
        public var isHidden: Bool { self == .password }
    }

    /// The possible answers to a checkbox, which reveal nothing about the user.
    public static let tickWords: Set<String> = ["yes", "no", "true", "false"]

    /// The key of the answer.
    public var name: String
    /// The text that the user reads.
    public var label: String
    public var kind: Kind
    /// Whether the answer must not be empty.
    public var required: Bool
    /// Whether the helper only assumes that an answer is required, because the page does not say so: the user may then leave it
    /// empty.
    public var assumed: Bool?
    /// The choices, for a field of the kind `choice`.
    public var choices: [String]?
    /// The initial value.
    public var value: String?

    /// Returns the label in lower case and with single spaces, as it is compared with the label of an earlier visit.
    public static func folded(_ label: String) -> String {
        label.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
    }

    /// Returns whether two labels may belong to the same field: a page that refuses an answer may add words before or after the label.
    public static func isAlike(_ one: String, _ other: String) -> Bool {
        let (one, other) = (folded(one), folded(other))
        return one.hasPrefix(other) || one.hasSuffix(other) || other.hasPrefix(one) || other.hasSuffix(one)
    }

    /// Whether the user may leave the answer empty, after confirming that.
    public var mayBeEmpty: Bool { !required || isAssumed }

    /// Whether only the helper assumes that an answer is required.
    public var isAssumed: Bool { required && assumed == true }

    public init(
        name: String, label: String, kind: Kind, required: Bool, assumed: Bool? = nil, choices: [String]? = nil,
        value: String? = nil
    ) {
        self.name = name
        self.label = label
        self.kind = kind
        self.required = required
        self.assumed = assumed
        self.choices = choices
        self.value = value
    }
}

/// A helper's questions to the user.
public struct Prompt: Codable, Hashable, Sendable {
    public var title: String
    public var message: String?
    public var fields: [Field]
    /// The page with the terms.
    public var termsURL: String?
    /// The text of the terms, if it was on the page.
    public var terms: String?
    /// The names of earlier answers that were not sent, because the page now asks for something else.
    public var unsent: [String]?
    /// Whether the earlier answers, or a button, were sent, and the portal shows the same page without an error. The network may still open.
    public var mayOpen: Bool?

    public init(title: String, message: String? = nil, fields: [Field] = [], termsURL: String? = nil, terms: String? = nil) {
        self.title = title
        self.message = message
        self.fields = fields
        self.termsURL = termsURL
        self.terms = terms
    }

    /// Whether the prompt asks no questions, because the login happens elsewhere, for example in a browser.
    public var handsOver: Bool { fields.isEmpty && terms == nil && termsURL == nil }
}

/// A running session, as its helper describes it.
public struct Session: Codable, Hashable, Sendable {
    /// The seconds until the portal ends the session.
    public var secondsRemaining: Int?
    /// The octets until the portal ends the session.
    public var bytesRemaining: Int?
    /// Whether the session can be extended before it ends.
    public var canExtend: Bool?
    /// The address of the venue's page.
    public var venueURL: String?
    /// Seconds until the next Maintain, for a portal whose page must stay open; `nil` for the usual interval.
    public var maintainAfter: Int?
    /// Data that the daemon stores for this network and sends back to the helper with the next command; at most 16 KiB.
    public var memory: JSONValue?

    /// The largest plausible values: ten years in seconds, and a petabyte in octets.
    public static let (secondsLimit, bytesLimit) = (315_360_000, 1_000_000_000_000_000)

    /// Returns the amount if it is plausible, otherwise `nil`.
    public static func remaining(_ amount: Int?, upTo limit: Int) -> Int? {
        amount.flatMap { (0...limit).contains($0) ? $0 : nil }
    }

    /// The largest size of ``memory``, in octets of JSON.
    public static let memoryLimit = 16 * 1024

    public init(
        secondsRemaining: Int? = nil, bytesRemaining: Int? = nil, canExtend: Bool? = nil, venueURL: String? = nil,
        maintainAfter: Int? = nil, memory: JSONValue? = nil
    ) {
        self.secondsRemaining = secondsRemaining
        self.bytesRemaining = bytesRemaining
        self.canExtend = canExtend
        self.venueURL = venueURL
        self.maintainAfter = maintainAfter
        self.memory = memory
    }
}

/// A helper's claim on one network of the scan list.
public struct Annotation: Codable, Hashable, Sendable {
    public var ssidHex: String
    /// The security of the network; `nil` for all networks with this name.
    public var security: Security?
    /// The confidence: low or high.
    public var confidence: Confidence
    /// The password. For a secured network, an annotation without a password is not shown.
    public var password: String?

    public init(ssidHex: String, security: Security? = nil, confidence: Confidence, password: String? = nil) {
        self.ssidHex = ssidHex
        self.security = security
        self.confidence = confidence
        self.password = password
    }
}

/// A helper's answer to Authenticate, PresentUI, Maintain and Logoff.
public struct Reply: Codable, Hashable, Sendable {
    public var result: HelperResult
    /// The prompt, if the result is uiRequired.
    public var prompt: Prompt?
    /// The portal in its current state.
    public var portal: Portal?
    /// The session in its current state.
    public var session: Session?
    /// One sentence for the user.
    public var reason: String?
    /// The beginning of a reason that quotes the portal's answer.
    public static let portalAnswered = "The portal answered: "
    /// The steps of the login, with secrets masked.
    public var trace: [String]?
    /// The names of answers that were not sent, because the login did not need them.
    public var unsent: [String]?
    /// The names of answers that the portal refused before it accepted other answers.
    public var refused: [String]?
    /// The company that the portal imitates: the portal asks for an account of this company, but does not belong to it. The daemon warns the user.
    public var imitates: String?

    public init(
        _ result: HelperResult, prompt: Prompt? = nil, portal: Portal? = nil, session: Session? = nil, reason: String? = nil,
        trace: [String]? = nil
    ) {
        self.result = result
        self.prompt = prompt
        self.portal = portal
        self.session = session
        self.reason = reason
        self.trace = trace
    }
}

/// A helper's answer to Evaluate.
public struct Evaluation: Codable, Hashable, Sendable {
    public var confidence: Confidence
    public var portal: Portal?
    /// Names of the credential fields that Authenticate will need.
    public var needs: [String]?
    /// The session, which the daemon sends back to the helper with Authenticate.
    public var session: Session?
    /// One sentence for the journal.
    public var reason: String?

    public init(
        _ confidence: Confidence, portal: Portal? = nil, needs: [String]? = nil, session: Session? = nil, reason: String? = nil
    ) {
        self.confidence = confidence
        self.portal = portal
        self.needs = needs
        self.session = session
        self.reason = reason
    }
}

/// Something that the user should know, with the command that helps, if there is one. `Problem` of org.hotspotd.Control.
public struct Problem: Codable, Hashable, Sendable {
    /// A code that never changes.
    public var code: ProblemCode
    /// One sentence.
    public var message: String
    /// The command that helps.
    public var hint: String?

    public init(_ code: ProblemCode, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// A placeholder in a hint for the network's name, for parts that report a problem without knowing the name.
    private static let placeholder = " SSID"

    /// Returns the problem with this network's name in the hint, or without a hint if the name is not known or cannot be quoted for a shell.
    public func naming(_ network: String?) -> Problem {
        guard let hint, hint.hasSuffix(Self.placeholder) else { return self }
        let argument = network.flatMap(ShellWord.argument)
        return Problem(code, message, hint: argument.map { "\(hint.dropLast(Self.placeholder.count)) \($0)" })
    }
}
