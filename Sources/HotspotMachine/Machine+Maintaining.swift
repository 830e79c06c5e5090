import HotspotCore

extension Machine {
    /// T36 to T39, D11, D12, D20: the helper's answer and the verdict together decide.
    mutating func handle(_ event: Event, in maintaining: Maintaining, _ turn: inout Turn) {
        var maintaining = maintaining
        switch event {
        case .verdictReached(let id, let verdict, let seconds) where id == maintaining.opinion.probing?.id:
            learn(verdict, seconds, maintaining, &turn)
        case .verdictSeen(let verdict):
            // The newest verdict counts, whoever asked for it; a question of our own that still runs will be newer.
            if case .known = maintaining.opinion { learn(verdict, nil, maintaining, &turn) }
        case .loginRequested(let wanted):
            turn.act(.releaseHold)
            evaluate(maintaining.association.started(byUser: true), only: wanted, "the user asked for a login", &turn)
        case .logoffRequested(let requester) where acceptsLogoff(by: requester):
            maintaining.logoffQueued = true
            state = .maintaining(maintaining)
        case .answered(let id, let answer):
            guard case .commanding(let pending) = maintaining.phase, pending.id == id else { return }
            if turn.now >= pending.deadline.at { return missed(maintaining, .timeout(maintaining.helper, .maintain), &turn) }
            take(answer, maintaining, &turn)
        case .timerFired(let id):
            guard case .commanding(let pending) = maintaining.phase, pending.deadline.id == id else { return }
            missed(maintaining, .timeout(maintaining.helper, .maintain), &turn)
        default: break
        }
    }

    private mutating func learn(_ verdict: Verdict?, _ seconds: Int?, _ maintaining: Maintaining, _ turn: inout Turn) {
        var next = maintaining
        next.opinion = .known(verdict, secondsRemaining: seconds)
        state = .maintaining(next)
        if case .awaitingVerdict = next.phase { conclude(next, &turn) }
    }

    private mutating func take(_ answer: CommandAnswer, _ maintaining: Maintaining, _ turn: inout Turn) {
        let helper = maintaining.helper
        if !isCandidate(helper), !maintaining.logoffQueued { return abandon(maintaining.association, maintaining.helper, &turn) }
        switch answer {
        case .crashed: missed(maintaining, .crashed(helper), &turn)
        case .notStarted(let reason): lost(maintaining, reason, &turn)
        case .evaluated, .garbled: lost(maintaining, "\(helper) could not maintain the session", &turn)
        case .replied(let result, _, let seconds, _):
            turn.act(.acquit(helper: helper))
            switch result {
            case .success:
                var next = maintaining
                next.phase = .awaitingVerdict(secondsRemaining: seconds, isAskedAnew: false)
                state = .maintaining(next)
                if case .known = next.opinion { conclude(next, &turn) }
            case .authenticationRequired: renew(maintaining, "the session is over", &turn)
            case .uiRequired where policy.maintainMayAsk: renew(maintaining, "\(helper) needs the user", &turn)
            case .uiRequired, .failure, .temporaryFailure, .unsupportedNetwork, .commandNotRecognized:
                lost(maintaining, "\(helper) answered \(result.rawValue)", &turn)
            }
        }
    }

    /// The helper says yes.
    private mutating func conclude(_ maintaining: Maintaining, _ turn: inout Turn) {
        guard case .awaitingVerdict(let seconds, let isAskedAnew) = maintaining.phase,
            case .known(let verdict, let probeSeconds) = maintaining.opinion
        else { return }
        if verdict == .captive {
            // A portal in the Internet's place outweighs the helper's word. But the probe began beside the command, and the helper may
            // have logged in since, as it may while it maintains: a second login could cost a second voucher.
            if isAskedAnew { return renew(maintaining, "\(maintaining.helper) says yes, and the portal is there", &turn) }
            var next = maintaining
            next.phase = .awaitingVerdict(secondsRemaining: seconds, isAskedAnew: true)
            next.opinion = .asked(startProbe(fresh: true, &turn))
            state = .maintaining(next)
            return
        }
        reportUnproven(verdict, &turn)
        if maintaining.logoffQueued {
            // Who is switched off is not asked any more, not even to log off.
            guard isCandidate(maintaining.helper) else { return ended(maintaining.association, &turn) }
            return logOff(maintaining.association, maintaining.helper, &turn)
        }
        succeed(
            maintaining.association, maintaining.helper, secondsRemaining: seconds ?? probeSeconds, maintaining.schedule,
            "the session is good", &turn)
    }

    /// T37: the same helper logs in again, without a race.
    private mutating func renew(_ maintaining: Maintaining, _ cause: String, _ turn: inout Turn) {
        var association = maintaining.association
        if maintaining.logoffQueued { return ended(association, &turn) }
        endAttempt(&association, .expired, &turn)
        beginAttempt(&association, &turn)
        authenticate(association, maintaining.helper, cause, &turn)
    }

    /// T38: a new race, the helper among the candidates (D11).
    private mutating func lost(_ maintaining: Maintaining, _ cause: String, _ turn: inout Turn) {
        var association = maintaining.association
        if maintaining.logoffQueued { return ended(association, &turn) }
        endAttempt(&association, .expired, &turn)
        if association.pace.hasLasted(at: turn.now, policy) { association.forgive(maintaining.helper) }
        association.winsAfterFailedMaintain[maintaining.helper, default: 0] += 0
        evaluate(association, cause, &turn)
    }

    private mutating func missed(_ maintaining: Maintaining, _ problem: Problem, _ turn: inout Turn) {
        turn.act(.strike(helper: maintaining.helper))
        lost(maintaining, problem.message, &turn)
    }

    /// A logoff waited for the answer, and the answer is that there is no session: what was wanted has happened.
    private mutating func ended(_ association: Association, _ turn: inout Turn) {
        endSession(association, "the session had ended already", &turn)
    }
}
