import HotspotCore

extension Machine {
    /// Asks the chosen helper whether the session is still valid, and the prober at the same time (T3, T33, D20).
    mutating func maintain(
        _ joined: JoinedNetwork, _ helper: String, startsClosed: Bool, justJoined: Bool = false, _ schedule: MaintainSchedule,
        _ cause: String, _ turn: inout Turn
    ) {
        var joined = joined
        beginAttempt(&joined, &turn)
        let probe = startProbe(fresh: false, &turn)
        let command = send(.maintain, to: helper, justJoined: justJoined, &turn)
        let maintaining = Maintaining(
            joined: joined, helper: helper, startsClosed: startsClosed, phase: .commanding(command), verdict: .awaited(probe),
            schedule: schedule)
        go(.maintaining(maintaining), cause, &turn)
    }

    /// Waits for the helper's answer and the verdict, which decide together (T36 to T39, D11, D12, D20).
    mutating func handle(_ event: StateEvent, in maintaining: Maintaining, _ turn: inout Turn) {
        switch event {
        case .answered(let answer): handle(answer, in: maintaining, &turn)
        case .probed(let verdict, let seconds): store(verdict, seconds, maintaining, &turn)
        case .verdictSeen(let verdict):
            // The newest verdict counts, including the verdict of a check. If the machine's own probe still runs, its verdict will be newer.
            if case .known = maintaining.verdict { store(verdict, nil, maintaining, &turn) }
        case .logoffRequested: state = .maintaining(maintaining.with { $0.logoffQueued = true })
        case .raceAnswered, .timerFired, .promptAnswered, .promptDismissed, .restEnded, .disassociationRefused: break
        }
    }

    private mutating func store(_ verdict: Verdict?, _ seconds: Int?, _ maintaining: Maintaining, _ turn: inout Turn) {
        let next = maintaining.with { $0.verdict = .known(verdict, secondsRemaining: seconds) }
        state = .maintaining(next)
        decideSession(next, &turn)
    }

    private mutating func handle(_ answer: CommandAnswer?, in maintaining: Maintaining, _ turn: inout Turn) {
        let helper = maintaining.helper
        guard let answer else {
            turn.act(.strike(helper: helper, .silence))
            return loseSession(maintaining, mayReturn: true, Problem.timeout(helper, .maintain).message, &turn)
        }
        if !isCandidate(helper), !maintaining.logoffQueued { return replaceSwitchedOff(helper, maintaining.joined, &turn) }
        switch answer {
        case .crashed:
            turn.act(.strike(helper: helper, .crash))
            loseSession(maintaining, mayReturn: true, Problem.crashed(helper).message, &turn)
        case .notStarted(let reason): loseSession(maintaining, mayReturn: true, reason, &turn)
        case .evaluated, .garbled:
            loseSession(maintaining, mayReturn: true, "\(helper) could not maintain the session", &turn)
        case .replied(let result, _, let seconds, _, _):
            turn.act(.acquit(helper: helper))
            switch result {
            case .success:
                let next = maintaining.with {
                    $0.phase = .awaitingVerdict(secondsRemaining: seconds, isSecondProbe: false)
                }
                state = .maintaining(next)
                decideSession(next, &turn)
            case .authenticationRequired:
                renewSession(maintaining, maintaining.startsClosed ? "no session is left" : "the session is over", &turn)
            case .uiRequired where policy.maintainMayAsk: renewSession(maintaining, "\(helper) needs the user", &turn)
            case .uiRequired: loseSession(maintaining, mayReturn: false, "\(helper) needs the user", &turn)
            case .temporaryFailure: loseSession(maintaining, mayReturn: true, "\(helper) cannot keep the session for now", &turn)
            case .failure: loseSession(maintaining, mayReturn: false, "\(helper) cannot keep the session", &turn)
            case .unsupportedNetwork: loseSession(maintaining, mayReturn: false, "\(helper) does not support this network", &turn)
            case .commandNotRecognized: loseSession(maintaining, mayReturn: false, "\(helper) keeps no sessions", &turn)
            }
        }
    }

