import EventLoop
import HotspotCore
import Testing

@testable import hotspotd

@Suite(.serialized, .timeLimit(.minutes(10))) struct LinkManagerTests {
    init() { EventLoop.startThread() }

    @Test @LoopActor func aMissingRadioIsAProblemAsLongAsItAloneIsManaged() async throws {
        let bench = try FilterBench()
        let problems = ProblemList()
        let links = LinkManager(services: bench.services, problems: problems)
        links.hasNoWireless = true
        for isManaged in [false, true, false] {
            bench.services.settings.manageEthernet = isManaged
            links.applySettings()
            #expect(problems.all.map(\.code) == (isManaged ? [] : [.noWireless]))
        }
        links.hasNoWireless = false
        links.applySettings()
        #expect(problems.all.isEmpty)
        await bench.close()
    }
}
