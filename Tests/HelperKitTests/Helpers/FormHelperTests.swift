import HotspotCore
import Testing
import Varlink

@testable import BoundHTTP
@testable import HelperKit
@testable import PageLogin
@testable import hotspot_helpers

/// The form helper: what it claims, what it sends over plain HTTP, and which terms it accepts.
@Suite struct FormHelperTests {
    private func command(_ server: ScriptedServer, attempts: SharedProbe = SharedProbe()) -> HelperCommand {
        HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(probe: server.url + "/"),
            scope: Scope(deadline: .after(milliseconds: 30_000)), attempts: attempts, policy: .testing())
    }

    @Test func claimsCaptiveNetworksOnly() throws {
        let open = ScriptedServer(["/": "HTTP/1.1 204 No Content\r\n\r\n"])
        #expect(try FormHelper().evaluate(command(open)).confidence == .none)
        let portal = ScriptedServer(["/": redirect("/in"), "/in": http(200, "<title>Inn</title><form><input name=room></form>")])
        let evaluation = try FormHelper().evaluate(command(portal))
        #expect(evaluation.confidence == .low)
        #expect(evaluation.portal == Portal(origin: portal.url, kind: "form", title: "Inn"))
        #expect(evaluation.needs == ["room"])
    }

    /// The daemon releases a credential for a plain portal only if the settings allow that; the helper then sends it.
    @Test func sendsAReleasedCredential() throws {
        let server = ScriptedServer([
            "/": redirect("/in"),
            "/in": http(
                200,
                "<form method=post action=/login><input name=u><input type=password name=p><input type=submit></form>"),
            "/login": http(200, "You are now connected"),
        ])
        var command = command(server)
        command.portal = Portal(origin: server.url, kind: "form")
        #expect(try FormHelper().authenticate(command).result == .uiRequired)
        command.credential = ["u": "guest", "p": "sesame"]
        #expect(try FormHelper().authenticate(command).result == .success)
        #expect(server.requests.last?.body == "u=guest&p=sesame")
    }

    // MARK: Terms

    /// - Parameter form: the login's form on the portal's page; without it, a form that links the terms.
    private func cafe(_ terms: Locked<String>, form: (@Sendable (String) -> String)? = nil) -> ScriptedServer {
        let visitors = Locked(420)
        return ScriptedServer { request in
            switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/terms":
                .send(
                    octets(
                        http(
                            200,
                            "<h1>House rules</h1><p>\(terms.with { $0 })</p><p>It is 12:0\(Int.random(in: 0...9))</p><p>Visitors today: \(visitors.with { $0 += 1; return $0 })</p>"
                        )))
            case "/go": .page("You are now connected")
            default:
                .send(
                    octets(
                        http(
                            200,
                            form?(terms.with { $0 })
                                ?? "<form action=/go><label><input type=checkbox name=ok value=1>I accept the <a href=/terms>terms</a></label><input type=submit value=Connect></form>"
                        )))
            }
        }
    }

    @Test func asksAgainWhenTheTermsChange() throws {
        let terms = Locked("Pay with a smile.")
        let server = cafe(terms)
        var command = command(server)
        let evaluation = try FormHelper().evaluate(command)
        command.portal = evaluation.portal
        let asked = try FormHelper().authenticate(command)
        #expect(asked.result == .uiRequired)
        #expect(asked.prompt?.termsURL == server.url + "/terms")
        #expect(SessionMemory(asked.session).terms == nil)
        command.session = asked.session
        command.answers = ["ok": "yes"]
        let done = try FormHelper().presentUI(command)
        #expect(done.result == .success)
        #expect(SessionMemory(done.session).terms?.count == 1)
        #expect(SessionMemory(done.session).shownTerms == nil)

        // At the next visit the daemon says that the user accepted the terms before.
        command.session = done.session
        command.answers = [:]
        command.consent = true
        #expect(try FormHelper().authenticate(command).result == .success)

        // A change of a number alone is a change of the terms too.
        terms.with { $0 = "Fine: 10" }
        let again = try FormHelper().authenticate(command)
        #expect(again.result == .uiRequired)
        #expect(again.prompt?.fields.map(\.name) == ["ok"])
        #expect(again.prompt?.message?.contains("The terms have changed") == true)
        // After a dismissed prompt the new terms are still not accepted.
        command.session = again.session
        #expect(try FormHelper().authenticate(command).result == .uiRequired)
        // An answer that does not accept the terms asks again.
        command.answers = ["ok": "no"]
        #expect(try FormHelper().presentUI(command).result == .uiRequired)
        command.answers = ["ok": "yes"]
        let accepted = try FormHelper().presentUI(command)
        #expect(accepted.result == .success)
        command.session = accepted.session
        command.answers = [:]
        #expect(try FormHelper().authenticate(command).result == .success)
        terms.with { $0 = "Fine: 10000" }
        #expect(try FormHelper().authenticate(command).result == .uiRequired)
    }

    /// A train shows its speed on every page, which is not part of the terms.
    @Test(arguments: ["header", "div"]) func whatStandsOnEveryPageIsNoTerms(_ element: String) throws {
        let (bar, terms) = (
            Locked("RE 4711, next stop Holzkirchen, 142 km/h"), Locked("Be kind. Smoke outside. Keep the doors free.")
        )
        let server = ScriptedServer { request in
            let bar = "<\(element)><b>Train</b> \(bar.with { $0 })</\(element)>"
            let box = "<label><input type=checkbox name=ok value=1>I accept the <a href=/terms>terms</a></label>"
            return switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/terms": .page("\(bar)<h1>Terms</h1><p>\(terms.with { $0 })</p>")
            case "/go": .page("You are now connected")
            default: .page("\(bar)<form action=/go>\(box)<button>Go</button></form>")
            }
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        (command.session, command.answers) = (try FormHelper().authenticate(command).session, ["ok": "yes"])
        let done = try FormHelper().presentUI(command)
        (command.session, command.answers, command.consent) = (done.session, [:], true)
        bar.with { $0 = "RE 4711, next stop Lenggries, 97 km/h" }
        #expect(try FormHelper().authenticate(command).result == .success)
        terms.with { $0 = "Be kind. Smoke nowhere. Keep the doors free." }
        #expect(try FormHelper().authenticate(command).prompt?.message?.contains("The terms have changed") == true)
    }

    /// After the login the portal shows a search for trains, and the gateway opens late.
    @Test(arguments: [
        (
            "<a href=/end>Disconnect</a>",
            "<form action=/find><label>Train number <input name=nr></label><button>Go</button></form>", true
        ),
        ("", "<form action=/find><label>To <input name=to></label><button>Find a connection</button></form>", true),
        ("", "<form action=/find><input type=search name=to><button>Go</button></form>", true),
        ("", "<form action=/find method=post><label>Your e-mail <input name=mail></label><button>Go</button></form>", false),
    ])
    func aPageBehindTheLoginAsksForSomethingElse(_ link: String, _ form: String, _ isDone: Bool) throws {
        let server = ScriptedServer { request in
            switch request.path {
            case "/go": .send(octets(redirect("/journey")))
            case "/journey": .page("<p>You are online. Next stop: Lenggries.</p>\(link)\(form)")
            case "/": .send(octets(redirect("/in")))
            default: .page("<form action=/go method=post><input type=submit value=Connect></form>")
            }
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        let reply = try FormHelper().authenticate(command)
        #expect(reply.result == (isDone ? .success : .uiRequired), "\(reply)")
        // If the network opens meanwhile, this login opened it.
        if !isDone { #expect(reply.prompt?.mayOpen == true) }
        #expect(!server.requests.contains { $0.path.hasPrefix("/find") })
    }

    /// If the portal is busy, the answer is not sent, so nothing is known about it.
    @Test func aPortalThatDoesNotAnswerTakesNothing() throws {
        let isBusy = Locked(false)
        let server = ScriptedServer { request in
            if request.path == "/" { return .send(octets(redirect("/in"))) }
            if isBusy.with({ $0 }) { return .send(octets(http(503, "Busy"))) }
            return .page("<form method=post action=/go><input name=room><input type=submit></form>")
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        command.session = try FormHelper().authenticate(command).session
        isBusy.with { $0 = true }
        command.answers = ["room": "214"]
        let reply = try FormHelper().presentUI(command)
        #expect(reply.result == .temporaryFailure && reply.unsent == ["room"])
    }

    /// Terms that could not be read when they were accepted have not changed.
    @Test(arguments: [404, 502]) func termsThatCanBeReadOnlyLater(status: Int) throws {
        let isBroken = Locked(true)
        let server = ScriptedServer { request in
            switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/terms": .send(octets(isBroken.with { $0 } ? http(status, "Gone") : http(200, "<p>Be kind.</p>")))
            case "/go": .page("You are now connected")
            default:
                .send(
                    octets(
                        http(
                            200,
                            "<form action=/go><label><input type=checkbox name=ok value=1>I accept the <a href=/terms>terms</a></label><button>Go</button></form>"
                        )))
            }
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        (command.session, command.answers) = (try FormHelper().authenticate(command).session, ["ok": "yes"])
        let done = try FormHelper().presentUI(command)
        (command.session, command.answers, command.consent) = (done.session, [:], true)
        #expect(try FormHelper().authenticate(command).result == .success, "they are still not there")
        isBroken.with { $0 = false }
        let again = try FormHelper().authenticate(command)
        #expect(again.prompt?.message?.hasPrefix("The terms could not be read when you accepted them.") == true)
        (command.session, command.answers) = (again.session, ["ok": "yes"])
        (command.session, command.answers) = (try FormHelper().presentUI(command).session, [:])
        #expect(try FormHelper().authenticate(command).result == .success)
        isBroken.with { $0 = true }
        #expect(try FormHelper().authenticate(command).result == .success, "they are not there again")
    }

    /// The box's label is accepted as well, so its change asks again, even if the page of the terms is the same.
    @Test func asksAgainWhenTheBoxSaysSomethingElse() throws {
        let words = Locked("the rules")
        let server = cafe(words) { words in
            "<form action=/go><label><input type=checkbox name=ok value=1>I accept the <a href='https://elsewhere.test/terms'>terms</a> and \(words)</label><input type=submit value=Connect></form>"
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        command.session = try FormHelper().authenticate(command).session
        command.answers = ["ok": "yes"]
        let done = try FormHelper().presentUI(command)
        #expect(done.result == .success, "\(done)")
        (command.session, command.answers, command.consent) = (done.session, [:], true)
        #expect(try FormHelper().authenticate(command).result == .success)

        // A memory of an earlier version of hotspotd causes no question, and includes the box from then on.
        var memory = SessionMemory(done.session)
        memory.terms = try #require(memory.terms).map { String($0.prefix { $0 != " " }) }
        command.session = Session(memory: memory.value)
        let upgraded = try FormHelper().authenticate(command)
        #expect(upgraded.result == .success && SessionMemory(upgraded.session).terms == SessionMemory(done.session).terms)

        words.with { $0 = "liability for all damages" }
        command.session = upgraded.session
        let again = try FormHelper().authenticate(command)
        #expect(again.result == .uiRequired && again.prompt?.fields.map(\.name) == ["ok"])
        #expect(again.prompt?.message?.contains("The terms have changed") == true)
        (command.session, command.answers) = (again.session, ["ok": "yes"])
        let accepted = try FormHelper().presentUI(command)
        (command.session, command.answers) = (accepted.session, [:])
        #expect(try FormHelper().authenticate(command).result == .success)
    }

    /// Only marked text counts as terms; other text may differ at each visit.
    @Test(arguments: [
        (#"<div class="card loginTerms">"#, "</div>", true), (#"<p id=agb>"#, "</p>", true),
        (#"<div style="height:9em; overflow-y: scroll">Terms of use. "#, "</div>", true),
        ("<textarea readonly>Terms of use. ", "</textarea>", true),
        (#"<div id=terms-modal style="display:none">"#, "<button type=button>Close</button></div>", true),
        ("<div>", "</div>", false), (#"<div class="terms-page">"#, "<select name=lang><option>English</select></div>", false),
        (#"<div style="overflow: auto">News: "#, "</div>", false),
    ])
    func asksAgainWhenMarkedTermsChange(_ open: String, _ close: String, _ isMarked: Bool) throws {
        let terms = Locked("Pay with a smile.")
        let server = cafe(terms) { terms in
            "<p>It is 12:0\(Int.random(in: 0...9)), guest \(Int.random(in: 0...9))</p><form action=/go>\(open)\(terms)\(close)<label><input type=checkbox name=ok value=1>I accept the terms</label><input type=submit value=Connect></form>"
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        command.answers = ["ok": "yes", "room": "1"]
        let asked = try FormHelper().authenticate(command)
        command.session = asked.session
        let done = try FormHelper().presentUI(command)
        #expect(done.result == .success, "\(done)")
        (command.session, command.answers, command.consent) = (done.session, [:], true)
        #expect(try FormHelper().authenticate(command).result == .success)
        terms.with { $0 = "Whistle at the door." }
        let again = try FormHelper().authenticate(command)
        #expect(again.result == (isMarked ? .uiRequired : .success))
        #expect((again.prompt?.terms?.contains("Whistle") ?? false) == isMarked)
    }

    /// The portal refuses a room at a later visit, and shows its page again with an error.
    @Test(arguments: [
        "<input type=checkbox id=t name=ok value=1><label for=t>I accept the terms of use (version 1)</label> <a href=/terms>Terms</a>",
        "<label><input type=checkbox name=ok value=1>I accept the <a href=/terms>terms</a></label>",
        "<div class=terms>Pay with a smile.</div><input type=checkbox id=t name=ok value=1><label for=t>I accept the terms</label>",
        "<p>By going on you accept the terms of use: pay with a smile.</p>",
    ])
    func aRefusalChangesNoTerms(_ words: String) throws {
        let rules = Locked("Pay with a smile.")
        let server = ScriptedServer { request in
            func page(_ error: String) -> String {
                let now = "<p>It is 12:0\(Int.random(in: 0...9))</p>"
                return now + error + "<form action=/go method=post><label for=r>Room</label><input id=r name=room>\(words)"
                    + "<input type=submit value=Connect></form>"
            }
            let isRight = request.body.contains("room=214")
            return switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/terms": .page("<h1>House rules</h1><p>\(rules.with { $0 })</p>")
            case "/go" where isRight: .page("You are now connected")
            case "/go": .page(page("<p class=error>The room is not known.</p>"))
            default: .page(page(""))
            }
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        func answer(_ answers: [String: String]) throws -> Reply {
            command.answers = answers
            let reply = try FormHelper().presentUI(command)
            command.session = reply.session
            return reply
        }
        command.session = try FormHelper().authenticate(command).session
        #expect(try answer(["room": "214", "ok": "yes", "accept_terms": "yes"]).result == .success)
        // A later visit; according to the daemon, the terms were accepted before.
        command.consent = true
        command.session = try FormHelper().authenticate(command).session
        let refused = try answer(["room": "350"])
        #expect(refused.prompt?.message == "The room is not known." && refused.prompt?.fields.map(\.name) == ["room"])
        #expect(try answer(["room": "214"]).result == .success)
        // The terms may change while the corrected answers are typed.
        guard words.contains("/terms") else { return }
        _ = try answer(["room": "350"])
        rules.with { $0 = "Pay 5 € for every hour." }
        #expect(try answer(["room": "214"]).prompt?.message?.contains("The terms have changed") == true)
    }

    /// The terms of a second page with only a button belong to the second page, not to the first.
    @Test func aSecondPageHasItsOwnTerms() throws {
        let second = Locked("be quiet")
        let server = ScriptedServer { request in
            func page(_ terms: String, _ target: String) -> String {
                "<p>By going on you accept the terms of use: \(terms).</p><form action=\(target)><input type=submit value=Connect></form>"
            }
            return switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/in": .page(page("be kind", "/two"))
            case "/two": .page(page(second.with { $0 }, "/go"))
            default: .page("You are now connected")
            }
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        // Counts the questions until the login succeeds; accepts all terms.
        func questions(consent: Bool) throws -> Int {
            (command.consent, command.answers) = (consent, [:])
            var (reply, count) = (try FormHelper().authenticate(command), 0)
            while reply.result == .uiRequired, count < 4 {
                (command.session, command.answers) = (reply.session, ["accept_terms": "yes"])
                (reply, count) = (try FormHelper().presentUI(command), count + 1)
            }
            #expect(reply.result == .success)
            command.session = reply.session
            return count
        }
        #expect(try questions(consent: false) > 0)
        _ = try questions(consent: true)
        #expect(try questions(consent: true) == 0)
        second.with { $0 = "whistle at the door" }
        #expect(try questions(consent: true) > 0)
    }

    /// A login over two pages, each with questions: nothing counts as refused.
    @Test(arguments: [false, true]) func twoPagesThatAsk(_ isMistyped: Bool) throws {
        let isOpen = Locked(false)
        let server = ScriptedServer { request in
            let second =
                "<form method=post action=/name><label>Surname <input name=name required></label><button>Go</button></form>"
            switch request.path {
            case "/": return .send(octets(isOpen.with { $0 } ? http(204, "") : redirect("/in")))
            case "/in":
                return .send(
                    octets(
                        http(
                            200,
                            "<form method=post action=/room><label>Room <input name=room required></label><button>Next</button></form>"
                        )))
            case "/room": return .page(second)
            default:
                if !request.body.contains("Brandt") {
                    return .page("<p class=error>Unknown name.</p>" + second)
                }
                isOpen.with { $0 = true }
                // A button that must not be pressed.
                return .send(
                    octets(http(200, "<h1>You are connected</h1><form method=post action=/bye><button>Leave us</button></form>")))
            }
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        var reply = try FormHelper().authenticate(command)
        let answers = [["room": "214"]] + (isMistyped ? [["name": "Brant"]] : []) + [["name": "Brandt"]]
        for answer in answers {
            #expect(reply.result == .uiRequired)
            // `mayOpen` is set after a page that was sent, but not after a refusal.
            #expect(
                (reply.prompt?.mayOpen == true) == (reply.prompt?.fields.first?.name == "name" && reply.prompt?.message == nil))
            (command.session, command.answers) = (reply.session, answer)
            reply = try FormHelper().presentUI(command)
        }
        #expect(reply.result == .success && (reply.refused ?? []).isEmpty && (reply.unsent ?? []).isEmpty)
        #expect(server.requests.last?.path != "/bye" && isOpen.with { $0 })
    }

    /// After the second page, the portal starts over until its gateway opens; a price beside the second form is not part of it.
    @Test(arguments: [false, true]) func aPortalThatBeginsAnewMayOpen(_ breaks: Bool) throws {
        let isBroken = Locked(breaks)
        let server = ScriptedServer { request in
            switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/name" where isBroken.with { $0 }: .send(octets(http(500, "Internal error")))
            case "/room":
                .send(
                    octets(
                        http(
                            200,
                            "<form method=post action=/name><label>Surname <input name=name required></label><button>Go</button></form><a href=/fast>Fast Wi-Fi, 5 EUR</a>"
                        )))
            default:
                .send(
                    octets(
                        http(
                            200,
                            "<h1>Business lounge</h1><form method=post action=/room><label>Room <input name=room required></label><button>Next</button></form>"
                        )))
            }
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        var reply = try FormHelper().authenticate(command)
        let last =
            breaks ? "The portal answered with status 500. It says: Internal error. " + FormEngine.wayOut : FormEngine.unexplained
        for (answers, message) in [(["room": "214"], nil), (["name": "Brandt"], last)] {
            (command.session, command.answers) = (reply.session, answers)
            reply = try FormHelper().presentUI(command)
            #expect(reply.result == .uiRequired && reply.prompt?.message == message, "\(reply)")
        }
        guard !breaks else {
            isBroken.with { $0 = false }
            return #expect(reply.prompt?.fields.map(\.name) == ["name"] && reply.prompt?.mayOpen == nil)
        }
        #expect(reply.prompt?.fields.first?.value == "214" && reply.prompt?.mayOpen == true)
        #expect(server.requests.contains { $0.path == "/name" && $0.body == "name=Brandt" })
    }

    /// The portal shows its form again without an error, or the hotel's page that leads to the form: the network may be about to open.
    @Test(arguments: ["", "<p class=error>Unknown room.</p>", "house"]) func aPortalThatAsksAgainMayOpen(_ behind: String) throws
    {
        let server = ScriptedServer { request in
            let form =
                "<h1>Half an hour of free Wi-Fi, on the house.</h1><form method=post action=/room><label>Room <input name=room required></label><button>Next</button></form>"
            return switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/in": .page(form)
            case "/house":
                .page("<h1>Pumpkin season</h1><a href=/menu>Menu</a><p><a href=/in>Get free Wi-Fi</a></p>")
            default: .send(octets(behind == "house" ? redirect("/house") : http(200, behind + form)))
            }
        }
        let saysWhy = behind.contains("error")
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        command.session = try FormHelper().authenticate(command).session
        command.answers = ["room": "214"]
        let again = try FormHelper().presentUI(command)
        #expect(again.result == .uiRequired && again.prompt?.mayOpen == (saysWhy ? nil : true))
    }

    /// After the answers, the portal leads back to the hotel's page until the gateway opens: no question is repeated.
    @Test func aPageOfTheHouseBehindTheAnswersIsTheEnd() throws {
        let isIn = Locked(false)
        let server = ScriptedServer { request in
            switch request.path {
            case "/wlan" where isIn.with { $0 }: .send(octets(redirect("/house")))
            case "/wlan":
                .page("<form method=post action=/go><input name=room required><button>Go</button></form>")
            case "/go":
                .send(
                    octets(
                        isIn.with {
                            $0 = true; return redirect("/house")
                        }))
            case "/house": .page("<h1>Clinic</h1><a href=/wlan>To the free Wi-Fi</a>")
            default: .send(octets(redirect("/house")))
            }
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        command.session = try FormHelper().authenticate(command).session
        command.answers = ["room": "214"]
        let reply = try FormHelper().presentUI(command)
        #expect(reply.result == .success && (reply.refused ?? []).isEmpty && reply.unsent == nil, "\(reply)")
    }

    /// Two ways on one page, both filled in: a tick for the first way counts for the second, and stored answers are not sent if the typed
    /// answers are refused.
    @Test(arguments: [false, true]) func twoWaysThatAreFilledIn(_ isRoomStored: Bool) throws {
        let room =
            "<form method=post action=/room><input name=room><input name=name><input type=checkbox name=ok value=1 required> I accept the terms<button>Room</button></form>"
        let code =
            "<form method=post action=/code><input name=code placeholder='Access code'><input type=checkbox name=ok value=1 required> I accept the terms<button>Code</button></form>"
        let server = ScriptedServer { request in
            switch request.path {
            case "/in": return .page(room + code)
            case "/room":
                return .page("<p class=error>The room and the name do not match.</p>" + room + code)
            case "/code" where request.body.contains("good"): return .page("<h1>You are connected</h1>")
            case "/code": return .page("<p class=error>This code is not valid.</p>" + room + code)
            default: return .send(octets(redirect("/in")))
            }
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        command.session = try FormHelper().authenticate(command).session
        command.answers = ["room": "413", "name": "Keller", "ok": "yes", "code": isRoomStored ? "bad" : "good"]
        command.confirmed = isRoomStored ? ["room", "name"] : []
        let reply = try FormHelper().presentUI(command)
        let posts = server.requests.filter { $0.method == "POST" }
        if isRoomStored {
            #expect(reply.prompt?.message?.hasPrefix("This code is not valid.") == true, "\(reply)")
            #expect(posts.map(\.body) == ["code=bad&ok=1"])
        } else {
            #expect(reply.result == .success && posts.map(\.body) == ["room=413&name=Keller&ok=1", "code=good&ok=1"], "\(reply)")
        }
    }

    @Test func theAnswerToABoxIsNotHidden() throws {
        let form =
            "<form method=post action=/go><input name=room required><input type=checkbox name=ok value=yes required> I accept the terms<button>Go</button></form>"
        let server = ScriptedServer { request in
            switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/in": .page(form)
            default: .page("<p class=error>Yes, but not with room 214.</p>" + form)
            }
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        command.session = try FormHelper().authenticate(command).session
        command.answers = ["room": "214", "ok": "yes"]
        #expect(try FormHelper().presentUI(command).prompt?.message == "Yes, but not with room ….")
    }

    /// The page after the login belongs to another host and links the portal's logoff; or that page is missing or has no logoff, and the
    /// portal's first page has it.
    @Test(arguments: [nil, http(404, "Gone"), http(200, "You are online!")]) func theLogoffOfAnotherPage(_ status: String?) throws
    {
        let page = Locked("")
        let welcome = ScriptedServer { _ in .page(page.with { $0 }) }
        let server = ScriptedServer { request in
            switch request.path {
            case "/bye": .page("Good bye")
            case "/status": .send(octets(status ?? redirect(welcome.url + "/")))
            case "/": .page(status == nil ? "Welcome" : "<a href=/bye>Log out</a>")
            default: .send(octets(http(404, "no")))
            }
        }
        page.with { $0 = "<a href='\(server.url)/bye'>Sign out</a><a href='/other'>Log out</a>" }
        var memory = SessionMemory()
        (memory.origin, memory.statusPage) = (server.url, server.url + "/status")
        var command = command(server)
        command.session = Session(memory: memory.value)
        #expect(try FormHelper().logoff(command).result == .success)
        #expect(server.requests.last?.path == "/bye")
    }

    @Test func termsStayAcceptedOverALogoff() throws {
        let terms = Locked("Pay with a smile.")
        let server = cafe(terms)
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        command.session = try FormHelper().authenticate(command).session
        command.answers = ["ok": "yes"]
        let done = try FormHelper().presentUI(command)
        #expect(done.result == .success)
        command.session = done.session
        command.answers = [:]
        let ended = try FormHelper().logoff(command)
        // This portal offers no logoff; the memory is kept for another try.
        #expect(
            ended.result == .failure && ended.reason == "The portal's page offers no way to log off."
                && ended.session == nil)
        command.session = Session(memory: SessionMemory(done.session).forNextLogin.value)
        command.consent = true
        #expect(try FormHelper().authenticate(command).result == .success)
        terms.with { $0 = "Pay 5 € for every hour." }
        #expect(try FormHelper().authenticate(command).prompt?.message?.contains("The terms have changed") == true)
    }

    // MARK: A page that changes while its question waits

    /// A portal whose page changes once its question was asked.
    private func answered(_ first: String, then second: String, _ answers: [String: String]) throws -> (Reply, ScriptedServer) {
        let page = Locked(first)
        let server = ScriptedServer { request in
            .send(octets(request.path == "/" ? redirect("/in") : http(200, page.with { $0 })))
        }
        var command = command(server)
        command.portal = try FormHelper().evaluate(command).portal
        command.session = try FormHelper().authenticate(command).session
        page.with { $0 = second }
        command.answers = answers
        return (try FormHelper().presentUI(command), server)
    }

    @Test func anOpenPortalGetsNoAnswers() throws {
        let form = "<form method=post action=/go><input name=room><input name=mail><input type=submit></form>"
        let typed = ["room": "214", "mail": ""]
        let (reply, server) = try answered(form, then: "<p>You are online.</p>", typed)
        // The network is not open, and nothing was sent that could open it.
        #expect(reply.result == .uiRequired && reply.prompt?.unsent == ["room"], "\(reply)")
        #expect(reply.reason == "The portal's page has no questions, but the network is not open. It says: You are online.")
        #expect(!server.requests.contains { $0.method == "POST" })

        let open = ScriptedServer(["/": "HTTP/1.1 204 No Content\r\n\r\n"])
        var command = command(open)
        command.answers = typed
        #expect(try FormHelper().presentUI(command).unsent == ["room"])
        #expect(try WISPrHelper().presentUI(command).unsent == ["room"])
        // Nothing was asked.
        command.answers = [:]
        #expect(try FormHelper().presentUI(command).unsent == [], "nothing at all was sent")
    }

    /// Typed answers are for a form: a page without a form is not a success.
    @Test func aPortalThatIsBrokenNowGetsNoAnswersAndFreesNothing() throws {
        let form = "<form method=post action=/go><input name=room><input type=submit></form>"
        let (reply, server) = try answered(form, then: "<h1>Service unavailable</h1>", ["room": "214"])
        #expect(reply.result == .temporaryFailure && reply.reason?.contains("Service unavailable") == true, "\(reply)")
        #expect(!server.requests.contains { $0.method == "POST" })
    }

    @Test func aGatewayThatOpensAndBreaksItsAnswerOffHasLoggedIn() throws {
        for opens in [true, false] {
            let isOpen = Locked(false)
            let server = ScriptedServer { request in
                switch request.path {
                case "/": .send(octets(isOpen.with { $0 } ? "HTTP/1.1 204 No Content\r\n\r\n" : redirect("/in")))
                case "/go":
                    isOpen.with {
                        $0 = opens
                        return .send([])
                    }
                default: .page("<form method=post action=/go><input type=submit value=Connect></form>")
                }
            }
            let reply = try FormHelper().authenticate(command(server))
            #expect(reply.result == (opens ? .success : .temporaryFailure) && reply.unsent == nil, "\(reply)")
        }
    }

    @Test func aFieldThatCameLaterIsExplained() throws {
        func form(_ fields: String) -> String { "<form method=post action=/go>\(fields)<input type=submit></form>" }
        let changed = "The page has changed, so nothing was sent."
        let room = form("<input name=room>")
        let (more, server) = try answered(room, then: form("<input name=room><input name=mail>"), ["room": "214"])
        #expect(more.result == .uiRequired && more.prompt?.message == changed, "\(more)")
        #expect(!server.requests.contains { $0.method == "POST" })
        let (other, _) = try answered(room, then: form("<input name=voucher>"), ["room": "214"])
        #expect(other.prompt?.message == changed && other.prompt?.unsent == ["room"])
        // The page is the same, and the answer is at fault.
        let short = form("<input name=room maxlength=2>")
        let (same, _) = try answered(short, then: short, ["room": "214"])
        #expect(same.prompt?.message?.contains(changed) == false)
    }

    /// The page links to its logoff once the gateway has opened, which is after the login.
    @Test(arguments: [true, false]) func looksForALogoffThatCameLate(isOffered: Bool) throws {
        let server = ScriptedServer { request in
            switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/status": .page(isOffered ? "<a href=/bye>Log out</a>" : "Welcome")
            case "/hop": .send(octets(redirect("/status")))
            case "/bye": .page("Bye")
            default: .page("<form method=post action=/hop><input type=submit value=Continue></form>")
            }
        }
        var command = command(server)
        let done = try FormHelper().authenticate(command)
        #expect(done.result == .success)
        command.session = done.session
        if isOffered {
            // As in a session that began before the page had a logoff.
            var memory = SessionMemory(done.session)
            memory.logoff = nil
            command.session = Session(memory: memory.value)
        }
        let before = server.requests.count
        let reply = try FormHelper().logoff(command)
        #expect(reply.result == (isOffered ? .success : .failure))
        if isOffered {
            #expect(reply.reason == "The portal answered: Bye")
            let kept = SessionMemory(reply.session)
            #expect(kept.origin == server.url && kept.cookies == nil && kept.logoff == nil && kept.statusPage == nil)
        }
        #expect(server.requests.dropFirst(before).map(\.path) == (isOffered ? ["/status", "/bye"] : ["/status", "/", "/in"]))
    }

    @Test func aLogoffThatNothingIsRememberedForSaysSo() throws {
        var command = command(ScriptedServer([:]))
        command.session = nil
        #expect(try FormHelper().logoff(command).reason == "hotspotd does not know how to log off here.")
    }

    /// An address that a form has made may have the answers in its query.
    @Test func keepsNoAnswersInAnAddress() throws {
        let server = ScriptedServer([
            "/": redirect("/in"), "/in": http(200, "<form action=/go><input name=room><input type=submit></form>"),
            "/go": http(200, "You are now connected"),
        ])
        var command = command(server)
        command.portal = Portal(origin: server.url, kind: "form")
        command.session = try FormHelper().authenticate(command).session
        command.answers = ["room": "214"]
        let done = try FormHelper().presentUI(command)
        #expect(done.result == .success && server.requests.last?.target == "/go?room=214")
        #expect(SessionMemory(done.session).statusPage == server.url + "/in")
    }

    @Test func keepsConsentForTermsThatWereNeverSeen() throws {
        let server = cafe(Locked("x"))
        var command = command(server)
        command.portal = Portal(origin: server.url, kind: "form")
        command.consent = true
        // Consent by policy: there is no fingerprint of accepted terms.
        #expect(try FormHelper().authenticate(command).result == .success)
        #expect(!server.requests.contains { $0.path == "/terms" })
    }

    @Test func showsTermsOfThePageItself() throws {
        let server = ScriptedServer { request in
            .send(
                octets(
                    request.path == "/"
                        ? redirect("/in")
                        : http(
                            200,
                            "<p>By going on you accept the terms of use: be kind.</p><form><input type=submit value=Continue></form>"
                        )))
        }
        let reply = try FormHelper().authenticate(command(server))
        #expect(reply.prompt?.termsURL == nil)
        #expect(reply.prompt?.terms?.contains("be kind") == true)
    }

    @Test func fingerprintsIgnoreTimesAndTokens() {
        let one = Terms.fingerprint(of: "Rule 1: Be kind.\n It is 12:05:33 on 1.7.2026 at 192.0.2.7, token 8f3a77c1d2e4b5")
        #expect(one == Terms.fingerprint(of: "rule 1: be kind. It is 07:15:00 on 3.9.2027 at 192.0.2.99, token 00ff77c1d2e4b5"))
        #expect(one != Terms.fingerprint(of: "Rule 1: Be quick. It is 12:05:33 on 1.7.2026 at 192.0.2.7, token 8f3a77c1d2e4b5"))
        #expect(Terms.fingerprint(of: "5 € an hour") != Terms.fingerprint(of: "9 € an hour"))
        #expect(Terms.fingerprint(of: "Version 1: be kind") != Terms.fingerprint(of: "Version 2: be kind"))
    }

    // MARK: Round trips

    /// A login that follows from Maintain has an attempt of its own and reuses the probe and the page of Maintain.
    @Test func aLoginReusesTheProbeOfMaintain() throws {
        let server = ScriptedServer([
            "/": redirect("/in"), "/in": http(200, "<form action=/go><input type=submit value=Continue></form>"),
            "/go": http(200, "You are now connected"),
        ])
        let attempts = SharedProbe()
        let service = HelperService([FormHelper()], version: "1", attempts: attempts, policy: .testing())
        var link = loopback(probe: server.url + "/")
        let network = Coding.value(Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open))
        func ask(_ method: String) -> String? {
            let call = Call(
                method: "org.hotspotd.Helper." + method, parameters: .object(["network": network, "link": Coding.value(link)]))
            return service.dispatch(call, name: "form", Cancellation()).parameters?["reply"]?["result"]?.string
        }
        #expect(ask("Maintain") == "authenticationRequired")
        #expect(server.requests.map(\.path) == ["/", "/in"])
        link.attempt += "-2"
        #expect(ask("Authenticate") == "success")
        #expect(server.requests.map(\.path) == ["/", "/in", "/go"])
        // The results from before the login are outdated.
        link.attempt += "-3"
        #expect(ask("Maintain") == "authenticationRequired")
        #expect(server.requests.map(\.path) == ["/", "/in", "/go", "/", "/in"])
    }
}
