import CLinux
import CSystemd
import EventLoop
import Glibc

/// The address of a Bluetooth device.
struct BluetoothAddress: Hashable, Sendable {
    /// Six octets, in the reverse order of the text.
    let octets: [UInt8]
    let isRandom: Bool

    /// - Parameter properties: the properties of BlueZ's adapter or device. `nil` unless they have a complete address.
    init?(_ properties: [String: BusValue]) {
        guard let text = properties["Address"]?.text, text.utf8.count == 17 else { return nil }
        octets = text.split(separator: ":").compactMap { UInt8($0, radix: 16) }.reversed()
        isRandom = properties["AddressType"]?.text == "random"
        guard octets.count == 6 else { return nil }
    }

    /// Returns whether BlueZ's path of a device ends with an address.
    static func isPath(_ path: String, of octets: [UInt8]) -> Bool {
        path.hasSuffix(
            "/dev_"
                + octets.reversed().map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: "_"))
    }
}

/// L2CAP channels over Bluetooth LE (Bluetooth Core 5.4, volume 3, part A, 4.22): an option, which needs sockets of the family AF_BLUETOOTH. The
/// kernel offers these sockets only in the initial network namespace.
public enum L2CAP {
    /// The largest packet, the same on both sides. BlueZ's own channels have 517, by which ``isSound(_:)`` recognises them.
    static let mtu = 512

    /// The PSMs that need no capability.
    static let psms = 0x80...0xFF

    /// Returns the reason why this process cannot have such channels; `nil` if it can.
    public static var problem: String? { clinux_l2cap_probe() == 0 ? nil : String(cString: strerror(errno)) }

    /// Returns whether a socket still belongs to our channel. BlueZ 5.66 opens channels for ATT on the same link, with the same identifiers. The
    /// kernel may then confuse the two channels: our socket has the values of BlueZ's channel, and our packets would go to BlueZ.
    static func isSound(_ descriptor: Int32) -> Bool { clinux_l2cap_send_mtu(descriptor) == mtu }

    /// Returns a socket at an adapter's address; `nil` if it cannot be made.
    static func socket(at own: BluetoothAddress) -> Int32? {
        let descriptor = clinux_l2cap_socket(own.octets, own.isRandom ? 1 : 0, UInt16(mtu))
        return descriptor < 0 ? nil : descriptor
    }

    private static let backlog: Int32 = 4

    /// Listens at an adapter's address, with a PSM that the kernel chooses. Returns `nil` without a socket.
    static func listen(at own: BluetoothAddress) -> (descriptor: Int32, psm: Int)? {
        guard let descriptor = socket(at: own) else { return nil }
        guard Glibc.listen(descriptor, backlog) == 0 else {
            close(descriptor)
            return nil
        }
        return (descriptor, Int(clinux_l2cap_psm(descriptor)))
    }

    /// Begins a connection with another laptop. Returns `nil` if it fails at once.
    static func connect(from own: BluetoothAddress, to other: BluetoothAddress, psm: UInt8) -> Int32? {
        guard let descriptor = socket(at: own) else { return nil }
        guard clinux_l2cap_connect(descriptor, other.octets, other.isRandom ? 1 : 0, Int32(psm)) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}

/// Accepts the L2CAP channels of laptops that are connected with this laptop, at one address at a time.
@LoopActor final class L2CAPListener {
    private struct Listening {
        let address: BluetoothAddress
        let psm: UInt8
        let descriptor: SystemBus.Descriptor
        let source: EventSource
    }

    private var listening: Listening?
    private let loop: EventLoop
    private let bind: (BluetoothAddress) -> (descriptor: Int32, psm: Int)?
    private let onChannel: (_ descriptor: Int32, _ address: [UInt8]) -> Void

    /// - Parameter onChannel: gets the descriptor of each channel, and the other device's address.
    init(
        loop: EventLoop, bind: @escaping (BluetoothAddress) -> (descriptor: Int32, psm: Int)? = L2CAP.listen,
        onChannel: @escaping (_ descriptor: Int32, _ address: [UInt8]) -> Void
    ) {
        (self.loop, self.bind, self.onChannel) = (loop, bind, onChannel)
    }

    isolated deinit { stop() }

    /// The PSM; `nil` while this laptop accepts no channel.
    var psm: UInt8? { listening?.psm }

    /// Listens at an address; stops listening if the address is `nil`. After a failure, another call tries again.
    func listen(at address: BluetoothAddress?) {
        guard address != listening?.address else { return }
        stop()
        guard let address, let (number, psm) = bind(address) else { return }
        let descriptor = SystemBus.Descriptor(number)
        guard L2CAP.psms.contains(psm), let source = try? loop.watch(number, { [weak self] _ in self?.accept() }) else { return }
        listening = Listening(address: address, psm: UInt8(psm), descriptor: descriptor, source: source)
    }

    private func stop() {
        listening?.source.cancel()
        listening = nil
    }

    private func accept() {
        guard let listening else { return }
        var address = [UInt8](repeating: 0, count: 6)
        let accepted = clinux_l2cap_accept(listening.descriptor.number, &address)
        if accepted >= 0 { return onChannel(accepted, address) }
        // Stops after any other error, such as a lack of descriptors: otherwise the loop would call this method again and again.
        if errno != EAGAIN, errno != EINTR, errno != ECONNABORTED { stop() }
    }
}

/// The L2CAP channel of one link. The window of chunks is the same as in GATT, so that a message continues over GATT when the channel is lost. The
/// kernel's own credits only hold back packets that do not fit.
@LoopActor final class L2CAPChannel {
    enum Report { case opened, chunk([UInt8]), ended }

    private let descriptor: Int32
    private let socket: PacketSocket
    private let loop: EventLoop
    private let isSound: (Int32) -> Bool
    private let report: (Report) -> Void
    /// Waits for the connection.
    private var opening: EventSource?

    /// - Parameter descriptor: a socket that is connected, or will be. It is closed with this object.
    init(
        _ descriptor: Int32, loop: EventLoop, isSound: @escaping (Int32) -> Bool = L2CAP.isSound,
        report: @escaping (Report) -> Void
    ) {
        (self.descriptor, self.loop, self.isSound, self.report) = (descriptor, loop, isSound, report)
        socket = PacketSocket(descriptor, isSound: isSound)
    }

    /// Returns `false` if the socket cannot be watched.
    func start() -> Bool {
        opening = try? loop.watch(descriptor, for: UInt32(EPOLLOUT.rawValue)) { [weak self] _ in self?.connected() }
        return opening != nil
    }

    private func connected() {
        opening?.cancel()
        opening = nil
        // If the connection failed, the socket has no MTU and is therefore not sound.
        guard isSound(descriptor),
            socket.start(
                loop, onPacket: { [weak self] in self?.report(.chunk($0)) }, onEnd: { [weak self] in self?.report(.ended) })
        else {
            end()
            return report(.ended)
        }
        report(.opened)
    }

    func send(_ chunk: [UInt8]) { socket.send(chunk) }

    /// Ends the channel without a report.
    func end() {
        opening?.cancel()
        opening = nil
        socket.end()
    }
}
