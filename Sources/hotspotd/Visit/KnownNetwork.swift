import EventLoop
import HotspotCore
import HotspotMachine
import LinkState
import Store

/// What the store knows of a network that is joined now.
@LoopActor struct KnownNetwork {
    let remembered: RememberedChoice?
    /// The association that an earlier daemon left, if it is this one, and its helper is the remembered one.
    let resumed: StoredAssociation?
    /// Why the network is left alone, if it is.
    let hold: Hold?
    /// No login was needed at the last visit.
    let wasOpen: Bool

    init(_ joined: Joined, on index: Int, in store: Store) {
        let now = WallClock.now
        let remembered = store.remembered(joined.network, now: now)
        let stored = store.association(joined.network, of: index)
        self.remembered = remembered
        resumed = stored?.link == joined.snapshot.associationMark && stored?.helper == remembered?.helper ? stored : nil
        hold = Self.hold(joined.network, in: store, now: now)
        wasOpen = store.lastOutcome(joined.network)?.word == AttemptOutcome.open.rawValue
    }

    /// The session's remaining time, in seconds.
    var secondsRemaining: Int? { resumed?.ends.map { max(0, ($0 - WallClock.now) / 1000) } }

    private static func hold(_ network: NetworkID, in store: Store, now: Int) -> Hold? {
        if store.isDisabled(helper: nil, ssid: network.switchName) { return Hold(.disabled) }
        guard let stored = store.hold(network, now: now), let reason = HoldReason(rawValue: stored.reason.rawValue) else {
            return nil
        }
        return Hold(reason, until: stored.until.map { EventLoop.now + .milliseconds($0 - now) }, cause: stored.sentence)
    }
}
