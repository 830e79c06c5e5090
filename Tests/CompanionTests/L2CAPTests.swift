import HotspotCore
import Testing

@testable import Companion

/// Long messages go over an L2CAP channel if both laptops have one, and over GATT whatever happens to it.
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
    }

    @Test func aLaptopThatOffersNoneIsNotAsked() throws {
        let (air, giver, taker) = try laptops(.none)
        try air.tell(giver, .offerMade(Sample.offer(file: 20_000), to: taker.id))
        #expect(taker.shownOffers.count == 1 && air.l2capOpenings == 0)
    }

    /// The laptop that connected opens the channel, and the other one has the first long message.
    @Test func theOtherSideMaySendFirst() throws {
        let (air, giver, taker) = try laptops(.works)
        try air.tell(taker, .questionAsked(Sample.question()))
        try air.tell(giver, .listeningChanged(true))
        #expect(air.l2capOpenings == 1 && air.l2capOctets == 0)
        try air.tell(taker, .offerMade(Sample.offer(file: 20_000), to: giver.id))
        #expect(giver.shownOffers.count == 1 && air.l2capOctets > 20_000 && air.bulkOctets == 0)
    }

    /// A stranger has a link, and no channel.
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
        // The kernel reports the channel at last: it is not wanted.
        giver.log = []
        try air.tell(giver, .l2capOpened(air.linkIDs[0]))
        #expect(giver.log == [.wantL2CAP(air.linkIDs[0], false)])
        try air.tell(giver, .offerMade(Sample.offer("o2", file: 20_000), to: taker.id))
        #expect(taker.shownOffers.count == 2 && air.l2capOpenings == 1)
    }

    /// The rest goes over GATT: nothing is lost, and only the window is sent again.
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

    /// The chunks go elsewhere without an error: the silence ends the channel.
    @Test func aSilentChannelEndsAfterFiveSeconds() throws {
        let (air, giver, taker) = try laptops(.works)
        air.faults.l2capLost = 1000
        try air.tell(giver, .offerMade(Sample.offer(file: 20_000), to: taker.id))
        #expect(air.l2capOctets == Frame.window * 500 && air.bulkOctets == 0)
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

    /// A peer is paired, but may open channels and send chunks as it likes.
    @Test func aStrangerGetsNoMemory() throws {
        let laptop = try Laptop("laptop")
        let id = PeerLinkID(1)
        _ = laptop.handle(.linkOpened(id, .peripheral, mtu: 517), at: Instant(nanoseconds: 1))
        _ = laptop.handle(.l2capOpened(id), at: Instant(nanoseconds: 1))
        let actions = laptop.handle(.chunkReceived(id, .l2cap, [0x80, 1, 2, 3]), at: Instant(nanoseconds: 1))
        #expect(actions.isEmpty && laptop.companion.links[id]?.receiver == BulkReceiver())
    }
}
