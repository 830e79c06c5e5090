import HotspotCore
import Testing

@testable import HotspotMachine

@Suite("Conformance: authenticate") struct ConformanceAuthenticate {
    /// A machine in authenticating, with H1 chosen.
    func bench(_ rules: Policy.Rules = .default, canDisassociate: Bool = true) -> Bench {
        var bench = Bench(rules, "H1", "H2")
        bench.join(canDisassociate: canDisassociate)
        bench.bid("H1", .high)
        return bench
    }

    @Test("46 Only the winner receives it") func onlyWinner() {
        let bench = bench()
        #expect(bench.commands.map(\.helper) == ["H1"] && bench.commands.map(\.command) == [.authenticate])
    }

    @Test("47 Success: authenticated, gate open, remembered, timer armed") func success() {
        var bench = bench()
        bench.reply("H1", .success)
        #expect(bench.state == .authenticating && bench.remembered == nil)
        bench.probe(.online)
        #expect(bench.state == .authenticated && bench.gate && bench.remembered == "H1")
        #expect(bench.due(.maintain) == .seconds(300) && bench.alarms.count == 1)
    }

    @Test(
        "48 unsupportedNetwork: a new race without that helper, link and auto-join as they were",
        arguments: Policy.Rules.allCases)
    func unsupported(rules: Policy.Rules) {
        var bench = bench(rules)
        bench.reply("H1", .unsupportedNetwork)
        #expect(bench.state == .evaluating && bench.commands.map(\.helper) == ["H2"])
        #expect(bench.disassociations == 0 && bench.holds.isEmpty)
    }

    @Test("49 N helpers that claim and then decline: at most N rounds, then no claim", arguments: [Verdict.online, .captive])
    func rounds(verdict: Verdict) {
        let names = (0..<20).map { "H\($0)" }
        var bench = Bench(Policy(), helpers: names.map { Candidate($0) })
        bench.join()
        var rounds = 0
        while let open = bench.commands.first {
            rounds += 1
            bench.bid(open.helper, .high)
            bench.reply(open.helper, .unsupportedNetwork)
        }
        #expect(rounds == 20 && bench.count(of: .authenticate) == 20)
        bench.probe(verdict)
        #expect(bench.state == (verdict == .online ? .authenticated : .failure))
    }

    @Test("50 After leaving and joining again an excluded helper is asked") func askedAgain() {
        var bench = bench()
        bench.reply("H1", .unsupportedNetwork)
        bench.send(.addressLost)
        bench.join()
        #expect(bench.open("H1") != nil)
    }

    @Test("51 temporaryFailure: strict leaves the link, ours keeps it and rests; auto-join as it was") func temporary() {
        var strict = bench(.strict)
        strict.reply("H1", .temporaryFailure)
        #expect(strict.state == .inactive && strict.disassociations == 1 && strict.holds.isEmpty)
        #expect(strict.commands.isEmpty && strict.alarms.map(\.purpose) == [.leave])
        #expect(strict.log.contains(.transition(from: .failure, to: .inactive, cause: "hotspotd tries to leave the network")))
        var ours = bench()
        ours.reply("H1", .temporaryFailure)
        #expect(ours.state == .failure && ours.disassociations == 0 && ours.holds.isEmpty && ours.due(.retry) == .seconds(10))
    }

    @Test("52 failure: auto-join off, and the link left (strict) or kept at rest (ours)") func failure() {
        var strict = bench(.strict)
        strict.reply("H1", .failure)
        #expect(strict.state == .inactive && strict.disassociations == 1 && strict.holds == [.autoJoinOff])
        var ours = bench()
        ours.reply("H1", .failure)
        #expect(ours.state == .failure && ours.disassociations == 0 && ours.holds == [.autoJoinOff])
        #expect(ours.due(.retry) == nil && ours.problemCodes == ["loginFailed"])
        #expect(ours.log.contains(.forgetChoice(of: "H1")))
    }

    @Test("A helper's reason is kept apart from our sentence", arguments: [HelperResult.failure, .temporaryFailure])
    func reason(result: HelperResult) {
        var bench = bench()
        bench.answer("H1", .replied(result, reason: "Sign in at evil.example."))
        let parts = bench.problems.map { QuotedProblem.split($0.message) }
        #expect(parts.map(\.words) == ["Sign in at evil.example."])
        #expect(parts[0].sentence.hasPrefix("H1 could not log in") && !parts[0].sentence.contains("evil"))
    }

    @Test(
        "53 Results that do not belong here act like failure",
        arguments: [HelperResult.authenticationRequired, .commandNotRecognized])
    func odd(result: HelperResult) {
        for var bench in [bench(), bench(.strict)] {
            bench.reply("H1", result)
            #expect(bench.holds == [.autoJoinOff] && bench.outcomes == [.failure])
        }
        // A confidence is not an answer to Authenticate either.
        var confused = bench()
        confused.bid("H1", .high)
        #expect(confused.holds == [.autoJoinOff] && confused.state == .failure)
    }

