import HotspotCore

@testable import HotspotMachine

/// Everything that the next step depends on, without numbers, instants and intervals; of times only the order of the timers.
struct StateKey: Hashable {
    private var octets: [UInt8] = []

    init(_ bench: Bench) {
        octets.reserveCapacity(80)
        let machine = bench.machine
        add(machine.candidates)
        add(machine.recentFailures[Bench.network]?.count ?? 0)
        switch machine.state {
        case .inactive(.noAddress): add(0)
        case .inactive(.held(_, let reason, let timer)): add(1, index(of: reason), timer == nil ? 0 : 1)
        case .inactive(.leaving(_, .hold(let reason), _)): add(2, index(of: reason))
        case .inactive(.leaving(_, .rest(let delay), _)): add(3, delay == nil ? 0 : 1)
        case .evaluating(let state):
            add(4, state.awaitsVerdict ? 1 : 0)
            add(state.verdict)
            if !state.awaitsVerdict { add(state.race) }
        case .authenticating(let state):
            add(5, index(of: state.helper))
            switch state.phase {
            case .pausing(_, let watch):
                add(0)
                add(watch)
            case .commanding: add(1)
            case .proving(let proof): add(proof)
            }
        case .presentingUI(let state):
            add(6, index(of: state.helper), min(state.further, 2), state.failedTries, state.handsOver ? 1 : 0)
            switch state.phase {
            case .waiting(let watch):
                add(0)
                add(watch)
            case .commanding: add(1)
            case .confirming: add(2)
            case .proving(let proof): add(proof)
            }
        case .authenticated(let state):
            switch state.upkeep {
            case .claimed(let helper, _, let schedule):
                add(7, index(of: helper))
                add(schedule, bench.now)
            case .unclaimed(let watch):
                add(8)
                add(watch)
            }
        case .maintaining(let state):
            add(9, index(of: state.helper), state.startsClosed ? 1 : 0, state.logoffQueued ? 1 : 0)
            switch state.phase {
            case .commanding: add(0)
            case .awaitingVerdict(_, let isSecondProbe): add(isSecondProbe ? 2 : 1)
            }
            add(state.verdict)
            add(state.schedule, bench.now)
        case .loggingOff(let state):
            add(10, index(of: state.helper))
            switch state.sequel {
            case .rest: add(0)
            case .login(let helper): add(1, index(of: helper))
            }
            switch state.phase {
            case .commanding: add(0)
            case .proving(let proof, let otherwise):
                add(otherwise == .ineffective ? 1 : otherwise == .impossible ? 2 : 3)
                add(proof)
            }
        case .failure(let state):
            add(11, state.retry == nil ? 0 : 1)
            add(state.watch)
        }
        guard let joined = machine.state.joined else { return }
        add(joined, machine.policy, bench.now)
        // The timers in their order; those that are due come first.
        let alarms = bench.alarms.sorted { ($0.at, $0.purpose.rawValue) < ($1.at, $1.purpose.rawValue) }
        for alarm in alarms { add(TimerPurpose.allCases.firstIndex(of: alarm.purpose)!, alarm.at <= bench.now ? 1 : 0) }
    }

    private mutating func add(_ numbers: Int...) { for number in numbers { octets.append(UInt8(truncatingIfNeeded: number)) } }

    private mutating func add(_ candidates: [Candidate]) {
        for candidate in candidates {
            add(index(of: candidate.name), candidate.isQuarantined ? 1 : 0, candidate.edition)
        }
        add(255)
    }

    private mutating func add(_ verdict: LatestVerdict) {
        switch verdict {
        case .awaited: add(0)
        case .known(let verdict, let seconds): add(1, index(of: verdict), seconds == nil ? 0 : 1)
        }
    }

    private mutating func add(_ race: Race) {
        for entrant in race.entrants {
            let confidence = entrant.answer.map { 1 + Confidence.allCases.firstIndex(of: $0.confidence)! } ?? 0
            add(index(of: entrant.candidate.name), confidence, entrant.isLast ? 1 : 0, entrant.candidate.isQuarantined ? 1 : 0)
        }
    }

    private mutating func add(_ watch: Watch) { if case .probing = watch.phase { add(1) } else { add(0) } }

    private mutating func add(_ proof: Proof) {
        if case .probing = proof.phase { add(11) } else { add(10) }
        add(proof.probes, proof.secondsRemaining == nil ? 0 : 1)
    }

    private mutating func add(_ schedule: MaintainSchedule, _ now: Instant) {
        add(schedule.end.map { $0 > now ? 2 : 1 } ?? 0, schedule.renewal.map { $0 > now ? 2 : 1 } ?? 0)
    }

    private mutating func add(_ joined: JoinedNetwork, _ policy: Policy, _ now: Instant) {
        let arrival = joined.arrival
        add(index(of: arrival.remembered), arrival.hold == nil ? 0 : 1, arrival.resumed == nil ? 0 : 1)
        add(arrival.autoJoined ? 1 : 0, arrival.canDisassociate ? 1 : 0, arrival.wasUpBefore ? 1 : 0, arrival.hadPortal ? 1 : 0)
        add(joined.attemptIsOpen ? 1 : 0, joined.isUnverified ? 1 : 0, joined.wasCaptive ? 1 : 0, index(of: joined.lastVerdict))
        add(min(joined.temporaryFailures, 4), joined.wantedMaintain == nil ? 0 : 1)
        for helper in ["H1", "H2", "H3"] {
            add(
                joined.record.excluded.contains(helper) ? 1 : 0,
                joined.record.winsAfterFailedMaintain[helper].map { 1 + min($0, 2) } ?? 0)
            add(min(joined.record.setbacks[helper] ?? 0, 2))
        }
        if let contenders = joined.contenders {
            for mark in ["H1", "H1 1", "H2", "H3"] { add(contenders.contains(mark) ? 1 : 0) }
        }
        add(254)
        if let standing = joined.standing {
            add(1 + StandingLogin.Ground.Name.allCases.firstIndex(of: standing.ground.name)!, index(of: standing.helper))
            add(standing.schedule, now)
        }
        add(253, joined.trail.last.count, joined.trail.handlesNext ? 1 : 0)
        for place in joined.trail.last { add(place == "a" ? 1 : 2) }
        for place in ["a", "b"] { add(joined.trail.handled.contains(place) ? 1 : 0) }
        var pace = joined.pace
        add(
            pace.granted == nil ? 0 : 1, min(pace.earlyLogins, 2), min(pace.earlyChecks, 4),
            pace.hasLasted(at: now, policy) ? 1 : 0)
        add(pace.nextLogin(at: now, policy) > now ? 1 : 0)
    }

    private func index(of helper: String?) -> Int { helper.map { Int($0.utf8.last! - 48) } ?? 0 }
    private func index(of verdict: Verdict?) -> Int { verdict.map { 1 + Verdict.allCases.firstIndex(of: $0)! } ?? 0 }
    private func index(of reason: HoldReason) -> Int { HoldReason.allCases.firstIndex(of: reason)! }
}
