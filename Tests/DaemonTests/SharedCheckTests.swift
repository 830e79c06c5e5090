import EventLoop
import HotspotCore
import Testing

@testable import hotspotd

@Suite struct SharedCheckTests {
    init() { EventLoop.startThread() }

    @LoopActor private final class Bench {
        var now = Instant(nanoseconds: 0)
        var begun: [(String) -> Void] = []
        var answers: [String] = []
        lazy var checks = SharedCheck<String>(now: { [unowned self] in now })

        func ask(_ index: Int = 1, in association: String = "a") {
            checks.ask(index, in: association) { [unowned self] done in
                begun.append(done)
            } answer: { [unowned self] in
                answers.append($0)
            }
        }

        func pass(_ milliseconds: Int64) { now = Instant(nanoseconds: now.nanoseconds + milliseconds * 1_000_000) }
    }

    @Test @LoopActor func clientsThatAskWhileAProbeRunsShareTheNextOne() {
        let bench = Bench()
        bench.ask()
        bench.pass(5000)
        bench.ask()
        bench.ask()
        bench.ask(2)
        #expect(bench.begun.count == 2 && bench.answers.isEmpty)
        bench.begun[0]("online")
        #expect(bench.answers == ["online"] && bench.begun.count == 3, "an answer from before the question does not count")
        bench.begun[0]("again")
        #expect(bench.answers.count == 1, "an answer comes once")
        bench.begun[2]("captive")
        #expect(bench.answers == ["online", "captive", "captive"])
    }

    @Test @LoopActor func noAnswerIsGivenTwiceAndAProbeBeginsAtMostOnceASecond() {
        let bench = Bench()
        bench.ask()
        bench.begun[0]("captive")
        bench.pass(999)
        bench.ask()
        #expect(bench.answers == ["captive"] && bench.begun.count == 1)
        bench.pass(1)
        bench.ask()
        #expect(bench.begun.count == 2)
        bench.begun[1]("online")
        #expect(bench.answers == ["captive", "online", "online"])
    }

    @Test @LoopActor func anotherNetworkIsProbedAgainAndNoClientIsLeftWaiting() {
        let bench = Bench()
        bench.ask()
        bench.ask(in: "b")
        #expect(bench.begun.count == 2)
        bench.begun[1]("online")
        #expect(bench.answers == ["online", "online"])
        bench.begun[0]("captive")
        #expect(bench.answers.count == 2, "the late answer of the other network is not this one's")
    }

    @Test @LoopActor func aProbeThatNeverEndsDoesNotHoldTheNext() {
        let bench = Bench()
        bench.ask()
        bench.pass(20_000)
        bench.ask()
        #expect(bench.begun.count == 2)
        bench.begun[1]("online")
        #expect(bench.answers == ["online", "online"])
    }
}
