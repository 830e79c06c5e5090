import Glibc

/// Returns how many times as much processor time a body takes with the greater of two counts: 4 for a walk over four times as much, 16 for
/// one that is quadratic. The least of several runs counts, because the first one fills tables.
func costRatio(_ small: Int, _ great: Int, runs: Int = 3, _ body: (Int) -> Void) -> Double {
    func least(_ count: Int) -> Double {
        (0..<runs).map { _ in
            let start = threadNanoseconds()
            body(count)
            return Double(threadNanoseconds() - start)
        }.min()!
    }
    return least(great) / max(1, least(small))
}

private func threadNanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
