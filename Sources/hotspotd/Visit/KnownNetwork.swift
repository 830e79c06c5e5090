import EventLoop
import HotspotCore
import HotspotMachine
import LinkState
import Store

/// The store's records of a network that is joined now.
@LoopActor struct KnownNetwork {
    let remembered: RememberedChoice?
    /// The association that an earlier daemon stored, if it still exists and its helper is the remembered one.
    let resumed: StoredAssociation?
    /// The stored association of a login that was not proven, but still may be (D25).
    let unproven: StoredAssociation?
    /// The reason to start nothing on the network; `nil` if there is none.
    let hold: Hold?
    /// Whether no login was needed at the last visit.
    let wasOpen: Bool
    /// Whether a portal was there at the last visit.
    let hadPortal: Bool

    init(_ joined: Joined, on index: Int, in store: Store) {
        let now = WallClock.now
        let remembered = store.remembered(joined.network, now: now)
        let stored = store.association(joined.network, of: index)
        self.remembered = remembered
        let here = stored?.link == joined.snapshot.associationMark ? stored : nil
        resumed = here?.until == nil && here?.helper == remembered?.helper ? here : nil
        unproven = here?.until.map { $0 > now } == true ? here : nil
        hold = Self.hold(joined.network, in: store, now: now)
        let last = (store.lastOutcome(joined.network)?.word).flatMap(AttemptOutcome.init(rawValue:))
        wasOpen = last == .open
        hadPortal =
            switch last {
            case .opened, .unclaimedCaptive, .temporaryFailure, .failure, .expired, .loggedOff, .dismissed, .left: true
            case .open: false
            // A remembered helper proves that there was a portal, even if that helper is switched off now.
            case .online, .found, .unknown, .superseded, nil: remembered != nil
            }
    }

    /// Returns the hardware address at the last login, if it differs from `address`.
    func otherHardware(than address: HardwareAddress?) -> HardwareAddress? {
        guard let address, let before = remembered?.hardware, before != address else { return nil }
        return before
    }

    /// The session's remaining time, in seconds.
    var secondsRemaining: Int? { (resumed ?? unproven)?.ends.map { max(0, ($0 - WallClock.now) / 1000) } }

    /// The deadlines of the session that an earlier daemon left.
    var schedule: MaintainSchedule { MaintainSchedule(secondsRemaining: secondsRemaining, at: EventLoop.now) }

    /// The earlier login that an open network would prove. Its remaining time never exceeds `patience`, whatever the clock says.
    func late(within patience: Duration) -> LateLogin? {
        guard let unproven, let until = unproven.until else { return nil }
        let left = min(.milliseconds(until - WallClock.now), patience)
        return LateLogin(helper: unproven.helper, end: EventLoop.now + left, schedule: schedule)
    }

    private static func hold(_ network: NetworkID, in store: Store, now: Int) -> Hold? {
        if store.isDisabled(helper: nil, ssid: network.switchName) { return Hold(.disabled) }
        guard let stored = store.hold(network, now: now), let reason = HoldReason(rawValue: stored.reason.rawValue) else {
            return nil
        }
        return Hold(reason, until: stored.until.map { EventLoop.now + .milliseconds($0 - now) }, cause: stored.sentence)
    }
}
