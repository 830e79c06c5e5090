import HotspotCore

@testable import HotspotMachine

/// Visits the machine's states from rest, by all that can happen in each. Times are only those at which a timer is due. The eight states take
/// turns, so that a short search visits all of them; within each the search is breadth first.
///
/// Two states are equal if they differ only in numbers, instants and intervals (``StateKey``). A bench checks the invariants after each step, and the
/// explorer checks what must follow from each state.
struct StateExplorer {
    private struct Queue {
        private var states: [(bench: Bench, way: Int)] = []
        private var head = 0

        mutating func append(_ bench: Bench, _ way: Int) { states.append((bench, way)) }

        mutating func next() -> (bench: Bench, way: Int)? {
            guard head < states.count else { return nil }
            defer { head += 1 }
            if head == 1024 {
                states.removeFirst(head)
                head = 0
            }
            return states[head]
        }
    }

    enum Step {
        case event(Event)
        /// Time passes until a timer is due, which has not fired yet.
        case untilDue
    }

    private(set) var edges = 0
    /// The longest way from rest to a state that was visited.
    private(set) var depth = 0
    private(set) var faults: [String] = []
    private(set) var visited: [StateName: Int] = [:]
    /// Whether no state is left to visit.
    private(set) var isComplete = false
    private var known: Set<StateKey> = []
    /// The previous state of each state, and the step from there, so that a fault can report its way.
    private var ways: [(parent: Int?, step: Step?, depth: Int)] = []
    /// The states that wait for their visit, each with its place in `ways`.
    private var waiting: [StateName: Queue] = [:]
    private let limit: Int

    var states: Int { known.count }

    /// - Parameter limit: the number of faults after which the search ends.
    init(policy: Policy, limit: Int = 3) {
        self.limit = limit
        var bench = Bench(policy, helpers: StateAlphabet.helpers)
        bench.keepsLog = false
        bench.faults = []
        add(bench, nil, nil)
    }

    /// Visits states until all are visited, or until the caller has enough.
    mutating func explore(while goesOn: (StateExplorer) -> Bool) {
        var isNew = true
        while isNew {
            isNew = false
            for name in StateName.allCases {
                guard let (bench, way) = waiting[name]?.next() else { continue }
                guard faults.count < limit, goesOn(self) else { return }
                visit(bench, way)
                isNew = true
            }
        }
        isComplete = true
    }

    private mutating func visit(_ bench: Bench, _ way: Int) {
        visited[bench.state, default: 0] += 1
        depth = max(depth, ways[way].depth)
        for event in StateAlphabet.events(in: bench) {
            edges += 1
            var there = bench
            there.forgetHistory()
            if case .timerFired(let id) = event, let alarm = bench.alarms.first(where: { $0.id == id }) {
                there.now = max(there.now, alarm.at)
            }
            there.send(event)
            if let message = there.faults?.first ?? broken(bench, event, there) { report(message, way, .event(event)) }
            there.faults = []
            add(there, way, .event(event))
        }
        if let alarm = bench.nextAlarm, alarm.at > bench.now {
            edges += 1
            var there = bench
            there.now = alarm.at
            add(there, way, .untilDue)
        }
        for (message, steps) in [endless(bench), helpless(bench)].compactMap({ $0 }) {
            report(message + steps.map { "\n    then " + $0 }.joined(), way, nil)
        }
    }

    private mutating func add(_ bench: Bench, _ parent: Int?, _ step: Step?) {
        guard known.insert(StateKey(bench)).inserted else { return }
        ways.append((parent, step, parent.map { ways[$0].depth + 1 } ?? 0))
        waiting[bench.state, default: Queue()].append(bench, ways.count - 1)
    }

    private mutating func report(_ message: String, _ way: Int, _ last: Step?) {
        var lines: [String] = []
        var index: Int? = way
        while let here = index {
            if let step = ways[here].step { lines.insert("    " + step.words, at: 0) }
            index = ways[here].parent
        }
        if let last { lines.append("    " + last.words) }
        faults.append(([message] + lines).joined(separator: "\n"))
    }

    // MARK: Beyond the invariants of a step

