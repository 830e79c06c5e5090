import Glibc

/// A thread that nobody joins, for what the main thread must not wait for. Signals are the main thread's: it gets none.
public enum DetachedThread {
    private final class Job {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own with so many octets of stack; `false` if the system has none left, and nothing runs.
    public static func start(stackSize: Int, _ body: @escaping @Sendable () -> Void) -> Bool {
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackSize)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let job = Unmanaged.passRetained(Job(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { job in
                Unmanaged<Job>.fromOpaque(job!).takeRetainedValue().body()
                return nil
            }, job.toOpaque())
        if code != 0 { job.release() }
        return code == 0
    }
}
