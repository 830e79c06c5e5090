import HotspotCore

/// The state machine of one interface: an event in, actions out.
///
/// It has no clock, socket, logger or task. The same events at the same instants give the same actions. Each state's rules stand
/// in a file of its own, `Machine+<State>.swift`; the numbers in comments, T17 or D20 say, are those of `RULES.md`.
public struct Machine: Hashable, Sendable {
    /// The rules in force.
    public private(set) var policy: Policy
    /// Where the interface stands.
    public internal(set) var state: MachineState = .inactive(.noAddress)
    /// The helpers that may be asked about the network at hand.
    public internal(set) var candidates: [Candidate] = []
    /// Temporary failures of late, for D4 in its strict form; survives the association, because each one ends it.
    var recentFailures: [NetworkID: [Instant]] = [:]
    var lastNumber: UInt64 = 0

    /// A machine at rest (T1).
    public init(policy: Policy = Policy()) { self.policy = policy }

    /// Takes other rules over, where nothing can be under way by the former ones: without an address. Else nothing changes, and
    /// `false` is returned. Numbers go on, so that what is late stays late.
    @discardableResult public mutating func adopt(_ policy: Policy) -> Bool {
        guard state == .inactive(.noAddress) else { return false }
        self.policy = policy
        return true
    }

    /// Whether ``Event/loginRequested(helper:)`` would start a login now. While a link is being left, there is nothing to log in to.
    public var acceptsLogin: Bool {
        switch state {
        case .inactive(.noAddress), .inactive(.leaving), .loggingOff: false
        case .inactive(.held), .evaluating, .authenticating, .presentingUI, .authenticated, .maintaining, .failure: true
        }
    }

    /// Ordinary traffic may use the link.
    public var gateIsOpen: Bool { state.gateIsOpen }

    /// Takes an event, which happened at `now`, and says what is to be done, in order.
    ///
    /// An event that carries the ID of something that is not in flight any more is late and changes nothing (D18).
    public mutating func handle(_ event: Event, at now: Instant) -> [Action] {
        let before = state
        var turn = Turn(now: now)
        switch event {
        case .addressLost: lose(&turn)
        case .addressAcquired(let arrival):
            if before != .inactive(.noAddress) { lose(&turn) }
            arrive(Association(arrival), &turn)
        case .roamed(let bssid): state.update { $0.arrival.bssid = bssid }
        case .helpersChanged(let candidates):
            self.candidates = candidates
            candidatesChanged(&turn)
        case .verdictReached, .verdictSeen, .timerFired: dispatch(hear(event, at: now), &turn)
        case .answered, .promptAnswered, .promptDismissed, .loginRequested, .logoffRequested, .released,
            .disassociationRefused:
            dispatch(event, &turn)
        }
        return finish(turn, before: before, event: event)
    }

    private mutating func dispatch(_ event: Event, _ turn: inout Turn) {
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

    /// What was in flight before and is not any more is withdrawn, here and nowhere else: so nothing can outlive its state. What
    /// the event itself brought home needs no withdrawal, and what began and ended within this turn never begins.
    private func finish(_ turn: Turn, before: MachineState, event: Event) -> [Action] {
        let old = before.inFlight
        let new = state.inFlight
        var actions: [Action] = []
        if before.gateIsOpen, !state.gateIsOpen { actions.append(.setGate(open: false)) }
        // Both are in the order of their numbers, as they were issued: one walk over a race of a hundred helpers will do.
        var index = 0
        for id in old.commands {
            while index < new.commands.count, new.commands[index].number < id.number { index += 1 }
            if index < new.commands.count, new.commands[index] == id { continue }
            if case .answered(id, _) = event { continue }
            actions.append(.cancelCommand(id))
        }
        for id in old.probes where !new.probes.contains(id) {
            if case .verdictReached(id, _, _) = event { continue }
            actions.append(.cancelProbe(id))
        }
        for id in old.timers where !new.timers.contains(id) {
            if case .timerFired(id) = event { continue }
            actions.append(.stopTimer(id))
        }
        if let prompt = old.prompt, prompt != new.prompt { actions.append(.withdrawPrompt(prompt)) }
        func begins(_ action: Action) -> Bool {
            switch action {
            case .startTimer(let id, _, _): new.timers.contains(id)
            case .sendCommand(let id, _, _, _): new.runs(id)
            case .startProbe(let id, _): new.probes.contains(id)
            case .showPrompt(let id, _, _): new.prompt == id
            default: true
            }
        }
        // Most often all of it begins, and nothing need be copied.
        if !turn.actions.allSatisfy(begins) {
            actions += turn.actions.filter(begins)
        } else if actions.isEmpty {
            actions = turn.actions
        } else {
            actions += turn.actions
        }
        if !before.gateIsOpen, state.gateIsOpen { actions.append(.setGate(open: true)) }
        return actions
    }
}

/// What one call of ``Machine/handle(_:at:)`` gathers.
struct Turn {
    let now: Instant
    var actions: [Action] = []

