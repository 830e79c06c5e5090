import HotspotCore
import Testing

@testable import HelperKit

@Suite struct FormEngineTests {
    private func step(
        _ body: String, url: String = "https://portal.test/page", answers: [String: String] = [:], consent: Bool = false,
        typed: Bool = false
    ) -> String {
        var engine = FormEngine()
        engine.answers = answers
        engine.consent = consent
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

    private let hotel = """
        <form method=post action=/login><input type=hidden name=csrf value=t><input name=room required><input name=surname required>
        <input type=checkbox name=terms value=yes required><label>I accept</label><button name=go value=1>Connect</button></form>
        """

    @Test func submitsAFormWithOneButton() {
        #expect(
            step("<form action=/go><input type=hidden name=a value='b='><input type=submit value=Continue></form>")
                == "GET https://portal.test/go?a=b%3D")
    }

    @Test func acceptsTermsOnlyWithConsent() {
        let box = "<form><input type=checkbox name=agb value=1><label>AGB akzeptieren</label><input type=submit></form>"
        #expect(step(box) == "ask agb:checkbox!")
        #expect(step(box, answers: ["agb": "true"], typed: true) == "GET https://portal.test/page?agb=1")
        #expect(step(box, answers: ["agb": "false"], typed: true) == "ask agb:checkbox!")
        #expect(step(box, consent: true) == "GET https://portal.test/page?agb=1")
        let text = "<p>By clicking Continue you accept the Terms of Service</p><form><input type=submit value=Continue></form>"
        #expect(step(text) == "ask accept_terms:checkbox!")
        #expect(step(text, answers: ["accept_terms": "yes"], typed: true) == "GET https://portal.test/page")
        #expect(step(text, consent: true) == "GET https://portal.test/page")
    }

    @Test func storedAnswersAcceptNoTerms() {
        let box = "<form><input type=checkbox name=agb value=1><label>AGB akzeptieren</label><input type=submit></form>"
        #expect(step(box, answers: ["agb": "true"]) == "ask agb:checkbox!")
        #expect(step(box, answers: ["agb": "false"], consent: true) == "GET https://portal.test/page?agb=1")
        let text = "<p>By clicking Continue you accept the Terms of Service</p><form><input type=submit value=Continue></form>"
        #expect(step(text, answers: ["accept_terms": "yes"]) == "ask accept_terms:checkbox!")
        let choice = """
            <form><input type=radio name=t value=no><label>No</label><input type=radio name=t value=ok><label>I accept</label>
            <input type=submit></form>
            """
        #expect(step(choice, answers: ["t": "ok", "accept_terms": "yes"]).hasPrefix("ask t:choice!"))
    }

    /// What a button says is not what is agreed to.
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

    /// All documents that a box names are agreed to; what another box names is not.
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
        #expect(prompt.message?.contains("To be read as well: http://portal.test/privacy.") == (others.isEmpty ? nil : true))
        // A change of any of them is one.
        func mark(_ policy: String) -> [String]? {
            let server = ScriptedServer { request in
                .page(request.path == "/privacy" ? policy : "<p>Be nice.</p>")
            }
            let at = WebURL(server.url + "/page")!
            let terms = Terms.address(WebURL(server.url + "/terms")!, others: [WebURL(server.url + "/privacy")!])
            return terms.fingerprints(
                asking: HTTPClient(link: loopback(), policy: .testing()), of: at,
                in: Scope(deadline: .after(milliseconds: 10_000)))
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
        // What stands before the terms is none of them.
        #expect(try terms("Be quiet.") == terms("Be quiet.", ", 34 guests are online"))
    }

    @Test func boxesThatAgreeToMoreAreNeverTickedUnasked() {
        func boxes(_ attributes: String, _ labels: String...) -> String {
            "<form method=post action=/in><input name=room>"
                + labels.enumerated().map { "<label><input type=checkbox \(attributes) name=b\($0) value=1>\($1)</label>" }
                .joined()
                + "<button>Go</button></form>"
        }
        let more = boxes(
            "checked", "Share my data with partners", "Call me about a time-share offer", "Charge the access to my room",
            "Meine Daten dürfen weitergegeben werden", "Mettre sur ma note de chambre", "Angebote per E-Mail")
        #expect(step(more) == "ask room:text!")
        #expect(step(more, answers: ["room": "1"], typed: true) == "POST https://portal.test/in room=1")
        #expect(step(boxes("checked required", "Charge the access to my room")) == "ask room:text! b0:checkbox!")
        // Terms that name others stay terms.
        #expect(step(boxes("", "I accept the terms and that third parties get my data")) == "ask room:text! b0:checkbox!")
    }

    @Test func aBoxThatThePageTicksIsTold() throws {
        let page = page(
            "<form method=post><input name=room><label><input type=checkbox checked name=k value=1>Blue towels</label><button>Go</button></form>"
        )
        let prompt = try question(on: page)
        #expect(prompt.message == "Ticked by the page, and sent so: \"Blue towels\".")
    }

