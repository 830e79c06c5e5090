import HotspotCore

/// The steps that several states share.
extension Machine {
    mutating func issue<ID: OperationID>(_: ID.Type = ID.self) -> ID {
        lastNumber += 1
        return ID(number: lastNumber)
    }

    mutating func startTimer(_ purpose: TimerPurpose, at instant: Instant, _ turn: inout Turn) -> Deadline {
        let deadline = Deadline(id: issue(), at: instant)
        turn.act(.startTimer(deadline.id, at: instant, for: purpose))
        return deadline
    }

    mutating func startTimer(_ purpose: TimerPurpose, after delay: Duration, _ turn: inout Turn) -> Deadline {
        startTimer(purpose, at: turn.now + delay, &turn)
    }

    mutating func send(_ command: Command, to helper: String, justJoined: Bool = false, _ turn: inout Turn) -> Pending {
        let id: CommandID = issue()
        turn.act(.sendCommand(id, command, to: helper, justJoined: justJoined))
        return Pending(id: id, deadline: startTimer(.command, after: policy.commandTimeout, &turn))
    }

    mutating func startProbe(fresh: Bool, _ turn: inout Turn) -> Probing {
        let id: ProbeID = issue()
        turn.act(.startProbe(id, fresh: fresh))
        return Probing(id: id, deadline: startTimer(.probe, after: policy.commandTimeout, &turn))
    }

    /// Takes the next state; the one place where a state changes to another of a different name.
    mutating func go(_ next: MachineState, _ cause: String, _ turn: inout Turn) {
        turn.act(.transition(from: state.name, to: next.name, cause: cause))
        state = next
    }

    /// A new attempt; one that had not come to its end is taken over by it.
    mutating func beginAttempt(_ association: inout Association, _ turn: inout Turn) {
        endAttempt(&association, .superseded, &turn)
        let id: AttemptID = issue()
        association.attempt = id
        association.attemptIsOpen = true
        turn.act(.clearProblems)
        turn.act(.beginAttempt(id))
    }

    mutating func endAttempt(_ association: inout Association, _ outcome: Outcome, _ turn: inout Turn) {
        guard association.attemptIsOpen, let id = association.attempt else { return }
        association.attemptIsOpen = false
        // Who declines, or is switched off, hands the login over to another; and what the user wants begins anew anyway.
        if outcome != .superseded, state.logsIn { association.pace.loginEnded(at: turn.now) }
        turn.act(.endAttempt(id, outcome))
    }

    func isCandidate(_ helper: String) -> Bool { candidates.contains { $0.name == helper } }

    // MARK: Joining and leaving

    /// T43: whatever runs is withdrawn; no helper hears of it, and auto-join stays as it is.
    mutating func lose(_ turn: inout Turn) {
        guard var association = state.association else { return }
        endAttempt(&association, .left, &turn)
        turn.act(.clearProblems)
        if case .inactive = state {
            state = .inactive(.noAddress)
        } else {
            go(.inactive(.noAddress), "the address is gone", &turn)
        }
    }

    /// T3 to T7, and D13 for a held network.
    mutating func arrive(_ association: Association, _ turn: inout Turn) {
        if let hold = association.arrival.hold {
            let timer = hold.until.map { startTimer(.hold, at: $0, &turn) }
            state = .inactive(.held(association, hold.reason, timer: timer))
            turn.act(.report(.held(hold.reason, because: hold.cause)))
            return
        }
        guard let helper = association.arrival.remembered else {
            return evaluate(association, "an address came up", &turn)
        }
        guard isCandidate(helper) else {
            turn.act(.forgetChoice(of: helper))
            return evaluate(association, "the remembered helper is gone", &turn)
        }
        maintain(association, helper, isJoin: true, MaintainSchedule(), "an address came up, and a helper is remembered", &turn)
    }

    /// C17: a chosen helper that was switched off finishes its command; where none runs, it is done at once.
    mutating func candidatesChanged(_ turn: inout Turn) {
        if case .evaluating(let evaluating) = state { return candidatesChanged(in: evaluating, &turn) }
        guard let helper = state.chosenHelper, !isCandidate(helper), state.inFlight.commands.isEmpty,
            let association = state.association
        else { return }
        if case .maintaining(let maintaining) = state, maintaining.logoffQueued {
            return endSession(association, "the chosen helper was switched off, and a logoff was asked for", &turn)
        }
        abandon(association, helper, &turn)
    }

    /// The chosen helper was switched off, and its command is over.
    mutating func abandon(_ association: Association, _ helper: String, _ turn: inout Turn) {
        turn.act(.forgetChoice(of: helper))
        evaluate(association, "the chosen helper was switched off", &turn)
    }

    // MARK: Entering states

