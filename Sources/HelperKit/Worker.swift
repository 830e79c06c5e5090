import Glibc

/// Threads for code that blocks. A helper process lives for one login, so that a thread for each transfer costs little.
public enum Worker {
    /// Octets of stack: the HTML parser recurses a little, nothing else does.
    private static let stackSize = 1 << 20

    private final class Job {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own, which nobody joins. Where the system has no thread left, `body` runs here and now: slower,
    /// yet the work is done.
    public static func start(_ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackSize)
        let job = Unmanaged.passRetained(Job(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Job>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, job.toOpaque())
        if code != 0 { job.takeRetainedValue().body() }
    }
}
