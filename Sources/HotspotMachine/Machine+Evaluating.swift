import HotspotCore

extension Machine {
    /// The race runs (T8 to T16), or is over without a winner and the verdict decides (D20).
    mutating func handle(_ event: Event, in evaluating: Evaluating, _ turn: inout Turn) {
        var evaluating = evaluating
        switch event {
        case .answered(let id, let answer):
            guard !evaluating.awaitsVerdict, let entrant = evaluating.race.silent(id) else {
                return
            }
            // The answer and the deadline can be due in the same turn of the loop; the deadline's instant itself is too late.
            if turn.now >= evaluating.deadline.at { return raceIsOver(evaluating, "the deadline is over", &turn) }
            if let grace = evaluating.grace, turn.now >= grace.at {
                return raceIsOver(evaluating, "the others had their time", &turn)
            }
            let helper = entrant.candidate.name
            let confidence: Confidence
            switch answer {
            case .evaluated(let sure):
                confidence = sure
                turn.act(.acquit(helper: helper))
            case .replied, .garbled, .notStarted: confidence = .none
            case .crashed:
                confidence = .none
                turn.act(.strike(helper: helper))
            }
            _ = evaluating.race.take(confidence, for: id, at: turn.now)
            if evaluating.race.hasLow, evaluating.grace == nil, let grace = policy.lowGrace {
                let end = min(turn.now + grace, evaluating.deadline.at)
                evaluating.grace = startTimer(.lowGrace, at: end, &turn)
            }
            state = .evaluating(evaluating)
            settle(evaluating, &turn)
        case .timerFired(let id) where id == evaluating.deadline.id && !evaluating.awaitsVerdict:
            raceIsOver(evaluating, "the deadline is over", &turn)
        case .timerFired(let id) where id == evaluating.grace?.id && !evaluating.awaitsVerdict:
            raceIsOver(evaluating, "the others had their time", &turn)
        case .verdictReached(let id, let verdict, let seconds) where id == evaluating.opinion.probing?.id:
            learn(verdict, seconds, evaluating, &turn)
        case .verdictSeen(let verdict):
            // The newest verdict counts, whoever asked for it; a question of our own that still runs will be newer.
            if case .known = evaluating.opinion { learn(verdict, nil, evaluating, &turn) }
        case .loginRequested(let helper):
            turn.act(.releaseHold)
            evaluate(evaluating.association.started(byUser: true), only: helper, "the user asked for a login", &turn)
        default: break
        }
    }

    /// The verdict never shortens the race; it decides when there is no winner.
    private mutating func learn(_ verdict: Verdict?, _ seconds: Int?, _ evaluating: Evaluating, _ turn: inout Turn) {
        var evaluating = evaluating
        evaluating.opinion = .known(verdict, secondsRemaining: seconds)
        state = .evaluating(evaluating)
        if evaluating.awaitsVerdict { unclaimed(evaluating, &turn) }
    }

    /// T16: helpers that are gone count as none, whatever they said before. Those that came wait for the next race (C16).
    mutating func candidatesChanged(in evaluating: Evaluating, _ turn: inout Turn) {
        var evaluating = evaluating
        guard !evaluating.awaitsVerdict, evaluating.race.keep(where: isCandidate) else { return }
        if !evaluating.race.hasLow, !evaluating.race.isQuarantinedWhole {
            evaluating.grace = nil
        } else if evaluating.grace == nil, let grace = policy.lowGrace {
            // Who is left is a field that is quarantined whole.
            evaluating.grace = startTimer(.lowGrace, at: max(turn.now, min(turn.now + grace, evaluating.deadline.at)), &turn)
        }
        state = .evaluating(evaluating)
        settle(evaluating, &turn)
    }

    /// Goes on if the race is decided.
    mutating func settle(_ evaluating: Evaluating, _ turn: inout Turn) {
        switch evaluating.race.decision {
        case nil: break
        case .winner(let helper): win(evaluating, helper, nil, &turn)
        case .nobody: unclaimed(evaluating, &turn)
        }
    }

    /// A deadline: who is silent has a strike, and counts as none (T12, T13).
    private mutating func raceIsOver(_ evaluating: Evaluating, _ cause: String, _ turn: inout Turn) {
        for entrant in evaluating.race.silent { turn.act(.strike(helper: entrant.candidate.name)) }
        switch evaluating.race.decisionNow {
        case .winner(let helper): win(evaluating, helper, cause, &turn)
        case .nobody: unclaimed(evaluating, &turn)
        }
    }

    private mutating func win(_ evaluating: Evaluating, _ helper: String, _ ending: String?, _ turn: inout Turn) {
        var association = evaluating.association
        // D11 counts the wins that follow a failed maintain, whoever wins in between: two that take turns would never come to an end.
        association.winsAfterFailedMaintain[helper]? += 1
        let cause = "claimed by \(helper): \(evaluating.race.reason(for: helper))" + (ending.map { "; \($0)" } ?? "")
        authenticate(association, helper, cause, &turn)
    }

    /// D20, with nobody to free the network.
    private mutating func unclaimed(_ evaluating: Evaluating, _ turn: inout Turn) {
        var evaluating = evaluating
        guard case .known(let verdict, let seconds) = evaluating.opinion else {
            evaluating.awaitsVerdict = true
            state = .evaluating(evaluating)
            return
        }
        switch verdict {
        case .online, .partial:
            reportUnproven(verdict, &turn)
            openUnclaimed(evaluating.association, .open, secondsRemaining: seconds, "nobody claims it, and it is open", &turn)
        case .captive:
            var association = evaluating.association
            endAttempt(&association, .unclaimedCaptive, &turn)
            turn.act(
                .report(
                    Problem(
                        .unclaimedCaptive, "A portal wants a login, and no helper can do it.", hint: "hotspotctl helpers")))
            rest(association, retryAfter: nil, "captive, and nobody claims it", &turn)
        case .limited, nil:
            turn.act(.report(verdict == nil ? .proberMissing : .limited))
            openUnclaimed(
                evaluating.association, .unknown, secondsRemaining: nil, "nobody claims it, and nothing tells more", &turn)
        }
    }
}
