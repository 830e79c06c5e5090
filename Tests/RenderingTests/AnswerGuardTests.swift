import BoundHTTP
import HotspotCore
import Testing

@testable import Rendering

/// Requests of a page while answers are typed and sent.
@Suite struct AnswerGuardTests {
    private func ruling(
        _ url: String, body: String? = nil, answers: [String] = ["Lovelace", "214"], isPage: Bool = false,
        mayLead: Bool = false, hasBody: Bool? = nil
    ) -> AnswerGuard.Ruling {
        var request: [String: JSONValue] = ["url": .string(url), "hasPostData": .bool(hasBody ?? (body != nil))]
        request["postData"] = body.map(JSONValue.string)
        let answerGuard = AnswerGuard(origin: "https://portal.test", answers: answers, mayLead: { _ in mayLead })
        return answerGuard.ruling(.object(request), isPage: isPage)
    }

    private func isRefused(_ ruling: AnswerGuard.Ruling) -> Bool { if case .refused = ruling { true } else { false } }

    @Test func answersGoHome() {
        #expect(ruling("https://portal.test/api", body: #"{"name":"Lovelace"}"#) == .sends)
        #expect(ruling("https://portal.test/api", body: "{}") == .other)
    }

    /// A page that checks a field when the user leaves it has not sent the form.
    @Test func aPartOfTheAnswersIsACheck() {
        let answers = ["Lovelace", "AB12CD"]
        #expect(ruling("https://portal.test/check", body: "code=AB12CD", answers: answers) == .checks)
        #expect(ruling("https://portal.test/in?name=Lovelace", body: "code=AB12CD", answers: answers) == .sends)
        #expect(isRefused(ruling("https://api.test/check", body: "code=AB12CD", answers: answers)))
    }

    /// Answers are held back in every spelling: as in an address, in a form or in JSON.
    @Test(arguments: ["name=Lovelace", "name=love%6cace", #"{"name": "Love-lace"}"#]) func answersAreHeldBack(_ body: String) {
        #expect(isRefused(ruling("https://api.test/in", body: body)))
        #expect(isRefused(ruling("https://api.test/in?\(body)")))
        #expect(ruling("https://api.test/in", body: body, mayLead: true) == .sends)
    }

    /// A browser also sends an address that is too long for hotspotd to follow.
    @Test func answersInALongAddressAreHeldBack() {
        let filling = String(repeating: "x", count: WebURL.limit)
        #expect(isRefused(ruling("https://api.test/in?name=Lovelace&more=\(filling)")))
        #expect(ruling("https://api.test/in?more=\(filling)") == .other)
    }

    @Test func othersPass() {
        #expect(ruling("https://fonts.test/a.woff") == .other)
        #expect(ruling("https://analytics.test/c?v=214&p=1", body: nil) == .other)
        #expect(ruling("data:text/plain,Lovelace") == .other)
        #expect(ruling("https://api.test/in", body: "name=Lovelace", answers: []) == .other)
    }

    /// Short answers may occur in any address by chance, so they count only together.
    @Test func shortAnswersCountTogether() {
        #expect(ruling("https://a.test/?r=214&s=li", answers: ["214", "Li"]) == .other)
        #expect(ruling("https://a.test/", body: "r=214", answers: ["214", "Li"]) == .other)
        #expect(isRefused(ruling("https://a.test/", body: "r=214&s=Li", answers: ["214", "Li"])))
    }

    @Test func whatAFormSendsUnreadMayBeAnything() {
        #expect(isRefused(ruling("https://a.test/", isPage: true, hasBody: true)))
        #expect(ruling("https://a.test/", isPage: false, hasBody: true) == .other)
    }
}
