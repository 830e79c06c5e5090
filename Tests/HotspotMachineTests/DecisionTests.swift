import HotspotCore
import Testing

@testable import HotspotMachine

/// D1 to D26 of `docs/machine-rules.md`, by the default rules and by the strict ones. D3 and D6 are about helpers and the vault, and are
/// proven there; these tests prove their part in the machine.
@Suite struct DecisionTests {
    func joined(_ rules: Policy.Rules = .default, canDisassociate: Bool = true, _ helpers: String...) -> Bench {
        var bench = Bench(Policy(rules: rules), helpers: (helpers.isEmpty ? ["H1", "H2"] : helpers).map { Candidate($0) })
        bench.join(canDisassociate: canDisassociate)
        return bench
    }

    func authenticated(_ rules: Policy.Rules = .default) -> Bench {
        var bench = joined(rules)
        bench.login("H1")
        return bench
    }

    @Test("D1 A deadline or a death in authenticate: temporary, or fatal with strict rules", arguments: [true, false])
    func d1(crash: Bool) {
        for rules in Policy.Rules.allCases {
            var bench = joined(rules)
            bench.bid("H1", .high)
            if crash { bench.answer("H1", .crashed) } else { bench.wait(.seconds(45)) }
            #expect(bench.outcomes == [rules == .strict ? .failure : .temporaryFailure])
            #expect(bench.holds == (rules == .strict ? [.autoJoinOff] : []) && bench.strikes["H1"] == 1)
            #expect(bench.problemCodes == [crash ? "helperCrashed" : "helperTimeout"])
        }
        var mixed = Policy(rules: .strict)
        mixed.onTimeout = .temporary
        var bench = Bench(mixed, helpers: [Candidate("H1")])
        bench.join()
        bench.bid("H1", .high)
        bench.wait(.seconds(45))
        #expect(bench.outcomes == [.temporaryFailure], "an explicit setting overrides the rules")
    }

    @Test("A helper that could not be started is not to blame, whatever the rules", arguments: Policy.Rules.allCases)
    func notStarted(rules: Policy.Rules) {
        var bench = joined(rules)
        bench.bid("H1", .high)
        bench.answer("H1", .notStarted(reason: "no memory"))
        #expect(bench.outcomes == [.temporaryFailure] && bench.holds == [] && bench.problemCodes == ["helperNoRoom"])
        #expect(bench.strikes["H1", default: 0] == 0)
        // In the race, this answer counts as a bid of none.
        bench = joined(rules)
        bench.answer("H1", .notStarted(reason: "no memory"))
        bench.bid("H2", .low)
        #expect(bench.strikes["H1", default: 0] == 0 && bench.machine.state.chosenHelper == "H2")
        // If no helper claims the portal, the helper that could not start may be the one that can log in.
        bench = joined(rules)
        bench.answer("H1", .notStarted(reason: "no memory"))
        bench.bid("H2", .none)
        bench.probe(.captive)
        #expect(bench.outcomes == [.temporaryFailure])
        #expect(rules == .strict || bench.due(.retry) == .seconds(10))
        // A remembered portal is there until a probe disproves it, and the prober could not be started either.
        bench = joined(rules)
        bench.send(.addressLost)
        bench.join(remembered: "H3")
        bench.answer("H1", .notStarted(reason: "no memory"))
        bench.bid("H2", .none)
        bench.probe(nil)
        #expect(bench.outcomes.last == .temporaryFailure && (rules == .strict || bench.due(.retry) == .seconds(10)))
        // If the helper cannot start for Maintain, a new race looks for a session.
        bench = authenticated(rules)
        bench.wait(.seconds(300))
        bench.answer("H1", .notStarted(reason: "no memory"))
        #expect(bench.state == .evaluating && bench.strikes["H1", default: 0] == 0)
    }

    @Test("D2 Eight further questions, then failure; strict: failure at the first") func d2() {
        for (rules, limit) in [(Policy.Rules.default, 8), (.strict, 0)] {
            var bench = joined(rules)
            bench.ask("H1")
            var questions = 0
            while bench.state == .presentingUI {
                bench.send(.promptAnswered(bench.prompt!.id))
                bench.reply("H1", .uiRequired, prompt: Prompt(title: "\(questions)"))
                questions += 1
            }
            #expect(questions == limit + 1 && bench.outcomes.last == .failure && bench.holds == [.autoJoinOff])
        }
    }

    @Test("D3 A lone low bid on a captive network takes it, and may ask") func d3() {
        var bench = joined(.default, "form")
        bench.probe(.captive)
        bench.bid("form", .low)
        bench.reply("form", .uiRequired, prompt: Prompt(title: "Welcome"))
        #expect(bench.state == .presentingUI && bench.prompt?.helper == "form")
        bench.send(.promptAnswered(bench.prompt!.id))
        bench.reply("form", .success)
        bench.probe(.online)
        #expect(bench.state == .authenticated && bench.remembered == "form")
    }

    @Test("D4 Strict: the link is left, and at the third time within 10 minutes kept") func d4() {
        var bench = Bench(.strict, "H1")
        for round in 1...3 {
            bench.join(canDisassociate: true)
            bench.bid("H1", .high)
            bench.reply("H1", .temporaryFailure)
            #expect(bench.disassociations == min(round, 2) && bench.holds.isEmpty)
            if round < 3 {
                #expect(bench.state == .inactive)
                bench.send(.addressLost)
                bench.wait(.seconds(60))
            }
        }
        #expect(bench.state == .failure && bench.due(.retry) == .seconds(10))

        // Failures more than ten minutes apart, of another network, or before a success do not count.
        var slow = Bench(.strict, "H1")
        for round in 1...6 {
            slow.join(.wireless(SSID(printable: round.isMultiple(of: 2) ? "A" : "B")!, .open), canDisassociate: true)
            slow.bid("H1", .high)
            slow.reply("H1", .temporaryFailure)
            #expect(slow.state == .inactive)
            slow.send(.addressLost)
            slow.wait(.seconds(301))
        }
        #expect(slow.machine.recentFailures.count <= 2)
        var good = Bench(.strict, "H1")
        for round in 1...4 {
            good.join(canDisassociate: true)
            if round == 3 {
                good.login("H1")
            } else {
                good.bid("H1", .high)
                good.reply("H1", .temporaryFailure)
                #expect(good.state == .inactive)
            }
            good.send(.addressLost)
        }
        var kept = joined(.strict, canDisassociate: false)
        kept.bid("H1", .high)
        kept.reply("H1", .temporaryFailure)
        #expect(kept.state == .failure && kept.disassociations == 0)
    }

