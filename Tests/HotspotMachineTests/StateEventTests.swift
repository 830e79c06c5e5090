import HotspotCore
import Testing

@testable import HotspotMachine

/// Every state with its inner phases × every kind of event. The table names the next state; an event with a stale ID is ignored.
@Suite struct StateEventTests {
    /// A place, and the next state after each event without an ID, in the order of ``events``.
    struct Situation: Sendable {
        let name: String
        let next: [StateName]
        let road: @Sendable (inout Bench) -> Void
    }

    static let events: [(String, Event)] = [
        ("addressAcquired", .addressAcquired(Arrival(network: Bench.network))), ("addressLost", .addressLost),
        ("roamed", .roamed(HardwareAddress("02:00:00:00:00:09")!)), ("helpersChanged, none left", .helpersChanged([])),
        ("helpersChanged, the same", .helpersChanged([Candidate("H1"), Candidate("H2")])),
        ("loginRequested", .loginRequested(helper: nil)), ("logoffRequested by the user", .logoffRequested(by: .user)),
        ("logoffRequested by a stranger", .logoffRequested(by: .helper("H2"))), ("released", .restEnded),
        ("disassociationRefused", .disassociationRefused), ("verdictSeen captive", .verdictSeen(.captive)),
        ("verdictSeen online", .verdictSeen(.online)), ("verdictSeen limited", .verdictSeen(.limited)),
    ]

    static let letters: [Character: StateName] = [
        "I": .inactive, "E": .evaluating, "A": .authenticating, "P": .presentingUI, "O": .authenticated, "M": .maintaining,
        "L": .loggingOff, "F": .failure,
    ]

    static func row(_ name: String, _ next: String, _ road: @escaping @Sendable (inout Bench) -> Void) -> Situation {
        Situation(name: name, next: next.filter { $0 != " " }.map { letters[$0]! }, road: road)
    }

