import Glibc

/// The processor time of this thread. Other work on the machine does not change it.
public enum ProcessorTime {
    /// Returns how many times longer some work takes for four times as much: about 4 where it is linear, and 16 where it is quadratic.
    ///
    /// - Parameters:
    ///   - size: the smaller amount, of octets where a test says no other.
    ///   - work: is called with an amount.
    public static func growth(from size: Int = 64 << 10, _ work: (Int) -> Void) -> Double {
        let (small, large) = (least { work(size) }, least { work(4 * size) })
        // The clock disturbs shorter times.
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
