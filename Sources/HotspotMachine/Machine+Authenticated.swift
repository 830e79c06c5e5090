import HotspotCore

extension Machine {
    /// Opens the network for a login of this helper, and remembers the helper (T17, T25, T36, D5).
    ///
    /// - Parameter soon: the time to the next probe if the prober does not confirm that the network is open.
    mutating func openClaimed(
        _ joined: JoinedNetwork, _ helper: String, secondsRemaining: Int?, _ schedule: MaintainSchedule,
        lookingAgain soon: Duration? = nil, _ cause: String, _ turn: inout Turn
    ) {
        var joined = joined
        let isUnverified = soon != nil
        endAttempt(&joined, isUnverified ? .unknown : .online, &turn)
        joined.isUnverified = isUnverified
        dropStanding(&joined, &turn)
        joined.temporaryFailures = 0
        if !isUnverified { joined.trail = PortalTrail() }
        // D11: forgive only after a session that lasted; a login that the next Maintain finds invalid was not a success.
        if joined.pace.hasLasted(at: turn.now, policy) { joined.record.sessionLasted(helper) }
        recentFailures[joined.arrival.network] = nil
        turn.act(.remember(helper: helper))
        var schedule = schedule
        schedule.update(secondsRemaining: secondsRemaining, at: turn.now)
        let upkeep = claim(&joined, by: helper, schedule, after: soon ?? policy.maintainInterval, &turn)
        go(.authenticated(Authenticated(joined: joined, upkeep: upkeep)), cause, &turn)
    }

    private mutating func claim(
        _ joined: inout JoinedNetwork, by helper: String, _ schedule: MaintainSchedule, after interval: Duration,
        _ turn: inout Turn
    ) -> Authenticated.Upkeep {
        let wanted = schedule.next(after: turn.now, interval: interval)
        var due = joined.pace.nextCheck(wanted: wanted, at: turn.now, policy)
        if let wish = joined.wantedMaintain { due = min(due, max(wish, turn.now)) }
        return .claimed(by: helper, maintain: startTimer(.maintain, at: due, &turn), schedule)
    }

    private mutating func watching(after interval: Duration, secondsRemaining: Int?, _ turn: inout Turn) -> Authenticated.Upkeep {
        let timer = startTimer(.recheck, after: recheckDelay(secondsRemaining, interval), &turn)
        return .unclaimed(Watch(interval: interval, phase: .waiting(timer)))
    }

    /// Probes again soon, or sends Maintain soon, because a check could not reach the Internet through the open network.
    private mutating func doubt(_ authenticated: Authenticated, _ turn: inout Turn) {
        var joined = authenticated.joined
        joined.isUnverified = true
        turn.act(.report(.limited))
        let upkeep =
            switch authenticated.upkeep {
            case .claimed(let helper, _, let schedule): claim(&joined, by: helper, schedule, after: policy.watchFirst, &turn)
            case .unclaimed: watching(after: policy.retryFirst, secondsRemaining: nil, &turn)
            }
        state = .authenticated(Authenticated(joined: joined, upkeep: upkeep))
    }

    /// Opens a network that no helper claims, if it is open or not known to be captive (D9). If an earlier login is proven, the network opens through
    /// that login (D26).
    mutating func openUnclaimed(
        _ joined: JoinedNetwork, _ outcome: AttemptOutcome, secondsRemaining seconds: Int?, _ cause: String, _ turn: inout Turn
    ) {
        if let login = provenLogin(joined) {
            return open(login, joined, secondsRemaining: seconds, "no new login was needed", &turn)
        }
        var joined = joined
        if outcome != .unknown, let owner = switchedOffOwner(of: joined), let login = joined.standing {
            turn.act(.restoreLogin(login.id, of: owner))
            turn.act(.keepLogin(login.id, of: owner))
            endAttempt(&joined, .online, &turn)
        } else {
            endAttempt(&joined, outcome, &turn)
            joined.isUnverified = outcome == .unknown
        }
        if outcome != .unknown, joined.standing?.end != nil || joined.standing?.ground == .over { dropStanding(&joined, &turn) }
        joined.temporaryFailures = 0
        recentFailures[joined.arrival.network] = nil
        // Without a verdict, the next probe comes soon: first the prober's retries, then the intervals of D9.
        let interval = outcome == .unknown ? policy.retryFirst : policy.recheckFirst
        let delay = recheckDelay(seconds, interval)
        let due = joined.pace.nextCheck(wanted: turn.now + delay, at: turn.now, policy)
        let watch = Watch(interval: interval, phase: .waiting(startTimer(.recheck, at: due, &turn)))
        go(.authenticated(Authenticated(joined: joined, upkeep: .unclaimed(watch))), cause, &turn)
    }

