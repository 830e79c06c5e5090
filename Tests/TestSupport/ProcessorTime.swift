import Glibc

/// The processor time of this thread, which does not depend on what else the machine does.
public enum ProcessorTime {
    /// Returns how many times longer some work takes for 256 KiB than for 64 KiB: about 4 where it is linear, and 16 where it is quadratic.
    ///
    /// - Parameter work: is called with a number of octets.
    public static func growth(_ work: (Int) -> Void) -> Double {
        let (small, large) = (least { work(64 << 10) }, least { work(256 << 10) })
        // Shorter times are of the clock more than of the work.
        return large / max(small, 0.001)
    }

    private static func least(_ work: () -> Void) -> Double {
        (0..<3).map { _ in
            let start = now()
            work()
            return now() - start
        }.min()!
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
