import HotspotCore
import Testing

@testable import ControlAPI
@testable import Notifications

/// From the companion service's status to notifications.
@Suite struct NearbyNoticesTests {
    private static let peer = PeerStatus(name: "Anna's “laptop\u{1B}", id: String(repeating: "0a", count: 32))
    private static let start = Instant(nanoseconds: 0)

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

    /// The notification names the network and the portal. A click on the notification itself accepts nothing.
    @Test func anOfferNamesItsNetworkAndPortal() {
        var notices = NearbyNotices()
        let notice = Notice(
            kind: .offer, title: "Hotel <b>",
            body: #"“Anna's laptop\x1b” offers a login for this network and the portal https://portal.lindenhof.example."#,
            command: "hotspotctl companion accept", actions: [.accept])
        #expect(notices.turn(Self.status([Self.offer()])) == [.show(notice, of: .offer("o1"))])
        #expect(!Action.accept.isDefault && Action.allCases.filter { !$0.isDefault } == [.accept])
        #expect(notices.turn(Self.status([Self.offer()])).isEmpty)
        #expect(Action.accept.words(.offer("o1")) == ["hotspotctl", "companion", "accept", "--dialog", "--offer=o1"])
    }

    @Test func anOfferForAnotherPlaceWaitsUntilItFits() {
        var notices = NearbyNotices()
        #expect(notices.turn(Self.status([Self.offer(fits: false)])).isEmpty)
        #expect(notices.turn(Self.status([Self.offer()])).count == 1)
        #expect(notices.turn(Self.status([Self.offer(fits: false)])) == [.close(.offer("o1"))])
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
        #expect(notices.turn(Self.status([], [question])) == [.show(notice, of: .question("p1", of: Self.peer.id))])
        #expect(
            Action.answer.words(.question("p1", of: Self.peer.id))
                == ["hotspotctl", "companion", "answer", "--dialog", "--question=p1", Self.peer.id])
    }

    @Test func whatIsGoneIsWithdrawn() {
        for gone in [Self.status(), nil] {
            var notices = NearbyNotices()
            _ = notices.turn(Self.status([Self.offer()], [Self.question()]))
            let orders = notices.turn(gone)
            #expect(orders.count == 2 && orders.contains(.close(.offer("o1"))))
            #expect(orders.contains(.close(.question("p1", of: Self.peer.id))))
            #expect(notices.turn(Self.status([Self.offer()])).count == 1, "it is back")
        }
    }

    // MARK: A service that was taken over

    /// Identifiers become words of a command line, which some terminals join into a shell command.
    @Test(arguments: ["-x", "--companion-socket=a", "", "a b", "a;b", "$a", "ö", String(repeating: "a", count: 65)])
    func anIdentifierThatIsNoWordIsNotShown(_ id: String) {
        var notices = NearbyNotices()
        #expect(notices.turn(Self.status([Self.offer(id)], [Self.question(id)])).isEmpty)
        for peer in [id, "--yes", Self.peer.id.uppercased(), "-" + Self.peer.id.dropFirst()] {
            var (offer, question) = (Self.offer(), Self.question())
            (offer.peer.id, question.peer.id) = (peer, peer)
            #expect(notices.turn(Self.status([offer], [question])).isEmpty, "\(peer)")
        }
        #expect(notices.turn(Self.status([Self.offer("A-b_9")], [Self.question("0")])).count == 2)
    }

    @Test func onlySomeAreShownAtATimeAndWithinAMinute() {
        var notices = NearbyNotices()
        let first = notices.turn(Self.status((0..<100).map { Self.offer("a\($0)") }, (0..<100).map { Self.question("q\($0)") }))
        #expect(first.count == NearbyNotices.limit)
        #expect(notices.turn(after: 60).isEmpty && notices.next == nil)
        // Other offers take their places.
        _ = notices.turn(Self.status((0..<100).map { Self.offer("b\($0)") }), after: 61)
        let others = Self.status([Self.offer("c1")])
        #expect(notices.turn(others, after: 120).filter(\.shows).isEmpty)
        #expect(notices.next == Self.start + .seconds(121))
        #expect(notices.turn(others, after: 121) == [.show(Self.shown(first), of: .offer("c1"))])
        #expect(notices.next == nil)
    }

    @Test func aChangedQuestionIsShownOnceAMinute() {
        var notices = NearbyNotices()
        #expect(notices.turn(Self.status([], [Self.question()])).count == 1)
        for second in 1..<60 {
            let question = Self.question(ssid: "Hotel \(second)")
            #expect(notices.turn(Self.status([], [question]), after: second).isEmpty)
        }
        guard case .show(let notice, _)? = notices.turn(after: 60).first else {
            Issue.record("not shown")
            return
        }
        #expect(notice.title == "Hotel 59")
    }

    // MARK: A program that a click started

    @Test func anOpenDialogIsNotAskedOver() {
        var notices = NearbyNotices()
        let subject = Subject.question("p1", of: Self.peer.id)
        _ = notices.turn(Self.status([], [Self.question()]))
        notices.opened(for: subject)
        #expect(notices.turn(Self.status([], [Self.question(terms: "New")])).isEmpty)
        // The dialog was closed without an answer, so the question still waits.
        notices.closed(for: subject, hasAnswered: false, problem: nil, at: Self.start)
        #expect(notices.turn().count == 1)
    }

    /// A terminal that returns at once looks like success, but the offer still waits.
    @Test func whatStillWaitsAfterItsProgramIsShownAgain() {
        var notices = NearbyNotices()
        _ = notices.turn(Self.status([Self.offer()]))
        notices.opened(for: .offer("o1"))
        notices.closed(for: .offer("o1"), hasAnswered: true, problem: nil, at: Self.start)
        #expect(notices.turn(after: 59).isEmpty && notices.next == Self.start + .seconds(60))
        #expect(notices.turn(after: 60).count == 1)
        // The program did its work: the offer is gone.
        notices.opened(for: .offer("o1"))
        notices.closed(for: .offer("o1"), hasAnswered: true, problem: nil, at: Self.start + .seconds(60))
        #expect(notices.turn(Self.status(), after: 120).isEmpty && notices.next == nil)
    }

    @Test func aFailureIsShownWithOrWithoutItsOffer() {
        var notices = NearbyNotices()
        _ = notices.turn(Self.status([Self.offer()]))
        notices.opened(for: .offer("o1"))
        notices.closed(for: .offer("o1"), hasAnswered: false, problem: "No PIN.", at: Self.start)
        let again = notices.turn()
        guard case .show(let notice, of: .offer("o1"))? = again.first else {
            Issue.record("\(again)")
            return
        }
        #expect(notice.body.hasPrefix("No PIN.\n“Anna") && notice.actions == [.accept])
        notices.opened(for: .offer("o1"))
        #expect(notices.turn(Self.status()).isEmpty)
        let failed = Notice(kind: .failed, title: "Laptops nearby", body: "Not stored.")
        notices.closed(for: .offer("o1"), hasAnswered: false, problem: "Not stored.", at: Self.start)
        #expect(notices.turn() == [.show(failed, of: .offer("o1"))] && notices.turn().isEmpty)
    }

    private static func shown(_ orders: [Notices.Order]) -> Notice {
        guard case .show(let notice, _)? = orders.first else { return Notice(kind: .failed, title: "", body: "") }
        return notice
    }
}

extension NearbyNotices {
    /// Takes in a status, if there is one, and returns the orders at some seconds after the start.
    fileprivate mutating func turn(_ status: CompanionStatus?, after seconds: Int = 0) -> [Notices.Order] {
        update(status)
        return turn(after: seconds)
    }

    fileprivate mutating func turn(after seconds: Int = 0) -> [Notices.Order] {
        orders(at: Instant(nanoseconds: 0) + .seconds(seconds))
    }
}

extension Notices.Order {
    fileprivate var shows: Bool { if case .show = self { true } else { false } }
}
