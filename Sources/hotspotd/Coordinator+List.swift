import ControlAPI
import ControlServer
import EventLoop
import HotspotCore
import HotspotMachine
import Store
import Wireless

/// The list of networks in sight, and who would take them.
extension Coordinator {
    func makeFilter() -> FilterCycle {
        let filter = FilterCycle(services: services) { [weak self] in
            self?.groups(interface: nil).map(\.0) ?? []
        } onChange: { [weak self] in
            self?.control?.listChanged()
        } onIgnored: { [weak self] helper, count in
            self?.ignored(helper, count)
        }
        // Who looks on wants to see what comes into sight.
        filter.onTick = { [weak self] in self?.scan() }
        services.onAttempt = { [weak filter] in filter?.tellAgain() }
        return filter
    }

    private func groups(interface: String?) -> [(ScanClaims.Group, Int)] {
        let now = EventLoop.now
        let wallClock = WallClock.now
        return controllers.values.sorted { $0.name < $1.name }.filter { interface == nil || $0.name == interface }.flatMap {
            controller in
            let scanned = (wireless?.networks(on: controller.index) ?? []).map { bss in
                ScannedBSS(
                    ssid: bss.ssid, bssid: bss.bssid, frequency: bss.frequency, signal: bss.signal ?? -100,
                    security: bss.security, lastSeen: wallClock - (now - bss.lastSeen).milliseconds, interface: controller.name)
            }
            return ScanClaims.groups(scanned).map { ($0, controller.index) }
        }
    }

    func networks(interface: String?) throws(ControlError) -> [ScannedNetwork] {
        if let interface, !controllers.values.contains(where: { $0.name == interface }) { throw .noSuchInterface(interface) }
        let groups = groups(interface: interface)
        filter.learn(groups.map(\.0))
        let memories = services.store.records(now: WallClock.now)
        let switches = services.store.switches
        // The benchmark of the list does the same, in the same order.
        return groups.map { group, index in
            let network = group.network
            let memory = memories[network]
            let claims = filter.coverage.claims(
                for: group, labels: filter.labels, remembered: memory.helper, credentials: memory.credentials,
                isDisabled: { switches.isOff(helper: $0, network) })
            let strongest = group.strongest
            return ScannedNetwork(
                ssid: group.ssid, bssid: strongest.bssid, interface: strongest.interface, frequency: strongest.frequency,
                signal: strongest.signal, security: group.security, stations: group.stations, lastSeen: group.lastSeen,
                joined: associations[index].map { $0.ssid == group.ssid && $0.security == group.security } ?? false,
                claims: claims.map {
                    ClaimStatus(
                        helper: $0.helper, displayName: $0.displayName, confidence: $0.confidence, source: $0.source.rawValue,
                        ready: $0.ready)
                },
                disabled: switches.isOff(network), autoJoin: memory.hold.map { $0.reason != .autoJoinOff } ?? true,
                lastOutcome: memory.outcome.map { "\($0.word) \($0.time)" })
        }
    }

    func refreshClaims(_ done: @escaping () -> Void) {
        scan()
        filter.once(done)
    }

    func listWatchers(_ count: Int) {
        filter.watch(count)
    }

    /// The scan list went to a helper: a step of the interfaces that saw these networks, and a line of the log, because there may be
    /// no attempt that the journal could put it under.
    func disclosed(_ helper: String, _ networks: [Network]) {
        for (name, seen) in Dictionary(grouping: networks, by: \.interface) {
            let shown = seen.prefix(16).map(\.ssid).joined(separator: "; ")
            let rest = seen.count > 16 ? "; and \(seen.count - 16) more" : ""
            let detail = "scan list, \(seen.count) network\(seen.count == 1 ? "" : "s"): \(shown)\(rest)"
            log.info("\(name): told \(helper): \(detail)")
            controllers.values.first { $0.name == name }?.record("disclosed", detail, helper: helper)
        }
    }

    /// D18, for the one command that belongs to no interface: every interface that is in a network hears of it, and the log does.
    private func ignored(_ helper: String, _ count: Int) {
        let detail = "filterScanList: \(count) too late or too often; nothing changed"
        log.info("\(helper): \(detail)")
        for controller in controllers.values where controller.attempt != nil {
            controller.record("ignored", detail, helper: helper)
        }
    }

    /// A fresh scan for who looks, at most one in five seconds, where it is permitted; without the capability others' scans are shown.
    private func scan() {
        if let lastScan, EventLoop.now - lastScan < .seconds(5) { return }
        lastScan = EventLoop.now
        for controller in controllers.values where wireless?.interfaces[controller.index] != nil {
            do {
                try wireless?.triggerScan(index: controller.index, frequencies: settings.scanFrequencies)
                controller.withdraw(problem: .scan)
            } catch .notPermitted(let operation) {
                controller.report(Problem(.scan, "\(WirelessError.notPermitted(operation: operation)) Others' scans are shown."))
            } catch {
                log.debug("\(controller.name): \(error)")
            }
        }
    }
}