    mutating func act(_ action: Action) { actions.append(action) }
}

/// What runs on behalf of a state.
public struct InFlight: Hashable, Sendable {
    /// Commands without an answer, in the order of their numbers.
    public var commands: [CommandID] = []
    /// Timers that will fire.
    public var timers: [TimerID] = []
    /// Questions to the prober; never more than one.
    public var probes: [ProbeID] = []
    /// The question to the user.
    public var prompt: PromptID?

    /// Whether this command runs.
    func runs(_ id: CommandID) -> Bool {
        var range = commands[...]
        while let middle = range.isEmpty ? nil : (range.startIndex + range.endIndex) / 2 {
            if commands[middle] == id { return true }
            range = commands[middle].number < id.number ? range[(middle + 1)...] : range[..<middle]
        }
        return false
    }

    mutating func add(_ pending: Pending) {
        commands.append(pending.id)
        timers.append(pending.deadline.id)
    }

    mutating func add(_ probing: Probing) {
        probes.append(probing.id)
        timers.append(probing.deadline.id)
    }

    mutating func add(_ deadline: Deadline?) { if let deadline { timers.append(deadline.id) } }

    mutating func add(_ watch: Watch) {
        switch watch.phase {
        case .looking(let probing): add(probing)
        case .waiting(let deadline): add(deadline)
        }
    }

    mutating func add(_ proof: Proof) {
        switch proof.phase {
        case .looking(let probing): add(probing)
        case .waiting(let deadline): add(deadline)
        }
    }
}

extension MachineState {
    /// Ordinary traffic may use the link: authenticated, a timer's maintain (T46), and until a logoff is answered.
    public var gateIsOpen: Bool {
        switch self {
        case .authenticated, .loggingOff: true
        case .maintaining(let maintaining): !maintaining.isJoin
        case .inactive, .evaluating, .authenticating, .presentingUI, .failure: false
        }
    }

    /// What runs.
    public var inFlight: InFlight {
        var all = InFlight()
        switch self {
        case .inactive(.held(_, _, let timer)): all.add(timer)
        case .inactive(.leaving(_, _, let timer)): all.add(timer)
        case .inactive: break
        case .evaluating(let state):
            if let probing = state.opinion.probing { all.add(probing) }
            if !state.awaitsVerdict {
                all.commands = state.race.silentCommands
                all.add(state.deadline)
                all.add(state.grace)
            }
        case .authenticating(let state):
            switch state.phase {
            case .pausing(let end, let watch):
                all.add(end)
                all.add(watch)
            case .commanding(let pending): all.add(pending)
            case .proving(let proof): all.add(proof)
            }
        case .presentingUI(let state):
            switch state.phase {
            case .waiting(let watch):
                all.add(watch)
                all.prompt = state.promptID
            case .commanding(let pending): all.add(pending)
            case .proving(let proof): all.add(proof)
            }
        case .authenticated(let state):
            switch state.claim {
            case .helper(_, let maintain, _): all.add(maintain)
            case .nobody(let recheck):
                switch recheck.phase {
                case .waiting(let deadline): all.add(deadline)
                case .looking(let probing): all.add(probing)
                }
            }
        case .maintaining(let state):
            if case .commanding(let pending) = state.phase { all.add(pending) }
            if let probing = state.opinion.probing { all.add(probing) }
        case .loggingOff(let state): all.add(state.pending)
        case .failure(let state):
            all.add(state.retry)
            all.add(state.watch)
        }
        return all
    }

