import HotspotCore

@testable import HotspotMachine

/// State × event → next state and actions, as a table that the machine itself fills in.
///
/// Nothing here repeats a rule. From a machine at rest every event of ``TransitionTable/Explorer`` is handled, then from each place
/// that was reached, until there is no new one. There are two helpers, both switched on, neither quarantined; the link can be ended.
/// Counters that decide (probes of a proof, prompts, failures in a row, whether the last login is a moment ago) are walked through, so
/// that an event may be in more than one row of a place.
///
/// One rule applies to all rows and is in none: what is in flight at a place and not at the next one is withdrawn.
struct TransitionTable: Hashable, Sendable {
    /// A state together with all that the next step depends on.
    struct TablePlace: Hashable, Sendable {
        let state: StateName
        /// The events that the state waits for, in words.
        let phase: String
    }

    /// The result of some events in one place.
    struct TableRow: Hashable, Sendable {
        let place: TablePlace
        /// Each of them has the same effect.
        var events: [String]
        let next: TablePlace
        let actions: [String]
    }

    /// Events that change the ground of the standing login, or begin or end it. It is a region of its own, because it outlives states.
    struct StandingEdge: Hashable, Sendable {
        let from: StandingLogin.Ground.Name?
        let to: StandingLogin.Ground.Name?
        var events: [String]
    }

    let policy: Policy
    /// All places that can be reached, in the order of the states and, within a state, as they are reached.
    let places: [TablePlace]
    /// The rows of all places, in their order. Events without any effect have none: they are ``ignored(in:)``.
    let rows: [TableRow]
    /// The changes of the standing login, in the order in which they are reached.
    let standing: [StandingEdge]
    private let ignored: [TablePlace: [String]]

    init(policy: Policy = Policy()) {
        var policy = policy
        // The probes of a proof are alike: three stand for all.
        policy.proofDelays.removeSubrange(3...)
        self.policy = policy
        var explorer = Explorer(policy: policy)
        explorer.explore()
        let order = StateName.allCases
        places = explorer.places.enumerated().sorted { a, b in
            (order.firstIndex(of: a.element.state)!, a.offset) < (order.firstIndex(of: b.element.state)!, b.offset)
        }.map(\.element)
        let reached = explorer.rows
        rows = places.flatMap { place in reached.filter { $0.place == place } }
        ignored = explorer.ignored
        standing = explorer.standing
    }

    /// Returns the events that may come here and have no effect.
    func ignored(in place: TablePlace) -> [String] {
        let listed = Set(rows.filter { $0.place == place }.flatMap(\.events))
        return (ignored[place] ?? []).filter { !listed.contains($0) }
    }

    /// The events that lead to the same state from every state but inactive, and that state.
    var everywhere: [(event: String, next: StateName)] {
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
    /// Walks from place to place, breadth first.
    struct Explorer {
        /// A machine on its way, and what its numbers stand for.
        struct Standpoint {
            var machine: Machine
            var now = Instant(nanoseconds: 0)
            var commands: [CommandID: Command] = [:]
            var timers: [TimerID: (purpose: TimerPurpose, at: Instant)] = [:]
        }

        /// A place together with the counters that decide there.
        struct CountedPlace: Hashable {
            let place: TablePlace
            let counters: [Int]
        }

        private(set) var places: [TablePlace] = []
        private(set) var rows: [TableRow] = []
        private(set) var ignored: [TablePlace: [String]] = [:]
        private(set) var standing: [StandingEdge] = []
        private let policy: Policy
        private var seen: Set<CountedPlace> = []
        /// The index of each row with an effect, by the row without its events.
        private var indices: [TableRow: Int] = [:]

        static let helpers = [Candidate("A"), Candidate("B")]

        init(policy: Policy) { self.policy = policy }

        mutating func explore() {
            var start = Standpoint(machine: Machine(policy: policy))
            _ = start.machine.handle(.helpersChanged(Self.helpers), at: start.now)
            // Places that can be reached without the passing of time are reached that way: at a deadline's own instant, answers are late.
            var soon = [start]
            var later: [Standpoint] = []
            var next = 0
            while next < soon.count || !later.isEmpty {
                if next == soon.count { soon.append(later.removeFirst()) }
                let here = soon[next]
                next += 1
                guard isNew(here) else { continue }
                for (words, event, when) in here.events {
                    var there = here
                    there.now = when
                    let actions = there.handle(event)
                    record(here, words, there, actions)
                    switch event {
                    // Helpers that went come back before anything else happens.
                    case .helpersChanged: break
                    case .timerFired: later.append(there)
                    case .addressAcquired, .addressLost, .roamed, .answered, .verdictReached, .verdictSeen, .promptAnswered,
                        .promptDismissed, .loginRequested, .logoffRequested, .restEnded, .disassociationRefused:
                        soon.append(there)
                    }
                }
            }
        }

        /// Adds the place of a standpoint; returns `false` if it was there already with these counters.
        private mutating func isNew(_ standpoint: Standpoint) -> Bool {
            let state = standpoint.machine.state
            let place = state.place(policy)
            guard seen.insert(CountedPlace(place: place, counters: state.counters(at: standpoint.now, policy))).inserted else {
                return false
            }
            if !places.contains(place) { places.append(place) }
            return true
        }

        private mutating func record(_ here: Standpoint, _ words: String, _ there: Standpoint, _ actions: [Action]) {
            let place = here.machine.state.place(policy)
            let next = there.machine.state.place(policy)
            recordStanding(
                here.machine.state.joined?.standing?.ground.name, words, there.machine.state.joined?.standing?.ground.name)
            if actions.isEmpty, place == next {
                if !ignored[place, default: []].contains(words) { ignored[place, default: []].append(words) }
                return
            }
            var effect = TableRow(place: place, events: [], next: next, actions: Standpoint.words(for: actions))
            if let index = indices[effect] {
                if !rows[index].events.contains(words) { rows[index].events.append(words) }
            } else {
                indices[effect] = rows.count
                effect.events = [words]
                rows.append(effect)
            }
        }

        private mutating func recordStanding(
            _ from: StandingLogin.Ground.Name?, _ words: String, _ to: StandingLogin.Ground.Name?
        ) {
            guard from != to else { return }
            guard let index = standing.firstIndex(where: { $0.from == from && $0.to == to }) else {
                return standing.append(StandingEdge(from: from, to: to, events: [words]))
            }
            if !standing[index].events.contains(words) { standing[index].events.append(words) }
        }
    }
}

extension TransitionTable.Explorer.Standpoint {
    mutating func handle(_ event: Event) -> [Action] {
        let actions = machine.handle(event, at: now)
        for action in actions {
            if case .sendCommand(let id, let command, _, _) = action { commands[id] = command }
            if case .startTimer(let id, let at, let purpose) = action { timers[id] = (purpose, at) }
        }
        return actions
    }

