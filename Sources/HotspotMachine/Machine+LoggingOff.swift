import HotspotCore

extension Machine {
    /// Asks the chosen helper to end the session (T34).
    mutating func logOff(_ joined: JoinedNetwork, _ helper: String, _ turn: inout Turn) {
        var joined = joined
        beginAttempt(&joined, &turn)
        let command = send(.logoff, to: helper, &turn)
        go(.loggingOff(LoggingOff(joined: joined, helper: helper, command: command)), "a logoff was asked for", &turn)
    }

    /// Ends the session at any answer, a crash and the deadline (T40, T41). A logoff that the portal did not confirm is reported, and the
    /// session can be ended again.
    mutating func handle(_ event: StateEvent, in loggingOff: LoggingOff, _ turn: inout Turn) {
        guard case .answered(let answer) = event else { return }
        switch answer {
        case nil: turn.act(.strike(helper: loggingOff.helper, .silence))
        case .crashed: turn.act(.strike(helper: loggingOff.helper, .crash))
        // It came in time and is no answer, or the helper was never asked: neither good nor bad.
        case .garbled, .notStarted: break
        case .evaluated, .replied: turn.act(.acquit(helper: loggingOff.helper))
        }
        let isConfirmed = if case .replied(.success, _, _, _)? = answer { true } else { false }
        let cause = isConfirmed ? "the session has ended" : "the logoff is not confirmed"
        let unended = isConfirmed ? nil : loggingOff.helper
        let isImpossible = if case .replied(.failure, _, _, _)? = answer { true } else { false }
        switch loggingOff.sequel {
        case .rest: endSession(loggingOff.joined, leftTo: unended, isImpossible: isImpossible, cause, &turn)
        case .login(let helper):
            var joined = loggingOff.joined
            end(&joined, leftTo: unended, &turn)
            evaluate(joined, only: helper, "\(cause), and the user asked for a login", &turn)
        }
    }

    /// Ends the link where that is wanted and possible; holds the network in any case (D13).
    ///
    /// - Parameters:
    ///   - helper: the one whose session may go on, because the portal did not confirm its end.
    ///   - isImpossible: the helper says that another logoff would not help.
    mutating func endSession(
        _ joined: JoinedNetwork, leftTo helper: String? = nil, isImpossible: Bool = false, _ cause: String, _ turn: inout Turn
    ) {
        var joined = joined
        end(&joined, leftTo: helper, &turn)
        let problem = helper == nil ? Problem.held(.loggedOff) : isImpossible ? .logoffImpossible : .logoffUnconfirmed
        guard mayDisassociate(joined) else { return hold(joined, .loggedOff, cause, telling: problem, &turn) }
        turn.act(.hold(.loggedOff, for: policy.holdTime, because: cause))
        if helper != nil { turn.act(.report(problem)) }
        disassociate(joined, otherwise: .hold(.loggedOff), cause, &turn)
    }

    private mutating func end(_ joined: inout JoinedNetwork, leftTo helper: String?, _ turn: inout Turn) {
        endAttempt(&joined, .loggedOff, &turn)
        guard let helper else { return turn.act(.dropSession) }
        setStanding(helper, MaintainSchedule(), .unended, in: &joined, &turn)
    }

    /// Tries again to end a session whose logoff the portal did not confirm.
    mutating func logOffAgain(_ joined: JoinedNetwork, _ login: StandingLogin, _ turn: inout Turn) {
        var joined = joined
        turn.act(.restoreLogin(of: login.helper))
        dropStanding(&joined, &turn)
        logOff(joined, login.helper, &turn)
    }
}
