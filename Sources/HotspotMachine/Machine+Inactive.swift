import HotspotCore

extension Machine {
    /// Nothing runs; a held interface waits for the user or for the hold's end.
    mutating func handle(_ event: Event, in inactive: Inactive, _ turn: inout Turn) {
        switch inactive {
        case .noAddress: break
        case .leaving(let association, let fallback, let timer):
            switch event {
            case .disassociationRefused, .timerFired(timer.id): break
            default: return
            }
            // D19: what cannot be dropped is kept, and is held or rests.
            switch fallback {
            case .hold(let reason):
                let timer = startTimer(.hold, after: policy.holdTime, &turn)
                turn.act(.report(.held(reason)))
                state = .inactive(.held(association, reason, timer: timer))
            case .rest(let delay): rest(association, retryAfter: delay, "the link could not be ended", &turn)
            }
        case .held(let association, _, let timer):
            switch event {
            case .loginRequested(let helper):
                turn.act(.releaseHold)
                evaluate(association.started(byUser: true), only: helper, "the user asked for a login", &turn)
            case .released: release(association, "the network was switched on", &turn)
            case .timerFired(let id) where id == timer?.id: release(association, "the hold is over", &turn)
            default: break
            }
        }
    }

    private mutating func release(_ association: Association, _ cause: String, _ turn: inout Turn) {
        turn.act(.releaseHold)
        evaluate(association.started(byUser: false), cause, &turn)
    }
}

extension Association {
    /// The same link in `inactive`, which forgets who was excluded (behaviour 10).
    var resting: Association {
        var fresh = self
        fresh.excluded = []
        fresh.winsAfterFailedMaintain = [:]
        fresh.setbacks = [:]
        return fresh
    }

    /// A session of this helper lasted: nothing is held against it any more (D11, D24).
    mutating func forgive(_ helper: String) {
        winsAfterFailedMaintain[helper] = nil
        setbacks[helper] = nil
    }

    /// The same link, with nothing held against anybody: who is asked to start over does.
    func started(byUser: Bool) -> Association {
        var fresh = resting
        fresh.arrival.hold = nil
        fresh.temporaryFailures = 0
        fresh.pace = Pace()
        // D22: the user's wish makes it the user's join.
        if byUser { fresh.arrival.autoJoined = false }
        return fresh
    }
}
