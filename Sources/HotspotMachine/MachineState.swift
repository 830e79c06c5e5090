import HotspotCore

/// The state with exactly its data.
public enum MachineState: Hashable, Sendable {
    case inactive(Inactive)
    case evaluating(Evaluating)
    case authenticating(Authenticating)
    case presentingUI(PresentingUI)
    case authenticated(Authenticated)
    case maintaining(Maintaining)
    case loggingOff(LoggingOff)
    case failure(Failed)

    /// The word.
    public var name: StateName {
        switch self {
        case .inactive: .inactive
        case .evaluating: .evaluating
        case .authenticating: .authenticating
        case .presentingUI: .presentingUI
        case .authenticated: .authenticated
        case .maintaining: .maintaining
        case .loggingOff: .loggingOff
        case .failure: .failure
        }
    }
}

/// What is known from the address on until it is lost.
public struct Association: Hashable, Sendable {
    /// How it began; the access point may change.
    public var arrival: Arrival
    /// The attempt that runs or ended last.
    public var attempt: AttemptID?
    /// The attempt has not come to an outcome yet.
    public var attemptIsOpen = false
    /// Refused by answering unsupportedNetwork, or by D11; asked again after the next join.
    public var excluded: Set<String> = []
    /// Wins since the last failed maintain of a helper, whoever won in between (D11).
    public var winsAfterFailedMaintain: [String: Int] = [:]
    /// Logins of a helper that failed temporarily, since a session of it lasted (D24).
    public var setbacks: [String: Int] = [:]
    /// Temporary failures in a row, whoever's (D19).
    public var temporaryFailures = 0
    /// How soon it may log in again by itself (D23).
    public var pace = Pace()
    /// What the prober said last.
    public var lastVerdict: Verdict?

    init(_ arrival: Arrival) { self.arrival = arrival }
}

/// Nothing runs.
public enum Inactive: Hashable, Sendable {
    /// There is no address.
    case noAddress
    /// There is one, and handling rests until somebody asks (D13, D14, D21).
    case held(Association, HoldReason, timer: Deadline?)
    /// The link was asked to end, and has not yet. If it is still there when the timer fires, it counts as one that cannot be ended.
    case leaving(Association, otherwise: Fallback, timer: Deadline)

    /// What becomes of a link that could not be ended after all.
    public enum Fallback: Hashable, Sendable {
        /// It is held in inactive.
        case hold(HoldReason)
        /// It rests in failure, and is perhaps tried again.
        case rest(retryAfter: Duration?)
    }
}

/// A timer that runs, and when it is due.
public struct Deadline: Hashable, Sendable {
    /// The timer.
    public let id: TimerID
    /// Its instant.
    public let at: Instant
}

/// A command that runs.
public struct Pending: Hashable, Sendable {
    /// The command.
    public let id: CommandID
    /// Until when.
    public let deadline: Deadline
}

/// A question to the prober that runs.
public struct Probing: Hashable, Sendable {
    /// The question.
    public let id: ProbeID
    /// Until when.
    public let deadline: Deadline
}

/// What the prober has to say, or will have.
public enum Opinion: Hashable, Sendable {
    case asked(Probing)
    /// `nil`: the prober is missing or died.
    case known(Verdict?, secondsRemaining: Int?)

    /// The question that runs.
    public var probing: Probing? { if case .asked(let probing) = self { probing } else { nil } }
}

/// The candidates are asked, all at once.
public struct Evaluating: Hashable, Sendable {
    var association: Association
    var race: Race
    var deadline: Deadline
    var grace: Deadline?
    var opinion: Opinion
    /// The race is over without a winner; the verdict decides.
    var awaitsVerdict = false
}

/// One helper frees the network, and the prober proves it.
public struct Authenticating: Hashable, Sendable {
    var association: Association
    var helper: String
    var phase: Phase

    enum Phase: Hashable, Sendable {
        /// It was here a moment ago: the command waits its time (D23), and somebody else may free the network meanwhile.
        case pausing(Deadline, Watch)
        case commanding(Pending)
        case proving(Proof)
    }
}

/// The user is asked, then the helper goes on, and the prober proves it.
public struct PresentingUI: Hashable, Sendable {
    var association: Association
    var helper: String
    var promptID: PromptID
    var prompt: Prompt
    /// Further questions that were asked in a row (D2).
    var further = 0
    /// Deadlines and deaths of the command in a row (D21).
    var mishaps = 0
    var phase: Phase

    enum Phase: Hashable, Sendable {
        /// For the user, without a deadline.
        case waiting(Watch)
        case commanding(Pending)
        case proving(Proof)
    }
}

/// The network is free.
public struct Authenticated: Hashable, Sendable {
    var association: Association
    var claim: Claim

    enum Claim: Hashable, Sendable {
        /// A helper freed it and is asked again at the deadline.
        case helper(String, maintain: Deadline, schedule: MaintainSchedule)
        /// Nobody claimed it; the prober looks now and then (D9).
        case nobody(recheck: Recheck)
    }
}

/// The prober's looks at an unclaimed network.
public struct Recheck: Hashable, Sendable {
    var interval: Duration
    var phase: Phase

    enum Phase: Hashable, Sendable {
        case waiting(Deadline)
        case looking(Probing)
    }

    var probing: Probing? { if case .looking(let probing) = phase { probing } else { nil } }
}

/// The chosen helper is asked whether the session is still good.
public struct Maintaining: Hashable, Sendable {
    var association: Association
    var helper: String
    /// On joining, with the gate closed; else from the timer, with the gate open.
    var isJoin: Bool
    var phase: Phase
    var opinion: Opinion
    var schedule: MaintainSchedule
    /// Somebody wants the session to end after the answer (D17).
    var logoffQueued = false

    enum Phase: Hashable, Sendable {
        case commanding(Pending)
        /// The helper says yes; the verdict decides.
        case awaitingVerdict(secondsRemaining: Int?, isAskedAnew: Bool)
    }
}

/// The chosen helper ends the session.
public struct LoggingOff: Hashable, Sendable {
    var association: Association
    var helper: String
    var pending: Pending
}

/// It did not work; the link is kept (D19).
public struct Failed: Hashable, Sendable {
    var association: Association
    /// After a temporary failure: the next evaluation.
    var retry: Deadline?
    var watch: Watch
}

extension MachineState {
    /// A login runs: the helper works, the user is asked, or the prober proves it.
    var logsIn: Bool {
        switch self {
        case .authenticating(let state): if case .pausing = state.phase { false } else { true }
        case .presentingUI: true
        case .inactive, .evaluating, .authenticated, .maintaining, .loggingOff, .failure: false
        }
    }
}
