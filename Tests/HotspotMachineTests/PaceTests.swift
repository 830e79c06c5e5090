import HotspotCore
import Testing

@testable import HotspotMachine

/// D23: logins are paced if neither the user nor a link change caused them. Other logins, and sessions that last, are not delayed.
@Suite struct PaceTests {
    // MARK: Storms

    /// Helpers and a portal that soon answer at random for a time. The user asks for nothing, and the link stays as it is.
    struct Storm {
        var bench: Bench
        var random: Walker.Random
        /// The longest session that helpers announce, in seconds.
        var stay = 0
        var isFlaky = false
        static let names = ["H1", "H2", "H3"]

        init(_ rules: Policy.Rules, seed: UInt64) {
            random = Walker.Random(seed: seed)
            bench = Bench(Policy(rules: rules), helpers: Self.names.map { Candidate($0) })
            bench.join()
        }

        mutating func run(_ duration: Duration) {
            // Results that end in a rest or in a question end the storm, and come in some storms only.
            var maintains: [HelperResult] = [.authenticationRequired, .success]
            var logins: [HelperResult] = [.success]
            if chance(3) { maintains += [.failure, .uiRequired] }
            if chance(3) { logins += [.success, .success, .success, .temporaryFailure] }
            if chance(3) { logins += [.success, .success, .unsupportedNetwork] }
            if chance(4) { logins += [.uiRequired] }
            isFlaky = chance(2)
            // Some storms end each session as soon as its end no longer causes a pause.
            stay = chance(2) ? 3 : 70
            let end = bench.now + duration
            while bench.now < end {
                // Answers take a moment, and so does a check.
                bench.wait(.milliseconds(Int.random(in: 1...400, using: &random)))
                if let open = bench.commands.randomElement(using: &random) {
                    answer(open, open.command == .maintain ? maintains : logins)
                } else if !bench.probes.isEmpty {
                    bench.probe(verdict(), seconds: chance(2) ? Int.random(in: 0...3, using: &random) : nil)
                } else if chance(20) {
                    bench.send(.verdictSeen(verdict()))
                }
            }
        }

        private mutating func answer(_ open: Bench.Open, _ results: [HelperResult]) {
            if isFlaky, chance(30) { return bench.answer(open.helper, .crashed) }
            if open.command == .evaluate { return bench.bid(open.helper, chance(4) ? .low : .high) }
            bench.reply(
                open.helper, results.randomElement(using: &random)!,
                seconds: stay > 3 ? stay : Int.random(in: 0...stay, using: &random))
        }

        private mutating func verdict() -> Verdict {
            isFlaky && chance(4) || machineWaits ? .captive : .online
        }

        /// While a login is paused, the verdict stays captive: if the network opened by itself, the login would not be needed.
        private var machineWaits: Bool { bench.state == .authenticating && bench.due(.pause) != nil }

        private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
    }

    /// In a time T there are at most `1 + 2 + T / 60 s + helpers` logins: the first one; two with pauses of 10 and 30 s, shorter than a
    /// minute (they come again only after a session of 300 s, in which there is time for five); one each minute; and one for each helper
    /// that declines, after which it is excluded.
    @Test("No helpers and no portal cause more than one login in a minute", arguments: Policy.Rules.allCases)
    func storms(rules: Policy.Rules) {
        let time = 10_000
        let limit = 1 + 2 + (time + 59) / 60 + Storm.names.count
        var most = 0
        for seed in 1...12 as ClosedRange<UInt64> {
            var storm = Storm(rules, seed: seed)
            storm.run(.seconds(time))
            let logins = storm.bench.count(of: .authenticate)
            #expect(logins <= limit, "seed \(seed): \(logins) logins")
            most = max(most, logins)
        }
        #expect(most > 20, "storms that never log in prove nothing: \(most)")
    }

    @Test("Checks of a free network are paced too, whatever end of the session is announced") func checks() {
        for claimed in [true, false] {
            var bench = Bench(.default, "H1")
            bench.join()
            bench.bid("H1", claimed ? .high : .none)
            if claimed { bench.reply("H1", .success, seconds: 1) }
            bench.probe(.online, seconds: 0)
            let end = bench.now + .seconds(1000)
            while bench.now < end {
                if bench.probes.isEmpty, bench.commands.isEmpty { bench.wait(.milliseconds(100)) }
                if !bench.probes.isEmpty { bench.probe(claimed ? .online : .captive, seconds: 0) }
                if bench.state == .evaluating { bench.bid("H1", .none) }
                if let open = bench.open("H1"), open.command == .maintain { bench.reply("H1", .success, seconds: 1) }
                // The portal comes and goes.
                if bench.state == .failure { bench.send(.verdictSeen(.online)) }
            }
            #expect(bench.count(of: .maintain) + bench.count(of: .evaluate) < 25)
        }
    }

