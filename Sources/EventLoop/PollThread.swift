import CSystemd
import Glibc
import HotspotCore
import Synchronization

/// A thread that sleeps in poll(2) on the event loop's behalf, and tells the loop when a descriptor may be ready.
///
/// It never reads, writes or closes a descriptor of others, and decides nothing: the loop looks for itself when it is told. So a
/// stale word of this thread costs the loop one look and nothing else, also when a number has been closed and given out again
/// meanwhile.
///
/// What the two threads share, and why that is safe without further proof for the compiler: the wish behind a mutex, and two
/// eventfd(2) descriptors that are made once and never closed.
final class PollThread: Sendable {
    /// A descriptor, and what is awaited of it (the numbers of POLLIN and EPOLLIN are the same, and so are all others).
    struct Wish: Hashable, Sendable {
        var descriptor: Int32
        var events: UInt32
    }

    private struct Wishes {
        var list: [Wish] = []
        /// Counts the changes made by the loop.
        var number: UInt64 = 0
        var hasThread = false
    }

    /// Readable when the loop should look; the loop's to watch.
    let tells: Int32
    /// Readable when the wishes are other ones.
    private let wakes: Int32
    private let wishes = Mutex(Wishes())
    private static let stackSize = 256 << 10

    /// Makes the descriptors, and no thread yet.
    init() {
        tells = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        wakes = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        precondition(tells >= 0 && wakes >= 0, "eventfd failed: \(errno)")
    }

    /// Makes the thread if there is none; `false` if the kernel refuses one.
    func start() -> Bool {
        if wishes.withLock({ $0.hasThread }) { return true }
        guard DetachedThread.start(stackSize: Self.stackSize, { self.run() }) else { return false }
        wishes.withLock { $0.hasThread = true }
        return true
    }

    /// From now on exactly these are awaited. Whatever was awaited before is let go in a moment: until then the kernel keeps a
    /// file open that the loop has closed.
    func wait(for list: [Wish]) {
        wishes.withLock {
            $0.list = list
            $0.number += 1
        }
        Self.signal(wakes)
    }

    /// The loop has heard.
    func quieten() { Self.drain(tells) }

    private func run() {
        while true {
            let (wished, number) = wishes.withLock { ($0.list, $0.number) }
            var states = [pollfd(fd: wakes, events: Int16(POLLIN), revents: 0)]
            states += wished.map { pollfd(fd: $0.descriptor, events: Int16(truncatingIfNeeded: $0.events), revents: 0) }
            let count = poll(&states, nfds_t(states.count), -1)
            guard count > 0 else {
                // No memory for it at the moment: without a pause this would spin.
                if errno != EINTR { usleep(10_000) }
                continue
            }
            if states[0].revents != 0 {
                // Before the wishes are read, so that none is missed.
                Self.drain(wakes)
                continue
            }
            // Told once. Until the loop has looked and wishes anew there is nothing to wait for: what is ready stays so.
            wishes.withLock { if $0.number == number { $0.list = [] } }
            Self.signal(tells)
        }
    }

    private static func signal(_ descriptor: Int32) {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    private static func drain(_ descriptor: Int32) {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
