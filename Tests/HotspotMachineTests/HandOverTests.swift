import HotspotCore
import Testing

@testable import HotspotMachine

/// D30: a prompt without fields waits for a login elsewhere, and the open network is its answer.
@Suite struct HandOverTests {
    private func waiting(_ rules: Policy.Rules = .default) -> Bench {
        var bench = Bench(rules, "H1", "H2")
        bench.join()
        bench.handOver("H1")
        return bench
    }

    @Test("D30 An open network confirms a hand-over: its helper is asked, and its session kept") func confirms() {
        for rules in [Policy.Rules.default, .strict] {
            var bench = waiting(rules)
            let prompt = bench.prompt!.id
            bench.wait(.seconds(10))
            bench.probe(.online)
            #expect(bench.prompt == nil && bench.state == .presentingUI && !bench.gate)
            #expect(bench.open("H1")?.command == .presentUI)
            bench.ignores(.promptAnswered(prompt))
            bench.reply("H1", .success, seconds: 600)
            bench.probe(.online)
            #expect(bench.state == .authenticated && bench.chosen == "H1" && bench.remembered == "H1")
            #expect(bench.outcomes == [.online] && bench.gate)
            #expect(bench.due(.maintain) == .seconds(300), "maintained as any other")
        }
    }

    @Test("D30 The verdict of a check does so too") func check() {
        var bench = waiting()
        bench.send(.verdictSeen(.captive))
        #expect(bench.prompt != nil && bench.commands.isEmpty)
        bench.send(.verdictSeen(.online))
        #expect(bench.prompt == nil && bench.open("H1")?.command == .presentUI)
    }

    @Test("D30 With any other answer the network opened by itself")
    func others() {
        for result in HelperResult.allCases where result != .success {
            var bench = waiting()
            bench.send(.verdictSeen(.online))
            bench.reply("H1", result, prompt: .browser)
            #expect(bench.state == .authenticated && bench.chosen == nil && bench.outcomes == [.opened], "\(result)")
            #expect(bench.strikes.isEmpty && bench.holds.isEmpty)
        }
        for answer in [CommandAnswer.crashed, .garbled(reason: nil), .notStarted(reason: "no memory"), .evaluated(.high)] {
            var bench = waiting()
            bench.send(.verdictSeen(.online))
            bench.answer("H1", answer)
            #expect(bench.state == .authenticated && bench.chosen == nil && bench.outcomes == [.opened], "\(answer)")
            #expect(bench.strikes["H1"] == (answer == .crashed ? 1 : nil))
        }
        var silent = waiting()
        silent.send(.verdictSeen(.online))
        silent.wait(.seconds(45))
        #expect(silent.state == .authenticated && silent.chosen == nil && silent.strikes["H1"] == 1)
    }

    @Test("D30 Where a check finds the portal again meanwhile, the prompt comes back") func portalAgain() {
        var bench = waiting()
        let prompt = bench.prompt!.id
        bench.send(.verdictSeen(.online))
        bench.send(.verdictSeen(.captive))
        bench.reply("H1", .uiRequired, prompt: .browser)
        #expect(bench.state == .presentingUI && bench.prompt?.prompt == .browser && bench.prompt?.id != prompt)
    }

    @Test("D30 A helper that is switched off meanwhile is replaced") func switchedOff() {
        var bench = waiting()
        bench.send(.verdictSeen(.online))
        bench.send(.helpersChanged([Candidate("H2")]))
        bench.reply("H1", .success)
        #expect(bench.state == .evaluating && bench.commands.map(\.helper) == ["H2"])
    }

    @Test("D30 While it waits, a helper that is switched on makes it a race again") func switchedOn() {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.handOver("H1")
        bench.send(.helpersChanged([Candidate("H1"), Candidate("H2")]))
        #expect(bench.prompt != nil)
        bench.send(.restEnded)
        #expect(bench.state == .evaluating && bench.prompt == nil && bench.commands.map(\.helper) == ["H1", "H2"])

        var question = Bench(.default, "H1")
        question.join()
        question.ask("H1")
        question.ignores(.restEnded)
    }

    @Test("D30 While it waits, a login looks at the portal again, and joins one that goes on") func login() {
        var bench = waiting()
        #expect(!bench.machine.joinsLogin(by: nil, fresh: false))
        bench.send(.loginRequested(helper: nil))
        #expect(bench.state == .evaluating && bench.prompt == nil && bench.commands.map(\.helper) == ["H1", "H2"])
        #expect(bench.machine.joinsLogin(by: nil, fresh: false))

        var answered = waiting()
        answered.send(.promptAnswered(answered.prompt!.id))
        #expect(answered.machine.joinsLogin(by: nil, fresh: false))
    }

    @Test("D30 A question with fields or terms is answered by the user alone") func questions() {
        let terms = Prompt(title: "Terms", termsURL: "http://portal.example/terms")
        for prompt in [Prompt.room, terms, Prompt(title: "Terms", terms: "Be quiet.")] {
            var bench = Bench(.default, "H1")
            bench.join()
            bench.bid("H1", .high)
            bench.reply("H1", .uiRequired, prompt: prompt)
            bench.send(.verdictSeen(.online))
            #expect(bench.state == .authenticated && bench.chosen == nil && bench.outcomes == [.opened])
        }
    }

    @Test("D30 A fresh login on an open network waits for the user (D26)") func fresh() {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.bid("H1", .high)
        bench.reply("H1", .success)
        bench.probe(.online)
        bench.send(.loginRequested(helper: nil, fresh: true))
        bench.handOver("H1")
        bench.send(.verdictSeen(.online))
        #expect(bench.state == .presentingUI && bench.prompt != nil && bench.commands.isEmpty)
    }
}
