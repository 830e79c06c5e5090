import EventLoop
import Glibc
import HotspotCore
import HotspotMachine
import LinkState
import Wireless

/// A join on its way: the link is there, and not everything that a helper needs.
struct PendingArrival {
    /// When the address came up.
    let began: Instant
    /// The same by the wall clock, which files are dated by, in milliseconds.
    let time: Int
    var timer: EventSource?
    var ask: GatewayAsk?
    var gateway: HardwareAddress??
}

/// From the kernel's words to joins and leaves.
extension Coordinator {
    /// How long an arrival waits for a route, resolvers and the gateway's address after its address came up.
    private static let patience = Duration.seconds(4)
    /// How long an arrival prefers a record of this very link over a resolv.conf that is older than its address, and so perhaps the
    /// former network's. A DHCP client writes its record last, and on a slow machine seconds after the address.
    private static let recordPatience = Duration.seconds(3)
    /// The same over a resolv.conf that is newer than the address: the record has the portal's API besides.
    private static let freshPatience = Duration.milliseconds(300)
    /// How often the DHCP client's record is looked at meanwhile; the kernel tells nothing of it.
    private static let interval = Duration.milliseconds(20)

    func startWatching() {
        do {
            let links = try LinkMonitor()
            self.links = links
            links.onChange = { [weak self] in self?.changed($0) }
            links.onFailure = { [weak self] in self?.show(Problem(.links, "\($0)")) }
            links.start()
        } catch {
            show(Problem(.links, "Links cannot be watched: \(error)"))
        }
        do {
            let wireless = try WirelessMonitor()
            self.wireless = wireless
            wireless.onEvent = { [weak self] in self?.happened($0) }
            wireless.onFailure = { [weak self] in self?.show(Problem(.wireless, "\($0)")) }
            wireless.start()
        } catch .unavailable {
            if !settings.manageEthernet {
                show(Problem(.noWireless, "\(WirelessError.unavailable)", hint: "ManageEthernet=yes takes wired networks in"))
            }
        } catch {
            show(Problem(.wireless, "The radio cannot be watched: \(error)"))
        }
        // Told by both monitors before they return, or later as events.
        for link in links?.links.values.map({ $0 }) ?? [] { changed(.appeared(link)) }
    }

    /// The machine was asleep: first the radio, then the links, then what waits.
    func readLinksAgain(_ done: @escaping () -> Void) {
        log.info("awake again; the links are read first")
        let links = links
        let readLinks = { if let links { links.readAgain(done) } else { done() } }
        if let wireless { wireless.readAgain(readLinks) } else { readLinks() }
    }

    // MARK: Which interfaces

    private func isWireless(_ index: Int) -> Bool { wireless?.interfaces[index] != nil }

    /// `Match=` and `ManageEthernet=`; tunnels, bridges and veth only where `Match=` names them.
    private func manages(_ link: LinkSnapshot) -> Bool {
        let named = SSID(octets: link.name.utf8).map { name in settings.match.contains { $0.matches(name) } } ?? false
        if let radio = wireless?.interfaces[link.index] {
            return radio.isStation && (settings.match.isEmpty || named)
        }
        // A radio that nl80211 has not told of yet is no wire.
        guard settings.manageEthernet, link.type == 1 /* ARPHRD_ETHER */, !InterfaceKind.isRadio(link.name) else { return false }
        return settings.match.isEmpty ? link.kind == nil : named
    }

    private func controller(for link: LinkSnapshot) -> InterfaceController? {
        guard manages(link) else {
            cancelArrival(link.index)
            if let gone = controllers.removeValue(forKey: link.index) {
                gone.leave("not managed any more")
                services.host.standDown(interface: link.index)
                services.onStatus()
            }
            return nil
        }
        if let known = controllers[link.index] {
            known.renamed(to: link.name)
            return known
        }
        let made = InterfaceController(index: link.index, name: link.name, services: services)
        controllers[link.index] = made
        log.info("\(link.name): managed")
        // A machine begins with its gate closed, and tells of changes only.
        services.onStatus()
        return made
    }

    // MARK: Links

    private func changed(_ change: LinkChange) {
        switch change {
        case .appeared(let link): update(link)
        case .changed(let link, _): update(link)
        case .vanished(let link): vanished(link.index)
        }
        gate.linksChanged()
    }

    /// `Match=` and `ManageEthernet=` may say something else now.
    func updateLinks() { for link in links?.links.values.map({ $0 }) ?? [] { update(link) } }