    @Test("D5 The choice is committed on authenticated, dropped by failure and unsupportedNetwork") func d5() {
        var bench = joined()
        bench.bid("H1", .high)
        #expect(bench.remembered == nil)
        bench.reply("H1", .success)
        #expect(bench.remembered == nil)
        bench.probe(.online)
        #expect(bench.last.contains(.remember(helper: "H1")))
        for (result, forgets) in [(HelperResult.failure, true), (.unsupportedNetwork, true), (.temporaryFailure, false)] {
            var bench = joined()
            bench.bid("H1", .high)
            bench.reply("H1", result)
            #expect(bench.last.contains(.forgetChoice(of: "H1")) == forgets)
        }
    }

    @Test("D6 A remembered helper of a twin network gets maintain, and no more") func d6() {
        var bench = Bench(.default, "H1")
        bench.join(remembered: "H1")
        #expect(bench.commands.map(\.command) == [.maintain])
    }

    @Test("D7 Low grace, strikes and quarantine; strict: neither") func d7() {
        var bench = joined()
        bench.wait(.seconds(42))
        bench.bid("H1", .low)
        #expect(bench.due(.lowGrace) == .seconds(3), "the grace never outlasts the deadline")
        bench.wait(.seconds(3))
        #expect(bench.chosen == "H1" && bench.strikes["H2"] == 1)

        let helpers = [Candidate("H1"), Candidate("H2", isQuarantined: true)]
        var quarantined = Bench(Policy(), helpers: helpers)
        quarantined.join()
        #expect(quarantined.open("H2") != nil, "it is asked")
        quarantined.bid("H1", .low)
        #expect(quarantined.chosen == "H1", "and not waited for")
        var first = Bench(Policy(), helpers: helpers)
        first.join()
        first.bid("H2", .high)
        #expect(first.chosen == "H2" && first.last.contains(.acquit(helper: "H2")), "its good answer counts and releases it")
        var alone = Bench(Policy(), helpers: [Candidate("H2", isQuarantined: true)])
        alone.join()
        alone.probe(.online)
        #expect(alone.state == .evaluating)
        alone.wait(.seconds(5))
        #expect(alone.state == .authenticated, "where all are quarantined they get the grace")
        #expect(Policy(rules: .strict).lowGrace == nil && Policy(rules: .strict).quarantineAfter == nil)
    }

    @Test("D8 Lows: priority, then the earliest, then the name") func d8() {
        func winner(_ bids: [(name: String, priority: Int, at: Int)]) -> String? {
            var bench = Bench(Policy(), helpers: bids.map { Candidate($0.name, priority: $0.priority) } + [Candidate("last")])
            bench.join()
            for bid in bids.sorted(by: { $0.at < $1.at }) {
                bench.wait(until: Instant(nanoseconds: 1_000_000_000_000) + .seconds(bid.at))
                bench.bid(bid.name, .low)
            }
            bench.bid("last", .none)
            return bench.chosen
        }
        #expect(winner([("a", 50, 1), ("b", 60, 2)]) == "b")
        #expect(winner([("a", 50, 2), ("b", 50, 1)]) == "b")
        #expect(winner([("b", 50, 1), ("a", 50, 1)]) == "a")
    }

    @Test("D9 Unclaimed and open: probed after 300 s, doubling to an hour, by the prober alone") func d9() {
        var bench = joined()
        bench.bid("H1", .none)
        bench.bid("H2", .none)
        bench.probe(.online)
        let commands = bench.count(of: .evaluate)
        var waits: [Int] = []
        for _ in 0..<6 {
            let due = bench.due(.recheck)!
            waits.append(due.milliseconds / 1000)
            bench.wait(due)
            bench.probe(.online)
        }
        #expect(waits == [300, 600, 1200, 2400, 3600, 3600])
        #expect(bench.count(of: .evaluate) == commands && bench.state == .authenticated && bench.gate)
        bench.wait(.seconds(3600))
        bench.probe(.captive)
        #expect(bench.state == .evaluating && !bench.gate)
    }

    @Test("D9 An unknown network is reported as open once a probe or a check says so", arguments: [false, true])
    func d9Unverified(byCheck: Bool) {
        var bench = joined()
        bench.bid("H1", .none)
        bench.bid("H2", .none)
        bench.probe(.limited)
        #expect(bench.outcomes == [.unknown] && bench.problemCodes == ["internetLimited"])
        // The rechecks go on, however long that takes.
        bench.send(.verdictSeen(.limited))
        for _ in 0..<12 {
            bench.wait(bench.due(.recheck)!)
            bench.probe(.limited)
        }
        #expect(bench.outcomes == [.unknown])
        if byCheck {
            bench.send(.verdictSeen(.online))
        } else {
            bench.wait(bench.due(.recheck)!)
            bench.probe(.online)
        }
        #expect(bench.outcomes == [.unknown, .open] && bench.problems.isEmpty && bench.due(.recheck) == .seconds(300))
        bench.ignores(.verdictSeen(.online))
    }

    @Test("D10 Earlier maintain before a session ends, and once more at its end") func d10() {
        var bench = joined()
        bench.login("H1", seconds: 200)
        #expect(bench.due(.maintain) == .seconds(180), "90 % is later than 60 s before the end")
        bench.wait(.seconds(180))
        bench.probe(.online)
        bench.reply("H1", .success, seconds: 20)
        #expect(bench.due(.maintain) == .seconds(21), "the last second may be a whole one")
    }