    /// Decides about the session once the helper has confirmed it and there is a verdict.
    private mutating func decideSession(_ maintaining: Maintaining, _ turn: inout Turn) {
        guard case .awaitingVerdict(let seconds, let isSecondProbe) = maintaining.phase,
            case .known(let verdict, let probeSeconds) = maintaining.verdict
        else { return }
        if verdict == .captive {
            // A portal in the Internet's place outweighs the helper's answer. But probe once more first: the helper may have logged in after the
            // first probe began, as Maintain allows, and a second login could cost a second voucher.
            if isSecondProbe {
                return renewSession(
                    maintaining, "\(maintaining.helper) reports a valid session, but the portal is back", &turn)
            }
            let probe = startProbe(fresh: true, &turn)
            state = .maintaining(
                maintaining.with {
                    $0.phase = .awaitingVerdict(secondsRemaining: seconds, isSecondProbe: true)
                    $0.verdict = .awaited(probe)
                })
            return
        }
        reportUnproven(verdict, &turn)
        if maintaining.logoffQueued {
            // A helper that is switched off gets no command, not even a logoff.
            guard isCandidate(maintaining.helper) else {
                let cause = "\(maintaining.helper) was switched off, and the user asked for a logoff"
                return endSession(maintaining.joined, of: maintaining.helper, .unconfirmed, cause, &turn)
            }
            return logOff(maintaining.joined, maintaining.helper, &turn)
        }
        let cause =
            verdict?.isOpen == true
            ? "no new login is needed" : "\(maintaining.helper) reports a valid session, but the probe cannot prove it"
        openClaimed(
            maintaining.joined, maintaining.helper, secondsRemaining: seconds ?? probeSeconds, maintaining.schedule,
            lookingAgain: verdict == .limited ? policy.watchLongest : nil, cause, &turn)
    }

    /// Lets the same helper log in again, without a race (T37). If the candidates have changed since the helper was chosen, a race decides.
    private mutating func renewSession(_ maintaining: Maintaining, _ cause: String, _ turn: inout Turn) {
        var joined = maintaining.joined
        if maintaining.logoffQueued { return endQueuedLogoff(maintaining, &turn) }
        // At a join, Maintain and the login are one attempt, which continues: no session of this visit has ended.
        if !maintaining.startsClosed { endAttempt(&joined, .expired, &turn) }
        if let contenders = joined.contenders, candidates.contains(where: { !contenders.contains($0.mark) }) {
            return evaluate(
                joined, goesOn: maintaining.startsClosed, "\(cause), and a helper, or a file that it reads, has changed", &turn)
        }
        if !maintaining.startsClosed { beginAttempt(&joined, &turn) }
        authenticate(joined, maintaining.helper, cause, &turn)
    }

    /// Starts a new race that includes the helper (T38, D11). If no helper wants to log in and the network is not captive, a session that may still
    /// be valid is restored.
    private mutating func loseSession(_ maintaining: Maintaining, mayReturn: Bool, _ cause: String, _ turn: inout Turn) {
        var joined = maintaining.joined
        if maintaining.logoffQueued { return endQueuedLogoff(maintaining, &turn) }
        if mayReturn { keepInterrupted(&joined, &turn) } else { endAttempt(&joined, .expired, &turn) }
        if joined.pace.hasLasted(at: turn.now, policy) { joined.record.sessionLasted(maintaining.helper) }
        joined.record.maintainFailed(maintaining.helper)
        evaluate(joined, goesOn: mayReturn, cause, &turn)
    }

    /// Carries out a queued logoff without a Logoff command, because Maintain found no valid session.
    private mutating func endQueuedLogoff(_ maintaining: Maintaining, _ turn: inout Turn) {
        endSession(maintaining.joined, of: maintaining.helper, .confirmed, Self.alreadyEnded, &turn)
    }
}
