import HotspotCore

extension Machine {
    /// T40, T41: any answer, a death and the deadline all end the session.
    mutating func handle(_ event: Event, in loggingOff: LoggingOff, _ turn: inout Turn) {
        switch event {
        case .answered(let id, let answer) where id == loggingOff.pending.id:
            switch answer {
            case .crashed: turn.act(.strike(helper: loggingOff.helper))
            case _ where turn.now >= loggingOff.pending.deadline.at: turn.act(.strike(helper: loggingOff.helper))
            // It came in time and is no answer, or the helper was never asked: neither good nor bad.
            case .garbled, .notStarted: break
            case .evaluated, .replied: turn.act(.acquit(helper: loggingOff.helper))
            }
        case .timerFired(let id) where id == loggingOff.pending.deadline.id:
            turn.act(.strike(helper: loggingOff.helper))
        default: return
        }
        endSession(loggingOff.association, "the session has ended", &turn)
    }

    /// D13: the link ends where that is wanted and possible; the network is held in any case.
    mutating func endSession(_ association: Association, _ cause: String, _ turn: inout Turn) {
        var association = association
        endAttempt(&association, .loggedOff, &turn)
        turn.act(.dropSession)
        guard mayDisassociate(association) else { return hold(association, .loggedOff, cause, &turn) }
        turn.act(.hold(.loggedOff, for: policy.holdTime, because: cause))
        turn.act(.disassociate)
        leave(association, otherwise: .hold(.loggedOff), cause, &turn)
    }

    /// D19: the link is kept. The user, time, or an open network leads out.
    mutating func handle(_ event: Event, in failed: Failed, _ turn: inout Turn) {
        var next = failed
        switch event {
        case .loginRequested(let wanted):
            turn.act(.releaseHold)
            return evaluate(failed.association.started(byUser: true), only: wanted, "the user asked for a login", &turn)
        case .released:
            turn.act(.releaseHold)
            return evaluate(failed.association.started(byUser: false), "the network was switched on", &turn)
        case .timerFired(let id) where id == failed.retry?.id:
            return evaluate(failed.association, "it is time to try again", &turn)
        default: break
        }
        switch advance(failed.watch, event, &turn) {
        case .none: break
        case .goesOn(let watch):
            next.watch = watch
            state = .failure(next)
        case .opened(let seconds):
            // An attempt of its own, so that the history tells how it ended.
            var association = failed.association
            beginAttempt(&association, &turn)
            openUnclaimed(association, .open, secondsRemaining: seconds, "the network opened by itself", &turn)
        }
    }
}
