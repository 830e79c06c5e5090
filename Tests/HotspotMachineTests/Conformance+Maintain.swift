import HotspotCore
import Testing

@testable import HotspotMachine

@Suite("Conformance: maintain") struct ConformanceMaintain {
    func authenticated(_ rules: Policy.Rules = .default) -> Bench {
        var bench = Bench(rules, "H1", "H2")
        bench.join(canDisassociate: true)
        bench.login("H1")
        return bench
    }

    /// A machine in maintaining, after the timer or after the join.
    func bench(_ rules: Policy.Rules = .default, join: Bool) -> Bench {
        guard join else {
            var bench = authenticated(rules)
            bench.wait(.seconds(300))
            return bench
        }
        var bench = Bench(rules, "H1", "H2")
        bench.join(remembered: "H1", canDisassociate: true)
        return bench
    }

    @Test("63 The first maintain 300 s after authenticated, not just joined") func first() {
        var bench = authenticated()
        bench.wait(.milliseconds(299_999))
        #expect(bench.state == .authenticated)
        bench.wait(.milliseconds(1))
        #expect(bench.state == .maintaining && bench.commands.map(\.command) == [.maintain])
        #expect(bench.open("H1")?.justJoined == false)
    }

    @Test("64 The next 300 s after the answer") func next() {
        var bench = bench(join: false)
        bench.probe(.online)
        bench.wait(.seconds(30))
        bench.reply("H1", .success)
        bench.wait(.milliseconds(299_999))
        #expect(bench.count(of: .maintain) == 1)
        bench.wait(.milliseconds(1))
        #expect(bench.count(of: .maintain) == 2)
    }

    @Test("65 Joining again: maintain to the remembered helper alone, just joined, no evaluate") func rejoin() {
        let bench = bench(join: true)
        #expect(bench.state == .maintaining && bench.commands.count == 1 && bench.count(of: .evaluate) == 0)
        #expect(bench.open("H1")?.command == .maintain && bench.open("H1")?.justJoined == true)
    }

    @Test("66 The gate is open in the timer's maintain, closed in the join's") func gate() {
        #expect(bench(join: false).gate)
        #expect(!bench(join: true).gate)
    }

    @Test("67 Success: authenticated, timer restarted", arguments: [true, false]) func success(join: Bool) {
        var bench = bench(join: join)
        bench.probe(.online)
        bench.reply("H1", .success)
        #expect(bench.state == .authenticated && bench.due(.maintain) == .seconds(300) && bench.remembered == "H1")
    }

    @Test("68 authenticationRequired: the same helper logs in, gate closed until it is done", arguments: [true, false])
    func renewal(join: Bool) {
        var bench = bench(join: join)
        let races = bench.count(of: .evaluate)
        bench.reply("H1", .authenticationRequired)
        #expect(bench.state == .authenticating && bench.chosen == "H1" && !bench.gate && bench.count(of: .evaluate) == races)
        bench.reply("H1", .success)
        bench.probe(.online)
        #expect(bench.state == .authenticated && bench.gate)
    }

    @Test("68 With a race where the helper was chosen without one that is here now", arguments: [true, false])
    func renewalAmongOthers(join: Bool) {
        var changed = Bench(.default, "H1", "H2")
        changed.send(.addressAcquired(Arrival(network: Bench.network, remembered: "H1", contenders: ["H1", "H2"])))
        changed.send(.helpersChanged([Candidate("H1"), Candidate("H2", edition: 7)]))
        changed.reply("H1", .authenticationRequired)
        #expect(changed.state == .evaluating && changed.open("H2") != nil, "it may know the portal now")
        changed.login("H2")
        #expect(changed.machine.state.joined?.contenders == ["H1", "H2 7"])

        var bench = Bench(.default, "H1")
        if join {
            bench.send(.helpersChanged([Candidate("H1"), Candidate("H2")]))
            bench.send(.addressAcquired(Arrival(network: Bench.network, remembered: "H1", contenders: ["H1"])))
        } else {
            bench.join()
            bench.login("H1")
            bench.send(.helpersChanged([Candidate("H1"), Candidate("H2")]))
            #expect(bench.state == .authenticated && bench.chosen == "H1", "its session goes on")
            bench.wait(.seconds(300))
        }
        bench.reply("H1", .authenticationRequired)
        #expect(bench.state == .evaluating && bench.open("H1") != nil && bench.open("H2") != nil)
        bench.login("H2")
        #expect(bench.remembered == "H2" && bench.machine.state.joined?.contenders == ["H1", "H2"])
    }

