import HotspotCore

/// An earlier login that counts if the network is found open.
package struct StandingLogin: Hashable, Sendable {
    let id: LoginID
    let helper: String
    let schedule: MaintainSchedule
    package var ground: Ground

    package enum Ground: Hashable, Sendable {
        /// A helper reported a success that is not proven yet; the timer ends the wait for the proof (D25).
        case unproven(RunningTimer)
        /// Answers were sent, and the portal asked again without an error; the timer ends the wait for a late opening (D25).
        case undecided(RunningTimer)
        /// This login is proven, and the user wants another, fresh login. This one counts until the fresh one is proven (D26).
        case fresh
        /// The portal is back, so the session is over. Its stored records are kept until the fresh login is proven.
        case over
        /// The helper could not maintain the login, or was switched off. The login counts until another one is proven.
        case interrupted
        /// The portal did not confirm the logoff. The login counts until a logoff is confirmed or the portal is back (D13).
        case unended
    }

    /// The end of the time for a late success (D25).
    var end: RunningTimer? {
        switch ground {
        case .unproven(let end), .undecided(let end): end
        case .fresh, .over, .interrupted, .unended: nil
        }
    }
}

extension Machine {
    /// Whether an unproven login counts if the network opens now (D25).
    public var awaitsLateOpening: Bool { state.joined?.standing?.end != nil }

    /// The login that an open network would still prove, for the next association with the same network: some access points drop a client after its
    /// login and then let it in again (D25).
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

    /// Keeps a login that the prober has not proven so far (D25).
    mutating func keepUnproven(_ proof: Proof, of helper: String, in joined: inout JoinedNetwork, _ turn: inout Turn) {
        let end = proof.began + policy.latePatience
        guard end > turn.now else { return }
        if joined.standing?.ground == .fresh { return }
        let ground = StandingLogin.Ground.unproven(startTimer(.late, at: end, &turn))
        // Keep the first login with its answers, until the second login's time ends: the second login may have sent no answers because the first had
        // sent them.
        if let first = joined.standing, case .unproven = first.ground, first.helper == helper {
            joined.standing?.ground = ground
        } else {
            setStanding(helper, proof.schedule, ground, as: proof.login, in: &joined, &turn)
        }
    }

    /// Keeps a login whose portal asks again without an error: its gateway may open late (D25).
    mutating func keepUndecided(_ helper: String, in joined: inout JoinedNetwork, _ turn: inout Turn) {
        if joined.standing?.ground == .fresh { return }
        let end = startTimer(.late, after: policy.latePatience, &turn)
        setStanding(helper, MaintainSchedule(), .undecided(end), in: &joined, &turn)
    }

    mutating func setStanding(
        _ helper: String, _ schedule: MaintainSchedule, _ ground: StandingLogin.Ground, as new: LoginID? = nil,
        in joined: inout JoinedNetwork, _ turn: inout Turn
    ) {
        // Reuse the ID: the records treat a later login of the same helper as the same login.
        let known = joined.standing?.helper == helper ? joined.standing?.id : nil
        let id = known ?? new ?? issue()
        joined.standing = StandingLogin(id: id, helper: helper, schedule: schedule, ground: ground)
        turn.act(.keepLogin(id, of: helper))
    }

    /// Keeps the login of a helper that cannot maintain it now, because of an outage or because it was switched off.
    mutating func keepInterrupted(_ joined: inout JoinedNetwork, _ turn: inout Turn) {
        guard let helper = state.chosenHelper, let schedule = state.schedule else { return }
        setStanding(helper, schedule, .interrupted, in: &joined, &turn)
    }

    /// Returns the proven login that counts if the network is open, unless its helper may not be asked.
    func provenLogin(_ joined: JoinedNetwork) -> StandingLogin? {
        guard let login = joined.standing, isCandidate(login.helper) else { return nil }
        switch login.ground {
        case .unproven, .undecided, .over: return nil
        case .fresh, .unended: return login
        case .interrupted: return joined.record.excluded.contains(login.helper) ? nil : login
        }
    }

    /// Returns the helper whose login keeps the network open, if the helper was switched off: it gets no command, not even a logoff.
    func switchedOffOwner(of joined: JoinedNetwork) -> String? {
        guard let login = joined.standing, !isCandidate(login.helper) else { return nil }
        return login.ground == .interrupted || login.ground == .unended ? login.helper : nil
    }

    /// If the portal is back, drops a login whose helper is switched off, or which a logoff should have ended. The next opening then belongs to
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

    /// Returns whether a request for a login joins a running login (D26). A scheduled login does not count as running.
    public func joinsLogin(by helper: String?, fresh: Bool) -> Bool {
        if fresh { return false }
        // Do not join a waiting hand-over: a terminal cannot answer its page, and the portal may show another page by now (D30).
        if case .presentingUI(let presenting) = state, presenting.handsOver, case .waiting = presenting.phase { return false }
        if case .evaluating = state { return helper == nil }
        // Do not join a doubtful login: the portal is still there after the helper's success.
        if let proof = state.proof, proof.isDoubtful, state.joined?.lastVerdict == .captive { return false }
        guard state.logsIn, let chosen = state.chosenHelper else { return false }
        return (helper ?? chosen) == chosen && isCandidate(chosen)
    }

    /// Handles the user's request for a login. Joins a running login, or asks the helper that keeps the network open. Otherwise, or if the request
    /// names another helper or wants a fresh login, starts over (D26).
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
        // Every other case starts over.
        evaluate(joined, only: helper, cause, &turn)
    }

    /// Opens a network that opened late, through the login that was not proven in time (D25). Returns `false` if there is no such login.
    mutating func openLate(_ verdict: Verdict?, _ seconds: Int?, _ turn: inout Turn) -> Bool {
        guard verdict?.isOpen == true, state.proof == nil, let joined = state.joined, let login = joined.standing,
            let end = login.end, turn.now < end.at, isCandidate(login.helper)
        else { return false }
        if case .inactive(.leaving) = state { return false }
        open(login, joined, secondsRemaining: seconds, "the network opened late, after \(login.helper) had logged in", &turn)
        return true
    }

    /// Opens the network through an earlier login.
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
            lookingAgain: isUnverified ? policy.watchFirst : nil, isUnverified ? "the earlier login may still be valid" : cause,
            &turn)
    }

    mutating func dropStanding(_ joined: inout JoinedNetwork, _ turn: inout Turn) {
        guard let login = joined.standing else { return }
        joined.standing = nil
        turn.act(.dropLogin(login.id))
    }

    /// Forgets a choice, unless its login counts until a fresh login is proven (D26).
    mutating func forgetChoice(of helper: String, in joined: JoinedNetwork, _ turn: inout Turn) {
        if let login = joined.standing, login.helper == helper, [.fresh, .over].contains(login.ground) { return }
        turn.act(.forgetChoice(of: helper))
    }
}
