import ControlAPI
import EventLoop
import HotspotCore
import HotspotMachine
import Store
import Wireless

/// The list of networks in sight, and the helpers that claim them.
@LoopActor final class NetworkList {
    private let services: Services
    private let links: LinkManager
    private let filter: FilterCycle
    private var lastScan: Instant?
    /// Whether a client watches the list in detail.
    private var asksAccessPoints = false

    init(services: Services, links: LinkManager) {
        self.services = services
        self.links = links
        filter = FilterCycle(services: services) { [weak links] in
            links.map { Self.groups(in: $0, on: nil).map(\.0) } ?? []
        }
        filter.onChange = { [weak services] in services?.events?.networkListChanged() }
        filter.onIgnored = { [weak self] in self?.recordIgnored($0, $1) }
        // Scan as well, because clients that watch the list want to see new networks.
        filter.onTick = { [weak self] in
            guard let self else { return }
            if asksAccessPoints { askAccessPoints { [weak self] in self?.scan() } } else { scan() }
        }
        links.accessPoints.onAnswer = { [weak services] in services?.events?.networkListChanged() }
    }

    /// - Parameter asking: whether one of the clients wants the access points' answers.
    func watch(_ count: Int, asking: Bool) {
        asksAccessPoints = asking
        filter.watch(count)
    }
    func helpersChanged() { filter.helpersChanged() }
    /// Called when helper files, or files that helpers read, have changed.
    func foldersChanged() { filter.askAgain() }
    func attemptBegan() { filter.discloseAgain() }

    /// Scans and asks the helpers once; calls back when all have answered, within two seconds at most.
    ///
    /// - Parameter asking: whether to ask the access points as well.
    func refresh(asking: Bool, _ done: @escaping () -> Void) {
        guard asking else {
            scan()
            return filter.once(done)
        }
        var open = 2
        let finish = {
            open -= 1
            if open == 0 { done() }
        }
        // Scan only afterwards, because a scan would delay the answers of the access points.
        askAccessPoints { [weak self] in
            self?.scan()
            finish()
        }
        filter.once(finish)
    }

    /// Asks the strongest access point of each network in sight, if it offers ANQP; calls back once, within about a second.
    private func askAccessPoints(_ done: @escaping () -> Void) {
        links.accessPoints.ask(
            Self.groups(in: links, on: nil).compactMap { group, index in
                guard let announced = group.strongest.announced, announced.anqp == true, let interface = links.interface(index)
                else { return nil }
                return AccessPoints.Question(
                    interface: interface, bssid: group.strongest.bssid, hasHotspot20: announced.passpoint == true)
            }, done)
    }

    /// Asks the helpers for the password of a network; calls back once.
    func password(for network: NetworkID, _ done: @escaping (String?) -> Void) { filter.password(for: network, done) }

    /// Groups the networks in sight, each with the index of its interface.
    private static func groups(in links: LinkManager, on interface: String?) -> [(ScanClaims.Group, Int)] {
        let now = EventLoop.now
        let wallClock = WallClock.now
        return links.controllers.filter { interface == nil || $0.name == interface }.flatMap { controller in
            let scanned = links.scannedNetworks(on: controller.index).map { bss in
                ScannedBSS(
                    ssid: bss.ssid, bssid: bss.bssid, frequency: bss.frequency, signal: bss.signal ?? -100,
                    security: bss.security, lastSeen: wallClock - (now - bss.lastSeen).milliseconds, interface: controller.name,
                    announced: links.accessPoints.announcement(of: bss))
            }
            return ScanClaims.groups(scanned).map { ($0, controller.index) }
        }
    }