    /// Asks every candidate at once, and the prober beside them (T5, D20).
    mutating func evaluate(_ association: Association, only helper: String? = nil, _ cause: String, _ turn: inout Turn) {
        var association = association
        beginAttempt(&association, &turn)
        if let cap = policy.winCap {
            for (name, wins) in association.winsAfterFailedMaintain where wins >= cap { association.excluded.insert(name) }
        }
        var race = Race(capacity: candidates.count)
        for candidate in candidates
        where helper.map({ $0 == candidate.name }) ?? !association.excluded.contains(candidate.name) {
            race.enter(candidate, asked: issue(), isLast: comesLast(candidate.name, in: association))
        }
        turn.actions.reserveCapacity(turn.actions.count + race.entrants.count + 8)
        let opinion = Opinion.asked(startProbe(fresh: false, &turn))
        for entrant in race.entrants {
            turn.act(.sendCommand(entrant.command, .evaluate, to: entrant.candidate.name, justJoined: false))
        }
        let deadline = startTimer(.command, after: policy.commandTimeout, &turn)
        var evaluating = Evaluating(association: association, race: race, deadline: deadline, grace: nil, opinion: opinion)
        if race.isQuarantinedWhole, let grace = policy.lowGrace {
            evaluating.grace = startTimer(.lowGrace, after: grace, &turn)
        }
        go(.evaluating(evaluating), cause, &turn)
        settle(evaluating, &turn)
    }

    /// Any claim of another goes before its own (D24).
    private func comesLast(_ helper: String, in association: Association) -> Bool {
        policy.setbackCap.map { association.setbacks[helper, default: 0] >= $0 } ?? false
    }

    /// T8, T10, T37: one helper frees the network, at its time (D23).
    mutating func authenticate(_ association: Association, _ helper: String, _ cause: String, _ turn: inout Turn) {
        var association = association
        let begin = association.pace.login(at: turn.now, policy)
        let phase: Authenticating.Phase
        if begin > turn.now {
            phase = .pausing(startTimer(.pause, at: begin, &turn), startWatch(&turn))
            turn.act(.report(.tooSoon(helper)))
        } else {
            phase = .commanding(send(.authenticate, to: helper, &turn))
        }
        go(.authenticating(Authenticating(association: association, helper: helper, phase: phase)), cause, &turn)
    }

    /// T3, T33: is the session still good? The prober is asked beside the helper (D20).
    mutating func maintain(
        _ association: Association, _ helper: String, isJoin: Bool, _ schedule: MaintainSchedule, _ cause: String,
        _ turn: inout Turn
    ) {
        var association = association
        beginAttempt(&association, &turn)
        let opinion = Opinion.asked(startProbe(fresh: false, &turn))
        let pending = send(.maintain, to: helper, justJoined: isJoin, &turn)
        let maintaining = Maintaining(
            association: association, helper: helper, isJoin: isJoin, phase: .commanding(pending), opinion: opinion,
            schedule: schedule)
        go(.maintaining(maintaining), cause, &turn)
    }

    /// T17, T25, T36: the network is free, and the helper is the one that frees it (D5).
    mutating func succeed(
        _ association: Association, _ helper: String, secondsRemaining: Int?, _ schedule: MaintainSchedule, _ cause: String,
        _ turn: inout Turn
    ) {
        var association = association
        endAttempt(&association, .online, &turn)
        association.temporaryFailures = 0
        // D11: a login that the next maintain finds to be void was no success.
        if association.pace.hasLasted(at: turn.now, policy) { association.forgive(helper) }
        recentFailures[association.arrival.network] = nil
        turn.act(.remember(helper: helper))
        var schedule = schedule
        schedule.update(secondsRemaining: secondsRemaining, at: turn.now)
        let wanted = schedule.next(after: turn.now, interval: policy.maintainInterval)
        let due = association.pace.look(wanted: wanted, at: turn.now, policy)
        let maintain = startTimer(.maintain, at: due, &turn)
        let claim = Authenticated.Claim.helper(helper, maintain: maintain, schedule: schedule)
        go(.authenticated(Authenticated(association: association, claim: claim)), cause, &turn)
    }

    /// D9: the network is free, or nothing tells that it is not, and nobody claims it.
    mutating func openUnclaimed(
        _ association: Association, _ outcome: Outcome, secondsRemaining: Int?, _ cause: String, _ turn: inout Turn
    ) {
        var association = association
        endAttempt(&association, outcome, &turn)
        association.temporaryFailures = 0
        recentFailures[association.arrival.network] = nil
        // Where nothing told anything the next look is soon: detection's retries, then D9's doubling.
        let interval = outcome == .unknown ? policy.retryFirst : policy.recheckFirst
        let first = secondsRemaining.map { min(.seconds(max(0, min($0, 86400)) + 5), interval) } ?? interval
        let due = association.pace.look(wanted: turn.now + first, at: turn.now, policy)
        let recheck = Recheck(interval: interval, phase: .waiting(startTimer(.recheck, at: due, &turn)))
        go(.authenticated(Authenticated(association: association, claim: .nobody(recheck: recheck))), cause, &turn)
    }

