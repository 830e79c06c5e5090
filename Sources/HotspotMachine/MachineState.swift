import HotspotCore

/// The state, with only the data that it needs.
public enum MachineState: Hashable, Sendable {
    case inactive(Inactive)
    case evaluating(Evaluating)
    case authenticating(Authenticating)
    case presentingUI(PresentingUI)
    case authenticated(Authenticated)
    case maintaining(Maintaining)
    case loggingOff(LoggingOff)
    case failure(Failed)

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

/// The data of a state, or a part of it.
protocol StateData {}

extension StateData {
    /// Returns a copy with a change.
    func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}

/// No helper is asked.
public enum Inactive: Hashable, Sendable {
    case noAddress
    /// There is an address, but nothing starts until the user asks for a login, or the timer fires (D13, D14, D21).
    case held(JoinedNetwork, HoldReason, timer: RunningTimer?)
    /// hotspotd has asked to end the link. If the link still exists when the timer fires, it counts as a link that cannot be ended.
    case leaving(JoinedNetwork, otherwise: Fallback, timer: RunningTimer)

    /// The next state if the link cannot be ended.
    public enum Fallback: Hashable, Sendable {
        case hold(HoldReason)
        /// The link rests in `failure`.
        case rest(retryAfter: Duration?)
    }
}

/// All candidates are asked at the same time.
public struct Evaluating: Hashable, Sendable, StateData {
    var joined: JoinedNetwork
    package var race: Race
    var deadline: RunningTimer
    var grace: RunningTimer?
    package var verdict: LatestVerdict
    /// Whether the race ended without a winner, so that the verdict decides.
    package var awaitsVerdict = false
}

/// One helper logs in, and then the prober proves the login.
public struct Authenticating: Hashable, Sendable, StateData {
    var joined: JoinedNetwork
    var helper: String
    package var phase: LoginPhase

    package enum LoginPhase: Hashable, Sendable {
        /// The last login was a moment ago: the command waits for the timer (D23). Meanwhile the network may open by itself.
        case pausing(RunningTimer, Watch)
        case commanding(RunningCommand)
        case proving(Proof)
    }
}

/// The user is asked, then the helper continues, and then the prober proves the login.
public struct PresentingUI: Hashable, Sendable, StateData {
    var joined: JoinedNetwork
    var helper: String
    var promptID: PromptID
    var prompt: Prompt
    /// The number of further prompts in a row (D2).
    package var further = 0
    /// The number of commands in a row that missed their deadline or crashed (D21).
    package var failedTries = 0
    package var phase: PromptPhase

    package enum PromptPhase: Hashable, Sendable {
        /// The state waits for the user, without a deadline.
        case waiting(Watch)
        case commanding(RunningCommand)
        /// The network opened during a hand-over: the helper is asked whether its login opened it (D30).
        case confirming(RunningCommand)
        case proving(Proof)
    }
}

/// Ordinary traffic may use the network.
public struct Authenticated: Hashable, Sendable, StateData {
    package var joined: JoinedNetwork
    package var upkeep: Upkeep

    package enum Upkeep: Hashable, Sendable {
        /// A helper logged in, and gets Maintain when the timer fires.
        case claimed(by: String, maintain: RunningTimer, MaintainSchedule)
        /// The prober probes now and then (D9).
        case unclaimed(Watch)
    }
}

/// The chosen helper is asked whether the session is still valid.
public struct Maintaining: Hashable, Sendable, StateData {
    var joined: JoinedNetwork
    var helper: String
    /// Whether the gate is closed, because Maintain follows a join or a hold. If a timer began it, the gate is open.
    package var startsClosed: Bool
    package var phase: MaintainPhase
    package var verdict: LatestVerdict
    var schedule: MaintainSchedule
    /// Whether to end the session after the answer (D17).
    package var logoffQueued = false

    package enum MaintainPhase: Hashable, Sendable {
        case commanding(RunningCommand)
        /// The helper confirms the session; the verdict decides.
        case awaitingVerdict(secondsRemaining: Int?, isSecondProbe: Bool)
    }
}

/// The chosen helper ends the session, and the prober checks whether the portal is back.
public struct LoggingOff: Hashable, Sendable, StateData {
    var joined: JoinedNetwork
    var helper: String
    package var phase: LogoffPhase
    package var sequel = Sequel.rest

    package enum LogoffPhase: Hashable, Sendable {
        case commanding(RunningCommand)
        /// The prober checks whether the session has ended; `otherwise` is the result if no probe shows its end.
        case proving(Proof, otherwise: LogoffResult)
    }

    /// The step after the answer to a logoff.
    package enum Sequel: Hashable, Sendable {
        /// Hold the network, or end the link.
        case rest
        /// Log in again, because the user has asked for that meanwhile.
        case login(by: String?)
    }
}

/// The login failed; the link is kept (D19).
public struct Failed: Hashable, Sendable, StateData {
    var joined: JoinedNetwork
    /// The timer of the next evaluation, after a temporary failure.
    package var retry: RunningTimer?
    package var watch: Watch
}

extension MachineState {
    /// Whether ordinary traffic may use the link: in authenticated, in a Maintain that a timer began (T46), and until a logoff has ended.
    public var gateIsOpen: Bool {
        switch self {
        case .authenticated, .loggingOff: true
        case .maintaining(let maintaining): !maintaining.startsClosed
        case .inactive, .evaluating, .authenticating, .presentingUI, .failure: false
        }
    }