    /// acquired, lost, roamed, none left, same, login, logoff, stranger, released, refused, captive, online, limited
    static let rows: [Situation] = [
        row("inactive without address", "E I I I I I I I I I I I I") { _ in },
        row("inactive, held with an end", "E I I I I E I I E I I I I") {
            $0.join(hold: Hold(.loggedOff, until: $0.now + .seconds(60)))
        },
        row("inactive, held without end", "E I I I I E I I E I I I I") { $0.join(hold: Hold(.autoJoinOff)) },
        row("inactive, leaving after a temporary failure", "E I I I I I I I I F I I I") {
            $0 = strict
            $0.bid("H1", .high)
            $0.reply("H1", .temporaryFailure)
        },
        row("inactive, leaving after logoff", "E I I I I I I I I I I I I") {
            $0 = strict
            $0.login("H1")
            $0.send(.logoffRequested(by: .user))
            $0.reply("H1", .success)
        },
        row("evaluating", "E I E E E E E E E E E E E") { $0.join() },
        row("evaluating, a low in hand", "E I E E E E E E E E E E E") {
            $0.join()
            $0.bid("H1", .low)
        },
        row("evaluating, verdict online", "E I E O E E E E E E E E E") {
            $0.join()
            $0.probe(.online)
        },
        row("evaluating, all quarantined", "E I E E E E E E E E E E E") {
            $0.send(.helpersChanged([Candidate("H1", isQuarantined: true), Candidate("H2", isQuarantined: true)]))
            $0.join()
        },
        row("evaluating, awaiting the verdict", "E I E E E E E E E E E E E") {
            $0.join()
            $0.bid("H1", .none)
            $0.bid("H2", .none)
        },
        row("authenticating", "E I A A A A A A A A A A A") {
            $0.join()
            $0.bid("H1", .high)
        },
        row("authenticating, proof probes", "E I A E A A A A A A A O A") {
            $0.join()
            $0.bid("H1", .high)
            $0.reply("H1", .success)
        },
        row("authenticating, proof waits", "E I A E A A A A A A A O A") {
            $0.join()
            $0.bid("H1", .high)
            $0.reply("H1", .success)
            $0.probe(.captive)
        },
        row("authenticating, login paused", "E I A E A E A A E A A O A") {
            $0.join()
            $0.login("H1")
            $0.send(.verdictSeen(.captive))
            $0.reply("H1", .authenticationRequired)
        },
        row("presentingUI", "E I P E P P P P P P P O P") {
            $0.join()
            $0.ask("H1")
        },
        row("presentingUI, watch probes", "E I P E P P P P P P P O P") {
            $0.join()
            $0.ask("H1")
            $0.wait(.seconds(10))
        },
        row("presentingUI, command", "E I P P P P P P P P P P P") {
            $0.join()
            $0.ask("H1")
            $0.send(.promptAnswered($0.prompt!.id))
        },
        row("presentingUI, proof probes", "E I P E P P P P P P P O P") {
            $0.join()
            $0.ask("H1")
            $0.send(.promptAnswered($0.prompt!.id))
            $0.reply("H1", .success)
        },
        row("presentingUI, proof waits", "E I P E P P P P P P P O P") {
            $0.join()
            $0.ask("H1")
            $0.send(.promptAnswered($0.prompt!.id))
            $0.reply("H1", .success)
            $0.probe(.captive)
        },
        row("authenticated, claimed", "E I O E O M L O O O M O O") {
            $0.join()
            $0.login("H1")
        },
        row("authenticated, unclaimed", "E I O O O E O O O O E O O") {
            $0.join()
            $0.bid("H1", .none)
            $0.bid("H2", .none)
            $0.probe(.online)
        },
        row("authenticated, recheck probes", "E I O O O E O O O O E O O") {
            $0.join()
            $0.bid("H1", .none)
            $0.bid("H2", .none)
            $0.probe(.online)
            $0.wait(.seconds(300))
        },
        row("maintaining on joining", "E I M M M M M M M M M M M") { $0.join(remembered: "H1") },
        row("maintaining on joining, verdict known", "E I M M M M M M M M M M M") {
            $0.join(remembered: "H1")
            $0.probe(.online)
        },
        row("maintaining on joining, awaiting the verdict", "E I M E M M M M M M M M M") {
            $0.join(remembered: "H1")
            $0.reply("H1", .success)
        },
        row("maintaining by the timer", "E I M M M M M M M M M M M") {
            $0.join()
            $0.login("H1")
            $0.wait(.seconds(300))
        },
        row("maintaining by the timer, logoff queued", "E I M M M M M M M M M M M") {
            $0.join()
            $0.login("H1")
            $0.wait(.seconds(300))
            $0.send(.logoffRequested(by: .user))
        },
        row("maintaining by the timer, logoff queued, awaiting the verdict", "E I M I M M M M M M M M M") {
            $0.join()
            $0.login("H1")
            $0.wait(.seconds(300))
            $0.send(.logoffRequested(by: .user))
            $0.reply("H1", .success)
        },
        row("loggingOff", "E I L L L L L L L L L L L") {
            $0.join()
            $0.login("H1")
            $0.send(.logoffRequested(by: .user))
        },
        row("loggingOff, login queued", "E I L L L L L L L L L L L") {
            $0.join()
            $0.login("H1")
            $0.send(.logoffRequested(by: .user))
            $0.send(.loginRequested(helper: "H2"))
        },
        row("failure, to be tried again", "E I F F F E F F E F F O F") {
            $0.join()
            $0.bid("H1", .high)
            $0.reply("H1", .temporaryFailure)
        },
        row("failure for good", "E I F F F E F F E F F O F") {
            $0.join()
            $0.bid("H1", .high)
            $0.reply("H1", .failure)
        },
        row("failure, watch probes", "E I F F F E F F E F F O F") {
            $0.join()
            $0.bid("H1", .high)
            $0.reply("H1", .failure)
            $0.wait(.seconds(10))
        },
    ]

