import ControlAPI
import Glibc
import HotspotCore
import Varlink

/// A connection to the daemon's control interface.
final class Daemon {
    /// How long an answer to one call may take, in seconds. The longest is a check: a probe of some seconds.
    static let patience = 60.0

    private let connection: BlockingConnection
    private let path: String

    init(path: String) throws(Failure) {
        self.path = path
        do { connection = try BlockingConnection(path: path) } catch { throw Failure(error, path: path) }
    }

    /// One call, one reply, as it came.
    func call(_ method: String, _ parameters: JSONValue = [:]) throws(Failure) -> JSONValue {
        do {
            wait(Self.patience)
            return try connection.call("\(ControlContract.name).\(method)", parameters)
        } catch { throw Failure(error, path: path) }
    }

    /// One call, one reply, read.
    func call<T: Decodable>(_ method: String, _ parameters: JSONValue = [:], as type: T.Type) throws(Failure) -> T {
        try Self.read(type, try call(method, parameters))
    }

    /// The prompt of this identifier, if it still waits.
    func prompt(_ id: String) throws(Failure) -> PendingPrompt? {
        try call("Prompts", ["id": .string(id)], as: PromptsReply.self).prompts.first { $0.id == id }
    }

    /// Asks for a stream. Replies come from ``next(within:)``.
    func subscribe(_ method: String, _ parameters: JSONValue = [:]) throws(Failure) {
        do {
            try connection.send(Call(method: "\(ControlContract.name).\(method)", parameters: parameters, more: true))
        } catch { throw Failure(error, path: path) }
    }

    /// The next reply of the stream.
    ///
    /// - Parameter seconds: how long to wait; `nil`: for ever.
    /// - Returns: `nil` if the time is over.
    func next(within seconds: Double? = nil) throws(Failure) -> JSONValue? {
        do {
            wait(seconds)
            return try connection.receive(Varlink.Answer.self).get()
        } catch {
            if case .system(_, Failure.wouldBlock) = error, seconds != nil { return nil }
            throw Failure(error, path: path)
        }
    }

    /// Reads a reply.
    static func read<T: Decodable>(_ type: T.Type, _ reply: JSONValue) throws(Failure) -> T {
        do {
            return try Coding.decode(type, from: reply)
        } catch {
            throw Failure(.failed, "the daemon's reply cannot be read: \(error).", hint: "is hotspotctl of the same version?")
        }
    }

    /// Limits each read. What is buffered already is read without waiting, which a poll on the descriptor would not know.
    private func wait(_ seconds: Double?) {
        // All zeros would mean for ever.
        let seconds = seconds.map { max($0, 0.001) } ?? 0
        var limit = timeval(tv_sec: Int(seconds), tv_usec: Int((seconds - seconds.rounded(.down)) * 1e6))
        setsockopt(connection.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
}

extension JSONValue {
    /// An object of the members that are there.
    static func members(_ members: [String: String?]) -> JSONValue {
        .object(members.compactMapValues { $0.map(JSONValue.string) })
    }
}
