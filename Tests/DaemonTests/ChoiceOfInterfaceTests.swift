import ControlAPI
import EventLoop
import HotspotCore
import HotspotMachine
import LinkState
import Testing

@testable import hotspotd

/// The interface that a call without a name means, with two interfaces over the real host and store.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ChoiceOfInterfaceTests {
    init() { EventLoop.startThread() }

    @LoopActor private static func join(_ controller: InterfaceController, _ name: String, metric: UInt32? = nil) {
        let ssid = SSID(printable: name)!
        controller.join(
            Joined(
                association: Services.randomID(), network: .wireless(ssid, .open), ssid: ssid, security: .open, bssid: nil,
                signal: -50,
                snapshot: LinkSnapshot(
                    index: controller.index, name: controller.name, isUp: true, hasCarrier: true, addresses: ["192.0.2.2/24"],
                    gateways: ["192.0.2.1"], routeMetric: metric),
                facts: LinkFacts(nameservers: ["192.0.2.53"], source: "none")))
    }

    private static func code(_ call: () throws -> Void) -> ProblemCode? {
        do { try call() } catch {
            if case .failed(let code, _)? = error as? ControlError { return code }
        }
        return nil
    }

    @Test func programsUseTheLinkWithThePreferredDefaultRoute() {
        func link(_ index: Int, metric: UInt32?, type: Int = 1, hasCarrier: Bool = true) -> LinkSnapshot {
            LinkSnapshot(
                index: index, name: "hot\(index)", isUp: true, hasCarrier: hasCarrier, type: type, routeMetric: metric)
        }
        let (radio, cable) = (link(1, metric: 600), link(2, metric: 100))
        let (tunnel, pulled, local) = (
            link(3, metric: 50, type: 65534), link(4, metric: 10, hasCarrier: false), link(5, metric: nil)
        )
        #expect(LinkManager.preferred(of: [radio, cable, tunnel, pulled, local]) == cable)
        #expect(LinkManager.preferred(of: [radio, tunnel]) == radio && LinkManager.preferred(of: [tunnel, local]) == nil)
    }

    @Test @LoopActor func itIsTheOneThatTheCallCanActOn() async throws {
        let bench = try FilterBench()
        try bench.add("a")
        let services = bench.services
        let problems = ProblemList()
        let links = LinkManager(services: services, problems: problems)
        let backend = DaemonBackend(
            services: services, problems: problems, helpers: HelperLoader(services: services, problems: problems), links: links,
            list: NetworkList(services: services, links: links))
        let (first, second) = (
            InterfaceController(index: 7, name: "hot7", services: services),
            InterfaceController(index: 8, name: "hot8", services: services)
        )
        for controller in [first, second] { links.managed[controller.index] = ManagedLink(controller: controller) }
        bench.refuses("a")
        Self.join(first, "Failing", metric: 700)
        #expect(await bench.eventually { first.machine.state.name == .failure })
        #expect(try backend.login(interface: nil, helper: nil, fresh: false).interface == "hot7", "the only one in a network")
        #expect(await bench.eventually { first.machine.state.name == .failure })
        bench.replies("a", to: "Authenticate", #"{"result": "success"}"#)
        Self.join(second, "Cafe", metric: 600)
        #expect(await bench.eventually { second.machine.state.name == .authenticated })

        // Of several suitable interfaces, one with a question comes first. A check takes the interface that programs use.
        #expect(try backend.find(nil) === first)
        #expect(backend.mostUsed === second)
        bench.replies("a", to: "Maintain", #"{"result": "authenticationRequired"}"#)
        bench.replies("a", to: "Authenticate", #"{"result": "uiRequired", "prompt": {"title": "Hotel", "fields": []}}"#)
        second.feed(.loginRequested(helper: nil))
        #expect(await bench.eventually { second.desk.prompt != nil })
        #expect(try backend.find(nil) === second)
        bench.replies("a", to: "PresentUI", #"{"result": "success"}"#)
        second.feed(.promptAnswered(try #require(second.desk.prompt?.id)))
        #expect(await bench.eventually { second.machine.state.name == .authenticated })

        // One interface needs a login, and the other has a session.
        bench.replies("a", to: "Authenticate", #"{"result": "failure"}"#)
        #expect(try backend.login(interface: nil, helper: nil, fresh: false).interface == "hot7")
        #expect(await bench.eventually { first.machine.state.name == .failure })
        first.feed(.verdictSeen(.captive))
        #expect(try backend.require(nil) { $0.machine.state.isCaptive == true } === first)
        bench.replies("a", to: "Logoff", #"{"result": "success"}"#)
        #expect(try backend.logoff(interface: nil) == "hot8")
        #expect(await bench.eventually { second.machine.state.name == .inactive })

        // No interface has a session, and both can log in.
        #expect(Self.code { _ = try backend.logoff(interface: nil) } == .severalInterfaces)
        #expect(Self.code { _ = try backend.login(interface: nil, helper: nil, fresh: false) } == .severalInterfaces)
        #expect(try backend.login(interface: "hot8", helper: nil, fresh: false).interface == "hot8")
        for controller in [first, second] { controller.leave("the test ends") }
        await bench.close()
    }

    @Test func aCheckNamesTheEndpointsOfTheSettings() {
        var settings = Settings(environment: [:])
        settings.file = "/srv/hotspotd.conf"
        var reply = CheckReply(verdict: "online")
        reply.settings = "/srv/hotspotd.conf"
        #expect(CheckReply(verdict: "online").naming(settings) == reply)
        settings.probeURL = Link.usualProbe.url
        #expect(reply.naming(settings) == reply)
        (settings.probeURL, settings.probeHTTPSURL) = ("http://a.example/", "")
        #expect(reply.naming(settings).url == "http://a.example/" && reply.naming(settings).httpsURL == "")
    }

    @Test @LoopActor func theGateIsToldOfWhereThereIsOne() async throws {
        for gate in Settings.GateKind.allCases {
            let hotel = try Hotel(Hotel.secure) { $0.gate = gate }
            _ = try await hotel.ask()
            try await hotel.answer(Hotel.typed)
            #expect(hotel.bench.steps.contains { $0.kind == "gate" } == (gate == .routes))
            await hotel.close()
        }
    }
}
