import HotspotCore

extension Machine {
    /// The chosen helper frees the network (T17 to T24), then the prober proves it (D20).
    mutating func handle(_ event: Event, in authenticating: Authenticating, _ turn: inout Turn) {
        let association = authenticating.association
        let helper = authenticating.helper
        if case .loginRequested(let wanted) = event {
            turn.act(.releaseHold)
            return evaluate(association.started(byUser: true), only: wanted, "the user asked for a login", &turn)
        }
        switch authenticating.phase {
        case .pausing(let end, let watch): handle(event, authenticating, until: end, watch, &turn)
        case .commanding(let pending):
            switch event {
            case .answered(let id, let answer) where id == pending.id:
                // 45.000 s is too late, whichever of answer and timer the loop serves first.
                if turn.now >= pending.deadline.at { return missed(authenticating, .timeout(helper, .authenticate), &turn) }
                take(answer, authenticating, &turn)
            case .timerFired(let id) where id == pending.deadline.id:
                missed(authenticating, .timeout(helper, .authenticate), &turn)
            default: break
            }
        case .proving(let proof):
            switch advance(proof, event, &turn) {
            case .none: break
            case .goesOn(let proof):
                var next = authenticating
                next.phase = .proving(proof)
                state = .authenticating(next)
            case .proven(let verdict, let seconds): proven(association, helper, verdict, seconds, &turn)
            case .refuted: failTemporarily(association, helper, .stillCaptive(helper), &turn)
            }
        }
    }

    /// D23: the login waits its time, or is not needed any more.
    private mutating func handle(
        _ event: Event, _ authenticating: Authenticating, until end: Deadline, _ watch: Watch, _ turn: inout Turn
    ) {
        var next = authenticating
        if event == .timerFired(end.id) {
            turn.act(.clearProblems)
            next.phase = .commanding(send(.authenticate, to: next.helper, &turn))
            state = .authenticating(next)
            return
        }
        switch advance(watch, event, &turn) {
        case .none: break
        case .goesOn(let watch):
            next.phase = .pausing(end, watch)
            state = .authenticating(next)
        case .opened(let seconds):
            openUnclaimed(next.association, .open, secondsRemaining: seconds, "the network opened by itself", &turn)
        }
    }

    private mutating func take(_ answer: CommandAnswer, _ authenticating: Authenticating, _ turn: inout Turn) {
        let helper = authenticating.helper
        var association = authenticating.association
        if case .crashed = answer { return missed(authenticating, .crashed(helper), &turn) }
        guard isCandidate(helper) else { return abandon(association, helper, &turn) }
        switch answer {
        case .crashed: break
        case .notStarted(let reason): failTemporarily(association, nil, .noRoom(reason), &turn)
        case .evaluated: failForGood(association, helper, .refused(helper, nil), &turn)
        case .garbled(let reason): failForGood(association, helper, .refused(helper, reason), &turn)
        case .replied(let result, let prompt, let seconds, let reason):
            turn.act(.acquit(helper: helper))
            switch result {
            case .success:
                var next = authenticating
                next.phase = .proving(startProof(secondsRemaining: seconds, &turn))
                state = .authenticating(next)
            case .uiRequired:
                present(association, helper, prompt ?? .empty(helper), further: 0, "\(helper) needs the user", &turn)
            case .unsupportedNetwork:
                association.excluded.insert(helper)
                turn.act(.forgetChoice(of: helper))
                evaluate(association, "\(helper) does not support this network", &turn)
            case .temporaryFailure: failTemporarily(association, helper, .notNow(helper, reason), &turn)
            case .failure, .authenticationRequired, .commandNotRecognized:
                failForGood(association, helper, .refused(helper, reason), &turn)
            }
        }
    }

    /// D1: a missed deadline or a death says nothing about the network, but for the strict rules.
    private mutating func missed(_ authenticating: Authenticating, _ problem: Problem, _ turn: inout Turn) {
        turn.act(.strike(helper: authenticating.helper))
        guard isCandidate(authenticating.helper) else { return abandon(authenticating.association, authenticating.helper, &turn) }
        switch policy.onTimeout {
        case .temporary: failTemporarily(authenticating.association, authenticating.helper, problem, &turn)
        case .fatal: failForGood(authenticating.association, authenticating.helper, problem, &turn)
        }
    }

    mutating func proven(
        _ association: Association, _ helper: String, _ verdict: Verdict?, _ seconds: Int?, _ turn: inout Turn
    ) {
        reportUnproven(verdict, &turn)
        let cause = verdict == nil ? "\(helper) says that it is free" : "\(helper) freed it, and the probe proves it"
        succeed(association, helper, secondsRemaining: seconds, MaintainSchedule(), cause, &turn)
    }
}

extension Prompt {
    /// For a helper that needs the user and does not say what for.
    static func empty(_ helper: String) -> Prompt { Prompt(title: helper, message: "\(helper) needs you, and does not say why.") }
}

extension Problem {
    static func crashed(_ helper: String) -> Problem {
        Problem(.helperCrashed, "\(helper) ended without an answer.", hint: "hotspotctl explain")
    }
    static func noRoom(_ reason: String) -> Problem {
        Problem(.helperNoRoom, reason, hint: "systemctl status hotspotd")
    }
    static func timeout(_ helper: String, _ command: Command) -> Problem {
        Problem(.helperTimeout, "\(helper) did not answer \(command) in time.", hint: "hotspotctl explain")
    }
    static func refused(_ helper: String, _ reason: String?) -> Problem {
        Problem(
            .loginFailed, said(helper, reason) ?? "\(helper) could not log in, and will not try again by itself.",
            hint: "hotspotctl login")
    }
    static func notNow(_ helper: String, _ reason: String?) -> Problem {
        Problem(.loginDelayed, said(helper, reason) ?? "\(helper) could not log in for now.", hint: "hotspotctl explain")
    }
    /// Under the helper's name, so that nobody takes its words for the daemon's.
    private static func said(_ helper: String, _ reason: String?) -> String? { reason.map { "\(helper): \($0)" } }
    static func tooSoon(_ helper: String) -> Problem {
        Problem(
            .loginPaused, "\(helper) wants to log in again, and the last login was a moment ago: it has to wait a while.",
            hint: "hotspotctl login")
    }
    static func stillCaptive(_ helper: String) -> Problem {
        Problem(.stillCaptive, "\(helper) says that it is done, and the portal is still there.", hint: "hotspotctl explain")
    }
}
