import HotspotCore

extension Machine {
    /// Nothing runs; a held interface waits for the user or for the hold's end.
    mutating func handle(_ event: Event, in inactive: Inactive, _ turn: inout Turn) {
        switch inactive {
        case .noAddress: break
        case .leaving(let association):
            guard case .disassociationRefused = event else { return }
            // D19: what cannot be dropped is kept, and rests.
            rest(association, retry: nil, "the link could not be ended", &turn)
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
    /// The same link, with nothing held against anybody: who is asked to start over does.
    func started(byUser: Bool) -> Association {
        var fresh = self
        fresh.arrival.hold = nil
        fresh.excluded = []
        fresh.winsAfterFailedMaintain = [:]
        fresh.temporaryFailures = 0
        // D22: the user's wish makes it the user's join.
        if byUser { fresh.arrival.autoJoined = false }
        return fresh
    }
}
