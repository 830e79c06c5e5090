/// Something that BlueZ does while it is wanted: one request at a time, and the answer decides about the next one.
struct Wish: Hashable, Sendable {
    enum State: Hashable, Sendable, CaseIterable { case off, starting, on, stopping }
    enum Step: Hashable, Sendable { case start, stop }

    private(set) var state = State.off
    var isWanted = false
    /// Names the requests since BlueZ last forgot all. A late answer is dropped by it.
    private(set) var era = 0

    /// Returns the request that is due, and counts it as sent.
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
        // An activity that cannot be stopped is gone.
        case .stopping: state = .off
        case .off, .on: break
        }
    }

    /// BlueZ has ended it, or is gone.
    mutating func ended() {
        state = .off
        era += 1
    }
}
