import EventLoop
import HotspotCore
import Logging
import Store

/// Collects the steps of all interfaces, so that a race of 200 helpers causes a few database commits instead of 400.
///
/// A step is written to the disk 200 ms after it was taken, so that a login on a fast network does not wait for the disk. Readers of the journal
/// flush first, and so does the end of an attempt. Tidying up the store may wait for the disk. It happens after 60 s without steps, which is longer
/// than the usual limit of a command, or after ten minutes at most.
@LoopActor final class JournalWriter {
    private static let delay = Duration.milliseconds(200)
    private static let rest = Duration.seconds(60)
    private static let longestWait = Duration.seconds(600)
    private let store: Store
    /// The log, whose level may change with the settings.
    var log: Logger
    /// The steps to write, in order.
    private var pending: [(attempt: String, step: Step)] = []
    private var timer: EventSource?
    private var tidying: EventSource?
    /// The time of the first step since the store was tidied up.
    private var untidySince: Instant?

    init(store: Store, log: Logger) {
        self.store = store
        self.log = log
    }

    func add(_ step: Step, to attempt: String) {
        pending.append((attempt, step))
        guard timer == nil else { return }
        timer = try? EventLoop.shared.schedule(after: Self.delay, accuracy: .milliseconds(50)) { [weak self] in self?.flush() }
        if timer == nil { flush() }
    }

    func flush() {
        timer?.cancel()
        timer = nil
        guard !pending.isEmpty else { return }
        var steps = pending[...]
        pending = []
        while let attempt = steps.first?.attempt {
            let same = steps.prefix { $0.attempt == attempt }
            steps = steps.dropFirst(same.count)
            do { try store.addSteps(attempt, same.map(\.step)) } catch { log.warning("journal: \(error)") }
        }
        let since = untidySince ?? EventLoop.now
        untidySince = since
        tidying?.cancel()
        let due = min(EventLoop.now + Self.rest, since + Self.longestWait)
        tidying = try? EventLoop.shared.schedule(after: max(.zero, due - EventLoop.now), accuracy: .seconds(5)) { [weak self] in
            self?.untidySince = nil
            self?.store.checkpoint()
        }
    }
}
