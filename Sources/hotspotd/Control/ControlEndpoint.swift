import ControlServer
import EventLoop
import Glibc
import Varlink

/// The control interface on its two sockets: one for all users, one for the daemon's helpers.
@LoopActor final class ControlEndpoint {
    let interface: ControlInterface
    private let servers: [Server]
    private let paths: [String]

    init(services: Services, backend: DaemonBackend) throws {
        let settings = services.settings
        paths = [settings.controlSocket, settings.helperControlSocket]
        let socket = try Socket.listen(path: settings.controlSocket, mode: 0o666, isLocked: true)
        let helperSocket = try Socket.listen(path: settings.helperControlSocket, mode: 0o600, isLocked: true)
        let permission = Permission()
        let interface = ControlInterface(backend: backend, permission: permission)
        interface.onChange = { method, peer, allowed in
            services.log.info("\(allowed ? "" : "refused: ")\(method) by user \(peer.uid)")
        }
        interface.onRefusals = { method, user, count in
            services.log.info(
                "refused: \(count) more of \(method ?? "many methods") by \(user.map { "user \($0)" } ?? "many users")")
        }
        servers = [
            try Server(
                listening: socket, product: "hotspotd", version: backend.version, interfaces: [interface],
                standing: permission.standing),
            try Server(
                listening: helperSocket, product: "hotspotd", version: backend.version, interfaces: [interface],
                standing: { _ in .restricted }),
        ]
        self.interface = interface
    }

    /// Whether both sockets still exist.
    var isReachable: Bool { paths.allSatisfy { access($0, F_OK) == 0 } }

    func close() {
        for server in servers { server.close() }
        for path in paths { unlink(path) }
    }
}
