import HotspotCore
import Testing

@testable import HotspotMachine

/// The behaviours of `docs/machine-rules.md` by their numbers, as far as the machine alone can prove them. The page names the tests of
/// the other behaviours.
@Suite("Conformance: start, link and gate") struct ConformanceLink {
    /// Each state that is not idle, and a way to it.
    static let roads: [(StateName, @Sendable (inout Bench) -> Void)] = [
        (.evaluating, { _ in }),
        (.authenticating, { $0.bid("H1", .high) }),
        (.presentingUI, { $0.ask("H1") }),
        (.authenticated, { $0.login("H1") }),
        (
            .maintaining,
            {
                $0.login("H1")
                $0.wait(.seconds(300))
            }
        ),
        (
            .loggingOff,
            {
                $0.login("H1")
                $0.send(.logoffRequested(by: .user))
            }
        ),
        (
            .failure,
            {
                $0.bid("H1", .high)
                $0.reply("H1", .temporaryFailure)
            }
        ),
    ]

    static func benches() -> [Bench] {
        roads.map { name, road in
            var bench = Bench(.default, "H1", "H2")
            bench.join()
            road(&bench)
            #expect(bench.state == name)
            return bench
        }
    }

    @Test("1 After start: inactive, gate closed, no command") func start() {
        let bench = Bench(.default, "H1", "H2")
        #expect(bench.state == .inactive && !bench.gate && bench.isIdle && bench.log.isEmpty)
    }

    @Test("2 Association without IP sends no command, whatever else happens") func withoutAddress() {
        for (name, event) in StateEventTests.events where name != "addressAcquired" {
            var bench = Bench(.default, "H1")
            bench.send(event)
            bench.wait(.seconds(600))
            #expect(bench.state == .inactive && bench.log.isEmpty, "\(name)")
        }
    }

    @Test("3 An address and nothing remembered: one evaluate for each helper") func evaluatesEach() {
        var bench = Bench(.default, "H1", "H2", "H3")
        bench.join()
        #expect(bench.state == .evaluating)
        #expect(bench.commands.map(\.helper) == ["H1", "H2", "H3"])
        #expect(bench.commands.allSatisfy { $0.command == .evaluate && !$0.justJoined })
        bench.wait(.seconds(1))
        #expect(bench.count(of: .evaluate) == 3)
    }

    @Test("4 The gate is closed until authenticated") func gate() {
        for bench in Self.benches() {
            #expect(bench.gate == [.authenticated, .maintaining, .loggingOff].contains(bench.state))
        }
        var join = Bench(.default, "H1")
        join.join(remembered: "H1")
        #expect(join.state == .maintaining && !join.gate)
        join.reply("H1", .success)
        #expect(!join.gate)
        join.probe(.online)
        #expect(join.state == .authenticated && join.gate)
    }

    @Test("6 No helper: authenticated without delay") func noHelper() {
        var bench = Bench()
        bench.join()
        #expect(bench.state == .evaluating && bench.alarms.map(\.purpose) == [.probe])
        bench.probe(.online)
        #expect(bench.state == .authenticated && bench.gate)
    }

    @Test("7 Address loss in each state leads to inactive and withdraws what runs") func loss() {
        for var bench in Self.benches() {
            bench.send(.addressLost)
            #expect(bench.machine.state == .inactive(.noAddress) && bench.isIdle && !bench.gate)
        }
    }

    @Test("8 Address loss sends no command") func lossIsSilent() {
        for var bench in Self.benches() {
            let actions = bench.send(.addressLost)
            #expect(!actions.contains { if case .sendCommand = $0 { true } else { false } })
        }
    }

    @Test("9 Address loss leaves auto-join as it is") func lossHoldsNothing() {
        for var bench in Self.benches() {
            // A logoff holds the network, whether or not the portal confirms it (D13).
            let holds = bench.holds + (bench.state == .loggingOff ? [.loggedOff] : [])
            let actions = bench.send(.addressLost)
            let forgets = actions.contains { if case .forgetChoice = $0 { true } else { false } }
            #expect(bench.holds == holds && !actions.contains(.releaseHold) && !forgets)
        }
    }

    @Test("10 Inactive forgets the chosen helper and the excluded ones") func forgets() {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        bench.bid("H1", .high)
        bench.reply("H1", .unsupportedNetwork)
        #expect(bench.machine.state.joined?.record.excluded == ["H1"])
        bench.send(.addressLost)
        #expect(bench.chosen == nil && bench.machine.state.joined == nil)
        bench.join()
        #expect(bench.machine.state.joined?.record.excluded == [] && bench.open("H1")?.command == .evaluate)

        // The same in inactive on a link that is kept.
        bench.bid("H1", .high)
        bench.reply("H1", .unsupportedNetwork)
        bench.ask("H2")
        bench.send(.promptDismissed(bench.prompt!.id))
        #expect(bench.state == .inactive && bench.machine.state.joined?.record.excluded == [])
    }

    @Test("11 A late answer to a withdrawn command changes nothing, also after a new join") func late() {
        for var bench in Self.benches() {
            let old = bench.commands + [Bench.Open(id: CommandID(number: 0), command: .evaluate, helper: "H1", justJoined: false)]
            bench.send(.addressLost)
            for rejoined in [false, true] {
                if rejoined { bench.join() }
                let machine = bench.machine
                for command in old {
                    for answer in [CommandAnswer.evaluated(.high), .replied(.success), .replied(.failure), .crashed] {
                        bench.ignores(.answered(command.id, answer))
                    }
                }
                #expect(bench.machine == machine)
            }
        }
    }
}

@Suite("Conformance: registration and filter, on the value") struct ConformanceRegistration {
    @Test("18 Ten or more helpers: 200 race, one wins, none runs on") func many() {
        var bench = Bench(Policy(), helpers: (0..<200).map { Candidate("H\($0)") })
        bench.join()
        #expect(bench.commands.count == 200)
        for index in 0..<199 { bench.bid("H\(index)", .none) }
        #expect(bench.state == .evaluating)
        bench.bid("H199", .low)
        #expect(bench.state == .authenticating && bench.chosen == "H199" && bench.commands.count == 1)
    }

    @Test("19 A helper that was switched off gets no command") func disabled() {
        var bench = Bench(.default, "H1", "H2")
        bench.join()
        bench.send(.helpersChanged([Candidate("H2")]))
        #expect(bench.open("H1") == nil && bench.open("H2") != nil)
        bench.send(.addressLost)
        bench.join()
        #expect(bench.commands.map(\.helper) == ["H2"])
    }

    @Test("20 Without its remembered helper the next join evaluates") func rememberedIsGone() {
        var bench = Bench(.default, "H1", "H2")
        bench.send(.helpersChanged([Candidate("H2")]))
        bench.join(remembered: "H1")
        #expect(bench.state == .evaluating && bench.count(of: .maintain) == 0)
        #expect(!bench.log.contains(.forgetChoice(of: "H1")), "it may only be switched off")
    }
}
