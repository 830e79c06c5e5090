import HotspotCore

/// When the next maintain is due (D10): after the interval, or earlier where the session ends earlier.
public struct MaintainSchedule: Hashable, Sendable {
    /// When the session ends, as the helper said last.
    public private(set) var end: Instant?
    /// When to renew before that end. Once it has passed, one maintain remains, at the end itself.
    public private(set) var renewal: Instant?

    /// The fewest seconds to the next maintain that a helper may ask for (D33).
    static let shortestWish = 5

    /// A session without a known end.
    public init() {}

    /// A session that ends in this time, if that is known.
    public init(secondsRemaining: Int?, at now: Instant) { update(secondsRemaining: secondsRemaining, at: now) }

    /// Stores the remaining time of an answer. Negative values are ignored.
    public mutating func update(secondsRemaining: Int?, at now: Instant) {
        guard let seconds = secondsRemaining, seconds >= 0 else {
            if let end, end <= now { self = MaintainSchedule() }
            return
        }
        let newEnd = now + .seconds(min(seconds, 10 * 365 * 86400))
        // The same end, reported a little later (portals count whole seconds): the renewal before it stays where it was.
        if let end, newEnd - end < .seconds(2), end - newEnd < .seconds(2) { return }
        let remaining = newEnd - now
        end = newEnd
        renewal = now + max(remaining - .seconds(60), remaining * 9 / 10)
    }

    /// Returns the instant of the next maintain.
    public func next(after now: Instant, interval: Duration) -> Instant {
        let regular = now + interval
        guard let end, let renewal, end > now else { return regular }
        // Portals leave out what is no whole second, so that the session may go on that long.
        return min(regular, renewal > now ? renewal : end + .seconds(1))
    }
}
