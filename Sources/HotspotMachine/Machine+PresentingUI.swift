import HotspotCore

extension Machine {
    /// T19: the prompt is shown, then the state changes (behaviour 56). A further question takes the place of the former (D2).
    mutating func present(
        _ association: Association, _ helper: String, _ prompt: Prompt, further: Int, _ cause: String, _ turn: inout Turn
    ) {
        let id: PromptID = issue()
        turn.act(.showPrompt(id, prompt, helper: helper))
        let next = PresentingUI(
            association: association, helper: helper, promptID: id, prompt: prompt, further: further,
            phase: .waiting(startWatch(&turn)))
        if state.name == .presentingUI { state = .presentingUI(next) } else { go(.presentingUI(next), cause, &turn) }
    }

    /// The user is waited for without a deadline, the command has one (D21).
    mutating func handle(_ event: Event, in presenting: PresentingUI, _ turn: inout Turn) {
        var presenting = presenting
        let association = presenting.association
        switch event {
        case .loginRequested(let wanted):
            turn.act(.releaseHold)
            return evaluate(association.started(byUser: true), only: wanted, "the user asked for a login", &turn)
        default: break
        }
        switch presenting.phase {
        case .waiting(let watch):
            if event == .promptAnswered(presenting.promptID) {
                presenting.phase = .commanding(send(.presentUI, to: presenting.helper, &turn))
                state = .presentingUI(presenting)
                return
            }
            if event == .promptDismissed(presenting.promptID) {
                var association = association
                endAttempt(&association, .dismissed, &turn)
                return hold(association, .dismissed, "the user dismissed the question", &turn)
            }
            switch advance(watch, event, &turn) {
            case .none: break
            case .goesOn(let watch):
                presenting.phase = .waiting(watch)
                state = .presentingUI(presenting)
            case .opened(let seconds):
                openUnclaimed(association, .open, secondsRemaining: seconds, "the network opened by itself", &turn)
            }
        case .commanding(let pending):
            switch event {
            case .answered(let id, let answer) where id == pending.id:
                if turn.now >= pending.deadline.at { return mishap(presenting, .timeout(presenting.helper, .presentUI), &turn) }
                take(answer, presenting, &turn)
            case .timerFired(let id) where id == pending.deadline.id:
                mishap(presenting, .timeout(presenting.helper, .presentUI), &turn)
            default: break
            }
        case .proving(let proof):
            switch advance(proof, event, &turn) {
            case .none: break
            case .goesOn(let proof):
                presenting.phase = .proving(proof)
                state = .presentingUI(presenting)
            case .proven(let verdict, let seconds): proven(association, presenting.helper, verdict, seconds, &turn)
            case .refuted:
                failTemporarily(association, presenting.helper, .stillCaptive(presenting.helper), &turn)
            }
        }
    }

    private mutating func take(_ answer: CommandAnswer, _ presenting: PresentingUI, _ turn: inout Turn) {
        var association = presenting.association
        let helper = presenting.helper
        if !isCandidate(helper) { return abandon(association, helper, &turn) }
        switch answer {
        case .crashed: mishap(presenting, .crashed(helper), &turn)
        case .notStarted(let reason): mishap(presenting, .noRoom(reason), isItsOwn: false, &turn)
        case .evaluated: failForGood(association, helper, .refused(helper, nil), &turn)
        case .garbled(let reason): failForGood(association, helper, .refused(helper, reason), &turn)
        case .replied(let result, let prompt, let seconds, let reason):
            turn.act(.acquit(helper: helper))
            switch result {
            case .success:
                var next = presenting
                next.phase = .proving(startProof(secondsRemaining: seconds, &turn))
                state = .presentingUI(next)
            case .uiRequired where presenting.further < policy.furtherPrompts:
                present(association, helper, prompt ?? .empty(helper), further: presenting.further + 1, "", &turn)
            case .unsupportedNetwork:
                association.excluded.insert(helper)
                turn.act(.forgetChoice(of: helper))
                evaluate(association, "\(helper) does not support this network", &turn)
            case .temporaryFailure: failTemporarily(association, helper, .notNow(helper, reason), &turn)
            case .uiRequired, .failure, .authenticationRequired, .commandNotRecognized:
                failForGood(association, helper, .refused(helper, reason), &turn)
            }
        }
    }

    /// A missed deadline or a death brings the same prompt back, under a new ID, since the old one was answered; the third time it
    /// is a temporary failure.
    ///
    /// - Parameter isItsOwn: the helper is to blame.
    private mutating func mishap(_ presenting: PresentingUI, _ problem: Problem, isItsOwn: Bool = true, _ turn: inout Turn) {
        var next = presenting
        next.mishaps += 1
        if isItsOwn { turn.act(.strike(helper: presenting.helper)) }
        guard isCandidate(presenting.helper) else { return abandon(presenting.association, presenting.helper, &turn) }
        guard next.mishaps < 3 else {
            return failTemporarily(presenting.association, isItsOwn ? presenting.helper : nil, problem, &turn)
        }
        turn.act(.report(problem))
        next.promptID = issue()
        turn.act(.showPrompt(next.promptID, next.prompt, helper: next.helper))
        next.phase = .waiting(startWatch(&turn))
        state = .presentingUI(next)
    }
}
