import ControlAPI
import Glibc
import HotspotCore
import Varlink

/// A connection to the control interface of the daemon, or to the companion service.
final class ControlClient {
    /// The longest wait for one reply, in seconds. Only a check takes several seconds.
    static let patience = 60.0

    private let connection: BlockingConnection
    private let path: String
    private let interface: String

    init(path: String, interface: String = ControlContract.name) throws(Failure) {
        (self.path, self.interface) = (path, interface)
        do { connection = try BlockingConnection(path: path) } catch { throw Failure(error, path: path) }
    }

    /// Calls a method, and returns its reply unchanged.
    func call(_ method: String, _ parameters: JSONValue = [:]) throws(Failure) -> JSONValue {
        do {
            wait(Self.patience)
            return try connection.call("\(interface).\(method)", parameters)
        } catch { throw Failure(error, path: path, method: method) }
    }

    func call(_ method: String, _ parameters: some Encodable) throws(Failure) -> JSONValue {
        try call(method, Coding.value(parameters))
    }

    /// Calls a method, and reads its reply.
    func call<T: Decodable>(_ method: String, _ parameters: JSONValue = [:], as type: T.Type) throws(Failure) -> T {
        try Self.read(type, try call(method, parameters))
    }

    /// Returns the prompt with this identifier if it still waits; otherwise, if the daemon still knows, the reason why the prompt ended.
    func prompt(_ id: String) throws(Failure) -> (pending: PendingPrompt?, gone: String?) {
        let reply = try call("Prompts", ["id": .string(id)], as: PromptsReply.self)
        return (reply.prompts.first { $0.id == id }, reply.gone)
    }

    /// Starts a stream of replies, which ``next(within:)`` returns.
    func subscribe(_ method: String, _ parameters: some Encodable = JSONValue.object([:])) throws(Failure) {
        do {
            try connection.send(
                Call(method: "\(interface).\(method)", parameters: Coding.value(parameters), more: true))
        } catch { throw Failure(error, path: path) }
    }

    /// Returns the next reply of the stream; `nil` if no reply comes within the time. Without a time, waits for ever.
    func next(within seconds: Double? = nil) throws(Failure) -> JSONValue? {
        do {
            wait(seconds)
            return try connection.receive(Varlink.Answer.self).get()
        } catch {
            if case .system(_, Failure.wouldBlock) = error, seconds != nil { return nil }
            throw Failure(error, path: path)
        }
    }

    static func read<T: Decodable>(_ type: T.Type, _ reply: JSONValue) throws(Failure) -> T {
        do {
            return try Coding.decode(type, from: reply)
        } catch {
            throw Failure(
                .failed, "The daemon's reply cannot be read: \(error).",
                hint: "hotspotctl and hotspotd may have different versions; compare: hotspotctl --version"
            )
        }
    }

    /// Limits the time of each read with a socket option: a poll would wait even if a reply is already buffered.
    private func wait(_ seconds: Double?) {
        // At least 1 ms, because the kernel treats a time-out of zero as no time-out.
        let seconds = seconds.map { max($0, 0.001) } ?? 0
        var limit = timeval(tv_sec: Int(seconds), tv_usec: Int((seconds - seconds.rounded(.down)) * 1e6))
        setsockopt(connection.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
}

extension JSONValue {
    /// Returns an object of the members that are not `nil`.
    static func members(_ members: [String: String?]) -> JSONValue {
        .object(members.compactMapValues { $0.map(JSONValue.string) })
    }
}
