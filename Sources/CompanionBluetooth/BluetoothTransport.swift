import Companion
import EventLoop
import Glibc
import HotspotCore

/// Carries chunks over Bluetooth LE, as a client of BlueZ: it advertises and serves GATT, scans and connects. It needs no
/// privilege, pairs no device with the system, and switches nothing on.
///
/// BlueZ may be absent, restart, or lose its adapter at any time. The transport keeps the companion's wishes and fulfils them
/// later.
@LoopActor public final class BluetoothTransport: @LoopActor CompanionTransport {
    /// The number of laptops that may use the service at the same time.
    static let slotCount = 3
    /// The pauses after refused requests.
    static let (firstRetry, longestRetry) = (Duration.milliseconds(500), Duration.seconds(60))
    /// The time-out of requests to the adapter.
    static let patience = Duration.seconds(10)
    private static let root = "/org/hotspotd/companion"
    private static let advertised = root + "/advertisement"

    public var onEvent: (Companion.Event) -> Void = { _ in }
    /// Called with the first state soon after the start.
    public var onStateChange: (CompanionTransportState) -> Void = { _ in }

    private let bus: SystemBus
    private let loop: EventLoop
    private var view: RadioView
    /// BlueZ's unique name. No other sender may call our objects.
    private var owner: String?
    private var reported: CompanionTransportState?

    private var (wantsAdvertising, wantsScan) = (false, false)
    private var requests: [Request: Wish] = [:]
    private var (retryTimer, refusals): (EventSource?, Int) = (nil, 0)
    private let slots: [ServiceSlot]
    private let usesL2CAP: Bool
    /// `nil` without L2CAP channels.
    private var listener: L2CAPListener?

    private var queue = ConnectionQueue()
    private var links: [PeerLinkID: any BluetoothLink] = [:]
    private var lastLink: UInt64 = 0
    /// The connection that is being made.
    private var connecting: CentralLink?
    private var connectTimer: EventSource?
    /// The largest number of devices in ``used``.
    private static let usedLimit = 64
    /// Devices that BlueZ may remember, even after its own restart, because of a connection to or from this laptop.
    private var used: Set<String> = []
    /// Events that wait for the end of ``perform(_:)``.
    private var (isPerforming, pending): (Bool, [Companion.Event]) = (false, [])

    /// An activity of BlueZ that lasts until the opposite request.
    private enum Request: CaseIterable { case application, advertisement, discovery }

