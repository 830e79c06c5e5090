import HotspotCore
import Testing

@testable import Companion

/// Long messages over bad links.
@Suite struct TransferTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var mtu: Int
        var name: String
        var faults: Air.Faults
        var testDescription: String { "MTU \(mtu), \(name)" }
    }

    private static let cases = [23, 185, 517].flatMap { mtu in
        [
            Case(mtu: mtu, name: "good", faults: .init()),
            Case(mtu: mtu, name: "lost", faults: .init(lost: 30)),
            Case(mtu: mtu, name: "doubled", faults: .init(doubled: 100)),
            Case(mtu: mtu, name: "swapped", faults: .init(swapped: 100)),
            Case(mtu: mtu, name: "broken", faults: .init(broken: 4)),
            Case(mtu: mtu, name: "control lost", faults: .init(controlLost: 5)),
            Case(mtu: mtu, name: "all", faults: .init(lost: 20, doubled: 20, swapped: 20, controlLost: 2, broken: 2)),
        ]
    }

    @Test(arguments: cases) func aPortalFile(_ given: Case) throws {
        let (giver, taker) = (try Laptop("giver"), try Laptop("taker"))
        let air = Air(giver, taker, mtu: given.mtu, seed: UInt64(given.mtu))
        try air.pair(giver, taker)
        air.faults = given.faults
        air.connections = 10_000
        try air.tell(taker, .offerAwaited(true))
        let offer = Sample.offer(file: 20_000, seconds: 24 * 3600)
        try air.tell(giver, .offerMade(offer, to: taker.id))
        for _ in 0..<200 where taker.shownOffers.isEmpty { try air.wait(.seconds(6)) }
        #expect(taker.shownOffers == [offer])
        try air.tell(taker, .placeChanged(Sample.place))
        try air.tell(taker, .offerDecided(offer, of: giver.id, isAccepted: true))
        for _ in 0..<50 where giver.notices.last != .offerTaken(taker.peer) { try air.wait(.seconds(6)) }
        #expect(giver.notices.last == .offerTaken(taker.peer) && taker.storedOffers == [offer])
        let whole = try octets(of: offer, mtu: given.mtu)
        if given.name == "good" { #expect(air.bulkOctets == whole) }
        // A broken link costs only the chunks that were under way; the message continues.
        if given.name == "broken" {
            #expect(air.bulkOctets <= whole + (10_000 - air.connections) * Frame.window * min(given.mtu - 3, 500))
        }
    }

    /// The octets that an offer takes in chunks.
    private func octets(of offer: Offer, mtu: Int) throws -> Int {
        let count = try Message.offer(offer).encoded().count + Frame.headLength + CipherState.tagLength
        let limit = Frame.chunkLimit(mtu: mtu) - 1
        return count + (count + limit - 1) / limit
    }

    /// Two laptops whose link is lost in the middle of an offer.
    private func brokenOffer() throws -> (air: Air, giver: Laptop, taker: Laptop) {
        let (giver, taker) = (try Laptop("giver"), try Laptop("taker"))
        let air = Air(giver, taker, mtu: 185)
        try air.pair(giver, taker)
        try air.tell(taker, .offerAwaited(true))
        air.connections = 1
        air.apply(.offerMade(Sample.offer(file: 20_000), to: taker.id), to: giver)
        while air.bulkOctets < 10_000 { try #require(air.step()) }
        air.breakLinks()
        return (air, giver, taker)
    }

    @Test func aLostLinkGoesOnWhereItEnded() throws {
        let (air, giver, taker) = try brokenOffer()
        #expect(giver.companion.suspended.count == 1 && taker.companion.suspended.count == 1)
        let before = air.bulkOctets
        air.connections = 1
        try air.calm()
        #expect(taker.shownOffers.count == 1)
        // In addition to the rest, only the window is sent again.
        let whole = try octets(of: Sample.offer(file: 20_000), mtu: 185)
        #expect(air.bulkOctets <= whole + Frame.window * 182 && air.bulkOctets > before, "\(whole), \(before), \(air.bulkOctets)")
        #expect(giver.companion.suspended.isEmpty && taker.companion.suspended.isEmpty)
    }

    @Test func aHalfMessageIsForgotten() throws {
        let (air, giver, taker) = try brokenOffer()
        try air.wait(.seconds(600))
        #expect(giver.companion.suspended.isEmpty && taker.companion.suspended.isEmpty && taker.shownOffers.isEmpty)
        air.connections = 1
        try air.calm()
        #expect(taker.shownOffers.count == 1, "from the beginning")
    }

    /// A cancelled offer does not continue; the next offer begins at its start.
    @Test func aCancelledMessageDoesNotGoOn() throws {
        let (air, giver, taker) = try brokenOffer()
        try air.tell(giver, .offerCancelled(id: "o1"))
        try air.tell(giver, .offerMade(Sample.offer("o2", file: 3_000), to: taker.id))
        air.connections = 1
        try air.calm()
        #expect(taker.shownOffers.map(\.id) == ["o2"])
    }
}
