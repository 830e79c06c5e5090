import EventLoop
import LinkState

/// Notices soon that an open network has closed (D27), because a session or free minutes are over. While the link is used, the kernel's counters are
/// read now and then, and a probe starts only if connections have trouble. While the link is idle, there is no timer; the kernel reports the link's
/// next use.
@LoopActor final class TroubleWatch {
    /// The longest time between two readings, in shortest ones: a minute. Connections have trouble in an open network too, and each probe costs power
    /// and data.
    private static let longest = 8

    private let waking: Waking
    private let interval: Duration
    private let counters: () -> TCPCounters?
    private let awaitUse: (_ onUse: @escaping () -> Void) -> LinkUse?
    private let probe: (_ done: @escaping () -> Void) -> Void
    private var isWanted = false
    private var timer: EventSource?
    private var nextUse: LinkUse?
    /// The time until the next reading: doubled by trouble in a network that proves to be open, and halved by a reading without trouble.
    private var pause: Duration
    /// The last reading of the counters, perhaps from before the link was idle.
    private var before: TCPCounters?

    /// - Parameters:
    ///   - interval: the shortest time between two readings.
    ///   - counters: reads the kernel's counters.
    ///   - awaitUse: waits for the next use of the link; returns `nil` if the link is in use now.
    ///   - probe: asks the prober, and calls back when it has answered.
    init(
        waking: Waking, interval: Duration = .seconds(8), counters: @escaping () -> TCPCounters? = { .now },
        awaitUse: @escaping (_ onUse: @escaping () -> Void) -> LinkUse?,
        probe: @escaping (_ done: @escaping () -> Void) -> Void
    ) {
        (self.waking, self.interval, self.counters) = (waking, interval, counters)
        pause = interval
        self.awaitUse = awaitUse
        self.probe = probe
    }

    func setWanted(_ isWanted: Bool) {
        guard isWanted != self.isWanted else { return }
        self.isWanted = isWanted
        if isWanted { (before, pause) = (counters(), interval) }
        wait()
    }

    /// Waits for the next reading. The kernel may delay the reading, to combine its timer with others.
    private func wait() {
        (timer, nextUse) = (nil, nil)
        guard isWanted else { return }
        timer = try? EventLoop.shared.schedule(after: pause, accuracy: pause / 2) { [weak self] in
            self?.waking.afterLinksAreRead { self?.read { self?.rest() } }
        }
    }

    /// Waits for the next use; if the link is in use, for the next reading.
    private func rest() {
        nextUse = awaitUse { [weak self] in
            // Do not check at once whether the link is idle again: the kernel reports an unreachable router every few seconds.
            self?.waking.afterLinksAreRead { self?.read { self?.wait() } }
        }
        if nextUse == nil { wait() }
    }

    private func read(_ goOn: () -> Void) {
        guard isWanted else { return }
        let last = before
        before = counters()
        guard let last, let before, before.showsTrouble(since: last) else {
            pause = max(interval, pause / 2)
            return goOn()
        }
        (timer, nextUse) = (nil, nil)
        probe { [weak self] in
            guard let self, isWanted else { return }
            // Read the counters again, because they include the probe's own connections.
            self.before = counters()
            pause = min(interval * Self.longest, pause * 2)
            wait()
        }
    }
}
