import Answers
import HotspotCore
import Testing
import Vault

@testable import Companion

/// Keys over time, strangers, and peers that changed.
@Suite struct SessionTests {
    private let (asker, helper): (Laptop, Laptop)
    private let air: Air

    init() throws {
        (asker, helper) = (try Laptop("asker"), try Laptop("helper"))
        air = Air(asker, helper)
        try air.pair(asker, helper)
        try air.tell(helper, .listeningChanged(true))
        try air.tell(asker, .questionAsked(Sample.question()))
    }

    private func session(_ laptop: Laptop) throws -> LinkSession { try #require(laptop.companion.links.values.first?.session) }

    @Test func aNewKeyAfterTenMinutes() throws {
        let before = try session(asker).keyed
        try air.wait(.seconds(599))
        #expect(try session(asker).keyed == before)
        try air.wait(.seconds(2))
        for laptop in [asker, helper] { #expect(try session(laptop).keyed > before) }
        try air.tell(helper, .questionAnswered(id: "p1", of: asker.id, ["room": SecretText("1")]))
        #expect(asker.answers.count == 1)
    }

    @Test func aNewKeyAfterManyMessages() throws {
        let keyed = try session(asker).keyed
        try air.wait(.seconds(1))
        for number in 0..<1100 {
            try air.tell(asker, .questionWithdrawn(id: "q\(number - 1)"))
            try air.tell(asker, .questionAsked(Sample.question("q\(number)")))
        }
        #expect(try session(asker).keyed > keyed)
        #expect(helper.shownQuestions.last?.id == "q1099")
    }

    @Test func anotherSessionAfterAnHour() throws {
        let (key, links) = (try session(asker).key, air.linkIDs)
        try air.wait(.seconds(3599))
        #expect(try session(asker).key == key)
        try air.wait(.seconds(2))
        #expect(try session(asker).key != key && session(asker).key == session(helper).key && air.linkIDs == links)
        // The hellos of a peer over a whole day do not count as hellos of strangers.
        try air.wait(.seconds(24 * 3600))
        #expect(air.linkIDs == links)
        try air.tell(helper, .questionAnswered(id: "p1", of: asker.id, ["room": SecretText("1")]))
        #expect(asker.answers.count == 1)
    }

    /// The session ends during a bulk message, which then continues.
    @Test func anotherSessionWithinAMessage() throws {
        try air.wait(.seconds(3590))
        air.sendsAgain = true
        air.apply(.offerMade(Sample.offer(file: 20_000), to: helper.id), to: asker)
        while air.bulkOctets < 8_000 { try #require(air.step()) }
        let key = try session(asker).key
        air.apply(.placeChanged(nil), to: helper)
        try air.wait(.seconds(3))
        try air.wait(.seconds(20))
        #expect(try session(asker).key != key && helper.shownOffers.count == 1)
    }

    @Test func aPeripheralEndsASessionThatIsNotRenewed() throws {
        let id = try #require(air.linkIDs.first)
        // The central disappears without a message.
        let lonely = asker
        var now = air.now + .seconds(3600 + 299)
        _ = lonely.handle(.timerFired, at: now)
        #expect(lonely.companion.links[id] != nil)
        now = now + .seconds(2)
        #expect(lonely.handle(.timerFired, at: now).contains(.close(id)))
    }

    @Test func aPeerThatChangedItsKeyIsUnknown() throws {
        air.breakLinks()
        let changed = try Laptop("asker", peers: [helper.peer])
        let air = Air(changed, helper)
        air.connections = 1
        helper.log = []
        try air.tell(changed, .questionAsked(Sample.question()))
        #expect(helper.notices == [.unknownPeer(asker.peer)])
        #expect(Companion.Notice.unknownPeer(asker.peer).message == "\"asker\" is no longer paired. Pair again.")
        #expect(helper.shownQuestions.isEmpty && changed.companion.links.isEmpty)
        // The helper gets the message only once.
        air.connections = 2
        try air.calm()
        #expect(helper.notices.count == 1 && air.connections == 0)
        // Pairing again helps.
        try air.tell(changed, .pairingBegan)
        air.connections = 1
        try air.tell(helper, .codeEntered(try #require(changed.code)))
        #expect(helper.shownQuestions == [Sample.question()])
    }

    @Test func aForgottenPeerIsUnknown() throws {
        air.connections = 1
        helper.log = []
        try air.tell(asker, .forgotten(helper.id))
        #expect(asker.log.contains(.removePeer(helper.id)) && asker.companion.links.isEmpty && !asker.advertises)
        try air.tell(asker, .pairingBegan)
        #expect(helper.notices == [.unknownPeer(asker.peer)])
    }

    @Test func theRightOneOfSeveral() throws {
        let others = (0..<3).map { Peer(id: PeerID(octets: [9, 9, 9, 9] + [UInt8](repeating: $0, count: 28)), name: "\($0)") }
        let many = try Laptop("many", peers: others + [asker.peer])
        let air = Air(asker, many)
        try air.tell(asker, .questionWithdrawn(id: "p1"))
        asker.companion.peers = others + [many.peer]
        asker.companion.links = [:]
        try air.tell(many, .listeningChanged(true))
        try air.tell(asker, .questionAsked(Sample.question("p2")))
        #expect(many.shownQuestions.map(\.id) == ["p2"] && many.notices.isEmpty)
    }

    // MARK: Strangers

    /// Anyone may send this message, so it ends nothing.
    @Test func unknownPeerOfAStranger() throws {
        let id = try #require(air.linkIDs.first)
        let control = try #require(helper.companion.links[id]).control.number
        let chunks = Frame(key: .clear, data: [ClearMessage.unknownPeer.rawValue]).chunks(limit: 100, first: control)
        air.apply(.chunkReceived(id, .control, chunks[0]), to: helper)
        #expect(helper.companion.links[id]?.session != nil && helper.notices.last == .paired(asker.peer))
    }

    /// A stranger repeats a peer's first message; the peer's session does not end.
    @Test func anOldHello() throws {
        air.breakLinks()
        let recorded = try Laptop("helper")
        recorded.companion = Companion(keys: try KeyPair(), name: "helper", peers: [])
        // The hello of a connection, as it was on the air.
        var hello: [[UInt8]] = []
        air.connections = 0
        let id = PeerLinkID(70)
        for action in helper.handle(.linkOpened(id, .central, mtu: 517), at: air.now) {
            if case .send(_, .control, let chunk) = action { hello.append(chunk) }
        }
        _ = helper.handle(.linkClosed(id), at: air.now)
        air.connections = 1
        try air.calm()
        let session = try session(asker)
        let stranger = PeerLinkID(71)
        air.apply(.linkOpened(stranger, .peripheral, mtu: 517), to: asker)
        for chunk in hello { _ = asker.handle(.chunkReceived(stranger, .control, chunk), at: air.now) }
        #expect(asker.companion.links[stranger]?.session?.isProven == false)
        #expect(try #require(air.linkIDs.first.flatMap { asker.companion.links[$0]?.session }) === session)
        try air.tell(asker, .questionAsked(Sample.question("p2")))
        #expect(helper.shownQuestions.last?.id == "p2")
        try air.wait(.seconds(20))
        #expect(asker.companion.links[stranger] == nil)
    }

    @Test func strangersHaveTwentySeconds() throws {
        let alone = try Laptop("alone")
        for number in 1...5 {
            let actions = alone.handle(.linkOpened(PeerLinkID(UInt64(number)), .peripheral, mtu: 23), at: air.now)
            #expect(actions.contains(.close(PeerLinkID(5))) == (number == 5))
        }
        #expect(alone.companion.links.count == 4)
        let actions = alone.handle(.timerFired, at: air.now + .seconds(20))
        #expect(alone.companion.links.isEmpty && actions.count == 5, "four links are closed, and the timer stops")
    }

    @Test func strangersSayLittle() throws {
        let alone = try Laptop("alone")
        let id = PeerLinkID(1)
        _ = alone.handle(.linkOpened(id, .peripheral, mtu: 517), at: air.now)
        var replies = 0
        for number in 0..<40 {
            let hello = Frame(key: .clear, data: [ClearMessage.sessionHello.rawValue] + [UInt8](repeating: 3, count: 96))
            for chunk in hello.chunks(limit: 500, first: UInt8(number)) {
                replies += alone.handle(.chunkReceived(id, .control, chunk), at: air.now).count {
                    if case .send = $0 { true } else { false }
                }
            }
            replies += alone.handle(.chunkWritten(id), at: air.now).count { if case .send = $0 { true } else { false } }
        }
        #expect(replies == PeerLink.clearLimit && alone.companion.links.isEmpty)
    }

    /// Before a session, bulk chunks are not kept.
    @Test func strangersHaveNoBulk() throws {
        let alone = try Laptop("alone")
        let id = PeerLinkID(1)
        _ = alone.handle(.linkOpened(id, .peripheral, mtu: 517), at: air.now)
        for number in 0..<200 {
            _ = alone.handle(.chunkReceived(id, .bulk, [UInt8(number % 64)] + [UInt8](repeating: 1, count: 400)), at: air.now)
        }
        #expect(alone.companion.links[id]?.receiver.reader.octets == [])
    }
}
