import CHeap
import Glibc
import HotspotCore
import HotspotMachine
import Store
import TestSupport

/// 10,000 days of a laptop, several visits each, with logins, questions, failures, roaming, sleep and logoffs, under both sets of rules: at the end,
/// the heap is as large as after the first hundred days.
enum Endurance {
    static let days = 10_000
    private static let allowance = 4096
    /// With a journal. Its limits, 90 days of outcomes and choices and 1,000 attempts, are reached long before these days end.
    static let journalDays = 500
    private static let settling = 200
    /// Octets by which heap and files may differ: SQLite fills its cache and pages a little differently each day.
    private static let journalAllowance = 256 << 10

    static func run() -> Bool { machineAlone() && withJournal() }

    /// Octets of a file.
    private static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The same days with a store that records them, as the daemon's does.
    private static func withJournal() -> Bool {
        let folder = TemporaryFolder(below: memory)
        guard let store = try? Store(directory: folder.path + "/state") else {
            print("the store cannot be made in \(folder.path)")
            return false
        }
        var laptop = Laptop(rules: .default, store: store)
        var settled = (heap: 0, file: 0)
        let elapsed = ContinuousClock().measure {
            for day in 0..<journalDays {
                laptop.live(day)
                if day == settling - 1 { settled = (Int(heap), size(of: store.path)) }
            }
        }
        let growth = Int(heap) - settled.heap
        let file = size(of: store.path)
        let attempts = store.attempts(limit: 5000)
        let isGood =
            growth <= journalAllowance && file - settled.file <= journalAllowance && laptop.isAtRest && store.problem == nil
            && attempts.count <= Store.attemptLimit + 1 && laptop.attempts > 2 * Store.attemptLimit
        print(
            "\(journalDays) days with a journal: \(laptop.events) events, \(laptop.attempts) attempts of which \(attempts.count) are kept, "
                + "in \(elapsed.nanoseconds / 1_000_000) ms; heap \(settled.heap) octets after \(settling) days, \(growth) more at the end; "
                + "database \(settled.file) octets, \(file - settled.file) more\(isGood ? "" : "  TOO MUCH")")
        return isGood
    }

    private static func machineAlone() -> Bool {
        Policy.Rules.allCases.allSatisfy { rules in
            var laptop = Laptop(rules: rules)
            var settled: UInt = 0
            let elapsed = ContinuousClock().measure {
                for day in 0..<days {
                    laptop.live(day)
                    if day == 99 { settled = heap }
                }
            }
            let growth = Int(heap) - Int(settled)
            let isGood = growth <= allowance && laptop.isAtRest
            print(
                "\(days) days with Rules=\(rules.rawValue): \(laptop.events) events in \(elapsed.nanoseconds / 1_000_000) ms; "
                    + "heap \(settled) octets after 100 days, \(growth) more at the end\(isGood ? "" : "  TOO MUCH")")
            return isGood
        }
    }

    /// Octets in use on the heap.
    private static var heap: UInt { UInt(heap_in_use()) }
}

/// A machine, and a model of the network and the helpers that answers its actions.
private struct Laptop {
    private var machine: Machine
    private var now = Instant(nanoseconds: 0)
    private(set) var events = 0
    private var timers: [TimerID: Instant] = [:]
    private let names = (0..<5).map { "helper\($0)" }
    private let store: Store?
    private var network = NetworkID.anonymous
    private var attempt: String?
    private(set) var attempts = 0

    init(rules: Policy.Rules, store: Store? = nil) {
        self.store = store
        machine = Machine(policy: Policy(rules: rules))
        _ = machine.handle(.helpersChanged(names.map { Candidate($0) }), at: now)
    }

    var isAtRest: Bool { machine.state == .inactive(.noAddress) && timers.isEmpty }

