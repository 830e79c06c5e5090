import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PageLogin
@testable import PortalPages

@Suite struct FormEngineTests {
    private func step(
        _ body: String, url: String = "https://portal.test/page", answers: [String: String] = [:],
        typed: Bool = false
    ) -> String {
        var engine = FormEngine()
        engine.answers = FormAnswers(answers)
        engine.isTypedNow = typed
        engine.leadsInside = { $0.host.hasPrefix("192.168.") || $0.host == "router.test" }
        switch engine.decide(on: page(body, url: url), at: WebURL(url)!) {
        case .submit(let filled, _):
            return "\(filled.request.method.rawValue) \(filled.request.url.text)" + (filled.request.body.map { " " + $0 } ?? "")
        case .ask(let prompt, _):
            return "ask " + prompt.fields.map { "\($0.name):\($0.kind.rawValue)\($0.required ? "!" : "")" }.joined(separator: " ")
        case .nothing: return "nothing"
        case .refuse(let reason): return "refuse " + reason
        }
    }

    /// The words of a button are not the terms.
    @Test(arguments: ["I agree", "Accept"]) func theTermsOfAButtonAreThePages(_ label: String) throws {
        let body = "<h1>Terms and conditions</h1><p>Be fair.</p><form method=post><button>\(label)</button></form>"
        #expect(try question(on: page(body)).terms?.contains("Be fair.") == true)
    }

    @Test func aPrivacyLinkIsNoTerms() throws {
        let form = "<form method=post><input name=room><input type=submit></form><a href=/privacy>Privacy policy</a>"
        let prompt = try question(on: page(form))
        #expect(prompt.termsURL == nil)
        #expect(prompt.terms == nil)
        let binding = "<p>By going on you accept our rules.</p>" + form
        #expect(try question(on: page(binding)).termsURL == "http://portal.test/privacy")
    }

    @Test func aPlaceOnThePageIsNoAddressOfTerms() throws {
        let page = page(
            "<form method=post action=/in><input name=room><label><input type=checkbox name=tos> I accept the <a href='#rules'>terms of use</a>"
                + "</label><button>Go</button></form>")
        let prompt = try question(on: page)
        #expect(prompt.termsURL == nil && prompt.terms == "I accept the terms of use")
    }

    /// Agreeing to a box covers all documents that it names, but no document that another box names.
    @Test(
        arguments: [
            (
                "<label><input type=checkbox name=ok required>I have read the <a href=/privacy>privacy policy</a> and accept the <a href=/terms>terms of use</a></label>",
                "http://portal.test/terms", ["http://portal.test/privacy"]
            ),
            (
                "<label><input type=checkbox name=p required>I read the <a href=/privacy>privacy policy</a></label><label><input type=checkbox name=ok required>I accept the <a href=/terms>terms of use</a></label>",
                "http://portal.test/terms", ["http://portal.test/privacy"]
            ),
            (
                "<label><input type=checkbox name=news required>Newsletter, see <a href=/ads>here</a></label><p>By logging in you accept the <a href=/terms>terms of use</a></p>",
                "http://portal.test/terms", []
            ),
        ])
    func theDocumentsOfABoxAreItsOwn(_ boxes: String, _ first: String, _ others: [String]) throws {
        let url = WebURL("http://portal.test/page")!
        let page = page("<form method=post><input name=room>\(boxes)<button>Go</button></form>", url: url.text)
        guard case .address(let address, let also, _)? = FormEngine().bindingTerms(on: page, at: url) else {
            return #expect(Bool(false))
        }
        #expect(address.text == first && also.map(\.text) == others)
        let prompt = try question(on: page)
        #expect(prompt.termsURL == first)
        #expect(prompt.message?.contains("Also read: http://portal.test/privacy.") == (others.isEmpty ? nil : true))
        // A change of any of these documents is a change of the terms.
        func mark(_ policy: String) -> [String]? {
            let server = ScriptedServer { request in
                .page(request.path == "/privacy" ? policy : "<p>Be nice.</p>")
            }
            let at = WebURL(server.url + "/page")!
            let terms = Terms.address(WebURL(server.url + "/terms")!, others: [WebURL(server.url + "/privacy")!])
            return ShownTerms(terms, of: page, at: at).fingerprints(
                asking: HTTPClient(link: loopback(), policy: .testing()), in: Scope(deadline: .after(milliseconds: 10_000)))
        }
        #expect(mark("<p>None</p>") == mark("<p>None</p>") && mark("<p>None</p>") != mark("<p>We read your mail</p>"))
    }

