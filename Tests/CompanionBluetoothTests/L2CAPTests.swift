import CSystemd
import EventLoop
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
            // Other tests start processes, which would keep the ends open; until exec(3) they do.
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

        /// The next packet at the other end, or `nil` at the end or without one.
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

    /// Nothing goes into a channel that belongs to another program by now, and nothing of it is read.
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

    /// More than the kernel takes at once arrives all the same.
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

    @Test func addressesAreReadAndCompared() {
        func address(_ text: String, _ type: String = "public") -> BluetoothAddress? {
            BluetoothAddress(["Address": .text(text), "AddressType": .text(type)])
        }
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
