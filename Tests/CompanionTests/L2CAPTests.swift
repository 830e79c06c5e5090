import HotspotCore
import Testing

@testable import Companion

/// Long messages go over an L2CAP channel if both laptops have one. If the channel fails, GATT carries them.
@Suite struct L2CAPTests {
    /// Two paired laptops, of which one waits for an offer.
    private func laptops(_ l2cap: Air.L2CAP, mtu: Int = 517) throws -> (air: Air, giver: Laptop, taker: Laptop) {
        let (giver, taker) = (try Laptop("giver"), try Laptop("taker"))
        let air = Air(giver, taker, mtu: mtu)
        try air.pair(giver, taker)
        try air.tell(taker, .offerAwaited(true))
        air.l2cap = l2cap
        return (air, giver, taker)
    }

    /// An offer whose message has this number of octets.
    private func offer(_ id: String = "o1", octets: Int) throws -> Offer {
        var offer = Sample.offer(id)
        offer.portalFile = ""
        offer.portalFile = String(repeating: "x", count: octets - (try Message.offer(offer).encoded().count))
        #expect(try Message.offer(offer).encoded().count == octets)
        return offer
    }

    @Test(arguments: [16_384: false, 16_385: true], [23, 185, 517]) func aboveSixteenKibibytes(_ given: (Int, Bool), mtu: Int)
        throws
    {
        let (air, giver, taker) = try laptops(.works, mtu: mtu)
        let offer = try offer(octets: given.0)
        try air.tell(giver, .offerMade(offer, to: taker.id))
        #expect(taker.shownOffers == [offer])
        #expect((air.l2capOctets > 16_384) == given.1 && (air.bulkOctets == 0) == given.1)
        let opened = Companion.Action.logL2CAP(air.linkIDs[0], isOpen: true)
        for laptop in [giver, taker] { #expect(laptop.log.count { $0 == opened } == 1) }
    }

    @Test func aLaptopThatOffersNoneIsNotAsked() throws {
        let (air, giver, taker) = try laptops(.none)
        try air.tell(giver, .offerMade(Sample.offer(file: 20_000), to: taker.id))
        #expect(taker.shownOffers.count == 1 && air.l2capOpenings == 0)
    }

    /// The laptop that connected opens the channel; the other laptop sends the first long message.
    @Test func theOtherSideMaySendFirst() throws {
        let (air, giver, taker) = try laptops(.works)
        try air.tell(taker, .questionAsked(Sample.question()))
        try air.tell(giver, .listeningChanged(true))
        #expect(air.l2capOpenings == 1 && air.l2capOctets == 2 * CipherState.tagLength)
        try air.tell(taker, .offerMade(Sample.offer(file: 20_000), to: giver.id))
        #expect(giver.shownOffers.count == 1 && air.l2capOctets > 20_000 && air.bulkOctets == 0)
    }

    /// A stranger has a link, but gets no channel.
    @Test func theChannelNeedsASession() throws {
        let laptop = try Laptop("laptop", peers: [Peer(id: PeerID(octets: [UInt8](repeating: 9, count: 32)), name: "other")])
        _ = laptop.handle(.listeningChanged(true), at: Instant(nanoseconds: 1))
        for event in [Companion.Event.linkOpened(PeerLinkID(1), .central, mtu: 517), .l2capOffered(PeerLinkID(1))] {
            _ = laptop.handle(event, at: Instant(nanoseconds: 1))
        }
        #expect(laptop.companion.links.count == 1 && !laptop.log.contains(.wantL2CAP(PeerLinkID(1), true)))
    }

    @Test func theChannelStaysForBothSides() throws {
        let (air, giver, taker) = try laptops(.works)
        try air.tell(giver, .offerMade(Sample.offer(file: 20_000), to: taker.id))
        let first = air.l2capOctets
        try air.tell(giver, .offerAwaited(true))
        try air.tell(taker, .offerMade(Sample.offer("o2", file: 30_000), to: giver.id))
        #expect(giver.shownOffers.map(\.id) == ["o2"] && air.l2capOctets > first + 30_000)
        #expect(air.l2capOpenings == 1 && air.bulkOctets == 0)
    }

    @Test func aChannelThatFailsIsDoneWithout() throws {
        let (air, giver, taker) = try laptops(.fails)
        for id in ["o1", "o2"] { try air.tell(giver, .offerMade(Sample.offer(id, file: 20_000), to: taker.id)) }
        #expect(taker.shownOffers.map(\.id) == ["o1", "o2"] && air.l2capOctets == 0)
        #expect(air.l2capOpenings == 1, "once on a link")
    }

    @Test func openingEndsAfterFiveSeconds() throws {
        let (air, giver, taker) = try laptops(.hangs)
        try air.tell(giver, .offerMade(Sample.offer(file: 20_000), to: taker.id))
        #expect(air.bulkOctets == 0)
        try air.wait(.milliseconds(4_999))
        #expect(air.bulkOctets == 0 && taker.shownOffers.isEmpty)
        try air.wait(.milliseconds(1))
        #expect(taker.shownOffers.count == 1 && giver.log.contains(.wantL2CAP(air.linkIDs[0], false)))
        // The kernel reports the channel at last, but it is no longer wanted.
        giver.log = []
        try air.tell(giver, .l2capOpened(air.linkIDs[0]))
        #expect(giver.log == [.wantL2CAP(air.linkIDs[0], false)])
        try air.tell(giver, .offerMade(Sample.offer("o2", file: 20_000), to: taker.id))
        #expect(taker.shownOffers.count == 2 && air.l2capOpenings == 1)
    }

    /// The rest goes over GATT: no octet is lost, and only the window is sent again.
    @Test func aLostChannelGoesOnOverGATT() throws {
        let (air, giver, taker) = try laptops(.works)
        air.apply(.offerMade(Sample.offer(file: 20_000), to: taker.id), to: giver)
        while air.l2capOctets < 10_000 { try #require(air.step()) }
        air.endL2CAP(air.linkIDs[0])
        try air.calm()
        #expect(taker.shownOffers == [Sample.offer(file: 20_000)] && air.linkIDs == [PeerLinkID(2)])
        let whole = air.l2capOctets + air.bulkOctets
        #expect(air.bulkOctets > 5_000 && whole < 22_500 + Frame.window * 500, "\(whole)")
    }

    /// The chunks are lost without an error, so the silence ends the channel.
    @Test func aSilentChannelEndsAfterFiveSeconds() throws {
        let (air, giver, taker) = try laptops(.works)
        try air.tell(giver, .listeningChanged(true))
        air.faults.l2capLost = 1000
        try air.tell(giver, .offerMade(Sample.offer(file: 20_000), to: taker.id))
        #expect(air.l2capOctets == 2 * CipherState.tagLength + Frame.window * 500 && air.bulkOctets == 0)
        try air.wait(.milliseconds(4_999))
        #expect(taker.shownOffers.isEmpty)
        try air.wait(.milliseconds(1))
        #expect(taker.shownOffers.count == 1 && air.l2capLinks.isEmpty)
    }

    @Test func aLostLinkGoesOnOverAnotherChannel() throws {
        let (air, giver, taker) = try laptops(.works)
        air.apply(.offerMade(Sample.offer(file: 20_000), to: taker.id), to: giver)
        while air.l2capOctets < 10_000 { try #require(air.step()) }
        air.breakLinks()
        try air.calm()
        #expect(taker.shownOffers.count == 1 && air.l2capOpenings == 2 && air.bulkOctets == 0)
        #expect(air.l2capOctets < 22_500 + Frame.window * 500, "\(air.l2capOctets)")
    }

    // MARK: Other programs

    /// Any program of the other laptop may open the channel, or be at its other end.
    @Test(arguments: Role.allCases) func anotherProgramsPacketCostsTheChannelAlone(_ role: Role) throws {
        let (air, giver, taker) = try laptops(role == .central ? .hangs : .none)
        try air.tell(giver, .listeningChanged(true))
        let (laptop, other) = role == .central ? (giver, taker) : (taker, giver)
        let id = try #require(air.linkIDs.first)
        let proof = try #require(other.companion.links[id]?.session?.proofs.own)
        _ = laptop.handle(.l2capOpened(id), at: air.now)
        laptop.log = []
        _ = laptop.handle(.chunkReceived(id, .l2cap, [0xC0, 1, 2]), at: air.now)
        #expect(laptop.log.contains(.wantL2CAP(id, false)) && laptop.companion.links[id]?.l2cap == .over)
        // The link has had its channel: neither a second channel nor a late proof counts.
        for event in [Companion.Event.l2capOpened(id), .chunkReceived(id, .l2cap, proof), .l2capClosed(id)] {
            laptop.log = []
            _ = laptop.handle(event, at: air.now)
            #expect(laptop.log.allSatisfy { $0 == .wantL2CAP(id, false) } && laptop.companion.links[id]?.l2cap == .over)
        }
        try air.tell(laptop, .offerMade(Sample.offer(file: 20_000), to: other.id))
        #expect(other.shownOffers.count == 1 && air.linkIDs == [id] && air.l2capOctets == 0)
    }

    /// Our own proof that the peer sends back proves nothing: the two sides have different proofs.
    @Test func aProofThatComesBackIsNone() throws {
        let (air, giver, taker) = try laptops(.none)
        try air.tell(giver, .listeningChanged(true))
        let id = try #require(air.linkIDs.first)
        let proofs = try #require(taker.companion.links[id]?.session?.proofs)
        #expect(proofs.own.count == 16 && proofs.own != proofs.peer)
        #expect(try #require(giver.companion.links[id]?.session?.proofs) == (own: proofs.peer, peer: proofs.own))
        for event in [Companion.Event.l2capOpened(id), .chunkReceived(id, .l2cap, proofs.own)] {
            _ = taker.handle(event, at: air.now)
        }
        #expect(taker.companion.links[id]?.l2cap == .over)
    }

    @Test func anUnprovenChannelEndsAfterFiveSeconds() throws {
        let (air, giver, taker) = try laptops(.none)
        try air.tell(giver, .listeningChanged(true))
        try air.tell(taker, .l2capOpened(air.linkIDs[0]))
        try air.tell(taker, .offerMade(Sample.offer(file: 20_000), to: giver.id))
        try air.wait(.milliseconds(4_999))
        #expect(giver.shownOffers.isEmpty && air.bulkOctets == 0)
        try air.wait(.milliseconds(1))
        #expect(giver.shownOffers.count == 1 && taker.log.contains(.wantL2CAP(air.linkIDs[0], false)))
    }

    @Test func openingAndClosingRepeatsNothing() throws {
        let (air, giver, taker) = try laptops(.none)
        try air.tell(giver, .listeningChanged(true))
        let id = try #require(air.linkIDs.first)
        air.apply(.offerMade(Sample.offer(file: 20_000), to: giver.id), to: taker)
        while giver.shownOffers.isEmpty {
            for event in [Companion.Event.l2capOpened(id), .l2capClosed(id)] { air.apply(event, to: taker) }
            try #require(air.step() && air.bulkOctets < 22_500)
        }
        #expect(air.linkIDs == [id])
    }

    /// Even in a proven channel, the receiver then goes back to the last grant, and the rest comes over GATT. `nil`: the end of a frame
    /// with a wrong tag.
    @Test(arguments: [[], [UInt8](repeating: 1, count: 501), nil]) func aBadChunkCostsTheChannelAlone(_ bad: [UInt8]?) throws {
        let (air, giver, taker) = try laptops(.works)
        air.sendsAgain = true
        air.apply(.offerMade(Sample.offer(file: 20_000), to: taker.id), to: giver)
        while air.l2capOctets < 10_000 { try #require(air.step()) }
        let link = try #require(taker.companion.links[air.linkIDs[0]])
        air.apply(.chunkReceived(link.id, .l2cap, bad ?? [0x40 | link.receiver.reader.number, 7]), to: taker)
        #expect(link.l2cap == .over && giver.companion.links[link.id]?.l2cap == .over)
        try air.calm()
        #expect(taker.shownOffers == [Sample.offer(file: 20_000)] && air.linkIDs == [link.id] && air.bulkOctets > 5_000)
    }

    /// Anyone may open a link and a channel and send chunks; they take no memory.
    @Test func aStrangerGetsNoMemory() throws {
        let laptop = try Laptop("laptop")
        let id = PeerLinkID(1)
        _ = laptop.handle(.linkOpened(id, .peripheral, mtu: 517), at: Instant(nanoseconds: 1))
        _ = laptop.handle(.l2capOpened(id), at: Instant(nanoseconds: 1))
        _ = laptop.handle(.chunkReceived(id, .l2cap, [0x80, 1, 2, 3]), at: Instant(nanoseconds: 1))
        #expect(laptop.log.contains(.wantL2CAP(id, false)) && !laptop.log.contains { if case .send = $0 { true } else { false } })
        let actions = laptop.handle(.chunkReceived(id, .l2cap, [0x80, 1, 2, 3]), at: Instant(nanoseconds: 1))
        #expect(actions.isEmpty && laptop.companion.links[id]?.receiver == BulkReceiver())
    }
}
