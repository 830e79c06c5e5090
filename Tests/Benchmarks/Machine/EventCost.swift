import HotspotCore
import HotspotMachine

/// The machine's time for each kind of event of a visit, with a few and with a hundred helpers.
struct EventCost {
    let baseline: Int

    /// Prints the median of each kind, and the mean of all, which includes the computer's other work.
    func run() { [3, 100].forEach(visit) }

    private func visit(helpers count: Int) {
        let names = (0..<count).map { "helper\($0)" }
        var times: [String: [Int]] = [:]
        var order: [String] = []
        var machine = Machine()
        var now = Instant(nanoseconds: 0)
        let clock = ContinuousClock()
        func feed(_ kind: String, _ event: Event) -> [Action] {
            let began = clock.now
            let actions = machine.handle(event, at: now)
            let took = Int((clock.now - began).nanoseconds)
            if times[kind] == nil { order.append(kind) }
            times[kind, default: []].append(took)
            return actions
        }
        _ = machine.handle(.helpersChanged(names.map { Candidate($0) }), at: now)
        let network = NetworkID.wireless(SSID(octets: Array("Cafe".utf8))!, .open)
        for _ in 0..<400 {
            now = now + .seconds(10)
            var actions = feed("address acquired, all asked", .addressAcquired(Arrival(network: network)))
            var commands: [CommandID] = []
            for case .sendCommand(let id, _, _, _) in actions { commands.append(id) }
            for case .startProbe(let id, _) in actions { _ = feed("verdict", .verdictReached(id, .captive)) }
            for id in commands.dropLast() { _ = feed("answer none", .answered(id, .evaluated(.none))) }
            actions = feed("answer high", .answered(commands.last!, .evaluated(.high)))
            for case .sendCommand(let id, _, _, _) in actions {
                actions = feed("answer success", .answered(id, .replied(.success)))
            }
            for case .startProbe(let id, _) in actions { actions = feed("proof", .verdictReached(id, .online)) }
            for case .startTimer(let id, let at, .maintain) in actions {
                now = at
                actions = feed("timer maintain", .timerFired(id))
            }
            for case .sendCommand(let id, _, _, _) in actions {
                _ = feed("maintain's success", .answered(id, .replied(.success, secondsRemaining: 3600)))
            }
            for case .startProbe(let id, _) in actions { _ = feed("maintain's verdict", .verdictReached(id, .online)) }
            _ = feed("an old answer", .answered(commands[0], .evaluated(.high)))
            _ = feed("address lost", .addressLost)
        }
        precondition(machine.state == .inactive(.noAddress), "a visit ends at rest")
        print("\(count) helpers:")
        for kind in order {
            let sorted = times[kind]!.sorted()
            let median = sorted[sorted.count / 2]
            print("  \(median) ns  \(kind)  (\(ratio(median)) of the baseline)")
        }
        let all = times.values.flatMap { $0 }
        let mean = all.reduce(0, +) / all.count
        print("  \(mean) ns  mean of all \(all.count)")
    }

    private func ratio(_ time: Int) -> String { "\(time * 100 / max(1, baseline)) %" }
}
