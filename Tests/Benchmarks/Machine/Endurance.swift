import CHeap
import HotspotCore
import HotspotMachine

/// 10,000 days of a laptop, several visits each, with logins, questions, failures, roaming, sleep and logoffs, under both rules: what
/// the heap holds at the end is what it held after the first hundred days.
enum Endurance {
    static let days = 10_000
    private static let allowance = 4096

    static func run() -> Bool {
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

/// A machine and just enough of a world to answer it.
private struct Laptop {
    private var machine: Machine
    private var now = Instant(nanoseconds: 0)
    private(set) var events = 0
    private var timers: [TimerID: Instant] = [:]
    private let names = (0..<5).map { "helper\($0)" }

    init(rules: Policy.Rules) {
        machine = Machine(policy: Policy(rules: rules))
        _ = machine.handle(.helpersChanged(names.map { Candidate($0) }), at: now)
    }

    var isAtRest: Bool { machine.state == .inactive(.noAddress) && timers.isEmpty }

    mutating func live(_ day: Int) {
        // Another place each day; home and work are among them again and again.
        for place in [day, 1 << 20, 1 << 21] {
            let name = SSID(octets: [UInt8(place & 255), UInt8(place >> 8 & 255), UInt8(place >> 16 & 255)])!
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

    /// Tells the machine, and answers what it asks, each day a little differently, until it asks nothing more.
    private mutating func feed(_ first: Event, _ day: Int) {
        var queue = [first]
        var rounds = 0
        while !queue.isEmpty {
            let event = queue.removeFirst()
            if case .timerFired(let id) = event { timers[id] = nil }
            events += 1
            rounds += 1
            for action in machine.handle(event, at: now) {
                switch action {
                case .startTimer(let id, let at, _): timers[id] = at
                case .stopTimer(let id): timers[id] = nil
                // Whoever asks without end is not answered any more; a timer goes on with it.
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

    private func answer(to command: Command, _ number: Int) -> CommandAnswer {
        let results: [Result] = [
            .success, .success, .uiRequired, .success, .temporaryFailure, .success, .unsupportedNetwork, .failure,
            .authenticationRequired, .success,
        ]
        if number % 17 == 0 { return .crashed }
        return .replied(results[number % results.count], prompt: Prompt(title: "Room"), secondsRemaining: number % 4 * 400)
    }
}
