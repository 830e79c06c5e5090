import Glibc
import HotspotCore

/// The wall clock: for people and for the store, never for a deadline.
public enum WallClock {
    /// Unix time in milliseconds.
    public static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    /// Returns the wall clock's time at an instant of the deadlines' clock.
    public static func time(of instant: Instant) -> Int { now + (instant - EventLoop.now).milliseconds }
}
