import HotspotCore
import Testing

@testable import HelperKit

/// The moves of a login, without a network.
@Suite struct FormAttemptTests {
    private let live = Portal(origin: "https://portal.test", pin: "key", kind: "form", title: "Inn")
    private let form = "<form method=post><input name=room value=9><input type=submit></form>"

    private func attempt(_ answers: [String: String], at portal: Portal? = nil) -> FormAttempt {
        let command = HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(), portal: portal ?? live,
            answers: answers)
        return FormAttempt(command, at: live, agreed: [], mustAcceptTerms: false, isTypedNow: true)
    }

    /// Returns the move in words.
    private func move(_ attempt: inout FormAttempt, _ body: String) -> String {
        let url = WebURL("https://portal.test/page")!
        switch attempt.move(on: page(body, url: url.text), at: url) {
        case .submit(let filled, _): return "submit " + (filled.request.body ?? filled.request.url.text)
        case .ask(let prompt, let form, let reason):
            return "ask \(prompt.fields.map { "\($0.name)=\($0.value ?? "")" }) \(form == nil ? "" : "keeping ")\(reason ?? "")"
        case .done: return "done"
        case .end(let result, let reason): return "\(result.rawValue): \(reason)"
        }
    }

    @Test func aFormThatComesBackIsAskedAgain() {
        var attempt = attempt(["room": "9"])
        #expect(move(&attempt, form) == "submit room=9")
        #expect(move(&attempt, form) == #"ask ["room=9"] keeping "#)
        #expect(move(&attempt, "<p>You are now connected</p>" + form) == "done")
    }

    /// The page keeps its refused values where the user cannot change them, with a token that is new.
    @Test func aFormThatCannotBeAskedAgainIsHandedOver() {
        var attempt = attempt(["room": "9"])
        #expect(move(&attempt, form) == "submit room=9")
        let fixed = form.replacing("value=9", with: "value=9 readonly")
        #expect(move(&attempt, fixed + "<p class=error>Unknown</p>") == "ask [] Unknown")
    }

    @Test func answersAreForTheirPortalAlone() {
        var other = attempt(["room": "9"], at: Portal(origin: live.origin, pin: "another", kind: "form"))
        #expect(move(&other, form) == #"ask ["room=9"] "#)
        #expect(other.engine.answers.isEmpty)
    }

    @Test func aChangedKeyIsTheReason() {
        guard case .end(.temporaryFailure, let reason) = attempt([:]).fail(TransferError(.keyChanged)) else {
            return #expect(Bool(false))
        }
        #expect(reason.contains("nothing was sent"))
    }
}
