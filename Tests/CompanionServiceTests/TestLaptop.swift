import Companion
import ControlAPI
import ControlServer
import EventLoop
import Glibc
import HotspotCore
import TestSupport
import Testing
import Varlink

@testable import CompanionService

/// A daemon that notes what it is given.
@LoopActor final class ScriptedDaemon: CompanionDaemon {
    var onStatus: ([InterfaceStatus]?) -> Void = { _ in }
    var onPrompts: ([PendingPrompt]) -> Void = { _ in }
    private(set) var answered: [AnswerParameters] = []
    private(set) var offered: [OfferedParameters] = []
    /// Why the next answer or offer is refused.
    var refusal: String?

    func start() {}

    func answer(_ parameters: AnswerParameters, _ done: @escaping (Result<Void, DaemonRefusal>) -> Void) {
        answered.append(parameters)
        let result: Result<Void, DaemonRefusal> = refusal.map { .failure(DaemonRefusal(message: $0)) } ?? .success(())
        EventLoop.shared.later { done(result) }
    }

    func addOffered(_ offer: OfferedParameters, _ done: @escaping (Result<OfferedReply, DaemonRefusal>) -> Void) {
        offered.append(offer)
        let reply = OfferedReply(interface: "wlan0", helper: "form", answered: true)
        let result: Result<OfferedReply, DaemonRefusal> =
            refusal.map { .failure(DaemonRefusal(message: $0)) } ?? .success(reply)
        EventLoop.shared.later { done(result) }
    }
}

/// One call of a client, and its replies.
@LoopActor final class CallUnderTest {
    private(set) var replies: [JSONValue] = []
    /// The error's name without its interface, and its parameters.
    private(set) var fault: CompanionFault?
    private(set) var isDone = false
    private let connection: Connection

    init(_ path: String, _ method: String, _ parameters: JSONValue, more: Bool) throws {
        connection = try Connection(socket: try Socket.connect(path: path, nonblocking: true).take(), limit: 1 << 20)
        connection.onMessage = { [weak self] octets in
            guard let self, let answer = try? Coding.decode(Answer.self, from: octets) else { return }
            if let error = answer.error {
                fault = CompanionFault(name: error, parameters: answer.parameters ?? [:])
                if fault == nil { Issue.record("\(error)") }
            } else {
                replies.append(answer.parameters ?? [:])
            }
            isDone = answer.continues != true
        }
        connection.send(Call(method: "\(CompanionContract.name).\(method)", parameters: parameters, more: more ? true : nil))
    }

    /// Closes the connection, as an interrupted client does.
    func leave() { connection.close() }

    func last<T: Decodable>(_ type: T.Type) throws -> T { try Coding.decode(type, from: replies.last ?? [:]) }
}

/// A service on a socket of its own, with a memory radio and a scripted daemon.
@LoopActor final class TestLaptop {
    let radio = MemoryRadio()
    let daemon = ScriptedDaemon()
    let service: CompanionService
    let logged = Log()
    let folder: TemporaryFolder
    /// How far this laptop's clock is ahead of the machine's. The loop's timers do not notice.
    private let lead: Lead
    private let air: MemoryAir
    private let server: Server
    private nonisolated let path: String

    init(_ name: String, _ air: MemoryAir, folder: TemporaryFolder = TemporaryFolder(), isTrusted: Bool = true) throws {
        (self.air, self.folder, lead) = (air, folder, Lead())
        let store = CompanionStore(folder: folder.path)
        service = CompanionService(
            companion: Companion(keys: try store.key(), name: name, peers: try store.peers()), transport: radio, store: store,
            daemon: daemon, log: { [logged] in logged.lines.append($0) }, clock: { [lead] in EventLoop.now + lead.duration })
        // A random number in the name: a process that another suite starts holds an earlier laptop's socket for a moment (fork(2)).
        path = folder.path + "/socket\(UInt32.random(in: .min ... .max))"
        let permission = Permission(trusted: isTrusted ? [geteuid()] : [], group: nil) { nil }
        server = try Server(
            listening: try Socket.listen(path: path, mode: 0o600), product: "test", version: "0",
            interfaces: [CompanionInterface(service: service, permission: permission)], standing: permission.standing)
        service.start()
        radio.onStateChange(.ready)
        air.add(radio)
    }

