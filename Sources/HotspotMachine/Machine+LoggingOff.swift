import HotspotCore

extension Machine {
    /// Asks the chosen helper to end the session (T34).
    mutating func logOff(_ joined: JoinedNetwork, _ helper: String, _ turn: inout Turn) {
        var joined = joined
        beginAttempt(&joined, &turn)
        let command = send(.logoff, to: helper, &turn)
        go(.loggingOff(LoggingOff(joined: joined, helper: helper, command: command)), "a logoff was asked for", &turn)
    }

    /// Ends the session at any answer, a crash and the deadline (T40, T41). What the portal did not confirm is told.
    mutating func handle(_ event: StateEvent, in loggingOff: LoggingOff, _ turn: inout Turn) {
        guard case .answered(let answer) = event else { return }
        switch answer {
        case nil: turn.act(.strike(helper: loggingOff.helper, .silence))
        case .crashed: turn.act(.strike(helper: loggingOff.helper, .crash))
        // It came in time and is no answer, or the helper was never asked: neither good nor bad.
        case .garbled, .notStarted: break
        case .evaluated, .replied: turn.act(.acquit(helper: loggingOff.helper))
        }
        switch loggingOff.sequel {
        case .rest:
            if case .replied(.success, _, _, _)? = answer { return endSession(loggingOff.joined, "the session has ended", &turn) }
            endSession(loggingOff.joined, "the portal did not confirm the logoff", telling: .logoffUnconfirmed, &turn)
        case .login(let helper):
            var joined = loggingOff.joined
            endAttempt(&joined, .loggedOff, &turn)
            turn.act(.dropSession)
            evaluate(joined, only: helper, "the session has ended, and the user asked for a login", &turn)
        }
    }

    /// Ends the link where that is wanted and possible; holds the network in any case (D13).
    mutating func endSession(
        _ joined: JoinedNetwork, _ cause: String, telling problem: Problem = .held(.loggedOff), _ turn: inout Turn
    ) {
        var joined = joined
        endAttempt(&joined, .loggedOff, &turn)
        turn.act(.dropSession)
        guard mayDisassociate(joined) else { return hold(joined, .loggedOff, cause, telling: problem, &turn) }
        turn.act(.hold(.loggedOff, for: policy.holdTime, because: cause))
        if problem == .logoffUnconfirmed { turn.act(.report(problem)) }
        disassociate(joined, otherwise: .hold(.loggedOff), cause, &turn)
    }
}
