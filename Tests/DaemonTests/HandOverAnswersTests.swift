import EventLoop
import HotspotCore
import HotspotMachine
import LinkState
import Testing

@testable import hotspotd

/// A helper that asks for a room number, and then hands over to a browser (D30).
@Suite(.serialized, .timeLimit(.minutes(10))) struct HandOverAnswersTests {
    init() { EventLoop.startThread() }

    private let portal = #"{"origin": "http://p.example", "kind": "form"}"#
    private let network = NetworkID.wireless(SSID(printable: "Hotel")!, .open)

    /// Joins, and answers the prompt for the room number; the helper asks again with this prompt.
    @LoopActor private func answerRoom(_ bench: FilterBench, then next: String) async throws -> InterfaceController {
        try bench.add("form")
        let room = #"{"title": "Hotel", "fields": [{"name": "room", "label": "", "kind": "text", "required": false}]}"#
        bench.evaluates("form", #"{"confidence": "high", "portal": \#(portal)}"#)
        bench.replies("form", to: "Authenticate", #"{"result": "uiRequired", "portal": \#(portal), "prompt": \#(room)}"#)
        bench.replies("form", to: "PresentUI", #"{"result": "uiRequired", "portal": \#(portal), "prompt": \#(next)}"#)
        let controller = InterfaceController(index: 7, name: "hot7", services: bench.services)
        controller.join(
            Joined(
                association: Services.randomID(), network: network, ssid: SSID(printable: "Hotel")!, security: .open,
                bssid: HardwareAddress("02:00:00:00:00:01"), signal: -50,
                snapshot: LinkSnapshot(
                    index: 7, name: "hot7", isUp: true, hasCarrier: true, addresses: ["192.0.2.2/24"], gateways: ["192.0.2.1"]),
                facts: LinkFacts(nameservers: ["192.0.2.53"], source: "none")))
        #expect(await bench.eventually { controller.desk.prompt?.prompt.title == "Hotel" })
        controller.answer(try #require(controller.desk.prompt), ["room": "214"], remember: true)
        return controller
    }

    @Test @LoopActor func theOpenNetworkSendsNoAnswerTwice() async throws {
        let bench = try FilterBench()
        let controller = try await answerRoom(bench, then: #"{"title": "Browser", "fields": []}"#)
        #expect(await bench.eventually { controller.desk.prompt?.prompt.title == "Browser" })
        bench.replies("form", to: "PresentUI", #"{"result": "success", "portal": \#(portal)}"#)
        controller.feed(.verdictSeen(.online))
        #expect(controller.desk.prompt == nil)
        #expect(await bench.eventually { controller.machine.state.name == .authenticated })
        #expect(bench.told("form", "PresentUI").map { $0["answers"] } == [["room": "214"], [:]])
        #expect(controller.machine.state.chosenHelper == "form" && bench.services.store.credentials(network).count == 1)
        controller.leave("the test ends")
        await bench.close()
    }

    /// The page changed while its prompt waited, and the room number was never sent.
    @Test @LoopActor func anAnswerThatWasNotSentIsNotKept() async throws {
        let bench = try FilterBench()
        let mail = #"{"name": "mail", "label": "", "kind": "email", "required": true}"#
        let controller = try await answerRoom(bench, then: #"{"title": "Mail", "fields": [\#(mail)], "unsent": ["room"]}"#)
        #expect(await bench.eventually { controller.desk.prompt?.prompt.title == "Mail" })
        #expect(controller.desk.prompt?.prompt.unsent == nil)
        bench.replies("form", to: "PresentUI", #"{"result": "success", "portal": \#(portal)}"#)
        controller.answer(try #require(controller.desk.prompt), ["mail": "a@b.example"], remember: true)
        controller.feed(.verdictSeen(.online))
        #expect(await bench.eventually { controller.machine.state.name == .authenticated })
        #expect(bench.services.store.credentials(network).map(\.fieldNames) == [["mail"]])
        controller.leave("the test ends")
        await bench.close()
    }
}
