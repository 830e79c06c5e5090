import HotspotCore

/// State × event → next state and actions, as a table that the machine itself fills in.
///
/// Nothing here repeats a rule. From a machine at rest every event of ``TransitionTable/Explorer`` is handed to
/// ``Machine/handle(_:at:)``, then from each place that this led to, until no new place turns up. Two helpers are there, both
/// switched on, none quarantined; the link could be ended. Counters that decide (looks of a proof, questions, failures in a row,
/// whether the last login is a moment ago) are walked through, so that an event may stand in more than one row of a place.
///
/// One rule holds for all rows and is in none of them: what a place has in flight and the next one has not is withdrawn.
public struct TransitionTable: Hashable, Sendable {
    /// Where the machine can stand, as finely as the next step depends on it.
    public struct Place: Hashable, Sendable {
        /// The state.
        public let state: StateName
        /// What the state waits for, in words.
        public let phase: String
    }

    /// What follows in one place on some events.
    public struct Row: Hashable, Sendable {
        /// Where the machine stands.
        public let place: Place
        /// What happens; each of these has the same consequence.
        public var events: [String]
        /// Where the machine stands then.
        public let next: Place
        /// What is to be done, in order.
        public let actions: [String]
    }

    /// The rules that the table is about.
    public let policy: Policy
    /// All places that can be reached, in the order of the states and, within one, as they are reached.
    public let places: [Place]
    /// The rows of all places, in their order. Events without any consequence have none: they are ``ignored(in:)``.
    public let rows: [Row]
    private let ignored: [Place: [String]]

    /// The table of a machine with these rules.
    public init(policy: Policy = Policy()) {
        self.policy = policy
        var explorer = Explorer(policy: policy)
        explorer.explore()
        let order = StateName.allCases
        places = explorer.places.enumerated().sorted { a, b in
            (order.firstIndex(of: a.element.state)!, a.offset) < (order.firstIndex(of: b.element.state)!, b.offset)
        }.map(\.element)
        let found = explorer.rows
        rows = places.flatMap { place in found.filter { $0.place == place } }
        ignored = explorer.ignored
    }

    /// The events that may come here and change nothing.
    public func ignored(in place: Place) -> [String] {
        let told = Set(rows.filter { $0.place == place }.flatMap(\.events))
        return (ignored[place] ?? []).filter { !told.contains($0) }
    }

    /// The events that lead to one and the same state from wherever something runs, and that state.
    public var everywhere: [(event: String, next: StateName)] {
        let busy = places.filter { $0.state != .inactive }
        var events: [String] = []
        for row in rows { for event in row.events where !events.contains(event) { events.append(event) } }
        return events.compactMap { event in
            var ends: Set<StateName> = []
            for place in busy {
                let following = rows.filter { $0.place == place && $0.events.contains(event) }
                guard !following.isEmpty else { return nil }
                ends.formUnion(following.map(\.next.state))
            }
            return ends.count == 1 ? (event, ends.first!) : nil
        }
    }
}

extension TransitionTable {
    /// Walks from place to place, breadth first, so that each place is looked at where it is first reached.
    struct Explorer {
        /// A machine somewhere, and what its numbers stand for.
        struct Standpoint {
            var machine: Machine
            var now = Instant(nanoseconds: 0)
            var commands: [CommandID: Command] = [:]
            var timers: [TimerID: (purpose: TimerPurpose, at: Instant)] = [:]
        }

        /// A place together with the counters that decide there.
        struct Corner: Hashable {
            let place: Place
            let counters: [Int]
        }

        private struct Consequence: Hashable {
            let place: Place
            let next: Place
            let actions: [String]
        }

        private(set) var places: [Place] = []
        private(set) var rows: [Row] = []
        private(set) var ignored: [Place: [String]] = [:]
        private let policy: Policy
        private var seen: Set<Corner> = []
        private var indices: [Consequence: Int] = [:]

        static let helpers = [Candidate("A"), Candidate("B")]

        init(policy: Policy) { self.policy = policy }

        mutating func explore() {
            var start = Standpoint(machine: Machine(policy: policy))
            _ = start.machine.handle(.helpersChanged(Self.helpers), at: start.now)
            // Whatever is reached without the passing of time is reached so: at a deadline's very instant other answers are late too.
            var soon = [start]
            var later: [Standpoint] = []
            var next = 0
            while next < soon.count || !later.isEmpty {
                if next == soon.count { soon.append(later.removeFirst()) }
                let here = soon[next]
                next += 1
                guard note(here) else { continue }
                for (words, event, when) in here.events {
                    var there = here
                    there.now = when
                    let actions = there.take(event)
                    record(here, words, there, actions)
                    switch event {
                    // Helpers that went come back before anything else is looked at.
                    case .helpersChanged: break
                    case .timerFired: later.append(there)
                    default: soon.append(there)
                    }
                }
            }
        }

