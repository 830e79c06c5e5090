import Glibc
import HotspotCore
import Testing

@testable import HelperKit

/// A nameserver on loopback with one answer to A and one to AAAA.
private final class ScriptedNameserver: Sendable {
    enum Answer: Sendable {
        case address([UInt8])
        case code(UInt8)
        case silence
        case garbage
    }

    let port: Int
    private let counter = Locked(0)
    private let descriptor: Int32
    var questions: Int { counter.with { $0 } }

    init(a: Answer, aaaa: Answer = .code(0)) {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
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
        port = Int(UInt16(bigEndian: address.sin_port))
        self.descriptor = descriptor
        let counter = counter
        Worker.start {
            while true {
                var packet = [UInt8](repeating: 0, count: 512)
                var peer = sockaddr_storage()
                var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
                let count = withUnsafeMutablePointer(to: &peer) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        recvfrom(descriptor, &packet, 512, 0, $0, &length)
                    }
                }
                // An empty datagram ends the server.
                guard count >= 12 else { break }
                counter.with { $0 += 1 }
                guard let reply = Self.reply(Array(packet[..<count]), a, aaaa) else { continue }
                _ = withUnsafeMutablePointer(to: &peer) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        sendto(descriptor, reply, reply.count, 0, $0, length)
                    }
                }
            }
            close(descriptor)
        }
    }

    deinit {
        let closer = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(closer, nil, 0, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        close(closer)
    }

    /// Returns the header, the question as it came, and at most one record (RFC 1035, section 4.1).
    private static func reply(_ packet: [UInt8], _ a: Answer, _ aaaa: Answer) -> [UInt8]? {
        var end = 12
        while end < packet.count, packet[end] != 0 { end += Int(packet[end]) + 1 }
        guard end + 5 <= packet.count else { return nil }
        let type = packet[end + 2]
        let question = packet[12..<(end + 5)]
        func head(_ code: UInt8, _ answers: UInt8) -> [UInt8] {
            [packet[0], packet[1], 0x81, 0x80 | code, 0, 1, 0, answers, 0, 0, 0, 0]
        }
        switch type == 28 ? aaaa : a {
        case .silence: return nil
        case .garbage: return [packet[0], packet[1], 0x81, 0x80, 0, 1, 0, 9, 0, 0, 0, 0] + question + [0xC0, 0xC0, 0xFF]
        case .code(let code): return head(code, 0) + question
        case .address(let octets):
            return head(0, 1) + question + [0xC0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, UInt8(octets.count)] + octets
        }
    }
}

@Suite struct ResolverTests {
    private func resolve(_ servers: [ScriptedNameserver], ipv6: Bool = false, interface: String = "lo") throws(TransferError)
        -> [String]
    {
        var link = loopback(nameservers: servers.map { "127.0.0.1:\($0.port)" })
        link.interface = interface
        if ipv6 { link.addresses.append("2001:db8::1/64") }
        return try Resolver(link: link).addresses(of: "portal.test", in: Scope(deadline: .after(milliseconds: 20_000))).map(
            \.description)
    }

    private func failure(_ server: ScriptedNameserver, interface: String = "lo") -> TransferErrorCode? {
        do throws(TransferError) {
            _ = try resolve([server], interface: interface)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func asksTheLinksServer() throws {
        let server = ScriptedNameserver(a: .address([192, 0, 2, 7]))
        #expect(try resolve([server]) == ["192.0.2.7"])
        // AAAA is not asked for if the link has no IPv6.
        #expect(server.questions == 1)
    }

    @Test func putsIPv4First() throws {
        let six: [UInt8] = [0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [9]
        let server = ScriptedNameserver(a: .address([192, 0, 2, 7]), aaaa: .address(six))
        #expect(try resolve([server], ipv6: true) == ["192.0.2.7", "2001:db8::9"])
        #expect(try resolve([ScriptedNameserver(a: .code(0), aaaa: .address(six))], ipv6: true) == ["2001:db8::9"])
    }

    @Test func doesNotWaitForUnansweredAAAA() throws {
        let began = Instant.now
        #expect(try resolve([ScriptedNameserver(a: .address([192, 0, 2, 7]), aaaa: .silence)], ipv6: true) == ["192.0.2.7"])
        // An unanswered question is repeated after 800 ms and given up after 5 s.
        #expect(began.millisecondsAgo < 4000)
    }

    @Test func oneWorkingServerIsEnough() throws {
        let good = ScriptedNameserver(a: .address([192, 0, 2, 7]))
        #expect(try resolve([ScriptedNameserver(a: .code(2)), good]) == ["192.0.2.7"])
        #expect(try resolve([ScriptedNameserver(a: .silence), good]) == ["192.0.2.7"])
    }

    @Test func reportsFailures() {
        #expect(failure(ScriptedNameserver(a: .code(3))) == .dnsFailed)
        #expect(failure(ScriptedNameserver(a: .garbage)) == .dnsFailed)
        #expect(failure(ScriptedNameserver(a: .code(0))) == .dnsFailed)
        let server = ScriptedNameserver(a: .address([192, 0, 2, 7]))
        #expect(failure(server, interface: "no-such-link0") == .bindFailed)
        #expect(server.questions == 0)
    }

    @Test(arguments: ["", "portal", "127.0.0.1,evil", "127.0.0.1:x", "127.0.0.1:99999", "::g"])
    func refusesInvalidServers(_ text: String) {
        #expect(throws: TransferError(.noNameserver)) {
            try Resolver(link: loopback(nameservers: [text])).addresses(of: "portal.test", in: Scope())
        }
    }

    /// An answer is kept for the association; another association asks again.
    @Test func keepsAnswersForTheAssociation() throws {
        let server = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let link = loopback(nameservers: ["127.0.0.1:\(server.port)"])
        let pins = NamePins()
        for _ in 0..<3 { _ = try pins.addresses(of: "portal.test", link: link, in: Scope()) }
        #expect(server.questions == 1)
        pins.forget("portal.test", link: link)
        _ = try pins.addresses(of: "portal.test", link: link, in: Scope())
        #expect(server.questions == 2)
        var other = link
        other.association += "x"
        _ = try pins.addresses(of: "portal.test", link: other, in: Scope())
        #expect(server.questions == 3)
    }

    @Test func connectsByName() throws {
        let server = ScriptedServer(["/": http(200, "here")])
        let names = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let client = HTTPClient(link: loopback(nameservers: ["127.0.0.1:\(names.port)"]), policy: .testing())
        let response = try client.send(HTTPRequest(WebURL("http://portal.test:\(server.port)/")!), in: Scope())
        #expect(response.body == octets("here"))
        #expect(server.requests[0].header("host") == "portal.test:\(server.port)")
    }

    @Test func answersOfLoopbackAreRefused() throws {
        let server = ScriptedServer(["/": http(200, "here")])
        let names = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let client = HTTPClient(link: loopback(nameservers: ["127.0.0.1:\(names.port)"]), policy: .field)
        #expect {
            try client.send(HTTPRequest(WebURL("http://portal.test:\(server.port)/")!), in: Scope())
        } throws: {
            ($0 as? TransferError)?.code == .refusedAddress
        }
        #expect(server.requests.isEmpty)
    }
}
