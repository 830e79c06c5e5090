import Glibc
import HotspotCore

/// A value that threads share: guarded by a mutex, with a condition to wait for its changes.
///
/// - Note: `@unchecked Sendable` is sound because `value` is touched only between lock and unlock of `mutex`, and the two pthread
///   objects live at fixed addresses until this object is freed.
public final class Locked<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    /// Guards a value that no other code holds.
    public init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // Uses CLOCK_MONOTONIC: the wall clock jumps when the network sets it, and condition variables do not support
        // CLOCK_BOOTTIME.
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

    /// Reads or changes the value, and wakes the threads that wait.
    public func with<T, E: Error>(_ body: (inout Value) throws(E) -> T) throws(E) -> T {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&value)
    }

    /// Waits for `body` to return a value, at most until the deadline. Calls `body` at once and after each change.
    public func wait<T>(until deadline: Instant, _ body: (inout Value) -> T?) -> T? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) {
                pthread_cond_broadcast(condition)
                return result
            }
            // Waits at most a minute at a time, because CLOCK_MONOTONIC stands still during suspend, but the deadline's clock
            // does not.
            let left = min((deadline - .now).nanoseconds, 60_000_000_000)
            guard left > 0 else { return nil }
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            let (seconds, nanoseconds) = (left + Int64(time.tv_nsec)).quotientAndRemainder(dividingBy: 1_000_000_000)
            time.tv_sec += Int(seconds)
            time.tv_nsec = Int(nanoseconds)
            pthread_cond_timedwait(condition, mutex, &time)
        }
    }
}
