import Answers
import HotspotCore
import Testing

@testable import Companion

/// Two laptops become peers by a code.
@Suite struct PairingTests {
    private let (one, two): (Laptop, Laptop)

    init() throws { (one, two) = (try Laptop("one"), try Laptop("two")) }

    @Test(arguments: [23, 185, 517]) func pair(mtu: Int) throws {
        let air = Air(one, two, mtu: mtu)
        try air.tell(one, .pairingBegan)
        #expect(one.advertises && !one.scans)
        let code = try #require(one.code)
        #expect(code.text.utf8.count == 8 && "\(code)" == "•••" && !"\(one.log)".contains(code.text))
        try air.tell(two, .codeEntered(code))
        #expect(one.companion.peers == [two.peer] && two.companion.peers == [one.peer])
        #expect(one.log.contains(.storePeer(two.peer)) && two.log.contains(.storePeer(one.peer)))
        #expect(!one.advertises && !two.scans)
        #expect(one.companion.links.values.first?.session?.isProven == true)
        #expect(one.companion.links.values.first?.session?.key == two.companion.links.values.first?.session?.key)
    }

    /// Commands accept names and identifiers, so a name must not look like an identifier.
    @Test func aNameThatLooksLikeAnIdentifierIsReplaced() throws {
        let id = "\(two.id)"
        for text in [id, id.uppercased()] {
            #expect(Peer(id: one.id, name: text).name == "laptop")
            #expect(try Laptop(text).companion.name == "laptop")
        }
        for text in [String(id.dropLast()), String(id.dropLast()) + "g"] { #expect(Peer(id: one.id, name: text).name == text) }
    }

    @Test func threeWrongTriesEndTheCode() throws {
        let air = Air(one, two)
        try air.tell(one, .pairingBegan)
        let code = try #require(one.code)
        let wrong = SecretText(code.text == "00000000" ? "00000001" : "00000000")
        air.connections = 1
        for tries in 1...3 {
            #expect(one.advertises)
            air.connections = 1
            try air.tell(two, .codeEntered(wrong))
            #expect(one.notices.filter { $0 == .wrongCode }.count == tries && two.notices.contains(.wrongCode))
        }
        #expect(one.notices.last == .codeSpent && !one.advertises)
        air.connections = 1
        try air.tell(two, .codeEntered(code))
        #expect(one.companion.peers.isEmpty && two.companion.peers.isEmpty)
    }

    /// A false responder can try one code at each connection, so the code ends after three tries.
    @Test func anEnteredCodeEndsAfterThreeConnections() throws {
        let air = Air(one, two)
        try air.tell(one, .pairingBegan)
        let code = try #require(one.code)
        try air.tell(two, .codeEntered(SecretText(code.text == "00000000" ? "00000001" : "00000000")))
        #expect(two.notices.filter { $0 == .wrongCode }.count == 3 && two.notices.last == .codeSpent)
        #expect(!two.scans)
    }

    @Test func aCodeIsValidForTwoMinutes() throws {
        let air = Air(one, two)
        try air.tell(one, .pairingBegan)
        let code = try #require(one.code)
        try air.wait(.seconds(119))
        #expect(one.advertises)
        try air.wait(.seconds(1))
        #expect(!one.advertises && one.notices == [.codeExpired])
        air.connections = 1
        try air.tell(two, .codeEntered(code))
        #expect(two.companion.peers.isEmpty)
    }

    @Test(arguments: ["1234567", "123456789", "1234567x", "", "12 34-56 789", "１２３４５６７８"]) func codesOfAnotherForm(_ text: String)
        throws
    {
        let air = Air(one, two)
        try air.tell(one, .codeEntered(SecretText(text)))
        #expect(one.notices == [.codeInvalid] && !one.scans)
        try air.tell(one, .codeEntered(SecretText("1234 56-78")))
        #expect(one.scans)
    }

    @Test func cancelled() throws {
        let air = Air(one, two)
        try air.tell(one, .pairingBegan)
        try air.tell(one, .pairingCancelled)
        #expect(!one.advertises)
        try air.tell(two, .codeEntered(try #require(one.code)))
        #expect(two.companion.peers.isEmpty)
        try air.tell(two, .pairingCancelled)
        #expect(!two.scans)
    }

    @Test func nineAreTooMany() throws {
        let peers = (0..<9).map { Peer(id: PeerID(octets: [UInt8](repeating: $0, count: 32)), name: "\($0)") }
        let full = try Laptop("full", peers: peers)
        let air = Air(full, two)
        try air.tell(full, .pairingBegan)
        #expect(full.companion.peers.count == 8 && full.notices == [.peersFull] && full.code == nil)
    }

    /// Points that would give every code the same key.
    @Test func invalidSharesCountAsTries() throws {
        let air = Air(one, two)
        try air.tell(one, .pairingBegan)
        for number in 1...3 {
            let id = PeerLinkID(UInt64(number))
            air.apply(.linkOpened(id, .peripheral, mtu: 517), to: one)
            let hello = [ClearMessage.pairHello.rawValue] + [UInt8](repeating: 7, count: 16) + Array("x".utf8)
            let key = [ClearMessage.pairKey.rawValue] + [UInt8](repeating: 0, count: 32 + 48)
            var index: UInt8 = 0
            for data in [hello, key] {
                for chunk in Frame(key: .clear, data: data).chunks(limit: 500, first: index) {
                    air.apply(.chunkReceived(id, .control, chunk), to: one)
                    index += 1
                }
            }
        }
        #expect(one.notices == [.wrongCode, .wrongCode, .wrongCode, .codeSpent])
    }

    @Test func againReplacesTheName() throws {
        let air = Air(one, two)
        try air.pair(one, two)
        try air.pair(two, one)
        #expect(one.companion.peers == [two.peer] && two.companion.peers == [one.peer])
    }

    @Test func namesAreMadePrintable() throws {
        for (name, expected) in [
            ("a\u{202E}b\n", "a\\xe2\\x80\\xaeb\\x0a"), ("", "laptop"), (String(repeating: "x", count: 99), ""),
        ] {
            let companion = Companion(keys: try KeyPair(), name: name, peers: [])
            let made = companion.name
            #expect(Limits.isPrintable(made, Limits.name) && (expected.isEmpty || made == expected))
        }
    }
}