    @Test(
        "D33 A helper asks for an earlier maintain, again and again, and for no later one",
        arguments: [(30, 30), (5, 5), (1, 5), (-7, 5), (299, 299), (3600, 300), (.max, 300)])
    func d33(seconds: Int, due: Int) {
        var bench = joined()
        bench.bid("H1", .high)
        bench.reply("H1", .success, maintainAfter: seconds)
        bench.probe(.online)
        for _ in 0..<8 {
            #expect(bench.due(.maintain) == .seconds(due))
            bench.wait(.seconds(due))
            bench.probe(.online)
            bench.reply("H1", .success, maintainAfter: seconds)
        }
        bench.wait(.seconds(due))
        bench.reply("H1", .success, maintainAfter: seconds)
        bench.wait(.seconds(3))
        bench.probe(.online)
        #expect(bench.due(.maintain) == .seconds(due == 300 ? 300 : due - 3), "it counts from the answer, not from the verdict")
        bench.wait(bench.due(.maintain)!)
        bench.probe(.online)
        bench.reply("H1", .success)
        #expect(bench.due(.maintain) == .seconds(300), "the wish was for one time")
    }

    @Test("D11 A helper that wins twice without success after a failed maintain is excluded; strict: no cap") func d11() {
        for rules in Policy.Rules.allCases {
            // Without the right to disassociate, the strict machine rests as well.
            var bench = Bench(rules, "H1", "H2")
            bench.join(remembered: "H1")
            bench.reply("H1", .failure)
            for win in 1...2 {
                #expect(bench.open("H1")?.command == .evaluate, "win \(win)")
                bench.bid("H1", .high)
                bench.reply("H1", .temporaryFailure)
                bench.wait(.seconds(30))
            }
            #expect(bench.state == .evaluating)
            #expect((bench.open("H1") == nil) == (rules == .default) && bench.open("H2") != nil)
        }
        var interrupted = Bench(.default, "H1", "H2")
        interrupted.join(remembered: "H1")
        interrupted.reply("H1", .failure)
        for (helper, delay) in [("H1", 10), ("H2", 30), ("H1", 60)] {
            interrupted.bid(helper, .high)
            interrupted.reply(helper, .temporaryFailure)
            interrupted.wait(.seconds(delay))
        }
        #expect(interrupted.open("H1") == nil && interrupted.open("H2") != nil)
        #expect(interrupted.machine.state.joined?.record.excluded == ["H1"], "another's win in between changes nothing")
    }

    @Test("D11 A login without a session at the next maintain is no success, and taking turns does not help") func d11Turns() {
        var bench = Bench(.default, "H1", "H2")
        bench.join(remembered: "H1")
        bench.reply("H1", .failure)
        var winners: [String] = []
        while winners.count < 20, bench.state == .evaluating {
            guard let helper = (winners.last == "H1" ? ["H2", "H1"] : ["H1", "H2"]).first(where: { bench.open($0) != nil }) else {
                break
            }
            winners.append(helper)
            bench.bid(helper, .high)
            bench.wait(bench.due(.pause) ?? .zero)
            while bench.open(helper) == nil, !bench.probes.isEmpty { bench.probe(.captive) }
            bench.reply(helper, .success, seconds: 1)
            bench.probe(.online)
            bench.wait(bench.due(.maintain)!)
            bench.reply(helper, .failure)
        }
        #expect(winners == ["H1", "H2", "H1", "H2", "H2"])
        bench.probe(.captive)
        #expect(bench.state == .failure && bench.problemCodes == ["unclaimedCaptive"])
        #expect(bench.problems[0].message == "The portal asks for a login, but no enabled helper can log in.")
    }

    @Test("D23 Logins that the user did not ask for are paced; see PaceTests") func d23() {
        for rules in Policy.Rules.allCases {
            var bench = authenticated(rules)
            bench.send(.verdictSeen(.captive))
            bench.reply("H1", .authenticationRequired)
            #expect(bench.state == .authenticating && bench.commands.isEmpty && bench.due(.pause) == .seconds(10))
            bench.send(.loginRequested(helper: nil))
            bench.bid("H1", .high)
            #expect(bench.open("H1")?.command == .authenticate)
        }
    }

    @Test("D24 A helper that failed temporarily twice comes last; strict: never") func d24() {
        for rules in Policy.Rules.allCases {
            var bench = Bench(rules, "H1", "H2")
            bench.join()
            for delay in [10, 30] {
                bench.bid("H1", .high)
                #expect(bench.state == .authenticating && bench.chosen == "H1")
                bench.reply("H1", .temporaryFailure)
                bench.wait(.seconds(delay))
                if bench.state == .failure { bench.probe(.captive) }
            }
            bench.bid("H1", .high)
            #expect(bench.state == (rules == .strict ? .authenticating : .evaluating))
            if rules == .strict { continue }
            var silent = bench
            silent.wait(.seconds(5))
            #expect(silent.chosen == "H1", "silent helpers have the low grace")
            var alone = bench
            alone.bid("H2", .none)
            #expect(alone.chosen == "H1")
            bench.bid("H2", .low)
            #expect(bench.chosen == "H2")
            bench.reply("H2", .success)
            bench.probe(.online)
            bench.send(.loginRequested(helper: nil, fresh: true))
            bench.bid("H1", .high)
            #expect(bench.chosen == "H1", "a login that the user asked for starts over")
        }
    }

    /// Waits for the next try, and answers the probe beside it.
    private func retry(_ bench: inout Bench) {
        if let delay = bench.due(.retry) { bench.wait(delay) }
        if bench.state == .failure { bench.probe(.captive) }
        #expect(bench.state == .evaluating)
    }

    @Test("D24 Several that fail in turns do not use up the tries of the one that would succeed") func d24InTurns() {
        let rude = ["H1", "H2", "H3"]
        var bench = Bench(.default, "H1", "H2", "H3", "H4")
        bench.join()
        for (failures, name) in (rude + rude).enumerated() {
            bench.bid(name, .high)
            // Later logins have to wait for D23 as well.
            if let pause = bench.due(.pause) { bench.wait(pause) }
            bench.reply(name, .temporaryFailure)
            equal(bench.due(.retry), .seconds([10, 30, 60][min(failures, 2)]))
            retry(&bench)
        }
        for name in rude { bench.bid(name, .high) }
        #expect(bench.state == .evaluating)
        bench.bid("H4", .low)
        #expect(bench.chosen == "H4")
    }

    @Test("D24 When all helpers come last the tries end") func d24Ends() {
        var bench = Bench(.default, "H1")
        bench.join()
        for _ in 1...3 {
            bench.bid("H1", .high)
            bench.reply("H1", .temporaryFailure)
            retry(&bench)
        }
        bench.bid("H1", .high)
        bench.reply("H1", .temporaryFailure)
        #expect(bench.state == .failure && bench.due(.retry) == nil)
    }

