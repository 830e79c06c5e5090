/// An activity of BlueZ, and whether it is wanted. Only one request is sent at a time, and its answer decides the next request.
struct Wish: Hashable, Sendable {
    enum State: Hashable, Sendable, CaseIterable { case off, starting, on, stopping }
    enum Step: Hashable, Sendable { case start, stop }

    private(set) var state = State.off
    var isWanted = false
    /// A number that changes each time BlueZ forgets everything, so that late answers are dropped.
    private(set) var era = 0

    /// Returns the next request, and counts it as sent.
    mutating func next() -> Step? {
        switch (state, isWanted) {
        case (.off, true):
            state = .starting
            return .start
        case (.on, false):
            state = .stopping
            return .stop
        case (.off, false), (.on, true), (.starting, _), (.stopping, _): return nil
        }
    }

    /// Handles the answer to a request.
    mutating func answered(_ era: Int, isDone: Bool) {
        guard era == self.era else { return }
        switch state {
        case .starting: state = isDone ? .on : .off
        // If the activity cannot be stopped, it has already ended.
        case .stopping: state = .off
        case .off, .on: break
        }
    }

    /// Notes that BlueZ has ended the activity, or is gone.
    mutating func ended() {
        state = .off
        era += 1
    }
}
