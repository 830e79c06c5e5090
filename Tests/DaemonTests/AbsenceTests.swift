import HotspotCore
import HotspotMachine
import LinkState
import Store
import Testing

@testable import EventLoop
@testable import hotspotd

/// Sessions that end when the user walks away, according to logind's signals.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AbsenceTests {
    init() { EventLoop.startThread() }

    private static let network = NetworkID.wireless(SSID(printable: "Cafe")!, .open)

    @LoopActor private func authenticated(_ bench: FilterBench) async throws -> (InterfaceController, Absence) {
        try bench.add("a")
        let controller = InterfaceController(index: 7, name: "hot7", services: bench.services)
        controller.join(
            Joined(
                association: Services.randomID(), network: Self.network, ssid: SSID(printable: "Cafe")!, security: .open,
                bssid: nil, signal: -50,
                snapshot: LinkSnapshot(
                    index: 7, name: "hot7", isUp: true, hasCarrier: true, addresses: ["192.0.2.2/24"], gateways: ["192.0.2.1"]),
                facts: LinkFacts(nameservers: ["192.0.2.53"], source: "none")))
        #expect(await bench.eventually { controller.machine.state.name == .authenticated })
        return (controller, Absence(services: bench.services, problems: ProblemList()) { [controller] })
    }

    private func signal(_ name: String, _ value: Bool, path: String = "/org/freedesktop/login1") -> SystemBus.BusSignal {
        SystemBus.BusSignal(path: path, flags: [name: value])
    }

    @Test(arguments: [
        ("PrepareForSleep", "sleep"), ("LidClosed", "lid"), ("LockedHint", "lock"), ("IdleHint", "idle:1ms"),
    ]) @LoopActor func aUserThatWalksAwayIsLoggedOffAndInAgainOnTheReturn(name: String, wanted: String) async throws {
        let bench = try FilterBench()
        let (controller, absence) = try await authenticated(bench)
        absence.handle(signal(name, true))
        await bench.pause(.milliseconds(20))
        #expect(controller.machine.state.name == .authenticated, "it is off by default")
        absence.handle(signal(name, false))

        switch name {
        case "PrepareForSleep": bench.services.settings.logoffOn.sleep = true
        case "LidClosed": bench.services.settings.logoffOn.lid = true
        case "LockedHint": bench.services.settings.logoffOn.lock = true
        default: bench.services.settings.logoffOn.idle = .milliseconds(1)
        }
        absence.handle(signal(name, true))
        #expect(await bench.eventually { controller.machine.state.name == .inactive && bench.told("a", "Logoff").count == 1 })
        #expect(bench.services.store.hold(Self.network, now: WallClock.now)?.reason == .loggedOff)
        #expect(bench.steps.contains { $0.detail == "the user is away (LogoffOn=)" })
        absence.handle(signal(name, false))
        #expect(bench.services.store.hold(Self.network, now: WallClock.now) == nil)
        #expect(await bench.eventually { controller.machine.state.name != .inactive })
        controller.leave("the test ends")
        await bench.close()
    }

    @Test @LoopActor func aReturnDuringTheLogoffWaitsForItsEnd() async throws {
        let bench = try FilterBench()
        bench.services.settings.logoffOn = LogoffOn(sleep: true, lock: true)
        let (controller, absence) = try await authenticated(bench)
        bench.hold("a")
        absence.handle(signal("PrepareForSleep", true))
        absence.handle(signal("LockedHint", true, path: "/session/1"))
        #expect(controller.machine.state.name == .loggingOff)
        absence.handle(signal("PrepareForSleep", false))
        bench.letGo("a")
        #expect(await bench.eventually { controller.machine.state.name == .inactive })
        absence.stateChanged()
        #expect(controller.machine.state.name == .inactive, "the screen is locked yet")
        absence.handle(signal("LockedHint", false, path: "/session/1"))
        #expect(controller.machine.state.name == .evaluating)
        controller.leave("the test ends")
        await bench.close()
    }

    @Test @LoopActor func aLogoffThatWaitsForTheUpkeepIsOneThatRuns() async throws {
        let bench = try FilterBench()
        bench.services.settings.logoffOn.lock = true
        let (controller, absence) = try await authenticated(bench)
        bench.hold("a")
        controller.feed(.loginRequested(helper: nil))
        #expect(controller.machine.state.name == .maintaining)
        absence.handle(signal("LockedHint", true, path: "/session/1"))
        #expect(controller.machine.state.endsSession)
        absence.handle(signal("LockedHint", false, path: "/session/1"))
        bench.letGo("a")
        #expect(await bench.eventually { controller.machine.state.name == .inactive })
        absence.stateChanged()
        #expect(controller.machine.state.name == .evaluating, "the user is back")
        controller.leave("the test ends")
        await bench.close()
    }

    @Test @LoopActor func aSessionThatEndsWhileItIsLockedIsAReturn() async throws {
        let bench = try FilterBench()
        bench.services.settings.logoffOn.lock = true
        let (controller, absence) = try await authenticated(bench)
        for session in ["/session/1", "/session/2"] { absence.handle(signal("LockedHint", true, path: session)) }
        #expect(await bench.eventually { controller.machine.state.name == .inactive })
        absence.handle(signal("SessionRemoved", true, path: "/session/1"))
        #expect(controller.machine.state.name == .inactive, "the other one is locked yet")
        absence.handle(signal("LockedHint", false, path: "/session/2"))
        #expect(controller.machine.state.name == .evaluating)
        controller.leave("the test ends")
        await bench.close()
    }

    @Test @LoopActor func aNetworkThatTheUserLoggedOffStaysSo() async throws {
        let bench = try FilterBench()
        bench.services.settings.logoffOn.lid = true
        let (controller, absence) = try await authenticated(bench)
        controller.feed(.logoffRequested(by: .user))
        #expect(await bench.eventually { controller.machine.state.name == .inactive })
        for isClosed in [true, false] { absence.handle(signal("LidClosed", isClosed)) }
        #expect(controller.machine.state.name == .inactive && controller.status.problems.map(\.code) == [.held])
        await bench.close()
    }
}
