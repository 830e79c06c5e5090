import HotspotCore
import Testing

@testable import HotspotMachine

/// Deadlines to the millisecond: 44.999 s waits, 45.000 s ends, 45.001 s is late, and the loop may serve answer or timer first.
@Suite struct BoundaryTests {
    typealias Road = @Sendable (inout Bench) -> Void

    /// Places where a command of H1 runs, a good answer to it, the place after that, and the state after a missed deadline.
    static let places: [(Command, Road, CommandAnswer, String, StateName)] = [
        (.evaluate, { $0.probe(.online) }, .evaluated(.high), "authenticating, command runs", .authenticated),
        (.authenticate, { $0.bid("H1", .high) }, .replied(.success), "authenticating, probe of the proof runs", .failure),
        (
            .presentUI,
            {
                $0.ask("H1")
                $0.send(.promptAnswered($0.prompt!.id))
            }, .replied(.success), "presentingUI, probe of the proof runs", .presentingUI
        ),
        (
            .maintain,
            {
                $0.login("H1")
                $0.wait(.seconds(300))
                $0.probe(.online)
            }, .replied(.success), "authenticated, claimed", .evaluating
        ),
        (
            .logoff,
            {
                $0.login("H1")
                $0.send(.logoffRequested(by: .user))
            }, .replied(.failure), "inactive, held, logoff not confirmed", .inactive
        ),
    ]

    func bench(_ road: Road, _ rules: Policy.Rules = .default) -> Bench {
        var bench = Bench(rules, "H1")
        bench.join()
        road(&bench)
        return bench
    }

    @Test(arguments: Policy.Rules.allCases) func before(rules: Policy.Rules) {
        for (command, road, answer, next, _) in Self.places {
            var bench = bench(road, rules)
            let strikes = bench.strikes
            bench.wait(.milliseconds(44_999))
            #expect(bench.open("H1")?.command == command)
            bench.answer("H1", answer)
            #expect(bench.strikes == strikes, "\(command): the answer is in time")
            bench.look(.online)
            let place = bench.machine.state.place(bench.machine.policy)
            #expect("\(place.state.rawValue), \(place.phase)" == next, "\(command)")
        }
    }

    @Test(arguments: Policy.Rules.allCases) func exactlyInEitherOrder(rules: Policy.Rules) {
        for (command, road, answer, _, missed) in Self.places {
            var timerFirst = bench(road, rules)
            timerFirst.wait(.milliseconds(44_999))
            var answerFirst = timerFirst
            let id = timerFirst.open("H1")!.id
            let alarm = timerFirst.alarms.first { $0.purpose == .command }!
            timerFirst.now = alarm.at
            answerFirst.now = alarm.at
            timerFirst.send(.timerFired(alarm.id))
            timerFirst.ignores(.answered(id, answer))
            answerFirst.send(.answered(id, answer))
            answerFirst.ignores(.timerFired(alarm.id))
            timerFirst.look(.online)
            answerFirst.look(.online)
            #expect(timerFirst.state == missed && answerFirst.state == missed, "\(command)")
            #expect(timerFirst.machine == answerFirst.machine && timerFirst.strikes == answerFirst.strikes, "\(command)")
            #expect(timerFirst.strikes["H1"] == 1)
        }
    }

    @Test(arguments: Policy.Rules.allCases) func after(rules: Policy.Rules) {
        for (command, road, answer, _, missed) in Self.places {
            var bench = bench(road, rules)
            let id = bench.open("H1")!.id
            bench.wait(.milliseconds(45_001))
            bench.look(.online)
            let machine = bench.machine
            bench.ignores(.answered(id, answer))
            #expect(bench.machine == machine && bench.state == missed, "\(command)")
        }
    }

    @Test func theGraceAfterALowInEitherOrder() {
        for timerFirst in [true, false] {
            var bench = Bench(.default, "H1", "H2")
            bench.join()
            bench.bid("H1", .low)
            let grace = bench.alarms.first { $0.purpose == .lowGrace }!
            let id = bench.open("H2")!.id
            bench.now = grace.at
            if timerFirst { bench.send(.timerFired(grace.id)) }
            bench.send(.answered(id, .evaluated(.high)))
            #expect(bench.chosen == "H1" && bench.strikes["H2"] == 1)
        }
        var inTime = Bench(.default, "H1", "H2")
        inTime.join()
        inTime.bid("H1", .low)
        inTime.wait(.milliseconds(4_999))
        inTime.bid("H2", .high)
        #expect(inTime.chosen == "H2")
    }

    @Test func theProbersDeadlineInEitherOrder() {
        let roads: [Road] = [
            { $0.bid("H1", .none) },
            {
                $0.bid("H1", .high)
                $0.reply("H1", .success)
            },
            {
                $0.ask("H1")
                $0.wait(.seconds(10))
            },
            {
                $0.bid("H1", .none)
                $0.probe(.online)
                $0.wait(.seconds(300))
            },
        ]
        for (index, road) in roads.enumerated() {
            for verdict in Verdict.allCases {
                var timerFirst = bench(road)
                let alarm = timerFirst.alarms.first { $0.purpose == .probe }!
                let probe = timerFirst.probes[0]
                timerFirst.now = alarm.at
                var verdictFirst = timerFirst
                timerFirst.send(.timerFired(alarm.id))
                timerFirst.send(.verdictReached(probe, verdict))
                verdictFirst.send(.verdictReached(probe, verdict))
                verdictFirst.send(.timerFired(alarm.id))
                #expect(timerFirst.machine == verdictFirst.machine, "road \(index), \(verdict)")
            }
        }
    }

    @Test func aMaintainAndALogoffOfTheSameInstantBothHaveAnEnd() {
        for logoffFirst in [true, false] {
            var bench = Bench(.default, "H1")
            bench.join()
            bench.login("H1")
            let alarm = bench.alarms.first { $0.purpose == .maintain }!
            bench.now = alarm.at
            if logoffFirst { bench.send(.logoffRequested(by: .user)) }
            bench.send(.timerFired(alarm.id))
            if !logoffFirst {
                bench.send(.logoffRequested(by: .user))
                bench.probe(.online)
                bench.reply("H1", .success)
            }
            #expect(bench.state == .loggingOff)
            bench.reply("H1", .success)
            bench.probe(.captive)
            #expect(bench.state == .inactive && bench.holds == [.loggedOff])
        }
    }
}
