import HotspotCore

extension Machine {
    /// Ends all running operations when the address is lost. No helper is asked, and auto-join stays as it is (T43).
    mutating func leaveNetwork(_ turn: inout Turn) {
        guard var joined = state.joined else { return }
        if case .loggingOff(let loggingOff) = state, loggingOff.sequel == .rest {
            // The portal has not confirmed the logoff, so the network is held at the return (D13).
            endAttempt(&joined, .loggedOff, &turn)
            turn.act(.hold(.loggedOff, for: policy.holdTime, because: Self.unconfirmed))
        } else {
            endAttempt(&joined, .left, &turn)
        }
        dropStanding(&joined, &turn)
        turn.act(.clearProblems)
        if case .inactive = state {
            state = .inactive(.noAddress)
        } else {
            go(.inactive(.noAddress), "the network was left", &turn)
        }
    }

    /// Begins a visit, when the interface has an address in a network: T3 to T7, and D13 for a held network.
    mutating func join(_ joined: JoinedNetwork, _ turn: inout Turn) {
        var joined = joined
        if let late = joined.arrival.late, late.end > turn.now {
            let ground = StandingLogin.Ground.unproven(startTimer(.late, at: late.end, &turn))
            setStanding(late.helper, late.schedule, ground, as: late.id, in: &joined, &turn)
        }
        if let hold = joined.arrival.hold {
            if hold.reason == .loggedOff, hold.cause.map(Self.ended.contains) == false, let helper = joined.arrival.remembered {
                setStanding(helper, joined.arrival.resumed ?? joined.arrival.session, .unended, in: &joined, &turn)
            }
            let timer = hold.until.map { startTimer(.hold, at: $0, &turn) }
            state = .inactive(.held(joined, hold.reason, timer: timer))
            var problem = Problem.held(hold.reason, because: hold.cause)
            if joined.unended != nil { problem = .unended(mayHelp: hold.cause != Self.impossible) }
            turn.act(.report(problem))
            return
        }
        guard let helper = joined.arrival.remembered else { return evaluate(joined, "the network assigned an address", &turn) }
        guard isCandidate(helper) else {
            if let schedule = joined.arrival.resumed { setStanding(helper, schedule, .interrupted, in: &joined, &turn) }
            return evaluate(joined, "the remembered helper is switched off or gone", &turn)
        }
        guard let schedule = joined.arrival.resumed else {
            return maintain(
                joined, helper, startsClosed: true, justJoined: true, joined.arrival.session,
                "the network assigned an address, and a helper is remembered", &turn)
        }
        maintain(joined, helper, startsClosed: false, schedule, "the daemon was restarted in the same association", &turn)
    }

    /// Starts nothing until the user asks for a login, or the hold ends (D13, D14, D21).
    mutating func hold(
        _ joined: JoinedNetwork, _ reason: HoldReason, _ cause: String, telling problem: Problem? = nil, _ turn: inout Turn
    ) {
        let timer = startTimer(.hold, after: policy.holdTime, &turn)
        turn.act(.hold(reason, for: policy.holdTime, because: cause))
        turn.act(.report(problem ?? .held(reason)))
        go(.inactive(.held(joined.resting, reason, timer: timer)), cause, &turn)
    }

    /// Asks to end the link and waits for a limited time, because a manager may keep the link up.
    mutating func disassociate(
        _ joined: JoinedNetwork, otherwise fallback: Inactive.Fallback, from former: StateName? = nil, _ cause: String,
        _ turn: inout Turn
    ) {
        turn.act(.disassociate)
        let timer = startTimer(.leave, after: policy.leavePatience, &turn)
        go(.inactive(.leaving(joined.resting, otherwise: fallback, timer: timer)), from: former, cause, &turn)
    }

    /// Returns whether the link should and can be ended (D19).
    func mayDisassociate(_ joined: JoinedNetwork) -> Bool {
        policy.onFailure == .disconnect && joined.arrival.canDisassociate
    }

