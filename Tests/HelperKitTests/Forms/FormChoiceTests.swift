import HotspotCore
import TestSupport
import Testing

@testable import HelperKit

/// Which form or link of a page is the login.
@Suite struct FormChoiceTests {
    private let url = WebURL("https://portal.test/page")!

    private func decide(_ body: String, _ answers: [String: String] = [:]) -> String {
        let engine = FormEngine(answers: answers, isTypedNow: true)
        switch engine.decide(on: page(body, url: url.text), at: url) {
        case .submit(let filled, _):
            return "send " + filled.request.url.path + " " + (filled.request.body ?? filled.request.url.query ?? "")
        case .ask(let prompt, _): return "ask " + prompt.fields.map { $0.name + ($0.required ? "!" : "") }.joined(separator: " ")
        case .nothing: return "nothing"
        case .refuse(let reason): return "refuse " + reason
        }
    }

    private let account = "<input name=user placeholder=User><input type=password name=pass placeholder=Password>"

    /// Each group of radio buttons is looked at once.
    @Test(arguments: [false, true]) func radioButtonsGrowInLine(isOneGroup: Bool) {
        var page = page("<form method=post action=/in><input name=user><input type=submit value=Connect></form>", url: url.text)
        let form = page.forms[0]
        let ratio = ProcessorTime.growth(from: 500) { count in
            page.forms = [form]
            page.forms[0].controls += (0..<count).map {
                HTMLControl(kind: .radio, name: isOneGroup ? "tariff" : "tariff\($0)", label: "Choice")
            }
            _ = FormChoice(page, at: url)
        }
        #expect(ratio < 8)
    }

    // MARK: An account or a voucher

