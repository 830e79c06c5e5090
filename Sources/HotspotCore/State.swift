/// The eight states of an interface. The words are those of the control interface.
public enum StateName: String, Codable, Hashable, Sendable, CaseIterable {
    case inactive, evaluating, authenticating, presentingUI, authenticated, maintaining, loggingOff, failure
}

/// The result of an attempt, in the words of the journal.
public enum AttemptOutcome: String, Codable, Hashable, Sendable, CaseIterable {
    /// A helper freed the network, or kept it free.
    case online
    /// The network is free, and no helper claimed it.
    case open
    /// A portal was there, and the network is open without a helper's login.
    case opened
    /// It was open when the daemon started, and how it was opened is not known.
    case found
    /// No helper claimed it, and it is not known whether it is free.
    case unknown
    /// Captive, and no helper claimed it.
    case unclaimedCaptive
    /// A login failed that may work later.
    case temporaryFailure
    /// A login failed that will not work later.
    case failure
    /// The session could not be kept.
    case expired
    /// The network was left.
    case left
    /// Ended on request.
    case loggedOff
    /// The user did not want to be asked.
    case dismissed
    /// Another attempt took over.
    case superseded
}

/// One step of an attempt: the type `Step` of org.hotspotd.Control.
public struct Step: Codable, Hashable, Sendable {
    /// Milliseconds since the attempt began.
    public var at: Int
    /// Unix time in milliseconds.
    public var time: Int?
    /// The attempt that the step belongs to.
    public var attempt: String?
    /// Only in a transition.
    public var from: String?
    /// Only in a transition.
    public var to: String?
    /// Stable word: `transition`, `command`, `answer`, `verdict`, `prompt`, `deadline`, `problem`, `trace`.
    public var kind: String
    public var helper: String?
    /// One sentence.
    public var detail: String

    public init(
        at: Int, time: Int? = nil, attempt: String? = nil, from: StateName? = nil, to: StateName? = nil, kind: String,
        helper: String? = nil, detail: String
    ) {
        self.at = at
        self.time = time
        self.attempt = attempt
        self.from = from?.rawValue
        self.to = to?.rawValue
        self.kind = kind
        self.helper = helper
        self.detail = detail
    }
}
