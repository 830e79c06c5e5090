import HotspotCore

/// How soon the next login may begin, and the next look at a free network, if nobody asked for it and no link change brought it about
/// (D23).
///
/// It belongs to the association, whoever logs in: helpers that take turns, and portals that end each session at once, meet the same
/// pauses. A session that lasted for a while is renewed without delay; so is a login that goes on with another helper, and what the
/// user asks for begins with a fresh value.
public struct Pace: Hashable, Sendable {
    /// When the last login came to its end, well or badly.
    private(set) var lastEnd: Instant?
    /// Logins of late that were wanted soon after the one before.
    private(set) var hasty = 0
    /// The login that is wanted now, or runs, may begin at this instant. One pause is for all helpers that decline within one login.
    private(set) var granted: Instant?
    /// Looks at the free network that were wanted soon, in a row.
    private(set) var hastyLooks = 0

    /// A link on which nothing has happened yet.
    init() {}

    /// When a login that is wanted now may begin: now, or later.
    mutating func login(at now: Instant, _ policy: Policy) -> Instant {
        if let granted { return max(now, granted) }
        var instant = now
        if let lastEnd {
            let stay = now - lastEnd
            if stay >= policy.longStay {
                hasty = 0
            } else if stay < policy.shortStay {
                instant = max(now, lastEnd + policy.loginPauses[min(hasty, policy.loginPauses.count - 1)])
                hasty += 1
            }
        }
        granted = instant
        return instant
    }

    /// A login has come to its end.
    mutating func loginEnded(at now: Instant) {
        lastEnd = now
        granted = nil
    }

    /// What the last login brought about has held for a while (D11).
    func hasLasted(at now: Instant, _ policy: Policy) -> Bool { lastEnd.map { now - $0 >= policy.shortStay } ?? false }

    /// When the next maintain comes, or the prober's look where nobody is asked to maintain, that is wanted at `wanted`. A few may come
    /// soon: one before a session's end, and one at it.
    mutating func look(wanted: Instant, at now: Instant, _ policy: Policy) -> Instant {
        guard wanted - now < policy.shortStay else {
            hastyLooks = 0
            return wanted
        }
        hastyLooks += 1
        guard hastyLooks > Self.freeLooks else { return wanted }
        // The gate stays open meanwhile, perhaps of a session that is over: that takes a short stay at most.
        let pause = policy.loginPauses[min(hastyLooks - Self.freeLooks, policy.loginPauses.count) - 1]
        return max(wanted, now + min(pause, policy.shortStay))
    }

    private static let freeLooks = 3
}
