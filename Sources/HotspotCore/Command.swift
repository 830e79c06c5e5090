// This target: the types that all parts share: commands, networks, prompts, sessions, portals, problems.

/// A command of the machine to a helper. Raw values are Apple's (NEHotspotHelperCommandType).
public enum Command: Int, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    case filterScanList = 1
    case evaluate = 2
    case authenticate = 3
    case presentUI = 4
    case maintain = 5
    case logoff = 6

    /// The name in logs, in the journal and on the terminal.
    public var description: String {
        switch self {
        case .filterScanList: "filterScanList"
        case .evaluate: "evaluate"
        case .authenticate: "authenticate"
        case .presentUI: "presentUI"
        case .maintain: "maintain"
        case .logoff: "logoff"
        }
    }

    /// The method's full name, such as `org.hotspotd.Helper.Evaluate`.
    public var method: String {
        let word = description
        return "org.hotspotd.Helper." + word.prefix(1).uppercased() + word.dropFirst()
    }

    /// Reads ``description`` back.
    public init?(_ word: String) {
        guard let command = Self.allCases.first(where: { $0.description == word }) else { return nil }
        self = command
    }
}

/// The result of a command. Raw values are those of org.hotspotd.Helper; ``appleValue`` is Apple's number.
public enum HelperResult: String, Codable, Hashable, Sendable, CaseIterable {
    case success, failure, uiRequired, commandNotRecognized, authenticationRequired, unsupportedNetwork, temporaryFailure

    /// NEHotspotHelperResult.
    public var appleValue: Int { Self.allCases.firstIndex(of: self)! }
}

/// How sure a helper is that a network is captive and that it can log in there. Ordered.
public enum Confidence: String, Codable, Hashable, Sendable, CaseIterable, Comparable {
    case none, low, high

    /// NEHotspotHelperConfidence.
    public var appleValue: Int { Self.allCases.firstIndex(of: self)! }

    public static func < (a: Confidence, b: Confidence) -> Bool { a.appleValue < b.appleValue }
}

/// The result of a probe on a link.
public enum Verdict: String, Codable, Hashable, Sendable, CaseIterable {
    /// The Internet answers.
    case online
    /// Plain HTTP reaches the Internet, but HTTPS is broken or blocked. The network is not captive.
    case partial
    /// A portal answers in the Internet's place.
    case captive
    /// No answer came, or the answers allow no conclusion.
    case limited

    public var isOpen: Bool { self == .online || self == .partial }
}