        private mutating func note(_ standpoint: Standpoint) -> Bool {
            let state = standpoint.machine.state
            let place = state.place(policy)
            guard seen.insert(Corner(place: place, counters: state.counters(at: standpoint.now, policy))).inserted else {
                return false
            }
            if !places.contains(place) { places.append(place) }
            return true
        }

        private mutating func record(_ here: Standpoint, _ words: String, _ there: Standpoint, _ actions: [Action]) {
            let place = here.machine.state.place(policy)
            let next = there.machine.state.place(policy)
            if actions.isEmpty, place == next {
                if !ignored[place, default: []].contains(words) { ignored[place, default: []].append(words) }
                return
            }
            let consequence = Consequence(place: place, next: next, actions: Standpoint.words(for: actions))
            if let index = indices[consequence] {
                if !rows[index].events.contains(words) { rows[index].events.append(words) }
            } else {
                indices[consequence] = rows.count
                rows.append(Row(place: place, events: [words], next: next, actions: consequence.actions))
            }
        }
    }
}

extension TransitionTable.Explorer.Standpoint {
    mutating func take(_ event: Event) -> [Action] {
        let actions = machine.handle(event, at: now)
        for action in actions {
            switch action {
            case .sendCommand(let id, let command, _, _): commands[id] = command
            case .startTimer(let id, let at, let purpose): timers[id] = (purpose, at)
            default: break
            }
        }
        return actions
    }

    /// All that can happen here, in words, and when: a timer at its instant, anything else at once. What carries a number carries one
    /// that is in flight; others change nothing (D18).
    var events: [(String, Event, Instant)] {
        let network = NetworkID.wireless(SSID(octets: Array("Cafe".utf8))!, .open)
        let arrival = Arrival(network: network, canDisassociate: true)
        var remembered = arrival
        remembered.remembered = "A"
        var held = arrival
        held.hold = Hold(.loggedOff, until: now + machine.policy.holdTime)
        let isChosen = machine.state.chosenHelper != nil
        let chosen = machine.state.chosenHelper ?? "A"
        let other = chosen == "A" ? "B" : "A"
        var events: [(String, Event)] = [
            ("address acquired", .addressAcquired(arrival)),
            ("address acquired, helper remembered", .addressAcquired(remembered)),
            ("address acquired, held", .addressAcquired(held)), ("address lost", .addressLost),
            ("roamed", .roamed(HardwareAddress(octets: [2, 0, 0, 0, 0, 9])!)), ("all helpers switched off", .helpersChanged([])),
            ("\(isChosen ? "the chosen helper" : "a helper") switched off", .helpersChanged([Candidate(other)])),
            ("login requested", .loginRequested(helper: nil)), ("logoff requested by the user", .logoffRequested(by: .user)),
            ("logoff requested by the chosen helper", .logoffRequested(by: .helper(chosen))),
            ("logoff requested by another helper", .logoffRequested(by: .helper(other))),
            ("network switched on", .released), ("link cannot be ended", .disassociationRefused),
        ]
        let inFlight = machine.state.inFlight
        // The helpers are alike: what the first one can say, the others can.
        if let id = inFlight.commands.first, let command = commands[id] {
            if command == .evaluate {
                for confidence in [Confidence.high, .low, .none] {
                    events.append(("answer \(confidence.rawValue)", .answered(id, .evaluated(confidence))))
                }
            } else {
                for result in HelperResult.allCases {
                    let prompt = result == .uiRequired ? Prompt(title: "Room") : nil
                    events.append(("answer \(result.rawValue)", .answered(id, .replied(result, prompt: prompt))))
                }
            }
            events.append(("helper died", .answered(id, .crashed)))
            events.append(("no room to start the helper", .answered(id, .notStarted(reason: "no room"))))
        }
        if let id = inFlight.probes.first {
            for verdict in Verdict.allCases { events.append(("verdict \(verdict.rawValue)", .verdictReached(id, verdict))) }
            events.append(("prober died", .verdictReached(id, nil)))
        }
        for verdict in Verdict.allCases { events.append(("somebody's verdict \(verdict.rawValue)", .verdictSeen(verdict))) }
        if let id = inFlight.prompt {
            events.append(("prompt answered", .promptAnswered(id)))
            events.append(("prompt dismissed", .promptDismissed(id)))
        }
        let timed = inFlight.timers.compactMap { id in
            timers[id].map { ("timer \($0.purpose.rawValue)", Event.timerFired(id), max(now, $0.at)) }
        }
        return events.map { ($0.0, $0.1, now) } + timed
    }
}
