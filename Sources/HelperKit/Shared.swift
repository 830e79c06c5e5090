import HotspotCore

/// One piece of work that several commands wait for: it runs once, on a thread of its own, and stops when nobody waits any more.
final class Shared<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters = 0
        var isAbandoned = false
        var ended: Deadline?
    }

    private let state = Monitor(State())
    private let cancellation = Cancellation()

    /// Starts the work at once.
    init(deadline: Deadline, trace: Trace = Trace(), _ work: @escaping @Sendable (Scope) -> Value) {
        let scope = Scope(cancellation: cancellation, deadline: deadline, trace: trace)
        let state = state
        Worker.start {
            let value = work(scope)
            state.with {
                $0.value = value
                $0.ended = .now
            }
        }
    }

    /// Everybody left before the end: the value is worthless, someone new must start anew.
    var isAbandoned: Bool { state.with { $0.isAbandoned } }

    /// The value, if it is there.
    var value: Value? { state.with { $0.value } }

    /// Milliseconds since its end; `nil` while it runs.
    var age: Int? { state.with { $0.ended?.millisecondsAgo } }

    /// Keeps the work alive while nobody waits for it yet.
    func retain() { state.with { $0.waiters += 1 } }

    /// The opposite of ``retain()``.
    func release() {
        let isLast = state.with { state in
            state.waiters -= 1
            if state.waiters == 0, state.value == nil { state.isAbandoned = true }
            return state.isAbandoned
        }
        if isLast { cancellation.cancel() }
    }

    /// Waits. `nil` if the scope was cancelled or its time is over.
    func wait(in scope: Scope) -> Value? {
        retain()
        defer { release() }
        // Cancelling must wake this thread, which sleeps on the state.
        let handler = scope.cancellation.onCancel { [state] in state.with { _ in } }
        defer { scope.cancellation.removeHandler(handler) }
        let outcome: Value?? = state.wait(until: scope.deadline) { state -> Value?? in
            if let value = state.value { return .some(.some(value)) }
            return scope.cancellation.isCancelled ? .some(.none) : .none
        }
        return outcome ?? nil
    }
}
