import HotspotCore

extension Machine {
    /// Asks the chosen helper to log in, perhaps after a pause (T8, T10, T37, D23).
    mutating func authenticate(_ joined: JoinedNetwork, _ helper: String, _ cause: String, _ turn: inout Turn) {
        var joined = joined
        let begin = joined.pace.nextLogin(at: turn.now, policy)
        let phase: Authenticating.LoginPhase
        if begin > turn.now {
            phase = .pausing(startTimer(.pause, at: begin, &turn), startWatch(&turn))
            turn.act(.report(.tooSoon(helper, begin - turn.now)))
        } else {
            phase = .commanding(send(.authenticate, to: helper, &turn))
        }
        go(.authenticating(Authenticating(joined: joined, helper: helper, phase: phase)), cause, &turn)
    }

    /// Waits for the end of the pause, then for the chosen helper (T17 to T24), then for the proof (D25).
    mutating func handle(_ event: StateEvent, in authenticating: Authenticating, _ turn: inout Turn) {
        let joined = authenticating.joined
        let helper = authenticating.helper
        func stay(_ phase: Authenticating.LoginPhase) -> MachineState {
            .authenticating(authenticating.with { $0.phase = phase })
        }
        switch authenticating.phase {
        case .pausing(let end, let watch):
            if event == .timerFired(end.id) {
                turn.act(.clearProblems)
                state = stay(.commanding(send(.authenticate, to: helper, &turn)))
                return
            }
            // Start a race: the helper that was just switched on may be better than the waiting one.
            if event == .restEnded {
                turn.act(.clearProblems)
                return evaluate(joined, "a helper was switched on", &turn)
            }
            switch advance(watch, event, &turn) {
            case nil: break
            case .continues(let watch): state = stay(.pausing(end, watch))
            case .opened(let seconds):
                // The login no longer waits, so clear the problem that says so.
                turn.act(.clearProblems)
                openUnclaimed(joined, joined.openOutcome, secondsRemaining: seconds, "the network is open now", &turn)
            }
        case .commanding(let command):
            if case .answered(let answer) = event { handle(answer, to: command, in: authenticating, &turn) }
        case .proving(let proof):
            follow(proof, of: helper, joined, event, { stay(.proving($0)) }, &turn)
        }
    }

    private mutating func handle(
        _ answer: CommandAnswer?, to command: RunningCommand, in authenticating: Authenticating, _ turn: inout Turn
    ) {
        let helper = authenticating.helper
        let joined = authenticating.joined
        switch answer {
        case nil: return missed(.silence, .timeout(helper, .authenticate), authenticating, &turn)
        case .crashed: return missed(.crash, .crashed(helper), authenticating, &turn)
        case .evaluated, .replied, .garbled, .notStarted: break
        }
        guard isCandidate(helper) else { return replaceSwitchedOff(helper, joined, &turn) }
        switch answer {
        case nil, .crashed: break
        case .notStarted(let reason): failTemporarily(joined, nil, .notStarted(reason), &turn)
        case .evaluated: failForGood(joined, helper, .refused(helper, nil), &turn)
        case .garbled(let reason): failForGood(joined, helper, .refused(helper, reason), &turn)
        case .replied(let result, let prompt, let seconds, _, let reason):
            turn.act(.acquit(helper: helper))
            switch result {
            case .success:
                prove(
                    helper, until: command.deadline.at, secondsRemaining: seconds,
                    { proof in .authenticating(authenticating.with { $0.phase = .proving(proof) }) }, &turn)
            case .uiRequired: present(joined, helper, prompt ?? .empty(helper), further: 0, "\(helper) needs the user", &turn)
            case .unsupportedNetwork: exclude(helper, joined, &turn)
            case .temporaryFailure: failTemporarily(joined, helper, .notNow(helper, reason), &turn)
            case .failure, .authenticationRequired, .commandNotRecognized:
                failForGood(joined, helper, .refused(helper, reason), &turn)
            }
        }
    }

    /// Ends a login that got no answer. This counts as a temporary failure, or as a permanent one with the strict rules (D1).
    private mutating func missed(
        _ reason: StrikeReason, _ problem: Problem, _ authenticating: Authenticating, _ turn: inout Turn
    ) {
        let helper = authenticating.helper
        turn.act(.strike(helper: helper, reason))
        guard isCandidate(helper) else { return replaceSwitchedOff(helper, authenticating.joined, &turn) }
        switch policy.onTimeout {
        case .temporary: failTemporarily(authenticating.joined, helper, problem, &turn)
        case .fatal: failForGood(authenticating.joined, helper, problem, &turn)
        }
    }

    /// Follows the proof of a login, in authenticating or presentingUI. While the proof continues, `next` makes the next state.
    mutating func follow(
        _ proof: Proof, of helper: String, _ joined: JoinedNetwork, _ event: StateEvent, _ next: (Proof) -> MachineState,
        _ turn: inout Turn
    ) {
        switch advance(proof, event, &turn) {
        case nil: break
        case .continues(let proof): state = next(proof)
        case .proven(let verdict, let seconds):
            reportUnproven(verdict, &turn)
            let cause =
                verdict?.isOpen == true
                ? "\(helper) reports a login, and the probe confirms it"
                : "\(helper) reports that the network is open, but the probe cannot prove it"
            openClaimed(
                joined, helper, secondsRemaining: seconds, MaintainSchedule(),
                lookingAgain: verdict == .limited ? policy.watchFirst : nil, cause, &turn)
        case .refuted:
            // The network stayed captive. The login is kept, because the network may still open.
            var joined = joined
            keepUnproven(proof, of: helper, in: &joined, &turn)
            failTemporarily(joined, helper, .stillCaptive(helper), &turn)
        }
    }
}

extension Prompt {
    /// Returns the prompt of a helper that needs the user without saying why.
    static func empty(_ helper: String) -> Prompt { Prompt(title: helper, message: "\(helper) needs you but does not say why.") }
}

extension Problem {
    static func crashed(_ helper: String) -> Problem {
        Problem(.helperCrashed, "\(helper) ended without an answer.", hint: "hotspotctl explain")
    }
    static func notStarted(_ reason: String) -> Problem {
        Problem(.helperNoRoom, reason, hint: "systemctl status hotspotd")
    }
    static func timeout(_ helper: String, _ command: Command) -> Problem {
        Problem(.helperTimeout, "\(helper) did not answer \(command) in time.", hint: "hotspotctl explain")
    }
    static func refused(_ helper: String, _ reason: String?) -> Problem {
        Problem(
            .loginFailed, QuotedProblem.join("\(helper) could not log in, and hotspotd does not try again.", reason),
            hint: "hotspotctl login")
    }
    static func notNow(_ helper: String, _ reason: String?) -> Problem {
        Problem(
            .loginDelayed, QuotedProblem.join("\(helper) could not log in for now.", reason), hint: "hotspotctl explain")
    }
    static func tooSoon(_ helper: String, _ pause: Duration) -> Problem {
        // Round up, so that the pause is over when this many seconds have passed.
        let seconds = pause.components.seconds + (pause.components.attoseconds > 0 ? 1 : 0)
        return Problem(
            .loginPaused,
            "The last login was a moment ago, so \(helper) waits \(seconds) s.",
            hint: "hotspotctl login")
    }
    static func stillCaptive(_ helper: String) -> Problem {
        Problem(
            .stillCaptive, "\(helper) reports a login, but the portal is still there; the network may open in a moment.",
            hint: "hotspotctl explain")
    }
}
