import HotspotCore

/// An event, in the past tense.
public enum Event: Hashable, Sendable {
    /// The link has an address and can be used.
    case addressAcquired(Arrival)
    /// The address is gone: the station left, or joined another network.
    case addressLost
    /// The station moved to another access point of the same network and kept its address (D15).
    case roamed(HardwareAddress)
    /// The helpers that may be asked about this network have changed: a helper appeared, disappeared, or was switched on or off or quarantined.
    case helpersChanged([Candidate])
    /// A helper answered, or died.
    case answered(CommandID, CommandAnswer)
    /// The prober answered; the verdict is `nil` if the prober is missing or died. `place` identifies the portal of a captive network.
    case verdictReached(ProbeID, Verdict?, secondsRemaining: Int? = nil, place: String? = nil)
    /// A verdict that the machine did not request, for example from `hotspotctl check`.
    case verdictSeen(Verdict, place: String? = nil)
    case timerFired(TimerID)
    case promptAnswered(PromptID)
    /// The user does not want to answer this network's questions.
    case promptDismissed(PromptID)
    /// The user wants to be logged in, perhaps by this helper; with `fresh`, even if the session is still valid (D26).
    case loginRequested(helper: String?, fresh: Bool = false)
    /// The user or the helper wants to end the session.
    case logoffRequested(by: Requester)
    /// The reason to leave the network alone no longer applies: the network or its helper was switched on, the portal's API became known, or the user
    /// is back.
    case restEnded
    /// The link could not be ended.
    case disassociationRefused
}

/// The source of a request to log off (D17).
public enum Requester: Hashable, Sendable {
    case user
    case helper(String)
}

/// The answer to a command, or the reason why there is none.
public enum CommandAnswer: Hashable, Sendable {
    /// The answer to Evaluate.
    case evaluated(Confidence)
    /// The answer to Authenticate, PresentUI, Maintain or Logoff.
    ///
    /// - Parameter maintainAfter: seconds until the helper wants to maintain the session.
    case replied(
        HelperResult, prompt: Prompt? = nil, secondsRemaining: Int? = nil, maintainAfter: Int? = nil, reason: String? = nil)
    /// The helper or its connection ended before an answer, or the answer to Evaluate could not be read.
    case crashed
    /// The helper was never asked: its process could not be started for lack of resources. This counts as no claim, or as a temporary failure. It
    /// neither causes nor forgives strikes, because the helper is not to blame.
    case notStarted(reason: String)
    /// An answer came in time but does not follow the contract. It counts as no claim or as a failure, and neither causes nor forgives strikes (D7).
    case garbled(reason: String?)
}

/// A join: the facts that are known when the link gets its address.
public struct Arrival: Hashable, Sendable {
    public var network: NetworkID
    /// The access point, or the gateway of a wired network.
    public var bssid: HardwareAddress?
    /// The helper that logged in to this network last time (D5).
    public var remembered: String?
    /// The names and editions of all candidates when the remembered helper was chosen; `nil` if they are not known.
    public var contenders: Set<String>?
    /// The session's deadlines, if the daemon was restarted while the remembered helper kept this association open.
    public var resumed: MaintainSchedule?
    /// The deadlines of the last visit's session, which may continue.
    public var session: MaintainSchedule
    /// A login that was not proven before the daemon was restarted or the link was lost (D25).
    public var late: LateLogin?
    /// Whether the link was up before the daemon started, so that the daemon cannot know how the network was opened.
    public var wasUpBefore: Bool
    /// Whether the network had a portal at the last visit.
    public var hadPortal: Bool
    /// The hold under which nothing starts until the user asks for a login (D13, D14).
    public var hold: Hold?
    /// Whether the system joined the network without the user (D22).
    public var autoJoined: Bool
    /// Whether the link can be ended, because it is a radio (D19).
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

/// A helper's login that was not proven before the daemon restarted or the link was lost.
public struct LateLogin: Hashable, Sendable {
    /// The login; `nil` after a restart.
    public var id: LoginID?
    public var helper: String
    /// The end of the time for a late success (D25).
    public var end: Instant
    public var schedule: MaintainSchedule

    public init(id: LoginID? = nil, helper: String, end: Instant, schedule: MaintainSchedule = MaintainSchedule()) {
        self.id = id
        self.helper = helper
        self.end = end
        self.schedule = schedule
    }
}

/// A helper that may be asked about the current network.
public struct Candidate: Hashable, Sendable {
    public var name: String
    /// The priority; among low claims, the highest wins (D8).
    public var priority: Int
    /// Whether the helper is quarantined: hotspotd asks it, but does not wait for it (D7).
    public var isQuarantined: Bool
    /// A number that changes with each change of the helper's file, or of a file that the helper reads.
    public var edition: Int
    /// The helper's name and edition, as the store keeps them with a chosen helper.
    public var mark: String { edition == 0 ? name : "\(name) \(edition)" }
    /// Whether the helper is chosen only if no other helper claims the network, not even a helper that failed before.
    var isLastResort: Bool { priority == 0 }

    public init(_ name: String, priority: Int = 50, isQuarantined: Bool = false, edition: Int = 0) {
        self.name = name
        self.priority = priority
        self.isQuarantined = isQuarantined
        self.edition = edition
    }
}

/// An earlier decision to start nothing on a network.
public struct Hold: Hashable, Sendable {
    public var reason: HoldReason
    /// The end of the hold; `nil` if it lasts until the user asks for a login.
    public var until: Instant?
    /// The cause of the hold, one sentence.
    public var cause: String?

    public init(_ reason: HoldReason, until: Instant? = nil, cause: String? = nil) {
        self.reason = reason
        self.until = until
        self.cause = cause
    }
}

/// The reason why a network is held.
public enum HoldReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// The session was ended on request (D13).
    case loggedOff
    /// The user does not want to be asked (D21).
    case dismissed
    /// A helper failed permanently (D14).
    case autoJoinOff
    /// The user switched hotspotd off for this network's name.
    case disabled
}
