import ForeignText
import HotspotCore

/// The conditions under which work runs: its cancellation, its deadline, and the trace of its steps.
public struct Scope: Sendable {
    /// Stops the work early, at the caller's request.
    public let cancellation: Cancellation
    /// The time at which the work has to end.
    public let deadline: Instant
    /// Collects the steps of the work.
    public let trace: Trace

    /// The limit of a command, in milliseconds: 40 s, less than the daemon's 45 s.
    public static let commandLimit = 40_000

    /// Returns the time for a command that the caller cancels after `timeout` milliseconds: a ninth is left for returning the
    /// answer.
    package static func limit(of timeout: Int?) -> Int { timeout.map { max(0, min($0, 60_000)) * 8 / 9 } ?? commandLimit }

    /// Makes a scope.
    public init(
        cancellation: Cancellation = Cancellation(), deadline: Instant = .after(milliseconds: commandLimit),
        trace: Trace = Trace()
    ) {
        self.cancellation = cancellation
        self.deadline = deadline
        self.trace = trace
    }

    /// Returns a scope that differs only in its deadline, which is at most this many milliseconds away.
    public func limited(milliseconds: Int) -> Scope {
        Scope(cancellation: cancellation, deadline: min(deadline, .after(milliseconds: milliseconds)), trace: trace)
    }

    /// Waits this many milliseconds. Returns `false` as soon as the scope is cancelled or its deadline comes.
    public func pause(milliseconds: Int) -> Bool {
        let until = min(deadline, Instant.after(milliseconds: milliseconds))
        let isComplete = until < deadline
        let waker = Locked(false)
        let handler = cancellation.onCancel { waker.with { $0 = true } }
        defer { cancellation.removeHandler(handler) }
        let isCancelled = waker.wait(until: until) { $0 ? true : nil } ?? false
        return isComplete && !isCancelled
    }
}

/// The steps of a command, for `hotspotctl explain`: requests, statuses and durations, without answers and without queries of
/// URLs.
public final class Trace: Sendable {
    /// The largest number of lines that are kept.
    static let limit = 100
    private let collected = Locked([String]())

    /// Makes an empty trace.
    public init() {}

    /// Adds one step, made printable and at most 512 characters.
    public func add(_ line: String) {
        collected.with { if $0.count < Self.limit { $0.append(Printable.text(line, limit: 512)) } }
    }

    /// All steps in their order.
    public var lines: [String] { collected.with { $0 } }
}
