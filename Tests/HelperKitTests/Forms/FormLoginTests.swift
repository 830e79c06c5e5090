import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PageLogin

/// Whole logins against portals on loopback.
@Suite struct FormLoginTests {
    private let store = SharedProbe()

    private func command(_ link: Link, attempts: SharedProbe? = nil, authorities: String? = nil) -> HelperCommand {
        HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: link,
            scope: Scope(deadline: .after(milliseconds: 30_000)), attempts: attempts ?? store,
            policy: .testing(authorities: authorities))
    }

    private func run(_ command: HelperCommand, typed: Bool = false) -> Reply {
        FormLogin(kind: "form", command: command).run(from: nil, isTypedNow: typed)
    }

    private let splash = """
        <title>Aroma</title><form action="/opennds_preauth/" method="get"><input type="hidden" name="fas" value="aGk9PQ==">
        <input type="hidden" name="continue" value="clicked"><input type="submit" value="Continue"></form>
        <form action="/opennds_preauth/" method="get"><input type="hidden" name="terms" value="yes">
        <b>By clicking Continue, you accept the</b><br><input type="submit" value="Read the Terms of Service   "></form>
        """

    private func openNDS() -> ScriptedServer {
        let splash = splash
        return ScriptedServer { request in
            func page(_ body: String) -> ScriptedServer.Action { .page(body) }
            if request.target.contains("landing=yes") {
                return page("<p>You are now logged in</p><form><input type=button value=Continue onClick='x'></form>")
            }
            if request.target.contains("continue=clicked") {
                return page(
                    "<p>Thanks</p><form action='/opennds_preauth/'><input type=hidden name=fas value='aGk9PQ=='><input type=hidden name=landing value=yes><input type=submit value=Continue></form>"
                        + String(repeating: "\u{0}", count: 500))
            }
            if request.target.contains("fas=") { return page(splash) }
            return .send(octets(redirect("/opennds_preauth/?fas=aGk9PQ%3d%3d", status: 307)))
        }
    }

    @Test func clicksThroughOpenNDS() throws {
        let server = openNDS()
        var command = command(loopback(probe: server.url + "/generate_204"))
        let result = try #require(command.probe())
        let page = try #require(FormLogin(kind: "form", command: command).inspect(from: result))
        #expect(page.portal.origin == server.url)
        #expect(page.portal.title == "Aroma")
        command.portal = page.portal
        #expect(run(command).result == .uiRequired)
        command.consent = true
        let reply = run(command)
        #expect(reply.result == .success)
        #expect(SessionMemory(reply.session).logoff?.url == server.url + "/opennds_deny/")
        // One probe, the page for the evaluation, the terms for the prompt, the page again for the login, two clicks.
        #expect(server.requests.map(\.path) == ["/generate_204"] + Array(repeating: "/opennds_preauth/", count: 5))
        #expect(server.requests[2].target.hasSuffix("?terms=yes"))
        #expect(server.requests[4].target == "/opennds_preauth/?fas=aGk9PQ%3D%3D&continue=clicked")
    }

    /// A portal that accepts one room only, with a token that is valid once.
    private func hotel() -> ScriptedServer {
        let tokens = Locked((last: 0, valid: Set<Int>()))
        return ScriptedServer { request in
            func form(_ error: String) -> ScriptedServer.Action {
                let number = tokens.with { tokens in
                    tokens.last += 1
                    tokens.valid.insert(tokens.last)
                    return tokens.last
                }
                return .send(
                    octets(
                        http(
                            200,
                            "<title>Hotel</title>\(error)<form method=post action=/login><input type=hidden name=t value=\(number)><label>Room <input name=room></label><input type=submit></form>",
                            "Set-Cookie: visit=\(number)")))
            }
            switch request.path {
            case "/": return .send(octets(redirect("/welcome")))
            case "/login":
                let token = request.body.split(separator: "&").first.flatMap { Int($0.dropFirst(2)) } ?? 0
                guard tokens.with({ $0.valid.remove(token) }) != nil, request.header("cookie") == "visit=\(token)" else {
                    return .send(octets(http(403, "stale")))
                }
                return request.body.hasSuffix("room=214")
                    ? .send(octets(redirect("/done", status: 303))) : form("<p class=error>Unknown room.</p>")
            case "/done": return .page("<a href='/logout'>Log out</a>")
            case "/logout": return .page("bye")
            default: return form("")
            }
        }
    }

    /// The portal redirects the probe, or answers it in place.
    @Test(arguments: ["/", "/welcome"]) func asksUntilTheAnswerIsRight(_ probe: String) throws {
        let server = hotel()
        var command = command(loopback(probe: server.url + probe))
        var reply = run(command)
        #expect(reply.result == .uiRequired)
        #expect(reply.prompt?.fields.map(\.label) == ["Room"])
        command.portal = reply.portal
        command.session = reply.session
        command.answers = ["room": "9"]
        reply = run(command, typed: true)
        #expect(reply.result == .uiRequired)
        #expect(reply.prompt?.message?.hasPrefix("Unknown room.") == true)
        command.session = reply.session
        command.answers = ["room": "214"]
        reply = run(command, typed: true)
        #expect(reply.result == .success)
        #expect(SessionMemory(reply.session).logoff?.url == server.url + "/logout")
        command.session = reply.session
        #expect(PortalLogoff.run(command).result == .success)
        #expect(server.requests.last?.path == "/logout")
        for line in reply.trace ?? [] { #expect(!line.contains("214")) }
    }

    /// A redirect of the probe sets a cookie, which only its own host gets back. A probe sends none.
    @Test func aRedirectHandsItsCookiesToTheLogin() throws {
        let other = ScriptedServer(host: 2, ["/in": http(200, "<title>Other</title>")])
        let server = ScriptedServer { request in
            let target = request.path == "/away" ? other.url + "/in" : "/in"
            if request.path != "/in" {
                return .send(octets(http(302, "", "Location: \(target)", "Set-Cookie: visit=canary; Path=/")))
            }
            return .page("<form method=post action=/login><input name=room><button>Go</button></form>")
        }
        for path in ["/", "/away"] {
            let reply = run(command(loopback(probe: server.url + path)))
            for line in reply.trace ?? [] { #expect(!line.contains("canary")) }
        }
        let cookies = server.requests.map { $0.path + " " + ($0.header("cookie") ?? "none") }
        #expect(cookies.contains("/in visit=canary") && !cookies.contains("/ visit=canary") && !cookies.contains("/in none"))
        #expect(!other.requests.isEmpty && other.requests.allSatisfy { $0.header("cookie") == nil })
    }

    /// The portal fills the refused values into its form again. After three wrong answers, some portals lock the room.
    @Test(arguments: [true, false]) func sendsARefusedAnswerOnce(_ isTyped: Bool) throws {
        let server = ScriptedServer { request in
            let room = request.body.split(separator: "&").first?.dropFirst("room=".count) ?? ""
            let form =
                "<form method=post action=/login><input name=room value='\(room)'><input name=name value=''><button>Go</button></form>"
            if room == "214" { return .page("You are now connected") }
            return .send(octets(request.path == "/" ? redirect("/in") : http(200, form)))
        }
        var command = command(loopback(probe: server.url + "/"))
        command.portal = Portal(origin: server.url, kind: "form")
        let answers = ["room": "9", "name": "Brandt"]
        if isTyped { command.answers = answers } else { command.credential = answers }
        let refused = run(command, typed: isTyped)
        #expect(refused.result == .uiRequired)
        #expect(refused.prompt?.message == FormEngine.unexplained)
        #expect(refused.prompt?.fields.map(\.value) == ["9", "Brandt"])
        #expect(server.requests.count { $0.method == "POST" } == 1)
        command.session = refused.session
        command.answers = ["room": "214", "name": "Brandt"]
        #expect(run(command, typed: true).result == .success)
        #expect(server.requests.count { $0.method == "POST" } == 2)
    }

    /// Until its gateway has opened, a portal may lead back to its login; a wrong answer without an error looks the same.
    @Test(arguments: [true, false]) func waitsForAGatewayThatOpensLate(_ opens: Bool) throws {
        let probes = Locked(0)
        let server = ScriptedServer { request in
            if request.path == "/in" {
                return .page("<form method=post action=/login><input name=room><button>Go</button></form>")
            }
            if request.path == "/login" { return .send(octets(redirect("/in"))) }
            let isOpen =
                opens
                && probes.with {
                    $0 += 1; return $0 > 2
                }
            return .send(octets(isOpen ? "HTTP/1.1 204 No Content\r\n\r\n" : redirect("/in")))
        }
        var command = command(
            loopback(probe: server.url + "/"), attempts: SharedProbe(looks: [], patience: [1, 1, 1]))
        command.portal = Portal(origin: server.url, kind: "form")
        command.answers = ["room": "214"]
        let reply = run(command, typed: true)
        #expect(reply.result == (opens ? .success : .uiRequired) && reply.unsent == nil)
        #expect(server.requests.count { $0.method == "POST" } == 1)
    }

    /// Typed answers are offered again after a page that does not mention them; the portal's first page may fail as well.
    @Test func aServerErrorIsToldAndAskedAgain() throws {
        let server = ScriptedServer { request in
            if request.path == "/login" { return .send(octets(http(500, "<h1>Internal Server Error</h1>"))) }
            let form = "<form method=post action=/login><input name=room><button>Go</button></form>"
            return .send(octets(request.path == "/" ? redirect("/in") : http(200, form)))
        }
        var command = command(loopback(probe: server.url + "/"))
        command.portal = Portal(origin: server.url, kind: "form")
        command.answers = ["room": "214"]
        let reply = run(command, typed: true)
        let told = "The portal answered with status 500. It says: Internal Server Error. " + FormEngine.wayOut
        #expect(reply.result == .uiRequired && reply.prompt?.message == told)
        #expect(reply.refused == nil, "a server's error is no judgement of the answers")
        #expect(reply.prompt?.fields.map(\.value) == ["214"])
        // Stored answers are tried again without asking.
        (command.answers, command.credential) = ([:], ["room": "214"])
        #expect(run(command).result == .temporaryFailure)

        let broken = ScriptedServer([
            "/": redirect("/in"), "/in": http(503, "<h1>Service Unavailable</h1>"),
        ])
        let failed = run(self.command(loopback(probe: broken.url + "/"), attempts: SharedProbe()))
        #expect(failed.result == .temporaryFailure && failed.reason == "The portal answered with status 503.")
    }

    /// New words on a page are about the answers, even if nothing marks them.
    @Test func whatIsNewOnARefusedPageIsItsReason() throws {
        let words = Locked("")
        let server = ScriptedServer { request in
            let form = "<form method=post action=/login><input name=card><button>Go</button></form>"
            let said = request.path == "/login" ? "<div style='color:#FF8080'>\(words.with { $0 })</div>" : ""
            return .send(octets(request.path == "/" ? redirect("/in") : http(200, "<h1>City Library</h1>" + form + said)))
        }
        var command = command(loopback(probe: server.url + "/"))
        command.portal = Portal(origin: server.url, kind: "form")
        command.answers = ["card": "70012345"]
        for said in ["no more sessions are allowed for user 70012345", "RADIUS server is not responding", ""] {
            words.with { $0 = said }
            let reply = run(command, typed: true)
            let shown = said.replacing("70012345", with: "…")
            #expect(reply.prompt?.message == (said.isEmpty ? FormEngine.unexplained : shown), "\(reply)")
            command.session = reply.session
        }
    }

    /// If a page waits before it leads on, hotspotd waits as well, and does not press the same button again and again.
    @Test func aPageThatWaitsIsWaitedFor() throws {
        let server = ScriptedServer { request in
            switch request.path {
            case "/": .send(octets(redirect("/splash")))
            case "/auth":
                .send(
                    octets(
                        http(
                            200,
                            "<meta http-equiv=refresh content='2;url=/splash'><p>Please wait, you will be connected in 2 seconds</p>"
                        )))
            default:
                .send(
                    octets(
                        http(
                            200,
                            "<form action=/auth><input type=hidden name=tok value=\(Int.random(in: 0...999_999))><button>Connect</button></form>"
                        )))
            }
        }
        var command = command(loopback(probe: server.url + "/"))
        command.portal = Portal(origin: server.url, kind: "form")
        let began = ContinuousClock.now
        let reply = run(command)
        #expect(reply.reason == "The portal shows the same page again." && reply.prompt?.mayOpen == true)
        #expect(server.requests.map(\.path).filter { $0 == "/auth" }.count == 1)
        #expect(ContinuousClock.now - began >= .seconds(2))
    }

    /// hotspotd confirms the logoff if the portal asks. A missing page is reported as missing, not as a page without a logoff.
    @Test func aLogoffIsConfirmed() throws {
        let server = ScriptedServer { request in
            switch (request.method, request.path) {
            case ("GET", "/leave"):
                .send(
                    octets(
                        http(
                            200,
                            "<p>Do you really want to log out?</p><form action=/leave2 method=post><button name=a value=yes>Yes, log out</button></form><form action=/ok><button>No, stay online</button></form>"
                        )))
            case ("POST", "/leave2"): .page("Goodbye")
            case (_, "/gone"), (_, "/"): .send(octets(http(404, "Not found")))
            default: .page("<h1>You are online</h1><a href=/leave>Log out</a>")
            }
        }
        var command = command(loopback(probe: server.url + "/"))
        func logOff(_ statusPage: String) -> Reply {
            var memory = SessionMemory()
            (memory.origin, memory.statusPage) = (server.url, server.url + statusPage)
            command.session = Session(memory: memory.value)
            return PortalLogoff.run(command)
        }
        let reply = logOff("/me")
        #expect(reply.result == .success && reply.reason == "The portal answered: Goodbye")
        #expect(server.requests.last.map { "\($0.method) \($0.path) \($0.body)" } == "POST /leave2 a=yes")
        #expect(
            logOff("/gone").reason == "hotspotd does not know how to log off here: the portal's page answered with status 404.")
    }

    /// The encoding that a form asks for is kept with its request.
    @Test func aLogoffKeepsItsEncoding() throws {
        let form =
            "<form action=/out method=post enctype=multipart/form-data><input type=hidden name=t value=1><button>Log out</button></form>"
        let server = ScriptedServer { $0.path == "/out" ? .page("Goodbye") : .page("<h1>You are online</h1>\(form)") }
        var command = command(loopback(probe: server.url + "/"))
        var memory = SessionMemory()
        (memory.origin, memory.statusPage) = (server.url, server.url + "/me")
        command.session = Session(memory: memory.value)
        #expect(PortalLogoff.run(command).result == .success)
        let request = try #require(server.requests.last)
        let boundary = try #require(request.header("Content-Type")?.split(separator: "multipart/form-data; boundary=").first)
        #expect(request.path == "/out" && request.body.hasPrefix("--\(boundary)\r\n"))
    }

    /// The portal has forgotten its visitor since the login, and accepts only the form that it shows now.
    @Test(arguments: [302, 419, 200]) func aFormOfTheLoginIsFetchedAgain(_ status: Int) throws {
        let server = ScriptedServer { request in
            let page =
                "<h1>Signed in</h1><form action=/logout method=post><input type=hidden name=t value=new><button>Sign out</button></form>"
            if request.path != "/logout" { return .page(request.path == "/status" ? page : "Please log in.") }
            if request.body == "t=new" { return .page("You have signed out.") }
            if status == 302 { return .send(octets(redirect("/status"))) }
            return .send(octets(http(status, status == 200 ? page : "Page expired")))
        }
        var command = command(loopback(probe: server.url + "/"))
        var memory = SessionMemory()
        (memory.origin, memory.statusPage) = (server.url, server.url + "/status")
        memory.logoff = .init(url: server.url + "/logout", body: "t=old")
        command.session = Session(memory: memory.value)
        let reply = PortalLogoff.run(command)
        #expect(reply.result == .success && reply.reason == "The portal answered: You have signed out.", "\(reply)")
        let asked = server.requests.map { $0.path + $0.body }
        #expect(asked == (status == 200 ? ["/logoutt=old", "/logoutt=new"] : ["/logoutt=old", "/status", "/logoutt=new"]))
    }

    /// If the key has changed, another attempt would find the same key, so there is no other attempt.
    @Test func aLogoffAtAnotherKeyIsNotTriedAgain() throws {
        let authority = try Authority()
        let server = ScriptedServer { _ in .page("Bye") }
        let origin = "https://127.0.0.1:\(try authority.front(server))"
        var command = command(loopback(probe: origin + "/"), authorities: authority.file)
        var memory = SessionMemory()
        (memory.origin, memory.pin) = (origin, "cGlu")
        memory.logoff = .init(url: origin + "/logout", body: nil)
        command.session = Session(memory: memory.value)
        let reply = PortalLogoff.run(command)
        #expect(reply.result == .failure && reply.reason?.contains("key") == true && server.requests.isEmpty, "\(reply)")
    }

    @Test func aCertificateOfAnotherTimeIsHandedOver() throws {
        let authority = try Authority()
        try authority.certify("past", from: "19700101000000Z", to: "19710101000000Z")
        let portal = ScriptedServer { _ in .page("in") }
        let server = ScriptedServer(["/": redirect("https://127.0.0.1:\(try authority.front(portal, name: "past"))/")])
        let reply = run(command(loopback(probe: server.url + "/"), authorities: authority.file))
        #expect(reply.result == .uiRequired && reply.prompt?.fields.isEmpty == true, "\(reply)")
        #expect(reply.prompt?.message?.hasPrefix("The certificate is not valid today; is this machine's clock right?") == true)
        #expect(portal.requests.isEmpty)
    }

    /// Terms linked in a sentence are accepted only once, even if the first answer is refused.
    @Test func termsOfASentenceAreAcceptedOnce() throws {
        let server = ScriptedServer { request in
            let error = request.body.contains("room=9") ? "<p class=error>Unknown room.</p>" : ""
            if request.body.contains("room=214") { return .page("You are now connected") }
            if request.path == "/terms" { return .page("Be nice.") }
            let form =
                "<form method=post action=/in><label>Room <input name=room></label><p>By logging in you accept our <a href=/terms>terms of use</a>.</p><button>Log in</button></form>"
            return .send(octets(request.path == "/" ? redirect("/in") : http(200, error + form)))
        }
        var command = command(loopback(probe: server.url + "/"))
        command.portal = Portal(origin: server.url, kind: "form")
        var reply = run(command)
        #expect(reply.prompt?.fields.map(\.name) == ["room", "accept_terms"])
        command.session = reply.session
        command.answers = ["room": "9", "accept_terms": "yes"]
        reply = run(command, typed: true)
        #expect(reply.prompt?.fields.map(\.name) == ["room"] && reply.prompt?.message == "Unknown room.")
        command.session = reply.session
        command.answers = ["room": "214"]
        #expect(run(command, typed: true).result == .success)
        #expect(server.requests.count { $0.method == "POST" } == 2)
    }

    /// The page behind the login asks for an opinion, and the network is open.
    @Test(arguments: [true, false]) func aQuestionBehindTheLoginIsNoneOfIt(isOpen: Bool) throws {
        let posted = Locked(false)
        let server = ScriptedServer { request in
            if request.method == "POST" { posted.with { $0 = true } }
            if request.path == "/", isOpen, posted.with({ $0 }) { return .send(octets(http(204, ""))) }
            let survey =
                "<h1>Tell us</h1><form method=post action=/survey><fieldset><legend>How?</legend><label><input type=radio name=how value=a>Good</label><label><input type=radio name=how value=b>Bad</label></fieldset><button>Send</button></form>"
            let form = "<form method=post action=/in><label>Room <input name=room></label><button>Log in</button></form>"
            return .send(octets(request.path == "/" ? redirect("/in") : http(200, request.method == "POST" ? survey : form)))
        }
        var command = command(loopback(probe: server.url + "/"))
        command.portal = Portal(origin: server.url, kind: "form")
        command.answers = ["room": "214"]
        #expect(run(command, typed: true).result == (isOpen ? .success : .uiRequired))
    }

    @Test func sendsNoAnswersToOtherPortals() throws {
        let server = hotel()
        var command = command(loopback(probe: server.url + "/"))
        command.credential = ["room": "214"]
        for other in [
            nil, Portal(origin: "https://portal.test", kind: "form"), Portal(origin: server.url, pin: "other", kind: "form"),
        ] {
            command.portal = other
            #expect(run(command).result == .uiRequired)
        }
        command.portal = Portal(origin: "https://portal.test", kind: "form")
        command.answers = ["room": "214"]
        let reply = run(command, typed: true)
        #expect(reply.result == .uiRequired)
        #expect(reply.prompt?.message?.contains("not the same portal as before") == true)
        #expect(!server.requests.contains { $0.method == "POST" })
        command.portal = Portal(origin: server.url, kind: "form")
        #expect(run(command).result == .success)
    }

    @Test func asksForABrowserIfThereIsNoForm() {
        let server = ScriptedServer { _ in .page("<div id=app></div><script src=app.js></script>") }
        var command = command(loopback(probe: server.url + "/"))
        let reply = run(command)
        #expect(reply.result == .uiRequired)
        #expect(reply.prompt?.fields.isEmpty == true)
        #expect(reply.prompt?.message?.contains(server.url) == true)
        command.session = reply.session
        command.portal = reply.portal
        #expect(run(command, typed: true).result == .success)
    }

    /// If hotspotd uses an imitating page nevertheless, the reply with its questions names the company.
    @Test(arguments: [
        ("<title>Yandex ID</title><form><input type=email name=e><input type=submit></form>", "Yandex"),
        ("<title>Sign in to 𝚃𝚎𝚕𝚎𝚐𝚛𝚊𝚖</title><div id=app></div><script src=app.js></script>", "Telegram"),
        ("<title>Inn</title><h1>Like us on Facebook</h1><form><input type=email name=e><input type=submit></form>", nil),
        ("<title>Inn</title><div id=app></div><script src=app.js></script>", nil),
    ]) func aQuestionNamesTheCompanyThatThePageImitates(_ page: String, _ company: String?) {
        let server = ScriptedServer { _ in .page(page) }
        let reply = run(command(loopback(probe: server.url + "/")))
        #expect(reply.result == .uiRequired && reply.imitates == company, "\(reply)")
    }

    @Test func aPasswordBehindAButtonNamesTheCompanyAsWell() {
        let server = ScriptedServer { request in
            .page(
                request.path == "/next"
                    ? "<h1>Proton Mail</h1><form method=post><input name=u><input type=password name=p><button>Go</button></form>"
                    : "<form action=/next><input type=submit value=Continue></form>")
        }
        let reply = run(command(loopback(probe: server.url + "/")))
        #expect(reply.result == .uiRequired && reply.imitates == "Proton", "\(reply)")
        #expect(!server.requests.contains { $0.method == "POST" })
    }

    @Test func givesUpOnEndlessPages() {
        let server = ScriptedServer { _ in
            .repeating(octets("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n"), [UInt8](repeating: 0x61, count: 65536))
        }
        let reply = run(command(loopback(probe: server.url + "/")))
        #expect(reply.result == .uiRequired)
        #expect(reply.reason?.contains("too large") == true)
    }

    /// Silence may pass. An answer that can never be read is handed over to a browser.
    @Test(arguments: [
        ("", HelperResult.temporaryFailure), ("HTTP/1.1 9999 X\r\n\r\n", .uiRequired),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n<form>", .uiRequired),
        ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<form>", .uiRequired),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: dcz\r\n\r\n<form>", .uiRequired),
    ]) func explainsBrokenPortals(_ answer: String, _ result: HelperResult) {
        let server = ScriptedServer { request in
            .send(octets(request.path == "/" ? redirect("/portal") : answer))
        }
        let reply = run(command(loopback(probe: server.url + "/")))
        #expect(reply.result == result && reply.prompt?.handsOver == (result == .uiRequired ? true : nil))
        #expect(reply.reason?.isEmpty == false)
        // If the portal did not answer, its key is unknown, so the reply names no portal.
        #expect(reply.portal?.origin == (result == .uiRequired ? server.url : nil))
    }

    @Test func maintains() {
        let open = ScriptedServer(["/": "HTTP/1.1 204 No Content\r\n\r\n"])
        #expect(Maintenance.run(command(loopback(probe: open.url + "/"))) { _ in nil }.result == .success)
        let closed = ScriptedServer(["/": redirect("/portal")])
        let portal = Portal(origin: "http://x", kind: "form")
        let reply = Maintenance.run(command(loopback(probe: closed.url + "/"))) { _ in portal }
        #expect(reply.result == .authenticationRequired)
        #expect(reply.portal == portal)
        let broken = ScriptedServer(["/": http(404, "")])
        #expect(Maintenance.run(command(loopback(probe: broken.url + "/"))) { _ in nil }.result == .temporaryFailure)
    }
}
