import HotspotCore
import Testing

@testable import HotspotMachine

@Suite struct RaceTests {
    static let start = Instant(nanoseconds: 0)

    func race(_ candidates: [Candidate]) -> Race {
        Race(candidates.enumerated().map { ($1, CommandID(number: UInt64($0 + 1))) })
    }

    @Test("The same outcome in 1,000 shuffled runs") func shuffled() {
        var random = Walker.Random(seed: 8)
        for _ in 0..<1000 {
            var race = race([Candidate("b"), Candidate("a"), Candidate("c", priority: 40), Candidate("d")])
            let answers: [(UInt64, Confidence)] = [(1, .low), (2, .low), (3, .low), (4, .none)]
            for (number, confidence) in answers.shuffled(using: &random) {
                #expect(race.decision == nil)
                equal(race.record(confidence, for: CommandID(number: number), at: Self.start), true)
            }
            #expect(race.decision == .winner("a"))
        }
    }

    @Test func theFirstAnswerOfEachCounts() {
        var race = race([Candidate("a"), Candidate("b")])
        equal(race.record(.none, for: CommandID(number: 1), at: Self.start), true)
        equal(race.record(.high, for: CommandID(number: 1), at: Self.start), false)
        equal(race.record(.high, for: CommandID(number: 9), at: Self.start), false)
        #expect(race.decision == nil && race.silent.map(\.candidate.name) == ["b"])
        #expect(race.decisionNow == .noWinner)
    }

    @Test func aHighDecidesAtOnceAndTheEarliestOfTwo() {
        var race = race([Candidate("a", priority: 90), Candidate("b", priority: 10), Candidate("c")])
        equal(race.record(.high, for: CommandID(number: 2), at: Self.start), true)
        #expect(race.decision == .winner("b"))
        equal(race.record(.high, for: CommandID(number: 1), at: Self.start + .nanoseconds(1)), true)
        #expect(race.decision == .winner("b"), "priority counts among lows alone")
    }

    @Test func lowsByPriorityThenTimeThenName() {
        func winner(_ a: (priority: Int, at: Int), _ b: (priority: Int, at: Int)) -> RaceDecision? {
            var race = race([Candidate("b", priority: b.priority), Candidate("a", priority: a.priority)])
            _ = race.record(.low, for: CommandID(number: 1), at: Self.start + .milliseconds(b.at))
            _ = race.record(.low, for: CommandID(number: 2), at: Self.start + .milliseconds(a.at))
            return race.decision
        }
        #expect(winner((50, 5), (51, 9)) == .winner("b"))
        #expect(winner((50, 5), (50, 4)) == .winner("b"))
        #expect(winner((50, 5), (50, 5)) == .winner("a"))
    }

    @Test("D24 Any claim goes before that of one that comes last") func last() {
        var race = Race(capacity: 3)
        race.enter(Candidate("last", priority: 90), asked: CommandID(number: 1), isLast: true)
        race.enter(Candidate("good", priority: 10), asked: CommandID(number: 2))
        race.enter(Candidate("other"), asked: CommandID(number: 3))
        equal(race.record(.high, for: CommandID(number: 1), at: Self.start), true)
        #expect(race.decision == nil && race.hasOpenClaim && race.decisionNow == .winner("last"))
        #expect(race.reason(for: "last") == "although it failed before, because no other helper claims the network")
        equal(race.record(.low, for: CommandID(number: 2), at: Self.start), true)
        #expect(race.decision == nil && race.decisionNow == .winner("good"))
        equal(race.record(.none, for: CommandID(number: 3), at: Self.start), true)
        #expect(race.decision == .winner("good"))
    }

    @Test("A last resort goes after a helper that failed before, and is taken where no other claims") func lastResort() {
        var race = Race(capacity: 2)
        race.enter(Candidate("browser", priority: 0), asked: CommandID(number: 1))
        race.enter(Candidate("form", priority: 10), asked: CommandID(number: 2), isLast: true)
        equal(race.record(.low, for: CommandID(number: 1), at: Self.start), true)
        #expect(race.decisionNow == .winner("browser"))
        equal(race.record(.low, for: CommandID(number: 2), at: Self.start), true)
        #expect(race.decision == .winner("form"))
    }

