import EventLoop
import Glibc
import HotspotCore
import Synchronization
import Testing

@testable import Varlink

/// Descriptors that a stranger sends along with octets. The loop's thread must neither keep them nor wait for what is behind them.
@Suite(.timeLimit(.minutes(10))) struct ForeignSocketTests {
    init() { EventLoop.startThread() }

    /// A TCP socket with more to send than the other end takes, whose last close(2) waits for an hour.
    private final class Lingering {
        let socket: Int32
        private let peer: Int32

        init() throws {
            let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(listener, address, length) == 0 && listen(listener, 1) == 0
                        && getsockname(listener, address, &length) == 0 && connect(socket, address, length) == 0
                }
            }
            peer = accept(listener, nil, nil)
            self.socket = socket
            try #require(isConnected && peer >= 0)
            let octets = [UInt8](repeating: 0, count: 1 << 20)
            while send(socket, octets, octets.count, Int32(MSG_DONTWAIT)) > 0 {}
            var hour = linger(l_onoff: 1, l_linger: 3600)
            try #require(setsockopt(socket, SOL_SOCKET, SO_LINGER, &hour, socklen_t(MemoryLayout<linger>.size)) == 0)
        }

        deinit { close(peer) }

        /// Nobody waits for its end after all.
        func abort() {
            var none = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &none, socklen_t(MemoryLayout<linger>.size))
        }
    }

    /// As a stranger does; returns an errno.
    @discardableResult static func pass(_ descriptors: [Int32], with text: String, to socket: Int32) -> Int32 {
        // struct cmsghdr: its length, SOL_SOCKET, SCM_RIGHTS.
        var control: [UInt8] = []
        withUnsafeBytes(of: 16 + 4 * descriptors.count) { control += $0 }
        for number in [Int32(1), 1] + descriptors { withUnsafeBytes(of: number) { control += $0 } }
        while control.count % 8 != 0 { control.append(0) }
        var octets = Array(text.utf8)
        return octets.withUnsafeMutableBytes { octets in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: octets.baseAddress, iov_len: octets.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    return sendmsg(socket, &message, Int32(MSG_NOSIGNAL)) < 0 ? errno : 0
                }
            }
        }
    }

    /// Two ends as a kernel before 6.16 makes them, the second one non-blocking.
    private func pair() throws -> (stranger: Int32, own: Int32) {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }

    /// How a connection to such a stranger ends.
    private func ending(_ own: Int32) async -> Connection.End {
        await withCheckedContinuation { done in
            Task { @LoopActor in
                let kept = Mutex<Connection?>(nil)
                let connection = try! Connection(socket: own, limit: 1024)
                kept.withLock { $0 = connection }
                connection.onClose = { end in
                    kept.withLock { $0 = nil }
                    done.resume(returning: end)
                }
            }
        }
    }

    @Test func whoSendsDescriptorsIsCutOffAndTheyAreClosed() async throws {
        let (stranger, own) = try pair()
        defer { close(stranger) }
        var pipe: [Int32] = [0, 0]
        try #require(Glibc.pipe(&pipe) == 0)
        defer { close(pipe[0]) }
        #expect(Self.pass([pipe[1], pipe[1], 0], with: "{}", to: stranger) == 0)
        close(pipe[1])
        #expect(await ending(own) == .failed(.malformed("it came with descriptors, which nobody takes")))
        var octet: UInt8 = 0
        #expect(read(pipe[0], &octet, 1) == 0, "nobody has the other end any more")
    }

    /// Read, or left unread behind what ends the connection: the loop goes on.
    @Test(arguments: [false, true]) func nobodysSocketIsWaitedFor(_ isUnread: Bool) async throws {
        let (stranger, own) = try pair()
        defer { close(stranger) }
        let lingering = try Lingering()
        if isUnread { #expect(send(stranger, [UInt8](repeating: 0x20, count: 20 << 10), 20 << 10, 0) == 20 << 10) }
        #expect(Self.pass([lingering.socket], with: "{}", to: stranger) == 0)
        close(lingering.socket)
        let end = await ending(own)
        #expect(end == .failed(isUnread ? .tooLong(limit: 1024) : .malformed("it came with descriptors, which nobody takes")))
        await Task { @LoopActor in }.value
        withExtendedLifetime(lingering) {}
    }

    /// The server's own sockets take none, where the kernel knows how; elsewhere the client is cut off.
    @Test func aServerServesOthersMeanwhile() async throws {
        try await Service.with { service, path in
            let stranger = try Socket.connect(path: path)
            let lingering = try Lingering()
            let result = Self.pass([lingering.socket], with: "{", to: stranger.raw)
            #expect(result == 0 || result == EPERM)
            if result != 0 { lingering.abort() }
            close(lingering.socket)
            let client = try Client(path)
            client.call("org.example.Desk.Echo", ["text": "x"])
            #expect(try client.answer()?.parameters == ["text": "x"])
            if result == 0 {
                var octet: UInt8 = 0
                #expect(read(stranger.raw, &octet, 1) <= 0)
            }
            withExtendedLifetime(lingering) {}
        }
    }
}