    /// Returns the networks in sight.
    ///
    /// - Parameter all: whether to include known networks that are not in sight.
    func networks(on interface: String?, all: Bool = false) throws(ControlError) -> [ScannedNetwork] {
        if let interface, links.controller(named: interface) == nil { throw .noSuchInterface(interface) }
        let groups = Self.groups(in: links, on: interface)
        filter.cover(groups.map(\.0))
        let memories = services.store.records(now: WallClock.now)
        let switches = services.store.switches
        func unseen(_ network: NetworkID, interface: String, lastSeen: Int) -> ScannedNetwork {
            let memory = memories[network]
            let remembered = memory.helper.flatMap {
                services.hasHelper($0) && !switches.isOff(helper: $0, network) ? $0 : nil
            }
            let claim = remembered.map {
                ClaimStatus(
                    helper: $0, displayName: services.displayName($0), confidence: .high,
                    source: ScanClaims.Source.remembered.rawValue, ready: memory.credentials.contains($0),
                    portalKind: memory.portalKind)
            }
            return ScannedNetwork(
                network, interface: interface, lastSeen: lastSeen, joined: !interface.isEmpty, claims: claim.map { [$0] } ?? [],
                disabled: switches.isOff(network), autoJoin: memory.mayAutoJoin, last: memory.last)
        }
        let wired = links.controllers.filter { interface == nil || $0.name == interface }.compactMap { controller in
            controller.joined.flatMap { joined in
                switch joined.network {
                case .wired, .anonymous: unseen(joined.network, interface: controller.name, lastSeen: WallClock.now)
                case .wireless: nil
                }
            }
        }
        let here = Set(groups.map { $0.0.network } + links.controllers.compactMap { $0.joined?.network })
        let known = all ? memories.networks.filter { !here.contains($0) } : []
        // Keep these calls and their order in step with the benchmark of the list, which repeats them.
        let inSight = groups.map { group, index in
            let network = group.network
            let memory = memories[network]
            let claims = filter.coverage.claims(
                for: group, labels: filter.labels, remembered: memory.helper, credentials: memory.credentials,
                isDisabled: { switches.isOff(helper: $0, network) })
            let strongest = group.strongest
            return ScannedNetwork(
                ssid: group.ssid, bssid: strongest.bssid, interface: strongest.interface, frequency: strongest.frequency,
                signal: strongest.signal, security: group.security, stations: group.stations, lastSeen: group.lastSeen,
                joined: links.association(of: index).map { $0.ssid == group.ssid && $0.security == group.security } ?? false,
                claims: claims.map {
                    ClaimStatus(
                        helper: $0.helper, displayName: $0.displayName, confidence: $0.confidence, source: $0.source.rawValue,
                        ready: $0.ready, portalKind: $0.helper == memory.helper ? memory.portalKind : nil)
                },
                disabled: switches.isOff(network), autoJoin: memory.mayAutoJoin, last: memory.last, announced: strongest.announced
            )
        }
        return inSight + wired + known.map { unseen($0, interface: "", lastSeen: memories[$0].outcome?.time ?? 0) }
    }

    /// Records that a helper was sent the scan list: as a step of the interfaces that see these networks, and in the log, because there may be no
    /// attempt for the journal.
    func recordDisclosure(of networks: [Network], to helper: String) {
        for (name, seen) in Dictionary(grouping: networks, by: \.interface) {
            let shown = seen.prefix(16).map(\.ssid).joined(separator: "; ")
            let rest = seen.count > 16 ? "; and \(seen.count - 16) more" : ""
            let detail = "scan list, \(seen.count) network\(seen.count == 1 ? "" : "s"): \(shown)\(rest)"
            services.log.info("\(name): told \(helper): \(detail)")
            links.controller(named: name)?.journal.record("disclosed", detail, helper: helper)
        }
    }

    /// Records late answers to FilterScanList (D18) in the log and in the attempt of every interface, because the command does not belong to one
    /// interface.
    private func recordIgnored(_ helper: String, _ count: Int) {
        let detail = "filterScanList: ignored \(count) late or repeated answers"
        services.log.info("\(helper): \(detail)")
        for controller in links.controllers where controller.journal.attempt != nil {
            controller.journal.record("ignored", detail, helper: helper)
        }
    }

    /// Scans for clients that watch the list, at most every five seconds. Without the capability to scan, the list shows the results of other
    /// programs' scans.
    private func scan() {
        if let lastScan, EventLoop.now - lastScan < .seconds(5) { return }
        lastScan = EventLoop.now
        for controller in links.controllers where links.isWireless(controller.index) {
            do {
                try links.scan(on: controller.index)
                controller.problems.withdraw(.scan)
            } catch .notPermitted(let operation) {
                controller.problems.report(
                    Problem(
                        .scan,
                        "\(WirelessError.notPermitted(operation: operation)) Networks from other programs' scans are shown."))
            } catch {
                services.log.debug("\(controller.name): \(error)")
            }
        }
    }
}

extension NetworkRecord {
    fileprivate var mayAutoJoin: Bool { hold.map { $0.reason != .autoJoinOff } ?? true }
    fileprivate var last: (outcome: String, time: Int)? { outcome.map { ($0.word, $0.time) } }
}
