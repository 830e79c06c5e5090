import HotspotCore

/// What is to be done, in this order. Imperative: the coordinator does it, and decides nothing.
public enum Action: Hashable, Sendable {
    /// The state changed; one log line.
    case transition(from: StateName, to: StateName, cause: String)
    /// A new attempt: a new `Link.attempt`.
    case beginAttempt(AttemptID)
    /// The attempt came to this.
    case endAttempt(AttemptID, Outcome)
    /// Ordinary traffic may, or may not, use the link.
    case setGate(open: Bool)
    /// Ask a helper.
    case sendCommand(CommandID, Command, to: String, justJoined: Bool)
    /// Withdraw the question.
    case cancelCommand(CommandID)
    /// Tell the machine at that instant.
    case startTimer(TimerID, at: Instant, for: TimerPurpose)
    /// Do not.
    case stopTimer(TimerID)
    /// Ask the prober.
    case startProbe(ProbeID, fresh: Bool)
    /// Withdraw the question.
    case cancelProbe(ProbeID)
    /// Show the user a question, or show it again with another problem.
    case showPrompt(PromptID, Prompt, helper: String)
    /// It is not asked any more.
    case withdrawPrompt(PromptID)
    /// This helper frees this network (D5).
    case remember(helper: String)
    /// This helper is not known to free this network any more; another that is remembered stays.
    case forgetChoice(of: String)
    /// The session's memory is void.
    case dropSession
    /// Let the network rest; until then, or until somebody asks. The cause is for people, at the next join.
    case hold(HoldReason, for: Duration?, because: String)
    /// It does not rest any more.
    case releaseHold
    /// End the link.
    case disassociate
    /// The helper missed a deadline or died (D7).
    case strike(helper: String)
    /// The helper answered well.
    case acquit(helper: String)
    /// Show this until the next attempt begins, or the network is left.
    case report(Problem)
    /// Show nothing any more.
    case clearProblems
}

/// What a timer is for.
public enum TimerPurpose: String, Hashable, Sendable, CaseIterable {
    /// A command's deadline.
    case command
    /// The others' time after a low (D7).
    case lowGrace
    /// The prober's deadline.
    case probe
    /// The next look of a proof (D20).
    case proof
    /// The next maintain (D10).
    case maintain
    /// The next look at an unclaimed network (D9).
    case recheck
    /// The next look while a prompt or a failure waits (D21).
    case watch
    /// The next evaluation after a temporary failure (D19).
    case retry
    /// The end of the pause before another login (D23).
    case pause
    /// The end of a hold (D13).
    case hold
    /// The end of the patience with a link that was asked to end.
    case leave
}

/// What an attempt came to. The words are those of the journal.
public enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
    /// A helper freed the network, or kept it free.
    case online
    /// The network was free; nobody claimed it.
    case open
    /// Nobody claimed it, and nothing told whether it is free.
    case unknown
    /// Captive, and nobody could free it.
    case unclaimedCaptive
    /// It may work later.
    case temporaryFailure
    /// It will not.
    case failure
    /// The session could not be kept; evaluated anew.
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
