import Answers
import HotspotCore
import Testing

@testable import Companion

/// One laptop answers the question of another laptop.
@Suite struct QuestionTests {
    private let (asker, helper, third): (Laptop, Laptop, Laptop)

    init() throws { (asker, helper, third) = (try Laptop("asker"), try Laptop("helper"), try Laptop("third")) }

    private let values = ["room": SecretText("214"), "name": SecretText("Brandt")]

    @Test(arguments: [23, 185, 517]) func answered(mtu: Int) throws {
        let air = Air(asker, helper, mtu: mtu)
        try air.pair(asker, helper)
        try air.tell(helper, .listeningChanged(true))
        #expect(helper.scans && !asker.advertises)
        try air.tell(asker, .questionAsked(Sample.question()))
        #expect(asker.advertises && helper.shownQuestions == [Sample.question()])
        try air.tell(helper, .questionAnswered(id: "p1", of: asker.id, values))
        #expect(asker.answers == [values.texts] && !asker.advertises)
        #expect(helper.log.contains(.hideQuestion(id: "p1", from: asker.id)))
        #expect(!"\(asker.log)\(helper.log)".contains("Brandt"))
    }

    @Test func theFirstAnswerCounts() throws {
        let air = Air(asker, helper, third)
        try air.pair(asker, helper)
        try air.pair(asker, third)
        for laptop in [helper, third] { try air.tell(laptop, .listeningChanged(true)) }
        try air.tell(asker, .questionAsked(Sample.question()))
        #expect(helper.shownQuestions.count == 1 && third.shownQuestions.count == 1)
        // Both laptops answer at once.
        air.apply(.questionAnswered(id: "p1", of: asker.id, values), to: helper)
        air.apply(.questionAnswered(id: "p1", of: asker.id, ["room": SecretText("1")]), to: third)
        try air.calm()
        #expect(asker.answers.count == 1)
        try air.tell(asker, .questionAsked(Sample.question("p2")))
        try air.tell(helper, .questionAnswered(id: "p2", of: asker.id, values))
        #expect(third.log.contains(.hideQuestion(id: "p2", from: asker.id)))
    }

    /// The other laptop's user answers a moment after the question was answered on the asking laptop.
    @Test func aLateAnswerIsDropped() throws {
        let air = Air(asker, helper)
        try air.pair(asker, helper)
        try air.tell(helper, .listeningChanged(true))
        for id in ["p1", "p2"] { try air.tell(asker, .questionAsked(Sample.question(id))) }
        air.apply(.questionAnswered(id: "p1", of: asker.id, values), to: helper)
        air.apply(.questionWithdrawn(id: "p1"), to: asker)
        try air.calm()
        #expect(asker.answers.isEmpty && asker.companion.questions.map(\.id) == ["p2"])
    }

    @Test func withdrawnWhileAway() throws {
        let air = Air(asker, helper)
        try air.pair(asker, helper)
        try air.tell(helper, .listeningChanged(true))
        try air.tell(asker, .questionAsked(Sample.question()))
        air.connections = 0
        air.breakLinks()
        try air.tell(helper, .questionAnswered(id: "p1", of: asker.id, values))
        #expect(helper.notices.last == .notConnected(asker.peer))
        try air.tell(asker, .questionWithdrawn(id: "p1"))
        #expect(!asker.advertises)
        air.connections = 1
        try air.tell(asker, .questionAsked(Sample.question("p2")))
        #expect(helper.log.contains(.hideQuestion(id: "p1", from: asker.id)))
        #expect(helper.shownQuestions.map(\.id) == ["p1", "p2"])
    }

    @Test func answersToOtherFieldsAreNotSent() throws {
        let air = Air(asker, helper)
        try air.pair(asker, helper)
        try air.tell(helper, .listeningChanged(true))
        try air.tell(asker, .questionAsked(Sample.question()))
        try air.tell(helper, .questionAnswered(id: "p1", of: asker.id, ["pin": SecretText("1")]))
        try air.tell(helper, .questionAnswered(id: "p1", of: asker.id, ["room": SecretText("a\u{1B}[2Jb")]))
        #expect(helper.notices.suffix(2) == [.notSent, .notSent] && asker.answers.isEmpty)
    }

    @Test func limits() throws {
        let air = Air(asker, helper)
        for number in 1...5 { try air.tell(asker, .questionAsked(Sample.question("p\(number)"))) }
        #expect(asker.companion.questions.count == 4 && asker.notices == [.notSent])
        #expect(!asker.advertises, "there is no peer")
        var secret = Sample.question()
        secret.hearsay.fields[0].kind = .password
        secret.hearsay.fields[0].value = "geheim"
        secret.hearsay.unsent = ["x"]
        #expect(secret.limited.hearsay.fields[0].value == nil && secret.limited.hearsay.unsent == nil)
    }
}
