import EventLoop
import LinkState

/// Notices soon that an open network has closed (D27), because a session or free minutes are over: the kernel's counters are read now and
/// then, and only connections that have trouble start a probe, so that a network without use costs none.
@LoopActor final class TroubleWatch {
    private static let interval = Duration.seconds(10)

    private let waking: Waking
    private let probe: (_ done: @escaping () -> Void) -> Void
    private var isWanted = false
    private var timer: EventSource?
    private var before: TCPCounters?

    /// - Parameter probe: asks the prober, and calls back when it has answered.
    init(waking: Waking, probe: @escaping (_ done: @escaping () -> Void) -> Void) {
        self.waking = waking
        self.probe = probe
    }

    func setWanted(_ isWanted: Bool) {
        guard isWanted != self.isWanted else { return }
        self.isWanted = isWanted
        wait()
    }

    /// Waits for the next reading. The kernel may delay it, to be at one with other timers.
    private func wait() {
        timer?.cancel()
        guard isWanted else { return }
        before = .now
        timer = try? EventLoop.shared.schedule(after: Self.interval, accuracy: Self.interval / 2) { [weak self] in
            self?.waking.afterLinksAreRead { self?.read() }
        }
    }

    private func read() {
        guard isWanted else { return }
        guard let before, let now = TCPCounters.now, now.showsTrouble(since: before) else { return wait() }
        // The probe's own connections are counted as well.
        probe { [weak self] in self?.wait() }
    }
}
