import EventLoop
import HotspotCore

/// One client: its connection, the calls that wait for an answer, and the time for the rest of a call.
@LoopActor final class ServerClient {
    let connection: Connection
    let peer: PeerCredentials
    let standing: Standing
    private weak var server: Server?
    // Answers go out in the order of the calls, one at a time, as the protocol requires.
    private var waiting: [Call] = []
    private var current: ServerCall?
    private var idling: EventSource?
    private var isClosed = false
    private let idleLimit: Duration

    init(
        connection: Connection, peer: PeerCredentials, standing: Standing, limits: Server.ClientLimits, server: Server
    ) {
        self.connection = connection
        self.peer = peer
        self.standing = standing
        self.server = server
        idleLimit = limits.idle
        connection.partialLimit = limits.partial
        connection.onMessage = { [weak self] in self?.received($0) }
        connection.onClose = { [weak self] _ in self?.closed() }
        idle()
    }

    func began(_ call: ServerCall) {
        idling?.cancel()
        idling = nil
        if !call.isDone { current = call }
    }

    func finished(_ call: ServerCall) {
        if current === call { current = nil }
        if current == nil, !waiting.isEmpty { server?.dispatch(waiting.removeFirst(), from: self) }
        if current == nil { idle() }
    }

    /// Disconnects a client without permission if it stays silent, because all such clients share a few connections.
    private func idle() {
        guard standing != .permitted, !isClosed else { return }
        idling?.cancel()
        idling = try? EventLoop.shared.schedule(after: idleLimit, accuracy: .seconds(1)) { [weak self] in
            self?.connection.close()
        }
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
        isClosed = true
        idling?.cancel()
        idling = nil
        current?.cancel()
        current = nil
        waiting = []
        server?.left(self)
    }
}
