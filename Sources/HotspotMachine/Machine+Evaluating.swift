import HotspotCore

extension Machine {
    /// Asks every candidate at once, and the prober at the same time (T5, D20).
    mutating func evaluate(
        _ joined: JoinedNetwork, only helper: String? = nil, goesOn: Bool = false, _ cause: String, _ turn: inout Turn
    ) {
        var joined = joined
        if !goesOn || !joined.attemptIsOpen { beginAttempt(&joined, &turn) }
        joined.record.excludeWinners(policy)
        var race = Race(capacity: candidates.count)
        for candidate in candidates
        where helper.map({ $0 == candidate.name }) ?? !joined.record.excluded.contains(candidate.name) {
            race.enter(candidate, asked: issue(), isLast: joined.record.comesLast(candidate.name, policy))
        }
        turn.actions.reserveCapacity(turn.actions.count + race.entrants.count + 8)
        let probe = startProbe(fresh: false, &turn)
        for entrant in race.entrants {
            turn.act(.sendCommand(entrant.command, .evaluate, to: entrant.candidate.name, justJoined: false))
        }
        let deadline = startTimer(.command, after: policy.commandTimeout, &turn)
        var evaluating = Evaluating(joined: joined, race: race, deadline: deadline, verdict: .awaited(probe))
        if race.isQuarantinedWhole, let grace = policy.lowGrace {
            evaluating.grace = startTimer(.lowGrace, after: grace, &turn)
        }
        go(.evaluating(evaluating), cause, &turn)
        decideRace(evaluating, &turn)
    }

    /// Runs the race (T8 to T16), or waits for the verdict if no helper won (D20).
    mutating func handle(_ event: StateEvent, in evaluating: Evaluating, _ turn: inout Turn) {
        switch event {
        case .raceAnswered(let id, let answer):
            guard !evaluating.awaitsVerdict, let entrant = evaluating.race.silent(id) else { return }
            // The answer and the deadline can be due in the same turn of the loop. An answer at the deadline itself is too late.
            if turn.now >= evaluating.deadline.at { return endRace(evaluating, "the time for claims is over", &turn) }
            if let grace = evaluating.grace, turn.now >= grace.at {
                return endRace(evaluating, "no helper with a more certain claim answered in time", &turn)
            }
            raceAnswered(entrant, answer, evaluating, &turn)
        case .timerFired(let id):
            if evaluating.awaitsVerdict { return }
            if id == evaluating.deadline.id { endRace(evaluating, "the time for claims is over", &turn) }
            if id == evaluating.grace?.id { endRace(evaluating, "no helper with a more certain claim answered in time", &turn) }
        case .probed(let verdict, let seconds): noteVerdict(verdict, seconds, evaluating, &turn)
        case .verdictSeen(let verdict):
            // The newest verdict counts, including the verdict of a check. If the machine's own probe still runs, its verdict will be newer.
            if case .known = evaluating.verdict { noteVerdict(verdict, nil, evaluating, &turn) }
        case .answered, .promptAnswered, .promptDismissed, .logoffRequested, .restEnded, .disassociationRefused: break
        }
    }

    private mutating func raceAnswered(
        _ entrant: Race.Entrant, _ answer: CommandAnswer, _ evaluating: Evaluating, _ turn: inout Turn
    ) {
        var evaluating = evaluating
        let confidence: Confidence
        switch answer {
        case .evaluated(let claimed):
            confidence = claimed
            turn.act(.acquit(helper: entrant.candidate.name))
        case .replied, .garbled: confidence = .none
        case .notStarted(let reason):
            confidence = .none
            evaluating.race.lack = reason
        case .crashed:
            confidence = .none
            turn.act(.strike(helper: entrant.candidate.name, .crash))
        }
        _ = evaluating.race.record(confidence, for: entrant.command, at: turn.now)
        if evaluating.race.hasOpenClaim, evaluating.grace == nil, let grace = policy.lowGrace {
            evaluating.grace = startTimer(.lowGrace, at: min(turn.now + grace, evaluating.deadline.at), &turn)
        }
        state = .evaluating(evaluating)
        decideRace(evaluating, &turn)
    }

    /// Stores a verdict. It never ends the race early; it decides only if no helper wins.
    private mutating func noteVerdict(_ verdict: Verdict?, _ seconds: Int?, _ evaluating: Evaluating, _ turn: inout Turn) {
        let next = evaluating.with { $0.verdict = .known(verdict, secondsRemaining: seconds) }
        state = .evaluating(next)
        if next.awaitsVerdict { decideByVerdict(next, &turn) }
    }

