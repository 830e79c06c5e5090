import Glibc
import HotspotCore
import Synchronization

/// Brings the database's log to the disk on a thread of its own, which exists as long as there is something to bring.
///
/// A commit that waits for the disk itself waits for everybody's dirty pages: with another program writing on a slow disk (100 ms for
/// each command) single ones took up to 6 s, and the login with them. What was committed is whole in any case, for the log has
/// checksums; a power cut takes at most what was written since the disk was last done.
final class LogSync: Sendable {
    private struct State {
        var isRunning = false
        var isWanted = false
        var failure: Int32 = 0
    }

    private let path: String
    private let flush: @Sendable (String) -> Int32
    private let state = Mutex(State())
    private static let stackSize = 64 << 10

    /// For the log at this path. Tests flush in their own way, and return an error number or 0.
    init(path: String, flush: @escaping @Sendable (String) -> Int32 = LogSync.flush) {
        self.path = path
        self.flush = flush
    }

    /// Why the disk did not take what was written last: an error number, or 0.
    var failure: Int32 { state.withLock { $0.failure } }

    /// Has all that was written until now brought to the disk, soon.
    func request() {
        let isFirst = state.withLock { state in
            state.isWanted = true
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst, !DetachedThread.start(stackSize: Self.stackSize, { self.run() }) { run() }
    }

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

    /// A descriptor of its own does: what is flushed is the file. SQLite's locks, which a close of the database would take away, are not
    /// on its log (sqlite.org/wal.html, 3.3; lockingv3.html).
    @Sendable static func flush(_ path: String) -> Int32 {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        // Without a log there is nothing that is not in the database.
        guard descriptor >= 0 else { return errno == ENOENT ? 0 : errno }
        defer { close(descriptor) }
        return fdatasync(descriptor) == 0 ? 0 : errno
    }
}
