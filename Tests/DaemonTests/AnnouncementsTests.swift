import EventLoop
import HotspotCore
import HotspotMachine
import LinkState
import PortalAnnouncement
import Testing
import Wireless

@testable import hotspotd

/// The network's announcement of its portal's API: when hotspotd asks, and the effect of an answer after the join.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AnnouncementsTests {
    init() { EventLoop.startThread() }

    private static let cafe = SSID(printable: "Cafe")!
    private static let url = "https://portal.example/api"

    private func facts(_ api: PortalAPIAddress? = nil) -> LinkFacts {
        LinkFacts(nameservers: ["192.0.2.53"], api: api, source: "NetworkManager")
    }

    /// A network that is captive, with one helper that does not claim it.
    @LoopActor private func unclaimed(_ bench: FilterBench) throws -> InterfaceController {
        try bench.add("a")
        bench.evaluates("a", #"{"confidence": "none"}"#)
        let controller = InterfaceController(index: 7, name: "hot7", services: bench.services)
        controller.join(
            Joined(
                association: Services.randomID(), network: .wireless(Self.cafe, .open), ssid: Self.cafe, security: .open,
                snapshot: LinkSnapshot(index: 7, name: "hot7", isUp: true, hasCarrier: true, addresses: ["192.0.2.2/24"]),
                facts: facts()))
        controller.feed(.verdictSeen(.captive))
        return controller
    }

    private func apis(_ bench: FilterBench) async -> [String?] {
        await bench.told("a", "Evaluate").map { $0["link"]?["portalAPI"]?.string }
    }

    @Test(arguments: [false, true]) @LoopActor func helpersThatCouldNotLogInAreAskedAgainOnce(whileTheyAreAsked: Bool)
        async throws
    {
        let bench = try FilterBench()
        if whileTheyAreAsked { bench.hold("a") }
        let controller = try unclaimed(bench)
        if whileTheyAreAsked {
            #expect(await bench.eventually { bench.told("a", "Evaluate").count == 1 })
        } else {
            #expect(await bench.eventually { controller.machine.state.name == .failure })
        }
        controller.learn(facts(.url(Self.url)))
        #expect(controller.machine.state.name == .evaluating && controller.status.link?.portalAPI == Self.url)
        bench.letGo("a")
        #expect(await bench.eventually { bench.told("a", "Evaluate").count == 2 && controller.machine.state.name == .failure })
        #expect(await apis(bench) == [nil, Self.url])
        #expect(bench.steps.contains { $0.from == "failure" && $0.detail == "the network announced its portal's API" })
        #expect(bench.steps.count { $0.to == "failure" } == 2, "not for ever")
        controller.leave("the test ends")
        await bench.close()
    }

    @Test @LoopActor func aNetworkWithoutAPortalIsNoReasonToAskAgain() async throws {
        let bench = try FilterBench()
        let controller = try unclaimed(bench)
        #expect(await bench.eventually { controller.machine.state.name == .failure })
        controller.learn(facts(.unrestricted))
        #expect(controller.machine.state.name == .failure)
        #expect(controller.status.link?.portalAPI == "urn:ietf:params:capport:unrestricted")
        controller.leave("the test ends")
        await bench.close()
    }
}
