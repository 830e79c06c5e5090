import HotspotCore
import Testing

@testable import HotspotMachine

/// A session that was good comes back after a switch, an outage, and a login that was not needed.
@Suite struct StandingLoginTests {
    func authenticated(seconds: Int? = nil) -> Bench {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        bench.login("H1", seconds: seconds)
        return bench
    }

    /// The helper reports success, and the portal is there until the end of the proof.
    func refute(_ bench: inout Bench) {
        bench.bid("H1", .high)
        bench.reply("H1", .success, seconds: 600)
        while bench.state == .authenticating {
            bench.probe(.captive)
            if let due = bench.due(.proof) { bench.wait(due) }
        }
    }

    /// The portal asks the same again without an error, and its gateway opens while the question waits.
    @Test("D25 A network that opens while the portal asks again counts as opened by the answers", arguments: [true, false])
    func undecided(isDismissed: Bool) {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.ask("H1")
        #expect(!bench.machine.awaitsLateOpening)
        bench.send(.promptAnswered(bench.prompt!.id))
        var again = Prompt.room
        again.mayOpen = true
        bench.reply("H1", .uiRequired, prompt: again)
        #expect(bench.state == .presentingUI && bench.machine.awaitsLateOpening && bench.kept == "H1")
        if isDismissed {
            bench.send(.promptDismissed(bench.prompt!.id))
            #expect(!bench.machine.awaitsLateOpening && bench.kept == nil)
        } else {
            bench.send(.verdictSeen(.online))
            #expect(bench.state == .authenticated && bench.chosen == "H1" && bench.outcomes.last == .online)
            #expect(bench.last.contains { $0.restores("H1") } && bench.last.contains(.remember(helper: "H1")))
        }
    }

    // MARK: Switches

    @Test("D13 Where a network is switched on again, the remembered helper goes on", arguments: [true, false])
    func networkSwitchedOn(byUser: Bool) {
        var bench = Bench(.default, "H1", "H2")
        let end = byUser ? nil : bench.now + .seconds(60)
        bench.join(remembered: "H1", hold: Hold(byUser ? .disabled : .loggedOff, until: end))
        if byUser { bench.send(.restEnded) } else { bench.wait(.seconds(60)) }
        #expect(bench.state == .maintaining && bench.commands.map(\.justJoined) == [false])
        #expect(!bench.gate, "nothing is known of the network")
        bench.probe(.online)
        bench.reply("H1", .success)
        #expect(bench.chosen == "H1" && bench.machine.acceptsLogoff(by: .user) && bench.due(.maintain) != nil)

        var gone = Bench(.default, "H2")
        gone.join(remembered: "H1", hold: Hold(.disabled))
        gone.send(.restEnded)
        #expect(gone.state == .evaluating)
    }

    @Test("C17 Where a network is switched on again, the login of a helper that is still off is still its login")
    func networkSwitchedOnWithoutTheHelper() {
        for verdict in [Verdict.online, .captive] {
            var bench = Bench(.default, "H2")
            let arrival = Arrival(
                network: Bench.network, remembered: "H1", resumed: MaintainSchedule(), hold: Hold(.disabled))
            bench.send(.addressAcquired(arrival))
            bench.send(.restEnded)
            bench.probe(verdict)
            bench.bid("H2", .none)
            #expect(bench.machine.switchedOffOwner == (verdict == .online ? "H1" : nil))
            #expect(bench.outcomes.last == (verdict == .online ? .online : .unclaimedCaptive))
        }
    }

    @Test("C17 A helper that is switched on again goes on with its session", arguments: [false, true])
    func helperSwitchedOn(whileMaintaining: Bool) {
        var bench = authenticated(seconds: 1000)
        let both = bench.machine.candidates
        if whileMaintaining { bench.wait(.seconds(300)) }
        bench.send(.helpersChanged([Candidate("H2")]))
        if whileMaintaining { bench.reply("H1", .success) }
        bench.bid("H2", .none)
        bench.probe(.online)
        #expect(bench.state == .authenticated && bench.chosen == nil && bench.kept == "H1")
        #expect(!bench.log.contains(.forgetChoice(of: "H1")))
        #expect(bench.outcomes.last == .online && bench.machine.switchedOffOwner == "H1", "it is still its login")
        #expect(!bench.machine.acceptsLogoff(by: .user), "it is asked nothing")
        bench.send(.helpersChanged(both))
        #expect(bench.state == .maintaining && bench.gate && bench.commands.map(\.justJoined) == [false])
        #expect(bench.last.contains { $0.restores("H1") })
        bench.probe(.online)
        bench.reply("H1", .success)
        #expect(bench.chosen == "H1" && bench.machine.state.sessionEnd != nil && bench.kept == nil)
    }

