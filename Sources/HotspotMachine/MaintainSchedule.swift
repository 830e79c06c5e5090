import HotspotCore

/// The time of the next Maintain (D10): after the interval, or earlier if the session ends earlier.
public struct MaintainSchedule: Hashable, Sendable {
    /// The end of the session, as the helper last reported it.
    public private(set) var end: Instant?
    /// The time at which to renew the session before it ends. Once this time has passed, one Maintain remains, at the end of the session.
    public private(set) var renewal: Instant?

    /// The shortest time to the next Maintain that a helper may request, in seconds (D33).
    static let shortestWish = 5

    /// A session without a known end.
    public init() {}

    /// A session that ends in this number of seconds; `nil` if its end is not known.
    public init(secondsRemaining: Int?, at now: Instant) { update(secondsRemaining: secondsRemaining, at: now) }

    /// Stores the remaining time from an answer. Negative values are ignored.
    public mutating func update(secondsRemaining: Int?, at now: Instant) {
        guard let seconds = secondsRemaining, seconds >= 0 else {
            if let end, end <= now { self = MaintainSchedule() }
            return
        }
        let newEnd = now + .seconds(min(seconds, 10 * 365 * 86400))
        // Keep the renewal time if the end differs by less than two seconds, because portals count whole seconds.
        if let end, newEnd - end < .seconds(2), end - newEnd < .seconds(2) { return }
        let remaining = newEnd - now
        end = newEnd
        renewal = now + max(remaining - .seconds(60), remaining * 9 / 10)
    }

    /// Returns the instant of the next maintain.
    public func next(after now: Instant, interval: Duration) -> Instant {
        let regular = now + interval
        guard let end, let renewal, end > now else { return regular }
        // Portals leave out fractions of a second, so the session may last up to a second longer.
        return min(regular, renewal > now ? renewal : end + .seconds(1))
    }
}
