import HotspotCore

/// The pauses before the next login and before the next check of an open network (a Maintain, or a probe of an unclaimed network). They do not apply
/// to a login or check that the user or a link change caused (D23).
///
/// The pace belongs to the network, not to a helper: helpers that take turns, and portals that end each session at once, meet the same pauses. A
/// session that lasted is renewed without delay, and a login that another helper continues is not delayed either. The user's own requests start with
/// a fresh value.
package struct Pace: Hashable, Sendable {
    /// The time at which the last login ended, in success or failure.
    private(set) var lastEnd: Instant?
    /// The number of logins in a row that came too soon after the previous one.
    private(set) var earlyLogins = 0
    /// The earliest start of the login that runs or is requested. It is set once for each login, so that helpers that decline one after another
    /// share one pause.
    private(set) var granted: Instant?
    /// The number of checks in a row that came too soon after the previous one.
    private(set) var earlyChecks = 0

    /// Returns the time at which a login that is requested now may begin: now, or later.
    package mutating func nextLogin(at now: Instant, _ policy: Policy) -> Instant {
        if let granted { return max(now, granted) }
        var instant = now
        if let lastEnd {
            let stay = now - lastEnd
            if stay >= policy.longStay {
                earlyLogins = 0
            } else if stay < policy.shortStay {
                instant = max(now, lastEnd + policy.loginPauses[min(earlyLogins, policy.loginPauses.count - 1)])
                earlyLogins += 1
            }
        }
        granted = instant
        return instant
    }

    mutating func loginEnded(at now: Instant) {
        lastEnd = now
        granted = nil
    }

    /// Returns whether the session of the last login lasted long enough (D11).
    func hasLasted(at now: Instant, _ policy: Policy) -> Bool { lastEnd.map { now - $0 >= policy.shortStay } ?? false }

    /// Returns the time of the next check, which is requested for `wanted`. A few checks may come early, for example one before a session's end and
    /// one at its end.
    mutating func nextCheck(wanted: Instant, at now: Instant, _ policy: Policy) -> Instant {
        guard wanted - now < policy.shortStay else {
            earlyChecks = 0
            return wanted
        }
        earlyChecks += 1
        guard earlyChecks > Self.freeChecks else { return wanted }
        // Limit the pause, because the gate stays open meanwhile, even if the session is over.
        let pause = policy.loginPauses[min(earlyChecks - Self.freeChecks, policy.loginPauses.count) - 1]
        return max(wanted, now + min(pause, policy.shortStay))
    }

    private static let freeChecks = 3
}
