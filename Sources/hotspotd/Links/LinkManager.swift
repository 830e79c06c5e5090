import EventLoop
import Gate
import HotspotCore
import HotspotMachine
import LinkState
import Wireless

/// The links that are managed: turns what the kernel reports of links and radios into joins and leaves.
@LoopActor final class LinkManager {
    private let services: Services
    private let problems: ProblemList
    var managed: [Int: ManagedLink] = [:]
    private var radio: WirelessMonitor?
    private var monitor: LinkMonitor?
    private var records: SystemLinkFacts
    /// What manages links, over D-Bus.
    private let managers = LinkManagers()
    /// The associations that were there before the daemon; `nil` until the links were read.
    private var foundMarks: Set<String>?

    private var settings: Settings { services.settings }

    init(services: Services, problems: ProblemList) {
        self.services = services
        self.problems = problems
        records = SystemLinkFacts(extraLeaseFiles: services.settings.leaseFiles)
    }

    // MARK: What other parts ask

    /// All managed interfaces, by name.
    var controllers: [InterfaceController] { managed.values.compactMap(\.controller).sorted { $0.name < $1.name } }

    func controller(named name: String) -> InterfaceController? { controllers.first { $0.name == name } }

    func association(of index: Int) -> WirelessAssociation? { managed[index]?.association }

    func isWireless(_ index: Int) -> Bool { radio?.interfaces[index] != nil }

    func scannedNetworks(on index: Int) -> [BSS] { radio?.networks(on: index) ?? [] }

    func scan(on index: Int) throws(WirelessError) {
        try radio?.triggerScan(index: index, frequencies: settings.scanFrequencies)
    }

    /// Returns what the gate is to do: each managed link is closed, or open.
    var gateWishes: GateKeeper.Wishes {
        var closed: [Int: String] = [:]
        for (index, link) in managed where link.isClosed(under: settings) { closed[index] = link.controller?.name }
        let strays = snapshots.filter { $0.group == Gate.group && closed[$0.index] == nil }.map(\.index)
        return (closed, Set(strays))
    }

    /// Returns what programs and records say of a link, without what speaks of another link that is up.
    func facts(for link: LinkSnapshot) -> LinkFacts? {
        let known = records.facts(for: link, after: managers.facts(for: link))?.without(
            resolversOf: snapshots.filter { $0.isUp && $0.hasCarrier }, on: link)
        // What the network itself was asked counts last.
        guard known?.announcement == nil, let own = managed[link.index]?.question?.announcement else { return known }
        var facts = known ?? LinkFacts(source: "none")
        facts.announcement = own
        return facts
    }

    /// Ends the link where that is possible (D19): a manager that holds the association would only bring it back.
    func disassociate(_ index: Int) -> Bool {
        guard let radio, association(of: index) != nil else { return false }
        if let manager = managers.owner(of: index) {
            managed[index]?.controller?.problems.report(
                Problem(
                    .linkKept, "\(manager) manages this connection, so hotspotd does not end it.",
                    hint: "leave the network there, or set [Policy] OnFailure=keep"))
            return false
        }
        do {
            try radio.disconnect(index: index)
            return true
        } catch {
            problems.report(Problem(.disconnect, "\(error)"))
            return false
        }
    }

    /// Has the program that manages a link see at once that it leads to the Internet now; desktops show what that program says.
    func tellManager(of index: Int) {
        managers.recheck(index) { [log = services.log] done in
            log.debug(done ? "NetworkManager looked again" : "NetworkManager did not look again; its polkit rule may be missing")
        }
    }

    // MARK: Start and end

    func start() {
        do {
            let monitor = try LinkMonitor()
            self.monitor = monitor
            monitor.onChange = { [weak self] in self?.handle($0) }
            monitor.onFailure = { [weak self] in self?.problems.report(Problem(.links, "\($0)")) }
            monitor.start()
        } catch {
            problems.report(Problem(.links, "Links cannot be watched: \(error)"))
        }
        managers.onAnswer = { [weak self] index in
            guard let self, let link = monitor?.links[index] else { return }
            update(link)
        }
        managers.onHint = { [weak self] in self?.askManagersAgain() }
        do {
            let radio = try WirelessMonitor()
            self.radio = radio
            radio.onEvent = { [weak self] in self?.handle($0) }
            radio.onFailure = { [weak self] in self?.problems.report(Problem(.wireless, "\($0)")) }
            radio.start()
        } catch .unavailable {
            if !settings.manageEthernet {
                problems.report(
                    Problem(
                        .noWireless, "\(WirelessError.unavailable)",
                        hint: "set [Interfaces] ManageEthernet=yes to manage wired networks"))
            }
        } catch {
            problems.report(Problem(.wireless, "The radio cannot be watched: \(error)"))
        }
    }

