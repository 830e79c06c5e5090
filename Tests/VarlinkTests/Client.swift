import EventLoop
import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import Varlink

/// A client that can send any octets. It never waits for longer than 20 s.
final class Client {
    private let socket: Int32
    private var received: [UInt8] = []
    private var isClosed = false

    init(_ path: String) throws {
        socket = try Socket.connect(path: path).take()
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { leave() }

    func leave() {
        if !isClosed { close(socket) }
        isClosed = true
    }

    /// Sends octets unchanged; `false` if the server has hung up.
    @discardableResult func send(_ octets: [UInt8]) -> Bool {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends one well-formed call.
    func call(_ method: String, _ parameters: JSONValue = [:], more: Bool = false) {
        send(Coding.encode(Call(method: method, parameters: parameters, more: more ? true : nil)) + [0])
    }

    /// The next answer; `nil` if the server hung up.
    func answer() throws -> Answer? {
        while true {
            if let end = received.firstIndex(of: 0) {
                let message = Array(received[..<end])
                received.removeSubrange(...end)
                return try Coding.decode(Answer.self, from: message)
            }
            var chunk = [UInt8](repeating: 0, count: 256 * 1024)
            let count = read(socket, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                Issue.record("no answer within 20 s")
                return nil
            }
            guard count > 0 else { return nil }
            received += chunk[..<count]
        }
    }
}

/// An interface whose answers the test chooses.
@LoopActor final class Desk: ServerInterface {
    nonisolated let name = "org.example.Desk"
    nonisolated let definition = "interface org.example.Desk\n\nmethod Echo(text: string) -> (text: string)\n"
    /// Calls of Wait and Watch that have no last answer yet.
    private(set) var open: [ServerCall] = []
    private(set) var cancelled = 0
    private(set) var served: [String] = []
    private var onChange: [() -> Bool] = []

    struct Echo: Codable { var text: String }

    func handle(_ call: ServerCall) -> Bool {
        switch call.method {
        case "Echo":
            guard let echo = call.decode(Echo.self) else { return true }
            served.append(echo.text)
            call.reply(echo)
        case "Fail": call.fail("Nonsense", ["why": "because"])
        case "Who": call.reply(["uid": .integer(Int(call.peer.uid))] as JSONValue)
        case "Much": call.reply(["text": .string(String(repeating: "x", count: 4 << 20))] as JSONValue)
        case "Wait", "Watch":
            open.append(call)
            call.onCancel = { [weak self] in
                self?.cancelled += 1
                self?.changed()
            }
            if call.method == "Watch", call.wantsMore { call.replyMore(["n": 0] as JSONValue) }
        default: return false
        }
        changed()
        return true
    }

    /// Waits, without a clock, until a condition holds.
    func until(_ condition: @escaping () -> Bool) async {
        if condition() { return }
        await withCheckedContinuation { continuation in
            onChange.append {
                guard condition() else { return false }
                continuation.resume()
                return true
            }
        }
    }

    private func changed() { onChange.removeAll { $0() } }
}

/// A server on a socket of its own, gone with the test.
@LoopActor final class Service {
    let desk = Desk()
    let folder = TemporaryFolder()
    nonisolated let path: String
    let server: Server

    init(
        _ limits: Server.ClientLimits = Server.ClientLimits(),
        standing: @escaping @Sendable (PeerCredentials) -> Standing = { _ in .permitted }
    ) throws {
        EventLoop.startThread()
        path = folder.path + "/s"
        server = try Server(
            listening: Socket.listen(path: path, mode: 0o600), product: "desk", version: "1.0", interfaces: [desk],
            limits: limits, standing: standing)
    }

    var clientCount: Int { server.clientCount }

    func close() {
        server.close()
    }

    /// Runs a test's client on a thread that may block, beside the loop's.
    nonisolated static func with(
        _ limits: Server.ClientLimits = Server.ClientLimits(), standing: Standing = .permitted,
        _ body: @Sendable (Service, String) async throws -> Void
    ) async throws {
        EventLoop.startThread()
        let service = try await Service(limits) { _ in standing }
        do {
            try await body(service, service.path)
        } catch {
            await service.close()
            throw error
        }
        await service.close()
    }
}
