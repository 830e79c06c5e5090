import Glibc

/// A point on the monotonic clock by which something must have happened.
public struct Deadline: Hashable, Comparable, Sendable {
    private let nanoseconds: Int64

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The present.
    public static var now: Deadline {
        var time = Glibc.timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Deadline(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// So many milliseconds from now.
    public static func after(milliseconds: Int) -> Deadline { now.advanced(milliseconds: milliseconds) }

    /// So many milliseconds later.
    public func advanced(milliseconds: Int) -> Deadline { Deadline(nanoseconds: nanoseconds + Int64(milliseconds) * 1_000_000) }

    /// Milliseconds from now; 0 if past.
    public var millisecondsLeft: Int { max(0, Int((nanoseconds - Self.now.nanoseconds + 999_999) / 1_000_000)) }

    /// Milliseconds from this point to now.
    public var millisecondsAgo: Int { max(0, Int((Self.now.nanoseconds - nanoseconds) / 1_000_000)) }

    /// It is too late.
    public var isPast: Bool { nanoseconds <= Self.now.nanoseconds }

    /// Order in time.
    public static func < (a: Deadline, b: Deadline) -> Bool { a.nanoseconds < b.nanoseconds }

    var timespec: Glibc.timespec {
        Glibc.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
