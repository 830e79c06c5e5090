/// The eight states of an interface. The words are those of the control interface.
public enum StateName: String, Codable, Hashable, Sendable, CaseIterable {
    case inactive, evaluating, authenticating, presentingUI, authenticated, maintaining, loggingOff, failure
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
