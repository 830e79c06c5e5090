import EventLoop
import HelperHost
import HotspotCore
import HotspotMachine
import Varlink

/// FilterScanList: while clients watch the list of networks, helpers get this command every few seconds, in parallel with any other command (T44). A
/// helper that has not answered the previous FilterScanList is skipped.
///
/// An answer labels only the networks of its own question, and is dropped once no client watches. Passwords in an answer are never kept: a join asks
/// the helpers again.
@LoopActor final class FilterCycle {
    /// A question to one helper, with the networks that its answer can label.
    private struct PendingList {
        let spec: HelperSpec
        let asked: [ScanClaims.Group]
        let call: HelperCall
        let deadline: EventSource?
    }

    /// A client that wants the list once.
    private struct PendingClient {
        let done: () -> Void
        let patience: EventSource
    }

    /// The longest time that a client that wants the list once waits for answers.
    var patience = Duration.seconds(1)
    /// The shortest time between two questions to the helpers, however often clients request the list.
    private static let pause = Duration.seconds(1)

    private let services: Services
    private let source: () -> [ScanClaims.Group]
    /// Called when a label has appeared or disappeared.
    var onChange: () -> Void = {}
    /// Called when answers of a helper came too late or repeatedly, and were ignored (D18).
    var onIgnored: (_ helper: String, _ count: Int) -> Void = { _, _ in }
    /// Called before each of the periodic questions to the helpers, while clients watch.
    var onTick: () -> Void = {}
    /// The labels of each helper's last answer.
    private(set) var labels: [String: ScanClaims.Labels] = [:]
    /// The networks that each helper may see. The list of networks is built from it, too.
    private(set) var coverage = ScanClaims.Coverage()
    /// The specifications of the helpers with labels, as they were when the helpers were asked.
    private var specs: [String: HelperSpec] = [:]
    private var pendingQuestions: [String: PendingList] = [:]
    private var timer: EventSource?
    private var watchers = 0
    private var clients: [Int: PendingClient] = [:]
    private var lastClient = 0
    private var lastAsked: Instant?
    /// The callbacks of clients that requested the list once, too soon after the last question.
    private var early: [() -> Void] = []
    private var pausing: EventSource?
    /// The network whose join needs a password, and the callback.
    private var passwordWish: (network: NetworkID, done: (String?) -> Void)?
    /// The networks in each helper's last question, so that the journal records only changes.
    private var disclosed: [String: Set<SeenNetwork>] = [:]

    private struct SeenNetwork: Hashable {
        let ssid: SSID
        let interface: String
    }

    /// `source` returns the networks in sight now.
    init(services: Services, source: @escaping () -> [ScanClaims.Group]) {
        self.services = services
        self.source = source
    }

    // MARK: Clients

    /// Sets the number of clients that watch the list.
    func watch(_ count: Int) {
        let began = watchers == 0 && count > 0
        watchers = count
        if began { tick() }
        guard count == 0 else { return }
        timer?.cancel()
        timer = nil
        clearIfUnwatched()
    }

    /// Asks the helpers once; calls back when all have answered, within two seconds at most.
    func once(_ done: @escaping () -> Void) {
        if pendingQuestions.isEmpty, let lastAsked, EventLoop.now - lastAsked < Self.pause {
            early.append(done)
            guard pausing == nil else { return }
            pausing = try? EventLoop.shared.schedule(at: lastAsked + Self.pause) { [weak self] in self?.admitEarly() }
            if pausing == nil { admitEarly() }
            return
        }
        ask()
        wait(done)
    }

    /// Asks the helpers for the password of a network in sight; calls back once: with the first password, or without a password after all answers,
    /// within two seconds at most.
    func password(for network: NetworkID, _ done: @escaping (String?) -> Void) {
        grant(nil)
        passwordWish = (network, done)
        once { [weak self] in if self?.passwordWish?.network == network { self?.grant(nil) } }
    }

    private func grant(_ password: String?) {
        let wish = passwordWish
        passwordWish = nil
        wish?.done(password)
    }

    private func admitEarly() {
        pausing = nil
        let all = early
        early = []
        ask()
        for done in all { wait(done) }
    }

    /// Lets the next questions be recorded even if their networks are unchanged, because a new attempt's journal must contain them.
    func discloseAgain() { disclosed = [:] }

    private func wait(_ done: @escaping () -> Void) {
        lastClient += 1
        let number = lastClient
        let patience = try? EventLoop.shared.schedule(after: patience) { [weak self] in
            guard let self else { return }
            clients.removeValue(forKey: number)?.done()
            clearIfUnwatched()
        }
        guard !pendingQuestions.isEmpty, let patience else {
            patience?.cancel()
            done()
            return clearIfUnwatched()
        }
        clients[number] = PendingClient(done: done, patience: patience)
    }

    /// Adds networks to ``coverage``.
    func cover(_ groups: [ScanClaims.Group]) { coverage.add(groups, for: services.host.helpers.map(\.spec)) }