    @Test(arguments: [
        "<h2>Terms of use</h2><ul><li>RULE</li></ul><form method=post>BOX<button>Go</button></form>",
        "<h1>Library</h1><p>Please read the terms.</p><p>1. RULE</p><form method=post>BOX<button>Go</button></form>",
        "<form method=post><textarea readonly>1. RULE</textarea>BOX<button>Go</button></form>",
        "<form method=post>BOX<button>Go</button></form><h3>Conditions</h3><p>RULE</p>",
    ])
    func termsThatThePageOnlySaysAreShownAndCompared(_ body: String) throws {
        func terms(_ rule: String, _ rest: String = "") throws -> Terms {
            let box = "<p><label><input type=checkbox name=agree value=1> I agree to the terms and conditions</label></p>"
            let page = page("<p>Welcome\(rest)</p>" + body.replacing("BOX", with: box).replacing("RULE", with: rule))
            return try #require(FormEngine().bindingTerms(on: page, at: page.base))
        }
        guard case .text(let shown) = try terms("Be quiet.") else { return #expect(Bool(false)) }
        #expect(shown.contains("I agree to the terms and conditions") && shown.contains("Be quiet."))
        #expect(try terms("Be quiet.") != terms("We read your e-mail."))
        // Text before the terms does not belong to them.
        #expect(try terms("Be quiet.") == terms("Be quiet.", ", 34 guests are online"))
    }

    @Test func aChoiceOfThePageIsNotNeeded() {
        let form =
            "<form method=post><select name=plan><option>Free<option selected>Day pass</select><input name=room><button>Go</button></form>"
        #expect(FormEngine().needs(on: TypedPage(page(form)), at: WebURL("http://portal.test/page")!) == ["room"])
    }

    @Test func aLongChoiceIsTheOneThatTheUserSaw() throws {
        let long = String(repeating: "x", count: 100)
        let form = """
            <form method=post><select name=plan><option value=1 selected>Free<option value=2>\(long)</select><input name=room>
            <input type=submit></form>
            """
        let prompt = try question(on: page(form))
        let chosen = prompt.fields[0].choices?[1] ?? ""
        #expect(chosen.utf8.count <= 80 + 3 && chosen.hasPrefix("xxx"))
        #expect(
            step(form, answers: ["plan": chosen, "room": "7"], typed: true) == "POST https://portal.test/page plan=2&room=7")
    }

    // MARK: Values that are never sent

    private func account(to action: String) -> String {
        "<form method=post action='\(action)'><input name=user><input type=password name=pass><input type=submit></form>"
    }

    /// The first time, hotspotd asks and says where the answers go. The consent is for this pair of origins.
    @Test(arguments: ["https://thief.test", "http://portal.test", "https://portal.test:8443"])
    func answersGoElsewhereOnlyWhereTheUserWasTold(_ target: String) {
        let answers = ["user": "u", "pass": "p"]
        #expect(step(account(to: "/in"), answers: answers).hasPrefix("POST https://portal.test/in"))
        let body = account(to: target + "/in")
        #expect(step(body, answers: answers) == "ask user:text! pass:password!")
        #expect(step("<base href='\(target)/'>" + account(to: "in"), answers: answers, typed: true).hasPrefix("ask"))
        #expect(asked(FormEngine(), body)?.message?.hasPrefix("Your answers go to \(target)") == true)
        let url = WebURL("https://portal.test/page")!
        let said = FormEngine().impliedAgreements(on: page(body, url: url.text), at: url)
        #expect(said == ["https://portal.test agree:answers:\(target)"])
        let agreed = FormEngine(answers: FormAnswers(answers), isTypedNow: true, agreed: Set(said))
        guard case .submit(let filled, _) = agreed.decide(on: page(body, url: url.text), at: url) else {
            return #expect(Bool(false))
        }
        #expect(filled.target.origin == target)
        #expect(asked(agreed, account(to: "https://another.test/in")) != nil)
    }

