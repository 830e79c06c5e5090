import HotspotCore

/// Tells blocking work that nobody waits for it any more. It never becomes valid again.
public final class Cancellation: Sendable {
    private struct State {
        var isCancelled = false
        var handlers: [Int: @Sendable () -> Void] = [:]
        var next = 0
    }

    private let state = Monitor(State())

    /// Not cancelled.
    public init() {}

    /// Nobody waits any more.
    public var isCancelled: Bool { state.with { $0.isCancelled } }

    /// Cancels; a second time does nothing.
    public func cancel() {
        let handlers = state.with { state in
            state.isCancelled = true
            defer { state.handlers = [:] }
            return Array(state.handlers.values)
        }
        for handler in handlers { handler() }
    }

    /// Calls `handler` once on cancelling, at once if that has happened. The number is for ``removeHandler(_:)``.
    func onCancel(_ handler: @escaping @Sendable () -> Void) -> Int {
        let number: Int? = state.with { state in
            if state.isCancelled { return nil }
            state.next += 1
            state.handlers[state.next] = handler
            return state.next
        }
        if number == nil { handler() }
        return number ?? 0
    }

    /// After this returns, the handler may still be running on the cancelling thread, but does not start any more.
    func removeHandler(_ number: Int) { state.with { $0.handlers[number] = nil } }
}

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
        cancellation: Cancellation = Cancellation(), deadline: Deadline = .after(milliseconds: commandLimit), trace: Trace = Trace()
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

/// The steps that were taken, for `explain`: requests, statuses, durations; never a value that was typed, never a query string.
public final class Trace: Sendable {
    /// The most lines that are kept.
    static let limit = 100
    private let collected = Monitor([String]())

    /// An empty trace.
    public init() {}

    /// One step. Foreign text is made printable.
    public func add(_ line: String) {
        collected.with { if $0.count < Self.limit { $0.append(Printable.text(line, limit: 512)) } }
    }

    /// All steps in their order.
    public var lines: [String] { collected.with { $0 } }
}
