import EventLoop
import HelperHost
import HotspotCore
import HotspotMachine
import Varlink

/// FilterScanList: while somebody looks at the list, the helpers that may see it are asked every few seconds, beside any other
/// command (T44). A helper has one such question at a time; a tick is skipped rather than queued.
@LoopActor final class FilterCycle {
    private let services: Services
    private let onChange: () -> Void
    /// What each helper said last.
    private(set) var answers: [String: [Annotation]] = [:]
    private var running: [String: HelperCall] = [:]
    private var deadlines: [String: EventSource] = [:]
    private var timer: EventSource?
    private var watchers = 0
    private var waiting: [() -> Void] = []
    private var patience: EventSource?
    /// The networks that each helper was told of last, so that the journal tells of changes alone.
    private var disclosed: [String: [Network]] = [:]
    private var source: () -> [ScanClaims.Group] = { [] }

    init(services: Services, onChange: @escaping () -> Void) {
        self.services = services
        self.onChange = onChange
    }

    /// Where the list comes from.
    func read(_ source: @escaping () -> [ScanClaims.Group]) { self.source = source }

    func watch(_ count: Int) {
        let began = watchers == 0 && count > 0
        watchers = count
        if began { tick() }
        if count == 0 {
            timer?.cancel()
            timer = nil
        }
    }

    /// Asks once; calls back when all have answered, or after a second.
    func once(_ done: @escaping () -> Void) {
        ask()
        guard !running.isEmpty else { return done() }
        waiting.append(done)
        guard patience == nil else { return }
        patience = try? EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in self?.release() }
    }

    func forget(_ helper: String) { answers[helper] = nil }

    private func tick() {
        guard watchers > 0 else { return }
        ask()
        onChange()
        timer = try? EventLoop.shared.schedule(after: services.settings.filterInterval, accuracy: .milliseconds(100)) {
            [weak self] in
            self?.tick()
        }
    }

    private func ask() {
        let groups = source()
        for spec in services.host.helpers.map(\.spec) where running[spec.name] == nil && services.isEnabled(spec, for: nil) {
            guard spec.scanList || !spec.ssids.isEmpty else { continue }
            let visible = ScanClaims.visible(to: spec, in: groups).filter { services.isEnabled(spec, for: $0.ssid) }
            guard !visible.isEmpty else {
                answers[spec.name] = nil
                disclosed[spec.name] = nil
                continue
            }
            let networks = visible.map { group in
                Network(
                    ssid: group.ssid, bssid: group.strongest.bssid, interface: group.strongest.interface,
                    signalStrength: SignalScale.strength(dBm: group.strongest.signal), security: group.security, autoJoined: false
                )
            }
            send(spec.name, networks)
        }
    }

    private func send(_ helper: String, _ networks: [Network]) {
        if disclosed[helper].map({ Set($0.map(\.ssidHex)) }) != Set(networks.map(\.ssidHex)) {
            services.onDisclosed(helper, networks)
        }
        disclosed[helper] = networks
        running[helper] = services.host.send(
            .filterScanList, to: helper, parameters: .object(["networks": Coding.value(networks)])
        ) { [weak self] outcome in
            guard let self, running.removeValue(forKey: helper) != nil else { return }
            deadlines.removeValue(forKey: helper)?.cancel()
            let before = answers[helper]
            if case .annotations(let annotations) = outcome {
                answers[helper] = Array(annotations.prefix(1024))
            } else {
                answers[helper] = nil
            }
            if answers[helper] != before { onChange() }
            if running.isEmpty { release() }
        }
        deadlines[helper] = try? EventLoop.shared.schedule(after: services.settings.policy.commandTimeout) { [weak self] in
            guard let self else { return }
            deadlines[helper] = nil
            running.removeValue(forKey: helper)?.cancel()
            answers[helper] = nil
            if running.isEmpty { release() }
        }
    }

    private func release() {
        patience?.cancel()
        patience = nil
        let done = waiting
        waiting = []
        done.forEach { $0() }
    }
}