    // MARK: Pauses

    /// Returns how long each login of H1 waits if each session ends as soon as it has begun.
    func waits(_ count: Int) -> [Duration] {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        bench.login("H1")
        var waits: [Duration] = []
        for number in 0..<count {
            let ended = bench.now
            bench.send(.verdictSeen(.captive))
            bench.reply("H1", .authenticationRequired)
            #expect(bench.state == .authenticating && !bench.gate && bench.problemCodes == ["loginPaused"])
            if number == 0 { #expect(bench.commands.isEmpty && bench.due(.pause) == .seconds(10)) }
            let seconds = bench.due(.pause)?.components.seconds ?? 0
            #expect(bench.problems.first?.message.contains("waits \(seconds) s.") == true)
            while bench.commands.isEmpty {
                bench.wait(.seconds(1))
                if !bench.probes.isEmpty { bench.probe(.captive) }
            }
            #expect(bench.open("H1")?.command == .authenticate && bench.problems.isEmpty)
            #expect(bench.machine.state.awaited?.isProof == false)
            waits.append(bench.now - ended)
            bench.reply("H1", .success)
            bench.probe(.online)
            #expect(bench.state == .authenticated && bench.gate)
        }
        return waits
    }

    @Test("A helper that is switched on while another one waits makes it a race again, which keeps the pause") func switchedOn() {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.login("H1")
        bench.send(.verdictSeen(.captive))
        bench.reply("H1", .authenticationRequired)
        bench.send(.helpersChanged([Candidate("H1"), Candidate("H2")]))
        #expect(bench.state == .authenticating)
        bench.send(.restEnded)
        #expect(bench.state == .evaluating && bench.problems.isEmpty && bench.commands.map(\.helper) == ["H1", "H2"])
        bench.probe(.captive)
        bench.bid("H1", .low)
        bench.bid("H2", .high)
        #expect(bench.state == .authenticating && bench.commands.isEmpty && bench.due(.pause) == .seconds(10))
    }

    @Test("10, 30 s, 1, 2 and then 5 minutes from one login to the next") func ladder() {
        #expect(waits(7) == [10, 30, 60, 120, 300, 300, 300].map { .seconds($0) })
    }

    @Test("After a session of five minutes the pauses start again; one of a minute is renewed at once") func stays() {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.login("H1")
        func renew(after stay: Int) -> Duration? {
            bench.wait(.seconds(stay))
            bench.send(.verdictSeen(.captive))
            bench.reply("H1", .authenticationRequired)
            let pause = bench.due(.pause)
            bench.wait(pause ?? .zero)
            while !bench.probes.isEmpty, bench.open("H1") == nil { bench.probe(.captive) }
            bench.reply("H1", .success)
            bench.probe(.online)
            return pause
        }
        #expect(renew(after: 4) == .seconds(6))
        #expect(renew(after: 60) == nil)
        #expect(renew(after: 1) == .seconds(29), "a minute is no long session")
        #expect(renew(after: 299) == nil)
        #expect(renew(after: 1) == .seconds(59))
    }

    @Test("While the login waits the network may open by itself") func opens() {
        var bench = paused()
        bench.wait(.seconds(9))
        bench.send(.verdictSeen(.online))
        #expect(bench.state == .authenticated && bench.gate && bench.chosen == nil && bench.outcomes.last == .opened)
        var probed = Bench(.default, "H1")
        probed.join()
        probed.login("H1")
        for pause in [10, 30] {
            probed.send(.verdictSeen(.captive))
            probed.reply("H1", .authenticationRequired)
            #expect(probed.due(.pause) == .seconds(pause))
            probed.wait(.seconds(10))
            if pause == 30 { break }
            probed.reply("H1", .success)
            probed.probe(.online)
        }
        probed.probe(.online)
        #expect(probed.state == .authenticated && probed.chosen == nil, "the prober finds it as well")
    }

    @Test("A helper that is switched off does not wait; its successor waits only for the rest of the pause") func abandoned() {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        bench.login("H1")
        bench.send(.verdictSeen(.captive))
        bench.reply("H1", .authenticationRequired)
        bench.wait(.seconds(3))
        bench.send(.helpersChanged([Candidate("H2")]))
        #expect(bench.state == .evaluating)
        bench.bid("H2", .high)
        #expect(bench.state == .authenticating && bench.chosen == "H2" && bench.due(.pause) == .seconds(7))
        bench.wait(.seconds(7))
        #expect(bench.open("H2")?.command == .authenticate)
    }

    // MARK: Starts without a delay

    func paused() -> Bench {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        bench.login("H1")
        bench.send(.verdictSeen(.captive))
        bench.reply("H1", .authenticationRequired)
        return bench
    }

    @Test("A start by the user is never delayed") func wanted() {
        var bench = paused()
        for _ in 0..<20 {
            bench.send(.loginRequested(helper: nil))
            bench.bid("H1", .high)
            #expect(bench.open("H1")?.command == .authenticate && bench.due(.pause) == nil)
            bench.reply("H1", .success)
            bench.probe(.online)
            bench.send(.verdictSeen(.captive))
            bench.reply("H1", .authenticationRequired)
            #expect(bench.due(.pause) == .seconds(10), "and the pauses start again")
        }
        var answered = Bench(.default, "H1")
        answered.join()
        answered.ask("H1")
        for _ in 0..<5 {
            answered.send(.promptAnswered(answered.prompt!.id))
            #expect(answered.open("H1")?.command == .presentUI)
            answered.reply("H1", .uiRequired, prompt: Prompt(title: "Again"))
        }
    }

    @Test("A join is not delayed, however often the link changes") func joins() {
        var bench = Bench(.default, "H1")
        for _ in 0..<20 {
            bench.join()
            bench.bid("H1", .high)
            #expect(bench.open("H1")?.command == .authenticate)
            bench.reply("H1", .success)
            bench.probe(.online)
            bench.send(.addressLost)
        }
    }

    @Test("A lease that is renewed every five minutes, or runs out at the time it announced, is not delayed") func leases() {
        for seconds in [nil, 240, 300, 3600] as [Int?] {
            var bench = Bench(.default, "H1")
            bench.join()
            bench.login("H1", seconds: seconds)
            for _ in 0..<50 {
                bench.wait(bench.due(.maintain)!)
                bench.probe(.captive)
                bench.reply("H1", .authenticationRequired)
                #expect(bench.open("H1")?.command == .authenticate && bench.due(.pause) == nil)
                bench.reply("H1", .success, seconds: seconds)
                bench.probe(.online)
                #expect(bench.due(.maintain)! >= .seconds(180))
            }
        }
    }

    @Test("A portal that ends each session after an hour is answered at once", arguments: [true, false])
    func kicks(byRace: Bool) {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.login("H1")
        for _ in 0..<24 {
            for _ in 0..<12 {
                bench.wait(.seconds(300))
                bench.probe(.online)
                bench.reply("H1", .success)
            }
            bench.wait(.seconds(1))
            bench.send(.roamed(HardwareAddress("02:00:00:00:00:09")!))
            bench.send(.verdictSeen(.captive))
            bench.reply("H1", byRace ? .failure : .authenticationRequired)
            if byRace { bench.bid("H1", .high) }
            #expect(bench.open("H1")?.command == .authenticate, "neither delayed nor excluded (D11)")
            bench.reply("H1", .success)
            bench.probe(.online)
        }
    }

    @Test("A retry comes when D19 says, and a helper that declines hands over at once") func retries() {
        var bench = Bench(.default, "H1", "H2", "H3")
        bench.join()
        bench.bid("H1", .high)
        for delay in [10, 30, 60] {
            bench.reply("H1", .temporaryFailure)
            bench.wait(.seconds(delay))
            if !bench.probes.isEmpty { bench.probe(.captive) }
            bench.bid("H1", .high)
            // D24: no other helper claims the portal.
            for other in ["H2", "H3"] where bench.state == .evaluating { bench.bid(other, .none) }
            #expect(bench.open("H1")?.command == .authenticate && bench.due(.pause) == nil, "after \(delay) s")
        }
        bench.reply("H1", .unsupportedNetwork)
        bench.bid("H2", .high)
        #expect(bench.open("H2")?.command == .authenticate)
        bench.reply("H2", .unsupportedNetwork)
        bench.bid("H3", .high)
        #expect(bench.open("H3")?.command == .authenticate)
    }

    @Test("The pauses are parts of the maintain interval, and of five minutes if that is longer") func parts() {
        var policy = Policy()
        #expect(policy.loginPauses == [10, 30, 60, 120, 300].map { .seconds($0) } && policy.shortStay == .seconds(60))
        #expect(Array(policy.loginPauses.prefix(3)) == policy.retryDelays)
        policy.maintainInterval = .seconds(86400)
        #expect(policy.loginPauses.last == .seconds(300))
        policy.maintainInterval = .seconds(1)
        #expect(policy.loginPauses.first! < .milliseconds(34) && policy.shortStay == .milliseconds(200))
    }
}
