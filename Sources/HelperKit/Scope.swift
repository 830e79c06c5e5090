import HotspotCore

/// Under which conditions a piece of work runs: who may stop it, until when it may take, and where its steps are written down.
public struct Scope: Sendable {
    /// Stops it.
    public let cancellation: Cancellation
    /// Ends it.
    public let deadline: Deadline
    /// Its steps.
    public let trace: Trace

    /// The overall limit of a command, in milliseconds: 40 s inside the daemon's 45 s.
    public static let commandLimit = 40_000

    /// A scope of its own.
    public init(
        cancellation: Cancellation = Cancellation(), deadline: Deadline = .after(milliseconds: commandLimit),
        trace: Trace = Trace()
    ) {
        self.cancellation = cancellation
        self.deadline = deadline
        self.trace = trace
    }

    /// The same with less time.
    public func limited(milliseconds: Int) -> Scope {
        Scope(cancellation: cancellation, deadline: min(deadline, .after(milliseconds: milliseconds)), trace: trace)
    }

    /// Waits, for at most the scope's time. `false` if it was cancelled or the deadline came first.
    public func pause(milliseconds: Int) -> Bool {
        let until = min(deadline, Deadline.after(milliseconds: milliseconds))
        let complete = until < deadline
        let waker = Monitor(false)
        let handler = cancellation.onCancel { waker.with { $0 = true } }
        defer { cancellation.removeHandler(handler) }
        let cancelled = waker.wait(until: until) { $0 ? true : nil } ?? false
        return complete && !cancelled
    }
}
