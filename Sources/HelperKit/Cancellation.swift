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
