import HotspotCore
import Testing

@testable import HotspotMachine

@Suite("Conformance: evaluate race") struct ConformanceRace {
    @Test("33 The first high wins at once") func high() {
        var bench = Bench(.default, "H1", "H2", "H3")
        bench.join()
        bench.wait(.seconds(1))
        bench.bid("H1", .high)
        #expect(bench.state == .authenticating && bench.chosen == "H1")
    }

    @Test("34 A later high beats an earlier low", arguments: Policy.Rules.allCases) func highAfterLow(rules: Policy.Rules) {
        var bench = Bench(rules, "H1", "H2", "H3")
        bench.join()
        bench.wait(.seconds(1))
        bench.bid("H2", .low)
        bench.wait(.seconds(4))
        #expect(bench.state == .evaluating)
        bench.bid("H1", .high)
        #expect(bench.chosen == "H1")
    }

    @Test("35 A second high is ignored") func secondHigh() {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        let second = bench.open("H2")!.id
        bench.bid("H1", .high)
        bench.ignores(.answered(second, .evaluated(.high)))
        #expect(bench.chosen == "H1")
    }

    @Test("36 A low wins as soon as all have answered", arguments: Policy.Rules.allCases) func lowWins(rules: Policy.Rules) {
        var bench = Bench(rules, "H1", "H2")
        bench.join()
        bench.wait(.seconds(1))
        bench.bid("H1", .low)
        #expect(bench.state == .evaluating)
        bench.wait(.seconds(1))
        bench.bid("H2", .none)
        #expect(bench.state == .authenticating && bench.chosen == "H1")
    }

    @Test("37 A low and a silent helper: at 45 s exactly with strict rules, 5 s after the low with ours") func silence() {
        var strict = Bench(.strict, "H1", "H2")
        strict.join()
        strict.wait(.seconds(1))
        strict.bid("H1", .low)
        strict.wait(.milliseconds(43_999))
        #expect(strict.state == .evaluating)
        strict.wait(.milliseconds(1))
        #expect(strict.state == .authenticating && strict.chosen == "H1")

        var ours = Bench(.default, "H1", "H2")
        ours.join()
        ours.wait(.seconds(1))
        ours.bid("H1", .low)
        ours.wait(.milliseconds(4_999))
        #expect(ours.state == .evaluating)
        ours.wait(.milliseconds(1))
        #expect(ours.state == .authenticating && ours.chosen == "H1")
    }

    @Test("38 All none: authenticated, and nothing is remembered") func allNone() {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        bench.probe(.online)
        #expect(bench.state == .evaluating)
        bench.bid("H1", .none)
        bench.bid("H2", .none)
        #expect(bench.state == .authenticated && bench.chosen == nil && bench.remembered == nil && bench.outcomes == [.open])
    }

    @Test("39 All silent: authenticated at 45 s", arguments: Policy.Rules.allCases) func allSilent(rules: Policy.Rules) {
        var bench = Bench(rules, "H1", "H2")
        bench.join()
        bench.probe(.online)
        bench.wait(.milliseconds(44_999))
        #expect(bench.state == .evaluating)
        bench.wait(.milliseconds(1))
        #expect(bench.state == .authenticated && bench.remembered == nil)
        #expect(bench.strikes == ["H1": 1, "H2": 1])
    }

    @Test("40 Two lows: priority, time, name; the same in 1,000 shuffled runs") func ties() {
        var seed = Walker.Random(seed: 40)
        for _ in 0..<1000 {
            var bench = Bench(
                Policy(),
                helpers: [Candidate("H1", priority: 10), Candidate("H2", priority: 60), Candidate("H3", priority: 60)].shuffled(
                    using: &seed))
            bench.join()
            for helper in ["H1", "H2", "H3"].shuffled(using: &seed) { bench.bid(helper, .low) }
            #expect(bench.chosen == "H2")
        }
    }

    @Test("41 Losers are withdrawn") func losers() {
        var bench = Bench(.default, "H1", "H2", "H3")
        bench.join()
        let losers = ["H2", "H3"].map { Action.cancelCommand(bench.open($0)!.id) }
        bench.bid("H1", .high)
        #expect(losers.allSatisfy(bench.last.contains))
    }

    @Test("42 A reply without a confidence counts as none", arguments: HelperResult.allCases) func odd(result: HelperResult) {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        bench.reply("H1", result)
        bench.bid("H2", .low)
        #expect(bench.chosen == "H2")
    }

    @Test("43 A crash counts as none at once") func crash() {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        bench.bid("H2", .low)
        bench.answer("H1", .crashed)
        #expect(bench.chosen == "H2" && bench.strikes["H1"] == 1)
    }

    @Test("44 The machine keeps what evaluate carries: whether the user joined, and at which access point") func carries() {
        var bench = Bench(.default, "H1")
        bench.send(
            .addressAcquired(Arrival(network: Bench.network, bssid: HardwareAddress("02:00:00:00:00:01"), autoJoined: true)))
        #expect(bench.machine.state.joined?.arrival.autoJoined == true)
        bench.send(.loginRequested(helper: nil))
        #expect(bench.machine.state.joined?.arrival.autoJoined == false)
        #expect(bench.machine.state.joined?.arrival.bssid?.description == "02:00:00:00:00:01")
    }

    @Test("45 A winner is asked to authenticate once for each selection") func once() {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        let first = bench.open("H1")!.id
        bench.bid("H1", .high)
        bench.send(.answered(first, .evaluated(.high)))
        bench.wait(.seconds(44))
        #expect(bench.count(of: .authenticate) == 1)
    }
}