    func call(_ method: String, _ parameters: JSONValue = [:], more: Bool = false) throws -> CallUnderTest {
        try CallUnderTest(path, method, parameters, more: more)
    }

    /// Calls, and waits for the last reply.
    func reply(_ method: String, _ parameters: JSONValue = [:], more: Bool = false) async throws -> CallUnderTest {
        let call = try call(method, parameters, more: more)
        try await air.until("\(method) is answered") { call.isDone }
        return call
    }

    func close() { server.close() }

    /// Advances the clock; the loop's timers do not fire earlier.
    func skip(_ duration: Duration) { lead.duration += duration }

    final class Log { var lines: [String] = [] }

    private final class Lead { var duration = Duration.zero }

    // MARK: The daemon

    /// The daemon reports that the laptop is at this portal, which may ask.
    func arrive(at place: Place, prompt: PendingPrompt? = nil) {
        var status = InterfaceStatus(interface: "wlan0", state: .presentingUI, since: 1)
        (status.network, status.ssid) = (place.network.key, place.network.label)
        (status.portal, status.portalKey, status.portalKind) = (place.portal.origin, place.portal.pin, place.portal.kind)
        status.prompt = prompt?.id
        daemon.onStatus([status])
        daemon.onPrompts(prompt.map { [$0] } ?? [])
    }
}

extension MemoryAir {
    /// Runs the air and the loop until a condition holds. The time is only an upper limit.
    func until(_ what: String, _ isSo: () -> Bool) async throws {
        for _ in 0..<60_000 {
            step()
            if isSo() { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        Issue.record("never: \(what)")
        throw CancellationError()
    }

    /// Two paired laptops whose link has ended.
    static func paired() async throws -> (air: MemoryAir, ida: TestLaptop, ben: TestLaptop) {
        let air = MemoryAir()
        let (ida, ben) = (try TestLaptop("Ida", air), try TestLaptop("Ben", air))
        let shows = try ida.call("Pair", more: true)
        try await air.until("a code is shown") { !shows.replies.isEmpty }
        let enters = try ben.call("Pair", ["code": shows.replies[0]["code"] ?? ""], more: true)
        try await air.until("they are paired") { shows.isDone && enters.isDone }
        #expect(try shows.last(PairReply.self).peer?.name == "Ben" && enters.last(PairReply.self).peer?.name == "Ida")
        air.breakLinks()
        return (air, ida, ben)
    }
}

enum Sample {
    static let network = NetworkID.wireless(SSID(printable: "Cafe Aroma")!, .open)
    static let portal = Portal(origin: "https://portal.lindenhof.example", pin: "cGlu", kind: "form")
    static let place = Place(network: network, portal: portal)
    static let canary = "canary-4711"

    static let prompt: PendingPrompt = {
        var pending = PendingPrompt(
            id: "p1", interface: "wlan0", ssid: "Cafe Aroma", helper: "form", portal: portal.origin,
            prompt: Prompt(
                title: "Hotel Lindenhof",
                fields: [
                    Field(name: "room", label: "Room", kind: .text, required: true, value: canary),
                    Field(name: "name", label: "Surname", kind: .password, required: true),
                ]), since: 1)
        pending.stored = ["room"]
        return pending
    }()

    static func share(
        to peer: String? = nil, answers: [String: String] = ["room": "214", "name": canary], portalFile: String? = nil,
        seconds: Int? = nil
    ) -> JSONValue {
        Coding.value(
            ShareParameters(
                network: network.key!, portal: portal.origin, portalKey: portal.pin, kind: "form", answers: answers,
                portalFile: portalFile, peer: peer, seconds: seconds))
    }
}
