import HotspotCore

extension Machine {
    /// The network is free: a claimed one is maintained (T33), an unclaimed one looked at (D9).
    mutating func handle(_ event: Event, in authenticated: Authenticated, _ turn: inout Turn) {
        let association = authenticated.association
        if case .loginRequested(let wanted) = event {
            turn.act(.releaseHold)
            return evaluate(association.started(byUser: true), only: wanted, "the user asked for a login", &turn)
        }
        switch authenticated.claim {
        case .helper(let helper, let due, let schedule):
            switch event {
            case .timerFired(let id) where id == due.id:
                maintain(association, helper, isJoin: false, schedule, "it is time to maintain", &turn)
            case .verdictSeen(.captive):
                maintain(association, helper, isJoin: false, schedule, "the portal is back", &turn)
            case .logoffRequested(let requester) where acceptsLogoff(by: requester):
                logOff(association, helper, &turn)
            default: break
            }
        case .nobody(let recheck): handle(event, in: recheck, authenticated, &turn)
        }
    }

    private mutating func handle(_ event: Event, in recheck: Recheck, _ authenticated: Authenticated, _ turn: inout Turn) {
        var next = authenticated
        switch (event, recheck.phase) {
        case (.timerFired(let id), .waiting(let deadline)) where deadline.id == id:
            next.claim = .nobody(
                recheck: Recheck(interval: recheck.interval, phase: .looking(startProbe(fresh: true, &turn))))
            state = .authenticated(next)
        case (.verdictReached(let id, let verdict, let seconds), .looking(let probing)) where probing.id == id:
            if verdict == .captive { return evaluate(next.association, "the network is captive now", &turn) }
            var recheck = recheck
            if verdict?.isOpen == true, recheck.interval < policy.recheckFirst {
                // Now it is known to be open, and what was said of it is void.
                recheck.interval = policy.recheckFirst / 2
                turn.act(.clearProblems)
            }
            waitAgain(recheck, next, seconds, &turn)
        case (.verdictSeen(.captive), _):
            evaluate(next.association, "the network is captive now", &turn)
        default: break
        }
    }

    private mutating func waitAgain(_ recheck: Recheck, _ authenticated: Authenticated, _ seconds: Int?, _ turn: inout Turn) {
        var next = authenticated
        let interval = min(recheck.interval * 2, policy.recheckLongest)
        let delay = seconds.map { min(.seconds(max(0, min($0, 86400)) + 5), interval) } ?? interval
        next.claim = .nobody(
            recheck: Recheck(interval: interval, phase: .waiting(startTimer(.recheck, after: delay, &turn))))
        state = .authenticated(next)
    }

    /// Whether ``Event/logoffRequested(by:)`` would end the session now, or after the answer that is awaited (T34, T35, D17).
    public func acceptsLogoff(by requester: Requester) -> Bool {
        switch state {
        case .authenticated, .maintaining: break
        case .inactive, .evaluating, .authenticating, .presentingUI, .loggingOff, .failure: return false
        }
        guard state.gateIsOpen, let helper = state.chosenHelper else { return false }
        return requester == .user || requester == .helper(helper)
    }

    /// T34.
    mutating func logOff(_ association: Association, _ helper: String, _ turn: inout Turn) {
        var association = association
        beginAttempt(&association, &turn)
        let pending = send(.logoff, to: helper, &turn)
        go(.loggingOff(LoggingOff(association: association, helper: helper, pending: pending)), "a logoff was asked for", &turn)
    }
}