    func stop() {
        radio?.stop()
        monitor?.stop()
        for controller in controllers { controller.end() }
        managed = [:]
    }

    /// Applies a change of `Match=`, `ManageEthernet=` and `LeaseFiles=`.
    func applySettings() {
        records = SystemLinkFacts(extraLeaseFiles: settings.leaseFiles)
        for link in snapshots { update(link) }
    }

    /// Reads the radio and then the links, after a suspend.
    func readAgain(_ done: @escaping () -> Void) {
        services.log.info("resumed from sleep: reading the links before anything else")
        let monitor = monitor
        let readLinks = { if let monitor { monitor.readAgain(done) } else { done() } }
        if let radio { radio.readAgain(readLinks) } else { readLinks() }
    }

    // MARK: Events of the kernel

    private func handle(_ change: LinkChange) {
        // The first change is reported when all links were read.
        if foundMarks == nil {
            foundMarks = Set(
                snapshots.filter { $0.isUp && $0.hasCarrier && !$0.addresses.isEmpty }.compactMap(\.associationMark))
        }
        switch change {
        case .appeared(let link), .changed(let link, _): update(link)
        case .vanished(let link): forget(link.index)
        }
        services.events?.linksChanged()
    }

    private func handle(_ event: WirelessEvent) {
        switch event {
        case .interfaceAppeared(let interface):
            if let link = monitor?.links[interface.index] { update(link) }
        case .interfaceVanished(let index): forget(index)
        case .scanFinished: services.events?.networkListChanged()
        case .associationBegan(let index): prepare(index)
        case .connected(let index, let association): connected(index, association)
        case .roamed(let index, let bssid):
            managed[index]?.association?.bssid = bssid
            managed[index]?.controller?.roam(to: bssid, signal: radio?.association(of: index)?.signal)
        case .disconnected(let index, _):
            managed[index]?.association = nil
            cancelArrival(index)
            managed[index]?.controller?.journal.record("link", "disconnected")
            managed[index]?.controller?.leave("disconnected")
            services.host.standDown(interface: index)
        case .lost: services.log.debug("netlink lost messages; everything is read again")
        }
    }

    private func connected(_ index: Int, _ association: WirelessAssociation) {
        let before = managed[index]?.controller?.joined
        managed[index, default: ManagedLink()].association = association
        // A trusted network is open from here on, any other closed, whatever the last one was.
        services.events?.gateChanged()
        guard let link = monitor?.links[index], let controller = controller(for: link) else { return }
        controller.journal.record("link", "connected to \(association.ssid) at \(association.bssid)")
        if let before {
            if before.network == association.network {
                return controller.roam(to: association.bssid, signal: association.signal)
            }
            cancelArrival(index)
            controller.leave("another network")
        }
        prepare(index)
        update(link)
    }

    // MARK: One link

    private var snapshots: [LinkSnapshot] { monitor.map { Array($0.links.values) } ?? [] }

    /// Returns whether the settings let the daemon manage this link; tunnels, bridges and veth only where `Match=` names them.
    private func manages(_ link: LinkSnapshot) -> Bool {
        let isMatched = SSID(octets: link.name.utf8).map { name in settings.match.contains { $0.matches(name) } } ?? false
        if let station = radio?.interfaces[link.index] {
            return station.isStation && (settings.match.isEmpty || isMatched)
        }
        // A radio that nl80211 has not reported yet is no wire.
        guard settings.manageEthernet, link.type == 1 /* ARPHRD_ETHER */, !InterfaceKind.isRadio(link.name) else { return false }
        return settings.match.isEmpty ? link.kind == nil : isMatched
    }

    private func controller(for link: LinkSnapshot) -> InterfaceController? {
        let known = managed[link.index]?.controller
        guard manages(link) else {
            cancelArrival(link.index)
            if let known {
                managed[link.index]?.controller = nil
                known.leave("not managed any more")
                services.host.standDown(interface: link.index)
                services.events?.statusChanged()
            }
            return nil
        }
        if let known {
            known.rename(to: link.name)
            return known
        }
        let made = InterfaceController(index: link.index, name: link.name, services: services)
        managed[link.index, default: ManagedLink()].controller = made
        services.log.info("\(link.name): managed")
        // A machine begins with its gate closed, and reports changes only.
        services.events?.statusChanged()
        return made
    }

