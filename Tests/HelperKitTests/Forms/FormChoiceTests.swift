import HotspotCore
import TestSupport
import Testing

@testable import HelperKit
@testable import PageLogin
@testable import PortalPages

/// Which form or link of a page is the login.
@Suite struct FormChoiceTests {
    private let url = WebURL("https://portal.test/page")!

    private func decide(_ body: String, _ answers: [String: String] = [:]) -> String {
        let engine = FormEngine(answers: FormAnswers(answers), isTypedNow: true)
        switch engine.decide(on: page(body, url: url.text), at: url) {
        case .submit(let filled, _):
            return "send " + filled.request.url.path + " " + (filled.request.body ?? filled.request.url.query ?? "")
        case .ask(let prompt, _): return "ask " + prompt.fields.map { $0.name + ($0.required ? "!" : "") }.joined(separator: " ")
        case .nothing: return "nothing"
        case .refuse(let reason): return "refuse " + reason
        }
    }

    private let account = "<input name=user placeholder=User><input type=password name=pass placeholder=Password>"

    /// The engine reads each group of radio buttons once.
    @Test(arguments: [false, true]) func radioButtonsGrowInLine(isOneGroup: Bool) {
        var page = page("<form method=post action=/in><input name=user><input type=submit value=Connect></form>", url: url.text)
        let form = page.forms[0]
        let ratio = ProcessorTime.growth(from: 500) { count in
            page.forms = [form]
            page.forms[0].controls += (0..<count).map {
                HTMLControl(kind: .radio, name: isOneGroup ? "tariff" : "tariff\($0)", label: "Choice")
            }
            _ = ChoiceCase(TypedPage(page), at: url)
        }
        #expect(ratio < 8)
    }

    // MARK: An account or a voucher

    /// If the user filled in two ways, the way that was refused before is not tried again.
    @Test func theWayThatWasRefusedIsNotTriedAgain() {
        let forms =
            "<form method=post action=/a>\(account)<button>Log in</button></form><form action=/v method=post><input name=code><button>Go</button></form>"
        var engine = FormEngine()
        engine.isTypedNow = true
        engine.answers = ["user": "u", "pass": "p", "code": "v"]
        for (refused, target) in [
            (["user": "u", "pass": "p"], "/v"), (["user": "x", "pass": "p"], "/a"), (["code": "v"], "/a"),
        ] {
            engine.answers = ["user": "u", "pass": "p", "code": "v"]
            engine.answers.noteRefusedBefore(refused)
            guard case .submit(let filled, _) = engine.decide(on: page(forms, url: url.text), at: url) else {
                return #expect(Bool(false))
            }
            #expect(filled.target.path == target)
        }
    }

    /// A typed voucher is preferred to a stored account.
    @Test func whatIsTypedGoesBeforeWhatIsStored() {
        let forms =
            "<form method=post action=/a>\(account)<button>Log in</button></form><form action=/v method=post><input name=code><button>Go</button></form>"
        var engine = FormEngine(isTypedNow: true)
        engine.answers = ["user": "u", "pass": "p", "code": "v"]
        for (confirmed, target) in [(["user", "pass"], "/v"), (["code"], "/a"), (["pass"], "/a"), ([], "/a")] {
            engine.answers.setSource(.typed, of: ["user", "pass", "code"])
            engine.answers.setSource(.confirmed, of: confirmed)
            guard case .submit(let filled, _) = engine.decide(on: page(forms, url: url.text), at: url) else {
                return #expect(Bool(false))
            }
            #expect(filled.target.path == target, "\(confirmed)")
        }
    }

