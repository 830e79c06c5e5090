import Glibc

/// The processor time that one thread may spend on a page, independent of other threads and processes.
package struct ProcessorBudget {
    /// Milliseconds for reading a page, from its octets to the effects of its scripts. A build without optimisation is slower.
    package static let page = _isDebugAssertConfiguration() ? 5_000 : 1_000

    private let end: Int

    init(milliseconds: Int) { end = Self.now + milliseconds }

    var isSpent: Bool { Self.now >= end }

    /// Milliseconds of processor time that this thread has used.
    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
