import Companion
import EventLoop
import HotspotCore

/// A link that this laptop opens: it connects to a laptop that advertises, and is a client of its service.
@LoopActor final class CentralLink: BluetoothLink {
    /// The time for the connection. BlueZ itself waits for more than 20 s.
    static let connectTime = Duration.seconds(10)
    /// The time for everything until chunks may be sent and received.
    static let openTime = Duration.seconds(25)
    /// The time for an answer to a chunk. BlueZ's own time-out is 30 s.
    static let answerTime = Duration.seconds(10)

    private enum Stage {
        case connecting
        /// BlueZ looks for the services.
        case resolving
        case acquiring
        case open
        case ended
    }

    let device: String
    private let bus: SystemBus
    private let loop: EventLoop
    private let reports: LinkReports
    private var stage = Stage.connecting
    private var deadline: EventSource?

    private var control = ""
    private var bulkIn: PacketSocket?
    private var bulkOut: PacketSocket?
    /// This laptop's address, if L2CAP channels are switched on.
    private let own: BluetoothAddress?
    private var other: BluetoothAddress?
    private var psm: UInt8?
    private var l2cap: L2CAPChannel?

    init(_ device: String, own: BluetoothAddress?, bus: SystemBus, loop: EventLoop, _ reports: LinkReports) {
        (self.device, self.own, self.bus, self.loop, self.reports) = (device, own, bus, loop, reports)
    }

    func start() {
        deadline = try? loop.schedule(after: Self.openTime) { [weak self] in self?.fail() }
        bus.ask("Connect", of: BlueZ.object(device, BlueZ.device), within: Self.connectTime) { [weak self] result in
            guard let self, stage == .connecting else { return }
            guard case .success = result else { return fail() }
            stage = .resolving
            // Reads the properties, because no signal follows if the services are already known.
            bus.properties(of: BlueZ.object(device, BlueZ.device)) { [weak self] in self?.deviceChanged($0 ?? [:]) }
        }
    }

    func deviceChanged(_ properties: [String: BusValue]) {
        if stage == .resolving, properties["ServicesResolved"]?.boolean == true { return look() }
        // Ignores the end of an earlier connection while this link connects.
        if stage != .connecting, stage != .ended, properties["Connected"]?.boolean == false { fail() }
    }

    func valueChanged(_ path: String, _ octets: [UInt8]) {
        if stage == .open, path == control { reports.onChunk(.control, octets) }
    }

    // MARK: The service

    private func look() {
        stage = .acquiring
        let manager = BlueZ.object("/", BlueZ.objectManager)
        bus.ask("GetManagedObjects", of: manager, limit: BlueZ.objectLimit) { [weak self] result in
            guard let self, stage == .acquiring else { return }
            guard case .success(let values) = result else { return fail() }
            let objects = values.first?.table ?? [:]
            other = BluetoothAddress(objects[device]?.table[BlueZ.device]?.table ?? [:])
            choose(RemoteService.all(in: objects, of: device)[...])
        }
    }

    /// Uses the first service that no other laptop uses.
    private func choose(_ services: ArraySlice<RemoteService>) {
        guard let service = services.first else { return fail() }
        let information = BlueZ.object(service.information, BlueZ.characteristic)
        bus.ask("ReadValue", of: information, [.table([:])], within: Self.answerTime) { [weak self] result in
            guard let self, stage == .acquiring else { return }
            guard case .success(let values) = result, let information = Information(octets: values.first?.octets ?? []),
                !information.isBusy
            else { return choose(services.dropFirst()) }
            psm = information.psm
            acquire(service)
        }
    }

    /// Acquires the channels of a service. The control channel comes first, because it tells the other laptop which laptop uses the service.
    private func acquire(_ service: RemoteService) {
        control = service.control
        let object = BlueZ.object(control, BlueZ.characteristic)
        // Calls StartNotify, because BlueZ gives no descriptor for indications.
        bus.ask("StartNotify", of: object, within: Self.answerTime) { [weak self] result in
            guard let self, stage == .acquiring else { return }
            guard case .success = result else { return fail() }
            open("AcquireNotify", service.bulk) { [weak self] socket, _ in
                self?.bulkIn = socket
                self?.open("AcquireWrite", service.bulk) { [weak self] socket, mtu in
                    self?.bulkOut = socket
                    self?.opened(mtu: mtu)
                }
            }
        }
    }

    /// Requests a descriptor for one direction of a characteristic.
    private func open(_ method: String, _ path: String, _ next: @escaping (PacketSocket, Int) -> Void) {
        let object = BlueZ.object(path, BlueZ.characteristic)
        bus.askForDescriptor(method, of: object, [.table([:])], within: Self.answerTime) { [weak self] descriptor, more in
            guard let descriptor else {
                self?.fail()
                return
            }
            let socket = PacketSocket(descriptor)
            guard let self, stage == .acquiring else { return socket.end() }
            let isWatched = socket.start(
                loop,
                onPacket: { [weak self] in if method == "AcquireNotify" { self?.reports.onChunk(.bulk, $0) } },
                onEnd: { [weak self] in self?.fail() })
            guard isWatched else { return fail() }
            next(socket, PeerOptions.mtu(more.first))
        }
    }

    private func opened(mtu: Int) {
        stage = .open
        deadline?.cancel()
        deadline = nil
        // Sends one octet first: at the first write, BlueZ asks the other laptop for its descriptor, and damages data that comes before the answer
        // (acquire_write in src/gatt-database.c does not copy the value). A single octet is not a chunk, and the other side drops it.
        bulkOut?.send([0])
        reports.onOpen(self, mtu)
    }

    // MARK: Chunks

    func send(_ chunk: [UInt8], on channel: Channel) {
        guard stage == .open else { return }
        switch channel {
        case .bulk: bulkOut?.send(chunk)
        case .l2cap: l2cap?.send(chunk)
        case .control:
            let object = BlueZ.object(control, BlueZ.characteristic)
            let arguments: [SystemBus.Argument] = [.octets(chunk), .table(["type": .text("request")])]
            bus.ask("WriteValue", of: object, arguments, within: Self.answerTime) { [weak self] result in
                guard let self, stage == .open else { return }
                if case .success = result { reports.onWritten() } else { fail() }
            }
        }
    }

    // MARK: L2CAP

    var offersL2CAP: Bool { own != nil && other != nil && psm != nil }

    func wantL2CAP(_ isWanted: Bool) {
        l2cap?.end()
        l2cap = nil
        guard isWanted else { return }
        guard let own, let other, let psm, let descriptor = L2CAP.connect(from: own, to: other, psm: psm) else {
            return reports.onL2CAP(false)
        }
        let channel = L2CAPChannel(descriptor, loop: loop) { [weak self] in self?.reports.pass($0) }
        l2cap = channel
        guard channel.start() else {
            channel.end()
            return reports.onL2CAP(false)
        }
    }

    // MARK: The end

    func end() {
        stage = .ended
        deadline?.cancel()
        for socket in [bulkIn, bulkOut] { socket?.end() }
        l2cap?.end()
        (deadline, bulkIn, bulkOut, l2cap) = (nil, nil, nil, nil)
    }

    private func fail() {
        guard stage != .ended else { return }
        end()
        reports.onEnd()
    }
}
