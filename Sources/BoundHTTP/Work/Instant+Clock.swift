import Glibc
import HotspotCore

extension Instant {
    /// The present.
    public static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Returns the instant this many milliseconds from now.
    public static func after(milliseconds: Int) -> Instant { now.advanced(milliseconds: milliseconds) }

    /// Returns the instant this many milliseconds later.
    public func advanced(milliseconds: Int) -> Instant { self + .milliseconds(milliseconds) }

    /// Milliseconds from now until this instant, rounded up; 0 if it is past.
    public var millisecondsLeft: Int { max(0, (self - .now + .nanoseconds(999_999)).milliseconds) }

    /// Milliseconds from this instant until now; 0 if it is in the future.
    public var millisecondsAgo: Int { max(0, (.now - self).milliseconds) }

    /// Whether the instant is not in the future.
    public var isPast: Bool { self <= .now }
}