    private static let room = Prompt(title: "Room", fields: [Field(name: "room", label: "Room", kind: .text, required: true)])

    /// All events that can happen here, in words, with their time: a timer at its instant, all others at once. Numbers belong to requests in flight;
    /// other numbers are ignored (D18).
    var events: [(String, Event, Instant)] {
        let network = NetworkID.wireless(SSID(octets: Array("Cafe".utf8))!, .open)
        let arrival = Arrival(network: network, canDisassociate: true)
        var remembered = arrival
        remembered.remembered = "A"
        var resumed = remembered
        resumed.resumed = MaintainSchedule()
        var held = arrival
        held.hold = Hold(.loggedOff, until: now + machine.policy.holdTime)
        let isChosen = machine.state.chosenHelper != nil
        let chosen = machine.state.chosenHelper ?? "A"
        let other = chosen == "A" ? "B" : "A"
        var events: [(String, Event)] = [
            ("address acquired", .addressAcquired(arrival)),
            ("address acquired, helper remembered", .addressAcquired(remembered)),
            ("address acquired, daemon restarted", .addressAcquired(resumed)),
            ("address acquired, held", .addressAcquired(held)), ("address lost", .addressLost),
            ("roamed", .roamed(HardwareAddress(octets: [2, 0, 0, 0, 0, 9])!)), ("all helpers switched off", .helpersChanged([])),
            ("\(isChosen ? "the chosen helper" : "a helper") switched off", .helpersChanged([Candidate(other)])),
            ("login requested", .loginRequested(helper: nil)),
            ("fresh login requested", .loginRequested(helper: nil, fresh: true)),
            ("logoff requested by the user", .logoffRequested(by: .user)),
            ("logoff requested by the chosen helper", .logoffRequested(by: .helper(chosen))),
            ("logoff requested by another helper", .logoffRequested(by: .helper(other))),
            ("network switched on", .restEnded), ("link cannot be ended", .disassociationRefused),
        ]
        let inFlight = machine.state.inFlight
        // The helpers are alike, so that only the first helper answers.
        if let id = inFlight.commands.first, let command = commands[id] {
            if command == .evaluate {
                for confidence in [Confidence.high, .low, .none] {
                    events.append(("answer \(confidence.rawValue)", .answered(id, .evaluated(confidence))))
                }
            } else {
                for result in HelperResult.allCases {
                    let prompt = result == .uiRequired ? Self.room : nil
                    events.append(("answer \(result.rawValue)", .answered(id, .replied(result, prompt: prompt))))
                }
                let handOver = Prompt(title: "Browser")
                if command == .authenticate || command == .presentUI {
                    events.append(("answer uiRequired without fields", .answered(id, .replied(.uiRequired, prompt: handOver))))
                }
            }
            events.append(("helper crashed", .answered(id, .crashed)))
            events.append(("helper cannot be started", .answered(id, .notStarted(reason: "no memory"))))
        }
        if let id = inFlight.probe?.id {
            for verdict in Verdict.allCases { events.append(("verdict \(verdict.rawValue)", .verdictReached(id, verdict))) }
            events.append(("prober crashed", .verdictReached(id, nil)))
        }
        for verdict in Verdict.allCases { events.append(("check says \(verdict.rawValue)", .verdictSeen(verdict))) }
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
