import ForeignText

/// A portal that asks for a login. Credentials are released for a portal, never for a network's name alone.
public struct Portal: Codable, Hashable, Sendable {
    /// `scheme://host[:port]`, after the redirects; see ``Origin``.
    public var origin: String
    /// SHA-256 of the certificate's public key, base64; absent over plain HTTP.
    public var pin: String?
    /// Protocol or vendor word, such as `wispr` or `form`.
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

        /// Whether an answer is never shown again once it is typed, and never a default.
        public var isSecret: Bool { self == .password || self == .code }
        /// Whether the answer is typed without echo. A code is read from paper or a telephone, and used once.
        public var isHidden: Bool { self == .password }
    }

    /// The answers to a checkbox. They tell nothing about the user.
    public static let tickWords: Set<String> = ["yes", "no", "true", "false"]

    /// The key of the answer.
    public var name: String
    /// The text that the user reads.
    public var label: String
    public var kind: Kind
    /// Whether an empty answer is refused.
    public var required: Bool
    /// Whether the helper only assumes that an answer is required, because the page does not say so: the user may then leave it
    /// empty.
    public var assumed: Bool?
    /// The choices, for a field of the kind `choice`.
    public var choices: [String]?
    /// The initial value.
    public var value: String?

    /// Returns the label in the form in which it is compared with an earlier visit's: without case, and with single spaces.
    public static func folded(_ label: String) -> String {
        label.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
    }

    /// Returns whether two labels may belong to the same field: a page that refuses an answer may have added words to the label.
    public static func isAlike(_ one: String, _ other: String) -> Bool {
        let (one, other) = (folded(one), folded(other))
        return one.hasPrefix(other) || one.hasSuffix(other) || other.hasPrefix(one) || other.hasSuffix(one)
    }

    /// Whether the answer may be left empty, if the user says so.
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
    /// Whether the earlier answers, or a button, were sent, and the portal shows the same page without an error: they may still
    /// open the network.
    public var mayOpen: Bool?

    public init(title: String, message: String? = nil, fields: [Field] = [], termsURL: String? = nil, terms: String? = nil) {
        self.title = title
        self.message = message
        self.fields = fields
        self.termsURL = termsURL
        self.terms = terms
    }

    /// Whether the prompt asks for nothing: the login happens elsewhere, for example in a browser.
    public var handsOver: Bool { fields.isEmpty && terms == nil && termsURL == nil }
}

/// A running session, as its helper describes it.
public struct Session: Codable, Hashable, Sendable {
    /// The time until the portal ends it.
    public var secondsRemaining: Int?
    /// The amount of data until the portal ends it.
    public var bytesRemaining: Int?
    /// Whether the session can be extended before it ends.
    public var canExtend: Bool?
    /// The address of the venue's page.
    public var venueURL: String?
    /// Seconds until the next Maintain, for a portal whose page must stay open; `nil` for the usual interval.
    public var maintainAfter: Int?
    /// Data that the daemon keeps for this network and returns in the next command; at most 16 KiB.
    public var memory: JSONValue?

    /// The largest plausible values: ten years in seconds, and a petabyte in octets.
    public static let (secondsLimit, bytesLimit) = (315_360_000, 1_000_000_000_000_000)

    /// Returns a plausible amount as it is, and `nil` for any other.
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
    /// The security of the network; `nil` for every network of this name.
    public var security: Security?
    /// The confidence: low or high.
    public var confidence: Confidence
    /// The password; required for a secured network, otherwise the annotation is not shown.
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
    /// The prompt, with the result uiRequired.
    public var prompt: Prompt?
    /// The portal as it is now.
    public var portal: Portal?
    /// The session as it is now.
    public var session: Session?
    /// One sentence for the user.
    public var reason: String?
    /// The beginning of a reason that has the words of the portal's answer.
    public static let portalAnswered = "The portal answered: "
    /// The steps taken, with secrets masked.
    public var trace: [String]?
    /// The names of answers that the login did not need, so that they were not sent.
    public var unsent: [String]?
    /// The names of answers that the portal refused before it accepted others.
    public var refused: [String]?
    /// The company whose account the portal asks for without belonging to it; the user is warned.
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
    /// The session, which the daemon returns with Authenticate.
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

/// Something that the user should know, with the command that helps, if there is one: `Problem` of org.hotspotd.Control.
public struct Problem: Codable, Hashable, Sendable {
    /// The stable word.
    public var code: ProblemCode
    /// One sentence.
    public var message: String
    /// The command that helps.
    public var hint: String?

    /// A problem.
    public init(_ code: ProblemCode, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// In a hint it stands for the network, if the part that reports the problem does not know the network's name.
    private static let placeholder = " SSID"

    /// Returns the problem with this network in its hint; without the hint if the network has no name that a command accepts.
    public func naming(_ network: String?) -> Problem {
        guard let hint, hint.hasSuffix(Self.placeholder) else { return self }
        let argument = network.flatMap(ShellWord.argument)
        return Problem(code, message, hint: argument.map { "\(hint.dropLast(Self.placeholder.count)) \($0)" })
    }
}
