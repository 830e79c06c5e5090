import HotspotCore

/// The steps that several states share.
extension Machine {
    mutating func issue<ID: OperationID>(_: ID.Type = ID.self) -> ID {
        lastNumber += 1
        return ID(number: lastNumber)
    }

    mutating func startTimer(_ purpose: TimerPurpose, at instant: Instant, _ turn: inout Turn) -> RunningTimer {
        let timer = RunningTimer(id: issue(), at: instant)
        turn.act(.startTimer(timer.id, at: instant, for: purpose))
        return timer
    }

    mutating func startTimer(_ purpose: TimerPurpose, after delay: Duration, _ turn: inout Turn) -> RunningTimer {
        startTimer(purpose, at: turn.now + delay, &turn)
    }

    mutating func send(_ command: Command, to helper: String, justJoined: Bool = false, _ turn: inout Turn) -> RunningCommand {
        let id: CommandID = issue()
        turn.act(.sendCommand(id, command, to: helper, justJoined: justJoined))
        return RunningCommand(id: id, deadline: startTimer(.command, after: policy.commandTimeout, &turn))
    }

    /// Changes to another state; the state's name changes only here.
    mutating func go(_ next: MachineState, from former: StateName? = nil, _ cause: String, _ turn: inout Turn) {
        turn.act(.transition(from: former ?? state.name, to: next.name, cause: cause))
        state = next
    }

    /// Begins an attempt, which supersedes an attempt without an outcome.
    mutating func beginAttempt(_ joined: inout JoinedNetwork, _ turn: inout Turn) {
        endAttempt(&joined, .superseded, &turn)
        let id: AttemptID = issue()
        joined.attempt = id
        joined.attemptIsOpen = true
        joined.isUnverified = false
        turn.act(.clearProblems)
        turn.act(.beginAttempt(id))
    }

    mutating func endAttempt(_ joined: inout JoinedNetwork, _ outcome: AttemptOutcome, _ turn: inout Turn) {
        guard joined.attemptIsOpen, let id = joined.attempt else { return }
        joined.attemptIsOpen = false
        // A superseded login does not count as ended: another helper continues it, or the user asked for a new start, which resets the pauses.
        if outcome != .superseded, state.logsIn { joined.pace.loginEnded(at: turn.now) }
        turn.act(.endAttempt(id, outcome))
    }

    func isCandidate(_ helper: String) -> Bool { candidates.contains { $0.name == helper } }

    /// Applies new candidates. A chosen helper that was switched off finishes its command; without a command, another helper replaces it at once
    /// (C17). A helper whose login was interrupted because it was switched off continues once it is switched on again.
    mutating func candidatesChanged(_ turn: inout Turn) {
        if case .evaluating(let evaluating) = state { return candidatesChanged(in: evaluating, &turn) }
        if case .authenticated(let authenticated) = state, let login = provenLogin(authenticated.joined) {
            var joined = authenticated.joined
            turn.act(.restoreLogin(login.id, of: login.helper))
            dropStanding(&joined, &turn)
            return maintain(joined, login.helper, startsClosed: false, login.schedule, "\(login.helper) was switched on", &turn)
        }
        guard let helper = state.chosenHelper, !isCandidate(helper), state.inFlight.commands.isEmpty, let joined = state.joined
        else { return }
        if case .maintaining(let maintaining) = state, maintaining.logoffQueued {
            return endSession(
                joined, of: helper, .unconfirmed, "the chosen helper was switched off, and the user asked for a logoff", &turn)
        }
        replaceSwitchedOff(helper, joined, &turn)
    }

    /// Starts a race without the chosen helper, which was switched off and has no command left. Its session and its records are kept.
    mutating func replaceSwitchedOff(_ helper: String, _ joined: JoinedNetwork, _ turn: inout Turn) {
        var joined = joined
        if state.schedule != nil { keepInterrupted(&joined, &turn) }
        evaluate(joined, "the chosen helper was switched off or is gone", &turn)
    }

    /// Starts a race without a helper that answered unsupportedNetwork (T18, T26).
    mutating func exclude(_ helper: String, _ joined: JoinedNetwork, _ turn: inout Turn) {
        var joined = joined
        joined.record.excluded.insert(helper)
        forgetChoice(of: helper, in: joined, &turn)
        evaluate(joined, "\(helper) does not support this network", &turn)
    }
}