    @Test("D24 A helper that could not be started has not failed") func d24NotStarted() {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        for delay in [10, 30] {
            bench.bid("H1", .high)
            bench.send(.answered(bench.open("H1")!.id, .notStarted(reason: "full")))
            bench.wait(.seconds(delay))
            if bench.state == .failure { bench.probe(.captive) }
        }
        bench.bid("H1", .high)
        #expect(bench.chosen == "H1")
    }

    @Test("D12 uiRequired in maintain: as authenticationRequired; strict: a new race") func d12() {
        for rules in Policy.Rules.allCases {
            var bench = authenticated(rules)
            bench.wait(.seconds(300))
            bench.reply("H1", .uiRequired, prompt: Prompt(title: "Again"))
            #expect(bench.state == (rules == .strict ? .evaluating : .authenticating))
        }
    }

    @Test("D13 After logoff held, until Login, enable or 12 hours") func d13() {
        for release in [Event.loginRequested(helper: nil), .restEnded, nil] {
            var bench = authenticated()
            bench.send(.logoffRequested(by: .user))
            bench.reply("H1", .success)
            bench.probe(.captive)
            bench.wait(.seconds(12 * 3600) - .milliseconds(1))
            #expect(bench.state == .inactive && bench.holds == [.loggedOff] && bench.problemCodes.contains("held"))
            if let release { bench.send(release) } else { bench.wait(.milliseconds(1)) }
            #expect(bench.state == .evaluating && bench.log.contains(.releaseHold))
        }
        var strict = authenticated(.strict)
        strict.send(.logoffRequested(by: .user))
        strict.reply("H1", .success)
        #expect(strict.disassociations == 1 && strict.holds == [.loggedOff])
        strict.send(.disassociationRefused)
        #expect(strict.state == .inactive && strict.due(.hold) == .seconds(12 * 3600), "a link that cannot end is held")
    }

    @Test("D14 After failure held, also at the next join, until enable or Login") func d14() {
        var bench = joined()
        bench.bid("H1", .high)
        bench.reply("H1", .failure)
        #expect(bench.log.contains { if case .hold(.autoJoinOff, for: nil, _) = $0 { true } else { false } })
        bench.send(.addressLost)
        bench.join(hold: Hold(.autoJoinOff))
        #expect(bench.state == .inactive && bench.isIdle && bench.problemCodes == ["held"])
        bench.wait(.seconds(48 * 3600))
        #expect(bench.state == .inactive)
        bench.send(.restEnded)
        #expect(bench.state == .evaluating && bench.machine.state.joined?.arrival.autoJoined == true)
    }

    @Test("D15 A roam inside one network is no transition") func d15() {
        let bssid = HardwareAddress("02:00:00:00:00:07")!
        for var bench in ConformanceLink.benches() {
            let before = bench.machine.state
            bench.send(.roamed(bssid))
            #expect(bench.last.isEmpty)
            #expect(bench.machine.state.joined?.arrival.bssid == bssid && bench.machine.state.name == before.name)
        }
    }

    @Test("D16 Two hours asleep: one maintain, and a deadline that passed meanwhile is missed once") func d16() {
        var bench = authenticated()
        bench.wait(.seconds(10))
        bench.sleep(.seconds(7200))
        #expect(bench.count(of: .maintain) == 1 && bench.state == .maintaining)
        bench.probe(.online)
        bench.reply("H1", .success)
        #expect(bench.due(.maintain) == .seconds(300))
        bench.wait(.seconds(300))
        bench.sleep(.seconds(7200))
        #expect(bench.state == .evaluating && bench.count(of: .evaluate, to: "H1") == 2)
    }

    @Test("D17 The user and the chosen helper may log off; in a timer's maintain it waits for the answer") func d17() {
        var bench = authenticated()
        bench.wait(.seconds(300))
        #expect(!bench.machine.acceptsLogoff(by: .helper("H2")) && bench.machine.acceptsLogoff(by: .user))
        bench.send(.logoffRequested(by: .helper("H1")))
        #expect(bench.state == .maintaining && bench.commands.map(\.command) == [.maintain])
        bench.probe(.online)
        var gone = bench
        bench.reply("H1", .success)
        #expect(bench.state == .loggingOff && bench.commands.map(\.command) == [.logoff])
        gone.reply("H1", .authenticationRequired)
        #expect(gone.state == .inactive && gone.holds == [.loggedOff] && gone.count(of: .logoff) == 0)
        var join = Bench(.default, "H1")
        join.join(remembered: "H1")
        #expect(!join.machine.acceptsLogoff(by: .user))
    }

    @Test("D18 Only the first answer to a live command counts") func d18() {
        var bench = joined()
        let id = bench.open("H1")!.id
        bench.bid("H1", .none)
        bench.ignores(.answered(id, .evaluated(.high)))
        bench.ignores(.answered(id, .crashed))
        bench.bid("H2", .none)
        bench.probe(.online)
        #expect(bench.state == .authenticated && bench.chosen == nil)
    }

    @Test("D19 Rest in failure, and the ways out of it") func d19() {
        var bench = joined()
        for delay in [10, 30, 60] {
            bench.bid("H1", .high)
            bench.reply("H1", .temporaryFailure)
            #expect(bench.state == .failure && !bench.gate && bench.commands.isEmpty && bench.due(.retry) == .seconds(delay))
            bench.wait(.seconds(delay))
            if bench.state == .failure { bench.probe(.captive) }
            #expect(bench.state == .evaluating)
            bench.bid("H2", .none)
        }
        bench.bid("H1", .high)
        bench.reply("H1", .temporaryFailure)
        #expect(bench.due(.retry) == nil)
        var login = bench
        login.send(.loginRequested(helper: nil))
        #expect(login.state == .evaluating)
        var online = bench
        online.wait(.seconds(10))
        online.probe(.online)
        #expect(online.state == .authenticated && online.chosen == nil && online.problems.isEmpty)
        bench.send(.addressLost)
        #expect(bench.state == .inactive)
        var refused = joined(.strict)
        refused.bid("H1", .high)
        refused.reply("H1", .temporaryFailure)
        refused.send(.disassociationRefused)
        #expect(refused.state == .failure && refused.due(.retry) == .seconds(10))
    }

