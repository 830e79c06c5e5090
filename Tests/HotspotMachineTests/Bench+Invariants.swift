import HotspotCore
import Testing

@testable import HotspotMachine

extension Bench {
    /// Notes the verdict of an event, or that there is none.
    mutating func noteVerdict(_ event: Event) {
        switch event {
        case .verdictSeen(let verdict, _): if machine.state.joined != nil { lastVerdict = verdict }
        case .verdictReached(let id, let verdict, _, _):
            guard probes.contains(id) else { return }
            let isLate = alarms.contains { $0.purpose == .probe && $0.at <= now }
            noteVerdict(isLate ? nil : verdict)
        case .timerFired(let id): if alarms.contains(where: { $0.id == id && $0.purpose == .probe }) { noteVerdict(nil) }
        case .addressLost, .addressAcquired: lastVerdict = nil
        case .roamed, .helpersChanged, .answered, .promptAnswered, .promptDismissed, .loginRequested, .logoffRequested,
            .restEnded,
            .disassociationRefused:
            break
        }
    }

    /// A missing verdict proves nothing: a portal that was found is still there.
    private mutating func noteVerdict(_ verdict: Verdict?) {
        if verdict != nil || lastVerdict != .captive { lastVerdict = verdict }
    }

    /// Changes the world as the actions require; an action that does not fit is a fault of the machine.
    mutating func carryOut(_ actions: [Action], _ event: Event) {
        if case .answered(let id, _) = event { commands.removeAll { $0.id == id } }
        if case .timerFired(let id) = event { alarms.removeAll { $0.id == id } }
        if case .verdictReached(let id, _, _, _) = event { probes.removeAll { $0 == id } }
        for action in actions {
            switch action {
            case .transition, .awaitProof, .forgetChoice, .dropSession, .releaseHold: break
            case .beginAttempt(let id):
                fresh(id)
                fault(openAttempt != nil, "an attempt begins within another")
                openAttempt = id
            case .endAttempt(let id, let outcome):
                fault(openAttempt != id, "an attempt ends that does not run")
                openAttempt = nil
                outcomes.append(outcome)
                if !keepsLog { outcomes = outcomes.suffix(4) }
            case .setGate(let open):
                fault(gate == open, "the gate is set to what it is")
                gate = open
            case .sendCommand(let id, let command, let helper, let justJoined):
                fresh(id)
                fault(commands.contains { $0.helper == helper }, "two commands at once for \(helper)")
                commands.append(Open(id: id, command: command, helper: helper, justJoined: justJoined))
            case .cancelCommand(let id):
                fault(!commands.contains { $0.id == id }, "a command is cancelled that does not run")
                commands.removeAll { $0.id == id }
            case .startTimer(let id, let at, let purpose):
                fresh(id)
                fault(at < now && purpose != .hold, "a timer of the past: \(purpose)")
                alarms.append(Alarm(id: id, at: at, purpose: purpose))
            case .stopTimer(let id):
                fault(!alarms.contains { $0.id == id }, "a timer is stopped that does not run")
                alarms.removeAll { $0.id == id }
            case .startProbe(let id, _):
                fresh(id)
                probes.append(id)
            case .cancelProbe(let id):
                fault(!probes.contains(id), "a probe is cancelled that does not run")
                probes.removeAll { $0 == id }
            case .showPrompt(let id, let shown, let helper):
                fresh(id)
                fault(prompt != nil, "two prompts at once")
                prompt = (id, shown, helper)
            case .withdrawPrompt(let id):
                fault(prompt?.id != id, "a prompt is withdrawn that is not shown")
                prompt = nil
            case .remember(let helper): remembered = helper
            case .keepLogin(let id, let helper): (kept, keptLogin) = (helper, id)
            case .restoreLogin(let id, let helper):
                fault(kept != helper || keptLogin != id, "a login is restored that was not kept")
                kept = nil
            case .dropLogin(let id):
                fault(keptLogin != id, "a login is dropped that was not kept")
                kept = nil
            case .hold(let reason, _, _):
                holds.append(reason)
                if !keepsLog { holds = holds.suffix(4) }
            case .disassociate: disassociations += 1
            case .strike(let helper, _): strikes[helper, default: 0] += 1
            case .acquit(let helper): strikes[helper] = nil
            case .report(let problem): problems.append(problem)
            case .clearProblems: problems = []
            }
        }
    }

