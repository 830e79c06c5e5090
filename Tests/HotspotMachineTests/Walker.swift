import HotspotCore
import TestSupport
import Testing

@testable import HotspotMachine

/// Walks a bench through random events; equal seeds make equal walks.
struct Walker {
    typealias Random = SeededNumbers

    var random: Random
    var bench: Bench
    var events = 0
    var visits: [StateName: Int] = [:]
    var kinds: Set<String> = []

    init(seed: UInt64, policy: Policy) {
        random = Random(seed: seed)
        bench = Bench(policy)
        bench.keepsLog = false
    }

    static let names = ["H1", "H2", "H3", "H4", "H5"]

    mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<28: answer()
        case 28..<44:
            if let id = bench.probes.first { send(.verdictReached(id, verdict(), secondsRemaining: seconds(), place: place())) }
        case 44..<62: fire()
        case 62..<66: bench.now = bench.now + .milliseconds(Int.random(in: 0...60_000, using: &random))
        case 66..<68: bench.now = bench.now + .seconds(Int.random(in: 0...7200, using: &random))
        case 68..<74:
            if let id = bench.prompt?.id { send(Bool.random(using: &random) ? .promptAnswered(id) : .promptDismissed(id)) }
        case 74..<80: if bench.state == .inactive || chance(8) { join() }
        case 80..<82: send(.addressLost)
        case 82..<84: send(.loginRequested(helper: chance(3) ? Self.names.randomElement(using: &random) : nil))
        case 84..<87: send(.logoffRequested(by: chance(2) ? .user : .helper(Self.names.randomElement(using: &random)!)))
        case 87: send(.restEnded)
        case 88: send(.roamed(HardwareAddress(octets: [2, 0, 0, 0, 0, UInt8.random(in: 0...9, using: &random)])!))
        case 89..<92: helpers()
        case 92..<95: send(.verdictSeen(Verdict.allCases.randomElement(using: &random)!, place: place()))
        case 95: send(.disassociationRefused)
        default: stale()
        }
    }

    mutating func send(_ event: Event) {
        events += 1
        bench.send(event)
        visits[bench.state, default: 0] += 1
        for action in bench.last { kinds.insert(String("\(action)".prefix { $0 != "(" })) }
        if chance(32) { mustEnd() }
    }

    private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    private mutating func verdict() -> Verdict? { chance(10) ? nil : Verdict.allCases.randomElement(using: &random) }

    private mutating func place() -> String? { ["http://a/", "http://b/", "here", nil].randomElement(using: &random)! }

    private mutating func seconds() -> Int? { chance(3) ? Int.random(in: -1...1000, using: &random) : nil }

    private mutating func answer() {
        guard let open = bench.commands.randomElement(using: &random) else { return }
        if chance(12) { return send(.answered(open.id, .crashed)) }
        if chance(12) { return send(.answered(open.id, .garbled(reason: nil))) }
        if open.command == .evaluate, !chance(10) {
            return send(.answered(open.id, .evaluated(Confidence.allCases.randomElement(using: &random)!)))
        }
        let result = chance(2) ? HelperResult.success : HelperResult.allCases.randomElement(using: &random)!
        let prompt = chance(2) ? Prompt.room : chance(2) ? .browser : nil
        send(.answered(open.id, .replied(result, prompt: prompt, secondsRemaining: seconds())))
    }

    private mutating func fire() {
        guard let alarm = bench.nextAlarm else { return }
        bench.now = max(bench.now, alarm.at)
        send(.timerFired(alarm.id))
    }

    private mutating func join() {
        let network = NetworkID.wireless(SSID(octets: [UInt8.random(in: 65...67, using: &random)])!, .open)
        var hold: Hold?
        if chance(6) {
            let end = bench.now + .seconds(Int.random(in: -10...1000, using: &random))
            hold = Hold(HoldReason.allCases.randomElement(using: &random)!, until: chance(2) ? end : nil)
        }
        send(
            .addressAcquired(
                Arrival(
                    network: network, remembered: chance(2) ? Self.names.randomElement(using: &random) : nil, hold: hold,
                    canDisassociate: chance(2))))
    }

    private mutating func helpers() {
        let count = Int.random(in: 0...5, using: &random)
        var candidates: [Candidate] = []
        for name in Self.names.shuffled(using: &random).prefix(count) {
            candidates.append(Candidate(name, priority: Int.random(in: 0...3, using: &random) * 25, isQuarantined: chance(5)))
        }
        send(.helpersChanged(candidates))
    }

    /// Sends events with the numbers of requests that have ended or never existed.
    private mutating func stale() {
        let number = chance(4) ? UInt64.max : UInt64.random(in: 0...bench.machine.lastNumber, using: &random)
        let inFlight = bench.machine.state.inFlight
        let machine = bench.machine
        if !inFlight.commands.contains(CommandID(number: number)) {
            send(.answered(CommandID(number: number), .replied(.success)))
        }
        if !inFlight.timers.contains(TimerID(number: number)) { send(.timerFired(TimerID(number: number))) }
        if inFlight.probe?.id.number != number { send(.verdictReached(ProbeID(number: number), .captive)) }
        if inFlight.prompt?.number != number { send(.promptAnswered(PromptID(number: number))) }
        if machine != bench.machine { Issue.record("what is late changed something, after \(events) events") }
    }

    /// Checks that from here the loss of the address leads to rest, and that a race ends by itself.
    private func mustEnd() {
        var lost = bench.machine
        _ = lost.handle(.addressLost, at: bench.now)
        if lost.state != .inactive(.noAddress) { Issue.record("the loss of the address does not lead to rest") }
        guard case .evaluating = bench.machine.state else { return }
        var patient = bench
        patient.used = []
        let attempt = patient.machine.state.joined?.attempt
        patient.wait(patient.machine.policy.commandTimeout)
        if patient.state == .evaluating, patient.machine.state.joined?.attempt == attempt {
            Issue.record("evaluating does not end")
        }
    }
}
