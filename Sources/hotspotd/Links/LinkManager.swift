import NetworkJoining
import EventLoop
import Gate
import HotspotCore
import HotspotMachine
import LinkState
import Wireless

/// The managed links: turns the kernel's reports about links and radios into joins and leaves.
@LoopActor final class LinkManager {
    let services: Services
    let problems: ProblemList
    var managed: [Int: ManagedLink] = [:]
    var radio: WirelessMonitor?
    /// Whether the kernel does not support Wi-Fi.
    var hasNoWireless = false
    private var monitor: LinkMonitor?
    private var records: SystemLinkFacts
    /// The programs that manage links, over D-Bus.
    private let managers = LinkManagers()
    let associations: Associations
    let accessPoints: AccessPoints
    /// Called once when a scan ends.
    var onScan: [() -> Void] = []
    /// The associations that existed before the daemon started; `nil` until the links were read.
    private var marksAtStart: Set<String>?

    private var settings: Settings { services.settings }

    init(services: Services, problems: ProblemList) {
        self.services = services
        self.problems = problems
        associations = Associations()
        accessPoints = AccessPoints(associations)
        records = SystemLinkFacts(extraLeaseFiles: services.settings.leaseFiles)
    }

    // MARK: Requests by other parts

    /// All managed interfaces, by name.
    var controllers: [InterfaceController] { managed.values.compactMap(\.controller).sorted { $0.name < $1.name } }

    func controller(named name: String) -> InterfaceController? { controllers.first { $0.name == name } }

    func association(of index: Int) -> WirelessAssociation? { managed[index]?.association }

    func isWireless(_ index: Int) -> Bool { radio?.interfaces[index] != nil }

    func scannedNetworks(on index: Int) -> [BSS] { radio?.networks(on: index) ?? [] }

    func scan(on index: Int) throws(WirelessError) {
        try radio?.triggerScan(index: index, frequencies: settings.scanFrequencies)
    }

    /// The managed links that the gate must close, and other links that are in the gate's group by mistake.
    var gateWishes: GateKeeper.Wishes {
        var closed: [Int: String] = [:]
        for (index, link) in managed where link.isClosed(under: settings) { closed[index] = link.controller?.name }
        let strays = snapshots.filter { $0.group == Gate.group && closed[$0.index] == nil }.map(\.index)
        return (closed, Set(strays))
    }

    /// The Ethernet link that programs use although hotspotd does not watch it: it has the preferred default route. `nil` if there is none. A tunnel does
    /// not count, because its packets leave through another link.
    var preferredUnwatched: LinkSnapshot? {
        Self.preferred(of: snapshots).flatMap { managed[$0.index]?.controller == nil ? $0 : nil }
    }

    /// Returns the Ethernet link or radio with the preferred default route.
    nonisolated static func preferred(of links: [LinkSnapshot]) -> LinkSnapshot? {
        links.filter { $0.type == 1 /* ARPHRD_ETHER */ && $0.isUp && $0.hasCarrier && $0.routeMetric != nil }
            .min { ($0.routeMetric ?? .max) < ($1.routeMetric ?? .max) }
    }

    /// Returns the facts about a link from programs and records, without resolvers that belong to another active link.
    func facts(for link: LinkSnapshot) -> LinkFacts? {
        let known = records.facts(for: link, after: managers.facts(for: link))?.without(
            resolversOf: snapshots.filter { $0.isUp && $0.hasCarrier }, on: link)
        // The network's own announcement counts only if no program reports one.
        guard known?.announcement == nil, let own = managed[link.index]?.question?.announcement else { return known }
        var facts = known ?? LinkFacts(source: "none")
        facts.announcement = own
        return facts
    }

    /// Makes the program that manages the link check the Internet now, because desktops show that program's state.
    func tellManager(of index: Int) {
        managers.recheck(index) { [log = services.log] done in
            log.debug(
                done ? "NetworkManager checked again" : "NetworkManager did not check again; its polkit rule may be missing")
        }
    }

    // MARK: Start and end

