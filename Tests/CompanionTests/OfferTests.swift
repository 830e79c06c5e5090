import Answers
import HotspotCore
import Testing

@testable import Companion

/// A login is handed over.
@Suite struct OfferTests {
    private let (giver, taker): (Laptop, Laptop)
    private let air: Air

    init() throws {
        (giver, taker) = (try Laptop("giver"), try Laptop("taker"))
        air = Air(giver, taker)
        try air.pair(giver, taker)
    }

    private func offer(_ offer: Offer = Sample.offer(), at place: Place? = Sample.place) throws {
        try air.tell(taker, .placeChanged(place))
        try air.tell(taker, .offerAwaited(true))
        #expect(taker.advertises)
        try air.tell(giver, .offerMade(offer, to: taker.id))
        #expect(taker.shownOffers.last == offer && taker.storedOffers.isEmpty, "the user is asked first")
    }

    @Test func taken() throws {
        try offer()
        try air.tell(taker, .offerDecided(Sample.offer(), of: giver.id, isAccepted: true))
        #expect(taker.storedOffers == [Sample.offer()] && giver.notices.last == .offerTaken(taker.peer))
        #expect(!giver.scans && !"\(taker.log)\(giver.log)".contains("Brandt"))
        try air.tell(taker, .offerDecided(Sample.offer(), of: giver.id, isAccepted: true))
        #expect(taker.storedOffers.count == 1)
    }

    @Test func takenIsSaidOnceTheOfferIsStored() throws {
        taker.stores = nil
        try offer()
        try air.tell(taker, .offerDecided(Sample.offer(), of: giver.id, isAccepted: true))
        // Meanwhile the giver connects again and repeats the offer.
        air.breakLinks()
        try air.calm()
        #expect(taker.storedOffers.count == 1 && taker.shownOffers.count == 1 && giver.notices.last == .paired(taker.peer))
        try air.tell(taker, .offerStored(id: "o1", of: giver.id, isStored: true))
        #expect(giver.notices.last == .offerTaken(taker.peer))
        try air.tell(taker, .offerStored(id: "o1", of: giver.id, isStored: false))
        #expect(giver.notices.last == .offerTaken(taker.peer))
    }

    @Test func theSenderHearsThatTheOfferCouldNotBeStored() throws {
        taker.stores = false
        try offer()
        try air.tell(taker, .offerDecided(Sample.offer(), of: giver.id, isAccepted: true))
        #expect(giver.notices.last == .offerRefused(taker.peer, .notStored) && giver.companion.made.isEmpty)
    }

    @Test func declined() throws {
        try offer()
        try air.tell(taker, .offerDecided(Sample.offer(), of: giver.id, isAccepted: false))
        #expect(taker.storedOffers.isEmpty && giver.notices.last == .offerRefused(taker.peer, .declined))
    }

    private static let others: [Place?] = {
        var (network, origin, key, noKey) = (Sample.place, Sample.place, Sample.place, Sample.place)
        network.network = .wireless(SSID(printable: "Cafe Aroma")!, .owe)
        origin.portal.origin = "https://portal.lindenhof.example:8443"
        (key.portal.pin, noKey.portal.pin) = ("other", nil)
        return [network, origin, key, noKey, nil]
    }()

    @Test(arguments: others) func onlyForTheSamePlace(_ place: Place?) throws {
        try offer(at: place)
        try air.tell(taker, .offerDecided(Sample.offer(), of: giver.id, isAccepted: true))
        #expect(taker.storedOffers.isEmpty && taker.notices.last == .otherPortal(giver.peer))
        #expect(giver.notices.last == .offerRefused(taker.peer, .otherPortal))
    }

    @Test func thePlaceCountsAtTheDecision() throws {
        try offer()
        try air.tell(taker, .placeChanged(nil))
        try air.tell(taker, .offerDecided(Sample.offer(), of: giver.id, isAccepted: true))
        #expect(taker.storedOffers.isEmpty)
    }

    @Test func anOfferEnds() throws {
        try offer(Sample.offer(seconds: 60))
        try air.wait(.seconds(60))
        #expect(taker.log.contains(.hideOffer(id: "o1", from: giver.id)) && giver.notices.last == .offerExpired(taker.peer))
        try air.tell(taker, .offerDecided(Sample.offer(seconds: 60), of: giver.id, isAccepted: true))
        #expect(taker.storedOffers.isEmpty)
    }

    @Test func aDecisionIsSaidAgain() throws {
        try offer()
        air.connections = 0
        air.breakLinks()
        try air.tell(taker, .offerDecided(Sample.offer(), of: giver.id, isAccepted: true))
        #expect(giver.notices.last == .paired(taker.peer))
        air.connections = 1
        try air.calm()
        #expect(giver.notices.last == .offerTaken(taker.peer) && taker.shownOffers.count == 1 && taker.storedOffers.count == 1)
    }

    @Test func cancelled() throws {
        try offer()
        try air.tell(giver, .offerCancelled(id: "o1"))
        #expect(taker.log.contains(.hideOffer(id: "o1", from: giver.id)))
        try air.tell(taker, .offerDecided(Sample.offer(), of: giver.id, isAccepted: true))
        #expect(taker.storedOffers.isEmpty)
    }

    @Test func theLaterOfTwoCounts() throws {
        try offer()
        try air.tell(giver, .offerMade(Sample.offer("o2"), to: taker.id))
        #expect(taker.log.contains(.hideOffer(id: "o1", from: giver.id)))
        try air.tell(taker, .offerDecided(Sample.offer(), of: giver.id, isAccepted: true))
        #expect(taker.storedOffers.isEmpty)
        try air.tell(taker, .offerDecided(Sample.offer("o2"), of: giver.id, isAccepted: true))
        #expect(taker.storedOffers.map(\.id) == ["o2"])
    }

    @Test func aYesIsForTheOfferThatWasShown() throws {
        try offer()
        var other = Sample.offer()
        other.answers = ["room": SecretText("215")]
        try air.tell(giver, .offerMade(other, to: taker.id))
        #expect(taker.shownOffers == [Sample.offer(), other])
        try air.tell(taker, .offerDecided(Sample.offer(), of: giver.id, isAccepted: true))
        #expect(taker.storedOffers.isEmpty && giver.notices.last != .offerTaken(taker.peer))
        try air.tell(taker, .offerDecided(other, of: giver.id, isAccepted: true))
        #expect(taker.storedOffers == [other])
    }

    @Test func offersThatAreNotSent() throws {
        var offers = [
            Sample.offer("a b"), Sample.offer(seconds: 0), Sample.offer(file: 40_000), Sample.offer(), Sample.offer(),
            Sample.offer(),
        ]
        offers[3].network = .anonymous
        offers[4].answers = [:]
        offers[5].portal.origin = "https://user@portal.example"
        for offer in offers {
            try air.tell(giver, .offerMade(offer, to: taker.id))
            #expect(giver.notices.last == .notSent && !giver.scans)
        }
        try air.tell(giver, .offerMade(Sample.offer(), to: giver.id))
        #expect(giver.notices.filter { $0 == .notSent }.count == 7)
    }
}