    /// The question to the prober that runs.
    var probing: Probing? {
        switch self {
        case .inactive, .loggingOff: nil
        case .evaluating(let state): state.opinion.probing
        case .authenticating(let state):
            switch state.phase {
            case .pausing(_, let watch): watch.probing
            case .commanding: nil
            case .proving(let proof): proof.probing
            }
        case .presentingUI(let state):
            switch state.phase {
            case .waiting(let watch): watch.probing
            case .commanding: nil
            case .proving(let proof): proof.probing
            }
        case .authenticated(let state):
            switch state.claim {
            case .helper: nil
            case .nobody(let recheck): recheck.probing
            }
        case .maintaining(let state): state.opinion.probing
        case .failure(let state): state.watch.probing
        }
    }

    /// The association, wherever there is one.
    public var association: Association? {
        switch self {
        case .inactive(.noAddress): nil
        case .inactive(.held(let association, _, _)), .inactive(.leaving(let association, _, _)): association
        case .evaluating(let state): state.association
        case .authenticating(let state): state.association
        case .presentingUI(let state): state.association
        case .authenticated(let state): state.association
        case .maintaining(let state): state.association
        case .loggingOff(let state): state.association
        case .failure(let state): state.association
        }
    }

    /// The chosen helper, in the states that have one (behaviour 79).
    public var chosenHelper: String? {
        switch self {
        case .inactive, .evaluating, .failure: nil
        case .authenticating(let state): state.helper
        case .presentingUI(let state): state.helper
        case .authenticated(let state): if case .helper(let helper, _, _) = state.claim { helper } else { nil }
        case .maintaining(let state): state.helper
        case .loggingOff(let state): state.helper
        }
    }

    /// Changes the association in place, without a transition.
    mutating func update(_ change: (inout Association) -> Void) {
        switch self {
        case .inactive(.noAddress): break
        case .inactive(.held(var association, let reason, let timer)):
            change(&association)
            self = .inactive(.held(association, reason, timer: timer))
        case .inactive(.leaving(var association, let fallback, let timer)):
            change(&association)
            self = .inactive(.leaving(association, otherwise: fallback, timer: timer))
        case .evaluating(var state):
            change(&state.association)
            self = .evaluating(state)
        case .authenticating(var state):
            change(&state.association)
            self = .authenticating(state)
        case .presentingUI(var state):
            change(&state.association)
            self = .presentingUI(state)
        case .authenticated(var state):
            change(&state.association)
            self = .authenticated(state)
        case .maintaining(var state):
            change(&state.association)
            self = .maintaining(state)
        case .loggingOff(var state):
            change(&state.association)
            self = .loggingOff(state)
        case .failure(var state):
            change(&state.association)
            self = .failure(state)
        }
    }
}

extension MachineState {
    /// When the chosen helper is asked again.
    public var nextMaintain: Instant? {
        if case .authenticated(let state) = self, case .helper(_, let due, _) = state.claim { due.at } else { nil }
    }

    /// When a login begins that waits its time (D23).
    public var nextLogin: Instant? {
        if case .authenticating(let state) = self, case .pausing(let due, _) = state.phase { due.at } else { nil }
    }

    /// What the prober said: `false` once it found the network open, `nil` if it told nothing.
    public var isCaptive: Bool? {
        association?.lastVerdict.flatMap { verdict in
            switch verdict {
            case .online, .partial: false
            case .captive: true
            case .limited: nil
            }
        }
    }
}
