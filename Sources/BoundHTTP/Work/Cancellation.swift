/// Tells blocking work to stop. A cancellation is final.
public final class Cancellation: Sendable {
    private struct CancellationState {
        var isCancelled = false
        var handlers: [Int: @Sendable () -> Void] = [:]
        var next = 0
    }

    private let state = Locked(CancellationState())

    /// Makes a cancellation that has not happened.
    public init() {}

    /// Whether the work has to stop.
    public var isCancelled: Bool { state.with { $0.isCancelled } }

    /// Cancels the work and calls the handlers. A second call has no effect.
    public func cancel() {
        let handlers = state.with { state in
            state.isCancelled = true
            defer { state.handlers = [:] }
            return Array(state.handlers.values)
        }
        for handler in handlers { handler() }
    }

    /// Calls `handler` once: on cancellation, or at once if the work is already cancelled. Returns the number for
    /// ``removeHandler(_:)``.
    package func onCancel(_ handler: @escaping @Sendable () -> Void) -> Int {
        let number: Int? = state.with { state in
            if state.isCancelled { return nil }
            state.next += 1
            state.handlers[state.next] = handler
            return state.next
        }
        if number == nil { handler() }
        return number ?? 0
    }

    /// Removes a handler. It may still be running on the cancelling thread afterwards, but it no longer starts.
    package func removeHandler(_ number: Int) { state.with { $0.handlers[number] = nil } }
}
