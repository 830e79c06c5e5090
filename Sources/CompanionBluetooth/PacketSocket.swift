import CLinux
import CSystemd
import EventLoop
import Glibc

/// One end of a socket that preserves packet boundaries. In a socket shared with BlueZ, each packet is one value of a characteristic; over L2CAP,
/// each packet is a chunk.
@LoopActor final class PacketSocket {
    /// The longest value of an attribute (Bluetooth Core 5.4, volume 3, part F, 3.2.9).
    static let packetLimit = 512
    /// The largest number of packets that wait for BlueZ. The window of chunks keeps the queue far below this limit.
    static let queueLimit = 128
    /// The largest number of packets that are read in one turn of the loop.
    static let turnLimit = 16

    private let descriptor: Int32
    /// A second descriptor of the socket while packets wait, because the loop watches a descriptor for only one kind of event.
    private var waiting: (name: SystemBus.Descriptor, source: EventSource)?
    private let isSound: (Int32) -> Bool
    private var isOpen = true
    private var loop: EventLoop?
    private var readable: EventSource?
    private var queue: ArraySlice<[UInt8]> = []
    private var onPacket: ([UInt8]) -> Void = { _ in }
    private var onEnd: () -> Void = {}

    /// - Parameters:
    ///   - descriptor: the socket, which is closed with this object.
    ///   - isSound: called before each packet in either direction; `false` ends the socket.
    init(_ descriptor: Int32, isSound: @escaping (Int32) -> Bool = { _ in true }) {
        (self.descriptor, self.isSound) = (descriptor, isSound)
    }

    isolated deinit { end() }

    /// Returns two connected ends: ours, and the one for BlueZ.
    static func pair() -> (own: PacketSocket, other: SystemBus.Descriptor)? {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        return (PacketSocket(ends[0]), SystemBus.Descriptor(ends[1]))
    }

    /// Watches the socket. Returns `false` if the loop cannot watch it.
    ///
    /// - Parameter onEnd: called once when the other end is closed or the socket is not sound, but not after ``end()``.
    func start(_ loop: EventLoop, onPacket: @escaping ([UInt8]) -> Void, onEnd: @escaping () -> Void) -> Bool {
        (self.loop, self.onPacket, self.onEnd) = (loop, onPacket, onEnd)
        readable = try? loop.watch(descriptor) { [weak self] _ in self?.read() }
        return readable != nil
    }

    func end() {
        guard isOpen else { return }
        isOpen = false
        readable?.cancel()
        (readable, queue) = (nil, [])
        stopWaiting()
        (onPacket, onEnd) = ({ _ in }, {})
        close(descriptor)
    }

    private func fail() {
        let report = onEnd
        end()
        report()
    }

    private func read() {
        for _ in 0..<Self.turnLimit where isOpen {
            guard isSound(descriptor) else { return fail() }
            var octets = [UInt8](repeating: 0, count: Self.packetLimit)
            let count = recv(descriptor, &octets, octets.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            guard count > 0 else {
                // An empty packet also ends the socket: it looks like the end, and cannot be a chunk.
                return fail()
            }
            onPacket(Array(octets.prefix(count)))
        }
    }

    /// Sends a packet, or keeps it until BlueZ takes it.
    func send(_ packet: [UInt8]) {
        guard isOpen, queue.count < Self.queueLimit else { return }
        queue.append(packet)
        flush()
    }

    private func flush() {
        while isOpen, let packet = queue.first {
            guard isSound(descriptor) else { return fail() }
            let sent = Glibc.send(descriptor, packet, packet.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            if sent < 0, errno == EAGAIN || errno == EINTR { return waitForSpace() }
            // Ignores other errors: if the socket is broken, the next read reports its end.
            queue.removeFirst()
        }
        stopWaiting()
    }

    private func waitForSpace() {
        guard waiting == nil else { return }
        let number = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard number >= 0 else { return }
        let name = SystemBus.Descriptor(number)
        let source = try? loop?.watch(number, for: UInt32(EPOLLOUT.rawValue)) { [weak self] _ in self?.flush() }
        waiting = source.map { (name, $0) }
    }

    private func stopWaiting() {
        waiting?.source.cancel()
        waiting = nil
    }
}
