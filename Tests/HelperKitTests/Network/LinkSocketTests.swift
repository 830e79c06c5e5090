import Glibc
import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit

/// Connections and datagrams over a link, here over loopback with the strict rules.
@Suite struct LinkSocketTests {
    private func code(_ body: () throws(TransferError) -> Void) -> TransferErrorCode? {
        do throws(TransferError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func exchangesOctetsOverTCP() throws {
        let server = ScriptedServer(["/": http(200, "hello")])
        let connection = try LinkTCPConnection("127.0.0.1", port: server.port, link: loopback())
        #expect(connection.address.description == "127.0.0.1")
        try connection.send(octets("GET / HTTP/1.0\r\n\r\n"))
        connection.finishSending()
        var answer: [UInt8] = []
        while true {
            let more = try connection.receive()
            if more.isEmpty { break }
            answer += more
        }
        #expect(String(decoding: answer, as: UTF8.self).hasSuffix("hello"))
    }

    @Test func aRuleOfThisMachineIsNotTheServersFault() {
        #expect(LinkSocket.error(EPERM).code == .refusedHere)
        #expect(LinkSocket.error(ECONNREFUSED).code == .connectFailed)
    }

    @Test func reportsFailures() throws {
        let free = ScriptedServer([:]).port
        let server = ScriptedServer { _ in .hold([]) }
        var elsewhere = loopback()
        elsewhere.interface = "nonesuch0"
        #expect(
            code { () throws(TransferError) in _ = try LinkTCPConnection("127.0.0.1", port: 0, link: loopback()) } == .refusedURL)
        #expect(
            code { () throws(TransferError) in
                _ = try LinkTCPConnection("127.0.0.1", port: server.port, link: elsewhere, policy: .testing(), in: Scope())
            } == .bindFailed)
        #expect(
            code { () throws(TransferError) in _ = try LinkTCPConnection("192.0.2.1", port: 80, link: loopback()) }
                == .refusedAddress)
        #expect(
            code { () throws(TransferError) in _ = try LinkTCPConnection("portal.test", port: 80, link: loopback()) }
                == .noNameserver)
        #expect(
            code { () throws(TransferError) in
                let connection = try LinkTCPConnection(
                    "127.0.0.1", port: server.port, link: loopback(), in: Scope(deadline: .after(milliseconds: 50)))
                _ = try connection.receive()
            } == .timeout)
        _ = free
    }

    @Test func cancellingEndsTheWait() throws {
        let server = ScriptedServer { _ in .hold([]) }
        let cancellation = Cancellation()
        let scope = Scope(cancellation: cancellation)
        let connection = try LinkTCPConnection("127.0.0.1", port: server.port, link: loopback(), in: scope)
        Worker.start { cancellation.cancel() }
        #expect(code { () throws(TransferError) in _ = try connection.receive() } == .cancelled)
    }

    @Test func exchangesDatagrams() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                precondition(bind(descriptor, $0, length) == 0)
                getsockname(descriptor, $0, &length)
            }
        }
        let datagrams = try LinkUDPSocket("127.0.0.1", port: Int(UInt16(bigEndian: address.sin_port)), link: loopback())
        try datagrams.send(octets("ping"))
        var buffer = [UInt8](repeating: 0, count: 16)
        var peer = sockaddr_in()
        let count = withUnsafeMutablePointer(to: &peer) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(descriptor, &buffer, buffer.count, 0, $0, &length)
            }
        }
        #expect(Array(buffer.prefix(max(0, count))) == octets("ping"))
        withUnsafeMutablePointer(to: &peer) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = sendto(descriptor, "pong", 4, 0, $0, length) }
        }
        #expect(try datagrams.receive() == octets("pong"))
        #expect(code { () throws(TransferError) in _ = try datagrams.receive(waiting: 30) } == .timeout)
        #expect(code { () throws(TransferError) in try datagrams.send([UInt8](repeating: 0, count: 70_000)) } == .tooLarge)
        #expect(
            code { () throws(TransferError) in _ = try LinkUDPSocket("169.254.169.254", port: 53, link: loopback()) }
                == .refusedAddress)
    }

    @Test func aRehearsalReachesThisMachineOnly() {
        let rehearsal = AddressPolicy(link: loopback())
        #expect(rehearsal.refusal(of: InternetAddress("127.0.0.1")!) == nil)
        #expect(rehearsal.refusal(of: InternetAddress("::1")!) == nil)
        for address in ["192.168.1.1", "1.1.1.1", "169.254.169.254", "::ffff:127.0.0.1"] {
            #expect(rehearsal.refusal(of: InternetAddress(address)!) != nil)
        }
    }
}