    @Test("54 Silence: 44.9 s waits; at 45 s strict leaves the link with auto-join off, ours may try again") func silence() {
        var strict = bench(.strict)
        strict.wait(.milliseconds(44_900))
        #expect(strict.state == .authenticating)
        strict.wait(.milliseconds(100))
        #expect(strict.state == .inactive && strict.disassociations == 1 && strict.holds == [.autoJoinOff])
        var ours = bench()
        ours.wait(.milliseconds(44_900))
        #expect(ours.state == .authenticating)
        ours.wait(.milliseconds(100))
        #expect(ours.state == .failure && ours.holds.isEmpty && ours.due(.retry) == .seconds(10) && ours.strikes["H1"] == 1)
    }

    @Test("55 An answer at 45.1 s is ignored") func tooLate() {
        var bench = bench()
        let id = bench.open("H1")!.id
        bench.wait(.milliseconds(45_100))
        bench.ignores(.answered(id, .replied(.success)))
        #expect(bench.state == .failure)
    }

    @Test("56 uiRequired: the prompt is shown before the state changes") func prompt() {
        var bench = bench()
        bench.reply("H1", .uiRequired, prompt: .room)
        #expect(bench.state == .presentingUI && bench.prompt?.prompt.title == "Room" && bench.prompt?.helper == "H1")
        let shown = bench.last.firstIndex { if case .showPrompt = $0 { true } else { false } }
        let changed = bench.last.firstIndex { if case .transition = $0 { true } else { false } }
        #expect(shown! < changed!)
    }
}

@Suite("Conformance: presentUI") struct ConformancePresentUI {
    /// A machine that waits for the user, or for the helper after the user's answer.
    func bench(_ rules: Policy.Rules = .default, answered: Bool = true) -> Bench {
        var bench = Bench(rules, "H1", "H2")
        bench.join(canDisassociate: true)
        bench.ask("H1")
        if answered { bench.send(.promptAnswered(bench.prompt!.id)) }
        return bench
    }

    @Test("57 No time-out: after 24 h the prompt still waits, gate closed, link kept", arguments: Policy.Rules.allCases)
    func patience(rules: Policy.Rules) {
        var bench = bench(rules, answered: false)
        let end = bench.now + .seconds(24 * 3600)
        while bench.now < end {
            bench.wait(.seconds(10))
            if !bench.probes.isEmpty { bench.probe(.captive) }
        }
        #expect(bench.state == .presentingUI && !bench.gate && bench.prompt != nil && bench.disassociations == 0)
    }

    @Test("58 The helper is asked when the user has answered") func delivery() {
        var bench = bench(answered: false)
        bench.wait(.seconds(5))
        #expect(bench.commands.isEmpty)
        bench.send(.promptAnswered(bench.prompt!.id))
        #expect(bench.commands.map(\.command) == [.presentUI] && bench.prompt == nil)
    }

    @Test("59 Success: authenticated and remembered") func success() {
        var bench = bench()
        bench.reply("H1", .success)
        #expect(bench.remembered == nil)
        bench.probe(.online)
        #expect(bench.state == .authenticated && bench.remembered == "H1" && bench.gate)
    }

    @Test("60 unsupportedNetwork: excluded, a new race") func unsupported() {
        var bench = bench()
        bench.reply("H1", .unsupportedNetwork)
        #expect(bench.state == .evaluating && bench.commands.map(\.helper) == ["H2"])
    }

    @Test("61 temporaryFailure keeps auto-join; failure, uiRequired (strict) and odd results turn it off") func others() {
        for rules in Policy.Rules.allCases {
            let place: StateName = rules == .strict ? .inactive : .failure
            var temporary = bench(rules)
            temporary.reply("H1", .temporaryFailure)
            #expect(temporary.state == place && temporary.holds.isEmpty)
            for result in [HelperResult.failure, .authenticationRequired, .commandNotRecognized] {
                var bench = bench(rules)
                bench.reply("H1", result)
                #expect(bench.state == place && bench.holds == [.autoJoinOff])
            }
        }
        var strict = bench(.strict)
        strict.reply("H1", .uiRequired)
        #expect(strict.state == .inactive && strict.holds == [.autoJoinOff])
        var ours = bench()
        ours.reply("H1", .uiRequired, prompt: Prompt(title: "Code"))
        #expect(ours.state == .presentingUI && ours.prompt?.prompt.title == "Code" && ours.holds.isEmpty)
    }

    @Test("62 Leaving the network withdraws the prompt") func leaving() {
        var bench = bench(answered: false)
        let id = bench.prompt!.id
        bench.send(.addressLost)
        #expect(bench.last.contains(.withdrawPrompt(id)) && bench.prompt == nil)
    }
}
