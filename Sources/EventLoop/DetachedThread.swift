import CLinux
import Glibc

/// A thread that nothing joins, for work that must not hold up the main thread. It blocks all signals, so that the main thread gets them.
public enum DetachedThread {
    /// Makes all threads share one heap (mallopt(3)): with many short-lived threads, a heap for each costs more than waiting for the shared one. Must
    /// be called before there are threads.
    public static func shareHeap() { mallopt(M_ARENA_MAX, 1) }

    private final class Job {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread with a stack of `stackSize` octets. Returns `false` if the system has no thread left.
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
