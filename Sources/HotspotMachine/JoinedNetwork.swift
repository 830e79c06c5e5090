import HotspotCore

/// The machine's knowledge of a network, from the time the link gets an address until it loses the address.
public struct JoinedNetwork: Hashable, Sendable {
    /// The join with its facts; the access point may change later.
    public var arrival: Arrival
    /// The attempt that runs or ended last.
    public var attempt: AttemptID?
    /// Whether the attempt has no outcome yet.
    public var attemptIsOpen = false
    /// Whether the last attempt ended without knowing if the network is open.
    package var isUnverified = false
    var record = HelperRecord()
    /// Temporary failures in a row, of any helper (D19).
    package var temporaryFailures = 0
    /// How soon a helper may log in again (D23).
    package var pace = Pace()
    /// The names and editions of all candidates when the helper was chosen; `nil` if they are not known.
    public internal(set) var contenders: Set<String>?
    /// The time at which the helper wants the next Maintain, as its last successful reply requested (D33).
    var wantedMaintain: Instant?
    /// The earlier login that counts if the network is found open.
    package var standing: StandingLogin?
    /// The portals to which the network led.
    var trail = PortalTrail()
    /// The last verdict of the prober or of a check.
    public var lastVerdict: Verdict? { didSet { if lastVerdict == .captive { wasCaptive = true } } }
    /// Whether a verdict since the join was captive.
    private(set) var wasCaptive = false

    init(_ arrival: Arrival) {
        self.arrival = arrival
        contenders = arrival.contenders
    }

    /// The session that may still continue after its logoff, because the portal did not confirm the logoff.
    var unended: StandingLogin? { standing?.ground == .unended ? standing : nil }

    /// The outcome if the network is open and no helper claims it.
    var openOutcome: AttemptOutcome {
        wasCaptive ? .opened : arrival.wasUpBefore ? .found : arrival.hadPortal ? .opened : .open
    }

    /// Returns the same network for the state `inactive`, without the helpers' failures (behaviour 10).
    var resting: JoinedNetwork {
        var fresh = self
        fresh.record = HelperRecord()
        return fresh
    }

    /// Returns the same network for a new start. Earlier failures do not delay a start by the user.
    func started(byUser: Bool) -> JoinedNetwork {
        var fresh = resting
        fresh.arrival.hold = nil
        fresh.temporaryFailures = 0
        fresh.pace = Pace()
        // D22: after the user's request, the join counts as the user's own.
        if byUser { fresh.arrival.autoJoined = false }
        return fresh
    }
}

/// The helpers' failures on a network, until it is left or the user asks for a new start.
struct HelperRecord: Hashable, Sendable {
    /// Helpers that are not asked again: they answered unsupportedNetwork, or won too often without success (D11).
    var excluded: Set<String> = []
    /// Helpers whose Maintain failed, and the races that they have won since (D11).
    private(set) var winsAfterFailedMaintain: [String: Int] = [:]
    /// The number of each helper's logins that failed temporarily (D24).
    private(set) var setbacks: [String: Int] = [:]

    /// Starts counting the wins of this helper, if they are not counted yet.
    mutating func maintainFailed(_ helper: String) {
        if winsAfterFailedMaintain[helper] == nil { winsAfterFailedMaintain[helper] = 0 }
    }

    /// Counts a win after a failed Maintain. Other helpers' wins in between do not reset the count; otherwise two helpers that take turns would
    /// continue for ever.
    mutating func won(_ helper: String) { winsAfterFailedMaintain[helper]? += 1 }

    mutating func loginFailed(_ helper: String) { setbacks[helper, default: 0] += 1 }

    /// Forgets the failures of a helper whose session lasted (D11, D24).
    mutating func sessionLasted(_ helper: String) {
        winsAfterFailedMaintain[helper] = nil
        setbacks[helper] = nil
    }

    /// Excludes the helpers that won too often without success (D11).
    mutating func excludeWinners(_ policy: Policy) {
        guard let cap = policy.winCap else { return }
        for (name, wins) in winsAfterFailedMaintain where wins >= cap { excluded.insert(name) }
    }

    /// Returns whether this helper's claim comes after the claims of all other helpers (D24).
    func comesLast(_ helper: String, _ policy: Policy) -> Bool {
        policy.setbackCap.map { setbacks[helper, default: 0] >= $0 } ?? false
    }
}
