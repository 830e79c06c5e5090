import HotspotCore

@testable import HotspotMachine

/// All that can happen in a state that an explorer visits.
enum StateAlphabet {
    /// Two ordinary helpers and a last resort.
    static let helpers = [Candidate("H1"), Candidate("H2"), Candidate("H3", priority: 0)]

    private static let mayOpen: Prompt = {
        var prompt = Prompt.room
        prompt.mayOpen = true
        return prompt
    }()

    private static let candidates: [[Candidate]] = [
        helpers, [], Array(helpers[1...]), [helpers[0]],
        [Candidate("H1", isQuarantined: true), helpers[1], helpers[2]],
        [Candidate("H1", edition: 1), helpers[1]],
    ]

    private static let answers: [CommandAnswer] =
        HelperResult.allCases.map { .replied($0, prompt: $0 == .uiRequired ? .room : nil) } + [
            .replied(.success, secondsRemaining: 30, maintainAfter: 5), .replied(.uiRequired, prompt: .browser),
            .replied(.uiRequired, prompt: mayOpen), .replied(.uiRequired), .crashed, .notStarted(reason: "no memory"),
            .garbled(reason: nil), .evaluated(.high),
        ]

    private static let claims: [CommandAnswer] =
        Confidence.allCases.map { .evaluated($0) } + [.crashed, .notStarted(reason: "no memory"), .garbled(reason: nil)]

    static func events(in bench: Bench) -> [Event] {
        let state = bench.machine.state
        var events = arrivals(bench)
        if state.joined != nil {
            events += [
                .addressLost, .loginRequested(helper: nil), .loginRequested(helper: "H2"),
                .loginRequested(helper: nil, fresh: true), .logoffRequested(by: .user),
                .logoffRequested(by: .helper(state.chosenHelper ?? "H1")), .restEnded, .disassociationRefused,
            ]
            events += Verdict.allCases.map { .verdictSeen($0) } + [.verdictSeen(.captive, place: "b")]
        }
        events += candidates.filter { $0 != bench.machine.candidates }.map { .helpersChanged($0) }
        for open in bench.commands {
            events += (open.command == .evaluate ? claims : answers).map { .answered(open.id, $0) }
        }
        if let probe = bench.probes.first {
            events += Verdict.allCases.map { .verdictReached(probe, $0) }
            events += [
                .verdictReached(probe, nil), .verdictReached(probe, .online, secondsRemaining: 30),
                .verdictReached(probe, .captive, place: "a"), .verdictReached(probe, .captive, place: "b"),
            ]
        }
        if let prompt = bench.prompt?.id { events += [.promptAnswered(prompt), .promptDismissed(prompt)] }
        // After a sleep several timers are due at once; else the next one fires.
        let due = bench.alarms.filter { $0.at <= bench.now }
        events += (due.isEmpty ? bench.nextAlarm.map { [$0] } ?? [] : due).map { .timerFired($0.id) }
        return events
    }

    /// All kinds of arrivals for a machine without an address. Other machines get a plain arrival, because none of their state stays.
    private static func arrivals(_ bench: Bench) -> [Event] {
        let plain = Arrival(network: Bench.network, canDisassociate: true)
        if bench.machine.state.joined != nil { return [.addressAcquired(plain)] }
        let now = bench.now
        let ended = MaintainSchedule(secondsRemaining: 0, at: now)
        let session = MaintainSchedule(secondsRemaining: 30, at: now)
        func arrival(_ change: (inout Arrival) -> Void) -> Event {
            var arrival = plain
            change(&arrival)
            return .addressAcquired(arrival)
        }
        return [
            .addressAcquired(plain), arrival { $0.canDisassociate = false }, arrival { $0.wasUpBefore = true },
            arrival { ($0.hadPortal, $0.autoJoined) = (true, false) },
            arrival { ($0.remembered, $0.contenders) = ("H1", ["H1", "H2", "H3"]) },
            arrival { ($0.remembered, $0.session) = ("H1", ended) },
            arrival { ($0.remembered, $0.resumed, $0.session) = ("H1", session, session) },
            arrival { ($0.remembered, $0.late) = ("H1", LateLogin(helper: "H1", end: now + .seconds(60))) },
            arrival { $0.late = LateLogin(helper: "H2", end: now + .seconds(60), schedule: session) },
            arrival { $0.hold = Hold(.autoJoinOff, cause: "It failed.") }, arrival { $0.hold = Hold(.disabled) },
            arrival {
                ($0.remembered, $0.hold) = ("H1", Hold(.loggedOff, until: now + .seconds(60), cause: "the session has ended"))
            },
            arrival { ($0.remembered, $0.hold) = ("H1", Hold(.loggedOff, until: now + .seconds(60), cause: Machine.impossible)) },
            arrival { ($0.remembered, $0.resumed, $0.hold) = ("H1", session, Hold(.dismissed, until: now + .seconds(-1))) },
        ]
    }
}
