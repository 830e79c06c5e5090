import HotspotCore

extension Machine {
    /// Shows the prompt, then changes the state (T19, behaviour 56). A further prompt replaces the previous one (D2).
    mutating func present(
        _ joined: JoinedNetwork, _ helper: String, _ prompt: Prompt, further: Int, _ cause: String, _ turn: inout Turn
    ) {
        var joined = joined
        if prompt.mayOpen == true { keepUndecided(helper, in: &joined, &turn) }
        joined.trail.handleLast()
        let id: PromptID = issue()
        turn.act(.showPrompt(id, prompt, helper: helper))
        let next = PresentingUI(
            joined: joined, helper: helper, promptID: id, prompt: prompt, further: further, phase: .waiting(startWatch(&turn)))
        if state.name == .presentingUI { state = .presentingUI(next) } else { go(.presentingUI(next), cause, &turn) }
    }

    /// Waits for the user without a deadline, then for the command, which has a deadline (D21), then for the proof (D25).
    mutating func handle(_ event: StateEvent, in presenting: PresentingUI, _ turn: inout Turn) {
        let joined = presenting.joined
        let helper = presenting.helper
        func stay(_ phase: PresentingUI.PromptPhase) -> MachineState { .presentingUI(presenting.with { $0.phase = phase }) }
        switch presenting.phase {
        case .waiting(let watch):
            let isFresh = joined.standing?.ground == .fresh
            if event == .promptAnswered {
                state = stay(.commanding(send(.presentUI, to: helper, &turn)))
                return
            }
            if event == .promptDismissed {
                if isFresh, joined.lastVerdict?.isOpen == true, let login = provenLogin(joined) {
                    return open(login, joined, secondsRemaining: nil, "the user dismissed the question", &turn)
                }
                var joined = joined
                // Drop an undecided login, because it belongs to the dismissed question.
                if case .undecided = joined.standing?.ground { dropStanding(&joined, &turn) }
                endAttempt(&joined, .dismissed, &turn)
                return hold(joined, .dismissed, "the user dismissed the question", &turn)
            }
            // Start a race: a helper that was switched on may log in without a browser.
            if event == .restEnded, presenting.handsOver { return evaluate(joined, "a helper was switched on", &turn) }
            switch advance(watch, event, &turn) {
            case nil: break
            case .continues(let watch): state = stay(.waiting(watch))
            // Keep waiting although the network is open, because the user wants a fresh login (D26).
            case .opened where isFresh: state = stay(.waiting(pause(watch, &turn)))
            case .opened where presenting.handsOver: state = stay(.confirming(send(.presentUI, to: helper, &turn)))
            case .opened(let seconds):
                openUnclaimed(joined, .opened, secondsRemaining: seconds, "the network is open now", &turn)
            }
        case .commanding(let command):
            if case .answered(let answer) = event { handle(answer, to: command, in: presenting, &turn) }
        case .confirming(let command):
            if case .answered(let answer) = event { confirm(answer, to: command, in: presenting, &turn) }
        case .proving(let proof):
            follow(proof, of: helper, joined, event, { stay(.proving($0)) }, &turn)
        }
    }

    private mutating func handle(
        _ answer: CommandAnswer?, to command: RunningCommand, in presenting: PresentingUI, _ turn: inout Turn
    ) {
        let joined = presenting.joined
        let helper = presenting.helper
        guard let answer else { return showAgain(presenting, .timeout(helper, .presentUI), strike: .silence, &turn) }
        guard isCandidate(helper) else { return replaceSwitchedOff(helper, joined, &turn) }
        switch answer {
        case .crashed: showAgain(presenting, .crashed(helper), strike: .crash, &turn)
        case .notStarted(let reason): showAgain(presenting, .notStarted(reason), strike: nil, &turn)
        case .evaluated: failForGood(joined, helper, .refused(helper, nil), &turn)
        case .garbled(let reason): failForGood(joined, helper, .refused(helper, reason), &turn)
        case .replied(let result, let prompt, let seconds, _, let reason):
            turn.act(.acquit(helper: helper))
            switch result {
            case .success:
                prove(
                    helper, until: command.deadline.at, secondsRemaining: seconds,
                    { proof in .presentingUI(presenting.with { $0.phase = .proving(proof) }) }, &turn)
            case .uiRequired where presenting.further < policy.furtherPrompts:
                present(joined, helper, prompt ?? .empty(helper), further: presenting.further + 1, "", &turn)
            case .unsupportedNetwork: exclude(helper, joined, &turn)
            case .temporaryFailure: failTemporarily(joined, helper, .notNow(helper, reason), &turn)
            case .uiRequired: failForGood(joined, helper, .refused(helper, reason ?? prompt?.message), &turn)
            case .failure, .authenticationRequired, .commandNotRecognized:
                failForGood(joined, helper, .refused(helper, reason), &turn)
            }
        }
    }

    /// Ends a hand-over once the network is open. If the helper reports success, its login opened the network; otherwise, the network opened by
    /// itself (D30).
    private mutating func confirm(
        _ answer: CommandAnswer?, to command: RunningCommand, in presenting: PresentingUI, _ turn: inout Turn
    ) {
        let helper = presenting.helper
        switch answer {
        case .replied(.success, _, _, _, _) where isCandidate(helper):
            return handle(answer, to: command, in: presenting, &turn)
        case nil: turn.act(.strike(helper: helper, .silence))
        case .crashed: turn.act(.strike(helper: helper, .crash))
        case .replied: turn.act(.acquit(helper: helper))
        case .evaluated, .garbled, .notStarted: break
        }
        guard isCandidate(helper) else { return replaceSwitchedOff(helper, presenting.joined, &turn) }
        // A check may have found the portal again meanwhile.
        guard presenting.joined.lastVerdict != .captive else { return askAgain(presenting, &turn) }
        openUnclaimed(presenting.joined, .opened, secondsRemaining: nil, "the network is open now", &turn)
    }

    /// Shows the same prompt again after a command that missed its deadline, crashed or could not be started. The prompt gets a new ID, because the
    /// old one was answered. The third such command is a temporary failure, which counts against the helper only if that command caused a strike.
    private mutating func showAgain(
        _ presenting: PresentingUI, _ problem: Problem, strike: StrikeReason?, _ turn: inout Turn
    ) {
        var next = presenting
        next.failedTries += 1
        if let strike { turn.act(.strike(helper: next.helper, strike)) }
        guard isCandidate(next.helper) else { return replaceSwitchedOff(next.helper, next.joined, &turn) }
        guard next.failedTries < 3 else {
            return failTemporarily(next.joined, strike == nil ? nil : next.helper, problem, &turn)
        }
        turn.act(.report(problem))
        askAgain(next, &turn)
    }

    private mutating func askAgain(_ presenting: PresentingUI, _ turn: inout Turn) {
        var next = presenting
        next.promptID = issue()
        turn.act(.showPrompt(next.promptID, next.prompt, helper: next.helper))
        next.phase = .waiting(startWatch(&turn))
        state = .presentingUI(next)
    }
}

extension PresentingUI {
    package var handsOver: Bool { prompt.handsOver }
}