    /// Returns the time to the next probe of an unclaimed network: the interval, or less if the session ends earlier.
    private func recheckDelay(_ secondsRemaining: Int?, _ interval: Duration) -> Duration {
        secondsRemaining.map { min(.seconds(max(0, min($0, 86400)) + 5), interval) } ?? interval
    }

    /// Waits for the next maintain of a claimed network (T33), or the next probe of an unclaimed one (D9).
    mutating func handle(_ event: StateEvent, in authenticated: Authenticated, _ turn: inout Turn) {
        let joined = authenticated.joined
        if case .verdictSeen(.limited) = event, !joined.isUnverified { return doubt(authenticated, &turn) }
        switch authenticated.upkeep {
        case .claimed(let helper, let timer, let schedule):
            switch event {
            case .timerFired(timer.id):
                maintain(joined, helper, startsClosed: false, schedule, "it is time to check the session", &turn)
            case .verdictSeen(.captive): maintain(joined, helper, startsClosed: false, schedule, "the portal is back", &turn)
            case .verdictSeen(let verdict) where verdict.isOpen && joined.isUnverified:
                maintain(joined, helper, startsClosed: false, schedule, "the Internet answers again", &turn)
            case .logoffRequested: logOff(joined, helper, &turn)
            case .timerFired, .verdictSeen, .probed, .answered, .raceAnswered, .promptAnswered, .promptDismissed, .restEnded,
                .disassociationRefused:
                break
            }
        case .unclaimed(let watch):
            switch event {
            case .timerFired(let id) where id == watch.phase.timer?.id:
                let probe = startProbe(fresh: true, &turn)
                state = .authenticated(authenticated.with { $0.upkeep = .unclaimed(watch.with { $0.phase = .probing(probe) }) })
            case .probed(.captive, _), .verdictSeen(.captive): evaluate(joined, "the network is captive now", &turn)
            case .probed(let verdict, let seconds): recheck(watch, verdict, seconds, authenticated, &turn)
            case .verdictSeen(let verdict) where verdict.isOpen && joined.isUnverified:
                recheck(watch, verdict, nil, authenticated, &turn)
            case .timerFired, .verdictSeen, .answered, .raceAnswered, .promptAnswered, .promptDismissed, .logoffRequested,
                .restEnded, .disassociationRefused:
                break
            }
        }
    }

    /// Waits for the next probe of an unclaimed network, twice as long as last time.
    private mutating func recheck(
        _ watch: Watch, _ verdict: Verdict?, _ seconds: Int?, _ authenticated: Authenticated, _ turn: inout Turn
    ) {
        var authenticated = authenticated
        var interval = watch.interval * 2
        if verdict?.isOpen == true, authenticated.joined.isUnverified {
            // The network is now known to be open: a new attempt records that, and the reported problem no longer applies.
            interval = policy.recheckFirst
            beginAttempt(&authenticated.joined, &turn)
            reportUnproven(verdict, &turn)
            endAttempt(&authenticated.joined, authenticated.joined.openOutcome, &turn)
        }
        interval = min(interval, policy.recheckLongest)
        let upkeep = watching(after: interval, secondsRemaining: seconds, &turn)
        state = .authenticated(authenticated.with { $0.upkeep = upkeep })
    }
}