    @Test("D20 With no winner the verdict decides", arguments: Policy.Rules.allCases) func d20(rules: Policy.Rules) {
        let expected: [(Verdict?, StateName, AttemptOutcome, [String])] = [
            (.online, .authenticated, .open, []), (.partial, .authenticated, .open, ["httpsBlocked"]),
            (.captive, .failure, .unclaimedCaptive, ["unclaimedCaptive"]),
            (.limited, .authenticated, .unknown, ["internetLimited"]), (nil, .authenticated, .unknown, ["proberMissing"]),
        ]
        for (verdict, state, outcome, problems) in expected {
            for isFirst in [true, false] {
                var bench = joined(rules)
                if isFirst { bench.probe(verdict) }
                bench.bid("H1", .none)
                bench.bid("H2", .none)
                if !isFirst { bench.probe(verdict) }
                #expect(bench.state == state && bench.outcomes == [outcome] && bench.problemCodes == problems)
                #expect(bench.remembered == nil && bench.disassociations == 0)
            }
        }
        var hung = joined(rules)
        hung.bid("H1", .none)
        hung.bid("H2", .none)
        hung.wait(.seconds(45))
        #expect(hung.state == .authenticated && hung.outcomes == [.unknown])
    }

    /// A login whose helper says success, without a prompt or after one.
    func succeeded(afterPrompt: Bool, after delay: Duration = .zero, seconds: Int? = nil) -> Bench {
        var bench = joined()
        if afterPrompt {
            bench.ask("H1")
            bench.send(.promptAnswered(bench.prompt!.id))
        } else {
            bench.bid("H1", .high)
        }
        bench.wait(delay)
        bench.reply("H1", .success, seconds: seconds)
        return bench
    }

    /// A login that the prober disproves until the end.
    func refuted(afterPrompt: Bool = false, after delay: Duration = .zero, seconds: Int? = nil) -> Bench {
        var bench = succeeded(afterPrompt: afterPrompt, after: delay, seconds: seconds)
        while bench.state != .failure {
            bench.probe(.captive)
            if let due = bench.due(.proof) { bench.wait(due) }
        }
        return bench
    }

    @Test(
        "D25 The proof: asked at growing pauses until the command's 45 s; still captive is temporary",
        arguments: [false, true], [0, 30, 44])
    func d25Proof(afterPrompt: Bool, delay: Int) {
        var bench = succeeded(afterPrompt: afterPrompt, after: .seconds(delay))
        let began = bench.now
        var asked: [Int] = []
        while !bench.probes.isEmpty {
            asked.append((bench.now - began).milliseconds)
            bench.probe(.captive)
            if let due = bench.due(.proof) { bench.wait(due) }
        }
        let all = [0, 300, 700, 1500, 3000, 5000, 8000, 12000, 17000, 23000, 30000, 37000]
        #expect(asked == all.filter { $0 < (45 - delay) * 1000 })
        #expect(bench.state == .failure && bench.outcomes == [.temporaryFailure] && bench.problemCodes == ["stillCaptive"])
        #expect(bench.remembered == nil)
    }

    @Test("D25 A portal that opens within the proof is the helper's success; a check counts too", arguments: [false, true])
    func d25Within(checked: Bool) {
        var bench = succeeded(afterPrompt: true)
        for _ in 0..<7 {
            bench.probe(.captive)
            bench.wait(bench.due(.proof)!)
        }
        if checked { bench.send(.verdictSeen(.online)) } else { bench.probe(.online) }
        #expect(bench.state == .authenticated && bench.chosen == "H1" && bench.remembered == "H1" && bench.outcomes == [.online])
    }

