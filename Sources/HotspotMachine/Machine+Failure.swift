import HotspotCore

extension Machine {
    /// Ends a login that may work later (T20, T27, D1, D4, D19).
    ///
    /// - Parameter helper: the helper to blame (D24), if any.
    mutating func failTemporarily(_ joined: JoinedNetwork, _ helper: String?, _ problem: Problem, _ turn: inout Turn) {
        var joined = joined
        endAttempt(&joined, .temporaryFailure, &turn)
        joined.temporaryFailures += 1
        // D24: stop trying only after the failure of a helper that already comes last in the race.
        let triesEnd = policy.setbackCap == nil || helper.map { joined.record.comesLast($0, policy) } ?? true
        if let helper { joined.record.loginFailed(helper) }
        turn.act(.report(problem))
        let network = joined.arrival.network
        // Old failures of all networks are removed, so that the memory does not grow with every network.
        recentFailures = recentFailures.compactMapValues { times in
            let recent = times.filter { turn.now - $0 < policy.disconnectWindow }
            return recent.isEmpty ? nil : recent
        }
        let recent = (recentFailures[network] ?? []) + [turn.now]
        recentFailures[network] = recent.suffix(policy.disconnectLimit)
        let index = joined.temporaryFailures - 1
        var delay = index < policy.retryDelays.count ? policy.retryDelays[index] : triesEnd ? nil : policy.retryDelays.last
        // Do not ask the user again while the answers already given may still open the network (D25).
        if case .presentingUI = state, let late = joined.standing?.end.map({ $0.at - turn.now }), delay.map({ $0 < late }) == true
        {
            delay = late
        }
        fail(joined, mayDisassociate: recent.count < policy.disconnectLimit, retryAfter: delay, problem.message, &turn)
    }

    /// Ends a login that failed permanently (T21, T22, T28). The network is held until the user asks for a login (D14).
    mutating func failForGood(_ joined: JoinedNetwork, _ helper: String, _ problem: Problem, _ turn: inout Turn) {
        var joined = joined
        endAttempt(&joined, .failure, &turn)
        forgetChoice(of: helper, in: joined, &turn)
        turn.act(.hold(.autoJoinOff, for: nil, because: problem.message))
        turn.act(.report(problem))
        fail(joined, retryAfter: nil, problem.message, &turn)
    }

    /// Asks to end the link, or keeps it and rests (D19).
    private mutating func fail(
        _ joined: JoinedNetwork, mayDisassociate isAllowed: Bool = true, retryAfter delay: Duration?, _ cause: String,
        _ turn: inout Turn
    ) {
        guard isAllowed, mayDisassociate(joined) else { return rest(joined, retryAfter: delay, cause, &turn) }
        // The machine passes through `failure` within the turn.
        turn.act(.transition(from: state.name, to: .failure, cause: cause))
        disassociate(joined, otherwise: .rest(retryAfter: delay), from: .failure, "hotspotd tries to leave the network", &turn)
    }

    /// Keeps the link, and waits in `failure` (D19).
    mutating func rest(_ joined: JoinedNetwork, retryAfter delay: Duration?, _ cause: String, _ turn: inout Turn) {
        let retry = delay.map { startTimer(.retry, after: $0, &turn) }
        go(.failure(Failed(joined: joined, retry: retry, watch: startWatch(&turn))), cause, &turn)
    }

    /// Waits for the user, the next try, or an open network (D19).
    mutating func handle(_ event: StateEvent, in failed: Failed, _ turn: inout Turn) {
        if event == .restEnded { return release(failed.joined, "the network was switched on", &turn) }
        if let retry = failed.retry, event == .timerFired(retry.id) {
            return evaluate(failed.joined, "it is time to try again", &turn)
        }
        switch advance(failed.watch, event, &turn) {
        case nil: break
        case .continues(let watch): state = .failure(failed.with { $0.watch = watch })
        case .opened(let seconds):
            // Begin a new attempt, so that the history keeps the outcome of the old attempt.
            var joined = failed.joined
            beginAttempt(&joined, &turn)
            openUnclaimed(joined, joined.openOutcome, secondsRemaining: seconds, "the network is open now", &turn)
        }
    }
}