    /// A second page that shows the address of the first, and asks for the code, is not a refusal.
    @Test(arguments: [true, false]) func aSecondPageThatAsksForMoreIsNoRefusal(_ asksMore: Bool) throws {
        let form =
            "<form method=post><input type=email name=mail value='a@b.example'>\(asksMore ? "<input name=pass type=password>" : "")<button>Log in</button></form>"
        var engine = FormEngine(isTypedNow: true)
        engine.answers.noteSent("mail", label: "", shown: "a@b.example")
        let prompt = try question(on: page(form, url: url.text), engine)
        #expect(prompt.message == (asksMore ? nil : FormEngine.unexplained))
    }

    /// If the page marks no field as required, only the user may leave a field empty.
    @Test func anUnmarkedFieldMayBeLeftEmpty() throws {
        let form = "<form method=post><label>E-mail <input type=email name=mail></label><button>Connect</button></form>"
        let prompt = try question(on: page(form, url: url.text))
        #expect(prompt.fields.map(\.required) == [true] && prompt.fields.map(\.assumed) == [true])
        #expect(decide(form) == "ask mail!" && decide(form, ["mail": ""]) == "send /page mail=")
        // A stored empty answer is sent as well.
        var engine = FormEngine()
        engine.answers = ["mail": ""]
        if case .ask = engine.decide(on: page(form, url: url.text), at: url) { #expect(Bool(false)) }
        #expect(decide(form.replacing("name=mail", with: "name=mail required"), ["mail": ""]) == "ask mail!")
        let login = form.replacing("<button", with: "<input type=password name=pass><button")
        #expect(decide(login, ["mail": "", "pass": ""]) == "ask mail! pass!")
    }

    /// Browsers send a date in the standard's format, whatever they show.
    @Test func aDateIsAskedForAsItIsSent() {
        let form = "<form method=post><label>Date de naissance<input type=date name=d></label><button>Go</button></form>"
        for (answer, isSent) in [("14.07.1990", false), ("1990-7-14", false), ("1990-07-14", true)] {
            var engine = FormEngine(isTypedNow: true)
            engine.answers = ["d": answer]
            switch engine.decide(on: page(form, url: url.text), at: url) {
            case .submit(let filled, _): #expect(isSent && filled.request.body == "d=1990-07-14")
            case .ask(let prompt, _):
                #expect(!isSent && prompt.fields[0].label == "Date de naissance (YYYY-MM-DD)")
                #expect(prompt.message?.contains("is not a date like 1990-07-14, so nothing was sent.") == true)
            case .nothing, .refuse: #expect(Bool(false))
            }
        }
    }

    /// The next page uses the field's name for something else.
    @Test func aNameForSomethingElseIsNoRefusal() throws {
        let form = { (label: String) in "<form method=post><label>\(label) <input name=value></label><button>Next</button></form>"
        }
        for (label, isSame) in [("ImitatedBrand", false), ("E-mail address", true), ("E-mail address: no such guest", true)] {
            var engine = FormEngine(answers: ["value": "a@b.example"], isTypedNow: true)
            let first = page(form("E-mail address"), url: url.text)
            guard case .submit(_, let sent) = engine.decide(on: first, at: url) else { return #expect(Bool(false)) }
            engine.offerAnswers(of: sent)
            let next = page(form(label), url: url.text)
            engine.dropRenamed(on: next)
            let prompt = try question(on: next, engine)
            #expect(
                (prompt.message == FormEngine.unexplained) == isSame && prompt.fields[0].value == (isSame ? "a@b.example" : nil))
        }
    }

    /// Free access for a limited time is a trial. hotspotd presses a button that is free without limit, unless terms need consent or an answer is
    /// stored.
    @Test func freeAccessBesideALogin() throws {
        let login = "<form method=post action=/a>\(account)<button>Log in</button></form>"
        func free(_ label: String) -> String { "<form method=post action=/free><button>\(label)</button></form>" }
        for label in ["Free access, 30 minutes per day", "Free WiFi 30 min", "Gratis 30 Minuten pro Tag", "2 hours free"] {
            #expect(
                try question(on: page(login + free(label), url: url.text)).message?.contains("or nothing, for \"\(label)\"")
                    == true)
        }
        #expect(decide(login + free("Free access")) == "send /free ")
        let terms = "<p>By going on you accept the terms of use.</p>"
        let prompt = try question(on: page(login + free("Free access") + terms, url: url.text))
        #expect(prompt.message == "One of these is enough: User and Password; or nothing, for \"Free access\".")
        #expect(prompt.fields.map(\.name) == ["user", "pass", "accept_terms"])
        var engine = FormEngine(consent: true)
        engine.answers.awaitConfirmation(of: ["user", "pass"])
        guard case .ask = engine.decide(on: page(login + free("Free access"), url: url.text), at: url) else {
            Issue.record("the stored answers are not asked for")
            return
        }
    }

