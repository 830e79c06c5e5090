import HotspotCore

/// How soon the next login may begin, and the next check of a free network (a maintain, or a probe of an unclaimed one), if the user did
/// not ask for it and no link change brought it about (D23).
///
/// It belongs to the network, whichever helper logs in: helpers that take turns, and portals that end each session at once, meet the
/// same pauses. A session that lasted is renewed without delay; so is a login that goes on with another helper, and what the user asks
/// for starts with a fresh value.
package struct Pace: Hashable, Sendable {
    /// When the last login came to its end, well or badly.
    private(set) var lastEnd: Instant?
    /// Logins in a row that were wanted soon after the one before.
    private(set) var earlyLogins = 0
    /// The login that is wanted now, or runs, may begin at this instant. One pause is for all helpers that decline within one login.
    private(set) var granted: Instant?
    /// Checks in a row that were wanted soon.
    private(set) var earlyChecks = 0

    /// Returns when a login that is wanted now may begin: now, or later.
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

    /// Returns whether the session of the last login has lasted (D11).
    func hasLasted(at now: Instant, _ policy: Policy) -> Bool { lastEnd.map { now - $0 >= policy.shortStay } ?? false }

    /// Returns when the next check comes that is wanted at `wanted`. A few may come soon: one before a session's end, and one at it.
    mutating func nextCheck(wanted: Instant, at now: Instant, _ policy: Policy) -> Instant {
        guard wanted - now < policy.shortStay else {
            earlyChecks = 0
            return wanted
        }
        earlyChecks += 1
        guard earlyChecks > Self.freeChecks else { return wanted }
        // The gate stays open meanwhile, perhaps of a session that is over: for a short stay at most.
        let pause = policy.loginPauses[min(earlyChecks - Self.freeChecks, policy.loginPauses.count) - 1]
        return max(wanted, now + min(pause, policy.shortStay))
    }

    private static let freeChecks = 3
}
