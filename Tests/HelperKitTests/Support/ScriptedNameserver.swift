import Glibc
import HotspotCore

@testable import BoundHTTP
@testable import HelperKit

/// A nameserver on loopback with one answer to A and one to AAAA.
final class ScriptedNameserver: Sendable {
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
