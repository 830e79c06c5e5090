import HotspotCore

/// The choice that is remembered for a network.
public struct Remembered: Codable, Hashable, Sendable {
    /// How long a choice is remembered: 90 days, in milliseconds.
    public static let lifetime = 90 * 24 * 60 * 60 * 1000

    /// The helper that won.
    public var helper: String
    /// The portal that it logged in to.
    public var portal: Portal?
    /// Its session without the memory, which is kept sealed.
    public var session: Session?
    /// Unix time in milliseconds.
    public var committed: Int
    /// Unix time in milliseconds.
    public var expires: Int

    /// A choice; without `expires` it is remembered for ``lifetime``.
    public init(helper: String, portal: Portal? = nil, session: Session? = nil, committed: Int, expires: Int? = nil) {
        self.helper = helper
        self.portal = portal
        self.session = session
        self.committed = committed
        self.expires = expires ?? committed + Self.lifetime
    }
}

/// Why nothing is started on a network.
public struct StoredHold: Codable, Hashable, Sendable {
    /// What held it.
    public enum Reason: String, Codable, Hashable, Sendable, CaseIterable {
        case loggedOff, dismissed, autoJoinOff
    }

    /// What held it.
    public var reason: Reason
    /// Unix time in milliseconds at which the hold ends by itself; `nil`: never.
    public var until: Int?
    /// The helper that it came from.
    public var helper: String?
    /// One sentence for the user.
    public var sentence: String

    /// A hold.
    public init(reason: Reason, until: Int? = nil, helper: String? = nil, sentence: String) {
        self.reason = reason
        self.until = until
        self.helper = helper
        self.sentence = sentence
    }
}

/// How the last visit to a network ended.
public struct StoredOutcome: Codable, Hashable, Sendable {
    /// Stable word.
    public var word: String
    /// Unix time in milliseconds.
    public var time: Int

    /// An outcome.
    public init(word: String, time: Int) {
        self.word = word
        self.time = time
    }
}