    @Test("D25 A network that opens within 2 minutes is the success of the login before, in whatever state") func d25Late() {
        let roads: [(StateName, (inout Bench) -> Void)] = [
            (.failure, { $0.send(.verdictSeen(.online)) }),
            (
                .evaluating,
                {
                    $0.wait($0.due(.retry)!)
                    $0.probe(.online)
                }
            ),
            (
                .evaluating,
                {
                    $0.send(.loginRequested(helper: nil))
                    $0.probe(.online)
                }
            ),
            (
                .authenticating,
                {
                    $0.send(.loginRequested(helper: nil))
                    $0.bid("H2", .high)
                    $0.send(.verdictSeen(.online))
                }
            ),
            (
                .presentingUI,
                {
                    $0.send(.loginRequested(helper: nil))
                    $0.ask("H1")
                    $0.wait(.seconds(10))
                    $0.probe(.online)
                }
            ),
            (
                .inactive,
                {
                    $0.send(.loginRequested(helper: nil))
                    $0.ask("H1")
                    $0.send(.promptDismissed($0.prompt!.id))
                    $0.send(.verdictSeen(.online))
                }
            ),
            (
                .failure,
                {
                    $0.send(.loginRequested(helper: nil))
                    $0.bid("H1", .high)
                    $0.reply("H1", .failure)
                    $0.send(.verdictSeen(.online))
                }
            ),
            (
                .authenticated,
                {
                    $0.send(.loginRequested(helper: nil))
                    $0.bid("H1", .none)
                    $0.bid("H2", .none)
                    $0.probe(.limited)
                    $0.send(.verdictSeen(.online))
                }
            ),
        ]
        for afterPrompt in [false, true] {
            for (index, (place, road)) in roads.enumerated() {
                var bench = refuted(afterPrompt: afterPrompt, seconds: 600)
                #expect(bench.kept == "H1")
                // A user who has answered is not asked again until the time for a late opening is over.
                #expect((bench.due(.retry)! < bench.due(.late)!) != afterPrompt)
                if afterPrompt, index == 1 { continue }
                road(&bench)
                let (from, cause) = bench.lastTransition!
                #expect(from == place && cause.hasPrefix("the network opened late"), "\(place): \(from), \(cause)")
                #expect(
                    bench.state == .authenticated && bench.chosen == "H1" && bench.remembered == "H1" && bench.problems.isEmpty)
                #expect(bench.outcomes.last == .online && bench.kept == nil && bench.due(.late) == nil)
                #expect(bench.last.contains(.releaseHold) && bench.last.contains { $0.restores("H1") })
                #expect(bench.machine.acceptsLogoff(by: .user) && bench.due(.maintain) != nil)
            }
        }
    }

    @Test("D25 The remaining time counts from the helper's success") func d25Deadline() {
        var bench = refuted(seconds: 100)
        let passed = Duration.seconds(37)
        bench.send(.verdictSeen(.online))
        #expect(bench.due(.maintain) == .seconds(90) - passed)
    }

    @Test("D25 Not after 2 minutes, in another association, by a helper that is off, or on a link that ends") func d25Over() {
        var late = refuted(afterPrompt: true)
        late.send(.loginRequested(helper: nil))
        late.ask("H1")
        var probes = 0
        while late.due(.late) != nil {
            late.wait(late.nextAlarm!.at - late.now)
            if !late.probes.isEmpty {
                late.probe(.captive)
                probes += 1
            }
        }
        #expect(late.kept == nil && probes == 8, "every 10 s from 37 s to 120 s")
        late.send(.verdictSeen(.online))
        #expect(late.state == .authenticated && late.chosen == nil && late.outcomes.last == .opened)

        var other = refuted()
        other.send(.addressLost)
        other.join()
        other.bid("H1", .none)
        other.bid("H2", .none)
        other.probe(.online)
        #expect(other.chosen == nil && other.due(.late) == nil)

        var off = refuted()
        off.send(.helpersChanged([Candidate("H2")]))
        off.send(.verdictSeen(.online))
        #expect(off.state == .authenticated && off.chosen == nil && off.kept == nil)

        var strict = joined(.strict)
        strict.bid("H1", .high)
        strict.reply("H1", .success)
        while strict.state == .authenticating {
            strict.probe(.captive)
            if let due = strict.due(.proof) { strict.wait(due) }
        }
        strict.send(.verdictSeen(.online))
        #expect(strict.state == .inactive && strict.disassociations == 1)
    }

    @Test(
        "D26 A login on an open network asks the chosen helper to maintain; a new login only if that says so",
        arguments: [false, true])
    func d26(whileMaintaining: Bool) {
        var bench = authenticated()
        if whileMaintaining {
            bench.wait(.seconds(300))
            bench.send(.logoffRequested(by: .user))
        }
        bench.send(.loginRequested(helper: nil))
        #expect(bench.state == .maintaining && bench.gate && bench.commands.map(\.command) == [.maintain])
        #expect(bench.commands.first?.justJoined == false)
        #expect(bench.machine.state.joined?.arrival.autoJoined == false)
        var over = bench
        bench.probe(.online)
        bench.reply("H1", .success)
        #expect(bench.state == .authenticated && bench.chosen == "H1" && bench.count(of: .authenticate) == 1)
        over.reply("H1", .authenticationRequired)
        #expect(over.state == .authenticating && over.commands.map(\.command) == [.authenticate])
        bench.send(.loginRequested(helper: "H2"))
        #expect(bench.state == .evaluating && bench.commands.map(\.helper) == ["H2"], "another helper starts over")
        bench.probe(.captive)
        bench.bid("H2", .none)
        #expect(
            bench.problems.map(\.message) == ["The portal asks for a login, but H2 cannot log in."], "the others were not asked")
    }

    @Test(
        "D26 A login joins one that is under way; fresh, or by another helper, it starts over",
        arguments: [
            { _ in }, { $0.bid("H1", .high) },
            {
                $0.bid("H1", .high)
                $0.reply("H1", .success)
            },
            { $0.ask("H1") },
            {
                $0.ask("H1")
                $0.send(.promptAnswered($0.prompt!.id))
            },
            {
                $0.ask("H1")
                $0.send(.promptAnswered($0.prompt!.id))
                $0.reply("H1", .success)
                $0.probe(.captive)
            },
        ] as [@Sendable (inout Bench) -> Void])
    func d26Joins(road: @Sendable (inout Bench) -> Void) {
        var bench = joined()
        road(&bench)
        let before = bench
        #expect(bench.machine.joinsLogin(by: nil, fresh: false))
        bench.send(.loginRequested(helper: nil))
        #expect(bench.state == before.state && bench.commands == before.commands && bench.prompt?.id == before.prompt?.id)
        #expect(bench.openAttempt == before.openAttempt && bench.machine.state.joined?.arrival.autoJoined == false)
        #expect(bench.machine.joinsLogin(by: "H1", fresh: false) == (bench.state != .evaluating))
        for (helper, fresh) in [(nil, true), ("H2", false)] as [(String?, Bool)] {
            var over = before
            #expect(!over.machine.joinsLogin(by: helper, fresh: fresh))
            over.send(.loginRequested(helper: helper, fresh: fresh))
            #expect(over.state == .evaluating && over.openAttempt != before.openAttempt && over.prompt == nil)
        }
    }

    @Test("D26 During a proof that finds the portal again and again a login starts over")
    func d26Doubtful() {
        var bench = succeeded(afterPrompt: true)
        for _ in 0..<3 {
            #expect(bench.machine.joinsLogin(by: nil, fresh: false))
            bench.probe(.captive)
            bench.wait(bench.due(.proof)!)
        }
        #expect(!bench.machine.joinsLogin(by: nil, fresh: false))
        bench.send(.loginRequested(helper: nil))
        #expect(bench.state == .evaluating && bench.due(.late) != nil)
        bench.send(.verdictSeen(.online))
        #expect(bench.state == .authenticated && bench.chosen == "H1")
    }

    // MARK: D32

    @Test(
        "D32 A portal behind the one that was answered has its race within 2 s, without a pause, and the login before still counts",
        arguments: [false, true], ["http://other/form", "http://portal/step2", "here"])
    func d32(afterPrompt: Bool, place: String) {
        var bench = joined()
        bench.probe(.captive, at: "http://portal/terms")
        if afterPrompt {
            bench.ask("H1")
            bench.send(.promptAnswered(bench.prompt!.id))
        } else {
            bench.bid("H1", .high)
        }
        bench.reply("H1", .success)
        let began = bench.now
        bench.probe(.captive, at: "http://portal/terms")
        while bench.state != .evaluating, let due = bench.due(.proof) {
            bench.wait(due)
            bench.probe(.captive, at: place)
        }
        #expect(bench.state == .evaluating && bench.now - began < .seconds(2) && bench.due(.late) != nil)
        bench.bid("H1", .high)
        #expect(bench.state == .authenticating && bench.due(.pause) == nil)
        bench.send(.verdictSeen(.online))
        #expect(bench.state == .authenticated && bench.chosen == "H1" && bench.outcomes.last == .online)
    }

    @Test("D32 A question is withdrawn where the network leads to another portal now") func d32Question() {
        var bench = joined()
        bench.probe(.captive, at: "http://portal/")
        bench.ask("H1")
        for _ in 0..<2 { bench.send(.verdictSeen(.captive, place: "http://other/")) }
        #expect(bench.state == .evaluating && bench.prompt == nil)
    }

    @Test(
        "D32 The same portal, places that are made up for each request, and no place at all leave the proof alone",
        arguments: [["http://portal/"], ["http://a/", "http://b/", "http://c/", "http://d/"], [nil]] as [[String?]])
    func d32Stays(places: [String?]) {
        var bench = joined()
        bench.probe(.captive, at: "http://portal/")
        bench.bid("H1", .high)
        bench.reply("H1", .success)
        for index in 0..<8 {
            bench.probe(.captive, at: places[index % places.count])
            bench.wait(bench.due(.proof)!)
        }
        #expect(bench.state == .authenticating)
    }

    @Test("D26 A fresh login drops nothing until it is proven", arguments: [HelperResult.success, .failure, .unsupportedNetwork])
    func d26Fresh(result: HelperResult) {
        var bench = authenticated()
        bench.send(.loginRequested(helper: nil, fresh: true))
        #expect(bench.state == .evaluating && bench.kept == "H1")
        bench.bid("H1", .high)
        bench.reply("H1", result)
        switch result {
        case .success:
            bench.probe(.online)
            #expect(bench.kept == nil && !bench.last.contains { $0.restores("H1") })
        case .unsupportedNetwork:
            bench.bid("H2", .none)
            bench.probe(.online)
        default:
            #expect(bench.state == .failure)
            bench.wait(.seconds(10))
            bench.probe(.online)
        }
        #expect(bench.state == .authenticated && bench.chosen == "H1" && bench.outcomes.last == .online)
        #expect(!bench.log.contains(.forgetChoice(of: "H1")))
    }

    @Test("D26 A fresh login that no helper needs leaves the session as it was") func d26Needless() {
        var bench = joined()
        bench.login("H1", seconds: 1000)
        bench.send(.loginRequested(helper: nil, fresh: true))
        bench.probe(.online)
        bench.bid("H1", .none)
        bench.bid("H2", .none)
        #expect(bench.state == .authenticated && bench.chosen == "H1" && bench.due(.maintain) == .seconds(300))
        #expect(bench.last.contains { $0.restores("H1") } && bench.machine.state.sessionEnd == bench.now + .seconds(1000))
    }

    @Test("A daemon that is restarted in the same association goes on: maintain, not just joined, gate open") func resumed() {
        var bench = Bench(.default, "H1", "H2")
        var schedule = MaintainSchedule()
        schedule.update(secondsRemaining: 120, at: bench.now)
        bench.send(.addressAcquired(Arrival(network: Bench.network, remembered: "H1", resumed: schedule)))
        #expect(bench.state == .maintaining && bench.gate && bench.commands.map(\.justJoined) == [false])
        bench.probe(.online)
        bench.reply("H1", .success)
        #expect(bench.state == .authenticated && bench.due(.maintain) == .seconds(108))
        #expect(bench.count(of: .authenticate) == 0 && bench.prompt == nil)
        // A switched-off helper is not asked. It keeps its login, which continues once the helper is switched on again.
        var off = Bench(.default, "H2")
        off.send(.addressAcquired(Arrival(network: Bench.network, remembered: "H1", resumed: schedule)))
        #expect(off.state == .evaluating && !off.gate && off.machine.keepsLogin)
        off.bid("H2", .none)
        off.probe(.online)
        #expect(off.state == .authenticated && off.machine.switchedOffOwner == "H1" && off.outcomes.last == .online)
        off.send(.helpersChanged([Candidate("H1"), Candidate("H2")]))
        #expect(off.state == .maintaining && off.commands.map(\.helper) == ["H1"] && off.commands.map(\.justJoined) == [false])
    }

    @Test(
        "D20 A success in maintain with a captive verdict is probed once more: then a new login", arguments: [true, false])
    func d20Maintain(join: Bool) {
        var bench = authenticated()
        if join {
            bench.send(.addressLost)
            bench.join(remembered: "H1")
        } else {
            bench.wait(.seconds(300))
        }
        bench.reply("H1", .success)
        #expect(bench.state == .maintaining)
        bench.probe(.captive)
        // The probe began before the answer: a helper that logged in meanwhile need not log in again.
        var loggedIn = bench
        #expect(
            bench.state == .maintaining
                && bench.last.contains { if case .startProbe(_, fresh: true) = $0 { true } else { false } })
        bench.probe(.captive)
        #expect(bench.state == .authenticating && bench.chosen == "H1")
        loggedIn.probe(.online)
        #expect(loggedIn.state == .authenticated && loggedIn.chosen == "H1" && loggedIn.gate)
        #expect(loggedIn.count(of: .authenticate) == 1)
    }

    @Test("D20 The verdict that came before the success is too old as well") func d20Old() {
        var bench = authenticated()
        bench.wait(.seconds(300))
        bench.probe(.captive)
        bench.reply("H1", .success)
        #expect(bench.state == .maintaining && bench.probes.count == 1)
        bench.probe(.online)
        #expect(bench.state == .authenticated)
    }

    @Test("D20 A missing prober is no reason to believe that a captive network is open") func d20Silent() {
        var maintained = authenticated()
        maintained.wait(.seconds(300))
        maintained.probe(.captive)
        maintained.reply("H1", .success)
        maintained.probe(nil)
        #expect(maintained.state == .authenticating && maintained.log.contains(.report(.proberSilent)))

        var proven = succeeded(afterPrompt: false)
        proven.probe(.captive)
        while proven.state == .authenticating {
            proven.wait(proven.due(.proof)!)
            proven.probe(nil)
        }
        #expect(proven.state == .failure && proven.now - Instant(nanoseconds: 1_000_000_000_000) == .seconds(37))

        var unclaimed = joined()
        unclaimed.bid("H1", .none)
        unclaimed.bid("H2", .none)
        unclaimed.probe(.captive)
        unclaimed.send(.restEnded)
        unclaimed.bid("H1", .none)
        unclaimed.bid("H2", .none)
        unclaimed.probe(nil)
        #expect(unclaimed.state == .failure && unclaimed.problemCodes.contains("proberMissing"))

        // A helper logged in on an earlier visit, but no helper can log in now.
        var known = joined()
        known.send(.addressLost)
        known.join(remembered: "H3")
        known.bid("H1", .none)
        known.bid("H2", .none)
        known.probe(nil)
        #expect(known.state == .failure && known.outcomes.last == .unknown && known.problemCodes == ["proberMissing"])
        known.wait(.seconds(10))
        known.probe(.online)
        #expect(known.state == .authenticated && known.problems.isEmpty)
    }

    @Test("D20 Without a prober the helper's word counts, and a problem says so") func d20Missing() {
        var bench = joined()
        bench.bid("H1", .high)
        bench.reply("H1", .success)
        bench.probe(nil)
        #expect(bench.state == .authenticated && bench.problemCodes == ["proberMissing"] && bench.remembered == "H1")
    }

    @Test("D21 The command has 45 s and three tries; dismissing holds; an open network withdraws the prompt") func d21() {
        var bench = joined()
        bench.ask("H1")
        for attempt in 1...3 {
            let id = bench.prompt!.id
            bench.send(.promptAnswered(id))
            #expect(bench.prompt == nil)
            if attempt == 1 { bench.answer("H1", .crashed) } else { bench.wait(.seconds(45)) }
            bench.ignores(.promptAnswered(id))
            if attempt < 3 { #expect(bench.prompt?.prompt.title == "Room" && !bench.problems.isEmpty) }
        }
        #expect(bench.state == .failure && bench.outcomes == [.temporaryFailure])

        var dismissed = joined(.strict)
        dismissed.ask("H1")
        dismissed.send(.promptDismissed(dismissed.prompt!.id))
        #expect(dismissed.state == .inactive && dismissed.holds == [.dismissed] && dismissed.disassociations == 0)

        var watched = joined()
        watched.ask("H1")
        var waits: [Int] = []
        for _ in 0..<5 {
            let due = watched.due(.watch)!
            waits.append(due.milliseconds / 1000)
            watched.wait(due)
            watched.probe(.captive)
        }
        #expect(waits == [10, 20, 40, 60, 60])
        watched.wait(.seconds(60))
        watched.probe(.online)
        #expect(
            watched.state == .authenticated && watched.chosen == nil && watched.prompt == nil && watched.outcomes == [.opened])
    }

    @Test("D22 Joined by the system, unless the user asked") func d22() {
        var bench = joined()
        #expect(bench.machine.state.joined?.arrival.autoJoined == true)
        bench.send(.loginRequested(helper: "H2"))
        #expect(bench.machine.state.joined?.arrival.autoJoined == false)
        #expect(bench.commands.map(\.helper) == ["H2"])
    }
}