    @Test(
        "69 Anything else: gate closed, a new race, link and auto-join kept, helper a candidate",
        arguments: Policy.Rules.allCases)
    func others(rules: Policy.Rules) {
        let answers: [CommandAnswer?] = [
            .replied(.failure), .replied(.temporaryFailure), .replied(.unsupportedNetwork), .replied(.commandNotRecognized),
            .evaluated(.high), .crashed, .notStarted(reason: "no memory"), nil,
        ]
        for join in [true, false] {
            for answer in answers + (rules == .strict ? [.replied(.uiRequired)] : []) {
                var bench = bench(rules, join: join)
                if let answer { bench.answer("H1", answer) } else { bench.wait(.seconds(45)) }
                #expect(bench.state == .evaluating && !bench.gate && bench.open("H1")?.command == .evaluate)
                #expect(bench.disassociations == 0 && bench.holds.isEmpty)
            }
        }
    }

    @Test("70 No maintain on an unclaimed network") func unclaimed() {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.bid("H1", .none)
        bench.probe(.online)
        #expect(bench.state == .authenticated)
        for _ in 0..<100 {
            bench.wait(.seconds(300))
            if !bench.probes.isEmpty { bench.probe(.online) }
        }
        #expect(bench.count(of: .maintain) == 0 && bench.state == .authenticated)
    }
}

@Suite("Conformance: logoff and objects") struct ConformanceLogoff {
    func authenticated(_ rules: Policy.Rules = .default) -> Bench {
        var bench = Bench(rules, "H1", "H2")
        bench.join(canDisassociate: true)
        bench.login("H1")
        return bench
    }

    @Test("71 The chosen helper, in authenticated: accepted, then one logoff") func accepted() {
        var bench = authenticated()
        #expect(bench.machine.acceptsLogoff(by: .helper("H1")))
        bench.send(.logoffRequested(by: .helper("H1")))
        #expect(bench.state == .loggingOff && bench.gate && bench.commands.map(\.command) == [.logoff])
    }

    @Test("72 Refused, without a command: other requesters, other states, a second time") func refused() {
        var other = authenticated()
        #expect(!other.machine.acceptsLogoff(by: .helper("H2")))
        other.ignores(.logoffRequested(by: .helper("H2")))
        for var bench in ConformanceLink.benches() where ![.authenticated, .maintaining].contains(bench.state) {
            for requester in [Requester.user, .helper("H1")] {
                #expect(!bench.machine.acceptsLogoff(by: requester))
                bench.ignores(.logoffRequested(by: requester))
            }
        }
    }

    @Test("73 Any answer, or 45 s of silence, ends the session") func ends() {
        for rules in Policy.Rules.allCases {
            for answer in HelperResult.allCases.map({ CommandAnswer.replied($0) }) + [.evaluated(.low), .crashed, nil]
                as [CommandAnswer?]
            {
                var bench = authenticated(rules)
                bench.send(.logoffRequested(by: .user))
                if let answer {
                    bench.answer("H1", answer)
                } else {
                    bench.wait(.milliseconds(44_999))
                    #expect(bench.state == .loggingOff)
                    bench.wait(.milliseconds(1))
                }
                bench.look(answer == .replied(.success) ? .captive : .online)
                #expect(bench.state == .inactive && !bench.gate && bench.commands.isEmpty)
                #expect(bench.disassociations == (rules == .strict ? 1 : 0))
                let isConfirmed = answer == .replied(.success)
                #expect(bench.log.contains(.dropSession) == isConfirmed && bench.kept == (isConfirmed ? nil : "H1"))
                if rules != .strict { #expect(bench.problemCodes == [isConfirmed ? "held" : "logoffUnconfirmed"]) }
            }
        }
    }

    @Test("74 Logoff keeps the choice and holds auto-join") func keepsChoice() {
        var bench = authenticated()
        bench.send(.logoffRequested(by: .user))
        bench.reply("H1", .success)
        bench.probe(.captive)
        #expect(bench.remembered == "H1" && !bench.log.contains { if case .forgetChoice = $0 { true } else { false } })
        #expect(
            bench.log.contains { if case .hold(.loggedOff, for: .seconds(12 * 3600), _) = $0 { true } else { false } }
                && bench.due(.hold) == .seconds(12 * 3600))
    }

    @Test("79 One helper is the chosen one in five states, none in the others") func chosen() {
        for bench in ConformanceLink.benches() {
            let expects = ![.inactive, .evaluating, .failure].contains(bench.state)
            #expect((bench.chosen == "H1") == expects && (bench.chosen == nil) == !expects)
        }
        var unclaimed = Bench()
        unclaimed.join()
        unclaimed.probe(.online)
        #expect(unclaimed.state == .authenticated && unclaimed.chosen == nil)
    }
}
