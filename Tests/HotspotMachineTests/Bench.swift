import HotspotCore
import Testing

@testable import HotspotMachine

/// Drives a machine with its own clock, performs its actions in a model of the world, and compares both after every step. So every test also tests
/// the invariants.
struct Bench {
    /// A command that runs.
    struct Open: Hashable {
        let id: CommandID
        let command: Command
        let helper: String
        let justJoined: Bool
    }

    /// A timer that will fire.
    struct Alarm: Hashable {
        let id: TimerID
        let at: Instant
        let purpose: TimerPurpose
    }

    var machine: Machine
    var now = Instant(nanoseconds: 1_000_000_000_000)
    /// The world, as the actions made it.
    var commands: [Open] = []
    var alarms: [Alarm] = []
    var probes: [ProbeID] = []
    var prompt: (id: PromptID, prompt: Prompt, helper: String)?
    var gate = false
    var remembered: String?
    /// The helper whose login is kept.
    var kept: String?
    var keptLogin: LoginID?
    var problems: [Problem] = []
    var strikes: [String: Int] = [:]
    var openAttempt: AttemptID?
    var outcomes: [AttemptOutcome] = []
    var holds: [HoldReason] = []
    var disassociations = 0
    /// All actions since the beginning, and the actions of the last event. A walk keeps only those of the last event.
    var log: [Action] = []
    var last: [Action] = []
    var keepsLog = true
    /// All numbers of operations so far.
    var used: Set<UInt64> = []
    var lastVerdict: Verdict?
    /// Faults until now; `nil`: each one fails the test at once.
    var faults: [String]?

    static let network = NetworkID.wireless(SSID(printable: "Cafe")!, .open)

    init(_ rules: Policy.Rules = .default, helpers: [Candidate] = []) { self.init(Policy(rules: rules), helpers: helpers) }

    init(_ policy: Policy, helpers: [Candidate] = []) {
        machine = Machine(policy: policy)
        if !helpers.isEmpty { send(.helpersChanged(helpers)) }
    }

    init(_ rules: Policy.Rules = .default, _ helpers: String...) {
        self.init(Policy(rules: rules), helpers: helpers.map { Candidate($0) })
    }

    var state: StateName { machine.state.name }
    var chosen: String? { machine.state.chosenHelper }
    var isIdle: Bool { commands.isEmpty && alarms.isEmpty && probes.isEmpty && prompt == nil }
    var problemCodes: [String] { problems.map(\.code.rawValue) }

    // MARK: Events

    @discardableResult mutating func send(_ event: Event) -> [Action] {
        let before = machine.state
        noteVerdict(event)
        let actions = machine.handle(event, at: now)
        last = actions
        if keepsLog { log += actions }
        carryOut(actions, event)
        check(before, actions, event)
        return actions
    }

    /// Sends an event that the machine has to ignore.
    mutating func ignores(_ event: Event, in place: String = "", _ location: SourceLocation = #_sourceLocation) {
        let before = machine
        send(event)
        if !last.isEmpty || machine != before {
            Issue.record("\(event) is not ignored \(place)", sourceLocation: location)
        }
    }

    mutating func join(
        _ network: NetworkID = Bench.network, remembered: String? = nil, hold: Hold? = nil, canDisassociate: Bool = false
    ) {
        send(.addressAcquired(Arrival(network: network, remembered: remembered, hold: hold, canDisassociate: canDisassociate)))
    }

    /// Returns the command that runs at this helper.
    func open(_ helper: String) -> Open? { commands.last { $0.helper == helper } }

    mutating func answer(_ helper: String, _ answer: CommandAnswer, _ location: SourceLocation = #_sourceLocation) {
        guard let open = open(helper) else {
            Issue.record("nothing was asked of \(helper)", sourceLocation: location)
            return
        }
        send(.answered(open.id, answer))
    }

    mutating func bid(_ helper: String, _ confidence: Confidence, _ location: SourceLocation = #_sourceLocation) {
        answer(helper, .evaluated(confidence), location)
    }

    mutating func reply(
        _ helper: String, _ result: HelperResult, prompt: Prompt? = nil, seconds: Int? = nil, maintainAfter: Int? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) {
        answer(helper, .replied(result, prompt: prompt, secondsRemaining: seconds, maintainAfter: maintainAfter), location)
    }

    /// Answers the probe that runs.
    mutating func probe(
        _ verdict: Verdict?, seconds: Int? = nil, at place: String? = nil, _ location: SourceLocation = #_sourceLocation
    ) {
        guard let id = probes.last else {
            Issue.record("the prober was not asked", sourceLocation: location)
            return
        }
        send(.verdictReached(id, verdict, secondsRemaining: seconds, place: place))
    }

    /// Gives each probe after a logoff this verdict.
    mutating func look(_ verdict: Verdict?) {
        while state == .loggingOff, !probes.isEmpty || due(.proof) != nil {
            if probes.isEmpty { wait(due(.proof)!) }
            probe(verdict)
        }
    }

    // MARK: Time

    /// Lets time pass; every timer fires at its instant.
    mutating func wait(_ duration: Duration) { wait(until: now + duration) }

    mutating func wait(until end: Instant) {
        while let alarm = nextAlarm, alarm.at <= end {
            now = max(now, alarm.at)
            send(.timerFired(alarm.id))
        }
        now = end
    }

    /// Lets time pass asleep: no timer fires before the end, then each that is due fires once, in order (D16).
    mutating func sleep(_ duration: Duration) {
        now = now + duration
        while let alarm = nextAlarm, alarm.at <= now { send(.timerFired(alarm.id)) }
    }

    var nextAlarm: Alarm? { alarms.min { ($0.at, $0.id.number) < ($1.at, $1.id.number) } }

    func due(_ purpose: TimerPurpose) -> Duration? { alarms.first { $0.purpose == purpose }.map { $0.at - now } }

    // MARK: Ways to the states

    /// Makes the helper win and log in, and the probe prove it.
    mutating func login(_ helper: String, seconds: Int? = nil, _ location: SourceLocation = #_sourceLocation) {
        bid(helper, .high, location)
        reply(helper, .success, seconds: seconds, location)
        probe(.online, location)
    }

    /// Lets the helper win and ask the user.
    mutating func ask(_ helper: String, _ location: SourceLocation = #_sourceLocation) {
        bid(helper, .high, location)
        reply(helper, .uiRequired, prompt: .room, location)
    }

    /// Makes the helper win and hand over to a browser.
    mutating func handOver(_ helper: String, _ location: SourceLocation = #_sourceLocation) {
        bid(helper, .high, location)
        reply(helper, .uiRequired, prompt: .browser, location)
    }

    /// Where the last change of state began, and its cause.
    var lastTransition: (from: StateName, cause: String)? {
        for case .transition(let from, _, let cause) in last { return (from, cause) }
        return nil
    }

    func count(of command: Command, to helper: String? = nil) -> Int {
        log.count { action in
            if case .sendCommand(_, command, let to, _) = action { helper == nil || helper == to } else { false }
        }
    }
}

/// Compares values of mutating calls, which the macro does not accept.
func equal<Value: Equatable>(_ value: Value, _ expected: Value, _ location: SourceLocation = #_sourceLocation) {
    #expect(value == expected, sourceLocation: location)
}

extension Prompt {
    static let room = Prompt(title: "Room", fields: [Field(name: "room", label: "Room", kind: .text, required: true)])
    /// A prompt that waits only for a confirmation.
    static let browser = Prompt(title: "portal.example", message: "This portal needs a browser.")
}