    @Test("C17 Where the portal is back, what opens the network next is not the login of a helper that is switched off")
    func switchedOffAndCaptive() {
        var bench = authenticated()
        bench.send(.helpersChanged([Candidate("H2")]))
        bench.bid("H2", .none)
        bench.probe(.captive)
        #expect(bench.state == .failure && bench.kept == nil)
        bench.send(.verdictSeen(.online))
        #expect(bench.state == .authenticated && bench.outcomes.last == .opened && bench.machine.switchedOffOwner == nil)
    }

    // MARK: Outages

    @Test(
        "T38 An outage while a helper maintains costs no session",
        arguments: [.limited, nil, .partial, .online] as [Verdict?], [false, true])
    func outage(verdict: Verdict?, join: Bool) {
        var bench = authenticated(seconds: 1000)
        if join {
            bench.send(.addressLost)
            bench.join(remembered: "H1")
        } else {
            bench.wait(.seconds(300))
        }
        bench.reply("H1", .temporaryFailure)
        #expect(bench.state == .evaluating && !bench.gate && bench.kept == "H1")
        bench.probe(verdict)
        bench.bid("H1", .none)
        bench.bid("H2", .none)
        #expect(bench.state == .authenticated && bench.chosen == "H1" && bench.gate && bench.kept == nil)
        #expect(bench.last.contains { $0.restores("H1") } && bench.machine.acceptsLogoff(by: .user))
        #expect(bench.problems.isEmpty == (verdict == .online), "it is reported")
        let reports = bench.last.count { if case .report = $0 { true } else { false } }
        #expect(reports == (verdict == .online ? 0 : 1), "once")
        #expect((bench.machine.state.sessionEnd != nil) == !join)
        // An unconfirmed login is not called online, and is probed again soon.
        let isKnown = verdict?.isOpen == true
        #expect(bench.outcomes.last == (isKnown ? .online : .unknown) && !bench.outcomes.contains(.expired))
        #expect(isKnown || bench.due(.maintain)! <= .seconds(10))
        if !isKnown {
            bench.send(.verdictSeen(.online))
            #expect(bench.state == .maintaining && bench.chosen == "H1")
            return
        }
        bench.wait(bench.due(.maintain)!)
        #expect(bench.state == .maintaining && bench.chosen == "H1")
    }

    @Test("T38 A session does not come back on a captive network, or where its helper says that it cannot") func over() {
        var captive = authenticated()
        captive.wait(.seconds(300))
        captive.reply("H1", .temporaryFailure)
        captive.probe(.captive)
        captive.bid("H1", .none)
        captive.bid("H2", .none)
        #expect(captive.state == .failure)
        for result in [HelperResult.failure, .unsupportedNetwork] {
            var bench = authenticated()
            bench.wait(.seconds(300))
            bench.reply("H1", result)
            bench.probe(.online)
            bench.bid("H1", .none)
            bench.bid("H2", .none)
            #expect(bench.state == .authenticated && bench.chosen == nil)
        }
    }

    @Test("D26 A fresh login that no helper needs gives the session back, also without a verdict")
    func freshWithoutVerdict() {
        var bench = authenticated(seconds: 1000)
        bench.send(.loginRequested(helper: nil, fresh: true))
        bench.probe(.limited)
        bench.bid("H1", .none)
        bench.bid("H2", .none)
        #expect(bench.state == .authenticated && bench.chosen == "H1" && bench.problemCodes == ["internetLimited"])
    }

    // MARK: Logins

    @Test("D26 A login wanted while the helper maintains on joining lets it go on") func whileJoining() {
        var bench = Bench(.default, "H1", "H2")
        bench.join(remembered: "H1")
        let command = bench.open("H1")
        bench.send(.loginRequested(helper: nil))
        #expect(bench.state == .maintaining && bench.open("H1") == command && command != nil)
        #expect(bench.machine.state.joined?.arrival.autoJoined == false)
        bench.probe(.online)
        bench.reply("H1", .success)
        #expect(bench.chosen == "H1" && bench.outcomes == [.online])
    }

