import EventLoop
import HotspotCore

/// Spreads work over turns of the event loop: starting two hundred processes at once would keep everything else waiting.
///
/// Work runs at once as long as a turn's share is not used up, and waits in order after that, behind whatever else is due.
@LoopActor final class Pacer {
    /// What one turn of the loop may spend on it.
    static let share = Duration.milliseconds(3)

    private var waiting: [() -> Void] = []
    private var spent = Duration.zero
    private var turn: EventSource?

    /// Runs it now or in a later turn; never out of order.
    func run(_ work: @escaping () -> Void) {
        guard waiting.isEmpty, spent < Self.share else { return waiting.append(work) }
        measure(work)
        endTurn()
    }

    private func measure(_ work: () -> Void) {
        let start = EventLoop.now
        work()
        spent += EventLoop.now - start
    }

    private func endTurn() {
        guard turn == nil else { return }
        turn = try? EventLoop.shared.schedule(after: .zero) { [weak self] in self?.nextTurn() }
        // Answers and deadlines go first.
        turn?.setPriority(10)
    }

    private func nextTurn() {
        turn = nil
        spent = .zero
        var started = 0
        while started < waiting.count, spent < Self.share {
            measure(waiting[started])
            started += 1
        }
        waiting.removeFirst(started)
        if started > 0 { endTurn() }
    }
}
