import CSystemd
import EventLoop
import Glibc
import HotspotCore

/// One call that a client made, and the way to answer it.
@LoopActor public final class ServerCall {
    /// The method without its interface.
    public let method: String
    /// The parameters as they came.
    public let parameters: JSONValue
    /// The client listens for more than one answer.
    public let wantsMore: Bool
    /// Who asks.
    public let peer: PeerCredentials
    /// Called once if the client leaves before the last answer.
    public var onCancel: () -> Void = {}

    fileprivate let interface: String
    fileprivate weak var client: ServerClient?
    fileprivate(set) var isDone = false
    private let oneway: Bool

    fileprivate init(interface: String, method: String, call: Call, peer: PeerCredentials, client: ServerClient) {
        self.interface = interface
        self.method = method
        self.client = client
        self.peer = peer
        parameters = call.parameters ?? [:]
        wantsMore = call.more ?? false
        oneway = call.oneway ?? false
    }

    /// The last answer.
    public func reply(_ value: some Encodable) { finish(Answer(parameters: Coding.value(value))) }

    /// The last answer, empty.
    public func reply() { finish(Answer(parameters: [:])) }

    /// One answer of many; only for a client that wants more.
    public func replyMore(_ value: some Encodable) {
        guard !isDone else { return }
        client?.connection.send(Answer(parameters: Coding.value(value), continues: true))
    }

    /// The last answer is an error of this interface.
    public func fail(_ name: String, _ parameters: JSONValue = [:]) {
        finish(Answer(parameters: parameters, error: "\(interface).\(name)"))
    }

    /// The last answer is one of the protocol's own errors.
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

    private func finish(_ answer: Answer) {
        guard !isDone else { return }
        isDone = true
        onCancel = {}
        if !oneway { client?.connection.send(answer) }
        client?.finished(self)
    }

    fileprivate func cancel() {
        guard !isDone else { return }
        isDone = true
        let onCancel = onCancel
        self.onCancel = {}
        onCancel()
    }
}

/// An interface that a server offers.
@LoopActor public protocol ServerInterface: AnyObject {
    /// Such as `org.hotspotd.Control`.
    nonisolated var name: String { get }
    /// The text of the `.varlink` file.
    nonisolated var definition: String { get }
    /// Answers a call, now or later. `false` if there is no such method.
    func handle(_ call: ServerCall) -> Bool
}

/// A Varlink service on a unix socket: introspection, limits, and each call to its interface.
@LoopActor public final class Server {
    /// What a client may do to the server, at most.
    public struct Limits: Sendable {
        /// Clients at once; one more is told so and cut off.
        public var clients = 32
        /// Octets of one call.
        public var message = 64 * 1024
        /// Time for the rest of a call that has begun.
        public var partial = Duration.seconds(5)

        /// The limits of the specification.
        public init() {}
    }

    private let identity: (vendor: String, product: String, version: String, url: String)
    private let interfaces: [any ServerInterface]
    private let limits: Limits
    private var listener: EventSource?
    private let socket: Int32
    private var clients: [ObjectIdentifier: ServerClient] = [:]

    /// Serves `interfaces` on a listening, non-blocking socket, which is taken over.
    public init(
        listening socket: consuming Descriptor, product: String, version: String, interfaces: [any ServerInterface],
        limits: Limits = Limits()
    ) throws(VarlinkError) {
        identity = ("hotspotd", product, version, "https://github.com/hotspotd/hotspotd")
        self.interfaces = interfaces
        self.limits = limits
        self.socket = socket.take()
        do {
            listener = try EventLoop.shared.watch(self.socket) { [weak self] _ in self?.accept() }
        } catch {
            throw .system(operation: error.operation, code: error.code)
        }
    }

    /// Stops listening and cuts all clients off.
    public func close() {
        guard listener != nil else { return }
        listener?.cancel()
        listener = nil
        Glibc.close(socket)
        for client in clients.values { client.connection.close() }
        clients = [:]
    }

    /// The clients at present.
    public var clientCount: Int { clients.count }

    private func accept() {
        while true {
            let descriptor = Glibc.accept(socket, nil, nil)
            guard descriptor >= 0 else { return }
            // The daemon starts programs on this thread alone, so that none of them is started between these calls.
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            guard let peer = PeerCredentials(socket: descriptor),
                let connection = try? Connection(socket: descriptor, limit: limits.message)
            else {
                Glibc.close(descriptor)
                continue
            }
            guard clients.count < limits.clients else {
                connection.send(
                    Answer(
                        parameters: [
                            "code": "busy", "message": .string("\(limits.clients) clients are being served; try again"),
                        ],
                        error: (interfaces.first?.name ?? "org.varlink.service") + ".Failed"))
                connection.close()
                continue
            }
            let client = ServerClient(connection: connection, peer: peer, limits: limits, server: self)
            clients[ObjectIdentifier(client)] = client
        }
    }