    @Test("D25 A second success leaves what the first one kept, and has its own 2 minutes") func secondSuccess() {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        refute(&bench)
        let first = bench.machine.state.joined?.standing
        bench.wait(bench.due(.retry)!)
        let second = bench.now
        refute(&bench)
        #expect(bench.log.count { $0.keeps("H1") } == 1)
        #expect(bench.machine.state.joined?.standing?.schedule == first?.schedule)
        #expect(bench.due(.late) == second + .seconds(120) - bench.now)
        bench.send(.verdictSeen(.online))
        #expect(bench.chosen == "H1" && bench.last.contains { $0.restores("H1") })
    }

    @Test("D26 Where the portal is back, the session is over, and a fresh login that opens late counts") func freshOpensLate() {
        var bench = authenticated(seconds: 1000)
        bench.send(.loginRequested(helper: "H2", fresh: true))
        bench.bid("H2", .high)
        bench.reply("H2", .success)
        while bench.state == .authenticating {
            bench.probe(.captive)
            if let due = bench.due(.proof) { bench.wait(due) }
        }
        #expect(bench.state == .failure && bench.kept == "H2" && bench.due(.late) != nil && bench.remembered == "H1")
        bench.send(.verdictSeen(.online))
        #expect(bench.chosen == "H2" && bench.remembered == "H2")
    }

    @Test("D26 A fresh login waits for the user on an open network; dismissed, the session comes back")
    func freshPrompt() {
        var bench = authenticated()
        bench.send(.loginRequested(helper: nil, fresh: true))
        bench.ask("H1")
        let prompt = bench.prompt?.id
        for _ in 0..<4 {
            bench.wait(bench.due(.watch)!)
            bench.probe(.online)
        }
        bench.send(.verdictSeen(.online))
        #expect(bench.state == .presentingUI && bench.prompt?.id == prompt && bench.due(.watch) == .seconds(60))
        var answered = bench
        bench.send(.promptDismissed(prompt!))
        #expect(bench.state == .authenticated && bench.chosen == "H1" && bench.holds.isEmpty)
        answered.send(.promptAnswered(prompt!))
        answered.reply("H1", .success)
        answered.probe(.online)
        #expect(answered.chosen == "H1" && answered.kept == nil && !answered.last.contains { $0.restores("H1") })
    }

    @Test("D26 A fresh login that waits for the user is over when the network opens behind a portal", arguments: [false, true])
    func freshPromptIsAnsweredElsewhere(handsOver: Bool) {
        var bench = authenticated()
        bench.send(.loginRequested(helper: nil, fresh: true))
        bench.probe(.captive)
        if handsOver { bench.handOver("H1") } else { bench.ask("H1") }
        bench.send(.verdictSeen(.online))
        if handsOver {
            bench.reply("H1", .success)
            bench.probe(.online)
        }
        #expect(bench.state == .authenticated && bench.prompt == nil && bench.kept == nil)
        #expect(bench.chosen == (handsOver ? "H1" : nil) && !bench.log.contains(where: { $0.restores("H1") }))
    }

    @Test("D13 A login wanted while a logoff runs comes after it", arguments: Policy.Rules.allCases)
    func afterLogoff(rules: Policy.Rules) {
        var bench = Bench(rules, "H1", "H2")
        bench.join(canDisassociate: true)
        bench.login("H1")
        bench.send(.logoffRequested(by: .user))
        #expect(bench.machine.acceptsLogin)
        bench.send(.loginRequested(helper: "H2"))
        #expect(bench.state == .loggingOff && bench.commands.map(\.command) == [.logoff])
        bench.reply("H1", .success)
        if rules == .default { bench.probe(.captive) }
        #expect(bench.state == .evaluating && bench.commands.map(\.helper) == ["H2"] && !bench.gate)
        #expect(bench.holds.isEmpty && bench.disassociations == 0 && bench.outcomes.last == .loggedOff)
        #expect(bench.last.contains(.dropSession))
    }

    // MARK: Logoffs

