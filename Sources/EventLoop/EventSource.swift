import CSystemd
import Glibc
import HotspotCore

/// An event that the loop waits for. The wait ends with ``cancel()``, or when the last reference is dropped.
///
/// After ``cancel()`` the handler is never called again, even if its event is already due in this turn.
@LoopActor public final class EventSource {
    fileprivate var source: OpaquePointer?
    fileprivate var handler: ((UInt32) -> Void)?

    fileprivate init() {}

    isolated deinit { cancel() }

    /// Ends the wait. Safe to call twice, and from within the handler.
    public func cancel() {
        handler = nil
        guard let source else { return }
        sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF))
        sd_event_source_unref(source)
        self.source = nil
    }

    /// Sets the order in which sources are served: lower numbers come first.
    public func setPriority(_ priority: Int64) {
        if let source { sd_event_source_set_priority(source, priority) }
    }

    func fire(_ value: UInt32) {
        // The handler may drop the last reference to this source, so the closure is held here until the call returns.
        let handler = handler
        handler?(value)
    }

    fileprivate var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}

private func fire(_ userdata: UnsafeMutableRawPointer?, _ value: UInt32) {
    // sd-event calls back only on the loop's thread. The source is alive: its deinit removes the C source first.
    nonisolated(unsafe) let userdata = userdata!
    LoopActor.assumeIsolated {
        Unmanaged<EventSource>.fromOpaque(userdata).takeUnretainedValue().fire(value)
    }
}

extension LoopActor {
    /// Enters the actor's isolation from a C callback on its thread, as `MainActor.assumeIsolated` does for the main actor.
    static func assumeIsolated<T>(_ body: @LoopActor () throws -> T) rethrows -> T where T: Sendable {
        EventLoop.shared.checkIsolated()
        return try withoutActuallyEscaping(body) { body in
            // The isolation was checked above; the cast only removes the annotation.
            try unsafeBitCast(body, to: (() throws -> T).self)()
        }
    }
}

extension EventLoop {
    /// Calls the handler whenever the descriptor is ready for one of `events` (EPOLLIN, EPOLLOUT), with the events that occurred. The caller keeps
    /// the descriptor.
    @LoopActor public func watch(
        _ descriptor: Int32, for events: UInt32 = UInt32(EPOLLIN.rawValue), _ handler: @escaping (UInt32) -> Void
    ) throws(LoopError) -> EventSource {
        let source = EventSource()
        source.handler = handler
        try check("sd_event_add_io") {
            sd_event_add_io(
                event, &source.source, descriptor, events,
                { _, _, events, userdata in
                    fire(userdata, events)
                    return 0
                }, source.pointer)
        }
        return source
    }

    /// Calls the handler once at that instant of CLOCK_BOOTTIME, or up to `accuracy` later, so that wake-ups can be shared.
    @LoopActor public func schedule(
        at instant: Instant, accuracy: Duration = .milliseconds(1), _ handler: @escaping () -> Void
    ) throws(LoopError) -> EventSource {
        let source = EventSource()
        source.handler = { [weak source] _ in
            source?.cancel()
            handler()
        }
        try check("sd_event_add_time") {
            sd_event_add_time(
                event, &source.source, CLOCK_BOOTTIME, UInt64(max(0, (instant.nanoseconds + 999) / 1000)),
                UInt64(max(1, accuracy.nanoseconds / 1000)),
                { _, _, userdata in
                    fire(userdata, 0)
                    return 0
                }, source.pointer)
        }
        return source
    }

    /// Calls the handler once after this time.
    @LoopActor public func schedule(
        after delay: Duration, accuracy: Duration = .milliseconds(1), _ handler: @escaping () -> Void
    ) throws(LoopError) -> EventSource {
        try schedule(at: EventLoop.now + delay, accuracy: accuracy, handler)
    }

    /// Calls the handler once after this time, without a source to keep; at once if the system has no timer left.
    @LoopActor public func later(_ delay: Duration = .zero, priority: Int64 = 0, _ handler: @escaping () -> Void) {
        guard let source = try? schedule(after: delay, handler) else { return handler() }
        source.setPriority(priority)
        // The source keeps itself alive until it fires.
        source.handler = { _ in
            source.cancel()
            handler()
        }
    }

    /// Calls the handler at each arrival of a signal. The signal is blocked in the calling thread.
    @LoopActor public func onSignal(_ signal: Int32, _ handler: @escaping () -> Void) throws(LoopError) -> EventSource {
        let source = EventSource()
        source.handler = { _ in handler() }
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, signal)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        try check("sd_event_add_signal") {
            sd_event_add_signal(
                event, &source.source, signal,
                { _, _, userdata in
                    fire(userdata, 0)
                    return 0
                }, source.pointer)
        }
        return source
    }

    /// Calls the handler once when the child behind a pidfd has ended. The caller reaps only this child, with `waitid(P_PIDFD)`.
    @LoopActor public func onExit(pidfd: Int32, _ handler: @escaping () -> Void) throws(LoopError) -> EventSource {
        let source = try watch(pidfd) { _ in }
        source.handler = { [weak source] _ in
            source?.cancel()
            handler()
        }
        return source
    }

    @LoopActor private func check(_ operation: String, _ call: () -> Int32) throws(LoopError) {
        let result = call()
        guard result >= 0 else { throw LoopError(operation: operation, code: -result) }
    }
}
