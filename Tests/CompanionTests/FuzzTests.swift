import Answers
import HotspotCore
import TestSupport
import Testing

@testable import Companion

/// Octets of attackers: nothing crashes, nothing grows without bound, and no altered message is accepted.
@Suite struct FuzzTests {
    /// Changes, drops or doubles some octets, or makes up all of them.
    static func mutated(_ octets: [UInt8], _ numbers: inout SeededNumbers) -> [UInt8] {
        var octets = octets
        for _ in 0..<Int.random(in: 1...4, using: &numbers) {
            let place = octets.isEmpty ? 0 : Int.random(in: 0..<octets.count, using: &numbers)
            switch Int.random(in: 0..<6, using: &numbers) {
            case 0 where !octets.isEmpty: octets[place] = UInt8.random(in: 0...255, using: &numbers)
            case 1 where !octets.isEmpty: octets[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
            case 2: octets.removeSubrange(place..<octets.count)
            case 3 where !octets.isEmpty: octets.remove(at: place)
            case 4: octets.insert(contentsOf: octets.prefix(40), at: place)
            default: octets.append(UInt8.random(in: 0...255, using: &numbers))
            }
        }
        return octets
    }

    private static let messages: [Message] = [
        .began(BulkPosition(key: .clear, message: 1, offset: 2, number: 3)), .granted(BulkPosition(key: .clear)), .idle,
        .question(Sample.question()), .answer(id: "p1", ["room": SecretText("214")]), .withdrawn(id: "p1"),
        .offer(Sample.offer(file: 300)), .taken(id: "o1"), .refused(id: "o1", .otherPortal),
    ]

    @Test func everyMessageIsReadBack() throws {
        for message in Self.messages { #expect(try Message.read(try message.encoded()) == message) }
        #expect(try Message.read([99, 1]) == nil)
    }

    @Test(arguments: 1...8) func messages(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        let whole = try Self.messages.map { message in try message.encoded() }
        for round in 0..<2000 {
            let octets = Self.mutated(whole[round % whole.count], &numbers)
            guard let message = try? Message.read(octets) else { continue }
            // Everything that is read is within the limits, and can be sent again.
            #expect(throws: Never.self) { _ = try Message.read(try message.encoded()) }
            if case .offer(let offer) = message { #expect(offer.isValid) }
            if case .question(let question) = message { #expect(question.isValid && question.limited == question) }
        }
    }

    @Test(arguments: 1...8) func chunks(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        var reader = ChunkReader(limit: 2000)
        let frame = Frame(key: KeyID(octets: [1, 2, 3, 4]), data: [UInt8](repeating: 5, count: 1500))
        for _ in 0..<300 {
            for chunk in frame.chunks(limit: 182, first: reader.number) {
                let sent = Bool.random(using: &numbers) ? chunk : Self.mutated(chunk, &numbers)
                _ = reader.read(sent)
                #expect(reader.octets.count <= 2000 && reader.number < 64)
            }
        }
    }

    /// Octets that are malformed in ways that mutations rarely find.
    @Test(
        arguments: [
            (17, #"{"id":"p","values":{"a":"\u001b[2J"}}"#), (17, #"{"id":"p","values":{"a":"b\u202ec"}}"#),
            (17, #"{"id":"p","values":{"":"b"}}"#),
            (17, #"{"id":"../p","values":{}}"#), (18, #"{"id":""}"#), (18, #"{"id":1}"#), (18, "[]"), (18, ""),
            (18, #"{"id":"p"}x"#),
            (21, #"{"id":"p","reason":"bored"}"#), (1, "0123456789ab"),
            (16, #"{"id":"p","hearsay":{"fields":[]},"network":"wifi:zz:open"}"#),
            (16, #"{"id":"p","hearsay":{"title":"t","fields":[]},"portal":{"origin":"https://a@b","kind":"form"}}"#),
            (
                19,
                #"{"id":"o","network":"wired:anonymous","portal":{"origin":"https://a","kind":"form"},"answers":{"a":"b"},"seconds":5}"#
            ),
            (
                19,
                #"{"id":"o","network":"wifi:61:open","portal":{"origin":"https://a","kind":"form"},"answers":{"a":"b"},"seconds":604801}"#
            ),
            (
                19,
                #"{"id":"o","network":"wifi:61:open","portal":{"origin":"https://a/b","kind":"form"},"answers":{"a":"b"},"seconds":5}"#
            ),
            (19, #"{"id":"o","network":"wifi:61:open","portal":{"origin":"https://a","kind":"form"},"answers":{},"seconds":5}"#),
            (
                19,
                #"{"id":"o","network":"wifi:61:open","portal":{"origin":"https://a","kind":"form"},"answers":{},"portalFile":"\u0000","seconds":5}"#
            ),
        ] as [(UInt8, String)])
    func refused(_ type: UInt8, _ body: String) {
        #expect(throws: CompanionError.malformed) { try Message.read([type] + Array(body.utf8)) }
    }

    @Test func limits() throws {
        let many = Dictionary(uniqueKeysWithValues: (0..<33).map { ("f\($0)", SecretText("x")) })
        #expect(throws: CompanionError.malformed) { try Message.read(try Message.answer(id: "p", many).encoded()) }
        let long = Message.answer(id: "p", ["a": SecretText(String(repeating: "x", count: Limits.value + 1))])
        #expect(throws: CompanionError.malformed) { try Message.read(try long.encoded()) }
        #expect(throws: CompanionError.tooLarge) {
            try Message.answer(id: "p", ["a": SecretText(String(repeating: "x", count: Message.limit))]).encoded()
        }
        var fields = Sample.question()
        fields.hearsay.fields = (0..<40).map { Field(name: "f\($0)", label: "l", kind: .text, required: true) }
        guard case .question(let read) = try Message.read(try Message.question(fields).encoded()) else {
            throw CompanionError.malformed
        }
        #expect(read.hearsay.fields.count == 32)
    }

    /// A compromised peer, or an attacker on the air, sends octets at any moment.
    @Test(arguments: 1...6) func companions(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        let (asker, helper) = (try Laptop("asker"), try Laptop("helper"))
        let air = Air(asker, helper, mtu: [23, 185, 517][Int(seed) % 3], seed: seed)
        try air.pair(asker, helper)
        air.connections = 1_000_000
        try air.tell(helper, .listeningChanged(true))
        try air.tell(asker, .questionAsked(Sample.question()))
        air.sendsAgain = true
        let words = (0..<3).map { Sample.question("w\($0)", words: "\($0)") }
        for round in 0..<400 {
            air.apply(.questionAsked(words[round % 3]), to: asker)
            air.apply(.offerMade(Sample.offer(file: 2000), to: helper.id), to: asker)
            for _ in 0..<Int.random(in: 1...30, using: &numbers) where !air.step() { break }
            guard let id = air.linkIDs.randomElement(using: &numbers) else { continue }
            let target = Bool.random(using: &numbers) ? asker : helper
            let number = target.companion.links[id]?.control.number ?? 0
            let sample = [ClearMessage.allCases.randomElement(using: &numbers)!.rawValue] + [UInt8](repeating: 7, count: 96)
            let key = Bool.random(using: &numbers) ? KeyID.clear : target.companion.links[id]?.session?.key ?? .clear
            for chunk in Frame(key: key, data: sample).chunks(limit: 500, first: number) {
                let octets = Bool.random(using: &numbers) ? chunk : Self.mutated(chunk, &numbers)
                air.apply(.chunkReceived(id, Bool.random(using: &numbers) ? .control : .bulk, octets), to: target)
            }
            for laptop in [asker, helper] {
                for link in laptop.companion.links.values {
                    #expect(link.queue.count <= PeerLink.queueLimit && link.outbox.count <= PeerLink.outboxLimit)
                    #expect(link.receiver.reader.octets.count <= Frame.dataLimit + Frame.headLength)
                }
                #expect(laptop.companion.suspended.count <= 1)
            }
        }
        // Only the asker's own questions and offers arrived.
        #expect(Set(helper.shownQuestions).isSubset(of: Set(words + [Sample.question()])))
        #expect(
            Set(helper.shownOffers).isSubset(of: [Sample.offer(file: 2000)]) && asker.shownOffers.isEmpty && asker.answers.isEmpty
        )
        try air.calm()
        #expect(helper.companion.shown[asker.id]?.map(\.id).sorted() == ["p1", "w0", "w1", "w2"])
    }
}