    /// A logoff that the portal does not confirm.
    func leftOpen(_ rules: Policy.Rules = .default, canDisassociate: Bool = false) -> Bench {
        var bench = Bench(rules, "H1", "H2")
        bench.join(canDisassociate: canDisassociate)
        bench.login("H1", seconds: 1000)
        bench.send(.logoffRequested(by: .user))
        bench.reply("H1", .failure)
        bench.look(.online)
        return bench
    }

    @Test("D31 A logoff after which the network stays open is reported, and can be repeated") func staysOpen() {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.login("H1")
        bench.send(.logoffRequested(by: .user))
        bench.reply("H1", .success)
        for delay in Policy().logoffDelays {
            #expect(bench.state == .loggingOff && bench.gate)
            if delay > .zero { bench.wait(bench.due(.proof)!) }
            bench.probe(.online)
        }
        #expect(bench.state == .inactive && bench.problemCodes == ["logoffUnconfirmed"] && !bench.log.contains(.dropSession))
        #expect(bench.problems.last?.message.contains("still reached the Internet") == true)
        #expect(bench.machine.acceptsLogoff(by: .user) && bench.kept == "H1")
    }

    @Test("D31 The portal that is back within seconds, a check that finds it, and what cannot be known confirm a logoff")
    func confirmed() {
        for verdict in [Verdict.captive, .limited, nil] {
            var bench = Bench(.default, "H1")
            bench.join()
            bench.login("H1")
            bench.send(.logoffRequested(by: .user))
            bench.reply("H1", .success)
            bench.probe(.online)
            if verdict == .captive {
                bench.send(.verdictSeen(.captive))
            } else {
                bench.wait(bench.due(.proof)!)
                bench.probe(verdict)
            }
            #expect(bench.state == .inactive && bench.log.contains(.dropSession) && bench.problemCodes.contains("held"))
        }
    }

    @Test(
        "D31 The portal that is back tells that the session has ended, whatever the helper says; without a verdict its word counts"
    )
    func endedAllTheSame() {
        for result in [HelperResult.failure, .temporaryFailure] {
            for verdict in [Verdict.captive, .limited, nil] {
                var bench = Bench(.default, "H1")
                bench.join()
                bench.login("H1")
                bench.send(.logoffRequested(by: .user))
                bench.reply("H1", result)
                bench.look(verdict)
                #expect(bench.problemCodes.last == (verdict == .captive ? "held" : "logoffUnconfirmed"))
                #expect(bench.log.contains(.dropSession) == (verdict == .captive))
            }
        }
    }

    @Test("D13 A session whose logoff is not confirmed can be ended again, until it is") func logoffAgain() {
        var bench = leftOpen()
        #expect(bench.state == .inactive && bench.machine.keepsLogin && !bench.log.contains(.dropSession))
        #expect(!bench.machine.acceptsLogoff(by: .helper("H1")))
        for result in [HelperResult.temporaryFailure, .success] {
            #expect(bench.machine.acceptsLogoff(by: .user))
            bench.send(.logoffRequested(by: .user))
            #expect(bench.state == .loggingOff && bench.commands.map(\.command) == [.logoff])
            #expect(bench.last.contains { $0.restores("H1") })
            bench.reply("H1", result)
            bench.look(result == .success ? .captive : .online)
            #expect(bench.outcomes.last == .loggedOff && bench.due(.hold) == .seconds(12 * 3600))
        }
        #expect(bench.log.contains(.dropSession) && bench.problemCodes == ["held"] && bench.kept == nil)
        #expect(!bench.machine.acceptsLogoff(by: .user) && !bench.machine.keepsLogin)
        bench.ignores(.logoffRequested(by: .user))
    }

    @Test("D13 Where the portal is back, nothing is left to end") func logoffOver() {
        var captive = leftOpen()
        captive.send(.verdictSeen(.captive))
        #expect(captive.problemCodes == ["held"] && captive.kept == nil && !captive.machine.acceptsLogoff(by: .user))
        captive.send(.loginRequested(helper: nil))
        captive.bid("H1", .none)
        captive.bid("H2", .none)
        captive.probe(.online)
        #expect(captive.chosen == nil && captive.outcomes.last == .opened)
    }

