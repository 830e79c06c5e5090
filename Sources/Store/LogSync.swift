import EventLoop
import Glibc
import Synchronization

/// Flushes the database's log to the disk, on a separate thread that ends when everything is flushed.
///
/// A commit that flushes waits for the dirty pages of all programs. With another program writing to a slow disk (100 ms for each command), single
/// commits took up to 6 s and delayed the login. Commits are atomic even without a flush, because the log has checksums; a power cut can only lose
/// the commits since the last flush.
final class LogSync: Sendable {
    private struct SyncState {
        var isRunning = false
        var isWanted = false
        var failure: Int32 = 0
    }

    private let path: String
    private let flush: @Sendable (String) -> Int32
    private let state = Mutex(SyncState())
    private static let stackSize = 64 << 10

    /// - Parameter flush: flushes the file at a path and returns an error number or 0; tests replace it.
    init(path: String, flush: @escaping @Sendable (String) -> Int32 = LogSync.flush) {
        self.path = path
        self.flush = flush
    }

    /// The error number of the last flush, or 0.
    var failure: Int32 { state.withLock { $0.failure } }

    /// Starts to flush everything that has been written so far.
    func request() {
        let isFirst = state.withLock { state in
            state.isWanted = true
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst, !DetachedThread.start(stackSize: Self.stackSize, { self.run() }) { run() }
    }

    /// Flushes everything that has been written so far, and returns the error number, or 0.
    func now() -> Int32 { flush(path) }

    private func run() {
        while state.withLock({ state in
            state.isRunning = state.isWanted
            state.isWanted = false
            return state.isRunning
        }) {
            let code = flush(path)
            state.withLock { $0.failure = code }
        }
    }

    /// Flushes the file at a path through a separate descriptor. Closing that descriptor releases no lock of SQLite, because SQLite does not lock the
    /// log (sqlite.org/wal.html, 3.3; lockingv3.html).
    @Sendable static func flush(_ path: String) -> Int32 {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        // If there is no log, everything is in the database.
        guard descriptor >= 0 else { return errno == ENOENT ? 0 : errno }
        defer { close(descriptor) }
        return fdatasync(descriptor) == 0 ? 0 : errno
    }
}