    /// Watches the links and the radio. Throws if they cannot be watched, because the daemon would see no network until its next start.
    func start() throws {
        let kernel = try LinkMonitor()
        monitor = kernel
        kernel.onChange = { [weak self] in self?.handle($0) }
        kernel.onFailure = { [weak self] in self?.services.events?.giveUp(because: "\($0)") }
        kernel.start()
        managers.onAnswer = { [weak self] index in
            guard let self, let link = monitor?.links[index] else { return }
            // A manager may have started or ended since the interface appeared.
            if let controller = managed[index]?.controller { findManager(of: controller) }
            managed[index]?.areFactsDue = true
            update(link)
        }
        managers.onHint = { [weak self] in self?.askManagersAgain() }
        do throws(WirelessError) {
            let radio = try WirelessMonitor()
            self.radio = radio
            associations.monitor = radio
            radio.onEvent = { [weak self] in self?.handle($0) }
            radio.onFailure = { [weak self] in self?.services.events?.giveUp(because: "\($0)") }
            radio.start()
        } catch {
            guard error == .unavailable else { throw error }
            hasNoWireless = true
            judgeMissingRadio()
        }
    }

    func stop() {
        associations.release()
        radio?.stop()
        monitor?.stop()
        for controller in controllers { controller.end() }
        managed = [:]
    }

    /// Applies a change of `Match=`, `ManageEthernet=` and `LeaseFiles=`.
    func applySettings() {
        judgeMissingRadio()
        records = SystemLinkFacts(extraLeaseFiles: settings.leaseFiles)
        for link in snapshots { update(link) }
    }

    /// Reports that there is no radio, unless wired links are managed.
    private func judgeMissingRadio() {
        let problem = Problem(
            .noWireless, "\(WirelessError.unavailable)", hint: "set [Interfaces] ManageEthernet=yes to manage wired networks")
        problems.set(.noWireless, hasNoWireless && !settings.manageEthernet ? problem : nil)
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
        // Note the associations at the start: the kernel's first report comes when all links have been read.
        if marksAtStart == nil {
            marksAtStart = Set(
                snapshots.filter { $0.isUp && $0.hasCarrier && !$0.addresses.isEmpty }.compactMap(\.associationMark))
        }
        switch change {
        case .appeared(let link), .changed(let link, _): update(link)
        case .vanished(let link): forget(link.index)
        }
        for controller in controllers { judgeAddresses(of: controller) }
        services.events?.linksChanged()
    }

    private func handle(_ event: WirelessEvent) {
        switch event {
        case .interfaceAppeared(let interface):
            if let link = monitor?.links[interface.index] { update(link) }
        case .interfaceVanished(let index): forget(index)
        case .scanFinished:
            services.events?.networkListChanged()
            scanEnded()
        case .associationBegan(let index): prepare(index)
        case .connected(let index, let association): connected(index, association)
        case .roamed(let index, let bssid):
            managed[index]?.association?.bssid = bssid
            managed[index]?.association?.signal = radio?.association(of: index)?.signal
            if let link = monitor?.links[index] { update(link) }
        case .disconnected(let index, _):
            managed[index]?.association = nil
            if let interface = interface(index) { associations.left(interface) }
            managed[index]?.controller?.journal.record("link", "disconnected")
            services.host.standDown(interface: index)
            if let link = monitor?.links[index] { update(link) }
        case .lost: services.log.debug("netlink lost messages; everything is read again")
        }
    }

    private func connected(_ index: Int, _ association: WirelessAssociation) {
        managedLink(index).association = association
        if let interface = interface(index) { associations.joined(interface, association.ssid) }
        // From here on, the gate is open for a trusted network (TrustedNetworks=) and closed for any other network, whether it was open or closed
        // before.
        services.events?.gateChanged()
        guard let link = monitor?.links[index], let controller = controller(for: link) else { return }
        controller.journal.record("link", "connected to \(association.ssid) at \(association.bssid)")
        findManager(of: controller)
        update(link)
        prepare(index)
    }

    // MARK: One link

    /// Returns whether the link has a carrier, but no address yet.
    func waitsForAddress(_ index: Int) -> Bool {
        monitor?.links[index].map { $0.isUp && $0.hasCarrier && $0.addresses.isEmpty } == true
    }

    /// Returns whether an interface of this computer has this hardware address now.
    func has(_ address: HardwareAddress) -> Bool { snapshots.contains { $0.hardwareAddress == address } }

    private var snapshots: [LinkSnapshot] { monitor.map { Array($0.links.values) } ?? [] }

    private func managedLink(_ index: Int) -> ManagedLink {
        let link = managed[index] ?? ManagedLink()
        managed[index] = link
        return link
    }