    private func vanished(_ index: Int) {
        cancelArrival(index)
        associations[index] = nil
        lastJoin[index] = nil
        if let controller = controllers.removeValue(forKey: index) {
            controller.leave("the interface is gone")
            services.onStatus()
        }
        services.host.standDown(interface: index)
    }

    private func update(_ link: LinkSnapshot) {
        guard let controller = controller(for: link) else { return }
        let isThere =
            link.isUp && link.hasCarrier && !link.addresses.isEmpty
            && (!isWireless(link.index) || associations[link.index] != nil)
        guard let joined = controller.joined else {
            if isThere { return arrive(link) }
            guard arrivals[link.index] != nil else { return }
            cancelArrival(link.index)
            services.host.standDown(interface: link.index)
            return
        }
        if !isThere {
            cancelArrival(link.index)
            controller.leave(link.hasCarrier ? "the address is gone" : "the link is down")
        } else if Set(link.addresses).isDisjoint(with: joined.snapshot.addresses) {
            // Other addresses altogether: another lease, perhaps another network. Start over.
            controller.leave("the address changed")
            arrive(link)
        } else if link.hardwareAddress != joined.snapshot.hardwareAddress {
            // To a portal this is another station; and perhaps it is another interface, with an index that was free for a moment.
            controller.leave("the hardware address changed")
            arrive(link)
        } else {
            controller.refresh { $0.snapshot = link }
        }
    }

    // MARK: The radio

    private func happened(_ event: WirelessEvent) {
        switch event {
        case .interfaceAppeared(let interface):
            if let link = links?.links[interface.index] { update(link) }
        case .interfaceVanished(let index): vanished(index)
        case .scanFinished: control?.listChanged()
        case .associationBegan(let index): prepare(index)
        case .connected(let index, let association): connected(index, association)
        case .roamed(let index, let bssid):
            associations[index]?.bssid = bssid
            controllers[index]?.roam(to: bssid, signal: wireless?.association(of: index)?.signal)
        case .disconnected(let index, _):
            associations[index] = nil
            cancelArrival(index)
            controllers[index]?.record("link", "disconnected")
            controllers[index]?.leave("disconnected")
            services.host.standDown(interface: index)
        case .lost: log.debug("netlink lost messages; everything is read again")
        }
    }

    private func connected(_ index: Int, _ association: WirelessAssociation) {
        let before = controllers[index]?.joined
        associations[index] = association
        // A trusted network is open from here on, any other closed, whatever the last one was.
        gate.machinesMoved()
        guard let link = links?.links[index] else { return }
        guard let controller = controller(for: link) else { return }
        controller.record("link", "connected to \(association.ssid) at \(association.bssid)")
        if let before {
            if before.network == .wireless(association.ssid, association.security) {
                return controller.roam(to: association.bssid, signal: association.signal)
            }
            controller.leave("another network")
        }
        prepare(index)
        update(link)
    }

    /// Start-up hides behind association and DHCP: whoever will be asked is started now.
    private func prepare(_ index: Int) {
        guard let controller = controllers[index], controller.joined == nil else { return }
        let association = associations[index] ?? wireless?.association(of: index)
        let helpers = services.host.helpers.map(\.spec).filter { spec in
            if let association {
                return services.isEnabled(spec, for: association.ssid) && spec.covers(association.ssid, association.security)
            }
            // Of a radio the name is not known yet: whoever is for some names only is started when it is.
            return services.isEnabled(spec, for: nil)
                && (isWireless(index) ? spec.ssids.isEmpty && spec.security.isEmpty : spec.covers(.empty, .wired))
        }
        services.host.prepare(helpers.map(\.name), for: index)
    }

    // MARK: Arrivals

    private func cancelArrival(_ index: Int) {
        guard let arrival = arrivals.removeValue(forKey: index) else { return }
        arrival.timer?.cancel()
        arrival.ask?.cancel()
    }

