import Glibc
import HotspotCore
import Testing

@testable import HotspotMachine

/// Random walks with the invariants after every step (`Bench+Invariants.swift`). `HOTSPOTD_WALK` is the number of events in all;
/// the default is a million in CI, and fewer elsewhere.
@Suite struct WalkTests {
    static let length =
        getenv("HOTSPOTD_WALK").flatMap { Int(String(cString: $0)) }
        ?? (getenv("CI").map { String(cString: $0) } == "true" ? 1_000_000 : 200_000)

    @Test("Walk", arguments: Policy.Rules.allCases, [1, 2] as [UInt64]) func walk(rules: Policy.Rules, seed: UInt64) {
        var walker = Walker(seed: seed, policy: Policy(rules: rules))
        while walker.events < Self.length / 4 { walker.step() }
        if Self.length >= 40_000 {
            #expect(Set(walker.visits.keys) == Set(StateName.allCases), "a walk that misses a state proves nothing of it")
            let never = Set([
                "transition", "beginAttempt", "endAttempt", "setGate", "sendCommand", "cancelCommand", "startTimer", "stopTimer",
                "startProbe", "cancelProbe", "showPrompt", "withdrawPrompt", "remember", "forgetChoice", "dropSession", "hold",
                "releaseHold", "strike", "acquit", "report", "clearProblems",
            ]).subtracting(walker.kinds)
            #expect(never.isEmpty)
            #expect(walker.kinds.contains("disassociate") == (rules == .strict))
        }
    }

    @Test("The same seed walks the same way") func deterministic() {
        func end() -> Machine {
            var walker = Walker(seed: 7, policy: Policy())
            while walker.events < 2_000 { walker.step() }
            return walker.bench.machine
        }
        #expect(end() == end())
    }

    @Test("10,000 days in 10,000 cafés leave nothing behind") func memory() {
        // Without the bench, which costs more than the machine.
        var machine = Machine(policy: Policy(rules: .strict))
        var now = Instant(nanoseconds: 0)
        _ = machine.handle(.helpersChanged([Candidate("H1")]), at: now)
        for day in 0..<10_000 {
            let name = SSID(octets: [UInt8(day & 255), UInt8(day >> 8)])!
            var actions = machine.handle(
                .addressAcquired(Arrival(network: .wireless(name, .open), canDisassociate: true)), at: now)
            for result in [CommandAnswer.evaluated(.high), .replied(.temporaryFailure)] {
                for case .sendCommand(let id, _, _, _) in actions { actions = machine.handle(.answered(id, result), at: now) }
            }
            #expect(machine.state.name == .inactive && machine.recentFailures.count == 1)
            _ = machine.handle(.addressLost, at: now)
            now = now + .seconds(86400)
        }
        #expect(machine.state == .inactive(.noAddress))
    }

    @Test("Cost of an event, printed") func cost() {
        var machine = Machine()
        var now = Instant(nanoseconds: 0)
        _ = machine.handle(.helpersChanged([Candidate("H1"), Candidate("H2"), Candidate("H3")]), at: now)
        var events = 0
        let elapsed = ContinuousClock().measure {
            for _ in 0..<2_000 {
                now = now + .seconds(1)
                var actions = machine.handle(.addressAcquired(Arrival(network: Bench.network)), at: now)
                for case .sendCommand(let id, _, "H1", _) in actions {
                    actions = machine.handle(.answered(id, .evaluated(.high)), at: now)
                }
                for case .sendCommand(let id, .authenticate, _, _) in actions {
                    actions = machine.handle(.answered(id, .replied(.success)), at: now)
                }
                for case .startProbe(let id, _) in actions { actions = machine.handle(.verdictReached(id, .online), at: now) }
                actions = machine.handle(.addressLost, at: now)
                events += 5
            }
        }
        #expect(machine.state == .inactive(.noAddress))
        print("machine: \(elapsed.nanoseconds / Int64(events)) ns for an event")
    }
}
