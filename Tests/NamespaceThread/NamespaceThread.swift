import Glibc

// Declared in sched.h only under _GNU_SOURCE, without which Swift sees the C library.
@_silgen_name("unshare") private func unshare(_ flags: Int32) -> Int32
@_silgen_name("setns") private func setns(_ descriptor: Int32, _ type: Int32) -> Int32

/// A network namespace of the test's own: a thread leaves the process's namespace, and everything that it opens or starts lives in the new one, which
/// ends with the last of these.
public enum NamespaceThread {
    /// CLONE_NEWNET of linux/sched.h.
    private static let network: Int32 = 0x4000_0000

    /// Runs `body` in a network namespace, on a thread that ends afterwards; `nil` if the system does not allow it.
    ///
    /// - Parameter namespace: a descriptor of the namespace; without it a new one.
    public static func run<Value>(in namespace: Int32? = nil, _ body: @escaping () -> Value) -> Value? {
        var result: Value?
        let call = Call {
            if (namespace.map { setns($0, network) } ?? unshare(network)) == 0 { result = body() }
        }
        var thread = pthread_t()
        guard
            pthread_create(
                &thread, nil,
                { pointer in
                    Unmanaged<Call>.fromOpaque(pointer!).takeRetainedValue().body()
                    return nil
                }, Unmanaged.passRetained(call).toOpaque()) == 0
        else { return nil }
        // The thread has ended before its result is used, so nothing runs beside it.
        pthread_join(thread, nil)
        return result
    }

    private final class Call {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Runs a shell script in the calling thread's namespace. Returns its exit status.
    public static func shell(_ script: String) -> Int32 {
        var child = pid_t()
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/sh"), strdup("-c"), strdup(script), nil]
        defer { for word in words { free(word) } }
        guard posix_spawn(&child, "/bin/sh", nil, nil, words, environ) == 0 else { return -1 }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status >> 8 & 0xFF
    }
}