    /// - Parameters:
    ///   - bus: the system bus. It must live as long as the transport.
    ///   - adapter: the name of the adapter, such as `hci0`; `nil` for the first one.
    ///   - usesL2CAP: whether long messages may go over L2CAP channels.
    public init(
        bus: SystemBus, loop: EventLoop = .shared, adapter: String? = nil, usesL2CAP: Bool = false
    ) throws(LoopError) {
        (self.bus, self.loop, self.usesL2CAP) = (bus, loop, usesL2CAP)
        view = RadioView(wanted: adapter)
        slots = (0..<Self.slotCount).map { ServiceSlot("\(Self.root)/service\($0)", loop: loop) }
        for request in Request.allCases { requests[request] = Wish() }
        if usesL2CAP {
            listener = L2CAPListener(loop: loop) { [weak self] descriptor, address in
                let link = self?.links.values.first { BluetoothAddress.isPath($0.device, of: address) } as? PeripheralLink
                if let link { link.accept(descriptor) } else { close(descriptor) }
            }
        }
        try bus.serve(below: Self.root) { [weak self] in self?.answer($0) ?? .unknown }
        try listen()
        let dbus = SystemBus.Object("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        bus.call("GetNameOwner", of: dbus, [.text(BlueZ.service)]) { [weak self] in self?.ownerChanged($0?.first?.text ?? "") }
    }

    private func listen() throws(LoopError) {
        try bus.watch("NameOwnerChanged", of: "org.freedesktop.DBus", from: "org.freedesktop.DBus", about: BlueZ.service) {
            [weak self] _, values in
            self?.ownerChanged(values.last?.text ?? "")
        }
        try bus.watch("InterfacesAdded", of: BlueZ.objectManager, from: BlueZ.service) { [weak self] _, values in
            guard let self, values.count == 2, let path = values[0].text else { return }
            view.add(path, values[1].table)
            deviceSeen(path, values[1].table[BlueZ.device]?.table ?? [:])
            update()
        }
        try bus.watch("InterfacesRemoved", of: BlueZ.objectManager, from: BlueZ.service) { [weak self] _, values in
            guard let self, values.count == 2, let path = values[0].text else { return }
            let interfaces = values[1].list.compactMap(\.text)
            view.remove(path, interfaces)
            if interfaces.contains(BlueZ.device) {
                queue.vanished(path)
                forward(["Connected": .boolean(false)], of: path)
            }
            update()
        }
        try bus.watch("PropertiesChanged", of: BlueZ.properties, from: BlueZ.service) { [weak self] path, values in
            guard let self, values.count == 3, let interface = values[0].text else { return }
            view.change(path, interface, values[1].table)
            if interface == BlueZ.device {
                deviceSeen(path, values[1].table)
                forward(values[1].table, of: path)
            }
            if interface == BlueZ.characteristic, let value = values[1].table["Value"] {
                for link in links.values { (link as? CentralLink)?.valueChanged(path, value.octets) }
                return
            }
            update()
        }
    }

    // MARK: Actions

    public func perform(_ action: Companion.Action) {
        isPerforming = true
        defer { isPerforming = false }
        switch action {
        case .advertise(let isWanted): wantsAdvertising = isWanted
        case .scan(let isWanted):
            wantsScan = isWanted
            if !isWanted { endSearch() }
        case .send(let id, let channel, let chunk): return links[id]?.send(chunk, on: channel) ?? ()
        case .wantL2CAP(let id, let isWanted): return links[id]?.wantL2CAP(isWanted) ?? ()
        case .close(let id):
            guard let link = links[id] else { return }
            release(id, link)
            disconnect(link)
            forgetUnused()
        case .logL2CAP, .setTimer, .showCode, .storePeer, .removePeer, .showQuestion, .hideQuestion, .answerPrompt, .showOffer,
            .hideOffer, .storeOffer, .notify:
            return
        }
        update()
    }

    /// Ends all links and wishes, before the program ends. The events of the links are not reported.
    public func stop() {
        onEvent = { _ in }
        onStateChange = { _ in }
        for id in links.keys { perform(.close(id)) }
        for action in [Companion.Action.advertise(false), .scan(false)] { perform(action) }
    }

    private func report(_ event: Companion.Event) {
        guard isPerforming || !pending.isEmpty else { return onEvent(event) }
        pending.append(event)
        guard pending.count == 1 else { return }
        loop.later { [weak self] in
            guard let self else { return }
            let events = pending
            pending = []
            for event in events { onEvent(event) }
        }
    }

    // MARK: BlueZ comes and goes

    private func ownerChanged(_ name: String) {
        guard name != (owner ?? "") || reported == nil else { return }
        owner = name.isEmpty ? nil : name
        view.reset()
        endAll([.application, .advertisement, .discovery])
        guard owner != nil else { return update() }
        bus.ask("GetManagedObjects", of: BlueZ.object("/", BlueZ.objectManager), limit: BlueZ.objectLimit) { [weak self] result in
            // Ignores the answer if another BlueZ has appeared since.
            guard let self, owner == name else { return }
            if case .success(let values) = result { view.replace(values.first?.table ?? [:]) }
            update()
        }
    }

    /// Clears all state that was lost with BlueZ or the adapter: the ended requests, the devices and the links.
    private func endAll(_ ended: [Request]) {
        for request in ended { requests[request]!.ended() }
        queue.vanishedAll()
        listener?.listen(at: nil)
        endConnecting()
        for (id, link) in links {
            release(id, link)
            report(.linkClosed(id))
        }
    }

    private func reportState() {
        let state = view.state
        // Waits while the objects of a new BlueZ are not known yet.
        guard state != reported, owner == nil || state != .noService else { return }
        if reported == .ready {
            // A switched-off adapter keeps the registered services. The other requests have ended, and are made again later.
            endAll(state == .adapterOff ? [.advertisement, .discovery] : [.application, .advertisement, .discovery])
        }
        reported = state
        onStateChange(state)
    }

    /// Starts and stops BlueZ's activities as needed after a report by BlueZ or an action of the companion.
    private func update() {
        reportState()
        guard view.state == .ready, let adapter = view.adapter else { return }
        let isServing = wantsAdvertising || slots.contains { $0.link != nil }
        // If no socket can be made, only GATT is used.
        listener?.listen(at: isServing ? view.address : nil)
        step(.application, isServing, adapter)
        let isServed = requests[.application]!.state == .on
        step(.advertisement, wantsAdvertising && isServed && slots.contains { $0.link == nil }, adapter)
        // Does not search while connecting: a searching controller reports a laptop once in ten seconds, and a connection waits for that report.
        let next = chooseLaptop()
        step(.discovery, wantsScan && connecting == nil && next == nil, adapter)
        if let next, requests[.discovery]!.state == .off { connect(next) }
    }

    /// Sends the request that brings the state closer to the wish.
    private func step(_ request: Request, _ isWanted: Bool, _ adapter: String) {
        requests[request]!.isWanted = isWanted
        if isWanted, retryTimer != nil { return }
        guard let step = requests[request]!.next() else { return }
        let era = requests[request]!.era
        let (method, object, arguments) = call(request, step, adapter)
        bus.ask(method, of: object, arguments, within: Self.patience) { [weak self] result in
            guard let self else { return }
            let isDone = Self.isDone(step, result)
            requests[request]!.answered(era, isDone: isDone)
            if isDone { refusals = 0 }
            if step == .start, !isDone { retryLater() }
            update()
        }
    }

    /// Returns whether a request took effect. Two errors mean that an earlier request took effect, although its answer came after our
    /// deadline.
    private static func isDone(_ step: Wish.Step, _ result: Result<[BusValue], SystemBus.CallFailure>) -> Bool {
        switch result {
        case .success: true
        case .failure(let failure):
            step == .start && ["org.bluez.Error.AlreadyExists", "org.bluez.Error.InProgress"].contains(failure.name)
        }
    }

    private func call(
        _ request: Request, _ step: Wish.Step, _ path: String
    ) -> (String, SystemBus.Object, [SystemBus.Argument]) {
        let adapter = BlueZ.object(path, BlueZ.adapter)
        let gatt = BlueZ.object(path, "org.bluez.GattManager1")
        let advertiser = BlueZ.object(path, "org.bluez.LEAdvertisingManager1")
        switch (request, step) {
        case (.application, .start): return ("RegisterApplication", gatt, [.path(Self.root), .table([:])])
        case (.application, .stop): return ("UnregisterApplication", gatt, [.path(Self.root)])
        case (.advertisement, .start): return ("RegisterAdvertisement", advertiser, [.path(Self.advertised), .table([:])])
        case (.advertisement, .stop): return ("UnregisterAdvertisement", advertiser, [.path(Self.advertised)])
        case (.discovery, .start):
            let filter: [String: SystemBus.Argument] = ["UUIDs": .texts([Attribute.service.rawValue]), "Transport": .text("le")]
            bus.ask("SetDiscoveryFilter", of: adapter, [.table(filter)]) { _ in }
            return ("StartDiscovery", adapter, [])
        case (.discovery, .stop): return ("StopDiscovery", adapter, [])
        }
    }

    private func retryLater() {
        let wait = min(Self.firstRetry * (1 << min(refusals, 8)), Self.longestRetry)
        refusals += 1
        retryTimer = try? loop.schedule(after: wait, accuracy: .milliseconds(100)) { [weak self] in
            self?.retryTimer = nil
            self?.update()
        }
    }

    // MARK: The service here

    private func answer(_ call: SystemBus.Call) -> SystemBus.Reply {
        guard call.sender == owner, let adapter = view.adapter else {
            return .error("org.freedesktop.DBus.Error.AccessDenied", "Only BlueZ may call this.")
        }
        switch (call.path, call.interface, call.method) {
        case (Self.root, BlueZ.objectManager, "GetManagedObjects"):
            return .values([.objects(slots.reduce(into: [:]) { $0.merge($1.objects) { $1 } })])
        case (Self.advertised, BlueZ.properties, "GetAll"):
            // The advertisement has only the UUID: no name, no data.
            return .values([.table(["Type": .text("peripheral"), "ServiceUUIDs": .texts([Attribute.service.rawValue])])])
        case (Self.advertised, BlueZ.advertisement, "Release"):
            requests[.advertisement]!.ended()
            retryLater()
            return .values([])
        default: break
        }
        guard let slot = slots.first(where: { call.path.hasPrefix($0.path + "/") }) else { return .unknown }
        let reply = slot.answer(call, adapter: adapter, psm: listener?.psm) { device in
            // Refuses a second connection with the same laptop, even if this laptop made the first one.
            guard wantsAdvertising, !links.values.contains(where: { $0.device == device }) else { return nil }
            return reports(role: .peripheral)
        }
        // Updates the advertisement, because this call may have taken the last free slot.
        loop.later { [weak self] in self?.update() }
        return reply
    }

    // MARK: Laptops nearby

    private func deviceSeen(_ path: String, _ properties: [String: BusValue]) {
        guard properties["RSSI"] != nil else { return }
        if view.devices.contains(path) { return queue.appeared(path, at: EventLoop.now) }
        // Removes the device, because BlueZ lists only the services of an earlier connection, not those that the device advertises now.
        if wantsScan, used.contains(path), !isInUse(path), !view.own.contains(path) { remove(path) }
    }

    private func forward(_ properties: [String: BusValue], of device: String) {
        if connecting?.device == device { connecting?.deviceChanged(properties) }
        for link in links.values where link.device == device { link.deviceChanged(properties) }
    }

    /// Returns the laptop to connect now. If the next laptop must wait, sets a timer and returns `nil`.
    private func chooseLaptop() -> String? {
        connectTimer?.cancel()
        connectTimer = nil
        guard wantsScan, connecting == nil, let next = queue.next(except: Set(links.values.map(\.device))) else { return nil }
        if next.due <= EventLoop.now { return next.path }
        connectTimer = try? loop.schedule(at: next.due, accuracy: .milliseconds(50)) { [weak self] in self?.update() }
        return nil
    }

    private func connect(_ device: String) {
        queue.began(device, at: EventLoop.now)
        use(device)
        let link = CentralLink(
            device, own: usesL2CAP ? view.address : nil, bus: bus, loop: loop, reports(role: .central))
        connecting = link
        link.start()
    }

    /// Gives up the connection that is being made, because it failed or is no longer wanted.
    private func endConnecting() {
        guard let link = connecting else { return }
        connecting = nil
        link.end()
        queue.ended(link.device, at: EventLoop.now, jitter: Double.random(in: 0...1))
        disconnect(link)
        forgetUnused()
    }

    private func endSearch() {
        endConnecting()
        forgetUnused()
    }

    /// Makes BlueZ forget the devices that it keeps because of a connection with this laptop: BlueZ remembers their old services, and would not
    /// notice that a device offers our service later. The user's own devices stay. Devices that will soon be connected again also stay, because
    /// the controller needs up to ten seconds to find a forgotten device; after three failures, BlueZ forgets them as well.
    private func forgetUnused() {
        guard view.state == .ready else { return }
        for device in used where !isInUse(device) {
            if wantsScan, view.devices.contains(device), queue.failures(device) < 3 { continue }
            used.remove(device)
            if view.own.contains(device) { continue }
            remove(device)
        }
    }

    private func isInUse(_ device: String) -> Bool {
        connecting?.device == device || links.values.contains { $0.device == device }
    }

    /// Notes that BlueZ will keep a device because of a connection to or from this laptop.
    private func use(_ device: String) {
        if used.count >= Self.usedLimit, let other = used.first(where: { !isInUse($0) }) { used.remove(other) }
        used.insert(device)
    }

    /// Makes BlueZ forget a device. While BlueZ searches, it finds the device again.
    private func remove(_ device: String) {
        guard let adapter = view.adapter else { return }
        bus.ask("RemoveDevice", of: BlueZ.object(adapter, BlueZ.adapter), [.path(device)]) { _ in }
    }

    // MARK: Links

    private func reports(role: Role) -> LinkReports {
        lastLink += 1
        let id = PeerLinkID(lastLink)
        return LinkReports(
            onOpen: { [weak self] link, mtu in
                guard let self else { return }
                links[id] = link
                use(link.device)
                if role == .central { connecting = nil }
                report(.linkOpened(id, role, mtu: mtu))
                if link.offersL2CAP { report(.l2capOffered(id)) }
                update()
            },
            onMTU: { [weak self] in self?.report(.mtuChanged(id, $0)) },
            onChunk: { [weak self] in self?.report(.chunkReceived(id, $0, $1)) },
            onL2CAP: { [weak self] in self?.report($0 ? .l2capOpened(id) : .l2capClosed(id)) },
            onWritten: { [weak self] in self?.report(.chunkWritten(id)) },
            onEnd: { [weak self] in self?.ended(id) })
    }

    private func ended(_ id: PeerLinkID) {
        if let link = links[id] {
            release(id, link)
            // Disconnects only on the side that connected: on the other side, the laptop has left by itself.
            if link is CentralLink { disconnect(link) }
            // Forgets devices only later, because the laptop may use the service again at once, over the same connection.
            loop.later { [weak self] in self?.forgetUnused() }
            report(.linkClosed(id))
        } else {
            endConnecting()
        }
        update()
    }

    private func release(_ id: PeerLinkID, _ link: any BluetoothLink) {
        links[id] = nil
        link.end()
        for slot in slots where slot.link === link { slot.release() }
        queue.ended(link.device, at: EventLoop.now, jitter: Double.random(in: 0...1))
    }

    private func disconnect(_ link: any BluetoothLink) {
        guard view.state == .ready else { return }
        bus.ask("Disconnect", of: BlueZ.object(link.device, BlueZ.device)) { _ in }
    }
}
