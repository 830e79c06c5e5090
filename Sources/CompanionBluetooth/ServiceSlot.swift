import Companion
import EventLoop

/// One of our services, which one laptop at a time uses. BlueZ before 5.69 has one pair of descriptors for a characteristic, and
/// sends a notification to every laptop that asked for it; so each laptop gets its own service.
@LoopActor final class ServiceSlot {
    let path: String
    private let loop: EventLoop
    private(set) var link: PeripheralLink?

    init(_ path: String, loop: EventLoop) { (self.path, self.loop) = (path, loop) }

    private func path(of attribute: Attribute) -> String {
        switch attribute {
        case .service: path
        case .information: path + "/information"
        case .control: path + "/control"
        case .bulk: path + "/bulk"
        }
    }

    /// The service and its characteristics, in the form that BlueZ requests.
    var objects: [String: [String: [String: SystemBus.Argument]]] {
        var objects: [String: [String: [String: SystemBus.Argument]]] = [
            path: [BlueZ.gattService: ["UUID": .text(Attribute.service.rawValue), "Primary": .truth(true)]]
        ]
        for attribute in Attribute.characteristics {
            var properties: [String: SystemBus.Argument] = [
                "UUID": .text(attribute.rawValue), "Service": .path(path), "Flags": .texts(attribute.flags),
            ]
            if attribute != .information { properties["NotifyAcquired"] = .truth(false) }
            if attribute == .bulk { properties["WriteAcquired"] = .truth(false) }
            objects[path(of: attribute)] = [BlueZ.characteristic: properties]
        }
        return objects
    }

    /// Answers BlueZ's call for one of the characteristics.
    ///
    /// - Parameters:
    ///   - psm: the PSM of the L2CAP channel; `nil` without one.
    ///   - open: makes a link for a device; returns `nil` if the device gets no link.
    func answer(
        _ call: SystemBus.Call, adapter: String, psm: UInt8?, open: (_ device: String) -> LinkReports?
    ) -> SystemBus.Reply {
        guard call.interface == BlueZ.characteristic,
            let attribute = Attribute.characteristics.first(where: { path(of: $0) == call.path })
        else { return .unknown }
        if (attribute, call.method) == (.control, "Confirm") {
            link?.confirmed()
            return .values([])
        }
        guard let options = PeerOptions(call.arguments.last?.table ?? [:], adapter: adapter) else { return Self.refusal }
        switch (attribute, call.method) {
        case (.information, "ReadValue"):
            let octets = Information(isBusy: link.map { $0.device != options.device } ?? false, psm: psm).octets
            return .values([.octets(Array(octets.dropFirst(max(0, options.offset))))])
        case (.control, "WriteValue"):
            // Refuses a long write, which would exceed a chunk.
            guard let link, link.device == options.device, options.offset == 0, !options.isPreparation else {
                return Self.refusal
            }
            link.received(call.arguments.first?.octets ?? [], mtu: options.mtu)
            return .values([])
        case (.control, "AcquireNotify"):
            if let link {
                // Ends the old link if the same laptop is back before its lost connection was noticed.
                guard link.device == options.device else { return Self.failure }
                link.fail()
            }
            guard let reports = open(options.device), let ends = PacketSocket.pair() else { return Self.failure }
            let made = PeripheralLink(options.device, mtu: options.mtu, loop: loop, reports)
            guard made.use(ends.own, as: .control) else { return Self.failure }
            link = made
            made.opened()
            return .values([.descriptor(ends.other), .short(UInt16(options.mtu))])
        case (.bulk, "AcquireNotify"), (.bulk, "AcquireWrite"):
            guard let link, link.device == options.device, let ends = PacketSocket.pair(),
                link.use(ends.own, as: call.method == "AcquireWrite" ? .bulkIn : .bulkOut)
            else { return Self.failure }
            return .values([.descriptor(ends.other), .short(UInt16(options.mtu))])
        default: return .unknown
        }
    }

    /// Frees the service after its link has ended.
    func release() { link = nil }

    private static let refusal = SystemBus.Reply.error("org.bluez.Error.NotPermitted", "Another laptop uses the service.")
    /// After this error, BlueZ does not try another way of notification.
    private static let failure = SystemBus.Reply.error("org.bluez.Error.Failed", "Another laptop uses the service.")
}

/// A laptop that connected to this laptop, as a client of the service.
@LoopActor final class PeripheralLink: BluetoothLink {
    enum Way: Hashable, CaseIterable { case control, bulkIn, bulkOut }

    let device: String
    private(set) var mtu: Int
    private let loop: EventLoop
    private let reports: LinkReports
    private var sockets: [Way: PacketSocket] = [:]
    private var l2cap: L2CAPChannel?
    private var (isUnconfirmed, hasEnded, hadL2CAP) = (false, false, false)

    init(_ device: String, mtu: Int, loop: EventLoop, _ reports: LinkReports) {
        (self.device, self.mtu, self.loop, self.reports) = (device, mtu, loop, reports)
    }

    func opened() { reports.onOpen(self, mtu) }

    /// Returns `false` if the socket cannot be watched.
    func use(_ socket: PacketSocket, as way: Way) -> Bool {
        sockets[way]?.end()
        sockets[way] = socket
        return socket.start(
            loop,
            onPacket: { [weak self] packet in
                switch way {
                case .bulkIn where packet.count > 1: self?.reports.onChunk(.bulk, packet)
                case .bulkIn: break
                // BlueZ from 5.69 on confirms over the socket.
                case .control: self?.confirmed()
                case .bulkOut: break
                }
            },
            onEnd: { [weak self] in self?.fail() })
    }

    func received(_ chunk: [UInt8], mtu: Int) {
        if mtu != self.mtu {
            self.mtu = mtu
            reports.onMTU(mtu)
        }
        reports.onChunk(.control, chunk)
    }

    func send(_ chunk: [UInt8], on channel: Channel) {
        switch channel {
        case .bulk: sockets[.bulkOut]?.send(chunk)
        case .l2cap: l2cap?.send(chunk)
        case .control:
            isUnconfirmed = true
            sockets[.control]?.send(chunk)
        }
    }

    /// Only the other laptop, the central, opens the channel.
    let offersL2CAP = false

    func wantL2CAP(_ isWanted: Bool) {
        l2cap?.end()
        l2cap = nil
    }

    /// Takes the first channel that the other laptop opened, and closes each later one without a report.
    func accept(_ descriptor: Int32) {
        let channel = L2CAPChannel(descriptor, loop: loop) { [weak self] in self?.reports.pass($0) }
        guard !hadL2CAP, channel.start() else { return channel.end() }
        (l2cap, hadL2CAP) = (channel, true)
    }

    /// Notes that the other laptop has received the last chunk on the control channel.
    func confirmed() {
        guard isUnconfirmed else { return }
        isUnconfirmed = false
        reports.onWritten()
    }

    func deviceChanged(_ properties: [String: BusValue]) { if properties["Connected"]?.boolean == false { fail() } }

    func end() {
        hasEnded = true
        for socket in sockets.values { socket.end() }
        sockets = [:]
        wantL2CAP(false)
    }

    func fail() {
        guard !hasEnded else { return }
        end()
        reports.onEnd()
    }
}
