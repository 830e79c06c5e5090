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

    @Test(arguments: [
        (
            "<title>Web Page Blocked</title><form><input name=user><input type=password name=p><button>Override</button></form>",
            "unsupportedNetwork"
        ),
        (
            "<title>Router login</title><form method=post><input type=password name=p><button>Log in</button></form>",
            "unsupportedNetwork"
        ),
        (
            "<script src=/app.js></script><h1>Error</h1><p>Voucher has expired.</p><a href=/login>Back</a>", "temporaryFailure"
        ),
        ("<h1>No Internet connection</h1><p>Please call the hotline.</p><a href=/retry>Continue</a>", "temporaryFailure"),
        (
            "<form method=post>Admin: <input name=u><br>Password: <input type=password name=p><button>Log in</button></form>",
            "unsupportedNetwork"
        ),
        ("<title>RouterOS router configuration page</title><input id=user><script>login()</script>", "unsupportedNetwork"),
        (
            "<base href=/admin/login><form method=post action=in><input name=u><input type=password name=p><button>Log in</button></form>",
            "unsupportedNetwork"
        ),
        (
            "<h1>Admin Login</h1><form method=post><input type=password name=p><button>Log in</button></form>",
            "unsupportedNetwork"
        ),
        (
            "<form method=post><input name=u value=admin><input type=password name=p><button>Log in</button></form>",
            "unsupportedNetwork"
        ),
        (
            "<form method=post><input type=password name=p placeholder='Router password'><button>Log in</button></form>",
            "unsupportedNetwork"
        ),
        (
            "<form method=post><input name=u><input type=password name=p><button>OK</button></form><p>Firmware version: 1.2</p>",
            "unsupportedNetwork"
        ),
        (
            "<form method=post>To go on, enter the WPA2 key: <input type=password name=p><button>OK</button></form>",
            "unsupportedNetwork"
        ),
        (
            "<title>Sign in - Google Accounts</title><form method=post><input name=u><input type=password name=p><button>OK</button></form>",
            "unsupportedNetwork"
        ),
    ]) func pagesThatAreNoLogin(_ body: String, _ result: String) {
        #expect(moves([body], answers: [:])[0].hasPrefix(result + ": "))
    }

    /// A link that only sounds like a logoff does not make a form without names a session.
    @Test func fieldsWithoutNamesAreABrowsers() {
        let page = "<a href=/disconnected>Media</a><form method=post><input placeholder=Seat><button>Log in</button></form>"
        #expect(moves([page], answers: [:]) == ["browser: The page's fields have no names; only a script can send them."])
    }

    @Test(arguments: [
        "<p>Firmware version: 1.2</p><form method=post>Code: <input name=key><button>Enter</button></form>",
        "<p>Our network has WPA2.</p><form method=post>Code: <input name=key><button>Enter</button></form>",
        "<a href=/g>Sign in with Google</a><form method=post>Code: <input name=key><button>Enter</button></form>",
    ]) func wordsBesideTheLoginAreNoAdministrators(_ page: String) {
        #expect(moves([page], answers: [:])[0].hasPrefix("ask key "))
    }

    /// A page that always has a link to log off may have its login behind a script.
    @Test func aHiddenLoginIsABrowsers() {
        let body =
            "<a href=/logout>Log out</a><div style='display:none'><form method=post><input name=cpf><button>OK</button></form></div>"
        #expect(moves([body], answers: [:]) == ["browser: The page shows its form only by a script."])
    }

    /// Some makers call every page so.
    @Test func aTitleAloneIsNoAdministrator() {
        let page = "<title>Administrator Page</title><form method=post>Key: <input name=key><button>Enter</button></form>"
        #expect(moves([page], answers: [:])[0].hasPrefix("ask key "))
    }

    @Test(arguments: [
        ("<h1>Radius server is not responding</h1><a href=/login>Back</a>", "Radius server is not responding Back"),
        ("<title>Hotspot out of use</title>", "Hotspot out of use"),
        ("<p>Zu viele Versuche</p><a href=/>Weiter</a>", "Zu viele Versuche Weiter"),
        ("<p>Please go to the desk.</p><button onclick='window.history.back()'>Back</button>", "Please go to the desk. Back"),
        (
            "<script src=/menu.js></script><p>To get an account, please ask at the front desk of the inn.</p>",
            "To get an account, please ask at the front desk of the inn."
        ),
        (
            "<h1>Too many devices on this ticket</h1><form action=/again><button>Back</button></form>",
            "Too many devices on this ticket Back"
        ),
        (
            "<p>Closed in the night</p><script>var year = 2026; function later() { location.href = next() }</script>",
            "Closed in the night"
        ),
        ("<p>Line is busy</p><a href=/check><button>Self test</button></a>", "Line is busy Self test"),
        ("<p>Hello</p><a href=# onclick='logout()'>Log out</a>", "Hello Log out"),
        ("<p>Page: http://portal.test/in?token=secret</p>", "Page:"),
    ]) func aPageWithNothingToPressIsTold(_ body: String, _ words: String) {
        let told = "temporaryFailure: hotspotd sees no login on the portal's page; hotspotctl browse opens it. It says: " + words
        #expect(moves([body], answers: [:]) == [told])
    }

    @Test(arguments: [
        "Connect again", "Log in again", "Sign in again", "Use the Internet again", "Reconnect", "Resume session",
        "Erneut verbinden",
        "Wieder verbinden", "Se reconnecter", "Połącz ponownie", "Volver a conectar", "再ログイン",
    ]) func aReturningGuestsButtonIsPressed(_ label: String) {
        let page = "<h1>Welcome back, Ms Brandt!</h1><form method=post action=/again><input type=hidden name=known value=1>"
        #expect(moves([page + "<button>\(label)</button></form>"], answers: [:])[0] == "submit known=1")
    }

    @Test(arguments: [
        "Try again", "Back to login", "Again", "Zurück", "Erneut versuchen", "Volver", "Volver al acceso", "Réessayer",
    ])
    func aButtonThatLeadsBackIsNot(_ label: String) {
        let page = "<h1>Welcome</h1><form method=post action=/again><input type=hidden name=known value=1>"
        #expect(
            moves([page + "<button>\(label)</button></form>"], answers: [:])[0].hasPrefix(
                "temporaryFailure: hotspotd sees no login"))
    }

    @Test(arguments: [
        "<p>You have been logged out.</p><a href=/login>Log in</a>",
        "<h1>Session expired</h1><form action=/login><button>Log in</button></form>",
        "<h1>Vous êtes maintenant déconnecté</h1><form action=/login onsubmit='return again()'><button>OK</button></form>",
    ]) func anEndedSessionIsTold(_ body: String) {
        #expect(moves([body], answers: [:])[0].hasPrefix("temporaryFailure: The page says that the session has ended. It says: "))
    }

    /// Here the next session begins.
    @Test func anEndedSessionMayBeginAgain() {
        let body = "<p>Your session has expired.</p><form method=post action=/go><button>Connect</button></form>"
        #expect(moves([body], answers: [:]) == ["submit "])
    }

    /// "You are connected" may mean the Wi-Fi alone, and a value may be what the gateway waits for.
    @Test(arguments: [
        ("Tu acceso a Internet ha sido habilitado", "", "done"), ("Access has been granted.", "", "done"),
        ("You are connected.", "", "submit "), ("Welcome", "", "submit "),
        ("Access has been granted.", "<input type=hidden name=tok value=1>", "submit tok=1"),
    ]) func aButtonAfterTheGatewayHasOpened(_ words: String, _ inner: String, _ move: String) {
        let form = "<form method=post action=/welcome>\(inner)<button>Continue</button></form>"
        #expect(moves(["<h2>\(words)</h2>" + form], answers: [:]) == [move])
    }

    /// A browser may get further than the page's words do.
    @Test(arguments: [
        "<p>Please show this to the staff: scan the QR code.</p><img src=/qr.png>",
        "<p>Hi</p><a onclick='start()'>Connect</a>",
        "<title>Inn WiFi - Connect</title><script src=/portal.js></script><p>Choose one of the plans of the inn below.</p>",
        "<div id=root></div><script>var s = document.createElement('script'); s.src = names[0]; document.body.append(s)</script><p>Inn</p>",
        "<p>Hi</p><a href='https://login.microsoftonline.com/authorize'><button>Log in with Microsoft</button></a>",
        "<p>Hi</p><a href='https://ads.test/'>haz click para acceder a internet</a>",
    ]) func aPageWithAWayElsewhereIsHandedOver(_ body: String) {
        #expect(moves([body], answers: [:]) == ["browser: This page needs a browser."])
    }

    @Test func aPageInPlaceOfTheProbesLeadsToItsPortal() {
        let url = WebURL("http://detectportal.firefox.com/canonical.html")!
        let body = "<h1>Tervetuloa</h1><a href=http://wlan.test/ok><button>Siirry</button></a>"
        var attempt = FormAttempt(
            HelperCommand(
                network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(), portal: live),
            at: live, isTypedNow: false)
        guard case .ask(_, _, let reason) = attempt.move(on: page(body, url: url.text), at: url) else {
            Issue.record("no hand-over")
            return
        }
        #expect(reason == "This page needs a browser.")
    }

    @Test func aLongPageIsCut() {
        let told = moves(["<p>" + String(repeating: "No more. ", count: 400) + "</p>"], answers: [:])[0]
        #expect(told.utf8.count < 320)
    }

    /// The probe decides whether it is true.
    @Test(arguments: [
        "<p>You are already logged in.</p><a href=/logout>Log out</a>", "<a href=/logout>Log out of the hotspot</a>",
        "<form action=/logout><input type=submit value='Log out'></form><script>var left = 60</script>",
        "<meta http-equiv=refresh content='5; url=https://www.inn.test/'><p>You're online!</p>",
        "<p>joana já está logado!</p><script src=/app.js></script>",
        "<h1>Verificatie succesvol</h1><script>close()</script>",
        "<meta http-equiv=refresh content='5; url=http://detectportal.firefox.com/success.txt'><p>Please wait</p>",
        "<p>One moment</p><script>location.replace('http://detectportal.firefox.com/success.txt')</script>",
        "<p>Time left: 0:59</p><form method=post><button>Refresh</button></form><a href=/logout>Log out</a>",
        "<script src=/time.js></script><p>Hello Ann, this hour is yours: 00:59:10 left of it.</p><button onclick='end()'>Log out</button>",
        "<p>You're connected</p><script>function end() { fetch('/end'); location.href = '/' }</script><a href=/end onclick='end()'>Disconnect</a>",
        "<p>Your session is now active.</p><div style='display:none'><form action=/club><input name=mail></form></div>",
    ]) func aLiveSessionIsDone(_ body: String) { #expect(moves([body], answers: [:]) == ["done"]) }

    @Test(arguments: [
        "<div id=app></div><script src=/app.js></script>",
        "<a href=# onclick='go()'>Go</a><script>function go() { fetch('/api') }</script>",
        "<input id=code><button onclick='send()'>Go</button>", "<button onclick='send()'>Go</button>",
        "<div id=app></div><p>You accept the terms</p><script>var config = {}</script>",
        "<iframe src=/login></iframe>",
        "<form action=/go><input type=button value=Go onclick='go()'></form>", "<a href=/fb>Log in with Facebook</a>",
        "<div id=app></div><script src=/app.js></script><a href=/logout>Log out</a>",
        "<div id=root></div><script src=/app.js></script><footer>Imprint, privacy and contact of the Inn</footer>",
        "<div role=button id=go>Go online</div><p>The guest network of the inn is free for all.</p>",
        "<p>Welcome</p><script>document.body.innerHTML = '<form action=/in><input name=x></form>'</script>",
        "<p>Please wait</p><script>window.onload = function () { location.href = gateway + '/in' }</script>",
        "<p>Voucher</p><input id=code><button onclick='send()'>Go</button><a href=/member>Log in</a>",
        "<input id=user><form id=f action=/in><input type=hidden name=a value=1></form><script>if (ok()) $('#f').submit()</script>",
    ]) func aPageWhoseScriptsLogInNeedsABrowser(_ body: String) {
        #expect(moves([body], answers: [:]) == ["browser: This page needs a browser."])
    }
}