    /// Whether a login is running: the helper works, the user is asked, or the prober proves the login.
    var logsIn: Bool {
        switch self {
        case .authenticating(let state): if case .pausing = state.phase { false } else { true }
        case .presentingUI: true
        case .inactive, .evaluating, .authenticated, .maintaining, .loggingOff, .failure: false
        }
    }

    /// Whether a question waits for the user.
    public var waitsForUser: Bool {
        if case .presentingUI(let state) = self, case .waiting = state.phase { true } else { false }
    }

    /// The running proof.
    var proof: Proof? {
        switch self {
        case .authenticating(let state): if case .proving(let proof) = state.phase { proof } else { nil }
        case .presentingUI(let state): if case .proving(let proof) = state.phase { proof } else { nil }
        case .inactive, .evaluating, .authenticated, .maintaining, .loggingOff, .failure: nil
        }
    }

    /// The network, in every state with an address.
    public var joined: JoinedNetwork? {
        switch self {
        case .inactive(.noAddress): nil
        case .inactive(.held(let joined, _, _)), .inactive(.leaving(let joined, _, _)): joined
        case .evaluating(let state): state.joined
        case .authenticating(let state): state.joined
        case .presentingUI(let state): state.joined
        case .authenticated(let state): state.joined
        case .maintaining(let state): state.joined
        case .loggingOff(let state): state.joined
        case .failure(let state): state.joined
        }
    }

    /// Changes the facts about the network without a transition.
    mutating func update(_ change: (inout JoinedNetwork) -> Void) {
        guard var joined else { return }
        change(&joined)
        switch self {
        case .inactive(.noAddress): break
        case .inactive(.held(_, let reason, let timer)): self = .inactive(.held(joined, reason, timer: timer))
        case .inactive(.leaving(_, let fallback, let timer)):
            self = .inactive(.leaving(joined, otherwise: fallback, timer: timer))
        case .evaluating(let state): self = .evaluating(state.with { $0.joined = joined })
        case .authenticating(let state): self = .authenticating(state.with { $0.joined = joined })
        case .presentingUI(let state): self = .presentingUI(state.with { $0.joined = joined })
        case .authenticated(let state): self = .authenticated(state.with { $0.joined = joined })
        case .maintaining(let state): self = .maintaining(state.with { $0.joined = joined })
        case .loggingOff(let state): self = .loggingOff(state.with { $0.joined = joined })
        case .failure(let state): self = .failure(state.with { $0.joined = joined })
        }
    }

    /// The chosen helper, in the states that have one (behaviour 79).
    public var chosenHelper: String? {
        switch self {
        case .inactive, .evaluating, .failure: nil
        case .authenticating(let state): state.helper
        case .presentingUI(let state): state.helper
        case .authenticated(let state): if case .claimed(let helper, _, _) = state.upkeep { helper } else { nil }
        case .maintaining(let state): state.helper
        case .loggingOff(let state): state.helper
        }
    }

    /// The deadlines of the chosen helper's session.
    var schedule: MaintainSchedule? {
        switch self {
        case .authenticated(let state): if case .claimed(_, _, let schedule) = state.upkeep { schedule } else { nil }
        case .maintaining(let state): state.schedule
        case .inactive, .evaluating, .authenticating, .presentingUI, .loggingOff, .failure: nil
        }
    }

    /// Whether the chosen helper keeps the network open, as far as is known.
    public var isKeptFree: Bool {
        switch self {
        case .authenticated: chosenHelper != nil
        case .maintaining: gateIsOpen
        case .inactive, .evaluating, .authenticating, .presentingUI, .loggingOff, .failure: false
        }
    }

    /// Whether the session is being ended, or will be after the next answer.
    public var endsSession: Bool {
        switch self {
        case .loggingOff: true
        case .maintaining(let state): state.logoffQueued
        case .inactive, .evaluating, .authenticating, .presentingUI, .authenticated, .failure: false
        }
    }

    /// The end of an authenticated network's session, if it is known.
    public var sessionEnd: Instant? {
        if case .authenticated(let state) = self, case .claimed(_, _, let schedule) = state.upkeep { schedule.end } else { nil }
    }

    /// The time at which the chosen helper gets the next Maintain.
    public var nextMaintain: Instant? {
        if case .authenticated(let state) = self, case .claimed(_, let timer, _) = state.upkeep { timer.at } else { nil }
    }

    /// The time at which a delayed login begins (D23), or at which a login is tried again after a temporary failure.
    public var nextLogin: Instant? {
        switch self {
        case .authenticating(let state): if case .pausing(let timer, _) = state.phase { timer.at } else { nil }
        case .failure(let state): state.retry?.at
        case .inactive, .evaluating, .presentingUI, .authenticated, .maintaining, .loggingOff: nil
        }
    }

    /// The latest time until which a login waits, and whether it already waits for the proof because the portal has answered.
    public var awaited: (until: Instant, isProof: Bool)? {
        switch self {
        case .authenticating(let state):
            switch state.phase {
            case .pausing: nil
            case .commanding(let command): (command.deadline.at, false)
            case .proving(let proof): (proof.end, true)
            }
        case .presentingUI(let state):
            switch state.phase {
            case .commanding(let command), .confirming(let command): (command.deadline.at, false)
            case .proving(let proof): (proof.end, true)
            case .waiting: nil
            }
        case .inactive, .evaluating, .authenticated, .maintaining, .loggingOff, .failure: nil
        }
    }

    /// Whether the last verdict was captive; `nil` if it was limited, or if there was none.
    public var isCaptive: Bool? {
        switch joined?.lastVerdict {
        case .online, .partial: false
        case .captive: true
        case .limited, nil: nil
        }
    }
}
