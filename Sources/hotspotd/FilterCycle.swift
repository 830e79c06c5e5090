import EventLoop
import HelperHost
import HotspotCore
import HotspotMachine
import Varlink

/// FilterScanList: while somebody looks at the list, the helpers that may see it are asked every few seconds, beside any other
/// command (T44). A helper has one such question at a time; a tick is skipped rather than queued.
///
/// An answer labels the networks of its own question and no others, and nothing of it is kept when nobody looks any more. Its
/// passwords are not kept at all.
@LoopActor final class FilterCycle {
    /// One list at one helper; the networks in it are all that its answer can speak of.
    private struct Question {
        let spec: HelperSpec
        let asked: [ScanClaims.Group]
        let call: HelperCall
        let deadline: EventSource?
    }

    /// Somebody who wants the list once.
    private struct Waiter {
        let done: () -> Void
        let patience: EventSource
    }

    /// How long a list that is asked for once waits for answers.
    private static let patience = Duration.seconds(1)
    /// However often a list is asked for once: helpers are asked for it so often at most.
    private static let pause = Duration.seconds(1)

    private let services: Services
    private let source: () -> [ScanClaims.Group]
    private let onChange: () -> Void
    private let onIgnored: (_ helper: String, _ count: Int) -> Void
    /// Called before helpers are asked on behalf of those who look on.
    var onTick: () -> Void = {}
    /// What each helper's last answer comes to.
    private(set) var labels: [String: ScanClaims.Labels] = [:]
    /// Who may hear of what; the list itself is labelled from it too.
    private(set) var coverage = ScanClaims.Coverage()
    /// The files by which the helpers with labels were asked.
    private var specs: [String: HelperSpec] = [:]
    private var questions: [String: Question] = [:]
    private var timer: EventSource?
    private var watchers = 0
    private var waiters: [Int: Waiter] = [:]
    private var lastWaiter = 0
    private var lastAsked: Instant?
    /// Who wants the list once, and too soon after somebody else did.
    private var early: [() -> Void] = []
    private var pausing: EventSource?
    /// What each helper was told of last, so that the journal tells of changes alone.
    private var disclosed: [String: Set<Told>] = [:]

    private struct Told: Hashable {
        let ssid: SSID
        let interface: String
    }

    /// - Parameters:
    ///   - source: the networks in sight now.
    ///   - onChange: a label came or went.
    ///   - onIgnored: so many answers of a helper came too late or too often, and changed nothing (D18).
    init(
        services: Services, source: @escaping () -> [ScanClaims.Group], onChange: @escaping () -> Void,
        onIgnored: @escaping (_ helper: String, _ count: Int) -> Void = { _, _ in }
    ) {
        self.services = services
        self.source = source
        self.onChange = onChange
        self.onIgnored = onIgnored
    }

    // MARK: Who looks

    /// So many look at the list from now on.
    func watch(_ count: Int) {
        let began = watchers == 0 && count > 0
        watchers = count
        if began { tick() }
        guard count == 0 else { return }
        timer?.cancel()
        timer = nil
        clearIfUnwatched()
    }

    /// Asks once; calls back when all have answered, or after a second.
    func once(_ done: @escaping () -> Void) {
        if questions.isEmpty, let lastAsked, EventLoop.now - lastAsked < Self.pause {
            early.append(done)
            guard pausing == nil else { return }
            pausing = try? EventLoop.shared.schedule(at: lastAsked + Self.pause) { [weak self] in self?.admitEarly() }
            if pausing == nil { admitEarly() }
            return
        }
        ask()
        wait(done)
    }

    private func admitEarly() {
        pausing = nil
        let all = early
        early = []
        ask()
        for done in all { wait(done) }
    }

    /// Another attempt begins: what helpers are told during it is to stand in its journal.
    func tellAgain() { disclosed = [:] }

    private func wait(_ done: @escaping () -> Void) {
        lastWaiter += 1
        let number = lastWaiter
        let patience = try? EventLoop.shared.schedule(after: Self.patience) { [weak self] in
            guard let self else { return }
            waiters.removeValue(forKey: number)?.done()
            clearIfUnwatched()
        }
        guard !questions.isEmpty, let patience else {
            patience?.cancel()
            done()
            return clearIfUnwatched()
        }
        waiters[number] = Waiter(done: done, patience: patience)
    }

    /// The networks are known to ``coverage`` from now on.
    func learn(_ groups: [ScanClaims.Group]) { coverage.add(groups, for: services.host.helpers.map(\.spec)) }

    /// Helpers came, went, were written anew or switched: what they said before does not count any more.
    func helpersChanged() {
        let current = Dictionary(services.host.helpers.map { ($0.spec.name, $0.spec) }, uniquingKeysWith: { first, _ in first })
        func isSame(_ spec: HelperSpec) -> Bool { current[spec.name] == spec && services.isEnabled(spec, for: nil) }
        for (name, question) in questions where !isSame(question.spec) { withdraw(name) }
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
        learn(groups)
        let switches = services.store.switches
        let visible = coverage.visible(in: groups) { switches.isOff(helper: $0.name, $1.network) }
        for (spec, networks) in zip(coverage.helpers, visible) where questions[spec.name] == nil {
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
                signalStrength: SignalScale.strength(dBm: group.strongest.signal), security: group.security, autoJoined: false)
        }
        let told = Set(asked.map { Told(ssid: $0.ssid, interface: $0.strongest.interface) })
        if disclosed[name] != told { services.onDisclosed(name, networks) }
        disclosed[name] = told
        let call = services.host.send(
            .filterScanList, to: name, parameters: .object(["networks": Coding.value(networks)])
        ) { [weak self] outcome in
            self?.take(outcome, of: name)
        }
        call.onIgnored = { [weak self] count in self?.onIgnored(name, count) }
        let deadline = try? EventLoop.shared.schedule(after: services.settings.policy.commandTimeout) { [weak self] in
            self?.miss(name)
        }
        questions[name] = Question(spec: spec, asked: asked, call: call, deadline: deadline)
    }

    // MARK: Answers

    private func take(_ outcome: HelperOutcome, of name: String) {
        guard let question = questions.removeValue(forKey: name) else { return }
        question.deadline?.cancel()
        let before = labels[name]
        if case .annotations(let annotations) = outcome {
            // What was switched off since it was asked is not labelled.
            let asked = question.asked.filter { !isOff(question.spec, $0.network) }
            let answer = ScanClaims.Labels(annotations, asked: asked)
            labels[name] = answer.isEmpty ? nil : answer
            specs[name] = answer.isEmpty ? nil : question.spec
        } else {
            forget(name)
            // It is no strike, for nobody waited; but its author wants to know.
            if case .failed(let fault) = outcome {
                services.blame(name, fault.problem)
                services.log.warning("\(name): \(fault.sentence)")
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
        guard let question = questions.removeValue(forKey: name) else { return }
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

    // MARK: The end of looking

    private func releaseIfAnswered() {
        guard questions.isEmpty, !waiters.isEmpty else { return }
        let all = waiters.sorted { $0.key < $1.key }.map(\.value)
        waiters = [:]
        for waiter in all {
            waiter.patience.cancel()
            waiter.done()
        }
        clearIfUnwatched()
    }

    /// Nobody looks: nothing is asked any more, and nothing that was said is kept.
    private func clearIfUnwatched() {
        guard watchers == 0, waiters.isEmpty else { return }
        for name in Array(questions.keys) { withdraw(name) }
        labels = [:]
        specs = [:]
    }
}
