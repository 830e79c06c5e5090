import HotspotCore

/// A timer and the time at which it fires.
public struct RunningTimer: Hashable, Sendable {
    public let id: TimerID
    public let at: Instant
}

/// A command to a helper, without an answer yet.
public struct RunningCommand: Hashable, Sendable {
    public let id: CommandID
    public let deadline: RunningTimer
}

/// A question to the prober, without a verdict yet.
public struct RunningProbe: Hashable, Sendable {
    public let id: ProbeID
    public let deadline: RunningTimer
}

/// The commands, probes and timers that run on behalf of a state.
public struct InFlight: Hashable, Sendable {
    /// Commands without an answer, in the order of their numbers: the commands of a race, or the chosen helper's command.
    public var commands: [CommandID] = []
    public var timers: [TimerID] = []
    public var probe: RunningProbe?
    /// The prompt that the user has not answered.
    public var prompt: PromptID?
    /// The chosen helper's command.
    var command: RunningCommand?

    func runs(_ id: CommandID) -> Bool {
        var range = commands[...]
        while let middle = range.isEmpty ? nil : (range.startIndex + range.endIndex) / 2 {
            if commands[middle] == id { return true }
            range = commands[middle].number < id.number ? range[(middle + 1)...] : range[..<middle]
        }
        return false
    }

    mutating func add(_ command: RunningCommand) {
        self.command = command
        commands.append(command.id)
        timers.append(command.deadline.id)
    }

    mutating func add(_ timer: RunningTimer?) { if let timer { timers.append(timer.id) } }

    mutating func add(_ verdict: LatestVerdict) { if case .awaited(let probe) = verdict { add(.probing(probe)) } }

    mutating func add(_ phase: ProbePhase) {
        switch phase {
        case .probing(let probe):
            self.probe = probe
            timers.append(probe.deadline.id)
        case .waiting(let timer): timers.append(timer.id)
        }
    }
}

extension MachineState {
    public var inFlight: InFlight {
        var all = InFlight()
        switch self {
        case .inactive(.noAddress): break
        case .inactive(.held(_, _, let timer)): all.add(timer)
        case .inactive(.leaving(_, _, let timer)): all.add(timer)
        case .evaluating(let state):
            all.add(state.verdict)
            if !state.awaitsVerdict {
                all.commands = state.race.silentCommands
                all.add(state.deadline)
                all.add(state.grace)
            }
        case .authenticating(let state):
            switch state.phase {
            case .pausing(let end, let watch):
                all.add(end)
                all.add(watch.phase)
            case .commanding(let command): all.add(command)
            case .proving(let proof): all.add(proof.phase)
            }
        case .presentingUI(let state):
            switch state.phase {
            case .waiting(let watch):
                all.add(watch.phase)
                all.prompt = state.promptID
            case .commanding(let command), .confirming(let command): all.add(command)
            case .proving(let proof): all.add(proof.phase)
            }
        case .authenticated(let state):
            switch state.upkeep {
            case .claimed(_, let maintain, _): all.add(maintain)
            case .unclaimed(let watch): all.add(watch.phase)
            }
        case .maintaining(let state):
            if case .commanding(let command) = state.phase { all.add(command) }
            all.add(state.verdict)
        case .loggingOff(let state):
            switch state.phase {
            case .commanding(let command): all.add(command)
            case .proving(let proof, _): all.add(proof.phase)
            }
        case .failure(let state):
            all.add(state.retry)
            all.add(state.watch.phase)
        }
        all.add(joined?.standing?.end)
        return all
    }
}
