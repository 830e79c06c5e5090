import Glibc

/// The processor time of this thread. Other work on the machine does not change it.
public enum ProcessorTime {
    /// Returns how many times longer the work takes for four times the amount: about 4 if it is linear, and 16 if it is quadratic.
    ///
    /// - Parameters:
    ///   - size: the smaller amount; octets, unless a test says otherwise.
    ///   - work: is called with an amount.
    public static func growth(from size: Int = 64 << 10, _ work: (Int) -> Void) -> Double {
        let (small, large) = (least { work(size) }, least { work(4 * size) })
        // Shorter times are unreliable.
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
