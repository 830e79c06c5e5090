import EventLoop
import ForeignText
import Glibc
import HotspotCore

/// A Varlink service on a unix socket: introspection, limits, and dispatching each call to its interface.
@LoopActor public final class Server {
    /// The limits on the resources that clients may use.
    public struct ClientLimits: Sendable {
        /// The number of clients at a time; a further client gets an error and is disconnected.
        public var clients = 32
        /// The part of these connections that is reserved for clients that may change things.
        public var reserved = 4
        /// The number of connections of one user without permission.
        public var perStranger = 8
        /// The time without a call after which a client that may not change things is disconnected.
        public var idle = Duration.seconds(10)
        /// The number of octets that may wait for a client; a client that reads more slowly is disconnected.
        public var output = 1024 * 1024
        /// The largest size of one call, in octets.
        public var message = 64 * 1024
        /// The number of connections that are accepted within ``burstTime`` before a pause.
        ///
        /// Measured on two processors, while two processes of an unprivileged user connect and leave without end: a connected client waits 0.1 ms for
        /// an answer, 6 ms at most (without a pause 1.5 s, 1.8 s at most). A new client waits 0.2 s, 1 s at most.
        public var burst = 100
        /// The time for a burst: see ``burst``.
        public var burstTime = Duration.milliseconds(50)
        /// The time for the rest of a call that has begun.
        public var partial = Duration.seconds(5)
        /// The pause before accepting clients again, after a burst or if there are no descriptors left.
        public var pause = Duration.milliseconds(200)

        /// The default limits.
        public init() {}
    }

    private let identity: (vendor: String, product: String, version: String, url: String)
    private let interfaces: [any ServerInterface]
    private let limits: ClientLimits
    private let standing: (PeerCredentials) -> Standing
    private var listener: EventSource?
    private var pausing: EventSource?
    private var isOpen = true
    private let socket: Int32
    /// The recent connections: see ``ClientLimits/burst``.
    private var burst: (began: Instant, count: Int) = (EventLoop.now, 0)
    /// accept(2); tests replace it with a function that fails.
    var acceptNext: (Int32) -> Int32 = { Glibc.accept($0, nil, nil) }
    private var clients: [ObjectIdentifier: ServerClient] = [:]

    /// Serves `interfaces` on a listening, non-blocking socket, which the server closes. `standing` is called once for each connection.
    public init(
        listening socket: consuming Descriptor, product: String, version: String, interfaces: [any ServerInterface],
        limits: ClientLimits = ClientLimits(), standing: @escaping (PeerCredentials) -> Standing = { _ in .stranger }
    ) throws(VarlinkError) {
        identity = ("hotspotd", product, version, "https://github.com/hotspotd/hotspotd")
        self.interfaces = interfaces
        self.limits = limits
        self.standing = standing
        self.socket = socket.take()
        do {
            try listen()
        } catch {
            throw .system(operation: error.operation, code: error.code)
        }
    }

    private func listen() throws(LoopError) {
        listener = try EventLoop.shared.watch(socket) { [weak self] _ in self?.accept() }
    }

    /// Stops listening and disconnects all clients.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        listener?.cancel()
        listener = nil
        pausing?.cancel()
        pausing = nil
        Glibc.close(socket)
        for client in clients.values { client.connection.close() }
        clients = [:]
    }

    /// For tests: the number of connected clients.
    package var clientCount: Int { clients.count }

    private func accept() {
        // A program that connects and leaves without end must not block other clients or the loop, so further connections wait after a burst.
        if EventLoop.now - burst.began > limits.burstTime { burst = (EventLoop.now, 0) }
        for _ in 0..<64 {
            guard burst.count < limits.burst else { return pause() }
            let descriptor = acceptNext(socket)
            guard descriptor >= 0 else {
                switch errno {
                case EINTR, ECONNABORTED: continue
                // The client stays in the queue and the socket stays readable, so without a pause the loop would spin.
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: return pause()
                default: return
                }
            }
            burst.count += 1
            // The daemon starts programs only on this thread, so no program is started between these calls.
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            guard let peer = PeerCredentials(socket: descriptor),
                let connection = try? Connection(
                    socket: descriptor, limit: limits.message, outputLimit: limits.output, isPatient: true)
            else {
                Glibc.close(descriptor)
                continue
            }
            // If all connections are in use, the peer is refused anyway, so its groups are not looked up.
            let standing = clients.count < limits.clients ? standing(peer) : .stranger
            if let refusal = refusal(of: peer, standing) {
                connection.send(
                    Answer(
                        parameters: ["code": "busy", "message": .string(refusal)],
                        error: (interfaces.first?.name ?? "org.varlink.service") + ".Failed"))
                connection.close()
                continue
            }
            let client = ServerClient(
                connection: connection, peer: peer, standing: standing, limits: limits, server: self)
            clients[ObjectIdentifier(client)] = client
        }
    }

    /// Returns why this peer is refused; `nil` if it is accepted.
    private func refusal(of peer: PeerCredentials, _ standing: Standing) -> String? {
        guard clients.count < limits.clients else {
            return "all \(limits.clients) connections are in use; try again later"
        }
        guard standing != .permitted else { return nil }
        let others = clients.values.filter { $0.standing != .permitted }
        if standing == .stranger,
            others.count(where: { $0.standing == .stranger && $0.peer.uid == peer.uid }) >= limits.perStranger
        {
            return "this user already has \(limits.perStranger) connections, the maximum; try again later"
        }
        let unreserved = limits.clients - limits.reserved
        return others.count < unreserved ? nil : "all \(unreserved) connections are in use; try again later"
    }

    /// Accepts no new clients for a while.
    private func pause() {
        let timer = try? EventLoop.shared.schedule(after: limits.pause, accuracy: .milliseconds(50)) { [weak self] in
            self?.resume()
        }
        // Without a timer, the pause would never end, so the server does not pause.
        guard let timer else { return }
        pausing = timer
        listener?.cancel()
        listener = nil
    }

    private func resume() {
        pausing = nil
        do {
            try listen()
        } catch {
            pause()
        }
    }

    func left(_ client: ServerClient) { clients[ObjectIdentifier(client)] = nil }

    func dispatch(_ call: Call, from client: ServerClient) {
        let dot = call.method.lastIndex(of: ".") ?? call.method.startIndex
        let interface = String(call.method[..<dot])
        let method = String(call.method[dot...].dropFirst())
        let serverCall = ServerCall(interface: interface, method: method, call: call, client: client)
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

/// A peer's permissions on this server. They are determined once, when the peer connects, because looking up a user may be slow.
public enum Standing: Hashable, Sendable {
    /// The peer may change things, and has reserved connections.
    case permitted
    /// The peer is an ordinary local user.
    case stranger
    /// The peer is a helper: it may only ask about itself, whatever its user may do.
    case restricted
}
