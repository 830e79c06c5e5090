import HotspotCore

/// The state machine of one interface: takes an event and returns actions. This target also decides which helpers claim the networks in sight.
///
/// It has no clock, socket, logger or task. The same events at the same instants give the same actions. The file `Machine+<State>.swift` contains a
/// state's rules; the numbers in comments, such as T17, D20 and behaviour 56, refer to `docs/machine-rules.md`.
public struct Machine: Hashable, Sendable {
    public private(set) var policy: Policy
    public internal(set) var state: MachineState = .inactive(.noAddress)
    /// The helpers that may be asked about the current network.
    public internal(set) var candidates: [Candidate] = []
    /// Temporary failures within ``Policy/disconnectWindow``, for the strict form of D4. They are kept across associations, because each failure ends
    /// the association.
    var recentFailures: [NetworkID: [Instant]] = [:]
    var lastNumber: UInt64 = 0

    /// A machine at rest (T1).
    public init(policy: Policy = Policy()) { self.policy = policy }

    /// Adopts other rules if there is no address. Otherwise changes nothing, because running operations must keep their rules. The numbers of
    /// operations continue, so that late events are recognised.
    public mutating func adopt(_ policy: Policy) {
        if state == .inactive(.noAddress) { self.policy = policy }
    }

    /// Whether ``Event/loginRequested(helper:fresh:)`` would start or join a login now, or start one after a running logoff. While a link is being
    /// ended, no login is accepted.
    public var acceptsLogin: Bool {
        switch state {
        case .inactive(.noAddress), .inactive(.leaving): false
        case .inactive(.held), .evaluating, .authenticating, .presentingUI, .authenticated, .maintaining, .loggingOff, .failure:
            true
        }
    }

    /// Returns whether ``Event/logoffRequested(by:)`` would end the session now, or after the next answer (T34, T35, D17).
    public func acceptsLogoff(by requester: Requester) -> Bool {
        switch state {
        case .authenticated, .maintaining: break
        case .inactive(.held(let joined, _, _)):
            return requester == .user && joined.unended.map { isCandidate($0.helper) } ?? false
        case .inactive, .evaluating, .authenticating, .presentingUI, .loggingOff, .failure: return false
        }
        guard state.gateIsOpen, let helper = state.chosenHelper else { return false }
        return requester == .user || requester == .helper(helper)
    }

    /// The helper that logged in to the open network and was switched off later.
    public var switchedOffOwner: String? {
        switch state {
        case .authenticated(let authenticated): state.chosenHelper == nil ? switchedOffOwner(of: authenticated.joined) : nil
        case .inactive(.held(let joined, _, _)): switchedOffOwner(of: joined)
        case .inactive, .evaluating, .authenticating, .presentingUI, .maintaining, .loggingOff, .failure: nil
        }
    }

    /// Whether the association belongs to a helper's login: the helper keeps the network open, or did so until it was switched off or asked to log
    /// off.
    public var keepsLogin: Bool {
        if case .loggingOff = state { return true }
        guard let joined = state.joined else { return false }
        return state.isKeptFree || joined.unended != nil || switchedOffOwner(of: joined) != nil
    }

    /// Whether ordinary traffic may use the link.
    public var gateIsOpen: Bool { state.gateIsOpen }

    /// Handles an event that happened at `now`, and returns the actions, in order.
    public mutating func handle(_ event: Event, at now: Instant) -> [Action] {
        let before = state.inFlight
        let gateWasOpen = gateIsOpen
        var turn = Turn(now: now)
        switch event {
        case .addressLost: leaveNetwork(&turn)
        case .addressAcquired(let arrival):
            leaveNetwork(&turn)
            join(JoinedNetwork(arrival), &turn)
        case .roamed(let bssid): state.update { $0.arrival.bssid = bssid }
        case .helpersChanged(let candidates):
            self.candidates = candidates
            candidatesChanged(&turn)
        case .loginRequested(let helper, let fresh):
            guard acceptsLogin, let joined = state.joined else { break }
            turn.act(.releaseHold)
            logIn(joined.started(byUser: true), by: helper, fresh: fresh, &turn)
        case .verdictSeen(let verdict, let place):
            note(verdict, place)
            dropOver(at: verdict, &turn)
            if openLate(verdict, nil, &turn) || leaveOtherPortal(verdict, &turn) { break }
            dispatch(.verdictSeen(verdict), &turn)
        case .verdictReached(let id, let verdict, let seconds, let place):
            guard let probe = before.probe, probe.id == id else { break }
            probed(now < probe.deadline.at ? (verdict, seconds, place) : (nil, nil, nil), &turn)
        case .answered(let id, let answer):
            guard let command = before.command else {
                dispatch(.raceAnswered(id, answer), &turn)
                break
            }
            guard command.id == id else { break }
            if case .replied(.success, _, _, let seconds, _) = answer {
                let wish = seconds.map { now + .seconds(min(max($0, MaintainSchedule.shortestWish), 86400)) }
                state.update { $0.wantedMaintain = wish }
            }
            dispatch(.answered(now < command.deadline.at ? answer : nil), &turn)
        case .timerFired(let id):
            switch id {
            case before.probe?.deadline.id: probed((nil, nil, nil), &turn)
            case before.command?.deadline.id: dispatch(.answered(nil), &turn)
            case state.joined?.standing?.end?.id:
                state.joined?.standing.map { turn.act(.dropLogin($0.id)) }
                state.update { $0.standing = nil }
            default: dispatch(.timerFired(id), &turn)
            }
        case .promptAnswered(let id): if id == before.prompt { dispatch(.promptAnswered, &turn) }
        case .promptDismissed(let id): if id == before.prompt { dispatch(.promptDismissed, &turn) }
        case .logoffRequested(let requester): if acceptsLogoff(by: requester) { dispatch(.logoffRequested, &turn) }
        case .restEnded: dispatch(.restEnded, &turn)
        case .disassociationRefused: dispatch(.disassociationRefused, &turn)
        }
        return finish(turn, before, gateWasOpen: gateWasOpen, event)
    }