    private func forget(_ index: Int) {
        cancelArrival(index)
        managers.forget(index)
        if let controller = managed.removeValue(forKey: index)?.controller {
            controller.leave("the interface is gone")
            services.events?.statusChanged()
        }
        services.host.standDown(interface: index)
    }

    /// A program that manages links reports a change; of which link is not said.
    private func askManagersAgain() {
        for link in snapshots where managed[link.index]?.arrival != nil || managed[link.index]?.controller?.joined != nil {
            managers.ask(about: link, again: true)
        }
    }

    private func update(_ link: LinkSnapshot) {
        guard let controller = controller(for: link) else { return }
        let isThere =
            link.isUp && link.hasCarrier && !link.addresses.isEmpty
            && (!isWireless(link.index) || association(of: link.index) != nil)
        if isThere { managers.ask(about: link) }
        guard let joined = controller.joined else {
            if isThere { return arrive(link) }
            guard managed[link.index]?.arrival != nil else { return }
            cancelArrival(link.index)
            return services.host.standDown(interface: link.index)
        }
        if !isThere {
            cancelArrival(link.index)
            controller.leave(link.hasCarrier ? "the address is gone" : "the link is down")
        } else if Set(link.addresses).isDisjoint(with: joined.snapshot.addresses) {
            // Other addresses altogether: another lease, perhaps another network. Start over.
            cancelArrival(link.index)
            controller.leave("the address changed")
            arrive(link)
        } else if link.hardwareAddress != joined.snapshot.hardwareAddress {
            // To a portal this is another station; and perhaps it is another interface, with an index that was free for a moment.
            cancelArrival(link.index)
            controller.leave("the hardware address changed")
            arrive(link)
        } else {
            controller.refresh(link)
        }
    }

    /// Starts the helpers that will be asked, so that their start hides behind association and DHCP.
    private func prepare(_ index: Int) {
        guard let controller = managed[index]?.controller, controller.joined == nil else { return }
        let association = association(of: index) ?? radio?.association(of: index)
        let helpers = services.host.helpers.map(\.spec).filter { spec in
            if let association {
                return services.isEnabled(spec, for: association.ssid) && spec.covers(association.ssid, association.security)
            }
            // The name of a radio's network is not known yet: helpers for some names only are started when it is.
            return services.isEnabled(spec, for: nil)
                && (isWireless(index) ? spec.ssids.isEmpty && spec.security.isEmpty : spec.covers(.empty, .wired))
        }
        services.host.prepare(helpers.map(\.name), for: index)
    }

    // MARK: Arrivals

    private func endArrival(_ index: Int) {
        managed[index]?.arrival?.cancel()
        managed[index]?.arrival = nil
    }

    /// Withdraws what was begun for a network that is left.
    private func cancelArrival(_ index: Int) {
        endArrival(index)
        managed[index]?.question = nil
    }

    private func ask(_ link: LinkSnapshot) -> PortalQuestion {
        PortalQuestion(on: link.name, log: services.log) { [weak self] in
            guard let self, let now = monitor?.links[link.index], let facts = facts(for: now) else { return }
            managed[link.index]?.controller?.learn(facts)
        }
    }

    private func arrive(_ link: LinkSnapshot) {
        let index = link.index
        if managed[index]?.arrival == nil {
            managed[index, default: ManagedLink()].arrival = PendingArrival { [weak self] in
                guard let self, managed[index]?.arrival != nil, let link = monitor?.links[index] else { return }
                update(link)
            }
            if !isWireless(index) { prepare(index) }
        }
        let facts = facts(for: link)
        if managed[index]?.mayAsk(link.addresses, knowing: facts) == true { managed[index]?.question = ask(link) }
        let hasResolvers = !settings.probeNameservers.isEmpty
        guard let now = managed[index], let controller = now.controller, let arrival = now.arrival,
            var joined = arrival.network(
                on: link, of: now, facts: facts, from: managers.progress(of: link), hasResolvers: hasResolvers)
        else { return }
        joined.isFound = link.associationMark.map { foundMarks?.contains($0) == true } ?? false
        endArrival(index)
        managed[index]?.lastJoin = (joined.network, Set(link.addresses))
        services.log.debug("\(link.name): resolvers \(joined.facts.nameservers) from \(joined.facts.source)")
        controller.join(joined)
        if joined.facts.nameservers.isEmpty, !hasResolvers {
            controller.problems.report(
                Problem(.noNameservers, "No DHCP record names a resolver for this link.", hint: "set [Probe] Nameservers="))
        }
    }
}
