import HotspotCore

@testable import HotspotMachine

extension MachineState {
    func place(_ policy: Policy) -> TransitionTable.TablePlace {
        let phase: String
        switch self {
        case .inactive(.noAddress): phase = "no address"
        case .inactive(.held(let joined, _, _)): phase = joined.unended == nil ? "held" : "held, logoff not confirmed"
        case .inactive(.leaving(_, .hold, _)): phase = "leaving, then held"
        case .inactive(.leaving(_, .rest, _)): phase = "leaving, then resting"
        case .evaluating(let state):
            if state.awaitsVerdict {
                phase = "no claim, verdict awaited"
            } else {
                let low = state.race.hasOpenClaim ? ", a low in hand" : ""
                let count = state.race.entrants.count(where: \.isLast)
                let last = count > 0 ? ", \(count) \(count == 1 ? "comes" : "come") last" : ""
                phase = "\(state.race.silent.count) silent\(low)\(last), \(state.verdict.words)"
            }
        case .authenticating(let state):
            switch state.phase {
            case .pausing(_, let watch): phase = "login paused" + watch.words
            case .commanding: phase = "command runs"
            case .proving(let proof): phase = proof.words(policy.proofDelays)
            }
        case .presentingUI(let state):
            switch state.phase {
            case .waiting(let watch):
                phase = (state.handsOver ? "the user logs in elsewhere" : "the user is asked") + watch.words
            case .commanding: phase = "command runs"
            case .confirming: phase = "open, command runs"
            case .proving(let proof): phase = proof.words(policy.proofDelays)
            }
        case .authenticated(let state):
            switch state.upkeep {
            case .claimed: phase = "claimed"
            case .unclaimed(let watch): phase = "unclaimed" + (state.joined.isUnverified ? ", not verified" : "") + watch.words
            }
        case .maintaining(let state):
            var words = state.startsClosed ? "on joining or after a hold" : "by the timer"
            switch state.phase {
            case .commanding: words += ", command runs, \(state.verdict.words)"
            case .awaitingVerdict: words += ", the helper says yes, verdict awaited"
            }
            phase = words + (state.logoffQueued ? ", logoff queued" : "")
        case .loggingOff(let state):
            let words =
                switch state.phase {
                case .commanding: "command runs"
                case .proving(let proof, let otherwise):
                    proof.words(policy.logoffDelays, of: "the logoff") + (otherwise == .ineffective ? "" : ", not confirmed")
                }
            phase = words + (state.sequel == .rest ? "" : ", login queued")
        case .failure(let state): phase = (state.retry == nil ? "resting" : "to be tried again") + state.watch.words
        }
        return TransitionTable.TablePlace(state: name, phase: phase)
    }

    /// Returns the counters that determine the next step, together with the place.
    func counters(at now: Instant, _ policy: Policy) -> [Int] {
        var counters = [min(joined?.temporaryFailures ?? 0, 4)]
        // Whether a login that is wanted now would have to wait.
        if var pace = joined?.pace { counters.append(pace.nextLogin(at: now, policy) > now ? 1 : 0) }
        counters.append((joined?.standing?.ground.name).map { 1 + StandingLogin.Ground.Name.allCases.firstIndex(of: $0)! } ?? 0)
        switch self {
        case .authenticating(let state): if case .proving(let proof) = state.phase { counters.append(proof.probes) }
        case .loggingOff(let state):
            if case .proving(let proof, let otherwise) = state.phase {
                counters += [proof.probes, otherwise == .impossible ? 1 : 0]
            }
        case .presentingUI(let state):
            counters += [state.further, state.failedTries]
            if case .proving(let proof) = state.phase { counters.append(proof.probes) }
        case .evaluating: counters.append(joined?.arrival.remembered == nil ? 0 : 1)
        case .inactive, .authenticated, .maintaining, .failure: break
        }
        return counters
    }
}

extension StandingLogin.Ground {
    /// The grounds without their timers.
    enum Name: String, CaseIterable, Sendable { case unproven, undecided, fresh, over, interrupted, unended }

    var name: Name {
        switch self {
        case .unproven: .unproven
        case .undecided: .undecided
        case .fresh: .fresh
        case .over: .over
        case .interrupted: .interrupted
        case .unended: .unended
        }
    }
}

extension LatestVerdict {
    fileprivate var words: String {
        switch self {
        case .awaited: "verdict awaited"
        case .known(.online, _), .known(.partial, _): "verdict open"
        case .known(.captive, _): "verdict captive"
        case .known(.limited, _), .known(nil, _): "verdict unknown"
        }
    }
}

extension Proof {
    fileprivate func words(_ delays: [Duration], of name: String = "the proof") -> String {
        switch phase {
        case .probing: probes >= delays.count ? "last probe of \(name) runs" : "probe of \(name) runs"
        case .waiting: "\(name.dropFirst(4)) waits for its next probe"
        }
    }
}

extension Watch {
    fileprivate var words: String {
        switch phase {
        case .waiting: ""
        case .probing: ", probe runs"
        }
    }
}

extension TransitionTable.Explorer.Standpoint {
    /// Returns actions in words. Equal ones that follow each other are counted. Transitions are left out, because the row says them, and
    /// withdrawals, because they follow from the two places.
    static func words(for actions: [Action]) -> [String] {
        var words: [(text: String, count: Int)] = []
        for action in actions {
            guard let text = Self.words(for: action) else { continue }
            if words.last?.text == text { words[words.count - 1].count += 1 } else { words.append((text, 1)) }
        }
        return words.map { $0.count == 1 ? $0.text : "\($0.text) ×\($0.count)" }
    }

    private static func words(for action: Action) -> String? {
        switch action {
        case .transition, .cancelCommand, .cancelProbe, .stopTimer, .withdrawPrompt: nil
        case .beginAttempt: "begin attempt"
        case .endAttempt(_, let outcome): "end attempt \(outcome.rawValue)"
        case .setGate(let open): open ? "open gate" : "close gate"
        case .sendCommand(_, let command, _, let justJoined): "send \(command)" + (justJoined ? " (just joined)" : "")
        case .startTimer(_, _, let purpose): "start timer \(purpose.rawValue)"
        case .startProbe(_, let fresh): fresh ? "start fresh probe" : "start probe"
        case .showPrompt: "show prompt"
        case .awaitProof: "await proof"
        case .remember: "remember helper"
        case .keepLogin: "keep login"
        case .restoreLogin: "restore login"
        case .dropLogin: "drop login"
        case .forgetChoice: "forget choice"
        case .dropSession: "drop session"
        case .hold(let reason, let duration, _): "hold \(reason.rawValue)" + (duration == nil ? "" : " for a time")
        case .releaseHold: "release hold"
        case .disassociate: "end link"
        case .strike: "strike"
        case .acquit: "acquit"
        case .report(let problem): "report \(problem.code)"
        case .clearProblems: "clear problems"
        }
    }
}
