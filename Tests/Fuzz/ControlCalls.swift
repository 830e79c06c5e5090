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

    /// Provides a client, whose own server has no interface.
    private struct Side {
        let server: Server
        let client: ServerClient
        /// The socket's end that receives the answers to the client.
        let answers: Int32
    }

    private var side: Side?
    /// The buffer for the answers to one call.
    private var room = [UInt8](repeating: 0, count: 1 << 20)

    nonisolated private init() { EventLoop.startThread() }

    /// Returns for each method whether the interface or the backend answered it. Otherwise its parameters were refused.
    @Sendable nonisolated func play(_ octets: [UInt8]) -> [String: Bool] {
        guard let parameters = try? Coding.decode(JSONValue.self, from: octets) else { return [:] }
        let answered = Locked<[String: Bool]?>(nil)
        Task { @LoopActor in
            let methods = call(with: parameters)
            answered.with { $0 = methods }
        }
        guard let methods = answered.wait(until: .after(milliseconds: 60_000), { $0 }) else { fatalError("the calls do not end") }
        return methods
    }

    private func call(with parameters: JSONValue) -> [String: Bool] {
        let side = side ?? connect()
        self.side = side
        // The interface does not keep the backend alive.
        let backend = ScriptedBackend()
        defer { withExtendedLifetime(backend) {} }
        let control = ControlInterface(backend: backend, permission: Self.permission)
        var answered: [String: Bool] = [:]
        for (method, wantsMore) in ControlInterface.methods.keys.flatMap({ [($0, false), ($0, true)] }) {
            let call = ServerCall(
                interface: "org.hotspotd.Control", method: method,
                call: Call(method: "org.hotspotd.Control." + method, parameters: parameters, more: wantsMore), client: side.client
            )
            guard control.handle(call) else { fatalError("the interface does not know \(method)") }
            if wantsMore {
                control.statusChanged()
                control.promptsChanged()
                control.listChanged()
            }
            call.cancel()
            let isRefused = answers(to: side).contains { $0.error?.hasPrefix("org.varlink.service.") == true }
            answered[method] = answered[method] == true || !isRefused
        }
        answered["CompanionStatus"] = (try? Coding.decode(CompanionStatusParameters.self, from: parameters)) != nil
        answered["Share"] = (try? Coding.decode(ShareParameters.self, from: parameters)) != nil
        answered["PeerAnswer"] = (try? Coding.decode(PeerAnswerParameters.self, from: parameters)) != nil
        answered["Decide"] = (try? Coding.decode(DecideParameters.self, from: parameters)) != nil
        // The daemon's backend reads these texts first.
        for text in ["ssid", "network", "ssidHex"].compactMap({ parameters[$0]?.string }) {
            _ = SSID(printable: text)
            _ = SSID(hex: text)
            _ = NetworkID(key: text)
            _ = try? SSIDPattern.list(text)
        }
        return answered
    }

    /// Returns the answers to the last call.
    private func answers(to side: Side) -> [Answer] {
        let count = max(0, read(side.answers, &room, room.count))
        return room[..<count].split(separator: 0).map { frame in
            guard let answer = try? Coding.decode(Answer.self, from: Array(frame)) else { fatalError("an answer cannot be read") }
            return answer
        }
    }

    private static var permission: Permission { Permission(trusted: [geteuid()], group: nil) { nil } }

    private func connect() -> Side {
        var (ends, others): ([Int32], [Int32]) = ([0, 0], [0, 0])
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0, socketpair(AF_UNIX, type, 0, &others) == 0,
            let server = try? Server(listening: Descriptor(others[0]), product: "fuzz", version: "0", interfaces: []),
            let connection = try? Connection(socket: ends[0], limit: 65536)
        else { fatalError("there is no socket") }
        let client = ServerClient(
            connection: connection, peer: PeerCredentials(uid: geteuid(), gid: getegid(), pid: getpid()), standing: .permitted,
            limits: Server.ClientLimits(), server: server)
        return Side(server: server, client: client, answers: ends[1])
    }
}
