import HotspotCore

/// A login that counts where the network is found open: a helper's success that was not proven in time (D25), or the login from before a
/// fresh one (D26).
package struct StandingLogin: Hashable, Sendable {
    let helper: String
    let schedule: MaintainSchedule
    /// The end of D25's time; `nil` for a login that was proven, and that stands until another one is.
    package let end: RunningTimer?
}

extension Machine {
    /// Keeps a login that the prober has not proven until now (D25).
    mutating func keep(_ proof: Proof, of helper: String, in joined: inout JoinedNetwork, _ turn: inout Turn) {
        let end = proof.began + policy.latePatience
        guard end > turn.now else { return }
        var schedule = MaintainSchedule()
        schedule.update(secondsRemaining: proof.secondsRemaining, at: proof.began)
        joined.standing = StandingLogin(helper: helper, schedule: schedule, end: startTimer(.late, at: end, &turn))
        turn.act(.keepLogin(of: helper))
    }

    /// Handles the user's wish for a login: asks the helper that keeps the network open; starts over where there is none, or where the
    /// wish is for another helper or a fresh login (D26).
    mutating func logIn(_ joined: JoinedNetwork, by helper: String?, fresh: Bool, _ turn: inout Turn) {
        let cause = "the user asked for a login"
        var joined = joined
        let chosen = state.chosenHelper ?? ""
        let goesOn = !fresh && (helper ?? chosen) == chosen && isCandidate(chosen)
        func keep(_ schedule: MaintainSchedule) {
            joined.standing = StandingLogin(helper: chosen, schedule: schedule, end: nil)
            turn.act(.keepLogin(of: chosen))
        }
        switch state {
        case .authenticated(let authenticated):
            guard case .claimed(_, _, let schedule) = authenticated.upkeep else { break }
            if goesOn { return maintain(joined, chosen, isJoin: false, schedule, cause, &turn) }
            keep(schedule)
        case .maintaining(let maintaining) where !maintaining.isJoin:
            if goesOn {
                state = .maintaining(maintaining.with { ($0.joined, $0.logoffQueued) = (joined, false) })
                return
            }
            keep(maintaining.schedule)
        case .authenticating, .presentingUI: if let proof = state.proof { self.keep(proof, of: chosen, in: &joined, &turn) }
        case .inactive, .evaluating, .maintaining, .loggingOff, .failure: break
        }
        evaluate(joined, only: helper, cause, &turn)
    }

    /// Opens the network that opened late, by the login that was not proven in time (D25). Returns `false` if there is none.
    mutating func openLate(_ verdict: Verdict?, _ seconds: Int?, _ turn: inout Turn) -> Bool {
        guard verdict?.isOpen == true, state.proof == nil, let joined = state.joined, let login = joined.standing,
            let end = login.end, turn.now < end.at, isCandidate(login.helper)
        else { return false }
        if case .inactive(.leaving) = state { return false }
        open(login, joined, secondsRemaining: seconds, "openedLate: it opened after \(login.helper) had logged in", &turn)
        return true
    }

    /// Opens the network by a login from before.
    mutating func open(
        _ login: StandingLogin, _ joined: JoinedNetwork, secondsRemaining seconds: Int?, _ cause: String, _ turn: inout Turn
    ) {
        var joined = joined
        if joined.attemptIsOpen { turn.act(.clearProblems) } else { beginAttempt(&joined, &turn) }
        turn.act(.releaseHold)
        turn.act(.restoreLogin(of: login.helper))
        let seconds = login.schedule.end == nil ? seconds : nil
        openClaimed(joined, login.helper, secondsRemaining: seconds, login.schedule, cause, &turn)
    }

    mutating func dropStanding(_ joined: inout JoinedNetwork, _ turn: inout Turn) {
        guard joined.standing != nil else { return }
        joined.standing = nil
        turn.act(.dropLogin)
    }

    /// Forgets a choice, unless its login stands until a fresh one is proven (D26).
    mutating func forgetChoice(of helper: String, in joined: JoinedNetwork, _ turn: inout Turn) {
        if let login = joined.standing, login.helper == helper, login.end == nil { return }
        turn.act(.forgetChoice(of: helper))
    }
}
