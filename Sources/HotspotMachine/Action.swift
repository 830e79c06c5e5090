import HotspotCore

/// An instruction to the daemon, in the imperative. The daemon carries instructions out in order.
public enum Action: Hashable, Sendable {
    /// Log a change of state.
    case transition(from: StateName, to: StateName, cause: String)
    case beginAttempt(AttemptID)
    case endAttempt(AttemptID, AttemptOutcome)
    /// Let ordinary traffic use the link, or keep ordinary traffic off it.
    case setGate(open: Bool)
    case sendCommand(CommandID, Command, to: String, justJoined: Bool)
    case cancelCommand(CommandID)
    /// Send ``Event/timerFired(_:)`` at that instant.
    case startTimer(TimerID, at: Instant, for: TimerPurpose)
    case stopTimer(TimerID)
    /// Ask the prober.
    case startProbe(ProbeID, fresh: Bool)
    case cancelProbe(ProbeID)
    /// Ask the user.
    case showPrompt(PromptID, Prompt, helper: String)
    case withdrawPrompt(PromptID)
    /// Store that this helper reported a success, in case the daemon restarts before the proof (D25).
    case awaitProof(of: String, until: Instant)
    /// Remember that this helper logs in to this network (D5).
    case remember(helper: String)
    /// Keep the session, portal and answers of this helper's login as they are now, even if another login runs.
    case keepLogin(LoginID, of: String)
    /// Make the kept login the current one again.
    case restoreLogin(LoginID, of: String)
    /// Drop the kept login.
    case dropLogin(LoginID)
    /// Forget that this helper logs in to this network; another remembered helper stays.
    case forgetChoice(of: String)
    /// Drop the session's memory.
    case dropSession
    /// Start nothing on this network for this time; if it is `nil`, until the user asks for a login. The user sees the cause at the next join.
    case hold(HoldReason, for: Duration?, because: String)
    case releaseHold
    /// End the link.
    case disassociate
    /// Count a strike against a helper (D7).
    case strike(helper: String, StrikeReason)
    /// Forget the strikes of a helper, because it answered well.
    case acquit(helper: String)
    /// Show this problem until the next attempt begins, or the network is left.
    case report(Problem)
    case clearProblems
}

public enum StrikeReason: Hashable, Sendable {
    /// The helper missed a deadline.
    case silence
    /// The helper ended without an answer, or its answer to Evaluate could not be read.
    case crash
}

public enum TimerPurpose: String, Hashable, Sendable, CaseIterable {
    /// A command's deadline.
    case command
    /// The time that the other helpers get after a low claim (D7).
    case lowGrace
    /// A probe's deadline.
    case probe
    /// The next probe of a proof (D25).
    case proof
    /// The end of the time in which an open network still counts as an earlier login's success (D25).
    case late
    /// The next maintain (D10).
    case maintain
    /// The next probe of an unclaimed network (D9).
    case recheck
    /// The next probe while a prompt, a paused login or a failure waits (D21).
    case watch
    /// The next evaluation after a temporary failure (D19).
    case retry
    /// The end of the pause before another login (D23).
    case pause
    /// The end of a hold (D13).
    case hold
    /// The time that a link may take to end.
    case leave
}
