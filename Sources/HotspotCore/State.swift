/// The eight states of an interface. The raw values are those of the control interface.
public enum StateName: String, Codable, Hashable, Sendable, CaseIterable {
    case inactive, evaluating, authenticating, presentingUI, authenticated, maintaining, loggingOff, failure
}

/// The result of an attempt. The journal stores the raw values.
public enum AttemptOutcome: String, Codable, Hashable, Sendable, CaseIterable {
    /// A helper logged in, or kept the session.
    case online
    /// The network is open, and no helper claimed it.
    case open
    /// The network was captive, and opened without a helper's login.
    case opened
    /// The network was open when the daemon started; how it was opened is not known.
    case found
    /// No helper claimed the network, and it is not known whether the network is open.
    case unknown
    /// The network is captive, and no helper claimed it.
    case unclaimedCaptive
    /// A login failed, but a later attempt may succeed.
    case temporaryFailure
    /// A login failed, and a later attempt would fail too.
    case failure
    /// The session could not be continued.
    case expired
    /// The network was left.
    case left
    /// The user ended the session.
    case loggedOff
    /// The user dismissed the question.
    case dismissed
    /// Another attempt replaced this one.
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
    /// The state that a transition leaves; absent in other steps.
    public var from: String?
    /// The state that a transition enters; absent in other steps.
    public var to: String?
    /// The kind of the step, such as `transition`, `command`, `answer`, `verdict`, `prompt`, `deadline`, `problem` or `trace`.
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
