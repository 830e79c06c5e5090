import HotspotCore
import Testing

@testable import HelperKit
@testable import PageLogin
@testable import PortalPages

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
        switch attempt.move(on: page(body, url: url.text), at: url).withoutBrowser {
        case .submit(let filled, _): return "submit " + (filled.request.body ?? filled.request.url.text)
        case .ask(let prompt, let form, let reason):
            return "ask \(prompt.fields.map { "\($0.name)=\($0.value ?? "")" }) \(form == nil ? "" : "keeping ")\(reason ?? "")"
        case .done: return "done"
        case .end(let result, let reason): return "\(result.rawValue): \(reason)"
        case .leave(let company): return "leave \(company.name)"
        case .request, .render, .probe: return "another move"
        }
    }

    @Test func aFormThatComesBackIsAskedAgain() {
        var attempt = attempt(["room": "9"])
        #expect(move(&attempt, form) == "submit room=9")
        #expect(move(&attempt, form) == #"ask ["room=9"] keeping "#)
        #expect(move(&attempt, "<p>You are now connected</p>" + form) == "done")
    }

    /// Both ways are filled in; the first is refused and the second accepted.
    @Test func whatWasRefusedBeforeTheOtherWayIsTold() {
        let room = "<form method=post action=/r><input name=room><button>Log in</button></form>"
        let code = "<form method=post action=/c><input name=code><button>Log in</button></form>"
        var attempt = attempt(["room": "9", "code": "v"])
        #expect(move(&attempt, room + code) == "submit room=9")
        #expect(attempt.unsent == ["code"] && attempt.refusedAnswers.isEmpty)
        #expect(move(&attempt, "<p class=error>No such room.</p>" + room + code) == "submit code=v")
        #expect(attempt.unsent.isEmpty && attempt.refusedAnswers == ["room"])
    }

    @Test func whatOnePortalWasSentIsNotOfferedAtAnother() {
        var attempt = attempt(["room": "9"])
        attempt.engine.answers.noteEarlier(["name": FormAnswers.Sent(label: "Surname", value: "Brandt")])
        #expect(move(&attempt, form) == "submit room=9")
        #expect(attempt.engine.answers.sent.mapValues(\.value) == ["room": "9", "name": "Brandt"])
        let chain = RedirectChain(response(200, form, url: "https://another.test/in"))
        #expect(attempt.arrive(chain, on: TypedPage(chain.page), kind: "form") == nil)
        #expect(attempt.engine.answers.sentEver.isEmpty)
    }

    /// The page keeps its refused values where the user cannot change them, with a fresh token.
    @Test func aFormThatCannotBeAskedAgainIsHandedOver() {
        var attempt = attempt(["room": "9"])
        #expect(move(&attempt, form) == "submit room=9")
        let fixed = form.replacing("value=9", with: "value=9 readonly")
        #expect(move(&attempt, fixed + "<p class=error>Unknown</p>") == "ask [] Unknown")
    }

    @Test func answersAreForTheirPortalAlone() {
        var other = attempt(["room": "9"], at: Portal(origin: live.origin, pin: "another", kind: "form"))
        #expect(move(&other, form) == #"ask ["room=9"] "#)
        #expect(other.engine.answers.values.isEmpty)
    }

    /// The page asks another question than the answered prompt.
    @Test func whatWasNotSentIsNamed() {
        let url = WebURL("https://portal.test/page")!
        func unsent(_ answers: [String: String], _ body: String, afterAnother: Bool = false) -> [String]? {
            var attempt = attempt(answers)
            if afterAnother { _ = move(&attempt, form) }
            guard case .ask(let prompt, _, _) = attempt.move(on: page(body, url: url.text), at: url) else { return ["no prompt"] }
            return prompt.unsent
        }
        let voucher = "<form method=post><input name=voucher><input type=submit></form>"
        #expect(unsent(["surname": "Brandt", "room": "9"], voucher) == ["room", "surname"])
        #expect(unsent(["voucher": ""], voucher) == nil)
        // The room was sent; the portal asks for more.
        #expect(unsent(["room": "9"], voucher, afterAnother: true) == nil)
    }

    @Test func aStoredAnswerGoesToAFieldOfItsLabelAlone() {
        for (stored, isSent) in [("room number", true), ("voucher", false), (nil, true)] {
            var command = HelperCommand(
                network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(), portal: live,
                credential: ["room": "9"])
            command.labels = stored.map { ["room": $0] } ?? [:]
            var attempt = FormAttempt(command, at: live, isTypedNow: false)
            let labelled = "<form method=post><label>Room <b>NUMBER</b> <input name=room></label><input type=submit></form>"
            #expect(move(&attempt, labelled) == (isSent ? "submit room=9" : #"ask ["room="] "#), "\(stored ?? "none")")
            // The user's answer is sent.
            command.answers = ["room": "7"]
            var typed = FormAttempt(command, at: live, isTypedNow: true)
            #expect(move(&typed, labelled) == "submit room=7")
        }
    }

    @Test func aChangedKeyIsTheReason() {
        let url = WebURL("https://portal.test/page")!
        guard case .end(.temporaryFailure, let reason) = attempt([:]).fail(TransferError(.keyChanged), at: url) else {
            return #expect(Bool(false))
        }
        #expect(reason.contains("nothing was sent"))
    }

    @Test(
        arguments: [
            (.browserEnded, "The page did not stay open in the browser."),
            (.tlsFailed, "The server could not prove its identity, so nothing was sent."),
            (.clockWrong, "The certificate is not valid today; is this machine's clock right?"),
        ] as [(TransferErrorCode, String)]) func aPageForTheUsersBrowserIsHandedOver(_ code: TransferErrorCode, _ told: String)
    {
        let url = WebURL("https://portal.test/page")!
        guard case .ask(let prompt, nil, let reason) = attempt([:]).fail(TransferError(code), at: url) else {
            return #expect(Bool(false))
        }
        #expect(prompt.fields.isEmpty && prompt.message?.hasPrefix(told) == true)
        #expect(reason == told)
    }
}

/// The reasons for pages without anything to fill in.
@Suite struct FormAttemptEndTests {
    private func told(_ body: String) -> String? {
        let live = Portal(origin: "https://portal.test", pin: "key", kind: "form", title: "Inn")
        let network = Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open)
        let url = WebURL("https://portal.test/page")!
        var attempt = FormAttempt(HelperCommand(network: network, link: loopback(), portal: live), at: live, isTypedNow: false)
        guard case .end(.temporaryFailure, let reason) = attempt.move(on: page(body, url: url.text), at: url) else { return nil }
        return reason
    }

    @Test func anAddressOnAPageIsNotTold() {
        #expect(told("<p>Page: http://portal.test/in?token=secret</p>")?.hasSuffix("It says: Page:") == true)
    }

    @Test func aLongPageIsCut() throws {
        #expect(try #require(told("<p>" + String(repeating: "No more. ", count: 400) + "</p>")).utf8.count < 300)
    }
}
