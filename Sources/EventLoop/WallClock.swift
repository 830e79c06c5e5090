import Glibc
import HotspotCore

/// The wall clock: only for people and the store, never for a deadline.
public enum WallClock {
    /// Unix time in milliseconds.
    public static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    /// Returns a time in UTC in a format of strftime(3) without names of days or months.
    ///
    /// - Parameter milliseconds: Unix time.
    public static func utc(_ milliseconds: Int, _ format: String) -> String {
        var (seconds, parts) = (milliseconds / 1000, tm())
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, format, &parts)
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns the wall-clock time for an instant of the deadlines' clock.
    public static func time(of instant: Instant) -> Int { now + (instant - EventLoop.now).milliseconds }
}