    mutating func live(_ day: Int) {
        // A new place each day; home and work recur.
        for place in [day, 1 << 20, 1 << 21] {
            let name = SSID(octets: [UInt8(place & 255), UInt8(place >> 8 & 255), UInt8(place >> 16 & 255)])!
            network = .wireless(name, .open)
            let remembered = place > Endurance.days && day > 0 ? names[0] : nil
            feed(
                .addressAcquired(
                    Arrival(network: .wireless(name, .open), remembered: remembered, canDisassociate: day % 2 == 0)), day)
            for minute in 0..<40 {
                now = now + .seconds(60)
                for (id, due) in timers.sorted(by: { ($0.value, $0.key.number) < ($1.value, $1.key.number) }) where due <= now {
                    if timers[id] != nil { feed(.timerFired(id), day + minute) }
                }
            }
            feed(.roamed(HardwareAddress(octets: [2, 0, 0, 0, 0, UInt8(day & 255)])!), day)
            if day % 3 == 0 { feed(.logoffRequested(by: .user), day) }
            if day % 7 == 0 { feed(.loginRequested(helper: nil), day) }
            feed(.addressLost, day)
        }
        now = now + .seconds(8 * 3600)
    }

    /// Sends an event and answers the actions, each day a little differently, until no action is left.
    private mutating func feed(_ first: Event, _ day: Int) {
        var queue = [first]
        var rounds = 0
        while !queue.isEmpty {
            let event = queue.removeFirst()
            if case .timerFired(let id) = event { timers[id] = nil }
            events += 1
            rounds += 1
            for action in machine.handle(event, at: now) {
                if store != nil { record(action) }
                switch action {
                case .startTimer(let id, let at, _): timers[id] = at
                case .stopTimer(let id): timers[id] = nil
                // After 60 rounds actions get no answer; a timer continues.
                case _ where rounds >= 60: break
                case .sendCommand(let id, .evaluate, let helper, _):
                    queue.append(.answered(id, .evaluated(helper == names[day % 5] ? .high : .none)))
                case .sendCommand(let id, let command, _, _): queue.append(.answered(id, answer(to: command, day + rounds)))
                case .startProbe(let id, _): queue.append(.verdictReached(id, day % 11 == 0 ? .captive : .online))
                case .showPrompt(let id, _, _): queue.append(day % 13 == 0 ? .promptDismissed(id) : .promptAnswered(id))
                case .disassociate: queue.append(day % 4 == 0 ? .disassociationRefused : .addressLost)
                default: break
                }
            }
        }
    }

    /// Stores an action as the daemon does.
    private mutating func record(_ action: Action) {
        guard let store else { return }
        let time = Int(now.nanoseconds / 1_000_000)
        func step(_ kind: String, _ detail: String, from: StateName? = nil, to: StateName? = nil) {
            guard let attempt else { return }
            try? store.addSteps(attempt, [Step(at: 0, time: time, from: from, to: to, kind: kind, detail: detail)])
        }
        switch action {
        case .beginAttempt:
            attempts += 1
            attempt = "a\(attempts)"
            try? store.beginAttempt(attempt!, interface: "wlan0", network: network, ssid: network.key ?? "", began: time)
        case .endAttempt(_, let outcome):
            if let attempt { try? store.endAttempt(attempt, ended: time, outcome: outcome.rawValue, verdict: "so it ended") }
            try? store.setOutcome(network, StoredOutcome(word: outcome.rawValue, time: time))
        case .transition(let from, let to, let cause): step("transition", cause, from: from, to: to)
        case .report(let problem): step("problem", problem.message)
        case .remember(let helper): try? store.remember(network, RememberedChoice(helper: helper, committed: time))
        case .forgetChoice: try? store.dropChoice(network)
        case .hold(let reason, let duration, let sentence):
            guard let reason = StoredHold.Reason(rawValue: reason.rawValue) else { break }
            let until = duration.map { time + Int($0.nanoseconds / 1_000_000) }
            try? store.setHold(network, StoredHold(reason: reason, until: until, sentence: sentence))
        case .releaseHold: try? store.releaseHold(network)
        default: break
        }
    }

    private func answer(to command: Command, _ number: Int) -> CommandAnswer {
        let results: [HelperResult] = [
            .success, .success, .uiRequired, .success, .temporaryFailure, .success, .unsupportedNetwork, .failure,
            .authenticationRequired, .success,
        ]
        if number % 17 == 0 { return .crashed }
        return .replied(results[number % results.count], prompt: Prompt(title: "Room"), secondsRemaining: number % 4 * 400)
    }
}
