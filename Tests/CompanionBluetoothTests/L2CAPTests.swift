import CSystemd
import EventLoop
import Foundation
import Glibc
import TestSupport
import Testing

@testable import CompanionBluetooth

/// L2CAP channels, with a pair of Unix sockets in place of Bluetooth: the other end is a descriptor.
@Suite(.timeLimit(.minutes(5))) struct L2CAPTests {
    init() { EventLoop.startThread() }

    /// A channel, its reports, and the other end.
    @LoopActor private final class Ends {
        let other: Int32
        private(set) var reports: [String] = []
        private var channel: L2CAPChannel?
        /// Whether the kernel still reports our MTU.
        private var isSound = true

        init() throws {
            var ends: [Int32] = [-1, -1]
            // Processes that other tests start would keep the ends open; with CLOEXEC, they do so only until exec(3).
            try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            var space: Int32 = 4096
            setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &space, 4)
            other = ends[1]
            channel = L2CAPChannel(ends[0], loop: .shared, isSound: { [weak self] _ in self?.isSound == true }) { [weak self] in
                switch $0 {
                case .opened: self?.reports.append("opened")
                case .chunk(let chunk): self?.reports.append("chunk \(chunk.count)")
                case .ended: self?.reports.append("ended")
                }
            }
        }

        func start() -> Bool { channel?.start() == true }
        func send(_ chunk: [UInt8]) { channel?.send(chunk) }
        func end() { channel?.end() }
        func change(isSound: Bool) { self.isSound = isSound }

        /// The next packet at the other end, or `nil` if there is none or the channel has ended.
        func receive() -> [UInt8]? {
            var octets = [UInt8](repeating: 0, count: 600)
            let count = recv(other, &octets, octets.count, Int32(MSG_DONTWAIT))
            return count > 0 ? Array(octets.prefix(count)) : nil
        }

        var isClosed: Bool {
            var octet: UInt8 = 0
            return recv(other, &octet, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK)) == 0
        }

        isolated deinit { close(other) }
    }

    @Test @LoopActor func chunksGoBothWaysAndTheEndIsReported() async throws {
        let ends = try Ends()
        #expect(ends.start())
        try await until { ends.reports == ["opened"] }
        ends.send([1, 2, 3])
        #expect(ends.receive() == [1, 2, 3])
        _ = Glibc.send(ends.other, [UInt8](repeating: 7, count: 500), 500, 0)
        try await until { ends.reports.last == "chunk 500" }
        shutdown(ends.other, Int32(SHUT_RDWR))
        try await until { ends.reports.last == "ended" }
        #expect(ends.reports.count == 3)
    }

    /// A channel whose MTU is not ours never opens.
    @Test @LoopActor func anotherMTUAtTheOpening() async throws {
        let ends = try Ends()
        ends.change(isSound: false)
        #expect(ends.start())
        try await until { ends.reports == ["ended"] }
        try await until { ends.isClosed }
    }

    /// A channel that belongs to another program by now is neither written nor read.
    @Test(arguments: [true, false]) @LoopActor func anotherMTULater(_ isSending: Bool) async throws {
        let ends = try Ends()
        #expect(ends.start())
        try await until { ends.reports == ["opened"] }
        ends.change(isSound: false)
        if isSending {
            ends.send([1, 2, 3])
        } else {
            _ = Glibc.send(ends.other, [1, 2, 3], 3, 0)
        }
        try await until { ends.reports == ["opened", "ended"] }
        #expect(ends.receive() == nil)
        try await until { ends.isClosed }
    }

    /// Chunks that do not fit into the kernel's buffer are sent later.
    @Test @LoopActor func chunksWaitForSpace() async throws {
        let ends = try Ends()
        #expect(ends.start())
        try await until { ends.reports == ["opened"] }
        for number in 0..<100 { ends.send([UInt8](repeating: UInt8(number), count: 500)) }
        var numbers: [UInt8] = []
        try await until {
            while let packet = ends.receive() { numbers.append(packet[0]) }
            return numbers.count == 100
        }
        #expect(numbers == Array(0..<100))
    }

    @Test @LoopActor func anEndFromHereIsNotReported() async throws {
        let ends = try Ends()
        #expect(ends.start())
        try await until { ends.reports == ["opened"] }
        ends.end()
        try await until { ends.isClosed }
        #expect(ends.reports == ["opened"])
    }

    /// Two connected sockets.
    private func pair() throws -> (one: Int32, other: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    /// A socket without a loop cannot be watched. Packets that wait must not duplicate its descriptor.
    @Test @LoopActor func aSocketThatCannotBeWatchedKeepsOneName() throws {
        let ends = try pair()
        defer { close(ends.other) }
        var space: Int32 = 4096
        setsockopt(ends.one, SOL_SOCKET, SO_SNDBUF, &space, 4)
        // The socket was not started, so it has no loop.
        let socket = PacketSocket(ends.one)
        for _ in 0..<100 { socket.send([UInt8](repeating: 7, count: 500)) }
        let link = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(ends.one)")
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == link
        }
        #expect(names == ["\(ends.one)"])
        socket.end()
    }

    /// Any program of the other laptop may open channels, so only the first one is reported.
    @Test @LoopActor func aLinkHasOneChannel() async throws {
        var reports: [Bool] = []
        let link = PeripheralLink(
            "/dev", mtu: 185, loop: .shared,
            LinkReports(
                onOpen: { _, _ in }, onMTU: { _ in }, onChunk: { _, _ in }, onL2CAP: { reports.append($0) }, onWritten: {},
                onEnd: {}))
        for _ in 0..<3 {
            let ends = try pair()
            defer { close(ends.other) }
            // This socket does not have the MTU of a channel, so it is closed.
            link.accept(ends.one)
            var octet: UInt8 = 0
            try await until { recv(ends.other, &octet, 1, Int32(MSG_DONTWAIT)) == 0 }
        }
        #expect(reports == [false])
    }

    // MARK: The listener

    /// Listening Unix sockets in place of Bluetooth's, and a listener that uses them.
    @LoopActor private final class Listening {
        private(set) var sockets: [Int32] = []
        private(set) var accepted: [Int32] = []
        private(set) var listener: L2CAPListener?

        init() {
            listener = L2CAPListener(
                loop: .shared, bind: { [weak self] _ in self?.make() }, onChannel: { [weak self] in self?.take($0, $1) })
        }

        private func take(_ descriptor: Int32, _ address: [UInt8]) { accepted.append(descriptor) }

        private func make() -> (descriptor: Int32, psm: Int)? {
            let number = socket(
                AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            // With the family alone, the kernel chooses a name.
            var address = sockaddr(sa_family: sa_family_t(AF_UNIX), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            guard bind(number, &address, 2) == 0, Glibc.listen(number, 4) == 0 else { return nil }
            sockets.append(number)
            return (number, 0x80 + sockets.count)
        }

        /// Connects to the last socket.
        func connect() -> Int32? {
            let client = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let result = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    getsockname(sockets.last ?? -1, pointer, &length) == 0 ? Glibc.connect(client, pointer, length) : -1
                }
            }
            if result == 0 { return client }
            close(client)
            return nil
        }

        isolated deinit { for descriptor in accepted { close(descriptor) } }
    }

    private static func address(_ text: String, _ type: String = "public") -> BluetoothAddress? {
        BluetoothAddress(["Address": .text(text), "AddressType": .text(type)])
    }

    @Test @LoopActor func aListenerThatFailsIsNotOfferedAndTriedAgain() async throws {
        // Sockets that do not listen: accept(2) fails as soon as there is something to read.
        let ends = [try pair(), try pair()]
        defer { for end in ends { close(end.other) } }
        var count = 0
        let listener = L2CAPListener(
            loop: .shared,
            bind: { _ in
                count += 1
                return (ends[count - 1].one, 0x80 + count)
            }, onChannel: { _, _ in })
        let address = try #require(Self.address("00:AA:01:01:00:01"))
        for _ in 0..<2 { listener.listen(at: address) }
        #expect(listener.psm == 0x81 && count == 1)
        _ = Glibc.send(ends[0].other, [1], 1, 0)
        try await until { listener.psm == nil }
        #expect(Glibc.send(ends[0].other, [1], 1, Int32(MSG_NOSIGNAL)) < 0, "the socket is closed")
        listener.listen(at: address)
        #expect(listener.psm == 0x82)
    }

    @Test @LoopActor func aListenerHasTheAdaptersAddress() throws {
        let listening = Listening()
        let listener = try #require(listening.listener)
        listener.listen(at: Self.address("00:AA:01:01:00:01"))
        listener.listen(at: Self.address("00:AA:01:01:00:02"))
        #expect(listener.psm == 0x82)
        listener.listen(at: nil)
        #expect(listener.psm == nil && listening.connect() == nil, "its socket is closed")
    }

    @Test @LoopActor func anAcceptedSocketIsClosedOnExecAndDoesNotBlock() async throws {
        let listening = Listening()
        try #require(listening.listener).listen(at: Self.address("00:AA:01:01:00:01"))
        let client = try #require(listening.connect())
        defer { close(client) }
        try await until { !listening.accepted.isEmpty }
        #expect(fcntl(listening.accepted[0], F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(listening.accepted[0], F_GETFL) & O_NONBLOCK != 0)
    }

    @Test func addressesAreReadAndCompared() {
        func address(_ text: String, _ type: String = "public") -> BluetoothAddress? { Self.address(text, type) }
        #expect(address("00:AA:01:01:00:01")?.octets == [1, 0, 1, 1, 0xAA, 0])
        #expect(address("00:AA:01:01:00:01")?.isRandom == false && address("C0:AA:01:01:00:01", "random")?.isRandom == true)
        for wrong in ["", "00:AA:01:01:00", "00:AA:01:01:00:0G", "00-AA-01-01-00-01", "0:AA:01:01:00:0011"] {
            #expect(address(wrong) == nil)
        }
        #expect(BluetoothAddress([:]) == nil)
        #expect(BluetoothAddress.isPath("/org/bluez/hci0/dev_00_AA_01_01_00_01", of: [1, 0, 1, 1, 0xAA, 0]))
        #expect(!BluetoothAddress.isPath("/org/bluez/hci0/dev_00_AA_01_01_00_02", of: [1, 0, 1, 1, 0xAA, 0]))
    }
}

extension L2CAPTests {
    @LoopActor private func until(_ condition: () -> Bool) async throws {
        for _ in 0..<2000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("never")
    }
}
