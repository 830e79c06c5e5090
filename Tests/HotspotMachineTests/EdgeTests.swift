import HotspotCore
import Testing

@testable import HotspotMachine

/// Cases where two rules meet.
@Suite struct EdgeTests {
    static func strict(_ road: (inout Bench) -> Void) -> Bench {
        var bench = Bench(.strict, "H1", "H2")
        bench.join(canDisassociate: true)
        road(&bench)
        return bench
    }

    static let leaving: [(String, @Sendable (inout Bench) -> Void, StateName)] = [
        (
            "after a failure",
            {
                $0.bid("H1", .high)
                $0.reply("H1", .failure)
            }, .failure
        ),
        (
            "after logoff",
            {
                $0.login("H1")
                $0.send(.logoffRequested(by: .user))
                $0.reply("H1", .success)
            }, .inactive
        ),
    ]

    @Test("A link that was asked to end and stays counts as one that cannot be ended") func leavingEnds() {
        for (name, road, next) in Self.leaving {
            var bench = Self.strict(road)
            #expect(bench.state == .inactive && bench.disassociations == 1 && bench.due(.leave) == .seconds(10), "\(name)")
            var refused = bench
            refused.send(.disassociationRefused)
            bench.wait(.seconds(10))
            #expect(bench.state == next && bench.due(.leave) == nil, "\(name)")
            #expect(bench.state == refused.state && bench.problemCodes == refused.problemCodes, "\(name)")
            var left = Self.strict(road)
            left.send(.addressLost)
            #expect(left.machine.state == .inactive(.noAddress) && left.isIdle, "\(name)")
        }
    }

    @Test("A login request is accepted exactly where a login starts, or goes on, or comes next") func acceptsLogin() {
        for row in StateEventTests.rows {
            var bench = StateEventTests.bench(row)
            let accepted = bench.machine.acceptsLogin
            bench.send(.loginRequested(helper: nil))
            let starts = bench.state == .evaluating && bench.count(of: .evaluate) > 0
            let goesOn = [.authenticating, .presentingUI, .maintaining, .loggingOff].contains(bench.state)
            #expect(accepted == ((starts || goesOn) && !bench.last.isEmpty), "\(row.name)")
        }
    }

    @Test("Other rules are adopted only between two networks, and numbers go on") func adopts() {
        for row in StateEventTests.rows {
            var bench = StateEventTests.bench(row)
            let number = bench.machine.lastNumber
            let wanted = Policy(rules: bench.machine.policy == Policy() ? .strict : .default)
            let isFree = bench.machine.state == .inactive(.noAddress)
            bench.machine.adopt(wanted)
            #expect((bench.machine.policy == wanted) == isFree, "\(row.name)")
            #expect(bench.machine.lastNumber == number)
        }
    }

    @Test("A helper that fails on the user's wish does not take the place of the remembered one") func forgetsItself() {
        var bench = Bench(.default, "H1", "H2")
        bench.join(remembered: "H1")
        bench.reply("H1", .success)
        bench.probe(.online)
        bench.send(.loginRequested(helper: "H2"))
        bench.bid("H2", .high)
        bench.reply("H2", .failure)
        let forgotten = bench.log.compactMap { if case .forgetChoice(let helper) = $0 { helper } else { nil } }
        #expect(forgotten == ["H2"])
    }

    @Test("When only quarantined helpers are left in a race they get the grace, and no more") func quarantinedLeft() {
        var bench = Bench(Policy(), helpers: [Candidate("H1"), Candidate("H2", isQuarantined: true)])
        bench.join()
        bench.probe(.online)
        bench.wait(.seconds(10))
        #expect(bench.due(.lowGrace) == nil)
        bench.send(.helpersChanged([Candidate("H2", isQuarantined: true)]))
        #expect(bench.state == .evaluating && bench.due(.lowGrace) == .seconds(5))
        bench.wait(.seconds(5))
        #expect(bench.state == .authenticated)
    }

    @Test("A failure that opens by itself has an outcome of its own") func opens() {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.bid("H1", .high)
        bench.reply("H1", .failure)
        bench.wait(.seconds(10))
        bench.probe(.online)
        #expect(bench.state == .authenticated && bench.outcomes == [.failure, .open] && bench.problems.isEmpty)
    }

    @Test("A hold says its cause, now and at the next join") func causes() {
        var bench = Bench(.default, "H1")
        bench.join()
        bench.bid("H1", .high)
        bench.answer("H1", .replied(.failure, reason: "The voucher is used up."))
        let causes = bench.log.compactMap { if case .hold(.autoJoinOff, _, let cause) = $0 { cause } else { nil } }
        #expect(causes == ["H1 could not log in, and hotspotd does not try again.\nThe voucher is used up."])
        bench.send(.addressLost)
        bench.join(hold: Hold(.autoJoinOff, cause: causes.first))
        #expect(bench.problems.map(\.code) == [.held])
        #expect(bench.problems.map { QuotedProblem.split($0.message).words } == ["The voucher is used up."])
    }
}