/// C16 and C17: helpers that come and go.
@Suite struct HelpersChangedTests {
    @Test("C16 A helper that comes while evaluating waits for the next race") func comes() {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.send(.helpersChanged([Candidate("H1"), Candidate("H2")]))
        #expect(bench.open("H2") == nil)
        bench.bid("H1", .high)
        bench.reply("H1", .unsupportedNetwork)
        #expect(bench.open("H2") != nil)
    }

    @Test("T16 A helper that goes while evaluating counts as none, also with a low in hand") func goes() {
        var bench = Bench(.default, "H1", "H2", "H3")
        bench.join()
        bench.probe(.online)
        bench.bid("H1", .low)
        bench.send(.helpersChanged([Candidate("H2"), Candidate("H3")]))
        #expect(bench.due(.lowGrace) == nil)
        bench.bid("H2", .none)
        #expect(bench.state == .evaluating)
        bench.send(.helpersChanged([]))
        #expect(bench.state == .authenticated && bench.chosen == nil)
    }

    @Test("C17 A chosen helper that goes finishes its command, and is asked no more", arguments: HelperResult.allCases)
    func finishes(result: HelperResult) {
        let roads: [@Sendable (inout Bench) -> Void] = [
            { $0.bid("H1", .high) },
            {
                $0.ask("H1")
                $0.send(.promptAnswered($0.prompt!.id))
            },
            {
                $0.login("H1")
                $0.wait(.seconds(300))
            },
        ]
        for road in roads {
            var bench = Bench(.default, "H1", "H2")
            bench.join()
            road(&bench)
            let command = bench.open("H1")
            bench.send(.helpersChanged([Candidate("H2")]))
            #expect(bench.open("H1") == command)
            bench.reply("H1", result)
            #expect(bench.state == .evaluating && bench.commands.map(\.helper) == ["H2"] && bench.holds.isEmpty)
        }
    }

    @Test("C17 Where no command runs, it is done at once") func atOnce() {
        let roads: [@Sendable (inout Bench) -> Void] = [
            { $0.ask("H1") }, { $0.login("H1") },
            {
                $0.bid("H1", .high)
                $0.reply("H1", .success)
            },
            {
                $0.login("H1")
                $0.wait(.seconds(300))
                $0.reply("H1", .success)
            },
        ]
        for road in roads {
            var bench = Bench(.default, "H1", "H2")
            bench.join()
            road(&bench)
            bench.send(.helpersChanged([Candidate("H2")]))
            #expect(
                bench.state == .evaluating && bench.commands.map(\.helper) == ["H2"]
                    && bench.last.contains { $0.keeps("H1") } == (bench.remembered != nil)
                    && !bench.log.contains(.forgetChoice(of: "H1")))
        }
    }

    @Test func aQueuedLogoffIsNotSentToAHelperThatIsGone() {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.login("H1")
        bench.wait(.seconds(300))
        bench.probe(.online)
        bench.send(.logoffRequested(by: .user))
        bench.send(.helpersChanged([]))
        bench.reply("H1", .success)
        #expect(bench.state == .inactive && bench.holds == [.loggedOff] && bench.count(of: .logoff) == 0)
    }
}
