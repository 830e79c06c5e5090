import Testing

@testable import BoundHTTP

/// Accepted and refused messages of a client to the proxy.
@Suite struct SocksHandshakeTests {
    private let greeting: [UInt8] = [5, 1, 0]

    private func request(_ address: [UInt8], command: UInt8 = 1, port: [UInt8] = [0, 80]) -> [UInt8] {
        [5, command, 0] + address + port
    }

    private func named(_ name: String) -> [UInt8] { [3, UInt8(name.utf8.count)] + Array(name.utf8) }

    /// The step after a good greeting.
    private func step(after octets: [UInt8]) -> SocksHandshake.Step {
        var handshake = SocksHandshake()
        handshake.add(greeting)
        #expect(handshake.next() == .answer([5, 0]))
        handshake.add(octets)
        return handshake.next()
    }

    @Test func readsEachKindOfAddress() {
        #expect(step(after: request([1, 192, 0, 2, 7])) == .connect(host: "192.0.2.7", port: 80))
        #expect(
            step(after: request(named("portal.example"), port: [0x1F, 0x90])) == .connect(host: "portal.example", port: 8080))
        let six: [UInt8] = [4, 0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
        #expect(step(after: request(six)) == .connect(host: "2001:db8::1", port: 80))
    }

    @Test func waitsForWhatIsMissing() {
        let whole = greeting + request(named("portal.example"))
        for length in 0..<whole.count {
            var handshake = SocksHandshake()
            handshake.add(whole[..<length])
            var next = handshake.next()
            if length >= greeting.count {
                #expect(next == .answer([5, 0]))
                next = handshake.next()
            }
            #expect(next == .wait, "\(length)")
            handshake.add(whole[length...])
            while case .answer = handshake.next() {}
            #expect(handshake.next() == .connect(host: "portal.example", port: 80), "\(length)")
        }
    }

    @Test func refusesWhatItDoesNotKnow() {
        let failed = SocksHandshake.Outcome.failed.reply
        var handshake = SocksHandshake()
        handshake.add([5, 2, 1, 2])
        #expect(handshake.next() == .refuse([5, 0xFF]), "only with authentication")
        for octets: [UInt8] in [[4, 1, 0, 80], Array("GET / HTTP/1.1\r\n\r\n".utf8), Array("CONNECT a:80".utf8)] {
            var handshake = SocksHandshake()
            handshake.add(octets)
            #expect(handshake.next() == .refuse([]), "\(octets)")
        }
        #expect(
            step(after: request([1, 192, 0, 2, 7], command: 2)) == .refuse(SocksHandshake.Outcome.unknownCommand.reply), "BIND")
        #expect(
            step(after: request([1, 192, 0, 2, 7], command: 3)) == .refuse(SocksHandshake.Outcome.unknownCommand.reply), "UDP")
        #expect(step(after: request([2, 1, 1, 1, 1])) == .refuse(SocksHandshake.Outcome.unknownAddressType.reply))
        #expect(step(after: [4] + request([1, 192, 0, 2, 7])) == .refuse([]), "another version")
        #expect(step(after: request([1, 192, 0, 2, 7], port: [0, 0])) == .refuse(failed), "port 0")
        #expect(step(after: request([3, 0])) == .refuse(failed), "no name")
        #expect(step(after: request([1, 192, 0, 2, 7]) + [71]) == .refuse(failed), "more than the request")
    }

    @Test func refusesNamesThatAreNone() {
        for name in ["a b", "a\0b", "portal.example\n", "a/b", "a@b", "ä", String(repeating: "a", count: 254)] {
            #expect(step(after: request(named(name))) == .refuse(SocksHandshake.Outcome.failed.reply), "\(name)")
        }
    }

    @Test func randomOctetsAreWaitedForOrRefused() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var handshake = SocksHandshake()
            for _ in 0..<8 {
                handshake.add(
                    (0..<Int.random(in: 0...120, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
                if case .connect(let host, let port) = handshake.next() {
                    #expect(!host.isEmpty && host.utf8.count <= 253 && (1...65535).contains(port))
                }
            }
        }
        var handshake = SocksHandshake()
        handshake.add(greeting)
        _ = handshake.next()
        handshake.add([UInt8](repeating: 5, count: SocksHandshake.limit + 1))
        guard case .refuse = handshake.next() else { return #expect(Bool(false), "it gathers without an end") }
    }
}