    /// hotspotd asks again for a refused login, and offers the button that needs no answers beside it.
    @Test func aRefusalKeepsTheWayThatWasTaken() throws {
        let box = "<label><input type=checkbox name=tos value=1>I accept the <a href=/t>terms of use</a></label>"
        let forms =
            "<form method=post action=/a>\(account)\(box)<button>Log in</button></form>"
            + "<form method=post action=/free><button>Free Wi-Fi (slow)</button></form>"
        var engine = FormEngine(consent: true)
        for (name, value) in ["user": "u", "pass": "", "tos": "yes"] { engine.answers.noteSent(name, label: "", shown: value) }
        guard case .ask(let prompt, _) = engine.decide(on: page(forms, url: url.text), at: url) else {
            Issue.record("the button is pressed")
            return
        }
        #expect(prompt.fields.map(\.name) == ["user", "pass"])
        #expect(prompt.message?.contains("or nothing, for \"Free Wi-Fi (slow)\"") == true)
        // The button does not need the terms of the other form.
        #expect(decide(forms) == "send /free ")
    }

    /// Enter alone must select the way without questions.
    @Test func refusedAnswersAreNoDefaultsWhereNothingIsAWayToo() {
        let forms = "<form method=post action=/a>\(account)<button>Log in</button></form><a href='/t?t=1'>Free trial</a>"
        var engine = FormEngine(isTypedNow: true)
        func ask() -> Prompt? {
            if case .ask(let prompt, _) = engine.decide(on: page(forms, url: url.text), at: url) { prompt } else { nil }
        }
        for (name, value) in ["user": "u", "pass": ""] { engine.answers.noteSent(name, label: "", shown: value) }
        #expect(ask()?.fields.map(\.value) == [nil, nil])
        engine.answers = ["user": "u"]
        #expect(ask()?.message?.hasPrefix("\"Password\" was not answered, so nothing was sent. One of these") == true)
    }

    // MARK: Buttons that are never pressed

    /// If a price may be for the access, the user decides, at each login and only about this text.
    @Test(arguments: ["Flat 4.90 €", "Misuse of the Wi-Fi: 25 EUR", "<input type=checkbox name=key checked> Lost key: 25 EUR"])
    func anUnclearPriceIsAskedAbout(_ text: String) throws {
        let form = "<form method=post action=/p>\(text)<button>Connect</button></form>"
        let asked = decide(form)
        #expect(asked.hasPrefix("ask agree:price:") && asked.hasSuffix("!"))
        let name = String(asked.dropFirst(4).dropLast())
        #expect(decide(form, [name: "yes"]).hasPrefix("send /p "))
        #expect(decide(form, [name: "no"]) == asked)
        let other = form.replacing("4.90", with: "49.00").replacing("25", with: "250")
        #expect(decide(other, [name: "yes"]).hasPrefix("ask agree:price:"))
        let prompt = try question(on: page(form, url: url.text))
        #expect(prompt.fields.last?.label.hasPrefix("The page mentions a price: \"") == true)
        #expect(prompt.fields.last?.label.hasSuffix("\". Log in anyway") == true)
    }

