import HotspotCore

/// The time of the next maintain (D10): after the interval, or earlier if the session ends earlier.
public struct MaintainSchedule: Hashable, Sendable {
    /// The end of the session, as the helper last said.
    public private(set) var end: Instant?
    /// The time to renew before that end. Once it has passed, one maintain remains, at the end itself.
    public private(set) var renewal: Instant?

    /// The smallest number of seconds to the next maintain for which a helper may ask (D33).
    static let shortestWish = 5

    /// A session without a known end.
    public init() {}

    /// A session that ends in this number of seconds, if it is known.
    public init(secondsRemaining: Int?, at now: Instant) { update(secondsRemaining: secondsRemaining, at: now) }

    /// Stores the remaining time of an answer. Negative values are ignored.
    public mutating func update(secondsRemaining: Int?, at now: Instant) {
        guard let seconds = secondsRemaining, seconds >= 0 else {
            if let end, end <= now { self = MaintainSchedule() }
            return
        }
        let newEnd = now + .seconds(min(seconds, 10 * 365 * 86400))
        // The same end, reported a little later (portals count whole seconds): the time of renewal does not change.
        if let end, newEnd - end < .seconds(2), end - newEnd < .seconds(2) { return }
        let remaining = newEnd - now
        end = newEnd
        renewal = now + max(remaining - .seconds(60), remaining * 9 / 10)
    }

    /// Returns the instant of the next maintain.
    public func next(after now: Instant, interval: Duration) -> Instant {
        let regular = now + interval
        guard let end, let renewal, end > now else { return regular }
        // Portals leave out fractions of a second, so the session may go on that long.
        return min(regular, renewal > now ? renewal : end + .seconds(1))
    }
}
