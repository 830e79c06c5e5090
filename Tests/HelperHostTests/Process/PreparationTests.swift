import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// Processes that wait to be asked.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PreparationTests {
    init() { EventLoop.startThread() }

    @LoopActor private func shop(_ adjust: (inout HostConfiguration) -> Void = { _ in }) -> Workshop {
        let shop = Workshop(adjust)
        shop.add("a", python: "receive(); answer({'confidence': 'low'})")
        shop.add("b", python: "receive(); answer({'confidence': 'low'})")
        shop.add("s", socket: true, python: SharedProgramTests.server("answer({'confidence': 'low'}, peer)"))
        return shop
    }

    @Test @LoopActor func eachInterfaceHasItsOwn() async {
        let shop = shop()
        shop.host.prepare(["a", "s"], for: 1)
        shop.host.prepare(["a", "b", "s"], for: 2)
        #expect(await eventually { ["a", "b", "s"].allSatisfy(shop.host.isRunning) })
        shop.host.standDown(interface: 2)
        #expect(await eventually { !shop.host.isRunning("b") })
        #expect(shop.host.isRunning("a") && shop.host.isRunning("s"), "the other one still wants them")
        shop.host.standDown(interface: 3)
        #expect(shop.host.isRunning("a"))
        shop.host.standDown(interface: 1)
        #expect(await eventually { shop.host.processCount == 0 })
        await shop.close()
    }

    @Test @LoopActor func whatIsNeverUsedEndsByItself() async {
        let shop = shop { $0.preparation = .milliseconds(100) }
        shop.host.prepare(["a", "b", "s"], for: 1)
        #expect(await eventually { shop.host.processCount > 0 })
        #expect(await eventually { shop.host.processCount == 0 })
        #expect(await shop.ask("a").evaluation?.confidence == .low, "and is started when it is asked")
        await shop.close()
    }

    @Test @LoopActor func theProbersProgramWaitsForANetworkWithoutALimit() async {
        let shop = shop { ($0.preparation, $0.serviceIdle) = (.milliseconds(20), .milliseconds(20)) }
        guard case .socket(let exec)? = shop.host.spec("s")?.activation else { return _ = Issue.record("no socket") }
        shop.host.setProber(exec: exec)
        shop.host.awaitNetwork(on: 1)
        #expect(Rehearsal.isComplete)
        await pause(.milliseconds(300))
        #expect(shop.host.isRunning("s") && shop.host.processCount == 1, "helpers with programs of their own do not wait")
        #expect(await shop.ask("s").evaluation?.confidence == .low)
        #expect(await eventually { shop.host.processCount == 0 }, "once it was asked it ends as any other")
        shop.host.awaitNetwork(on: 1)
        #expect(await eventually { shop.host.isRunning("s") })
        shop.host.standDown(interface: 1)
        #expect(await eventually { shop.host.processCount == 0 })
        await shop.close()
    }

    @Test @LoopActor func whoWasAskedIsNotEndedByStandingDown() async {
        let shop = shop()
        shop.add("slow", python: "receive(); time.sleep(0.2); answer({'confidence': 'high'})")
        shop.host.prepare(["slow"], for: 1)
        async let answer = shop.ask("slow")
        await pause(.milliseconds(50))
        shop.host.standDown(interface: 1)
        #expect(await answer.evaluation?.confidence == .high)
        await shop.close()
    }
}
