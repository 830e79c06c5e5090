import Glibc

/// A value behind a lock, with a way to wait until it changes: what two threads of a helper share.
///
/// - Note: `@unchecked Sendable` is sound because `value` is touched only between lock and unlock of `mutex`, and the two pthread
///   objects live at fixed addresses until the monitor itself is gone.
public final class Monitor<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    /// A monitor over a value that nobody else holds.
    public init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // Waiting must not depend on the wall clock, which jumps when a network gives the time.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Reads or changes the value, and wakes whoever waits.
    public func with<T, E: Error>(_ body: (inout Value) throws(E) -> T) throws(E) -> T {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&value)
    }

    /// Waits until `body` gives something, or until the deadline; it is asked at once and after each change.
    public func wait<T>(until deadline: Deadline, _ body: (inout Value) -> T?) -> T? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) {
                pthread_cond_broadcast(condition)
                return result
            }
            guard !deadline.isPast else { return nil }
            var time = deadline.timespec
            pthread_cond_timedwait(condition, mutex, &time)
        }
    }
}

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

    fileprivate var timespec: Glibc.timespec {
        Glibc.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
