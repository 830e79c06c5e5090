import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// A stored credential is sent only to a process in a sandbox.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CredentialGateTests {
    init() { EventLoop.startThread() }

    nonisolated static let call: JSONValue = [
        "network": ["ssid": "Cafe", "security": "open"], "credential": ["pass": "opensesame"], "answers": ["room": "214"],
    ]

    nonisolated static let answer =
        "{'reply': {'result': 'success', 'reason': ' '.join(sorted(k for k in call['parameters'] if k != 'network'))}}"

    @LoopActor private func send(_ shop: Workshop, _ name: String) async -> String {
        let outcome = await shop.ask(name, .authenticate, Self.call)
        guard case .reply(let reply) = outcome else { return "\(outcome)" }
        return reply.reason ?? ""
    }

    @Test(arguments: ["stdio", "prepared", "socket"], [HostConfiguration.Containment.sandbox, .none])
    @LoopActor func onlyASandboxedProcessIsGivenOne(_ kind: String, _ containment: HostConfiguration.Containment) async {
        let shop = Workshop { $0.containment = containment }
        if kind == "socket" {
            shop.add("kept", socket: true, python: SharedProgramTests.server("answer(\(Self.answer), peer)"))
        } else {
            shop.add("kept", python: "call = receive(); answer(\(Self.answer))")
        }
        if kind == "prepared" { shop.host.prepare(["kept"]) }
        let isSandboxed = containment == .sandbox
        #expect(shop.host.mayHaveCredentials("kept") == isSandboxed)
        let reason = await send(shop, "kept")
        #expect((reason == "answers credential") == isSandboxed, "\(reason)")
        #expect(isSandboxed || reason.contains("without a sandbox"))
        #expect(shop.host.given["kept"]?.map(\.hasCredential) == (isSandboxed ? [true] : nil))
        await shop.close()
    }

    @Test func whatWasGivenIsShort() throws {
        func question(_ parameters: JSONValue) -> Question { Question(method: "", parameters: parameters) }
        var given: [Disclosure] = []
        for index in 0..<20 {
            let question = question(["network": ["ssid": .string("Cafe \(index % 12)"), "security": "open"]])
            given = Disclosure.adding(try #require(Disclosure(question)), to: given)
        }
        #expect(given.count == 8 && given.first?.networks == ["Cafe 7"])
        let wired = Disclosure(
            question(["network": ["ssid": "", "security": "wired", "bssid": "02:00:00:00:00:01"], "credential": ["a": "b"]]))
        #expect(wired?.networks == ["wired:02:00:00:00:00:01"] && wired?.hasCredential == true)
        let many = JSONValue.array((0..<100).map { ["ssid": .string("N\($0)"), "security": "open"] })
        let list = Disclosure(question(["networks": many]))
        #expect(list?.count == 100 && list?.networks.count == 16 && list?.isScanList == true)
        #expect(Disclosure(question([:])) == nil)
    }
}