    @Test func aQuarantinedHelperIsNotWaitedForAndItsAnswerCounts() {
        var race = race([Candidate("slow", isQuarantined: true), Candidate("good")])
        equal(race.record(.none, for: CommandID(number: 2), at: Self.start), true)
        #expect(race.decision == .noWinner)
        equal(race.record(.low, for: CommandID(number: 1), at: Self.start), true)
        #expect(race.decision == .winner("slow"))
        var alone = self.race([Candidate("slow", isQuarantined: true)])
        #expect(alone.isQuarantinedWhole && alone.decision == nil)
        equal(alone.record(.none, for: CommandID(number: 1), at: Self.start), true)
        #expect(alone.decision == .noWinner)
    }

    @Test func withoutHelpersThereIsNoWinner() {
        #expect(race([]).decision == .noWinner && !race([]).isQuarantinedWhole && !race([]).hasOpenClaim)
    }

    @Test func aHelperThatIsGoneCountsAsNone() {
        var race = race([Candidate("a"), Candidate("b")])
        _ = race.record(.low, for: CommandID(number: 1), at: Self.start)
        #expect(race.hasOpenClaim)
        equal(race.removeAll(where: { _ in false }), false)
        equal(race.removeAll(where: { $0 == "a" }), true)
        #expect(!race.hasOpenClaim && race.decision == nil)
    }

    @Test func fiftyHighsOfTheSameInstantHaveOneWinner() {
        var bench = Bench(Policy(), helpers: (0..<50).map { Candidate("H\($0)") })
        bench.join()
        let asked = bench.commands
        for open in asked { bench.send(.answered(open.id, .evaluated(.high))) }
        #expect(bench.chosen == "H0" && bench.count(of: .authenticate) == 1)
    }
}

@Suite struct StrikeBookTests {
    @Test func twoInARowQuarantineAndOneGoodAnswerReleases() {
        var book = StrikeBook(limit: 2)
        book.strike("a")
        #expect(book.count("a") == 1 && !book.isQuarantined("a"))
        book.acquit("a")
        book.strike("a")
        #expect(!book.isQuarantined("a"))
        book.strike("a")
        #expect(book.isQuarantined("a") && !book.isQuarantined("b"))
        book.acquit("a")
        #expect(book.count("a") == 0 && !book.isQuarantined("a"))
    }

    @Test func strictRulesNeverQuarantine() {
        var book = StrikeBook(limit: Policy(rules: .strict).quarantineAfter)
        for _ in 0..<100 { book.strike("a") }
        #expect(!book.isQuarantined("a") && book.count("a") == 100)
    }
}

/// D10.
@Suite struct MaintainScheduleTests {
    static let start = Instant(nanoseconds: 5_000_000_000)
    static let interval = Duration.seconds(300)

    /// Returns the seconds from the start to the next maintain, after an answer at `at`.
    func next(_ schedule: inout MaintainSchedule, at: Int, seconds: Int?) -> Int {
        let now = Self.start + .seconds(at)
        schedule.update(secondsRemaining: seconds, at: now)
        return (schedule.next(after: now, interval: Self.interval) - Self.start).milliseconds / 1000
    }

    @Test func withoutAnEndTheInterval() {
        var schedule = MaintainSchedule()
        equal(next(&schedule, at: 0, seconds: nil), 300)
        equal(next(&schedule, at: 7, seconds: -5), 307)
        equal(next(&schedule, at: 10, seconds: .min), 310)
        equal(next(&schedule, at: 20, seconds: .max), 320)
    }

    @Test func aMinuteBeforeTheEndOrAtNineTenths() {
        for (seconds, expected) in [(100, 90), (600, 300), (310, 279), (330, 297), (0, 300), (360, 300)] {
            var schedule = MaintainSchedule()
            equal(next(&schedule, at: 0, seconds: seconds), expected)
        }
        var patient = MaintainSchedule()
        patient.update(secondsRemaining: 3600, at: Self.start)
        #expect(patient.next(after: Self.start, interval: .seconds(7200)) - Self.start == .seconds(3540))
    }

    @Test func theSameEndIsRenewedOnceAndMaintainedOnce() {
        var schedule = MaintainSchedule()
        equal(next(&schedule, at: 0, seconds: 1000), 300)
        // Regular answers in between do not use up the renewal.
        equal(next(&schedule, at: 300, seconds: 700), 600)
        equal(next(&schedule, at: 600, seconds: 401), 900)
        equal(next(&schedule, at: 900, seconds: 99), 940)
        equal(next(&schedule, at: 940, seconds: 60), 1001)
        equal(next(&schedule, at: 1001, seconds: 0), 1301)
    }