    static var strict: Bench {
        var bench = Bench(.strict, "H1", "H2")
        bench.join(canDisassociate: true)
        return bench
    }

    static func bench(_ row: Situation) -> Bench {
        var bench = Bench(.default, "H1", "H2")
        row.road(&bench)
        return bench
    }

    @Test func everyStateIsInTheTable() {
        #expect(Set(Self.rows.map { Self.bench($0).state }) == Set(StateName.allCases))
        #expect(Set(Self.rows.map { Self.bench($0).machine.state }).count == Self.rows.count, "two rows are the same place")
    }

    @Test("State × event, without IDs") func table() {
        for row in Self.rows {
            for ((name, event), next) in zip(Self.events, row.next) {
                var bench = Self.bench(row)
                bench.send(event)
                #expect(bench.state == next, "\(row.name), \(name)")
            }
        }
    }

    @Test("State × stale ID: nothing") func stale() {
        for row in Self.rows {
            var bench = Self.bench(row)
            let inFlight = bench.machine.state.inFlight
            for number in Array(0...bench.machine.lastNumber) + [bench.machine.lastNumber + 1, .max] {
                var events: [Event] = []
                let command = CommandID(number: number)
                if !inFlight.commands.contains(command) {
                    events += HelperResult.allCases.map { .answered(command, .replied($0)) }
                    events += Confidence.allCases.map { .answered(command, .evaluated($0)) }
                    events += [.answered(command, .crashed), .answered(command, .garbled(reason: nil))]
                }
                let probe = ProbeID(number: number)
                if inFlight.probe?.id != probe {
                    events += (Verdict.allCases + [nil]).map { .verdictReached(probe, $0, secondsRemaining: 7) }
                }
                if !inFlight.timers.contains(TimerID(number: number)) { events.append(.timerFired(TimerID(number: number))) }
                let prompt = PromptID(number: number)
                if inFlight.prompt != prompt { events += [.promptAnswered(prompt), .promptDismissed(prompt)] }
                for event in events {
                    bench.ignores(event, in: row.name)
                }
            }
        }
    }

    @Test("State × live ID: every answer, verdict, timer and prompt changes something, and none traps") func live() {
        for row in Self.rows {
            let start = Self.bench(row)
            let inFlight = start.machine.state.inFlight
            var events: [Event] = []
            for command in inFlight.commands {
                events += HelperResult.allCases.map { .answered(command, .replied($0, secondsRemaining: .min)) }
                events += HelperResult.allCases.map { .answered(command, .replied($0, secondsRemaining: .max)) }
                events += Confidence.allCases.map { .answered(command, .evaluated($0)) }
                events += [.answered(command, .crashed), .answered(command, .garbled(reason: "?"))]
            }
            if let probe = inFlight.probe?.id {
                for seconds in [nil, Int.min, -1, 0, 1, Int.max] {
                    events += (Verdict.allCases + [nil]).map { .verdictReached(probe, $0, secondsRemaining: seconds) }
                }
            }
            if let prompt = inFlight.prompt { events += [.promptAnswered(prompt), .promptDismissed(prompt)] }
            for event in events {
                var bench = start
                bench.send(event)
                #expect(bench.machine != start.machine, "\(row.name), \(event)")
            }
            for alarm in start.alarms {
                var bench = start
                bench.now = alarm.at
                bench.send(.timerFired(alarm.id))
                #expect(bench.machine != start.machine, "\(row.name), \(alarm.purpose)")
            }
        }
    }

    @Test("From every state the loss of the address leads to rest, and evaluating ends by itself") func ends() {
        for row in Self.rows {
            var bench = Self.bench(row)
            if bench.state == .evaluating {
                let attempt = bench.machine.state.joined?.attempt
                bench.wait(.seconds(45))
                #expect(bench.state != .evaluating || bench.machine.state.joined?.attempt != attempt, "\(row.name)")
            }
            bench.send(.addressLost)
            #expect(bench.machine.state == .inactive(.noAddress) && bench.isIdle)
        }
    }
}
