import HotspotCore

/// A login that counts where the network is found open.
package struct StandingLogin: Hashable, Sendable {
    let id: LoginID
    let helper: String
    let schedule: MaintainSchedule
    package var ground: Ground

    package enum Ground: Hashable, Sendable {
        /// A helper's success that was not proven until now, and the end of D25's time.
        case unproven(RunningTimer)
        /// Answers after which the portal asks again without a word against them, and the same end.
        case undecided(RunningTimer)
        /// It was proven, and stands until the fresh one that the user wants is (D26).
        case fresh
        /// The same, and the portal is back: its session is over, and what is stored of it stays until the fresh one is proven.
        case over
        /// Its helper could not maintain it, or was switched off; it stands until another one is proven.
        case interrupted
        /// The portal did not confirm its logoff; it stands until a logoff is confirmed, or the portal is back (D13).
        case unended
    }

    /// The end of D25's time.
    var end: RunningTimer? {
        switch ground {
        case .unproven(let end), .undecided(let end): end
        case .fresh, .over, .interrupted, .unended: nil
        }
    }
}

extension Machine {
    /// A login that was not proven counts if the network opens now (D25).
    public var awaitsLateOpening: Bool { state.joined?.standing?.end != nil }

    /// The login that an open network proves yet, for the next association with the same network: an access point may drop a client
    /// at its login, to let it in anew (D25).
    public var lateLogin: LateLogin? {
        guard let joined = state.joined, joined.standing?.ground != .fresh else { return nil }
        if let helper = state.chosenHelper, let proof = state.proof {
            let id = joined.standing?.helper == helper ? joined.standing?.id : proof.login
            return LateLogin(id: id, helper: helper, end: proof.began + policy.latePatience, schedule: proof.schedule)
        }
        return joined.standing.flatMap { login in
            login.end.map { LateLogin(id: login.id, helper: login.helper, end: $0.at, schedule: login.schedule) }
        }
    }

    /// Keeps a login that the prober has not proven until now (D25).
    mutating func keepUnproven(_ proof: Proof, of helper: String, in joined: inout JoinedNetwork, _ turn: inout Turn) {
        let end = proof.began + policy.latePatience
        guard end > turn.now else { return }
        if joined.standing?.ground == .fresh { return }
        let ground = StandingLogin.Ground.unproven(startTimer(.late, at: end, &turn))
        // A second success may come without the answers that the first one has: those count, for the time of the second.
        if let first = joined.standing, case .unproven = first.ground, first.helper == helper {
            joined.standing?.ground = ground
        } else {
            setStanding(helper, proof.schedule, ground, as: proof.login, in: &joined, &turn)
        }
    }

    /// Keeps a login whose portal asks again without a word against it: its gateway may open late (D25).
    mutating func keepUndecided(_ helper: String, in joined: inout JoinedNetwork, _ turn: inout Turn) {
        if joined.standing?.ground == .fresh { return }
        let end = startTimer(.late, after: policy.latePatience, &turn)
        setStanding(helper, MaintainSchedule(), .undecided(end), in: &joined, &turn)
    }

    mutating func setStanding(
        _ helper: String, _ schedule: MaintainSchedule, _ ground: StandingLogin.Ground, as new: LoginID? = nil,
        in joined: inout JoinedNetwork, _ turn: inout Turn
    ) {
        // A later login of the same helper is the same login to those that keep it.
        let known = joined.standing?.helper == helper ? joined.standing?.id : nil
        let id = known ?? new ?? issue()
        joined.standing = StandingLogin(id: id, helper: helper, schedule: schedule, ground: ground)
        turn.act(.keepLogin(id, of: helper))
    }

    /// Keeps the login of a helper that cannot maintain it now: what keeps it may be an outage, or a switch.
    mutating func keepInterrupted(_ joined: inout JoinedNetwork, _ turn: inout Turn) {
        guard let helper = state.chosenHelper, let schedule = state.schedule else { return }
        setStanding(helper, schedule, .interrupted, in: &joined, &turn)
    }

    /// Returns the proven login that an open network goes back to, if its helper may be asked.
    func provenLogin(_ joined: JoinedNetwork) -> StandingLogin? {
        guard let login = joined.standing, isCandidate(login.helper) else { return nil }
        switch login.ground {
        case .unproven, .undecided, .over: return nil
        case .fresh, .unended: return login
        case .interrupted: return joined.record.excluded.contains(login.helper) ? nil : login
        }
    }

    /// Returns the helper whose login keeps the network open, and that is switched off: it is not asked, and not even to log off.
    func switchedOffOwner(of joined: JoinedNetwork) -> String? {
        guard let login = joined.standing, !isCandidate(login.helper) else { return nil }
        return login.ground == .interrupted || login.ground == .unended ? login.helper : nil
    }