    @Test func ticksNoAdvertising() {
        let form = "<form><input type=checkbox name=newsletter checked><label>x</label><input type=submit></form>"
        #expect(step(form, consent: true) == "GET https://portal.test/page")
    }

    @Test func asksForFieldsAndFillsThem() {
        #expect(step(hotel) == "ask room:text! surname:text! terms:checkbox!")
        #expect(step(hotel, consent: true) == "ask room:text! surname:text!")
        #expect(
            step(hotel, answers: ["room": "7", "surname": "O&K"], consent: true)
                == "POST https://portal.test/login csrf=t&room=7&surname=O%26K&terms=yes&go=1")
        #expect(step(hotel, answers: ["room": "7", "surname": ""], consent: true).hasPrefix("ask"))
    }

    @Test func asksForEachKindOfField() {
        let form = """
            <form method=post><input type=email name=mail><input type=tel name=phone><input name=voucher><input name=company placeholder="Company (optional)">
            <select name=purpose><option value="">Choose<option value=w>Work<option value=l>Leisure</select>
            <input type=radio name=speed value=slow><input type=radio name=speed value=fast><input type=submit></form>
            """
        #expect(step(form) == "ask mail:email! phone:phone! voucher:code! company:text purpose:choice! speed:choice!")
        #expect(
            step(form, answers: ["mail": "a@b", "phone": "1", "voucher": "v", "purpose": "Work", "speed": "fast"], typed: true)
                == "POST https://portal.test/page mail=a%40b&phone=1&voucher=v&company=&purpose=w&speed=fast")
    }

    @Test func choicesOfThePageAreShownWhereItAsksForMore() throws {
        let choices = """
            <select name=plan><option value=1>Free<option value=2 selected>Day pass</select>
            <label><input type=radio name=stay value=a checked>Guest</label><label><input type=radio name=stay value=b>Visitor</label>
            <select name=lang><option value=de>Deutsch<option value=en selected>English</select>
            <select name=only><option value=x>One</select>
            """
        #expect(
            step("<form method=post>\(choices)<input type=submit></form>")
                == "POST https://portal.test/page plan=2&stay=a&lang=en&only=x")
        let asking = "<form method=post>\(choices)<input name=room><input type=submit></form>"
        #expect(step(asking) == "ask plan:choice stay:choice room:text!")
        let prompt = try question(on: page(asking))
        #expect(prompt.fields.map(\.value) == ["Day pass", "Guest", nil])
        #expect(prompt.fields[0].choices == ["Free", "Day pass"])
        #expect(
            step(asking, answers: ["plan": "Free", "stay": "", "room": "7"], typed: true)
                == "POST https://portal.test/page plan=1&stay=a&lang=en&only=x&room=7")
        #expect(FormEngine().needs(on: page(asking), at: WebURL("http://portal.test/page")!) == ["room"])
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

    // MARK: What is never sent

    private func account(to action: String) -> String {
        "<form method=post action='\(action)'><input name=user><input type=password name=pass><input type=submit></form>"
    }

    /// The first time asks, and says where the answers go; the yes is for this pair of origins.
    @Test(arguments: ["https://thief.test", "http://portal.test", "https://portal.test:8443"])
    func answersGoElsewhereOnlyWhereTheUserWasTold(_ target: String) {
        let answers = ["user": "u", "pass": "p"]
        #expect(step(account(to: "/in"), answers: answers).hasPrefix("POST https://portal.test/in"))
        let body = account(to: target + "/in")
        #expect(step(body, answers: answers) == "ask user:text! pass:password!")
        #expect(step("<base href='\(target)/'>" + account(to: "in"), answers: answers, typed: true).hasPrefix("ask"))
        #expect(asked(FormEngine(), body)?.message?.hasPrefix("Your answers go to \(target)") == true)
        let url = WebURL("https://portal.test/page")!
        let said = FormEngine().said(on: page(body, url: url.text), at: url)
        #expect(said == ["https://portal.test agree:answers:\(target)"])
        let agreed = FormEngine(answers: answers, isTypedNow: true, agreed: Set(said))
        guard case .submit(let filled, _) = agreed.decide(on: page(body, url: url.text), at: url) else {
            return #expect(Bool(false))
        }
        #expect(filled.target.origin == target)
        #expect(asked(agreed, account(to: "https://another.test/in")) != nil)
    }

    @Test(arguments: ["javascript:x()", "ftp://portal.test/"]) func otherSchemesAreNotSentTo(_ action: String) {
        #expect(step(account(to: action), answers: ["user": "u", "pass": "p"], typed: true).hasPrefix("refuse"))
    }

    /// The daemon released the password for the encrypted page.
    @Test func aStoredPasswordLeavesNoEncryptedPageUnencrypted() {
        let answers = ["user": "u", "pass": "p"]
        let agreed: Set<String> = ["https://portal.test agree:answers:http://gate.test"]
        let stored = FormEngine(answers: answers, allowsPlainHTTP: true, agreed: agreed)
        #expect(asked(stored, account(to: "http://gate.test/in"))?.message == "Your answers go to http://gate.test, unencrypted.")
        guard
            case .submit = FormEngine(answers: answers, isTypedNow: true, agreed: agreed).decide(
                on: page(account(to: "http://gate.test/in"), url: "https://portal.test/page"),
                at: WebURL("https://portal.test/page")!)
        else { return #expect(Bool(false)) }
    }

    @Test func refusesHiddenAndDoubledPasswords() {
        let two = "<form><input name=u><input type=password name=p><input type=password name=q><input type=submit></form>"
        #expect(step(two, answers: ["u": "1", "p": "2", "q": "2"]).hasPrefix("refuse"))
        let hidden = "<form><input name=u><div style='display:none'><input type=password name=p></div><input type=submit></form>"
        #expect(step(hidden, answers: ["u": "1", "p": "2"]).hasPrefix("refuse"))
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

    /// By POST, GET and a name alike; the yes is for one pair of origins, and only the user can give it.
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
        // A box of the page cannot stand for ours.
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
        let engine = FormEngine(answers: answers, allowsPlainHTTP: true, agreed: ["http://portal.test \(box)"])
        guard case .submit = engine.decide(on: page(form, url: "http://portal.test/"), at: WebURL("http://portal.test/")!) else {
            return #expect(Bool(false))
        }
    }

    /// A star marks what must be filled in, beside fields that say so.
    @Test func aStarMarksARequiredField() {
        let form = "<form><input name=a required><input name=b placeholder='Phone *'><input name=c><input type=submit></form>"
        #expect(step(form) == "ask a:text! b:text! c:text")
    }

    /// The portal's own account, in one click.
    @Test func aHiddenPasswordWithAValueIsThePortals() {
        let form =
            "<form method=post><input hidden name=u value=test><input hidden type=password name=p value=x><input type=submit></form>"
        #expect(step(form) == "POST https://portal.test/page u=test&p=x")
    }

    @Test func aDocumentsNumberInAnAddressIsSaidFirst() {
        let form = "<form action=/in><input name=doc placeholder='Passport number'><input type=submit></form>"
        let box = "agree:password-in-address:http://portal.test"
        #expect(step(form) == "ask doc:text!")
        #expect(step(form, url: "http://portal.test/", answers: ["doc": "X1"], typed: true) == "ask doc:text! \(box):checkbox!")
        #expect(
            step(form, url: "http://portal.test/", answers: ["doc": "X1", box: "yes"], typed: true)
                == "GET http://portal.test/in?doc=X1")
    }

    // MARK: Defaults and bad answers

    private func asked(_ engine: FormEngine, _ body: String, url: String = "https://portal.test/page") -> Prompt? {
        guard case .ask(let prompt, _) = engine.decide(on: page(body, url: url), at: WebURL(url)!) else { return nil }
        return prompt
    }

    /// A visible field that the page fills in is a default; one that cannot be changed or shown is the portal's own constant.
    @Test func filledFieldsAreDefaults() {
        let form = """
            <form><input name=room value=214><input name=zone value=lobby readonly><input name=code value=s1><input type=password name=pw>
            <textarea name=note>a
            b</textarea><input type=submit></form>
            """
        let fields = asked(FormEngine(), form)?.fields
        #expect(fields?.map(\.name) == ["room", "pw"])
        #expect(fields?.map(\.value) == ["214", nil])
        #expect(
            step(form, answers: ["room": "7", "pw": "p"], typed: true).hasSuffix("room=7&zone=lobby&code=s1&pw=p&note=a%0D%0Ab"))
    }

    @Test func sentAnswersAreOfferedAndNotSentAgain() {
        let form = "<form method=post><input name=room value=9><input name=pin type=password><input type=submit></form>"
        var engine = FormEngine(answers: ["room": "9", "pin": "s3same", "other": "x"])
        guard case .submit(_, let sent) = engine.decide(on: page(form), at: WebURL("https://portal.test/page")!) else {
            return #expect(Bool(false))
        }
        engine.offerAnswers(of: sent)
        #expect(engine.answers == ["other": "x"])
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

    @Test func ignoresOtherForms() {
        let search = "<form role=search><input name=q><input type=submit></form>"
        let logout = "<form action=/logout><input type=submit value='Log out'></form>"
        let terms = "<form><input type=hidden name=terms value=yes><input type=submit value='Read the Terms of Service'></form>"
        #expect(step(search + logout + terms) == "nothing")
        #expect(step("") == "nothing")
        #expect(
            step(search + "<form action=/go><input type=submit value=Connect></form>" + logout) == "GET https://portal.test/go")
    }

    @Test func findsTheAddressOfTheTerms() throws {
        let readers =
            "<form action=/t><input type=hidden name=terms value=yes><input type=submit value='Read the Terms of Service'></form>"
        let button = "<form action=/go><input type=submit value=Continue></form><p>You accept the terms of service</p>"
        let prompt = try question(on: page(button + readers))
        #expect(prompt.termsURL == "http://portal.test/t?terms=yes")
    }

    /// What "you accept" leads over to is accepted, whatever it is called, and whatever else the page links.
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