    /// A sum need not name its currency. A box that the page ticks for it is not sent, even if the user continues.
    @Test(arguments: ["Travel insurance, only 2,49 a day", "Speed boost 2.49/day", "Reiseversicherung 2,49 pro Tag"])
    func aTickedBoxWithASumForAPeriodIsNotSent(_ label: String) {
        let box = "<label><input type=checkbox name=fast value=1 checked> \(label)</label>"
        let form = "<form method=post action=/p>\(box)<button>Connect</button></form>"
        let asked = decide(form)
        #expect(asked.hasPrefix("ask agree:price:"), "\(asked)")
        #expect(decide(form, [String(asked.dropFirst(4).dropLast()): "yes"]) == "send /p ")
    }

    @Test(arguments: ["<option value=1 selected>Gold – 9,90<option value=2>Basic – 0,00", "<option>Day 4.50<option>Week 19.00"])
    func aChoiceAmongSumsPays(_ options: String) {
        let form = "<form method=post action=/p><select name=p>\(options)</select><button>Connect</button></form>"
        #expect(decide(form).hasPrefix("refuse The page asks for a payment"), "\(decide(form))")
    }

    @Test(arguments: [("price", "5.00", true), ("Amount", "3", true), ("price", "0.00", false), ("priceless", "5", false)])
    func aHiddenSumIsAskedAbout(_ name: String, _ value: String, _ isAsked: Bool) {
        let form = "<form method=post action=/p><input type=hidden name=\(name) value=\(value)><button>Connect</button></form>"
        #expect(decide(form).hasPrefix("ask agree:price:") == isAsked, "\(decide(form))")
    }

    /// A click may cost the price above its button. The user is asked about it at each login.
    @Test(arguments: [
        "Day pass: 5 EUR. The price is added to your bill.", "24 Stunden Internet kosten 5 EUR.", "24 hours: $9.99",
        "24 hours for 99 kr", "5 EUR, charged to your phone bill.",
    ])
    func aPriceBesideAButtonIsAskedAbout(_ text: String) throws {
        func cafe(_ text: String) -> HTMLPage {
            page("<p>\(text)</p><form method=post action=/p><button>Connect</button></form>", url: url.text)
        }
        var engine = FormEngine()
        guard case .ask(let prompt, _) = engine.decide(on: cafe(text), at: url) else { return #expect(Bool(false), "\(text)") }
        let box = try #require(prompt.fields.first)
        #expect(prompt.fields.count == 1 && box.required && box.label.hasPrefix("The page mentions a price: \""))
        (engine.answers, engine.isTypedNow) = ([box.name: "yes"], true)
        guard case .submit = engine.decide(on: cafe(text), at: url) else { return #expect(Bool(false), "\(text)") }
        let other = text.replacing("5 EUR", with: "50 EUR").replacing("9.99", with: "99.99").replacing("99 kr", with: "990 kr")
        guard case .ask = engine.decide(on: cafe(other), at: url) else { return #expect(Bool(false), "\(other)") }
    }

    /// A list of user types is not a list of languages, whatever its name.
    @Test(arguments: ["hl", "l", "lc"]) func aListOfUsersIsNotOneOfLanguages(_ name: String) {
        let room = "<form method=post action=/p><input name=room placeholder=Room><button>Go</button></form>"
        let list = "<select name=\(name)><option value=Gu>Guest</option><option value=St>Staff</option></select>"
        #expect(decide("<form action=/lang>\(list)<input type=submit value=Go></form>" + room) != "ask room!")
    }

    // MARK: Questions

    @Test func aBoxHasTheTextAfterIt() {
        let page = page(
            "<form>Hello<br><input type=checkbox name=a> I accept the <a href=/t>terms</a><br><input type=checkbox name=b> News</form>"
        )
        #expect(page.forms[0].controls.map(\.label) == ["I accept the terms", "News"])
        #expect(page.forms[0].controls[0].links == ["/t"])
    }
}
