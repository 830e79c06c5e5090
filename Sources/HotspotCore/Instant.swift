/// A point on the clock that counts time asleep (CLOCK_BOOTTIME), in nanoseconds since boot.
///
/// Deadlines and intervals are made of these; the wall clock is only shown and stored, never subtracted.
public struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since boot.
    public var nanoseconds: Int64

    /// An instant at so many nanoseconds after boot.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Order in time.
    public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The instant so much later; saturates rather than overflows.
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return Instant(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The time from the second to the first; saturates.
    public static func - (a: Instant, b: Instant) -> Duration {
        let (difference, overflow) = a.nanoseconds.subtractingReportingOverflow(b.nanoseconds)
        return .nanoseconds(overflow ? (a < b ? .min : .max) : difference)
    }
}

extension Duration {
    /// The whole in nanoseconds; saturates.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }

    /// The whole in milliseconds, rounded down.
    public var milliseconds: Int { Int(nanoseconds / 1_000_000) }

    /// The whole in seconds.
    public var inSeconds: Double { Double(nanoseconds) / 1e9 }
}