    // MARK: Failing

    /// It may work later: T20, T27, and D1, D4, D19 beside it.
    ///
    /// - Parameter helper: whose login failed, for D24; `nil` where no helper had a part in it.
    mutating func failTemporarily(_ association: Association, _ helper: String?, _ problem: Problem, _ turn: inout Turn) {
        var association = association
        endAttempt(&association, .temporaryFailure, &turn)
        association.temporaryFailures += 1
        // D24: who does not come last yet cannot use up the tries that are left for the others.
        let triesEnd = policy.setbackCap == nil || helper.map { comesLast($0, in: association) } ?? true
        if let helper { association.setbacks[helper, default: 0] += 1 }
        turn.act(.report(problem))
        let network = association.arrival.network
        // Networks that were not seen for a while go, so that a machine's memory does not grow with the places it has been to.
        recentFailures = recentFailures.compactMapValues { times in
            let late = times.filter { turn.now - $0 < policy.disconnectWindow }
            return late.isEmpty ? nil : late
        }
        let recent = (recentFailures[network] ?? []) + [turn.now]
        recentFailures[network] = recent.suffix(policy.disconnectLimit)
        let index = association.temporaryFailures - 1
        let delay = index < policy.retryDelays.count ? policy.retryDelays[index] : triesEnd ? nil : policy.retryDelays.last
        if recent.count < policy.disconnectLimit, disassociate(association, retryAfter: delay, problem.message, &turn) { return }
        rest(association, retryAfter: delay, problem.message, &turn)
    }

    /// It will not work: T21, T22, T28; the network is held until the user wants it again (D14).
    mutating func failForGood(_ association: Association, _ helper: String, _ problem: Problem, _ turn: inout Turn) {
        var association = association
        endAttempt(&association, .failure, &turn)
        turn.act(.forgetChoice(of: helper))
        turn.act(.hold(.autoJoinOff, for: nil, because: problem.message))
        turn.act(.report(problem))
        if disassociate(association, retryAfter: nil, problem.message, &turn) { return }
        rest(association, retryAfter: nil, problem.message, &turn)
    }

    /// D19: only where it is wanted and possible.
    mutating func disassociate(
        _ association: Association, retryAfter delay: Duration?, _ cause: String, _ turn: inout Turn
    ) -> Bool {
        guard mayDisassociate(association) else { return false }
        go(.failure(Failed(association: association, retry: nil, watch: .none)), cause, &turn)
        turn.act(.disassociate)
        leave(association, otherwise: .rest(retryAfter: delay), "the link is asked to end", &turn)
        return true
    }

    /// The link was asked to end; who asks for ever would never come to rest.
    mutating func leave(_ association: Association, otherwise fallback: Inactive.Fallback, _ cause: String, _ turn: inout Turn) {
        let timer = startTimer(.leave, after: policy.leavePatience, &turn)
        go(.inactive(.leaving(association.resting, otherwise: fallback, timer: timer)), cause, &turn)
    }

    func mayDisassociate(_ association: Association) -> Bool {
        policy.onFailure == .disconnect && association.arrival.canDisassociate
    }

    /// D19: the link is kept, and the machine waits in `failure`.
    mutating func rest(_ association: Association, retryAfter delay: Duration?, _ cause: String, _ turn: inout Turn) {
        let retry = delay.map { startTimer(.retry, after: $0, &turn) }
        let watch = startWatch(&turn)
        go(.failure(Failed(association: association, retry: retry, watch: watch)), cause, &turn)
    }

    /// D13, D14, D21: nothing starts until somebody asks.
    mutating func hold(_ association: Association, _ reason: HoldReason, _ cause: String, _ turn: inout Turn) {
        let timer = startTimer(.hold, after: policy.holdTime, &turn)
        turn.act(.hold(reason, for: policy.holdTime, because: cause))
        turn.act(.report(.held(reason)))
        go(.inactive(.held(association.resting, reason, timer: timer)), cause, &turn)
    }
}

extension Watch {
    /// For a state that is left within the same turn.
    fileprivate static let none = Watch(
        interval: .zero, phase: .waiting(Deadline(id: TimerID(number: 0), at: Instant(nanoseconds: .max))))
}

extension Problem {
    /// Why nothing happens on a held interface, and what helps; for a network that was held earlier, what brought that about.
    static func held(_ reason: HoldReason, because cause: String? = nil) -> Problem {
        let sentence =
            switch reason {
            case .loggedOff: "The session here was ended by a logoff; nothing is started until you want it."
            case .dismissed: "You dismissed the question; nothing is asked until you want it."
            case .autoJoinOff:
                "The login failed for good last time\(cause.map { " (\($0))" } ?? ""); it is not tried again by itself."
            case .disabled: "Handling is switched off for this network."
            }
        let hint = reason == .disabled ? "hotspotctl enable SSID" : "hotspotctl login"
        return Problem(.held, sentence, hint: hint)
    }
}
