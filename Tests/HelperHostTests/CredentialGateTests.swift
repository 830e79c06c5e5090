import CLaunch
import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// A stored credential leaves for a process that is known to be kept from the daemon's folders, and for no other.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CredentialGateTests {
    init() { EventLoop.startThread() }

    nonisolated static let call: JSONValue = [
        "network": ["ssid": "Cafe", "security": "open"], "credential": ["pass": "opensesame"], "answers": ["room": "214"],
    ]

    nonisolated static let answer =
        "{'reply': {'result': 'success', 'reason': ' '.join(sorted(k for k in call['parameters'] if k != 'network'))}}"

    @LoopActor private func send(_ shop: Workshop, _ name: String) async -> (fields: String?, isWithheld: Bool) {
        var isWithheld = false
        let outcome: HelperOutcome = await withCheckedContinuation { continuation in
            let call = shop.host.send(.authenticate, to: name, parameters: Self.call) { continuation.resume(returning: $0) }
            call.onWithheld = { isWithheld = true }
        }
        guard case .reply(let reply) = outcome else { return ("\(outcome)", isWithheld) }
        return (reply.reason, isWithheld)
    }

    @Test(arguments: ["stdio", "prepared", "socket"]) @LoopActor func thisVeryProcessIsLookedAt(_ kind: String) async {
        let shop = Workshop()
        func add(_ name: String) {
            if kind == "socket" {
                shop.add(name, socket: true, python: SocketServiceTests.server("answer(\(Self.answer), peer)"))
            } else {
                shop.add(name, python: "call = receive(); answer(\(Self.answer))")
            }
            if kind == "prepared" { shop.host.prepare([name]) }
        }
        // One that is shut in comes first: what it reached says nothing of the next one.
        add("kept")
        let kept = await send(shop, "kept")
        if shop.host.isKeptFromFolders("kept") {
            #expect(kept == ("answers credential", false))
            #expect(shop.host.given["kept"]?.map(\.hasCredential) == [true])
        }
        shop.host.launcher.wanted = LAUNCH_NO_NEW_PRIVILEGES.rawValue | LAUNCH_LIMITS.rawValue
        add("bare")
        #expect(await send(shop, "bare") == ("answers", true))
        #expect(!shop.host.isKeptFromFolders("bare"))
        #expect(shop.host.given["bare"]?.map(\.hasCredential) == [false])
        #expect(shop.host.given["bare"]?.first?.networks == ["Cafe"])
        await shop.close(expectingSurvivors: true)
    }

    @Test @LoopActor func aCommandThatIsCancelledWhileItWaitsIsNeverSent() async {
        let shop = Workshop()
        shop.add("late", python: "call = receive(); answer(\(Self.answer))")
        let call = shop.host.send(.authenticate, to: "late", parameters: Self.call) { _ in Issue.record("answered") }
        call.cancel()
        #expect(await eventually { shop.host.processCount == 0 })
        #expect(shop.host.given["late"] == nil)
        await shop.close()
    }

    @Test func whatWasGivenIsShort() throws {
        func question(_ parameters: JSONValue) -> Question { Question(method: "", parameters: parameters, expectation: .value) }
        var given: [HelperGiven] = []
        for index in 0..<20 {
            let question = question(["network": ["ssid": .string("Cafe \(index % 12)"), "security": "open"]])
            given = HelperGiven.adding(try #require(HelperGiven(question)), to: given)
        }
        #expect(given.count == 8 && given.first?.networks == ["Cafe 7"])
        let wired = HelperGiven(
            question(["network": ["ssid": "", "security": "wired", "bssid": "02:00:00:00:00:01"], "credential": ["a": "b"]]))
        #expect(wired?.networks == ["wired:02:00:00:00:00:01"] && wired?.hasCredential == true)
        let many = JSONValue.array((0..<100).map { ["ssid": .string("N\($0)"), "security": "open"] })
        let list = HelperGiven(question(["networks": many]))
        #expect(list?.count == 100 && list?.networks.count == 16 && list?.isScanList == true)
        #expect(HelperGiven(question([:])) == nil)
    }
}