    /// An address is there. Helpers need a route and resolvers too, and a wire its gateway's address: for these the arrival waits a
    /// little, and goes on without them if they do not come.
    private func arrive(_ link: LinkSnapshot) {
        let index = link.index
        if arrivals[index] == nil {
            arrivals[index] = PendingArrival(began: EventLoop.now, time: WallClock.now)
            if !isWireless(index) { prepare(index) }
        }
        let facts = ownFacts(linkFacts.facts(for: link), of: link)
        let waited = EventLoop.now - arrivals[index]!.began
        let isKnown = facts.map { !$0.nameservers.isEmpty } ?? false
        let isOwn = facts.map { !$0.isShared } ?? false
        let isNew = waited >= Self.freshPatience && SharedResolvers.areNewer(than: arrivals[index]!.time)
        let isGood = !settings.probeNameservers.isEmpty || (isKnown && (isOwn || isNew || waited >= Self.recordPatience))
        if waited < Self.patience, link.gateways.isEmpty || !isGood || isLeftOver(link) { return arriveLater(index) }
        guard let association = associations[index] else { return arriveWired(link, facts) }
        arrived(
            link, facts, network: .wireless(association.ssid, association.security), ssid: association.ssid,
            security: association.security, bssid: association.bssid, signal: association.signal)
    }

    /// What the records say of a link, without what speaks of another link that is up.
    func ownFacts(_ facts: LinkFacts?, of link: LinkSnapshot) -> LinkFacts? {
        facts?.without(resolversOf: links?.links.values.filter { $0.isUp && $0.hasCarrier } ?? [], on: link)
    }

    /// Addresses stay on a link until somebody takes them away: one that was got in another network says nothing of this one, unless
    /// nothing better comes in time.
    private func isLeftOver(_ link: LinkSnapshot) -> Bool {
        guard let association = associations[link.index], let before = lastJoin[link.index] else { return false }
        return before.network != .wireless(association.ssid, association.security)
            && link.addresses.allSatisfy(before.addresses.contains)
    }

    private func arriveLater(_ index: Int) {
        arrivals[index]?.timer?.cancel()
        arrivals[index]?.timer = try? EventLoop.shared.schedule(after: Self.interval) { [weak self] in
            guard let self, arrivals[index] != nil, let link = links?.links[index] else { return }
            update(link)
        }
    }

    private func arriveWired(_ link: LinkSnapshot, _ facts: LinkFacts?) {
        let index = link.index
        guard let gateway = link.gateways.first else { return arrivedWired(link, facts, nil) }
        switch arrivals[index]?.gateway {
        case .some(let answer): arrivedWired(link, facts, answer)
        case nil:
            guard arrivals[index]?.ask == nil else { return }
            arrivals[index]?.ask = GatewayAsk(gateway: gateway, on: index) { [weak self] answer in
                guard let self, arrivals[index] != nil, let link = links?.links[index] else { return }
                arrivals[index]?.gateway = .some(answer)
                update(link)
            }
        }
    }

    private func arrivedWired(_ link: LinkSnapshot, _ facts: LinkFacts?, _ gateway: HardwareAddress?) {
        arrived(
            link, facts, network: gateway.map { .wired($0) } ?? .anonymous, ssid: .empty, security: .wired, bssid: gateway,
            signal: nil)
    }

    private func arrived(
        _ link: LinkSnapshot, _ facts: LinkFacts?, network: NetworkID, ssid: SSID, security: Security, bssid: HardwareAddress?,
        signal: Int?
    ) {
        cancelArrival(link.index)
        lastJoin[link.index] = (network, Set(link.addresses))
        guard let controller = controllers[link.index] else { return }
        let facts = facts ?? LinkFacts(source: "none")
        log.debug("\(link.name): resolvers \(facts.nameservers) from \(facts.source)")
        controller.join(
            Joined(
                association: Token.random(), network: network, ssid: ssid, security: security, bssid: bssid, signal: signal,
                snapshot: link, facts: facts))
        if facts.nameservers.isEmpty, settings.probeNameservers.isEmpty {
            controller.report(
                Problem(.noNameservers, "No DHCP record names a resolver for this link.", hint: "set [Probe] Nameservers="))
        }
    }

    /// D19: only where it is possible; who holds the association otherwise would only bring it back.
    func disassociate(_ index: Int) -> Bool {
        guard let wireless, associations[index] != nil else { return false }
        if let manager = AssociationOwner.manager(of: index) {
            controllers[index]?.report(
                Problem(
                    .linkKept, "\(manager) has this connection; it is not ended over its head.",
                    hint: "leave the network there, or set [Policy] OnFailure=keep"))
            return false
        }
        do {
            try wireless.disconnect(index: index)
            return true
        } catch {
            show(Problem(.disconnect, "\(error)"))
            return false
        }
    }
}

enum SharedResolvers {
    /// resolv.conf was written since that moment (Unix time in milliseconds).
    static func areNewer(than time: Int) -> Bool {
        var status = stat()
        guard stat("/etc/resolv.conf", &status) == 0 else { return false }
        return status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1_000_000 >= time
    }
}
