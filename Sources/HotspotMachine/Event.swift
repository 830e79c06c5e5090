import HotspotCore

/// What the machine is told. Past tense: it has happened.
public enum Event: Hashable, Sendable {
    /// The link has an address: one can speak on it.
    case addressAcquired(Arrival)
    /// The address is gone, or the station left, or it joined another network.
    case addressLost
    /// Another access point of the same network, address kept (D15).
    case roamed(HardwareAddress)
    /// Helpers came, went, were switched on or off, or quarantined: those that may hear of this network.
    case helpersChanged([Candidate])
    /// A helper answered, or died.
    case answered(CommandID, CommandAnswer)
    /// The prober answered; `nil` if it is missing or died.
    case verdictReached(ProbeID, Verdict?, secondsRemaining: Int? = nil)
    /// A verdict that somebody else asked for.
    case verdictSeen(Verdict)
    /// A timer's instant came.
    case timerFired(TimerID)
    /// The user answered.
    case promptAnswered(PromptID)
    /// The user does not want to be asked in this association.
    case promptDismissed(PromptID)
    /// The user wants to be logged in, perhaps by this helper.
    case loginRequested(helper: String?)
    /// Somebody wants the session to end.
    case logoffRequested(by: Requester)
    /// The user switched the network on again.
    case released
    /// The link could not be ended after all.
    case disassociationRefused
}

/// Who wants a session to end (D17).
public enum Requester: Hashable, Sendable {
    case user
    case helper(String)
}

/// What came back for a command.
public enum CommandAnswer: Hashable, Sendable {
    /// To evaluate.
    case evaluated(Confidence)
    /// To authenticate, presentUI, maintain and logoff.
    case replied(HelperResult, prompt: Prompt? = nil, secondsRemaining: Int? = nil, reason: String? = nil)
    /// The helper ended, or its connection did, before a word.
    case crashed
    /// The helper was never asked: the machine had no room for its process, for this reason. It counts as none, or as a temporary
    /// failure, and neither strikes nor acquits: the helper had no part in it.
    case notStarted(reason: String)
    /// Something came in time that is no answer of the contract: it counts as none or failure, and neither strikes nor acquits (D7).
    case garbled(reason: String?)
}

/// A join: what is known of the network when its link has an address.
public struct Arrival: Hashable, Sendable {
    /// What makes it this network.
    public var network: NetworkID
    /// The access point, or the gateway of a wire.
    public var bssid: HardwareAddress?
    /// The helper that freed it last time (D5).
    public var remembered: String?
    /// Handling rests until somebody asks for it (D13, D14).
    public var hold: Hold?
    /// Joined by the system (D22).
    public var autoJoined: Bool
    /// The link can be ended by us: a radio, CAP_NET_ADMIN, and no other manager that owns the association (D19).
    public var canDisassociate: Bool

    /// A join.
    public init(
        network: NetworkID, bssid: HardwareAddress? = nil, remembered: String? = nil, hold: Hold? = nil,
        autoJoined: Bool = true, canDisassociate: Bool = false
    ) {
        self.network = network
        self.bssid = bssid
        self.remembered = remembered
        self.hold = hold
        self.autoJoined = autoJoined
        self.canDisassociate = canDisassociate
    }
}

/// A helper that may be asked about the network at hand.
public struct Candidate: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Higher wins among lows (D8).
    public var priority: Int
    /// Asked, not waited for (D7).
    public var isQuarantined: Bool

    /// A candidate.
    public init(_ name: String, priority: Int = 50, isQuarantined: Bool = false) {
        self.name = name
        self.priority = priority
        self.isQuarantined = isQuarantined
    }
}

/// A rest that was ordered earlier.
public struct Hold: Hashable, Sendable {
    /// Why.
    public var reason: HoldReason
    /// Until when; `nil` until somebody asks.
    public var until: Instant?
    /// What brought it about, one sentence.
    public var cause: String?

    /// A rest.
    public init(_ reason: HoldReason, until: Instant? = nil, cause: String? = nil) {
        self.reason = reason
        self.until = until
        self.cause = cause
    }
}

/// Why handling of a network rests.
public enum HoldReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// The session was ended on request (D13).
    case loggedOff
    /// The user does not want to be asked (D21).
    case dismissed
    /// A helper failed for good (D14).
    case autoJoinOff
    /// The user switched handling off for this name.
    case disabled
}
