import HotspotCore

extension Machine {
    /// Asks the chosen helper to end the session (T34).
    mutating func logOff(_ joined: JoinedNetwork, _ helper: String, _ turn: inout Turn) {
        var joined = joined
        beginAttempt(&joined, &turn)
        let command = send(.logoff, to: helper, &turn)
        go(
            .loggingOff(LoggingOff(joined: joined, helper: helper, phase: .commanding(command))), "the user asked for a logoff",
            &turn)
    }

    /// Waits for any answer, a crash or the deadline (T40, T41), and then for the portal (D31).
    mutating func handle(_ event: StateEvent, in loggingOff: LoggingOff, _ turn: inout Turn) {
        switch loggingOff.phase {
        case .commanding:
            if case .answered(let answer) = event { handle(answer, in: loggingOff, &turn) }
        case .proving(let proof, let otherwise):
            switch advanceLogoff(proof, event, &turn) {
            case nil: break
            case .continues(let proof):
                state = .loggingOff(loggingOff.with { $0.phase = .proving(proof, otherwise: otherwise) })
            // If the helper did not report success, only a visible portal proves that the session has ended.
            case .confirmed where otherwise == .ineffective || state.joined?.lastVerdict == .captive:
                conclude(loggingOff, .confirmed, &turn)
            case .confirmed, .refuted: conclude(loggingOff, otherwise, &turn)
            }
        }
    }

    private mutating func handle(_ answer: CommandAnswer?, in loggingOff: LoggingOff, _ turn: inout Turn) {
        switch answer {
        case nil: turn.act(.strike(helper: loggingOff.helper, .silence))
        case .crashed: turn.act(.strike(helper: loggingOff.helper, .crash))
        // The answer does not follow the contract, or the helper was never asked: this neither causes nor forgives strikes.
        case .garbled, .notStarted: break
        case .evaluated, .replied: turn.act(.acquit(helper: loggingOff.helper))
        }
        let result: LogoffResult =
            switch answer {
            case .replied(.success, _, _, _, _)?: policy.logoffDelays.isEmpty ? .confirmed : .ineffective
            case .replied(.failure, _, _, _, _)?: .impossible
            case nil, .crashed, .garbled, .notStarted, .evaluated, .replied: .unconfirmed
            }
        guard !policy.logoffDelays.isEmpty else { return conclude(loggingOff, result, &turn) }
        let proof = Proof(
            login: issue(), began: turn.now, end: turn.now, phase: .probing(startProbe(fresh: true, &turn)),
            secondsRemaining: nil)
        state = .loggingOff(loggingOff.with { $0.phase = .proving(proof, otherwise: result) })
    }

    /// Ends the logoff. If the session may still continue, the user can log off again.
    private mutating func conclude(_ loggingOff: LoggingOff, _ result: LogoffResult, _ turn: inout Turn) {
        let cause =
            switch result {
            case .confirmed: Self.sessionEnded
            case .unconfirmed: Self.unconfirmed
            case .impossible: Self.impossible
            case .ineffective: "the Internet still answers after the logoff"
            }
        switch loggingOff.sequel {
        case .rest: endSession(loggingOff.joined, of: loggingOff.helper, result, cause, &turn)
        case .login(let helper):
            var joined = loggingOff.joined
            end(&joined, of: loggingOff.helper, result, &turn)
            evaluate(joined, only: helper, "\(cause), and the user asked for a login", &turn)
        }
    }

    /// The causes of a hold after a logoff. With a cause in `ended`, the session is over.
    private static let sessionEnded = "the session has ended"
    static let alreadyEnded = "the session had already ended"
    static let ended: Set<String> = [sessionEnded, alreadyEnded]
    static let unconfirmed = "the logoff is not confirmed"
    static let impossible = "the logoff failed"

    /// Ends the link if it should and can be ended; holds the network in any case (D13).
    mutating func endSession(
        _ joined: JoinedNetwork, of helper: String, _ result: LogoffResult, _ cause: String, _ turn: inout Turn
    ) {
        var joined = joined
        end(&joined, of: helper, result, &turn)
        let problem =
            switch result {
            case .confirmed: Problem.held(.loggedOff)
            case .unconfirmed: Problem.logoffUnconfirmed
            case .impossible: Problem.logoffImpossible
            case .ineffective: Problem.logoffIneffective
            }
        guard mayDisassociate(joined) else { return hold(joined, .loggedOff, cause, telling: problem, &turn) }
        turn.act(.hold(.loggedOff, for: policy.holdTime, because: cause))
        if result != .confirmed { turn.act(.report(problem)) }
        disassociate(joined, otherwise: .hold(.loggedOff), cause, &turn)
    }

    private mutating func end(_ joined: inout JoinedNetwork, of helper: String, _ result: LogoffResult, _ turn: inout Turn) {
        endAttempt(&joined, .loggedOff, &turn)
        guard result != .confirmed else { return turn.act(.dropSession) }
        setStanding(helper, MaintainSchedule(), .unended, in: &joined, &turn)
    }

    /// Tries again to end a session, because the portal did not confirm the first logoff.
    mutating func logOffAgain(_ joined: JoinedNetwork, _ login: StandingLogin, _ turn: inout Turn) {
        var joined = joined
        turn.act(.restoreLogin(login.id, of: login.helper))
        dropStanding(&joined, &turn)
        logOff(joined, login.helper, &turn)
    }
}

/// Whether a logoff ended the session.
package enum LogoffResult: Hashable, Sendable {
    case confirmed
    /// The portal did not confirm the logoff.
    case unconfirmed
    /// The helper says that another logoff would not help.
    case impossible
    /// The helper says that the session has ended, but the network is still open (D31).
    case ineffective
}