    /// Drops the login of a helper that is switched off, or that should have ended, where the portal is back: what opens the network next is
    /// another login.
    mutating func dropOver(at verdict: Verdict?, _ turn: inout Turn) {
        guard verdict == .captive, var joined = state.joined, let login = joined.standing else { return }
        if login.ground == .fresh { return state.update { $0.standing?.ground = .over } }
        guard login.ground == .unended || switchedOffOwner(of: joined) != nil else { return }
        dropStanding(&joined, &turn)
        state.update { $0.standing = nil }
        guard login.ground == .unended, case .inactive(.held(_, let reason, _)) = state else { return }
        turn.act(.clearProblems)
        turn.act(.report(.held(reason)))
    }

    /// Returns whether a wish for a login joins one that is under way (D26). A login that waits for its time is not.
    public func joinsLogin(by helper: String?, fresh: Bool) -> Bool {
        if fresh { return false }
        // A hand-over stands for a page that the terminal cannot answer, and the portal may show another one by now (D30).
        if case .presentingUI(let presenting) = state, presenting.handsOver, case .waiting = presenting.phase { return false }
        if case .evaluating = state { return helper == nil }
        // After the helper's success the portal is still there.
        if let proof = state.proof, proof.isDoubtful, state.joined?.lastVerdict == .captive { return false }
        guard state.logsIn, let chosen = state.chosenHelper else { return false }
        return (helper ?? chosen) == chosen && isCandidate(chosen)
    }

    /// Handles the user's wish for a login: joins one that is under way, asks the helper that keeps the network open; starts over where
    /// there is neither, or where the wish is for another helper or a fresh login (D26).
    mutating func logIn(_ joined: JoinedNetwork, by helper: String?, fresh: Bool, _ turn: inout Turn) {
        let cause = "the user asked for a login"
        if joinsLogin(by: helper, fresh: fresh) { return state.update { $0 = joined } }
        var joined = joined
        let chosen = state.chosenHelper ?? ""
        let goesOn = !fresh && (helper ?? chosen) == chosen && isCandidate(chosen)
        switch state {
        case .authenticated(let authenticated):
            guard case .claimed(_, _, let schedule) = authenticated.upkeep else { break }
            if goesOn { return maintain(joined, chosen, startsClosed: false, schedule, cause, &turn) }
            setStanding(chosen, schedule, .fresh, in: &joined, &turn)
        case .maintaining(let maintaining):
            if goesOn {
                state = .maintaining(maintaining.with { ($0.joined, $0.logoffQueued) = (joined, false) })
                return
            }
            setStanding(chosen, maintaining.schedule, .fresh, in: &joined, &turn)
        case .authenticating, .presentingUI: if let proof = state.proof { keepUnproven(proof, of: chosen, in: &joined, &turn) }
        case .loggingOff(let loggingOff):
            state = .loggingOff(loggingOff.with { ($0.joined, $0.sequel) = (joined, .login(by: helper)) })
            return
        case .inactive, .evaluating, .failure: break
        }
        // All that has not returned above starts over.
        evaluate(joined, only: helper, cause, &turn)
    }

    /// Opens the network that opened late, by the login that was not proven in time (D25). Returns `false` if there is none.
    mutating func openLate(_ verdict: Verdict?, _ seconds: Int?, _ turn: inout Turn) -> Bool {
        guard verdict?.isOpen == true, state.proof == nil, let joined = state.joined, let login = joined.standing,
            let end = login.end, turn.now < end.at, isCandidate(login.helper)
        else { return false }
        if case .inactive(.leaving) = state { return false }
        open(login, joined, secondsRemaining: seconds, "it opened late, after \(login.helper) had logged in", &turn)
        return true
    }

    /// Opens the network by a login from before.
    mutating func open(
        _ login: StandingLogin, _ joined: JoinedNetwork, secondsRemaining seconds: Int?, _ cause: String, _ turn: inout Turn
    ) {
        var joined = joined
        if joined.attemptIsOpen { turn.act(.clearProblems) } else { beginAttempt(&joined, &turn) }
        reportUnproven(joined.lastVerdict, &turn)
        turn.act(.releaseHold)
        turn.act(.restoreLogin(login.id, of: login.helper))
        let seconds = login.schedule.end == nil ? seconds : nil
        let isUnverified = joined.lastVerdict?.isOpen != true
        openClaimed(
            joined, login.helper, secondsRemaining: seconds, login.schedule,
            lookingAgain: isUnverified ? policy.watchFirst : nil, isUnverified ? "it may still be logged in" : cause, &turn)
    }

    mutating func dropStanding(_ joined: inout JoinedNetwork, _ turn: inout Turn) {
        guard let login = joined.standing else { return }
        joined.standing = nil
        turn.act(.dropLogin(login.id))
    }

    /// Forgets a choice, unless its login stands until a fresh one is proven (D26).
    mutating func forgetChoice(of helper: String, in joined: JoinedNetwork, _ turn: inout Turn) {
        if let login = joined.standing, login.helper == helper, [.fresh, .over].contains(login.ground) { return }
        turn.act(.forgetChoice(of: helper))
    }
}
