import HotspotCore

/// An event, in the past tense.
public enum Event: Hashable, Sendable {
    /// The link has an address and can be used.
    case addressAcquired(Arrival)
    /// The address is gone, or the station left, or it joined another network.
    case addressLost
    /// Another access point of the same network, address kept (D15).
    case roamed(HardwareAddress)
    /// Helpers came, went, were switched on or off, or quarantined: those that may be asked about this network.
    case helpersChanged([Candidate])
    /// A helper answered, or died.
    case answered(CommandID, CommandAnswer)
    /// The prober answered; `nil` if it is missing or died. With a portal, the place that the network led to.
    case verdictReached(ProbeID, Verdict?, secondsRemaining: Int? = nil, place: String? = nil)
    /// A verdict that the machine did not ask for, of `hotspotctl check` for example.
    case verdictSeen(Verdict, place: String? = nil)
    case timerFired(TimerID)
    case promptAnswered(PromptID)
    /// The user does not want to be asked on this network.
    case promptDismissed(PromptID)
    /// The user wants to be logged in, perhaps by this helper; fresh: also where the session is still good (D26).
    case loginRequested(helper: String?, fresh: Bool = false)
    /// The session is to end.
    case logoffRequested(by: Requester)
    /// The reason to leave the network alone is over: it or its helper was switched on, the portal's API became known, or the user is back.
    case restEnded
    /// The link could not be ended after all.
    case disassociationRefused
}

/// Where a logoff comes from (D17).
public enum Requester: Hashable, Sendable {
    case user
    case helper(String)
}

/// The answer to a command, or what came instead of one.
public enum CommandAnswer: Hashable, Sendable {
    /// To evaluate.
    case evaluated(Confidence)
    /// To authenticate, presentUI, maintain and logoff.
    ///
    /// - Parameter maintainAfter: seconds until the helper wants to maintain the session.
    case replied(
        HelperResult, prompt: Prompt? = nil, secondsRemaining: Int? = nil, maintainAfter: Int? = nil, reason: String? = nil)
    /// The helper ended, or its connection did, before it answered.
    case crashed
    /// The helper was never asked, because its process could not be started for lack of resources. It counts as none, or as a temporary
    /// failure, and neither strikes nor acquits: the helper is not to blame.
    case notStarted(reason: String)
    /// Something came in time that is no answer of the contract: it counts as none or failure, and neither strikes nor acquits (D7).
    case garbled(reason: String?)
}

/// A join: what is known of the network when its link has an address.
public struct Arrival: Hashable, Sendable {
    public var network: NetworkID
    /// The access point, or the gateway of a wire.
    public var bssid: HardwareAddress?
    /// The helper that freed it last time (D5).
    public var remembered: String?
    /// The marks of the helpers that could have been chosen in its place; `nil` if they are not known.
    public var contenders: Set<String>?
    /// The daemon was restarted in this association, in which that helper kept the network free; with the session's deadlines.
    public var resumed: MaintainSchedule?
    /// The deadlines of the session of the last visit, which may go on.
    public var session: MaintainSchedule
    /// A login before that restart, or before the link was lost, that was not proven (D25).
    public var late: LateLogin?
    /// The link was up before the daemon, which does not know how this network was opened.
    public var wasUpBefore: Bool
    /// A portal was there at the last visit.
    public var hadPortal: Bool
    /// Nothing starts until the user asks for it (D13, D14).
    public var hold: Hold?
    /// Joined by the system (D22).
    public var autoJoined: Bool
    /// The link can be ended: it is a radio (D19).
    public var canDisassociate: Bool

    public init(
        network: NetworkID, bssid: HardwareAddress? = nil, remembered: String? = nil, contenders: Set<String>? = nil,
        resumed: MaintainSchedule? = nil, session: MaintainSchedule = MaintainSchedule(), late: LateLogin? = nil,
        wasUpBefore: Bool = false, hadPortal: Bool = false, hold: Hold? = nil,
        autoJoined: Bool = true,
        canDisassociate: Bool = false
    ) {
        self.network = network
        self.bssid = bssid
        self.remembered = remembered
        self.contenders = contenders
        self.resumed = resumed
        self.session = session
        self.late = late
        self.wasUpBefore = wasUpBefore
        self.hadPortal = hadPortal
        self.hold = hold
        self.autoJoined = autoJoined
        self.canDisassociate = canDisassociate
    }
}

/// A helper's login that was not proven before the daemon was restarted, or the link was lost.
public struct LateLogin: Hashable, Sendable {
    /// `nil` after a restart.
    public var id: LoginID?
    public var helper: String
    /// The end of D25's time.
    public var end: Instant
    public var schedule: MaintainSchedule

    public init(id: LoginID? = nil, helper: String, end: Instant, schedule: MaintainSchedule = MaintainSchedule()) {
        self.id = id
        self.helper = helper
        self.end = end
        self.schedule = schedule
    }
}

/// A helper that may be asked about the network at hand.
public struct Candidate: Hashable, Sendable {
    public var name: String
    /// Higher wins among lows (D8).
    public var priority: Int
    /// Asked, not waited for (D7).
    public var isQuarantined: Bool
    /// Another number after each change of its file, or of what it reads.
    public var edition: Int
    /// Its name and edition, as a stored choice records them.
    public var mark: String { edition == 0 ? name : "\(name) \(edition)" }
    /// Taken only where no other helper claims the network, one that failed before included.
    var isLastResort: Bool { priority == 0 }

    public init(_ name: String, priority: Int = 50, isQuarantined: Bool = false, edition: Int = 0) {
        self.name = name
        self.priority = priority
        self.isQuarantined = isQuarantined
        self.edition = edition
    }
}

/// An earlier order that nothing starts on a network.
public struct Hold: Hashable, Sendable {
    public var reason: HoldReason
    /// `nil`: until the user asks.
    public var until: Instant?
    /// Its cause, one sentence.
    public var cause: String?

    public init(_ reason: HoldReason, until: Instant? = nil, cause: String? = nil) {
        self.reason = reason
        self.until = until
        self.cause = cause
    }
}

/// Why a network is held.
public enum HoldReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// The session was ended on request (D13).
    case loggedOff
    /// The user does not want to be asked (D21).
    case dismissed
    /// A helper failed permanently (D14).
    case autoJoinOff
    /// The user switched handling off for this name.
    case disabled
}
