import EventLoop
import HotspotCore

/// Threads for code that blocks. A helper process lives for one login, so that a thread for each transfer costs little.
public enum Worker {
    /// Octets of stack: the HTML parser recurses a little, nothing else does.
    private static let stackSize = 1 << 20

    /// Runs `body` on a thread of its own, which nobody joins. Where the system has no thread left, `body` runs here and now: slower,
    /// yet the work is done.
    public static func start(_ body: @escaping @Sendable () -> Void) {
        if !DetachedThread.start(stackSize: stackSize, body) { body() }
    }
}
