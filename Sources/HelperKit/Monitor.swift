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