    @Test func oneFormForBoth() throws {
        let form =
            "<form method=post action=/in>\(account)<input name=auth_voucher><input type=submit name=accept value=Continue></form>"
        #expect(decide(form) == "ask user pass auth_voucher")
        #expect(decide(form, ["auth_voucher": "v"]) == "send /in user=&pass=&auth_voucher=v&accept=Continue")
        #expect(decide(form, ["user": "u", "pass": "p"]) == "send /in user=u&pass=p&auth_voucher=&accept=Continue")
        #expect(
            decide(form, ["user": "u", "pass": "p", "auth_voucher": "v"])
                == "send /in user=u&pass=p&auth_voucher=&accept=Continue")
        #expect(decide(form, ["user": "u"]) == "ask user pass auth_voucher")
        let prompt = try question(on: page(form, url: url.text))
        #expect(prompt.message == "One of these is enough: User and Password; or auth_voucher.")
    }

    /// Of two ways that are filled in, the one that was refused before is not tried again.
    @Test func theWayThatWasRefusedIsNotTriedAgain() {
        let forms =
            "<form method=post action=/a>\(account)<button>Log in</button></form><form action=/v method=post><input name=code><button>Go</button></form>"
        var engine = FormEngine()
        engine.isTypedNow = true
        engine.answers = ["user": "u", "pass": "p", "code": "v"]
        for (refused, target) in [
            (["user": "u", "pass": "p"], "/v"), (["user": "x", "pass": "p"], "/a"), (["code": "v"], "/a"),
        ] {
            engine.refused = refused
            guard case .submit(let filled, _) = engine.decide(on: page(forms, url: url.text), at: url) else {
                return #expect(Bool(false))
            }
            #expect(filled.target.path == target)
        }
    }

    /// A voucher that is typed goes before an account that is stored.
    @Test func whatIsTypedGoesBeforeWhatIsStored() {
        let forms =
            "<form method=post action=/a>\(account)<button>Log in</button></form><form action=/v method=post><input name=code><button>Go</button></form>"
        var engine = FormEngine(isTypedNow: true)
        engine.answers = ["user": "u", "pass": "p", "code": "v"]
        for (confirmed, target) in [(["user", "pass"], "/v"), (["code"], "/a"), (["pass"], "/a"), ([], "/a")] {
            engine.confirmed = Set(confirmed)
            guard case .submit(let filled, _) = engine.decide(on: page(forms, url: url.text), at: url) else {
                return #expect(Bool(false))
            }
            #expect(filled.target.path == target, "\(confirmed)")
        }
    }

    /// A second page that shows the address of the first, and asks for the code, refuses nothing.
    @Test(arguments: [true, false]) func aSecondPageThatAsksForMoreIsNoRefusal(_ asksMore: Bool) throws {
        let form =
            "<form method=post><input type=email name=mail value='a@b.example'>\(asksMore ? "<input name=pass type=password>" : "")<button>Log in</button></form>"
        var engine = FormEngine(isTypedNow: true)
        engine.offered = ["mail": "a@b.example"]
        let prompt = try question(on: page(form, url: url.text), engine)
        #expect(prompt.message == (asksMore ? nil : FormEngine.unexplained))
    }

    /// Where the page marks nothing, the user may leave a field empty, and nothing else does.
    @Test func anUnmarkedFieldMayBeLeftEmpty() throws {
        let form = "<form method=post><label>E-mail <input type=email name=mail></label><button>Connect</button></form>"
        let prompt = try question(on: page(form, url: url.text))
        #expect(prompt.fields.map(\.required) == [true] && prompt.fields.map(\.assumed) == [true])
        #expect(decide(form) == "ask mail!" && decide(form, ["mail": ""]) == "send /page mail=")
        // As it is stored.
        var engine = FormEngine()
        engine.answers = ["mail": ""]
        if case .ask = engine.decide(on: page(form, url: url.text), at: url) { #expect(Bool(false)) }
        #expect(decide(form.replacing("name=mail", with: "name=mail required"), ["mail": ""]) == "ask mail!")
        let login = form.replacing("<button", with: "<input type=password name=pass><button")
        #expect(decide(login, ["mail": "", "pass": ""]) == "ask mail! pass!")
    }

    @Test func anUndecidedChoiceIsNeeded() {
        let form =
            "<form method=post>Date of birth <select name=d><option value=''>Day</option><option>1</option><option>2</option></select><select name=y><option value=''>Year</option><option>1990</option><option>1991</option></select><button>Go online</button></form>"
        #expect(decide(form) == "ask d! y!")
    }

    /// Browsers send a date as the standard has it, whatever they show.
    @Test func aDateIsAskedForAsItIsSent() {
        let form = "<form method=post><label>Date de naissance<input type=date name=d></label><button>Go</button></form>"
        for (answer, isSent) in [("14.07.1990", false), ("1990-7-14", false), ("1990-07-14", true)] {
            var engine = FormEngine(isTypedNow: true)
            engine.answers = ["d": answer]
            switch engine.decide(on: page(form, url: url.text), at: url) {
            case .submit(let filled, _): #expect(isSent && filled.request.body == "d=1990-07-14")
            case .ask(let prompt, _):
                #expect(!isSent && prompt.fields[0].label == "Date de naissance (YYYY-MM-DD)")
                #expect(prompt.message?.contains("is no date like 1990-07-14; nothing was sent.") == true)
            case .nothing, .refuse: #expect(Bool(false))
            }
        }
    }

    /// A tick that the page does not mark can be given once the portal has refused the form without it.
    @Test func aTickThatIsNotMarkedIsOfferedAfterARefusal() throws {
        let form =
            "<form method=post><input name=hab required><label><input type=checkbox name=mayor value=1>Soy mayor de edad</label><button>Entrar</button></form>"
        #expect(decide(form) == "ask hab!")
        var engine = FormEngine(isTypedNow: true)
        engine.offered = ["hab": "12"]
        let prompt = try question(on: page(form, url: url.text), engine)
        #expect(prompt.fields.map(\.name) == ["hab", "mayor"] && prompt.fields.map(\.required) == [true, false])
        engine.answers = ["hab": "12", "mayor": "yes"]
        guard case .submit(let filled, _) = engine.decide(on: page(form, url: url.text), at: url) else {
            return #expect(Bool(false))
        }
        #expect(filled.request.body == "hab=12&mayor=1")
    }

    /// A next page has the name of a field for something else.
    @Test func aNameForSomethingElseIsNoRefusal() throws {
        let form = { (label: String) in "<form method=post><label>\(label) <input name=value></label><button>Next</button></form>"
        }
        for (label, isSame) in [("Company", false), ("E-mail address", true), ("E-mail address: no such guest", true)] {
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

    /// Two buttons of one name are a choice; the usual one is the default.
    @Test func severalButtonsAreAChoice() throws {
        let form =
            "<form method=post><input name=room required><button name=dur value=30>Connect 30 minutes</button><button name=dur value=all>Connect all day</button></form>"
        let prompt = try question(on: page(form, url: url.text))
        #expect(prompt.fields.last?.choices == ["Connect 30 minutes", "Connect all day"])
        #expect(prompt.fields.last?.value == "Connect 30 minutes" && prompt.fields.last?.required == false)
        #expect(decide(form, ["room": "1"]) == "send /page room=1&dur=30")
        #expect(decide(form, ["room": "1", "dur": "Connect all day"]) == "send /page room=1&dur=all")
        let others =
            "<form method=post><input name=room required><button name=dur value=30>Connect</button><button name=dur value=x>Back</button></form>"
        #expect(decide(others) == "ask room!")
        // Also where each has a name of its own.
        let named =
            "<form method=post><input name=locker required><input type=submit name=basic value='Slow and free'><input type=submit name=fast value='Fast for members'></form>"
        let both = try question(on: page(named, url: url.text))
        #expect(both.fields.last?.choices == ["Slow and free", "Fast for members"])
        #expect(decide(named, ["locker": "88"]) == "send /page locker=88&basic=Slow%20and%20free")
        #expect(decide(named, ["locker": "88", "basic": "Fast for members"]) == "send /page locker=88&fast=Fast%20for%20members")
    }

    /// A list of choices without a label is called what it shows at first.
    @Test func aListSaysWhatItAsks() throws {
        let form =
            "<form method=post>Date of birth <select name=d><option value=''>Day<option>1<option>2</select><select name=m><option value=''>Month<option>1<option>2</select><select name=x><option value=''>Please choose<option>1<option>2</select><button>Go</button></form>"
        let prompt = try question(on: page(form, url: url.text))
        #expect(prompt.fields.map(\.label) == ["Date of birth", "Month", "x"])
    }

    /// A first page that asks for the language alone.
    @Test func theLanguageIsAStep() {
        let form =
            "<form action=/start><label>Sprache / Language <select name=l><option value=de>Deutsch<option value=en>English</select></label><button>Weiter / Continue</button></form>"
        #expect(decide(form) == "send /start l=de")
        // Beside a login it is none.
        #expect(decide(form + "<form method=post action=/in>\(account)<button>Log in</button></form>") == "ask user! pass!")
    }

    /// A card number may be a member's; alone, or beside what stands on a bank's card, or words of paying, it pays.
    @Test(arguments: [("", false), ("<label>CVC <input name=c></label>", true), ("<p>Pay now</p>", true), ("<p>5 €</p>", true)])
    func aCardNumber(_ rest: String, _ pays: Bool) {
        let form =
            "<form method=post><label>Card number <input name=no required></label><label>Nickname <input name=nick></label>\(rest)<button>Sign in</button></form>"
        #expect(decide(form).hasPrefix("refuse The page asks for a payment") == pays, "\(decide(form))")
    }

    @Test func theCardOfALibraryPaysNothing() {
        let form =
            "<form method=post><label>Library card number <input name=card></label><label>Born <input name=dob></label><button>Log in</button></form>"
        #expect(decide(form) == "ask card! dob!")
    }

    @Test func aCommentThatMayStayEmptyIsNoContactForm() {
        let form =
            "<form method=post><label>Comments (optional) <textarea name=c></textarea></label><button>Send and surf</button></form>"
        #expect(decide(form) == "send /page c=")
    }

    @Test func aFormForEach() {
        let forms =
            "<form method=post action=/a>\(account)<button>Log in</button></form><form action=/v method=post><input name=code><button>Go</button></form>"
        #expect(decide(forms) == "ask user pass code")
        #expect(decide(forms, ["code": "v"]) == "send /v code=v")
        #expect(decide(forms, ["user": "u", "pass": "p"]) == "send /a user=u&pass=p")
    }

    /// Two ways of one name: the prompt names both.
    @Test func oneNameForTwoThings() throws {
        let forms =
            "<form method=post action=/a>\(account)<button>Log in</button></form>"
            + "<form method=post action=/a><input type=hidden name=kind value=v><input name=user placeholder=Voucher><button>Go</button></form>"
        #expect(decide(forms) == "ask user pass")
        #expect(decide(forms, ["user": "v"]) == "send /a kind=v&user=v")
        let prompt = try question(on: page(forms, url: url.text))
        #expect(prompt.fields.map(\.label) == ["User / Voucher", "Password"])
        #expect(prompt.message == "One of these is enough: User and Password; or Voucher.")
    }

    /// With nothing typed the user picks it; what is typed goes first.
    @Test(arguments: [
        "<form action=/t><input type=hidden name=t value=1><button>Free trial</button></form>", "<a href='/t?t=1'>Free trial</a>",
    ]) func aTrialIsAskedFor(_ trial: String) throws {
        let login = "<form method=post action=/a>\(account)<button>Log in</button></form>"
        for forms in [login + trial, trial + login] {
            let prompt = try question(on: page(forms, url: url.text))
            #expect(prompt.message == "One of these is enough: User and Password; or nothing, for \"Free trial\".")
            #expect(prompt.fields.allSatisfy { !$0.required })
            #expect(decide(forms) == "send /t t=1")
            #expect(decide(forms, ["user": "u", "pass": "p"]) == "send /a user=u&pass=p")
            #expect(decide(forms, ["user": "u"]) == "ask user pass")
        }
        #expect(decide(trial) == "send /t t=1")
    }

    /// What is free for a time is a trial; a button that is free for good is pressed, unless its terms are asked for or an answer is stored.
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
        engine.expected = ["user", "pass"]
        guard case .ask = engine.decide(on: page(login + free("Free access"), url: url.text), at: url) else {
            Issue.record("the stored answers are not asked for")
            return
        }
    }

    /// A login that was refused is asked for again, beside the button that needs none.
    @Test func aRefusalKeepsTheWayThatWasTaken() throws {
        let box = "<label><input type=checkbox name=tos value=1>I accept the <a href=/t>terms of use</a></label>"
        let forms =
            "<form method=post action=/a>\(account)\(box)<button>Log in</button></form>"
            + "<form method=post action=/free><button>Free Wi-Fi (slow)</button></form>"
        var engine = FormEngine(consent: true)
        engine.offered = ["user": "u", "pass": "", "tos": "yes"]
        guard case .ask(let prompt, _) = engine.decide(on: page(forms, url: url.text), at: url) else {
            Issue.record("the button is pressed")
            return
        }
        #expect(prompt.fields.map(\.name) == ["user", "pass"])
        #expect(prompt.message?.contains("or nothing, for \"Free Wi-Fi (slow)\"") == true)
        // The button needs no terms of the other form.
        #expect(decide(forms) == "send /free ")
    }

    /// Enter alone must be able to take the way that asks for nothing.
    @Test func refusedAnswersAreNoDefaultsWhereNothingIsAWayToo() {
        let forms = "<form method=post action=/a>\(account)<button>Log in</button></form><a href='/t?t=1'>Free trial</a>"
        var engine = FormEngine(isTypedNow: true)
        func ask() -> Prompt? {
            if case .ask(let prompt, _) = engine.decide(on: page(forms, url: url.text), at: url) { prompt } else { nil }
        }
        engine.offered = ["user": "u", "pass": ""]
        #expect(ask()?.fields.map(\.value) == [nil, nil])
        (engine.offered, engine.answers) = ([:], ["user": "u"])
        #expect(ask()?.message?.hasPrefix("\"Password\" was not given; nothing was sent. One of these") == true)
    }

    /// The page has chosen for its guest not to agree.
    @Test func aChoiceOfTermsIsAsked() {
        let choice =
            "<form method=post action=/x><label><input type=radio name=terms value=1>I accept</label>"
            + "<label><input type=radio name=terms value=0 checked>I do not accept</label><button>Go</button></form>"
        #expect(decide(choice) == "ask terms!")
        #expect(decide(choice, ["terms": "I accept"]) == "send /x terms=1")
    }

    /// A link that sends a form without fields leads to another page.
    @Test func aFormBehindALinkIsNotTheLogin() {
        let account =
            "<form method=post action=/account name=account><input type=hidden name=t value=1>"
            + "<a onclick='document.account.submit()'>Log in</a></form>"
        #expect(
            decide("<form method=post action=/sms><input type=tel name=phone><button>Next</button></form>" + account)
                == "ask phone!")
        #expect(decide(account) == "send /account t=1")
    }

    @Test func aHiddenFormIsShownByAScript() {
        let form = "<div style='display:none'><form><input id=name><button>Go</button></form></div>"
        #expect(decide("<p>Plans</p>" + form) == "refuse The page shows its form only by a script.")
    }

    /// The box of one form is nothing to the other.
    @Test func aBoxBelongsToItsForm() {
        let forms =
            "<form method=post action=/a>\(account)<button>Log in</button></form>"
            + "<form action=/v method=post><input name=code><input type=checkbox name=tos required> Rules of use<button>Go</button></form>"
        #expect(decide(forms) == "ask user pass code tos")
        #expect(decide(forms, ["user": "u", "pass": "p"]) == "send /a user=u&pass=p")
        #expect(decide(forms, ["code": "v"]) == "ask code! tos!")
        #expect(decide(forms, ["code": "v", "tos": "yes"]) == "send /v code=v&tos=on")
    }

    @Test(arguments: ["Click here to authenticate.", "Begin browsing"]) func aLoneLink(_ text: String) {
        #expect(decide("<a href=/in>\(text)</a>") == "send /in ")
    }

    @Test func aButtonMayBeALink() {
        #expect(decide("<button onclick=\"window.location.href='/in'\">Connect</button>") == "send /in ")
        #expect(decide("<button onclick=\"count(); location='/in'\">Connect</button>") == "nothing")
        #expect(decide("<button onclick=\"location='/in' + user\">Connect</button>") == "nothing")
    }

    /// The page greets its user, and the gateway still has to open.
    @Test func aLinkMayOpenTheGateway() {
        let hello = "<p>You are now logged in.</p>"
        #expect(
            decide(hello + "<a href=http://10.0.0.1:2050/nodogsplash_auth/?tok=1><button type=button>Begin browsing</button></a>")
                == "send /nodogsplash_auth/ tok=1")
        #expect(
            decide(hello + "<a href='https://n1.network-auth.com/splash/grant?continue_url=x'>access the Wi-Fi</a>")
                == "send /splash/grant continue_url=x")
        #expect(decide(hello + "<a href='https://evil.test/splash/grant?continue_url=x'>access the Wi-Fi</a>") == "nothing")
        #expect(decide(hello + "<a href=/tour>Start here</a>") == "nothing")
    }

    @Test(arguments: [
        "<a href=/>Sign in again</a>", "<a href=/>Zurück zum Login</a>", "<form action=/retry><button>Back</button></form>",
        "<input id=code><a href=/member>Log in</a>",
        "<a id=go href=/home>Continue</a><script>document.getElementById('go').href = grant + '/x'</script>",
    ]) func whatOnlyLeadsBackOrIsAScripts(_ body: String) { #expect(decide(body) == "nothing") }

    @Test func aWrapperOfFormsIsNone() {
        let forms =
            "<form role=form><input name=first></form><form method=post action=/in><input name=mail><button>Go</button></form>"
        #expect(decide(forms) == "ask mail!")
        #expect(decide("<form><input name=first><button>Go</button></form>") == "ask first!")
    }

    @Test func boxesForOneDigitEachAreAScripts() {
        let box = "<input name='code[]' maxlength=1>"
        #expect(
            decide("<form method=post action=/in>\(box)\(box)\(box)<button>Go</button></form>")
                == "refuse The page has several fields of one name.")
    }

    @Test func aButtonThatSpeaksOfAccess() {
        #expect(decide("<form action=/x><button>Click here to get on the Internet</button></form>") == "send /x ")
        #expect(decide("<form action=/x><button>点击上网</button></form>") == "send /x ")
    }

    /// The page's script sends it anyway.
    @Test func aFormThatSendsItselfNeedsNoWords() {
        let form = "<form action=/x><button>Hop</button></form>"
        #expect(decide(form) == "refuse The page's button does not say that it goes on.")
        #expect(decide(form + "<script>document.forms[0].submit()</script>") == "send /x ")
    }

    @Test(arguments: [
        "<a href=/odnoklassniki><img alt=Ok></a><a href=/guest>Пропустить</a>",
        "<a href='/auth?with=facebook'>Connect</a><a href=/guest>Continue as a guest</a>",
        "<a href='/guest?url=http%3A%2F%2Fwww.google.com%2F'>Skip</a><a href=/app.apk>Start</a>",
        "<a href=/login>Log in</a><a href=/guest>Continue as a guest</a>",
    ]) func theWayWithoutAnAccount(_ links: String) { #expect(decide(links).hasPrefix("send /guest")) }

    // MARK: What is never pressed

    /// The login of the page is a script's.
    @Test(arguments: [
        ("注册", "refuse " + FormScripts.scriptedReason), ("Continue", "refuse " + FormScripts.scriptedReason),
        ("Skip", "send /other a=1"),
    ]) func noOtherFormStandsInForAScripts(_ button: String, _ decision: String) {
        let login = "<form id=f method=post action=/in>\(account)<button>Log in</button></form>"
        let other = "<form action=/other><input type=hidden name=a value=1><button>\(button)</button></form>"
        let script = "<script>document.getElementById('f').onsubmit = function () { fetch('/in'); return false }</script>"
        #expect(decide(login + other + script) == decision)
    }

    @Test(arguments: [
        ("Register", "ask user! pass!"), ("Connect for free", "send /other "), ("Accept cookies", "ask user! pass!"),
        ("Sign in with SSO", "ask user! pass!"),
    ])
    func aButtonBesideTheLogin(_ button: String, _ decision: String) {
        let login = "<form method=post action=/in>\(account)<button>Log in</button></form>"
        #expect(decide("<form action=/other><button>\(button)</button></form>" + login) == decision)
    }

    @Test func aButtonBelowARefusalLeadsBack() {
        let button = "<form action=/><button>OK</button></form>"
        #expect(decide("<h2>Error : wrong username or password</h2>" + button) == "nothing")
        #expect(decide("<h2>Welcome</h2>" + button) == "send / ")
    }

    @Test(arguments: ["Cancel", "I do not accept", "同意しない", "不同意", "Abbrechen", "Отмена", "Annuler"])
    func whatDeclinesIsNotPressed(_ words: String) {
        let decline = "<button name=a value=0>\(words)</button>"
        #expect(decide("<form action=/x method=post>\(decline)<button name=b value=1>Register</button></form>") == "send /x b=1")
        #expect(decide("<form action=/x>\(decline)</form>") == "nothing")
        #expect(decide("<a href=/x>\(words)</a>") == "nothing")
    }

    @Test func aButtonForAccessComesBeforeAnUnknownOne() {
        let buttons = "<button name=a>Xyz</button><button name=b value=1>Verify</button>"
        #expect(decide("<form action=/x method=post>\(buttons)</form>") == "send /x b=1")
    }

    @Test func anAccountElsewhereIsNotPressed() {
        let form = "<form action=/x><button name=a>Log in with Facebook</button><button name=b>Connect</button></form>"
        #expect(decide(form) == "send /x b=")
        #expect(decide("<form action=/auth/vkontakte><button>Connect</button></form>") == "nothing")
        let terms = "<input type=checkbox name=ok> I accept the terms"
        #expect(decide("<form action=/fb>\(terms)<button>Log in with Facebook</button></form>") == "nothing")
    }

    @Test(arguments: [
        "<form action=/p><button>Pay now</button></form>",
        "<form action=/p><input type=submit value='Jetzt zahlungspflichtig bestellen'></form>",
        "<form action=/p>24 hours: 4.90 €<button>Connect</button></form>",
        "<form action=/p>Free Wi-Fi in the lobby. 24 hours, 4.90 €<button>Connect</button></form>",
        "<form action=/p>Free Wi-Fi. Lost key: 25 EUR. Premium: 9 EUR<button>Connect</button></form>",
        "<form action=/p><label><input type=radio name=t value=1 checked> Flat 4.90 €</label><button>Connect</button></form>",
        "<form action=/p><input type=radio name=t value=1 checked> Premium, 5 Euro per hour<button>Go</button></form>",
        "<form action=/p><select name=p><option value=1 selected>A, 20 zł<option value=2>B, 40 zł</select><button>Go</button></form>",
        "<form action=/p>24 hours: 99 kr<button>Connect</button></form>", "<form action=/p><button>Confirm order</button></form>",
        "<form action=/p><button>Start subscription</button></form>", "<form action=/p><button>Pay by phone bill</button></form>",
        "<form action=/p><input name=card placeholder='Card number'><button>Go</button></form>",
        "<form action=/p><select name=plan><option value=''>Choose<option value=1>1 hour USD 2<option value=2>Day USD 5</select><button>Go</button></form>",
    ]) func nothingThatPays(_ form: String) {
        #expect(decide(form) == "refuse The page asks for a payment or names a price, and hotspotd pays for nothing.")
    }

    @Test(arguments: [
        "a lost room key is charged with 25 EUR, Wi-Fi is free of charge", "Free Wi-Fi for our guests. Lost key: 25 EUR.",
        "misuse is charged with 25 EUR", "<p>The Wi-Fi is free</p><p>Verlust des Schlüssels 25,00 €</p>",
        "The Wi-Fi is free. Damage … costs 50.00 EUR. Breakfast 12 EUR.",
    ]) func aPriceOfSomethingElseIsNoPayment(_ text: String) {
        #expect(decide("<form method=post action=/p>\(text)<button>Connect</button></form>") == "send /p ")
        let fields = "<input name=room placeholder=Room><input name=name placeholder=Name>"
        #expect(decide("<form method=post action=/p><p>\(text)</p>\(fields)<button>Go</button></form>") == "ask room! name!")
    }

    @Test func aFieldBesideAPriceIsNoPayment() {
        let form = "<form method=post action=/p>Lost room keys are charged: $25. <input name=room><button>Go</button></form>"
        #expect(decide(form) == "ask room!")
    }

    /// Where a price may be that of the access, the user decides, at each login and about these words alone.
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
        #expect(prompt.fields.last?.label.hasSuffix("\". Log in all the same") == true)
    }

    /// A box that the page ticks for something that costs is not sent, also where the user goes on.
    @Test(arguments: ["Speedy lane for 5 Euro", "Priority 20 zł", "Lane for 99 руб."])
    func aTickedBoxWithAPriceIsNotSent(_ label: String) {
        let box = "<label><input type=checkbox name=fast value=1 checked> \(label)</label>"
        let form = "<form method=post action=/p>\(box)<button>Connect</button></form>"
        let asked = decide(form)
        #expect(asked.hasPrefix("ask agree:price:"), "\(asked)")
        #expect(decide(form, [String(asked.dropFirst(4).dropLast()): "yes"]) == "send /p ")
    }

    /// A click may cost what the page says above its button. It is asked about at each login.
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

    @Test(arguments: ["Lost key: 25 EUR", "Breakfast 12 EUR."]) func aPriceOfSomethingElseBesideAButtonIsNone(_ text: String) {
        #expect(decide("<p>\(text)</p><form method=post action=/p><button>Connect</button></form>") == "send /p ")
        let free = "<form method=post action=/p><button>Continue for free</button></form>"
        #expect(decide("<p>Premium: 5 EUR a day</p>" + free) == "send /p ")
    }

    /// What is put on the room's bill is asked about as well; an account or a code was paid before.
    @Test func aPriceBesideTheRoomIsAskedAbout() {
        func decide(_ text: String, _ fields: String, button: String = "Go") -> String {
            self.decide("<p>\(text)</p><form method=post action=/p>\(fields)<button>\(button)</button></form>")
        }
        let room = "<input name=room placeholder=Room>"
        let price = "24 hours of Internet for EUR 4.90. The amount is charged to your room."
        #expect(decide(price, room).hasPrefix("ask room! agree:price:"))
        #expect(decide("The Wi-Fi is free of charge. Premium: 5 EUR a day", room) == "ask room!")
        #expect(decide("Lost key: 25 EUR", room) == "ask room!" && decide("Breakfast 12 EUR.", room) == "ask room!")
        for paid in [
            "<input name=user placeholder=User><input type=password name=p placeholder=Password>",
            "<input name=c placeholder='Voucher code'>",
        ] {
            #expect(!decide(price, paid).contains("price"))
        }
        #expect(decide("24 hours", room, button: "Buy 24 hours").hasPrefix("refuse "))
    }

    /// Radio buttons are asked for by their question, not by the first answer.
    @Test func aGroupIsAskedForByItsLegend() throws {
        func buttons(_ name: String) -> String {
            "<label><input type=radio name=\(name) value=y> Yes</label><label><input type=radio name=\(name) value=n> No</label>"
        }
        let form =
            "<form action=/p><fieldset><legend>Do you smoke?</legend>\(buttons("smoke"))</fieldset>\(buttons("offers"))<button>Go</button></form>"
        let prompt = try question(on: page(form, url: url.text))
        #expect(prompt.fields.map(\.label) == ["Do you smoke?", "offers"])
        #expect(prompt.fields.map(\.choices) == [["Yes", "No"], ["Yes", "No"]])
    }

    /// A form that changes the page's language, by whatever name, is no login.
    @Test(arguments: ["hl", "l", "lc"]) func aChoiceOfLanguagesIsNoLogin(_ name: String) {
        let room = "<form method=post action=/p><input name=room placeholder=Room><button>Go</button></form>"
        func form(_ names: [String]) -> String {
            let options = names.map { "<option value=\($0.prefix(2))>\($0)</option>" }.joined()
            return "<form action=/lang><select name=\(name)>\(options)</select><input type=submit value=Go></form>"
        }
        #expect(decide(form(["English", "Deutsch", "Français", "中文"]) + room) == "ask room!")
        #expect(decide(form(["Guest", "Staff"]) + room) != "ask room!")
    }

    @Test func theFreeWayIsPressed() {
        let pay = "<form action=/p>Premium for 4.90 €<button>Connect</button></form>"
        #expect(decide(pay + "<form action=/free>Free for 0.00 €<button>Connect</button></form>").hasPrefix("send /free"))
        #expect(decide("<form action=/p><button name=a>Buy now</button><button name=b>Connect</button></form>") == "send /p b=")
        let card = "<form method=post action=/p>9.90 €<input name=mail><button>Go</button></form>"
        #expect(decide(card + "<form action=/free><button>Connect</button></form>") == "send /free ")
    }

    @Test(arguments: [
        (
            "<form style='display:none' action=/x><input name=room><button>Go</button></form>",
            "refuse The page shows its form only by a script."
        ),
        ("<form action=/x><button disabled>Connect</button></form>", "refuse A script of the page has to enable its button."),
        (
            "<form action=/x><button style='display:none'>Connect</button></form>",
            "refuse The page shows its button only by a script."
        ),
        (
            "<form action=/x><input placeholder=Name><input type=password><button>Go</button></form>",
            "refuse The page's fields have no names; only a script can send them."
        ),
        ("<form action=/x><button>Restart the server</button></form>", "refuse The page's button does not say that it goes on."),
        ("<form action=/x><input name=a><img src=/captcha.php><button>Go</button></form>", "refuse " + FormScripts.testReason),
        (
            "<form action=/x><div class=g-recaptcha></div><input name=a><button>Go</button></form>",
            "refuse " + FormScripts.testReason
        ),
        ("<form action=/x><input name=mail><button>Subscribe</button></form>", "nothing"),
        ("<form action=/x><input name=mail><textarea name=message></textarea><button>Send</button></form>", "nothing"),
        ("<form action=/x><input type=hidden name=t value=1><button>Privacy notice</button></form>", "nothing"),
        ("<form action=/x><input type=hidden name=t value=1><button>Authorize</button></form>", "send /x t=1"),
        ("<form action=/x><input name=mail><button>Forgot password</button></form>", "nothing"),
        ("<form action=/fb><button>Log in with Facebook</button></form>", "nothing"),
    ]) func otherForms(_ body: String, _ decision: String) { #expect(decide(body) == decision) }

    // MARK: What is asked

    @Test func aButtonThatABoxEnables() {
        let form =
            "<form action=/x method=post><input type=checkbox name=ok onclick='this.form.go.disabled=!this.checked'> Yes, that is me<button name=go disabled>Connect</button></form>"
        #expect(decide(form) == "ask ok!")
        #expect(decide(form, ["ok": "yes"]) == "send /x ok=on&go=")
    }

    @Test(arguments: [
        "<option value=''>Please choose<option value=a>A<option value=b>B",
        "<option disabled selected>Land<option value=a>A<option value=b>B",
        "<option value=0>-- Bitte wählen --<option value=a>A<option value=b>B",
        "<option value=-1>请选择<option value=a>A<option value=b>B",
    ]) func anOpenChoiceIsAsked(_ options: String) {
        let form = "<form method=post action=/x><select name=stay>\(options)</select><button>Go</button></form>"
        #expect(decide(form) == "ask stay!")
        #expect(decide(form, ["stay": "B"]) == "send /x stay=b")
    }

    @Test(arguments: [
        "<table><tr><td>Room:</td><td><input name=f></td></tr></table>", "Room: <input name=f>", "<p>Room<br><input name=f></p>",
        "<div><span>Room *</span></div><div><input name=f></div>", "<b>Room</b><input type=hidden name=h><input name=f>",
        "<label>Room <input name=f></label>", "<input name=f placeholder=Room>", "<p>Welcome</p><p>Room</p><input name=f>",
        "<input name=other placeholder=Other> Room <input name=f>", "<dl><dt>Room</dt><dd><input name=f></dd></dl>",
    ]) func aFieldHasTheTextBesideIt(_ inner: String) {
        let page = page("<form>\(inner)<button>Go</button></form>")
        #expect(page.forms[0].controls.first { $0.name == "f" }?.label == "Room")
    }

    @Test func theLastCheckedOfAGroupCounts() {
        let form =
            "<form action=/x><input type=radio name=r value=a checked><input type=radio name=r value=b checked><button>Go</button></form>"
        #expect(decide(form) == "send /x r=b")
    }

    @Test func anOptionalPasswordMayBeEmpty() {
        let form =
            "<form method=post action=/x><input name=a required><input type=password name=p placeholder='Code (optional)'><button>Go</button></form>"
        #expect(decide(form) == "ask a! p")
        #expect(decide(form, ["a": "1"]) == "send /x a=1&p=")
    }

    /// A form that only sends a code again is not the step that asks for it.
    @Test(arguments: [
        "Send code again", "Resend", "Code erneut senden", "Renvoyer le code", "重新发送", "Start over", "Baştan Başla",
    ])
    func theFormWithTheCodeIsTheLogin(_ label: String) {
        let again = "<form action=/again><input type=hidden name=n value=1><button>\(label)</button></form>"
        #expect(decide(again + "<form action=/in><input name=sms><button>OK</button></form>") == "ask sms!")
    }

    @Test func aBoxHasTheTextAfterIt() {
        let page = page(
            "<form>Hello<br><input type=checkbox name=a> I accept the <a href=/t>terms</a><br><input type=checkbox name=b> News</form>"
        )
        #expect(page.forms[0].controls.map(\.label) == ["I accept the terms", "News"])
        #expect(page.forms[0].controls[0].links == ["/t"])
    }

    // MARK: Links

    @Test(arguments: [
        ("<a href=/go?x=1>Connect</a><a href=/imprint>Imprint</a>", "send /go x=1"),
        ("<a href=https://login.portal.test/go><img src=x alt='Accept and connect'></a>", "send /go "),
        ("<p>By going on you accept our rules.</p><a href=/go>Continue</a>", "ask accept_terms!"),
        ("<a href=https://elsewhere.test/go>Continue</a>", "nothing"), ("<a href=# onclick='go()'>Connect</a>", "nothing"),
        ("<a href=/go onclick='send(); return false'>Connect</a>", "nothing"),
        ("<a href='javascript:go()'>Connect</a>", "nothing"),
        ("<a href=/a>Continue to the shop</a><a href=/b>Continue as a member</a>", "nothing"),
        ("<a href=/a>Connect</a><a href=/b>Premium: connect for 5 €</a>", "send /a "), ("<a href=/out>Log out</a>", "nothing"),
        ("<p>You are connected.</p><a href=/news>Continue</a>", "nothing"),
        ("<p>Too many attempts</p><a href=/>Continue</a>", "nothing"),
        ("<a id=c href=/go>Connect</a><script>$('#c').click(f)</script>", "nothing"),
        ("<div style='display:none'><a href=/go>Connect</a></div>", "nothing"),
    ]) func aLoneLinkGoesOn(_ body: String, _ decision: String) { #expect(decide(body) == decision) }
}