    /// Drops the answers and questions of helpers that have changed or were switched off.
    func helpersChanged() {
        let current = Dictionary(services.host.helpers.map { ($0.spec.name, $0.spec) }, uniquingKeysWith: { first, _ in first })
        func isSame(_ spec: HelperSpec) -> Bool { current[spec.name] == spec && services.isEnabled(spec, for: nil) }
        for (name, question) in pendingQuestions where !isSame(question.spec) { withdraw(name) }
        let before = labels
        for (name, spec) in specs {
            if isSame(spec) {
                labels[name]?.remove { isOff(spec, $0) }
            } else {
                forget(name)
            }
        }
        for name in disclosed.keys where current[name] == nil { disclosed[name] = nil }
        if labels != before { onChange() }
        releaseIfAnswered()
    }

    /// If clients watch, asks at once, because helpers may answer differently now.
    func askAgain() {
        guard watchers > 0 else { return }
        ask()
        onChange()
    }

    // MARK: Asking

    private func tick() {
        guard watchers > 0 else { return }
        onTick()
        ask()
        onChange()
        timer = try? EventLoop.shared.schedule(after: services.settings.filterInterval, accuracy: .milliseconds(100)) {
            [weak self] in
            self?.tick()
        }
    }

    private func ask() {
        lastAsked = EventLoop.now
        let groups = source()
        cover(groups)
        let switches = services.store.switches
        let visible = coverage.visible(in: groups) { switches.isOff(helper: $0.name, $1.network) }
        for (spec, networks) in zip(coverage.helpers, visible) where pendingQuestions[spec.name] == nil {
            if networks.isEmpty {
                forget(spec.name)
                disclosed[spec.name] = nil
            } else {
                send(spec, networks)
            }
        }
    }

    private func send(_ spec: HelperSpec, _ asked: [ScanClaims.Group]) {
        let name = spec.name
        let networks = asked.map { group in
            Network(
                ssid: group.ssid, bssid: group.strongest.bssid, interface: group.strongest.interface,
                signalStrength: SignalScale.strength(dBm: group.strongest.signal), security: group.security, autoJoined: false,
                announced: group.strongest.announced?.forHelpers)
        }
        let seen = Set(asked.map { SeenNetwork(ssid: $0.ssid, interface: $0.strongest.interface) })
        if disclosed[name] != seen { services.events?.scanListDisclosed(networks, to: name) }
        disclosed[name] = seen
        let call = services.host.send(
            .filterScanList, to: name, parameters: .object(["networks": Coding.value(networks)])
        ) { [weak self] outcome in
            self?.handle(outcome, of: name)
        }
        call.onIgnored = { [weak self] count in self?.onIgnored(name, count) }
        let deadline = try? EventLoop.shared.schedule(after: services.settings.policy.commandTimeout) { [weak self] in
            self?.miss(name)
        }
        pendingQuestions[name] = PendingList(spec: spec, asked: asked, call: call, deadline: deadline)
    }

    // MARK: Answers

    private func handle(_ outcome: HelperOutcome, of name: String) {
        guard let question = pendingQuestions.removeValue(forKey: name) else { return }
        question.deadline?.cancel()
        let before = labels[name]
        if case .annotations(let annotations) = outcome {
            // Do not label networks that were switched off after the question.
            let asked = question.asked.filter { !isOff(question.spec, $0.network) }
            let answer = ScanClaims.Labels(annotations, asked: asked)
            labels[name] = answer.isEmpty ? nil : answer
            specs[name] = answer.isEmpty ? nil : question.spec
            if let group = asked.first(where: { $0.network == passwordWish?.network }),
                let password = ScanClaims.password(for: group, in: annotations)
            {
                grant(password)
            }
        } else {
            forget(name)
            // Show the fault for the helper's author, but count no strike, because no login waited for the answer.
            if case .failed(let fault) = outcome {
                services.blame(name, fault.problem)
                services.log.warning("\(name): \(QuotedProblem.line(fault.sentence))")
            }
        }
        if labels[name] != before { onChange() }
        releaseIfAnswered()
    }

    private func miss(_ name: String) {
        withdraw(name)
        services.blame(name, Problem(.helperTimeout, "\(name) did not answer the scan list in time."))
        let had = labels[name] != nil
        forget(name)
        if had { onChange() }
        releaseIfAnswered()
    }

    private func withdraw(_ name: String) {
        guard let question = pendingQuestions.removeValue(forKey: name) else { return }
        question.deadline?.cancel()
        question.call.cancel()
    }

    private func forget(_ name: String) {
        labels[name] = nil
        specs[name] = nil
    }

    private func isOff(_ spec: HelperSpec, _ network: NetworkID) -> Bool {
        services.store.switches.isOff(helper: spec.name, network)
    }

    // MARK: The end of watching

    private func releaseIfAnswered() {
        guard pendingQuestions.isEmpty, !clients.isEmpty else { return }
        let all = clients.sorted { $0.key < $1.key }.map(\.value)
        clients = [:]
        for client in all {
            client.patience.cancel()
            client.done()
        }
        clearIfUnwatched()
    }

    /// If no client watches, withdraws all questions and drops all labels.
    private func clearIfUnwatched() {
        guard watchers == 0, clients.isEmpty else { return }
        for name in Array(pendingQuestions.keys) { withdraw(name) }
        labels = [:]
        specs = [:]
    }
}