    /// Checks what must hold in every state, after every step.
    mutating func check(_ before: MachineState, _ actions: [Action], _ event: Event) {
        let state = machine.state
        // The states with an open gate, derived in another way than in the machine.
        let mayBeOpen =
            switch state {
            case .authenticated, .loggingOff: true
            case .maintaining(let maintaining): !maintaining.startsClosed
            case .inactive, .evaluating, .authenticating, .presentingUI, .failure: false
            }
        let isOpen = gate
        fault(isOpen != mayBeOpen, "the gate is \(isOpen ? "open" : "closed") in \(state.name)")

        // Nothing outlives its state, and nothing that the state waits for is missing.
        let inFlight = state.inFlight
        fault(Set(commands.map(\.id)) != Set(inFlight.commands), "the commands that run are not the state's")
        let running = alarms
        fault(
            Set(running.map(\.id)) != Set(inFlight.timers), "the timers that run are not the state's: \(running.map(\.purpose))")
        fault(probes != (inFlight.probe.map { [$0.id] } ?? []), "the probes that run are not the state's")
        fault(prompt?.id != inFlight.prompt, "the prompt that is shown is not the state's")
        fault(commands.contains { $0.command != .evaluate && $0.helper != chosen }, "a helper acts that is not the chosen one")
        fault(prompt.map { $0.helper != chosen } ?? false, "a helper asks that is not the chosen one")

        if case .inactive(let inactive) = state {
            fault(!commands.isEmpty || !probes.isEmpty || prompt != nil, "something runs in inactive")
            let purpose: TimerPurpose = if case .leaving = inactive { .leave } else { .hold }
            fault(
                alarms.contains { $0.purpose != purpose && $0.purpose != .late },
                "a timer other than the \(purpose)'s runs in inactive")
            fault(!(state.joined?.record.excluded.isEmpty ?? true), "a helper is excluded in inactive")
            fault(chosen != nil, "a helper is chosen in inactive")
            if case .noAddress = inactive { fault(!alarms.isEmpty, "a timer runs without an address") }
        }
        fault(
            state.name == .authenticated && before.name != .authenticated && lastVerdict == .captive,
            "authenticated is entered while the last verdict is captive")
        fault(lastVerdict != state.joined?.lastVerdict && state.joined != nil, "the verdict is not the last one")
        if event == .addressLost { fault(state != .inactive(.noAddress), "the address is lost, and the machine does not rest") }

        // Every transition is reported, and begins where the one before it ended.
        var place = before.name
        for case .transition(let from, let to, _) in actions {
            fault(from != place, "a transition from \(from) in \(place)")
            place = to
        }
        fault(place != state.name, "a change of state without a transition")
    }

    private mutating func fresh(_ id: some OperationID) {
        // On a line of its own: as an argument of a call on self it would copy the set each time.
        let isNew = used.insert(id.number).inserted
        fault(!isNew, "the number \(id.number) is used again")
    }

    private mutating func fault(_ isFault: Bool, _ message: @autoclosure () -> String) {
        guard isFault else { return }
        if faults == nil { Issue.record("\(message())") } else { faults?.append(message()) }
    }
}

extension Action {
    func keeps(_ owner: String) -> Bool { if case .keepLogin(_, of: owner) = self { true } else { false } }
    func restores(_ owner: String) -> Bool { if case .restoreLogin(_, of: owner) = self { true } else { false } }
}
