import EventLoop
import HotspotCore

/// Starts threads for code that blocks. A helper process lives for one login, so a thread for each transfer costs little.
public enum Worker {
    /// The size of a thread's stack, in octets; only the HTML parser recurses a little.
    private static let stackSize = 1 << 20

    /// Runs `body` on a detached thread. If the system has no thread left, runs it on the calling thread instead.
    public static func start(_ body: @escaping @Sendable () -> Void) {
        if !DetachedThread.start(stackSize: stackSize, body) { body() }
    }

    /// Runs `body` on a detached thread, or not at all if the system has no thread left.
    package static func startAside(_ body: @escaping @Sendable () -> Void) {
        _ = DetachedThread.start(stackSize: stackSize, body)
    }
}