    @Test("D13 It is known at a return within the hold, unless it has ended", arguments: ["the session has ended", nil])
    func leftOpenAndBack(ended: String?) throws {
        var left = leftOpen()
        let causes = left.log.compactMap { if case .hold(_, _, let cause) = $0 { cause } else { nil } }
        let cause = try #require(causes.last)
        left.send(.addressLost)
        #expect(left.kept == nil)
        left.join(remembered: "H1", hold: Hold(.loggedOff, cause: cause))
        #expect(left.kept == "H1" && left.problemCodes == ["logoffUnconfirmed"] && left.machine.acceptsLogoff(by: .user))
        left.send(.loginRequested(helper: nil))
        left.bid("H1", .none)
        left.bid("H2", .none)
        left.probe(.online)
        #expect(left.state == .authenticated && left.chosen == "H1" && left.machine.acceptsLogoff(by: .user))
        // If the helper cannot log off, there is nothing to try again.
        var without = Bench(.default, "H1", "H2")
        without.join(remembered: "H1", hold: Hold(.loggedOff, cause: "the logoff failed"))
        #expect(without.problems.map(\.hint) == ["hotspotctl login"])
        var over = Bench(.default, "H1", "H2")
        over.join(remembered: "H1", hold: Hold(.loggedOff, cause: ended))
        #expect(over.kept == nil && over.problemCodes == ["held"] && !over.machine.acceptsLogoff(by: .user))
    }

    @Test("D13 A logoff that the loss of the link cuts off is not confirmed", arguments: [false, true])
    func logoffCutOff(answers: Bool) {
        var bench = authenticated(seconds: 1000)
        bench.send(.logoffRequested(by: .user))
        if answers { bench.reply("H1", .success) }
        #expect(bench.state == .loggingOff)
        bench.send(.addressLost)
        #expect(bench.outcomes.last == .loggedOff && !bench.last.contains(.dropSession))
        let causes = bench.last.compactMap { if case .hold(_, _, let cause) = $0 { cause } else { nil } }
        #expect(causes == ["the logoff is not confirmed"] && bench.holds.last == .loggedOff)
        // A login that the user asked for meanwhile is not held back.
        var wanted = authenticated(seconds: 1000)
        wanted.send(.logoffRequested(by: .user))
        wanted.send(.loginRequested(helper: nil))
        wanted.send(.addressLost)
        #expect(wanted.holds.isEmpty)
    }

    @Test("D13 A login after it goes on with the session where the network is open", arguments: [false, true])
    func loginAfterLeftOpen(meanwhile: Bool) {
        var bench = authenticated(seconds: 1000)
        bench.send(.logoffRequested(by: .user))
        if meanwhile { bench.send(.loginRequested(helper: nil)) }
        bench.reply("H1", .failure)
        bench.look(.online)
        if !meanwhile { bench.send(.loginRequested(helper: nil)) }
        bench.bid("H1", .none)
        bench.bid("H2", .none)
        bench.probe(.online)
        #expect(bench.state == .authenticated && bench.chosen == "H1" && bench.machine.acceptsLogoff(by: .user))
        #expect(!bench.log.contains(.dropSession) && bench.kept == nil)
    }

    @Test("D13 A helper that is switched off meanwhile is named, and asked when it is switched on again")
    func leftOpenSwitchedOff() {
        var bench = leftOpen()
        bench.send(.helpersChanged([Candidate("H2")]))
        #expect(bench.machine.switchedOffOwner == "H1" && !bench.machine.acceptsLogoff(by: .user))
        bench.send(.helpersChanged([Candidate("H1"), Candidate("H2")]))
        #expect(bench.machine.switchedOffOwner == nil && bench.machine.acceptsLogoff(by: .user))

        // A logoff that waits for an answer is not sent to a helper that was switched off meanwhile: nothing has ended.
        var queued = authenticated()
        queued.wait(.seconds(300))
        queued.send(.logoffRequested(by: .user))
        queued.send(.helpersChanged([Candidate("H2")]))
        queued.probe(.online)
        queued.reply("H1", .success)
        #expect(queued.state == .inactive && queued.problemCodes == ["logoffUnconfirmed"] && queued.kept == "H1")
    }