    private mutating func probed(
        _ result: (verdict: Verdict?, secondsRemaining: Int?, place: String?), _ turn: inout Turn
    ) {
        // A missing or dead prober proves nothing: a portal that was there counts as still there.
        let verdict = result.verdict ?? (state.joined?.lastVerdict == .captive ? .captive : nil)
        if result.verdict == nil, verdict == .captive { turn.act(.report(.proberSilent)) }
        note(verdict, result.place)
        dropOver(at: verdict, &turn)
        if openLate(verdict, result.secondsRemaining, &turn) || leaveOtherPortal(verdict, &turn) { return }
        dispatch(.probed(verdict, secondsRemaining: result.secondsRemaining), &turn)
    }

    private mutating func note(_ verdict: Verdict?, _ place: String?) {
        state.update { joined in
            joined.lastVerdict = verdict
            if verdict == .captive, let place { joined.trail.add(place) }
        }
    }

    private mutating func dispatch(_ event: StateEvent, _ turn: inout Turn) {
        switch state {
        case .inactive(let inactive): handle(event, in: inactive, &turn)
        case .evaluating(let evaluating): handle(event, in: evaluating, &turn)
        case .authenticating(let authenticating): handle(event, in: authenticating, &turn)
        case .presentingUI(let presenting): handle(event, in: presenting, &turn)
        case .authenticated(let authenticated): handle(event, in: authenticated, &turn)
        case .maintaining(let maintaining): handle(event, in: maintaining, &turn)
        case .loggingOff(let loggingOff): handle(event, in: loggingOff, &turn)
        case .failure(let failed): handle(event, in: failed, &turn)
        }
    }

    /// Withdraws each request that is no longer in flight. Only this method does so, so a request cannot outlive its state. A request that the event
    /// itself ended needs no withdrawal, and a request that began and ended in this turn is dropped.
    private func finish(_ turn: Turn, _ old: InFlight, gateWasOpen: Bool, _ event: Event) -> [Action] {
        let new = state.inFlight
        var actions: [Action] = []
        if gateWasOpen, !gateIsOpen { actions.append(.setGate(open: false)) }
        // Both lists are in the order of their numbers, so one pass is enough, even for a race of a hundred helpers.
        var index = 0
        for id in old.commands {
            while index < new.commands.count, new.commands[index].number < id.number { index += 1 }
            if index < new.commands.count, new.commands[index] == id { continue }
            if case .answered(id, _) = event { continue }
            actions.append(.cancelCommand(id))
        }
        if let id = old.probe?.id, id != new.probe?.id {
            if case .verdictReached(id, _, _, _) = event {} else { actions.append(.cancelProbe(id)) }
        }
        for id in old.timers where !new.timers.contains(id) && event != .timerFired(id) { actions.append(.stopTimer(id)) }
        if let prompt = old.prompt, prompt != new.prompt { actions.append(.withdrawPrompt(prompt)) }
        // Drops requests that began and ended within this turn.
        func begins(_ action: Action) -> Bool {
            switch action {
            case .startTimer(let id, _, _): new.timers.contains(id)
            case .sendCommand(let id, _, _, _): new.runs(id)
            case .startProbe(let id, _): new.probe?.id == id
            case .showPrompt(let id, _, _): new.prompt == id
            case .transition, .beginAttempt, .endAttempt, .setGate, .cancelCommand, .stopTimer, .cancelProbe, .withdrawPrompt,
                .awaitProof, .remember, .keepLogin, .restoreLogin, .dropLogin, .forgetChoice, .dropSession, .hold, .releaseHold,
                .disassociate, .strike, .acquit, .report, .clearProblems:
                true
            }
        }
        // If nothing is dropped, as usual, avoid the filtered copy.
        if !turn.actions.allSatisfy(begins) {
            actions += turn.actions.filter(begins)
        } else if actions.isEmpty {
            actions = turn.actions
        } else {
            actions += turn.actions
        }
        if !gateWasOpen, gateIsOpen { actions.append(.setGate(open: true)) }
        return actions
    }
}

/// An event as a state handles it: its numbers are resolved, and events that all states handle alike are absent. If the event's number is no longer
/// in flight, the event is late and is dropped (D18).
enum StateEvent: Hashable {
    /// The chosen helper's command ended; `nil` if its deadline came first. An answer at the deadline itself is too late, in whichever order the loop
    /// serves the answer and the timer.
    case answered(CommandAnswer?)
    case raceAnswered(CommandID, CommandAnswer)
    /// The probe ended; `nil` if the prober is missing, died, or missed the deadline.
    case probed(Verdict?, secondsRemaining: Int?)
    case verdictSeen(Verdict)
    case timerFired(TimerID)
    case promptAnswered
    case promptDismissed
    case logoffRequested
    case restEnded
    case disassociationRefused
}

/// The time and the actions of one call of ``Machine/handle(_:at:)``.
struct Turn {
    let now: Instant
    var actions: [Action] = []

    mutating func act(_ action: Action) { actions.append(action) }
}
