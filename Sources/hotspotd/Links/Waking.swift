import EventLoop
import HotspotCore

/// Makes due timers wait after a suspend until the links have been read again (D16), because the laptop may be at another place now.
@LoopActor final class Waking {
    /// The longest difference of the two clocks that does not mean a suspend; they differ a little, because they are read one after the other.
    private static let tolerance = Duration.milliseconds(100)
    /// The longest wait for a kernel that does not answer.
    private static let patience = Duration.seconds(2)

    /// Reads the links again, and calls back when that is done.
    var readAgain: (_ done: @escaping () -> Void) -> Void = { $0() }
    private let timeAsleep: () -> Duration
    private var known: Duration
    private var due: [() -> Void] = []
    private var isReading = false
    private var timer: EventSource?

    init(timeAsleep: @escaping () -> Duration = { EventLoop.timeAsleep }) {
        self.timeAsleep = timeAsleep
        known = timeAsleep()
    }

    /// Runs the body now. After a suspend, waits until the links have been read again.
    func afterLinksAreRead(_ body: @escaping () -> Void) {
        let asleep = timeAsleep()
        if !isReading, asleep - known < Self.tolerance { return body() }
        due.append(body)
        guard !isReading else { return }
        known = asleep
        isReading = true
        timer = try? EventLoop.shared.schedule(after: Self.patience) { [weak self] in self?.release() }
        readAgain { [weak self] in self?.release() }
    }

    private func release() {
        guard isReading else { return }
        isReading = false
        timer?.cancel()
        timer = nil
        let bodies = due
        due = []
        for body in bodies { body() }
    }
}