    @Test("D13 After a restart, and on a link that could not be ended, it is known too") func leftOpenElsewhere() {
        var restarted = Bench(.default, "H1", "H2")
        restarted.send(
            .addressAcquired(
                Arrival(
                    network: Bench.network, remembered: "H1", resumed: MaintainSchedule(),
                    hold: Hold(.loggedOff, cause: "the logoff is not confirmed"))))
        #expect(restarted.problemCodes == ["logoffUnconfirmed"] && restarted.machine.acceptsLogoff(by: .user))
        var strict = leftOpen(.strict, canDisassociate: true)
        #expect(strict.disassociations == 1 && !strict.machine.acceptsLogoff(by: .user))
        strict.send(.disassociationRefused)
        #expect(strict.problemCodes.last == "logoffUnconfirmed" && strict.machine.acceptsLogoff(by: .user))
    }

    @Test("D25 After a restart within its time an open network is the success of the helper before it", arguments: [false, true])
    func lateAfterRestart(isHeld: Bool) {
        func restarted(left: Duration) -> Bench {
            var bench = Bench(.default, "H1", "H2")
            let late = LateLogin(helper: "H1", end: bench.now + left)
            let hold = isHeld ? Hold(.dismissed) : nil
            bench.send(.addressAcquired(Arrival(network: Bench.network, late: late, hold: hold)))
            return bench
        }
        var bench = restarted(left: .seconds(60))
        #expect(bench.due(.late) == .seconds(60) && bench.kept == "H1")
        bench.send(.verdictSeen(.online))
        #expect(bench.state == .authenticated && bench.chosen == "H1" && bench.remembered == "H1" && bench.kept == nil)
        var late = restarted(left: .seconds(60))
        if !isHeld { late.probe(.captive) }
        late.wait(.seconds(61))
        late.send(.verdictSeen(.online))
        #expect(late.chosen == nil && late.kept == nil)
        #expect(restarted(left: .zero).kept == nil)
    }

    @Test("D25 A login that is not proven when its link is lost counts in the next association with the network")
    func lateOverLostLink() throws {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        #expect(bench.machine.lateLogin == nil)
        bench.ask("H1")
        #expect(bench.machine.lateLogin == nil, "nothing is sent yet")
        bench.send(.promptAnswered(bench.prompt!.id))
        #expect(bench.machine.lateLogin == nil, "it is not known whether the answers were sent")
        let began = bench.now
        bench.reply("H1", .success, seconds: 600)
        bench.wait(.seconds(1))
        bench.probe(.captive)
        let late = try #require(bench.machine.lateLogin)
        #expect(late.helper == "H1" && late.end == began + .seconds(120) && late.schedule.end != nil)
        bench.send(.addressLost)
        #expect(bench.machine.lateLogin == nil && bench.kept == nil)
        bench.send(.addressAcquired(Arrival(network: Bench.network, late: late)))
        #expect(bench.machine.lateLogin == late, "the link may be lost again")
        bench.probe(.online)
        #expect(bench.chosen == "H1" && bench.outcomes.last == .online && bench.machine.state.sessionEnd != nil)
        #expect(bench.machine.lateLogin == nil, "it is proven")
    }

    @Test("D25 What waits for its proof is stored for a restart") func awaitsProof() {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.bid("H1", .high)
        bench.reply("H1", .success)
        #expect(bench.last.contains(.awaitProof(of: "H1", until: bench.now + .seconds(120))))
    }

    @Test("D25 A login by the user while the last one may open late yet: the question goes when it opens") func askedMeanwhile() {
        var bench = Bench(.default, "H1")
        bench.join()
        refute(&bench)
        bench.send(.loginRequested(helper: nil))
        bench.probe(.captive)
        bench.ask("H1")
        #expect(bench.state == .presentingUI && bench.kept == "H1")
        bench.send(.verdictSeen(.online))
        #expect(bench.state == .authenticated && bench.chosen == "H1" && bench.prompt == nil && bench.outcomes.last == .online)
    }

    @Test("D9 A network that the daemon found open was opened in a way that is not known") func found() {
        for (wasUpBefore, outcome) in [(true, AttemptOutcome.found), (false, .open)] {
            var bench = Bench(.default, "H1")
            bench.send(.addressAcquired(Arrival(network: Bench.network, wasUpBefore: wasUpBefore)))
            bench.bid("H1", .none)
            bench.probe(.online)
            #expect(bench.outcomes == [outcome])
        }
    }
}
