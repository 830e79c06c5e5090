import CSystemd
import Glibc
import HotspotCore

/// Descriptors for which epoll(7) had no room.
///
/// The kernel counts the watches of epoll by user (fs.epoll.max_user_watches), and a helper is the daemon's user: it may take
/// them all. What the loop must watch then is awaited by ``PollThread``, and looked at here, on the loop's own thread, with
/// poll(2). Readiness stays a level and not an edge: whoever is ready and does not read is told again in the next turn. Whoever
/// is cancelled is never called again, because an entry has a number of its own that is given out once, whatever happens to its
/// descriptor.
///
/// Entries stay until they are cancelled; new ones ask epoll first, so the loop comes back to it by itself.
@LoopActor final class PollFallback {
    /// The loop's.
    static let shared = PollFallback()

    /// For tests: an error number of epoll_ctl(2) for a descriptor, or 0.
    var refusal: (Int32) -> Int32 = { _ in 0 }
    /// For tests: there is no thread to be had.
    var refusesThread = false

    private final class Entry {
        weak var source: EventSource?
        let wish: PollThread.Wish
        var priority: Int64 = 0

        init(source: EventSource, wish: PollThread.Wish) {
            self.source = source
            self.wish = wish
        }
    }

    private var entries: [UInt64: Entry] = [:]
    private var lastNumber: UInt64 = 0
    private var isDispatching = false
    private var observers: [UInt64: Entry] = [:]
    private var telling: EventSource?
    /// Where not even a thread is to be had, the loop looks from time to time.
    private var glance: EventSource?
    private static let glanceInterval = Duration.milliseconds(20)

    private init() {}

    /// How many descriptors are polled at present.
    var count: Int { entries.count }

    // MARK: Entries

    func add(_ source: EventSource, _ descriptor: Int32, _ events: UInt32) -> UInt64 {
        lastNumber += 1
        entries[lastNumber] = Entry(source: source, wish: PollThread.Wish(descriptor: descriptor, events: events))
        arm()
        tellObservers()
        return lastNumber
    }

    func remove(_ number: UInt64) {
        observers[number] = nil
        if entries.removeValue(forKey: number) != nil { arm() }
    }

    func setPriority(_ priority: Int64, of number: UInt64) { entries[number]?.priority = priority }

    // MARK: Readiness

    /// The thread has seen something, or it is time for a glance.
    func dispatch() {
        EventLoop.shared.pollThread.quieten()
        glance = nil
        // The least urgent is looked at first: what is urgent and came before it, such as an answer before the end of its
        // process, is then seen as well.
        let order = entries.sorted { ($0.value.priority, $0.key) > ($1.value.priority, $1.key) }
        var states = order.map {
            pollfd(fd: $0.value.wish.descriptor, events: Int16(truncatingIfNeeded: $0.value.wish.events), revents: 0)
        }
        isDispatching = true
        if poll(&states, nfds_t(states.count), 0) > 0 {
            for ((number, _), state) in zip(order, states).reversed() where state.revents != 0 {
                // Cancelled by one that was called just now.
                guard let entry = entries[number], let source = entry.source else { continue }
                if Int32(state.revents) & POLLNVAL != 0 {
                    // Closed without a word; epoll would forget it just so.
                    entries[number] = nil
                    continue
                }
                source.fire(UInt32(UInt16(bitPattern: state.revents)))
            }
        }
        isDispatching = false
        arm()
    }

    private func arm() {
        guard !isDispatching else { return }
        if !refusesThread, EventLoop.shared.pollThread.start() {
            EventLoop.shared.pollThread.wait(for: entries.values.map(\.wish))
        } else if entries.isEmpty {
            glance = nil
        } else if glance == nil {
            glance = try? EventLoop.shared.schedule(after: Self.glanceInterval) { [weak self] in self?.dispatch() }
        }
    }

    // MARK: Shortage

    func observe(_ source: EventSource) -> UInt64 {
        lastNumber += 1
        observers[lastNumber] = Entry(source: source, wish: PollThread.Wish(descriptor: -1, events: 0))
        return lastNumber
    }

    /// In a turn of its own: whoever asked for the watch is not ready to be interrupted.
    private func tellObservers() {
        guard telling == nil, !observers.isEmpty else { return }
        telling = try? EventLoop.shared.schedule(after: .zero) { [weak self] in
            guard let self else { return }
            telling = nil
            for observer in observers.values { observer.source?.fire(0) }
        }
    }
}
