import EventLoop
import HotspotCore
import HotspotMachine
import Store

/// The store's records of a login, for the next visit and for the next daemon.
extension InterfaceController {
    /// Returns the record of the association for the next daemon.
    private func association(of helper: String, ends: Instant?, until: Instant? = nil) -> StoredAssociation? {
        guard let joined, !joined.isForgotten else { return nil }
        return joined.snapshot.associationMark.map {
            StoredAssociation(
                interface: index, helper: helper, link: $0, id: joined.association, ends: ends.map(WallClock.time(of:)),
                until: until.map(WallClock.time(of:)))
        }
    }

    /// Records for the next daemon that the association has ended, unless the association still belongs to a login. A network that is switched off is
    /// left alone, and its session may continue.
    func endAssociation(_ reason: LeaveReason = .linkLost) {
        guard !machine.keepsLogin, reason != .daemonEnds, reason != .switchedOff else { return }
        save("ending an association") { try $0.endAssociation($1, of: index) }
    }

    /// Stores a login that is not proven yet, in case the daemon restarts meanwhile (D25).
    func awaitProof(of helper: String, until end: Instant) {
        guard let association = association(of: helper, ends: sessions.present.end, until: end) else { return }
        save("a login that is not proven") { store, network in
            let sealed = services.settings.remember == .never ? nil : try sessions.sealed(for: network, of: helper)
            try store.setAssociation(network, association, sealed: sealed)
        }
    }

    func remember(_ helper: String) {
        guard let joined else { return }
        // Store nothing for a network that was forgotten or cannot be recognised again. Messages about an earlier login no longer apply.
        guard !joined.isForgotten, joined.network.key != nil else { return _ = desk.feed(.provenWithoutMemory) }
        let association = association(of: helper, ends: machine.state.sessionEnd)
        save("remembering a choice") { store, network in
            try store.remember(
                network,
                RememberedChoice(
                    helper: helper, contenders: machine.state.joined?.contenders, portal: commands.shownPortal,
                    hardware: joined.snapshot.hardwareAddress, committed: WallClock.now),
                in: association)
            if services.settings.remember != .never { try sessions.store(for: network, of: helper) }
        }
        let portal = desk.answers.sheet?.portal
        let hasMemory = sessions.session(of: helper)?.memory != nil
        desk.feed(.proven, desk.context(for: helper, in: joined.network, at: portal, hasMemory: hasMemory))
    }

    /// Forgets the choice of this helper; another remembered helper is kept. The helper's memory of accepted terms is kept too: without it, changed
    /// terms could not be noticed, so the user would have to accept the same terms again.
    func forgetChoice(of helper: String) {
        defer { sessions.drop(of: helper) }
        guard let joined, services.store.remembered(joined.network, now: WallClock.now)?.helper == helper else { return }
        save("forgetting a choice") { store, network in
            try store.dropChoice(network)
            sessions.setEnd(in: nil)
            if !joined.isForgotten, services.settings.remember != .never { try sessions.store(for: network, of: helper) }
        }
    }
}