    /// The daemon released the password for the encrypted page, so it is not sent unencrypted.
    @Test func aStoredPasswordLeavesNoEncryptedPageUnencrypted() {
        let answers = ["user": "u", "pass": "p"]
        let agreed: Set<String> = ["https://portal.test agree:answers:http://gate.test"]
        let stored = FormEngine(answers: FormAnswers(answers), allowsPlainHTTP: true, agreed: agreed)
        #expect(asked(stored, account(to: "http://gate.test/in"))?.message == "Your answers go to http://gate.test, unencrypted.")
        guard
            case .submit = FormEngine(answers: FormAnswers(answers), isTypedNow: true, agreed: agreed).decide(
                on: page(account(to: "http://gate.test/in"), url: "https://portal.test/page"),
                at: WebURL("https://portal.test/page")!)
        else { return #expect(Bool(false)) }
    }

    @Test func sendsNoStoredPasswordOverPlainHTTP() throws {
        let form = "<form method=post><input name=u><input type=password name=p><input type=submit></form>"
        let answers = ["u": "1", "p": "2"]
        #expect(step(form, url: "http://portal.test/page", answers: answers) == "ask u:text! p:password!")
        #expect(
            step(form, url: "http://portal.test/page", answers: answers, typed: true) == "POST http://portal.test/page u=1&p=2")
        let prompt = try question(on: page(form))
        #expect(prompt.message == nil, "the client warns")
    }

    /// The same by POST, by GET and to a host name. The consent is for one pair of origins, and only the user can give it.
    @Test(arguments: [
        "method=post action='http://192.168.0.1/x'", "action='http://192.168.0.1/x'", "action='http://router.test/x'",
    ])
    func aFormForADeviceWithinTheNetworkNeedsAYes(_ form: String) {
        let button = "<form \(form)><input type=hidden name=now value=1><input type=submit></form>"
        let target = form.contains("router") ? "http://router.test" : "http://192.168.0.1"
        let box = "agree:send:\(target)"
        #expect(step(button) == "ask \(box):checkbox!")
        #expect(step(button, answers: [box: "yes"]) == "ask \(box):checkbox!")
        #expect(step(button, answers: [box: "no"], typed: true) == "ask \(box):checkbox!")
        #expect(step(button, answers: ["agree:send:http://192.168.0.2": "yes"], typed: true) == "ask \(box):checkbox!")
        var engine = FormEngine(agreed: ["https://portal.test \(box)"], leadsInside: { _ in true })
        guard case .submit = engine.decide(on: page(button), at: WebURL("https://portal.test/page")!) else {
            return #expect(Bool(false))
        }
        engine.agreed = ["https://other.test \(box)"]
        guard case .ask = engine.decide(on: page(button), at: WebURL("https://portal.test/page")!) else {
            return #expect(Bool(false))
        }
        // A checkbox of the page cannot replace hotspotd's checkbox.
        let forged = "<form action=/x><input name=\(box) type=checkbox required>I accept<input type=submit></form>"
        #expect(step(forged) == "GET https://portal.test/x")
    }