    /// Returns whether the settings let the daemon manage this link. Tunnels, bridges and veth are managed only if `Match=` names them.
    private func manages(_ link: LinkSnapshot) -> Bool {
        let isMatched = SSID(octets: link.name.utf8).map { name in settings.match.contains { $0.matches(name) } } ?? false
        if let station = radio?.interfaces[link.index] {
            return station.isStation && (settings.match.isEmpty || isMatched)
        }
        // A radio that nl80211 has not reported yet is not a wired link either.
        guard settings.manageEthernet, link.type == 1 /* ARPHRD_ETHER */, !InterfaceKind.isRadio(link.name) else { return false }
        return settings.match.isEmpty ? link.kind == nil : isMatched
    }

    private func controller(for link: LinkSnapshot) -> InterfaceController? {
        let known = managed[link.index]?.controller
        guard manages(link) else {
            if let known {
                managed[link.index]?.controller = nil
                managed[link.index]?.joining.reset()
                managed[link.index]?.leave()
                known.leave("no longer managed")
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
        managedLink(link.index).controller = made
        services.log.info("\(link.name): managed")
        findManager(of: made)
        // Report the new status here, because a machine begins with its gate closed and reports only changes.
        services.events?.statusChanged()
        return made
    }

    private func forget(_ index: Int) {
        managers.forget(index)
        let gone = managed.removeValue(forKey: index)
        gone?.leave()
        if let controller = gone?.controller {
            controller.leave("the interface is gone")
            services.events?.statusChanged()
        }
        services.host.standDown(interface: index)
    }

    /// Handles a change that a manager of links reports without naming the link.
    private func askManagersAgain() {
        for link in snapshots where managed[link.index]?.joining.isAnywhere == true { managers.ask(about: link, again: true) }
    }

    /// Takes the next step of a link's way into a network or out of it.
    private func update(_ link: LinkSnapshot) {
        guard let controller = controller(for: link), let managed = managed[link.index] else { return }
        let now = EventLoop.now
        let view = view(of: link, managed, at: now)
        if view.isThere { managers.ask(about: link) }
        let wasAnywhere = managed.joining.isAnywhere
        let step = managed.joining.step(view, at: now)
        // Start helpers when a wired link gets a carrier or, at the latest, an address.
        let cameUp = managed.noteCarrier(link.isUp && link.hasCarrier)
        if !view.isWireless, cameUp || !wasAnywhere && managed.joining.isAnywhere { prepare(link.index) }
        switch step {
        case .rest: break
        case .wait(let asksGateway):
            if asksGateway { askNetwork(view, managed) }
            let gateway = asksGateway ? link.gateways.first : nil
            managed.wait(forAddressOf: gateway, on: link.index, recordsIn: records.folders) { [weak self] in
                guard let self, let link = monitor?.links[link.index] else { return }
                update(link)
            }
        case .giveUp:
            managers.forget(link.index)
            managed.leave()
            services.host.standDown(interface: link.index)
        case .join(let network, let bssid):
            askNetwork(view, managed)
            managed.endWait()
            managed.areFactsDue = false
            join(network, bssid, view, controller)
        case .stay:
            refresh(controller, link, managed)
            // Ask again after the join, because the kernel may find an IPv6 router only seconds later.
            var later = view
            later.facts = controller.joined?.facts
            askNetwork(later, managed)
        case .roam(let bssid):
            refresh(controller, link, managed)
            controller.roam(to: bssid, signal: managed.association?.signal)
        case .leave(let reason):
            // Forget the managers' facts, because another network may assign the same address again.
            managers.forget(link.index)
            managed.leave()
            controller.leave(reason)
            update(link)
        }
        awaitNetwork(of: link, managed)
    }

    /// Passes on how a joined link is now, and its facts if they may have changed. While a manager is asked, its last answer counts.
    private func refresh(_ controller: InterfaceController, _ link: LinkSnapshot, _ managed: ManagedLink) {
        if let before = controller.joined?.snapshot, link.hasNewFamily(since: before) { managed.areFactsDue = true }
        guard managed.areFactsDue, managers.progress(of: link) != .asking else { return controller.refresh(link) }
        managed.areFactsDue = false
        controller.refresh(link, facts: facts(for: link))
    }

    /// Keeps hotspotd's own helpers ready while a radio is in no network, because the next network may come at once.
    private func awaitNetwork(of link: LinkSnapshot, _ managed: ManagedLink) {
        let isAwaited = isWireless(link.index) && link.isUp && managed.association == nil
        guard managed.noteAwaiting(isAwaited) else { return }
        if isAwaited { services.host.awaitNetwork(on: link.index) }
        if !link.isUp { services.host.standDown(interface: link.index) }
    }

    /// Asks the network itself for its portal's API before the join, and again when a lease's server or a router becomes known. Must not be called
    /// before the link is ready: the server might be unknown, so that a router's answer would count in its place.
    private func askNetwork(_ view: Joining.View, _ managed: ManagedLink) {
        guard managed.joining.asksNetwork(view) else { return }
        let (index, server) = (view.link.index, view.facts?.leaseServer)
        let asked = managed.question?.addresses ?? []
        let wanted = view.link.announcingAddresses(leaseServer: server)
        guard asked.count < LinkSnapshot.announcingLimit, !asked.isSuperset(of: wanted) else { return }
        managed.question = PortalQuestion(on: view.link, leaseServer: server, before: asked, log: services.log) { [weak self] in
            guard let self, let now = monitor?.links[index], let facts = facts(for: now) else { return }
            self.managed[index]?.controller?.learn(facts)
        }
    }

    private func view(of link: LinkSnapshot, _ managed: ManagedLink, at now: Instant) -> Joining.View {
        var view = Joining.View(
            link: link, isWireless: isWireless(link.index), association: managed.association, gateway: managed.gateway,
            hasResolvers: !settings.probeNameservers.isEmpty)
        // Read files only if the link may be joined now: it has a route, or the wait for a route has ended.
        guard view.isThere, managed.controller?.joined == nil else { return view }
        let arrived = managed.joining.arrivingSince ?? now
        guard !link.gateways.isEmpty || now - arrived >= Joining.patience else { return view }
        view.facts = facts(for: link)
        view.progress = managers.progress(of: link)
        if view.facts?.isShared == true {
            view.isRecordDue = records.isRecordDue(for: link, since: WallClock.time(of: arrived))
        }
        return view
    }

    private func join(_ network: NetworkID, _ bssid: HardwareAddress?, _ view: Joining.View, _ controller: InterfaceController) {
        let facts = view.facts ?? LinkFacts(source: "none")
        let wasUpBefore = view.link.associationMark.map { marksAtStart?.contains($0) == true } ?? false
        services.log.debug("\(view.link.name): resolvers \(facts.nameservers) from \(facts.source)")
        controller.join(
            Joined(
                association: Services.randomID(), network: network, ssid: view.association?.ssid ?? .empty,
                security: view.association?.security ?? .wired, bssid: bssid, signal: view.association?.signal,
                snapshot: view.link, wasUpBefore: wasUpBefore,
                announced: scannedNetworks(on: view.link.index).first { $0.bssid == bssid && $0.ssid == view.association?.ssid }
                    .flatMap(accessPoints.announcement), facts: facts))
        if facts.nameservers.isEmpty, !view.hasResolvers {
            controller.problems.report(
                Problem(.noNameservers, "No DHCP record names a nameserver for this link.", hint: "set [Probe] Nameservers="))
        }
        judgeAddresses(of: controller)
    }

    /// Reports that an interface of this computer hides the gateway or the nameservers of a joined network.
    private func judgeAddresses(of controller: InterfaceController) {
        guard let joined = controller.joined else { return }
        let servers = joined.details(with: settings).nameservers
        let found = joined.snapshot.conflict(with: snapshots, nameservers: servers)
        for code in [ProblemCode.addressConflict, .addressOverlap] {
            let problem = found?.code == code ? found : nil
            guard problem != controller.problems.all.first(where: { $0.code == code }) else { continue }
            controller.problems.set(code, problem)
            guard let problem else { continue }
            controller.journal.record("problem", problem.message)
            services.log.notice("\(controller.name): \(problem.message)")
        }
    }

    /// Starts the helpers that will be asked about the network, so that they are ready after association and DHCP.
    private func prepare(_ index: Int) {
        guard let controller = managed[index]?.controller, controller.joined == nil else { return }
        let association = association(of: index) ?? radio?.association(of: index)
        let helpers = services.host.helpers.map(\.spec).filter { spec in
            if let association {
                return services.isEnabled(spec, for: association.ssid) && spec.covers(association.ssid, association.security)
            }
            // While the name of a Wi-Fi network is unknown, start only helpers whose files name neither SSIDs nor securities.
            return services.isEnabled(spec, for: nil)
                && (isWireless(index) ? spec.ssids.isEmpty && spec.security.isEmpty : spec.covers(.empty, .wired))
        }
        services.host.prepare(helpers.map(\.name), for: index)
    }
}