    /// Returns what is wrong with a step, besides the invariants.
    private func broken(_ before: Bench, _ event: Event, _ after: Bench) -> String? {
        let state = after.machine.state
        switch event {
        case .loginRequested:
            if !before.machine.acceptsLogin {
                return before.machine == after.machine ? nil : "a login that is not accepted changes something"
            }
            switch state {
            case .inactive, .failure: return "a login is accepted, and nothing comes of it"
            case .evaluating, .authenticating, .presentingUI, .authenticated, .maintaining, .loggingOff: break
            }
        case .logoffRequested(let requester):
            let isAccepted = before.machine.acceptsLogoff(by: requester)
            if !isAccepted { return before.machine == after.machine ? nil : "a logoff that is not accepted changes something" }
            if !state.endsSession { return "a logoff is accepted, and does not begin" }
        default: break
        }
        // A state waits for a timer, a command, a probe or a person.
        let inFlight = state.inFlight
        let own = inFlight.timers.filter { $0 != state.joined?.standing?.end?.id }
        if own.isEmpty {
            switch state {
            case .inactive(.noAddress), .inactive(.held): break
            default: return "a state waits for nothing"
            }
        }
        let runs =
            switch state.name {
            case .evaluating, .authenticating, .presentingUI, .maintaining, .loggingOff: true
            case .inactive, .authenticated, .failure: false
            }
        if let joined = state.joined, joined.attemptIsOpen != runs {
            return "an attempt is \(runs ? "not " : "")open in \(state.name)"
        }
        if after.openAttempt != state.joined.flatMap({ $0.attemptIsOpen ? $0.attempt : nil }) {
            return "the attempt is not the state's"
        }
        let standing = state.joined?.standing
        if after.kept != standing?.helper || (standing != nil && after.keptLogin != standing?.id) {
            return "the login that is kept is not the standing one"
        }
        // The user is shown a problem.
        switch state {
        case .failure, .inactive(.held): if after.problems.isEmpty { return "\(state.name) has no problem to show" }
        case .authenticated(let authenticated):
            if authenticated.joined.isUnverified, after.problems.isEmpty { return "an unverified network has no problem to show" }
        case .inactive, .evaluating, .authenticating, .presentingUI, .maintaining, .loggingOff: break
        }
        return nil
    }

    /// Returns a fault if silence does not lead to rest: no helper and no prober answers, and no person comes.
    private func endless(_ bench: Bench) -> (String, [String])? {
        var bench = bench
        bench.forgetHistory()
        var steps: [String] = []
        for _ in 0..<400 {
            if bench.rests { return nil }
            guard let alarm = bench.nextAlarm else { return ("silence ends in a state that waits", steps.suffix(20)) }
            bench.now = max(bench.now, alarm.at)
            bench.send(.timerFired(alarm.id))
            steps.append("\(alarm.purpose) is due: \(bench.state)")
            if let fault = bench.faults?.first { return (fault, steps.suffix(20)) }
        }
        return ("silence does not lead to rest", steps.suffix(20))
    }

    /// Returns a fault if a user who wants a login, a helper that succeeds and a network that opens do not lead to an open gate.
    private func helpless(_ bench: Bench) -> (String, [String])? {
        guard bench.machine.state.joined != nil else { return nil }
        var bench = bench
        bench.forgetHistory()
        var steps: [String] = []
        var hasAsked = false
        for _ in 0..<60 {
            if bench.state == .authenticated { return nil }
            let event: Event
            if let open = bench.commands.first {
                event = .answered(open.id, open.command == .evaluate ? .evaluated(.high) : .replied(.success))
            } else if let probe = bench.probes.first {
                event = .verdictReached(probe, bench.state == .loggingOff ? .captive : .online)
            } else if let prompt = bench.prompt {
                event = .promptAnswered(prompt.id)
            } else if bench.machine.acceptsLogin, !hasAsked {
                event = .loginRequested(helper: nil)
                // After a logoff that runs, the login follows by itself.
                hasAsked = true
            } else if let alarm = bench.nextAlarm {
                bench.now = max(bench.now, alarm.at)
                event = .timerFired(alarm.id)
            } else {
                break
            }
            bench.send(event)
            steps.append("\(event): \(bench.state)")
            if let fault = bench.faults?.first { return (fault, steps) }
            // An answer at the very instant of its deadline is late.
            if let alarm = bench.nextAlarm, alarm.at <= bench.now {
                bench.send(.timerFired(alarm.id))
                steps.append("\(alarm.purpose) is due: \(bench.state)")
            }
        }
        return ("a login in a good world does not lead to an open gate", steps)
    }
}

extension StateExplorer.Step {
    var words: String {
        switch self {
        case .event(let event): "\(event)"
        case .untilDue: "a timer is due"
        }
    }
}

extension Bench {
    /// Whether only probes of the network happen without an event.
    var rests: Bool {
        switch machine.state {
        case .inactive(.noAddress), .inactive(.held), .authenticated: true
        case .failure(let failed): failed.retry == nil
        case .presentingUI: machine.state.waitsForUser
        case .inactive, .evaluating, .authenticating, .maintaining, .loggingOff: false
        }
    }

    /// Drops what no later step depends on.
    mutating func forgetHistory() {
        used = []
        outcomes = []
        holds = []
        strikes = [:]
        last = []
    }
}
