import ControlAPI
import EventLoop
import ForeignText
import Glibc
import HotspotCore
import Varlink

/// A client of org.hotspotd.Control on the event loop. It reconnects if the daemon is away.
@LoopActor final class DaemonClient: CompanionDaemon {
    var onStatus: ([InterfaceStatus]?) -> Void = { _ in }
    var onPrompts: ([PendingPrompt]) -> Void = { _ in }

    private let path: String
    private let pause: Duration
    private var streams: [Connection] = []
    private var retry: EventSource?
    /// Each call has its own connection, because calls are rare.
    private var calls: [ObjectIdentifier: Connection] = [:]
    private static let (pauseTime, limit, callLimit) = (Duration.seconds(5), BlockingConnection.limit, 8)

    /// - Parameter path: the path of the daemon's socket.
    init(path: String, pause: Duration = DaemonClient.pauseTime) { (self.path, self.pause) = (path, pause) }

    func start() {
        do throws(VarlinkError) {
            // Follows the status first, because it contains the network of a question.
            try follow("Status") { [weak self] reply in
                self?.onStatus(try? Coding.decode(StatusReply.self, from: reply).interfaces)
            }
            try follow("Prompts") { [weak self] reply in
                if let prompts = try? Coding.decode(PromptsReply.self, from: reply).prompts { self?.onPrompts(prompts) }
            }
        } catch { lost() }
    }

    private func connect() throws(VarlinkError) -> Connection {
        try Connection(socket: try Socket.connect(path: path, nonblocking: true).take(), limit: Self.limit)
    }

    private func follow(_ method: String, _ handle: @escaping (JSONValue) -> Void) throws(VarlinkError) {
        let connection = try connect()
        streams.append(connection)
        connection.onMessage = { [weak self] octets in
            guard let reply = try? Coding.decode(Answer.self, from: octets).get() else { self?.lost(); return }
            handle(reply)
        }
        connection.onClose = { [weak self] _ in self?.lost() }
        connection.send(Call(method: "\(ControlContract.name).\(method)", more: true))
    }

    /// Reconnects after a pause.
    private func lost() {
        let old = streams
        streams = []
        for connection in old {
            connection.onClose = { _ in }
            connection.close()
        }
        guard retry == nil else { return }
        onStatus(nil)
        retry = try? EventLoop.shared.schedule(after: pause, accuracy: .milliseconds(100)) { [weak self] in
            self?.retry = nil
            self?.start()
        }
    }

    func answer(_ parameters: AnswerParameters, _ done: @escaping (Result<Void, DaemonRefusal>) -> Void) {
        call("Answer", parameters) { done($0.map { _ in }) }
    }

    func addOffered(_ offer: OfferedParameters, _ done: @escaping (Result<OfferedReply, DaemonRefusal>) -> Void) {
        call("AddOffered", offer) { result in
            done(
                result.flatMap { reply in
                    guard let reply = try? Coding.decode(OfferedReply.self, from: reply) else {
                        return .failure(DaemonRefusal(message: "The daemon's reply cannot be read."))
                    }
                    return .success(reply)
                })
        }
    }

    private func call(
        _ method: String, _ parameters: some Encodable, _ done: @escaping (Result<JSONValue, DaemonRefusal>) -> Void
    ) {
        guard calls.count < Self.callLimit, let connection = try? connect() else {
            return EventLoop.shared.later { done(.failure(DaemonRefusal(message: "The daemon hotspotd does not answer."))) }
        }
        let id = ObjectIdentifier(connection)
        calls[id] = connection
        var done: ((Result<JSONValue, DaemonRefusal>) -> Void)? = done
        let finish = { [weak self] (result: Result<JSONValue, DaemonRefusal>) in
            done?(result)
            done = nil
            self?.calls[id] = nil
        }
        connection.onMessage = { [weak connection] octets in
            do throws(VarlinkError) {
                finish(.success(try Coding.decode(Answer.self, from: octets).get()))
            } catch {
                finish(.failure(DaemonRefusal(error)))
            }
            connection?.close()
        }
        connection.onClose = { _ in finish(.failure(DaemonRefusal(message: "The daemon hotspotd ended the connection."))) }
        connection.send(Call(method: "\(ControlContract.name).\(method)", parameters: Coding.value(parameters)))
    }
}

extension DaemonRefusal {
    /// Uses the daemon's own sentence, if there is one.
    init(_ error: VarlinkError) {
        guard case .reply(let name, let parameters) = error, let refusal = ControlError(name: name, parameters: parameters) else {
            self.init(message: "The daemon hotspotd cannot do this.")
            return
        }
        let words =
            switch refusal {
            case .failed(_, let message), .notPermitted(let message), .invalidAnswer(_, let message): message
            case .suspiciousPortal(let warning): warning
            case .noSuchPrompt(_, let reason): reason ?? "The portal no longer asks."
            case .noSuchInterface, .noSuchHelper, .noSuchNetwork, .wrongState, .wrongPIN:
                "The daemon hotspotd cannot do this now."
            }
        self.init(message: Printable.shown(Blanks.collapsed(words), limit: 600))
    }
}
