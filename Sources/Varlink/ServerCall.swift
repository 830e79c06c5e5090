import EventLoop
import HotspotCore

/// One call of a client, with the methods to answer it.
@LoopActor public final class ServerCall {
    /// The method without its interface.
    public let method: String
    /// The parameters as they came.
    public let parameters: JSONValue
    /// Whether the client wants more than one answer.
    public let wantsMore: Bool
    public let peer: PeerCredentials
    /// The peer's permissions when it connected.
    public let standing: Standing
    /// Called once if the client leaves before the last answer.
    public var onCancel: () -> Void = {}

    let interface: String
    weak var client: ServerClient?
    private(set) var isDone = false
    private let oneway: Bool

    init(interface: String, method: String, call: Call, client: ServerClient) {
        self.interface = interface
        self.method = method
        self.client = client
        peer = client.peer
        standing = client.standing
        parameters = call.parameters ?? [:]
        wantsMore = call.more ?? false
        oneway = call.oneway ?? false
    }

    /// Sends the last answer.
    public func reply(_ value: some Encodable) { reply(encoded: Coding.encode(value)) }

    /// Sends the last answer; the parameters are an already encoded object.
    public func reply(encoded parameters: [UInt8]) { finish(Self.answer(parameters)) }

    /// Sends the last answer, empty.
    public func reply() { finish(Answer(parameters: [:])) }

    /// Sends one answer of many; only for a client that wants more.
    public func replyMore(_ value: some Encodable) { replyMore(encoded: Coding.encode(value)) }

    /// Sends one of several answers; the parameters are an already encoded object.
    public func replyMore(encoded parameters: [UInt8]) {
        guard !isDone else { return }
        client?.connection.send(encoded: Self.answer(parameters, continues: true))
    }

    /// Returns the octets of an answer, without an intermediate value, because lists of helpers and networks are long.
    private static func answer(_ parameters: [UInt8], continues: Bool = false) -> [UInt8] {
        Array(continues ? #"{"continues":true,"parameters":"#.utf8 : #"{"parameters":"#.utf8) + parameters + [UInt8(ascii: "}")]
    }

    /// Sends an error of this interface as the last answer.
    public func fail(_ name: String, _ parameters: JSONValue = [:]) {
        finish(Answer(parameters: parameters, error: "\(interface).\(name)"))
    }

    /// Sends the protocol's own error InvalidParameter, with the parameter's name, as the last answer.
    public func failInvalidParameter(_ name: String) {
        finish(Answer(parameters: ["parameter": .string(name)], error: "org.varlink.service.InvalidParameter"))
    }

    /// Reads the parameters as a type, or answers with an error and returns `nil`.
    public func decode<T: Decodable>(_ type: T.Type) -> T? {
        do {
            return try Coding.decode(type, from: parameters)
        } catch {
            failInvalidParameter(error.description)
            return nil
        }
    }

    private func finish(_ answer: Answer) { finish(Coding.encode(answer)) }

    private func finish(_ answer: [UInt8]) {
        guard !isDone else { return }
        isDone = true
        onCancel = {}
        if !oneway { client?.connection.send(encoded: answer) }
        client?.finished(self)
    }

    func cancel() {
        guard !isDone else { return }
        isDone = true
        let onCancel = onCancel
        self.onCancel = {}
        onCancel()
    }
}

/// An interface that a server offers.
@LoopActor public protocol ServerInterface: AnyObject {
    /// The name of the interface, such as `org.hotspotd.Control`.
    nonisolated var name: String { get }
    /// The text of the `.varlink` file.
    nonisolated var definition: String { get }
    /// Answers a call, now or later. Returns `false` if there is no such method.
    func handle(_ call: ServerCall) -> Bool
}

extension ServerCall {
    func failProtocol(_ name: String, _ parameters: JSONValue) {
        finish(Answer(parameters: parameters, error: "org.varlink.service.\(name)"))
    }
}