    /// Removes helpers that are no longer candidates from the race, even if they have answered (T16). New helpers wait for the next race (C16).
    mutating func candidatesChanged(in evaluating: Evaluating, _ turn: inout Turn) {
        var evaluating = evaluating
        guard !evaluating.awaitsVerdict, evaluating.race.removeAll(where: { !isCandidate($0) }) else { return }
        if !evaluating.race.hasOpenClaim, !evaluating.race.isQuarantinedWhole {
            evaluating.grace = nil
        } else if evaluating.grace == nil, let grace = policy.lowGrace {
            // Start the grace time, because only quarantined helpers are left.
            evaluating.grace = startTimer(.lowGrace, at: max(turn.now, min(turn.now + grace, evaluating.deadline.at)), &turn)
        }
        state = .evaluating(evaluating)
        decideRace(evaluating, &turn)
    }

    private mutating func decideRace(_ evaluating: Evaluating, _ turn: inout Turn) {
        if let decision = evaluating.race.decision { carryOut(decision, evaluating, nil, &turn) }
    }

    /// Ends the race at a deadline: silent helpers get a strike, and count as no claim (T12, T13).
    private mutating func endRace(_ evaluating: Evaluating, _ cause: String, _ turn: inout Turn) {
        for entrant in evaluating.race.silent { turn.act(.strike(helper: entrant.candidate.name, .silence)) }
        carryOut(evaluating.race.decisionNow, evaluating, cause, &turn)
    }

    private mutating func carryOut(
        _ decision: RaceDecision, _ evaluating: Evaluating, _ ending: String?, _ turn: inout Turn
    ) {
        switch decision {
        case .winner(let helper):
            var joined = evaluating.joined
            joined.record.won(helper)
            joined.contenders = Set(candidates.map(\.mark))
            let cause = "claimed by \(helper): \(evaluating.race.reason(for: helper))" + (ending.map { "; \($0)" } ?? "")
            authenticate(joined, helper, cause, &turn)
        case .noWinner: decideByVerdict(evaluating, &turn)
        }
    }

    /// Lets the verdict decide if no helper claims the network (D20).
    private mutating func decideByVerdict(_ evaluating: Evaluating, _ turn: inout Turn) {
        guard case .known(let verdict, let seconds) = evaluating.verdict else {
            state = .evaluating(evaluating.with { $0.awaitsVerdict = true })
            return
        }
        var joined = evaluating.joined
        // If an earlier proven login counts, report nothing yet: `openUnclaimed` opens the network through that login, and reports a missing proof.
        let isNew = provenLogin(joined) == nil
        // Without a verdict, assume a portal if a helper logged in to this network on an earlier visit.
        let hasPortal = verdict == .captive || verdict == nil && joined.arrival.remembered != nil && isNew
        // Try again later if a helper could not be asked, because it may be able to log in.
        if hasPortal, let lack = evaluating.race.lack { return failTemporarily(joined, nil, .notStarted(lack), &turn) }
        switch verdict {
        case .online, .partial:
            if isNew { reportUnproven(verdict, &turn) }
            openUnclaimed(
                joined, joined.openOutcome, secondsRemaining: seconds, "no helper claims the network, and it is open", &turn)
        case .captive:
            endAttempt(&joined, .unclaimedCaptive, &turn)
            let asked = evaluating.race.entrants.map(\.candidate.name)
            let isOneOfMany = candidates.contains { !asked.contains($0.name) && !joined.record.excluded.contains($0.name) }
            turn.act(.report(.unclaimedCaptive(by: isOneOfMany ? asked.first : nil)))
            rest(joined, retryAfter: nil, "there is a portal, but no helper claims it", &turn)
        case nil where hasPortal:
            endAttempt(&joined, .unknown, &turn)
            turn.act(.report(.notKnown))
            rest(
                joined, retryAfter: nil,
                "no helper claims the network; there was a portal, and no probe shows that it has opened",
                &turn)
        case .limited, nil:
            if isNew { turn.act(.report(verdict == nil ? .notKnown : .limited)) }
            openUnclaimed(
                joined, .unknown, secondsRemaining: nil,
                "no helper claims the network, and the probe cannot tell whether it is open",
                &turn)
        }
    }
}

extension Problem {
    fileprivate static let notKnown = Problem(
        .proberMissing, "The prober does not answer, so hotspotd does not know whether the network is open.",
        hint: "hotspotctl check")
    /// - Parameter helper: the only helper that was asked, because the user named it; `nil` if every helper was asked.
    fileprivate static func unclaimedCaptive(by helper: String?) -> Problem {
        guard let helper else {
            return Problem(
                .unclaimedCaptive, "The portal asks for a login, but no enabled helper can log in.",
                hint: "hotspotctl helpers")
        }
        return Problem(.unclaimedCaptive, "The portal asks for a login, but \(helper) cannot log in.", hint: "hotspotctl login")
    }
}
