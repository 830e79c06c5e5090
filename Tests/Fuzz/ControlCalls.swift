import Glibc

@testable import BoundHTTP
@testable import ControlAPI
@testable import ControlServer
@testable import EventLoop
@testable import HotspotCore
@testable import Varlink

/// Calls every method of the control interface with the same parameters, as the daemon does for a client, up to a backend that does
/// nothing.
@LoopActor final class ControlCalls {
    nonisolated static let shared = ControlCalls()

    private struct Side {
        let backend = ScriptedBackend()
        let control: ControlInterface
        let server: Server
        let client: ServerClient
    }

    private var side: Side?

    nonisolated private init() { EventLoop.startThread() }

    nonisolated func play(_ octets: [UInt8]) {
        guard let parameters = try? Coding.decode(JSONValue.self, from: octets) else { return }
        let isDone = Locked(false)
        Task { @LoopActor in
            call(with: parameters)
            isDone.with { $0 = true }
        }
        _ = isDone.wait(until: .after(milliseconds: 60_000)) { $0 ? true : nil }
    }

    private func call(with parameters: JSONValue) {
        guard let side = side ?? connect() else { return }
        self.side = side
        for (method, wantsMore) in ControlInterface.methods.keys.flatMap({ [($0, false), ($0, true)] }) {
            let call = ServerCall(
                interface: "org.hotspotd.Control", method: method,
                call: Call(method: "org.hotspotd.Control." + method, parameters: parameters, more: wantsMore), client: side.client
            )
            _ = side.control.handle(call)
            call.cancel()
        }
        // The companion service reads these.
        _ = try? Coding.decode(CompanionStatusParameters.self, from: parameters)
        _ = try? Coding.decode(ShareParameters.self, from: parameters)
        _ = try? Coding.decode(PeerAnswerParameters.self, from: parameters)
        _ = try? Coding.decode(DecideParameters.self, from: parameters)
        // The backend reads these texts first.
        for text in ["ssid", "network", "ssidHex"].compactMap({ parameters[$0]?.string }) {
            _ = SSID(printable: text)
            _ = SSID(hex: text)
            _ = NetworkID(key: text)
            _ = try? SSIDPattern.list(text)
        }
    }

    /// Makes a client whose answers nothing reads.
    private func connect() -> Side? {
        var (ends, others): ([Int32], [Int32]) = ([0, 0], [0, 0])
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0, socketpair(AF_UNIX, type, 0, &others) == 0 else { return nil }
        let backend = ScriptedBackend()
        let user = geteuid()
        let permission = Permission(trusted: [user], group: nil) { nil }
        let control = ControlInterface(backend: backend, permission: permission)
        guard let server = try? Server(listening: Descriptor(others[0]), product: "fuzz", version: "0", interfaces: [control]),
            let connection = try? Connection(socket: ends[0], limit: 65536)
        else { return nil }
        let client = ServerClient(
            connection: connection, peer: PeerCredentials(uid: user, gid: getegid(), pid: getpid()), standing: .permitted,
            limits: Server.ClientLimits(), server: server)
        return Side(control: control, server: server, client: client)
    }
}