    @Test func aPasswordInAnAddressOverPlainHTTPIsSaidFirst() {
        let form = "<form action=/in><input name=u><input type=password name=p><input type=submit></form>"
        let answers = ["u": "1", "p": "2"]
        let box = "agree:password-in-address:http://portal.test"
        #expect(step(form, answers: answers) == "GET https://portal.test/in?u=1&p=2")
        #expect(
            step(form, url: "http://portal.test/", answers: answers, typed: true) == "ask u:text! p:password! \(box):checkbox!")
        let engine = FormEngine(answers: FormAnswers(answers), allowsPlainHTTP: true, agreed: ["http://portal.test \(box)"])
        guard case .submit = engine.decide(on: page(form, url: "http://portal.test/"), at: WebURL("http://portal.test/")!) else {
            return #expect(Bool(false))
        }
    }

    // MARK: Defaults and bad answers

    private func asked(_ engine: FormEngine, _ body: String, url: String = "https://portal.test/page") -> Prompt? {
        guard case .ask(let prompt, _) = engine.decide(on: page(body, url: url), at: WebURL(url)!) else { return nil }
        return prompt
    }

    @Test func sentAnswersAreOfferedAndNotSentAgain() {
        let form = "<form method=post><input name=room value=9><input name=pin type=password><input type=submit></form>"
        var engine = FormEngine(answers: ["room": "9", "pin": "s3same", "other": "x"])
        guard case .submit(_, let sent) = engine.decide(on: page(form), at: WebURL("https://portal.test/page")!) else {
            return #expect(Bool(false))
        }
        engine.offerAnswers(of: sent)
        #expect(engine.answers.values == ["other": "x"])
        for again in [form, form.replacing(" value=9", with: ""), form.replacing("type=password", with: "value=s3same")] {
            let prompt = asked(engine, again)
            #expect(prompt?.message == FormEngine.unexplained)
            #expect(prompt?.fields.map(\.value) == ["9", nil])
        }
    }

    @Test(arguments: ["12345", "1\n2", "1\u{0}", "\u{1B}[2J", "1\u{85}"]) func unfitAnswersAreAskedForAgain(_ answer: String) {
        let form = "<form><label>Room <input name=room maxlength=4></label><input name=name><input type=submit></form>"
        for isTypedNow in [true, false] {
            let prompt = asked(FormEngine(answers: ["room": answer, "name": "Brandt"], isTypedNow: isTypedNow), form)
            #expect(prompt?.fields.map(\.value) == [nil, isTypedNow ? "Brandt" : nil])
            #expect(prompt?.message?.hasPrefix("The answer to \"Room\" ") == true && prompt?.message?.contains(answer) == false)
        }
        #expect(step(form, answers: ["room": "1234"], typed: true).hasPrefix("ask"))
        #expect(step(form, answers: ["room": "1234", "name": "B"]) == "GET https://portal.test/page?room=1234&name=B")
    }

    @Test func findsTheAddressOfTheTerms() throws {
        let readers =
            "<form action=/t><input type=hidden name=terms value=yes><input type=submit value='Read the Terms of Service'></form>"
        let button = "<form action=/go><input type=submit value=Continue></form><p>You accept the terms of service</p>"
        let prompt = try question(on: page(button + readers))
        #expect(prompt.termsURL == "http://portal.test/t?terms=yes")
    }

    /// The link that follows "you accept" counts as the terms, whatever its name, and whatever else the page links.
    @Test(arguments: [
        "By logging in you accept the <a href=/rules>house rules</a>.",
        "By logging in you accept the <a href=/rules>little print</a>.",
        "Mit der Anmeldung akzeptieren Sie die <a href=/rules>Hausordnung</a>.",
    ]) func theTermsAreWhatTheSentenceLinks(_ sentence: String) throws {
        let footer = "<footer><a href=/imprint>Imprint</a> <a href=http://city.test/privacy>Privacy</a></footer>"
        let form = "<form method=post action=/in><input name=card required><p>\(sentence)</p><button>Log in</button></form>"
        for body in [form + footer, footer + form] {
            let prompt = try question(on: page(body), FormEngine())
            #expect(prompt.termsURL == "http://portal.test/rules" && prompt.terms == nil, "\(prompt)")
        }
        let whole = "<form action=/in><input name=card required><p>You accept all rules.</p><button>Log in</button></form>"
        #expect(try question(on: page(whole + "<a href=/help>Help</a>")).termsURL == nil)
    }
}
