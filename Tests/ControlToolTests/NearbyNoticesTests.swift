import HotspotCore
import Testing

@testable import ControlAPI
@testable import Notifications

/// From the companion service's status to notifications.
@Suite struct NearbyNoticesTests {
    private static let peer = PeerStatus(name: "Anna's “laptop\u{1B}", id: "0a0a")

    private static func offer(_ id: String = "o1", fits: Bool = true) -> OfferStatus {
        OfferStatus(
            id: id, peer: peer, ssid: "Hotel <b>", portal: "https://portal.lindenhof.example", fields: ["room"], fits: fits,
            portalFile: nil, secondsRemaining: 60)
    }

    private static func question(_ id: String = "p1", ssid: String? = "Hotel <b>", terms: String? = nil) -> QuestionStatus {
        QuestionStatus(
            id: id, peer: peer, ssid: ssid, portal: ssid == nil ? nil : "http://10.0.0.1",
            hearsay: Prompt(
                title: "Pay now", message: "Click", fields: [Field(name: "room", label: "Ro\"om", kind: .text, required: true)],
                terms: terms))
    }

    private static func status(_ offers: [OfferStatus] = [], _ questions: [QuestionStatus] = []) -> CompanionStatus {
        CompanionStatus(
            state: "ready", message: nil, name: "Box", daemon: true, pairing: false, peers: [peer], questions: questions,
            offers: offers, made: [], notices: [])
    }

    /// The network and the portal stand in the notification, and the click on the notification itself accepts nothing.
    @Test func anOfferNamesItsNetworkAndPortal() {
        var notices = NearbyNotices()
        let notice = Notice(
            kind: .offer, title: "Hotel <b>",
            body: #"“Anna's laptop\x1b” offers a login for this network and the portal https://portal.lindenhof.example."#,
            command: "hotspotctl companion accept", actions: [.accept])
        #expect(notices.orders(for: Self.status([Self.offer()])) == [.show(notice, of: .offer("o1"))])
        #expect(!Action.accept.isDefault && Action.allCases.filter { !$0.isDefault } == [.accept])
        #expect(notices.orders(for: Self.status([Self.offer()])).isEmpty)
        #expect(Action.accept.words(.offer("o1")) == ["hotspotctl", "companion", "accept", "--dialog", "--yes", "--offer", "o1"])
    }

    @Test func anOfferForAnotherPlaceWaitsUntilItFits() {
        var notices = NearbyNotices()
        #expect(notices.orders(for: Self.status([Self.offer(fits: false)])).isEmpty)
        #expect(notices.orders(for: Self.status([Self.offer()])).count == 1)
        #expect(notices.orders(for: Self.status([Self.offer(fits: false)])) == [.close(.offer("o1"))])
    }

    @Test(
        arguments: [
            ("Hotel <b>", nil, #"“Anna's laptop\x1b” asks you for “Room” for the portal http://10.0.0.1."#),
            (nil, "Words", #"“Anna's laptop\x1b” asks you for “Room” and your consent."#),
        ] as [(String?, String?, String)])
    func aQuestionNamesItsFields(_ ssid: String?, _ terms: String?, _ body: String) {
        var notices = NearbyNotices()
        let notice = Notice(
            kind: .question, title: ssid ?? "Wired network", body: body, command: "hotspotctl companion answer",
            actions: [.answer])
        let question = Self.question(ssid: ssid, terms: terms)
        #expect(notices.orders(for: Self.status([], [question])) == [.show(notice, of: .question("p1", of: "0a0a"))])
        #expect(
            Action.answer.words(.question("p1", of: "0a0a"))
                == ["hotspotctl", "companion", "answer", "--dialog", "--question", "p1", "0a0a"])
    }

    @Test func whatIsGoneIsWithdrawn() {
        for gone in [Self.status(), nil] {
            var notices = NearbyNotices()
            _ = notices.orders(for: Self.status([Self.offer()], [Self.question()]))
            let orders = notices.orders(for: gone)
            #expect(orders.count == 2 && orders.contains(.close(.offer("o1"))))
            #expect(orders.contains(.close(.question("p1", of: "0a0a"))))
            #expect(notices.orders(for: Self.status([Self.offer()])).count == 1, "it is back")
        }
    }

    // MARK: A program that a click started

    @Test func anOpenDialogIsNotAskedOver() {
        var notices = NearbyNotices()
        let subject = Subject.question("p1", of: "0a0a")
        _ = notices.orders(for: Self.status([], [Self.question()]))
        notices.opened(for: subject)
        #expect(notices.orders(for: Self.status([], [Self.question(terms: "New")])).isEmpty)
        // The dialog was closed, and the question waits.
        #expect(notices.closed(for: subject, hasAnswered: false, problem: nil).count == 1)
        notices.opened(for: subject)
        #expect(notices.closed(for: subject, hasAnswered: true, problem: nil).isEmpty)
    }

    @Test func aFailureIsShownWithOrWithoutItsOffer() {
        var notices = NearbyNotices()
        _ = notices.orders(for: Self.status([Self.offer()]))
        notices.opened(for: .offer("o1"))
        let again = notices.closed(for: .offer("o1"), hasAnswered: false, problem: "No PIN.")
        guard case .show(let notice, of: .offer("o1"))? = again.first else {
            Issue.record("\(again)")
            return
        }
        #expect(notice.body.hasPrefix("No PIN.\n“Anna") && notice.actions == [.accept])
        notices.opened(for: .offer("o1"))
        #expect(notices.orders(for: Self.status()).isEmpty)
        let failed = Notice(kind: .failed, title: "Laptops nearby", body: "Not stored.")
        #expect(
            notices.closed(for: .offer("o1"), hasAnswered: false, problem: "Not stored.") == [.show(failed, of: .offer("o1"))])
    }
}
