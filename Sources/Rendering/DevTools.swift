import BoundHTTP
import Glibc
import HotspotCore
import Varlink

/// A connection to a browser's DevTools protocol: JSON messages, each ended by a NUL octet. A separate thread reads the messages.
final class DevTools: Sendable {
    /// A message from the browser that is not the answer to a command.
    struct Event: Sendable {
        let method: String
        let parameters: JSONValue
        let session: String?
    }

    private struct State {
        var last = 0
        /// The numbers of the commands that wait, each with its answer once that has arrived.
        var waiting: [Int: JSONValue?] = [:]
        var isClosed = false
    }

    /// The longest message that is accepted, in octets. The longest messages contain a page's markup.
    private static let messageLimit = 4 << 20
    /// The number of events after which the connection is closed: a page that causes more never comes to rest.
    private static let eventLimit = 50_000

    private let descriptor: Int32
    /// Keeps two threads from mixing their messages.
    private let writing = Locked(())
    private let state = Locked(State())
    private let onEvent: @Sendable (DevTools, Event) -> Void

    /// Takes over a connected socket.
    init(descriptor: Int32, onEvent: @escaping @Sendable (DevTools, Event) -> Void) {
        (self.descriptor, self.onEvent) = (descriptor, onEvent)
        // Limits each write, because a browser that no longer reads must not block a command.
        var patience = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        // If the system has no thread left, nothing reads the answers, and each command times out.
        Worker.startAside { self.readAll() }
    }

    deinit { Glibc.close(descriptor) }

    var isClosed: Bool { state.with { $0.isClosed } }

    /// Ends the connection, and with it the browser.
    func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        state.with { $0.isClosed = true }
    }

    /// Sends a command, and returns its result. Throws ``TransferError``: `cancelled`, `timeout`, `system` if the browser
    /// refuses, and `browserEnded`.
    func call(
        _ method: String, _ parameters: JSONValue = [:], session: String? = nil, in scope: Scope
    ) throws(TransferError) -> JSONValue {
        let number = state.with { state in
            state.last += 1
            state.waiting[state.last] = .some(nil)
            return state.last
        }
        defer { state.with { $0.waiting[number] = nil } }
        try send(number, method, parameters, session)
        // Cancelling wakes this thread, which waits for a change of the state.
        let handler = scope.cancellation.onCancel { [state] in state.with { _ in } }
        defer { scope.cancellation.removeHandler(handler) }
        let answer: JSONValue?? = state.wait(until: scope.deadline) { state in
            if let answer = state.waiting[number] ?? nil { return .some(answer) }
            return state.isClosed || scope.cancellation.isCancelled ? .some(nil) : nil
        }
        if scope.cancellation.isCancelled { throw TransferError(.cancelled) }
        guard let answer else { throw TransferError(.timeout, "the page in the browser") }
        guard let answer else { throw TransferError(.browserEnded) }
        if let error = answer["error"] {
            throw TransferError(.system, "the browser, \(method): \(error["message"]?.string ?? "failed")")
        }
        return answer["result"] ?? [:]
    }

    /// Sends a command without waiting for its answer.
    func tell(_ method: String, _ parameters: JSONValue = [:], session: String? = nil) {
        let number = state.with { state in
            state.last += 1
            return state.last
        }
        try? send(number, method, parameters, session)
    }

    private func send(
        _ number: Int, _ method: String, _ parameters: JSONValue, _ session: String?
    ) throws(TransferError) {
        var message: [String: JSONValue] = ["id": .integer(number), "method": .string(method), "params": parameters]
        if let session { message["sessionId"] = .string(session) }
        let octets = Coding.encode(JSONValue.object(message)) + [0]
        let isSent = writing.with { _ in
            var rest = octets[...]
            while !isClosed, !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return rest.isEmpty
        }
        guard isSent else {
            // Half a message would spoil the next message, so the connection is closed.
            close()
            throw TransferError(.browserEnded)
        }
    }

    private func readAll() {
        var framer = Framer(limit: Self.messageLimit)
        var octets = [UInt8](repeating: 0, count: 65536)
        var events = 0
        reading: while events < Self.eventLimit {
            let count = recv(descriptor, &octets, octets.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            framer.append(octets[..<count])
            do {
                while let message = try framer.next() {
                    // A message that cannot be decoded counts as an event: answers contain only data of this program, not a page's raw text.
                    if let value = try? Coding.decode(JSONValue.self, from: message), take(value) { continue }
                    events += 1
                }
            } catch { break reading }
        }
        close()
    }

    /// Keeps the answer to a waiting command, or passes an event on. Returns whether the message was an answer.
    private func take(_ message: JSONValue) -> Bool {
        if let number = message["id"]?.integer {
            return state.with { state in
                guard state.waiting[number] != nil else { return false }
                state.waiting[number] = message
                return true
            }
        }
        if let method = message["method"]?.string {
            onEvent(
                self, Event(method: method, parameters: message["params"] ?? [:], session: message["sessionId"]?.string))
        }
        return false
    }
}