    fileprivate func left(_ client: ServerClient) { clients[ObjectIdentifier(client)] = nil }

    fileprivate func dispatch(_ call: Call, from client: ServerClient) {
        let dot = call.method.lastIndex(of: ".") ?? call.method.startIndex
        let interface = String(call.method[..<dot])
        let method = String(call.method[dot...].dropFirst())
        let serverCall = ServerCall(interface: interface, method: method, call: call, peer: client.peer, client: client)
        client.began(serverCall)
        if interface == "org.varlink.service" {
            introspect(serverCall)
        } else if let target = interfaces.first(where: { $0.name == interface }) {
            if !target.handle(serverCall) {
                protocolError(serverCall, "MethodNotFound", ["method": .string(Printable.text(method, limit: 64))])
            }
        } else {
            protocolError(serverCall, "InterfaceNotFound", ["interface": .string(Printable.text(interface, limit: 64))])
        }
    }

    private func introspect(_ call: ServerCall) {
        switch call.method {
        case "GetInfo":
            call.reply(
                [
                    "vendor": .string(identity.vendor), "product": .string(identity.product),
                    "version": .string(identity.version), "url": .string(identity.url),
                    "interfaces": .array((["org.varlink.service"] + interfaces.map(\.name)).map { .string($0) }),
                ] as JSONValue)
        case "GetInterfaceDescription":
            let name = call.parameters["interface"]?.string
            let definition =
                name == "org.varlink.service" ? serviceDefinition : interfaces.first { $0.name == name }?.definition
            if let definition {
                call.reply(["description": .string(definition)] as JSONValue)
            } else {
                protocolError(call, "InterfaceNotFound", ["interface": .string(Printable.text(name ?? "", limit: 64))])
            }
        default:
            protocolError(call, "MethodNotFound", ["method": .string(Printable.text(call.method, limit: 64))])
        }
    }

    private func protocolError(_ call: ServerCall, _ name: String, _ parameters: JSONValue) {
        call.failProtocol(name, parameters)
    }
}

extension ServerCall {
    fileprivate func failProtocol(_ name: String, _ parameters: JSONValue) {
        finish(Answer(parameters: parameters, error: "org.varlink.service.\(name)"))
    }
}

/// One client: its connection, the calls that wait for an answer, and the time it has for a call's rest.
@LoopActor private final class ServerClient {
    let connection: Connection
    let peer: PeerCredentials
    private weak var server: Server?
    // Answers go out in the order of the calls (one at a time), as the protocol wants.
    private var waiting: [Call] = []
    private var current: ServerCall?

    init(connection: Connection, peer: PeerCredentials, limits: Server.Limits, server: Server) {
        self.connection = connection
        self.peer = peer
        self.server = server
        connection.partialLimit = limits.partial
        connection.onMessage = { [weak self] in self?.received($0) }
        connection.onClose = { [weak self] _ in self?.closed() }
    }

    func began(_ call: ServerCall) { if !call.isDone { current = call } }

    func finished(_ call: ServerCall) {
        if current === call { current = nil }
        if current == nil, !waiting.isEmpty { server?.dispatch(waiting.removeFirst(), from: self) }
    }

    private func received(_ octets: [UInt8]) {
        do {
            let call = try Coding.decode(Call.self, from: octets)
            guard waiting.count < 16 else { return connection.close() }
            if current != nil { waiting.append(call) } else { server?.dispatch(call, from: self) }
        } catch {
            connection.send(
                Answer(parameters: ["parameter": .string(error.description)], error: "org.varlink.service.InvalidParameter"))
            connection.close()
        }
    }

    private func closed() {
        current?.cancel()
        current = nil
        waiting = []
        server?.left(self)
    }
}

/// The protocol's own interface, from the Varlink documentation.
let serviceDefinition = """
    # The Varlink Service Interface is provided by every varlink service.
    interface org.varlink.service

    method GetInfo() -> (vendor: string, product: string, version: string, url: string, interfaces: []string)

    method GetInterfaceDescription(interface: string) -> (description: string)

    error InterfaceNotFound (interface: string)
    error MethodNotFound (method: string)
    error MethodNotImplemented (method: string)
    error InvalidParameter (parameter: string)
    error PermissionDenied ()
    error ExpectedMore ()
    """
