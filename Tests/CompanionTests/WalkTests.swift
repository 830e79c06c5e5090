import Answers
import HotspotCore
import TestSupport
import Testing

@testable import Companion

/// Random events on three laptops, and the invariants that always hold.
@Suite struct WalkTests {
    /// The acts and the knowledge of the users and daemons.
    private struct Truth {
        /// Questions that wait, by asker's name and ID.
        var waiting: Set<String> = []
        var asked: Set<String> = []
        /// Answers that a user typed, and offers that a user made.
        var typed: Set<String> = []
        var made: Set<Offer> = []
        var place: [String: Place] = [:]
        /// The last offer that the user accepted.
        var accepted: (laptop: String, id: String)?
    }

    private static let places = [
        Sample.place, Place(network: .wireless(SSID(printable: "Other")!, .open), portal: Sample.portal),
        Place(network: Sample.network, portal: Portal(origin: "http://10.0.0.1", kind: "form")),
    ]

    @Test(arguments: 1...12) func walk(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        let laptops = [try Laptop("one"), try Laptop("two"), try Laptop("three")]
        let air = Air(laptops[0], laptops[1], laptops[2], mtu: [23, 185, 517][Int(seed) % 3], seed: seed)
        air.faults = Air.Faults(lost: 10, doubled: 10, swapped: 10, controlLost: 2, l2capBroken: 20, l2capLost: 5, broken: 2)
        air.l2cap = [.none, .works, .fails, .hangs][Int(seed) % 4]
        var truth = Truth()
        for index in 0..<300 {
            let laptop = laptops.randomElement(using: &numbers)!
            let peer = laptops.randomElement(using: &numbers)!
            let start = laptop.log.count
            if let event = event(index, laptop, peer, &numbers, &truth) { air.apply(event, to: laptop) }
            check(laptop, from: start, truth)
            truth.accepted = nil
            let logged = laptops.map(\.log.count)
            air.connections = 3
            for _ in 0..<Int.random(in: 0...60, using: &numbers) where !air.step() { break }
            if Int.random(in: 0..<10, using: &numbers) == 0 { try air.wait(.seconds(Int.random(in: 1...200, using: &numbers))) }
            for (laptop, start) in zip(laptops, logged) { check(laptop, from: start, truth) }
            truth.waiting = Set(laptops.flatMap { laptop in laptop.companion.questions.map { laptop.name + $0.id } })
        }
        try settle(laptops, air)
    }

    private func event(
        _ index: Int, _ laptop: Laptop, _ peer: Laptop, _ numbers: inout SeededNumbers, _ truth: inout Truth
    ) -> Companion.Event? {
        switch Int.random(in: 0..<16, using: &numbers) {
        case 0, 1: return .pairingBegan
        case 2, 3: return .codeEntered(peer.code ?? SecretText("12345678"))
        case 4: return Int.random(in: 0..<4, using: &numbers) == 0 ? .forgotten(peer.id) : .pairingCancelled
        case 5: return .listeningChanged(Int.random(in: 0..<4, using: &numbers) > 0)
        case 6: return .offerAwaited(Int.random(in: 0..<4, using: &numbers) > 0)
        case 7, 8:
            let question = Sample.question("q\(index)")
            truth.asked.insert(question.id)
            truth.waiting.insert(laptop.name + question.id)
            return .questionAsked(question)
        case 9: return laptop.companion.questions.first.map { .questionWithdrawn(id: $0.id) }
        case 10, 11:
            guard let shown = laptop.companion.shown[peer.id]?.last else { return nil }
            truth.typed.insert("a\(index)")
            return .questionAnswered(id: shown.id, of: peer.id, ["room": SecretText("a\(index)")])
        case 12:
            let offer = Sample.offer("o\(index)", file: [0, 4000, 20_000].randomElement(using: &numbers)!, seconds: 600)
            truth.made.insert(offer)
            return .offerMade(offer, to: peer.id)
        case 13:
            truth.place[laptop.name] = Self.places.randomElement(using: &numbers)
            return .placeChanged(truth.place[laptop.name])
        default:
            guard let offer = laptop.companion.received.last else { return nil }
            let isAccepted = Bool.random(using: &numbers)
            if isAccepted { truth.accepted = (laptop.name, offer.offer.id) }
            return .offerDecided(offer.offer, of: offer.peer, isAccepted: isAccepted)
        }
    }

    /// Checks the laptop's actions from this index of its log.
    private func check(_ laptop: Laptop, from start: Int, _ truth: Truth) {
        for action in laptop.log[start...] {
            switch action {
            case .storeOffer(let offer, _):
                #expect(truth.made.contains(offer))
                #expect(truth.accepted.map { $0 == (laptop.name, offer.id) } == true, "the user said yes")
                #expect(truth.place[laptop.name] == Sample.place, "and is at the same portal")
            case .answerPrompt(let id, let values, let peer):
                #expect(truth.waiting.contains(laptop.name + id) && truth.typed.contains(values["room"]?.text ?? ""))
                #expect(laptop.companion.peers.contains { $0.id == peer })
            case .showQuestion(let question, _): #expect(truth.asked.contains(question.id))
            case .showOffer(let offer, _): #expect(truth.made.contains(offer))
            case .send, .close, .wantL2CAP, .logL2CAP, .advertise, .scan, .setTimer, .showCode, .storePeer, .removePeer,
                .hideQuestion,
                .hideOffer,
                .notify:
                break
            }
        }
        for link in laptop.companion.links.values {
            #expect(link.queue.count <= PeerLink.queueLimit && link.outbox.count <= PeerLink.outboxLimit)
        }
        #expect(laptop.companion.shown.values.allSatisfy { $0.count <= Companion.questionLimit })
        #expect(laptop.companion.suspended.keys.allSatisfy { id in laptop.companion.peers.contains { $0.id == id } })
    }

    /// Once no chunk is lost any longer, all waiting messages arrive.
    private func settle(_ laptops: [Laptop], _ air: Air) throws {
        air.faults = .init()
        for laptop in laptops {
            for peer in laptop.companion.peers { air.apply(.forgotten(peer.id), to: laptop) }
            for question in laptop.companion.questions { air.apply(.questionWithdrawn(id: question.id), to: laptop) }
        }
        air.breakLinks()
        try air.wait(.seconds(700))
        let (one, two) = (laptops[0], laptops[1])
        air.connections = 20
        try air.pair(one, two)
        air.connections = 20
        try air.tell(two, .listeningChanged(true))
        try air.tell(one, .questionAsked(Sample.question("last")))
        try air.wait(.seconds(30))
        #expect(two.shownQuestions.last?.id == "last")
        try air.tell(two, .questionAnswered(id: "last", of: one.id, ["room": SecretText("7")]))
        #expect(one.answers.last == ["room": "7"])
    }
}