    @Test func silenceAboutTheEndKeepsIt() {
        var schedule = MaintainSchedule()
        equal(next(&schedule, at: 0, seconds: 200), 180)
        equal(next(&schedule, at: 180, seconds: nil), 201)
        equal(next(&schedule, at: 201, seconds: nil), 501)
        #expect(schedule.end == nil)
    }

    @Test func aProlongedSessionIsRenewedAgain() {
        var schedule = MaintainSchedule()
        equal(next(&schedule, at: 0, seconds: 200), 180)
        equal(next(&schedule, at: 180, seconds: 200), 360)
    }
}

@Suite struct ProofTests {
    func bench() -> Bench {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.bid("H1", .high)
        return bench
    }

    @Test("The first verdict other than captive proves", arguments: [Verdict.online, .partial, .limited]) func proves(
        verdict: Verdict
    ) {
        var bench = bench()
        bench.reply("H1", .success)
        bench.probe(.captive)
        bench.wait(.milliseconds(299))
        #expect(bench.probes.isEmpty)
        bench.wait(.milliseconds(1))
        bench.probe(verdict)
        #expect(bench.state == .authenticated && bench.remembered == "H1")
        // An unconfirmed login is probed again soon, and is not reported as online.
        #expect(bench.outcomes == [verdict == .limited ? .unknown : .online])
        #expect(bench.due(.maintain) == .seconds(verdict == .limited ? 10 : 300))
    }

    @Test("A session behind which the Internet does not answer is probed every minute") func anOutage() {
        var bench = bench()
        bench.reply("H1", .success)
        bench.probe(.limited)
        for _ in 0..<3 {
            bench.wait(bench.due(.maintain)!)
            bench.probe(.limited)
            bench.reply("H1", .success)
            #expect(bench.state == .authenticated && bench.due(.maintain) == .seconds(60))
        }
        #expect(bench.outcomes == [.unknown, .unknown, .unknown, .unknown] && bench.problemCodes == ["internetLimited"])
        bench.send(.verdictSeen(.online))
        bench.probe(.online)
        bench.reply("H1", .success)
        #expect(bench.outcomes.last == .online && bench.due(.maintain) == .seconds(300) && bench.problems.isEmpty)
    }

    @Test("A check that finds no Internet is followed by a look, by the helper or the prober", arguments: [true, false])
    func aCheckThatFindsNothing(isClaimed: Bool) {
        var bench = bench()
        if isClaimed {
            bench.reply("H1", .success)
        } else {
            bench = Bench(.default, "H1")
            bench.join()
            bench.bid("H1", .none)
        }
        bench.probe(.online)
        bench.send(.verdictSeen(.limited))
        let purpose = isClaimed ? TimerPurpose.maintain : .recheck
        #expect(bench.problemCodes == ["internetLimited"] && bench.due(purpose) == .seconds(isClaimed ? 10 : 1))
        bench.ignores(.verdictSeen(.limited))
        bench.wait(bench.due(purpose)!)
        bench.probe(.online)
        if isClaimed { bench.reply("H1", .success) }
        #expect(bench.problems.isEmpty && bench.state == .authenticated && bench.due(purpose) == .seconds(300))
    }

    @Test func aSlowProberIsAskedAtOnceWhereTheNextProbeIsOverdue() {
        var bench = bench()
        bench.reply("H1", .success)
        bench.wait(.seconds(3))
        bench.probe(.captive)
        #expect(bench.probes.count == 1, "the probe of 0.3 s is overdue")
        bench.wait(.seconds(3))
        bench.probe(.captive)
        bench.probe(.captive)
        bench.probe(.captive)
        bench.probe(.captive)
        bench.probe(.captive)
        #expect(bench.due(.proof) == .seconds(2), "8 s from the helper's success, however slow the prober is")
    }

    @Test func theRemainingTimeOfTheHelperComesBeforeTheProbers() {
        var own = bench()
        own.reply("H1", .success, seconds: 100)
        own.probe(.online, seconds: 50)
        #expect(own.due(.maintain) == .seconds(90))
        var probed = bench()
        probed.reply("H1", .success)
        probed.probe(.online, seconds: 50)
        #expect(probed.due(.maintain) == .seconds(45))
    }

    @Test func aHungProberIsNone() {
        var bench = bench()
        bench.reply("H1", .success)
        bench.wait(.seconds(45))
        #expect(bench.state == .authenticated && bench.problemCodes == ["proberMissing"])
    }
}
