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
        case .leave(let company): return "leave \(company.name)"
        }
    }

    @Test func aFormThatComesBackIsAskedAgain() {
        var attempt = attempt(["room": "9"])
        #expect(move(&attempt, form) == "submit room=9")
        #expect(move(&attempt, form) == #"ask ["room=9"] keeping "#)
        #expect(move(&attempt, "<p>You are now connected</p>" + form) == "done")
    }

    /// Both ways are filled in, the first is refused, and the second is taken.
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
        attempt.earlier = ["name": SessionMemory.SentAnswer(label: "Surname", value: "Brandt")]
        #expect(move(&attempt, form) == "submit room=9")
        #expect(attempt.engine.offered == ["room": "9", "name": "Brandt"])
        #expect(attempt.arrive(RedirectChain(response(200, form, url: "https://another.test/in")), kind: "form") == nil)
        #expect(attempt.engine.offered.isEmpty && attempt.earlier.isEmpty)
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

    /// The page asks for something else than the prompt that was answered.
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
            // What the user types is sent.
            command.answers = ["room": "7"]
            var typed = FormAttempt(command, at: live, isTypedNow: true)
            #expect(move(&typed, labelled) == "submit room=7")
        }
    }

    @Test func aChangedKeyIsTheReason() {
        guard case .end(.temporaryFailure, let reason) = attempt([:]).fail(TransferError(.keyChanged)) else {
            return #expect(Bool(false))
        }
        #expect(reason.contains("nothing was sent"))
    }
}

/// The ends of a login, by what the page shows.
@Suite struct FormAttemptEndTests {
    private let live = Portal(origin: "https://portal.test", pin: "key", kind: "form", title: "Inn")

    /// Returns the moves on pages that follow each other.
    private func moves(_ pages: [String], answers: [String: String] = ["room": "9"]) -> [String] {
        let command = HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(), portal: live,
            answers: answers)
        var attempt = FormAttempt(command, at: live, isTypedNow: !answers.isEmpty)
        let url = WebURL("https://portal.test/page?token=81a7fd3a22b1")!
        return pages.map { body in
            switch attempt.move(on: page(body, url: url.text), at: url) {
            case .submit(let filled, _): return "submit " + (filled.request.body ?? filled.request.url.text)
            case .ask(let prompt, _, nil):
                return "ask " + prompt.fields.map(\.name).joined(separator: " ") + " " + (prompt.message ?? "")
            case .ask(let prompt, _, let reason?):
                #expect(
                    prompt.message
                        == reason + (reason.hasSuffix(".") ? "" : ".")
                        + " A login in a browser on this network counts as one here. The page: https://portal.test/page"
                )
                return "browser: " + reason
            case .done: return "done"
            case .end(let result, let reason): return "\(result.rawValue): \(reason)"
            case .leave(let company): return "unsupportedNetwork: imitates \(company.name)"
            }
        }
    }

    private let form = "<form method=post><input name=room><button>Go</button></form>"

    @Test(arguments: [
        ("<p>You are connected.</p>", "done"), ("<p>Thanks</p>", "done"),
        ("<p>You are connected.</p><form action=/out><button>Log out</button></form>", "done"),
        ("<p>This voucher is not valid.</p>", "browser: This voucher is not valid."),
        ("<p class=error>No such room</p>", "browser: No such room"),
        ("<script>var e = 'login failed'</script><p>Thanks</p>", "done"),
        ("<div class='alert alert-info'>We use cookies</div>", "done"),
        ("<div style='display:none' class=error>Login failed</div><p>Thanks</p>", "done"),
        (
            "<p>Login successful</p><form method=post action=/step2><input type=hidden name=t value=1><button>Continue</button></form>",
            "submit t=1"
        ),
        ("<p>You are connected.</p><form method=post><input name=pin><button>Go</button></form>", "ask pin "),
        ("<p>You are connected.</p><form method=post><input name=room><button>Go</button></form>", "done"),
        (
            "<p>Voucher has expired.</p><form method=post><input name=room><button>Go</button></form>",
            "ask room Voucher has expired."
        ),
    ]) func afterTheForm(_ body: String, _ move: String) {
        #expect(moves([form, body]) == ["submit room=9", move])
    }

    @Test func anAddressOnAPageIsNotTold() {
        let told = "temporaryFailure: hotspotd sees no login on the portal's page; hotspotctl browse opens it. It says: Page:"
        #expect(moves(["<p>Page: http://portal.test/in?token=secret</p>"], answers: [:]) == [told])
    }

    @Test(arguments: [
        "Connect again", "Log in again", "Sign in again", "Use the Internet again", "Reconnect", "Resume session",
        "Erneut verbinden",
        "Wieder verbinden", "Se reconnecter", "Połącz ponownie", "Volver a conectar", "再ログイン",
    ]) func aReturningGuestsButtonIsPressed(_ label: String) {
        let page = "<h1>Welcome back, Ms Brandt!</h1><form method=post action=/again><input type=hidden name=known value=1>"
        #expect(moves([page + "<button>\(label)</button></form>"], answers: [:])[0] == "submit known=1")
    }

    @Test func aLongPageIsCut() {
        let told = moves(["<p>" + String(repeating: "No more. ", count: 400) + "</p>"], answers: [:])[0]
        #expect(told.utf8.count < 320)
    }
}
