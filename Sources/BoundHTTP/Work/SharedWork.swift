import HotspotCore

/// Work that several commands wait for. It runs once, on its own thread, and is cancelled when the last command stops waiting
/// for it.
package final class SharedWork<Value: Sendable>: Sendable {
    private struct WorkState {
        var value: Value?
        var waiters = 0
        var isAbandoned = false
        var ended: Instant?
    }

    private let state = Locked(WorkState())
    private let cancellation = Cancellation()

    /// Starts the work at once.
    package init(deadline: Instant, _ work: @escaping @Sendable (Scope) -> Value) {
        let scope = Scope(cancellation: cancellation, deadline: deadline)
        let state = state
        Worker.start {
            let value = work(scope)
            state.with {
                $0.value = value
                $0.ended = .now
            }
        }
    }

    /// Whether all commands stopped waiting before the work ended. Then the work was cancelled and has to be started again.
    package var isAbandoned: Bool { state.with { $0.isAbandoned } }

    /// The value; `nil` while the work runs.
    package var value: Value? { state.with { $0.value } }

    /// Milliseconds since the work ended; `nil` while it runs.
    package var age: Int? { state.with { $0.ended?.millisecondsAgo } }

    /// Waits for the value; `nil` if the scope is cancelled or its deadline passes first.
    package func wait(in scope: Scope) -> Value? {
        state.with { $0.waiters += 1 }
        defer {
            let isAbandoned = state.with { state in
                state.waiters -= 1
                if state.waiters == 0, state.value == nil { state.isAbandoned = true }
                return state.isAbandoned
            }
            if isAbandoned { cancellation.cancel() }
        }
        // Cancelling wakes this thread, which waits for a change of the state.
        let handler = scope.cancellation.onCancel { [state] in state.with { _ in } }
        defer { scope.cancellation.removeHandler(handler) }
        let outcome: Value?? = state.wait(until: scope.deadline) { state -> Value?? in
            if let value = state.value { return .some(.some(value)) }
            return scope.cancellation.isCancelled ? .some(.none) : .none
        }
        return outcome ?? nil
    }
}