    /// Waits: on a held network, for the user or the end of the hold; on a link that is being ended, for its end.
    mutating func handle(_ event: StateEvent, in inactive: Inactive, _ turn: inout Turn) {
        switch inactive {
        case .noAddress: break
        case .leaving(let joined, let fallback, let timer):
            switch event {
            case .disassociationRefused, .timerFired(timer.id): keepLink(joined, fallback, &turn)
            case .timerFired, .restEnded, .logoffRequested, .verdictSeen, .probed, .answered, .raceAnswered, .promptAnswered,
                .promptDismissed:
                break
            }
        case .held(let joined, _, let timer):
            switch event {
            case .restEnded: release(joined, "the network was switched on", &turn)
            case .timerFired(let id): if id == timer?.id { release(joined, "the hold has ended", &turn) }
            case .logoffRequested: if let login = joined.unended { logOffAgain(joined, login, &turn) }
            case .disassociationRefused, .verdictSeen, .probed, .answered, .raceAnswered, .promptAnswered,
                .promptDismissed:
                break
            }
        }
    }

    /// Keeps a link that cannot be ended: holds the network, or waits in `failure` (D19).
    private mutating func keepLink(_ joined: JoinedNetwork, _ fallback: Inactive.Fallback, _ turn: inout Turn) {
        switch fallback {
        case .hold(let reason):
            let timer = startTimer(.hold, after: policy.holdTime, &turn)
            turn.act(.report(joined.unended == nil ? .held(reason) : .logoffUnconfirmed))
            state = .inactive(.held(joined, reason, timer: timer))
        case .rest(let delay): rest(joined, retryAfter: delay, "hotspotd could not leave the network", &turn)
        }
    }

    /// Ends a hold, or the wait in `failure`. If nothing was started since the join, the remembered helper continues; the gate stays closed until
    /// that helper answers.
    mutating func release(_ joined: JoinedNetwork, _ cause: String, _ turn: inout Turn) {
        turn.act(.releaseHold)
        var fresh = joined.started(byUser: false)
        guard joined.arrival.hold != nil, let helper = joined.arrival.remembered else { return evaluate(fresh, cause, &turn) }
        guard isCandidate(helper) else {
            if let schedule = joined.arrival.resumed { setStanding(helper, schedule, .interrupted, in: &fresh, &turn) }
            return evaluate(fresh, cause, &turn)
        }
        maintain(fresh, helper, startsClosed: true, joined.arrival.resumed ?? joined.arrival.session, cause, &turn)
    }
}

extension Problem {
    static let logoffUnconfirmed = Problem(
        .logoffUnconfirmed, "hotspotd leaves this network alone, but you may still be logged in.",
        hint: "hotspotctl logoff")
    static let logoffIneffective = Problem(
        .logoffUnconfirmed,
        "hotspotd logged off, but the last probe still reached the Internet. hotspotd leaves this network alone.",
        hint: "hotspotctl logoff")
    /// The helper says that another logoff would not help.
    static let logoffImpossible = Problem(.logoffUnconfirmed, logoffUnconfirmed.message, hint: "hotspotctl explain")

    /// Returns the problem for a user who returns after an unconfirmed logoff. The hint offers another logoff, if that may help, and a login.
    static func unended(mayHelp: Bool) -> Problem {
        let hint = mayHelp ? "hotspotctl logoff, or to go online: hotspotctl login" : "hotspotctl login"
        return Problem(.logoffUnconfirmed, leftOpen, hint: hint)
    }

    private static let leftOpen =
        "You logged off here, but you may still be logged in. hotspotd leaves this network alone for 12 hours."

    /// Returns why nothing happens on a held network, with the command that helps. If the network was held on an earlier visit, the cause is
    /// included.
    static func held(_ reason: HoldReason, because cause: String? = nil) -> Problem {
        let earlier = cause.map(QuotedProblem.split)
        let sentence =
            switch reason {
            case .loggedOff where cause.map(Machine.ended.contains) ?? true:
                "You logged off here. hotspotd leaves this network alone for 12 hours."
            case .loggedOff: leftOpen
            case .dismissed: "You dismissed the question. hotspotd asks no questions here for 12 hours."
            case .autoJoinOff:
                "The login failed permanently last time\(earlier.map { " (\($0.sentence))" } ?? ""); hotspotd does not try again."
            case .disabled: "hotspotd is switched off for this network."
            }
        let hint = reason == .disabled ? "hotspotctl enable SSID" : "hotspotctl login"
        return Problem(.held, QuotedProblem.join(sentence, earlier?.words), hint: hint)
    }
}
