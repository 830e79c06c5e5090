import BoundHTTP
import Glibc
import HotspotCore
import Varlink

/// A connection to a browser's DevTools protocol: JSON messages, each ended by a NUL octet. A thread of its own reads it.
final class DevTools: Sendable {
    /// A message of the browser that no command waits for.
    struct Event: Sendable {
        let method: String
        let parameters: JSONValue
        let session: String?
    }

    private struct State {
        var last = 0
        var answers: [Int: JSONValue] = [:]
        var isClosed = false
    }

    /// The longest message, in octets; a page's markup is the longest.
    private static let messageLimit = 4 << 20
    /// The most events of one page: more are a page's that never comes to rest.
    private static let eventLimit = 50_000

    private let descriptor: Int32
    private let state = Locked(State())
    private let onEvent: @Sendable (DevTools, Event) -> Void

    /// Takes a connected socket over.
    init(descriptor: Int32, onEvent: @escaping @Sendable (DevTools, Event) -> Void) {
        (self.descriptor, self.onEvent) = (descriptor, onEvent)
        Worker.start { self.readAll() }
    }

    deinit { Glibc.close(descriptor) }

    var isClosed: Bool { state.with { $0.isClosed } }

    /// Ends the connection, and with it the browser.
    func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        state.with { $0.isClosed = true }
    }

    /// Sends a command, and returns its result. Throws ``TransferError``: `cancelled`, `timeout`, and `system` where the browser refuses or
    /// has ended.
    func call(
        _ method: String, _ parameters: JSONValue = [:], session: String? = nil, in scope: Scope
    ) throws(TransferError) -> JSONValue {
        let number = try send(method, parameters, session)
        // Cancelling wakes this thread, which waits for a change of the state.
        let handler = scope.cancellation.onCancel { [state] in state.with { _ in } }
        defer { scope.cancellation.removeHandler(handler) }
        let answer: JSONValue?? = state.wait(until: scope.deadline) { state in
            if let answer = state.answers.removeValue(forKey: number) { return .some(answer) }
            return state.isClosed || scope.cancellation.isCancelled ? .some(nil) : nil
        }
        if scope.cancellation.isCancelled { throw TransferError(.cancelled) }
        guard let answer else { throw TransferError(.timeout, "the page in the browser") }
        guard let answer else { throw TransferError(.system, "the browser has ended") }
        if let error = answer["error"] {
            throw TransferError(.system, "the browser, \(method): \(error["message"]?.string ?? "failed")")
        }
        return answer["result"] ?? [:]
    }

    /// Sends a command whose answer nobody waits for.
    func tell(_ method: String, _ parameters: JSONValue = [:], session: String? = nil) {
        guard let number = try? send(method, parameters, session) else { return }
        state.with { $0.answers[-number] = .null }
    }

    private func send(_ method: String, _ parameters: JSONValue, _ session: String?) throws(TransferError) -> Int {
        let number = state.with { state in
            state.last += 1
            return state.last
        }
        var message: [String: JSONValue] = ["id": .integer(number), "method": .string(method), "params": parameters]
        if let session { message["sessionId"] = .string(session) }
        var rest = (Coding.encode(JSONValue.object(message)) + [0])[...]
        // Two threads do not mix their messages: the state is held meanwhile.
        let isSent = state.with { state in
            while !state.isClosed, !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return rest.isEmpty
        }
        guard isSent else { throw TransferError(.system, "the browser has ended") }
        return number
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
                    if !take(try Coding.decode(JSONValue.self, from: message)) { events += 1 }
                }
            } catch { break reading }
        }
        close()
    }

    /// Keeps an answer, or hands an event over; returns whether it was an answer.
    private func take(_ message: JSONValue) -> Bool {
        guard let number = message["id"]?.integer else {
            guard let method = message["method"]?.string else { return false }
            onEvent(self, Event(method: method, parameters: message["params"] ?? [:], session: message["sessionId"]?.string))
            return false
        }
        state.with { state in
            // An answer that nobody waits for is dropped.
            if state.answers.removeValue(forKey: -number) == nil { state.answers[number] = message }
        }
        return true
    }
}
