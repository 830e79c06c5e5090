import EventLoop
import LinkState

/// Notices soon that an open network has closed (D27), because a session or free minutes are over. While the link is used, the kernel's counters are
/// read now and then, and a probe starts only if connections have trouble. While the link is idle, there is no timer; the kernel reports its next
/// use.
@LoopActor final class TroubleWatch {
    private static let interval = Duration.seconds(8)

    private let waking: Waking
    private let awaitUse: (_ onUse: @escaping () -> Void) -> LinkUse?
    private let probe: (_ done: @escaping () -> Void) -> Void
    private var isWanted = false
    private var timer: EventSource?
    private var nextUse: LinkUse?
    /// The last reading of the counters, perhaps from before the link was idle.
    private var before: TCPCounters?

    /// - Parameters:
    ///   - awaitUse: waits for the next use of the link; returns `nil` if the link is in use now.
    ///   - probe: asks the prober, and calls back when it has answered.
    init(
        waking: Waking, awaitUse: @escaping (_ onUse: @escaping () -> Void) -> LinkUse?,
        probe: @escaping (_ done: @escaping () -> Void) -> Void
    ) {
        self.waking = waking
        self.awaitUse = awaitUse
        self.probe = probe
    }

    func setWanted(_ isWanted: Bool) {
        guard isWanted != self.isWanted else { return }
        self.isWanted = isWanted
        if isWanted { before = .now }
        wait()
    }

    /// Waits for the next reading. The kernel may delay it, to run it together with other timers.
    private func wait() {
        (timer, nextUse) = (nil, nil)
        guard isWanted else { return }
        timer = try? EventLoop.shared.schedule(after: Self.interval, accuracy: Self.interval / 2) { [weak self] in
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
        before = .now
        guard let last, let before, before.showsTrouble(since: last) else { return goOn() }
        (timer, nextUse) = (nil, nil)
        probe { [weak self] in
            // Read the counters again, because they include the probe's own connections.
            self?.before = .now
            self?.wait()
        }
    }
}
