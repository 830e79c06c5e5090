import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PageLogin

/// Logins that lead away from the portal after its form, and the messages about them.
@Suite struct FormLoginAwayTests {
    private func command(_ server: ScriptedServer, authorities: String? = nil) -> HelperCommand {
        HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(probe: server.url + "/"),
            scope: Scope(deadline: .after(milliseconds: 30_000)), attempts: SharedProbe(),
            policy: .testing(authorities: authorities))
    }

    private func run(_ command: HelperCommand, typed: Bool = false) -> Reply {
        FormLogin(kind: "form", command: command).run(from: nil, isTypedNow: typed)
    }

    /// A portal that asks for a room, or only for a click, and redirects to `target`.
    private func hotel(leadingTo target: String, asking: Bool = true, status: Int = 302) -> ScriptedServer {
        let input = asking ? "<input name=room>" : ""
        return ScriptedServer([
            "/": redirect("/in"), "/in": http(200, "<form method=post action=/login>\(input)<button name=go>Go</button></form>"),
            "/login": redirect(target, status: status),
        ])
    }

    /// A redirect that repeats the form leads a mere click to another origin, and no answers.
    @Test(arguments: [true, false]) func aRepeatedFormTakesNoAnswersAway(asking: Bool) throws {
        let other = ScriptedServer(["/go": http(200, "You are now connected")])
        let server = hotel(leadingTo: other.url + "/go", asking: asking, status: 307)
        var command = command(server)
        command.portal = Portal(origin: server.url, kind: "form")
        command.credential = ["room": "214"]
        #expect(run(command).result == (asking ? .temporaryFailure : .success))
        #expect(other.requests.map(\.method) == (asking ? [] : ["POST"]))
    }

    @Test func repliesWithThePortalOfTheLogin() throws {
        let ads = ScriptedServer(["/welcome": http(200, "<title>Shop</title>Buy")])
        let server = hotel(leadingTo: ads.url + "/welcome")
        var command = command(server)
        command.portal = Portal(origin: server.url, kind: "form")
        command.credential = ["room": "214"]
        let reply = run(command)
        #expect(reply.result == .success)
        #expect(reply.portal?.origin == server.url)
        #expect(SessionMemory(reply.session).origin == server.url)
        #expect(ads.requests.map(\.path) == ["/welcome"])
    }

    @Test(arguments: ["", "HTTP/1.1 9999 X\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"], [true, false])
    func succeedsIfTheInternetIsNotOpenYet(_ answer: String, asking: Bool) throws {
        let out = ScriptedServer { _ in .send(octets(answer)) }
        let server = hotel(leadingTo: out.url + "/", asking: asking)
        var command = command(server)
        command.portal = Portal(origin: server.url, kind: "form")
        command.credential = ["room": "214"]
        let reply = run(command)
        #expect(reply.result == .success)
        #expect(reply.portal?.origin == server.url)
        #expect(out.requests.isEmpty == false)
    }

    /// The form goes to another host, which refuses the answers: this is still the first portal's login.
    @Test func aRefusalElsewhereIsThePortalsOwn() throws {
        let form: @Sendable (String, String) -> String = { target, error in
            "\(error)<form method=post action='\(target)/login'><label>Room <input name=room></label><button>Go</button></form>"
        }
        let provider = ScriptedServer { request in
            let isRight = request.body == "room=305"
            return .page(isRight ? "You are now connected" : form("", "<p class=error>Unknown room.</p>"))
        }
        let server = ScriptedServer([
            "/": redirect("/in"), "/in": http(200, form(provider.url, "")),
        ])
        var command = command(server)
        let asked = run(command)
        #expect(asked.result == .uiRequired && asked.portal?.origin == server.url)
        (command.portal, command.session) = (asked.portal, asked.session)
        let boxes = (asked.prompt?.fields ?? []).filter { $0.kind == .checkbox }.map { ($0.name, "yes") }
        command.answers = ["room": "99"].merging(boxes) { $1 }
        let refused = run(command, typed: true)
        #expect(refused.result == .uiRequired && refused.portal?.origin == server.url)
        #expect(refused.prompt?.message == "Unknown room. Your answers go to \(provider.url).")
        #expect(refused.prompt?.fields.first?.value == "99")
        (command.session, command.answers) = (refused.session, ["room": "305"])
        let done = run(command, typed: true)
        #expect(done.result == .success && done.portal?.origin == server.url)
    }

    /// A portal that takes longer than this client waits may have opened the network: the proof decides.
    @Test func aLoginWithoutAnAnswerMayHaveWorked() throws {
        let server = ScriptedServer { request in
            if request.path == "/login" { return .hold([]) }
            let form = "<form method=post action=/login><input name=room><button>Go</button></form>"
            return .send(octets(request.path == "/" ? redirect("/in") : http(200, form)))
        }
        var command = HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(probe: server.url + "/"),
            scope: Scope(deadline: .after(milliseconds: 3000)), attempts: SharedProbe(), policy: .testing())
        command.portal = Portal(origin: server.url, kind: "form")
        command.answers = ["room": "305"]
        let reply = run(command, typed: true)
        #expect(reply.result == .success && reply.unsent == nil && reply.reason?.contains("in time") == true, "\(reply)")
    }

    @Test func failsIfThePortalItselfFails() {
        let broken = ScriptedServer { request in
            switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/in": .page("<form method=post action=/login><button name=go>Go</button></form>")
            case "/login": .send(octets(redirect("/done")))
            default: .send([])
            }
        }
        #expect(run(command(broken)).result == .temporaryFailure)
        // The form itself gets no answer.
        let silent = ScriptedServer { request in
            .send(
                request.path == "/login"
                    ? [] : octets(http(200, "<form method=post action=/login><button name=go>Go</button></form>")))
        }
        #expect(run(command(silent)).result == .temporaryFailure)
    }

    /// The reason why nothing was sent is included, and a browser can continue.
    @Test func handsOverWhatItDoesNotSend() {
        let form = "<form method=post enctype=text/plain action=/x><input name=room><input type=submit></form>"
        let server = ScriptedServer { .send(octets($0.path == "/" ? redirect("/in") : http(200, form))) }
        var command = command(server)
        let reply = run(command)
        let reason = "The page's form has an encoding that only browsers send."
        #expect(reply.result == .uiRequired && reply.reason == reason)
        #expect(reply.prompt?.fields == [] && reply.prompt?.message?.hasPrefix(reason) == true)
        #expect(reply.prompt?.message?.contains("You can also log in with your own browser; hotspotd will notice.") == true)
        command.session = reply.session
        command.portal = reply.portal
        #expect(run(command, typed: true).result == .success)
        command.answers = ["room": "214"]
        #expect(run(command, typed: true).reason == reason)
        #expect(!server.requests.contains { $0.method == "POST" })
    }

    /// A page of another host leads to a device within the network: its form, and its refresh after the login.
    @Test(arguments: [
        "<form method=post action='TARGET/open?a=1'><input type=submit></form>",
        "<form action='TARGET/open?a=1'><input type=submit></form>",
        "<form name=f action='TARGET/open?a=1'></form><script>document.f.submit()</script>",
        "<meta http-equiv=refresh content='0; url=TARGET/open?a=1'>", "<script>location = 'TARGET/open?a=1'</script>",
    ]) func leadsIntoTheNetworkWithAYesOnly(_ page: String) {
        let router = ScriptedServer(host: 2, ["/open": http(200, "You are now connected")])
        let portal = portal(answering: page.replacing("TARGET", with: router.url))
        var command = command(portal)
        command.portal = Portal(origin: portal.url, kind: "form")
        command.credential = ["room": "214"]
        let asked = run(command)
        let box = "agree:send:\(router.url)"
        #expect(asked.result == .uiRequired && asked.prompt?.fields.map(\.name) == [box])
        #expect(router.requests.isEmpty)
        command.session = asked.session
        command.answers = [box: "yes"]
        let done = run(command, typed: true)
        #expect(done.result == .success)
        #expect(router.requests.map(\.target) == ["/open?a=1"])
        // The consent is remembered for this portal.
        (command.session, command.answers) = (done.session, [:])
        #expect(run(command).result == .success)
        #expect(router.requests.count == 2)
        #expect(portal.requests.count { $0.method == "POST" } == 2)
    }

    /// The key of an origin that receives answers is part of the portal's identity, like the page's own key.
    @Test func anotherKeyOfTheTargetIsAskedAbout() throws {
        let authority = try Authority()
        let server = ScriptedServer(["/take": http(200, "You are now connected")])
        let target = "https://127.0.0.1:\(try authority.front(server))"
        let form = "<form method=post action='\(target)/take'><input name=room required><button>Go</button></form>"
        let portal = ScriptedServer(["/": redirect("/in"), "/in": http(200, form)])
        var command = command(portal, authorities: authority.file)
        command.portal = Portal(origin: portal.url, kind: "form")
        let typed = ["room": "214", "agree:send:\(target)": "yes"]
        command.answers = typed
        let first = run(command, typed: true)
        #expect(first.result == .success && SessionMemory(first.session).pins?[target] != nil)
        (command.session, command.answers, command.credential) = (first.session, [:], ["room": "214"])
        #expect(run(command).result == .success && server.requests.count == 2)

        var memory = SessionMemory(first.session)
        memory.pins = [target: "another"]
        command.session = Session(memory: memory.value)
        let asked = run(command)
        #expect(asked.result == .uiRequired && Set(asked.prompt?.fields.map(\.name) ?? []) == Set(typed.keys), "\(asked)")
        #expect(asked.prompt?.message?.hasPrefix("The key of \(target) has changed, so nothing was sent.") == true)
        #expect(server.requests.count == 2)
        (command.session, command.answers) = (asked.session, typed)
        #expect(run(command, typed: true).result == .success && server.requests.count == 3)
    }

    /// The page of a gateway leads to another of its ports, as CoovaChilli's own portal does after the login.
    @Test func leadsToAnotherPortOfTheGateway() {
        let gateway = ScriptedServer(["/logon": http(200, "You are now connected")])
        let portal = portal(answering: "<meta http-equiv=refresh content='0; url=\(gateway.url)/logon?username=guest'>")
        var command = command(portal)
        command.portal = Portal(origin: portal.url, kind: "form")
        command.credential = ["room": "214"]
        #expect(run(command).result == .success)
        #expect(gateway.requests.map(\.target) == ["/logon?username=guest"])
    }

    private func portal(answering page: String) -> ScriptedServer {
        ScriptedServer { request in
            switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/in": .page("<form method=post action=/login><input name=room><button>Go</button></form>")
            default: .page(page)
            }
        }
    }

    @Test func masksAnswersInMessages() throws {
        let server = ScriptedServer { request in
            let form = "<form method=post action=/login><label>Surname <input name=surname></label><input type=submit></form>"
            switch request.path {
            case "/": return .send(octets(redirect("/in")))
            case "/login": return .page("<p class=error>Surname 'BRANDT' unknown.</p>" + form)
            default: return .page(form)
            }
        }
        var command = command(server)
        command.portal = Portal(origin: server.url, kind: "form")
        command.answers = ["surname": "Brandt"]
        let typed = run(command, typed: true)
        #expect(typed.result == .uiRequired)
        #expect(typed.prompt?.message?.hasPrefix("Surname '…' unknown.") == true)
        command.answers = [:]
        command.credential = ["surname": "Brandt"]
        let stored = run(command)
        #expect(stored.prompt?.message?.hasPrefix("Surname '…' unknown.") == true)
    }

    @Test func doesNotShowThePathOfABrowserPage() {
        let server = ScriptedServer([
            "/": redirect("/guest/mr-brandt"), "/guest/mr-brandt": http(200, "<div id=app></div><script src=app.js></script>"),
        ])
        let reply = run(command(server))
        #expect(reply.result == .uiRequired)
        #expect(reply.prompt?.message?.contains(server.url) == true)
        #expect(reply.prompt?.message?.contains("brandt") == false)
    }

    @Test func storedAnswersAcceptNoTerms() {
        let server = ScriptedServer([
            "/": redirect("/in"), "/go": http(200, "You are now connected"),
            "/in": http(
                200,
                "<form action=/go><input name=room><label><input type=checkbox name=ok value=1>I accept the terms</label><input type=submit></form>"
            ),
        ])
        var command = command(server)
        command.portal = Portal(origin: server.url, kind: "form")
        command.credential = ["room": "214", "ok": "yes"]
        #expect(run(command).result == .uiRequired)
        // The user types the room; the ticked box is still a stored answer.
        command.answers = ["room": "214"]
        #expect(run(command, typed: true).result == .uiRequired)
        #expect(!server.requests.contains { $0.path == "/go" })
        command.answers = ["room": "214", "ok": "yes"]
        #expect(run(command, typed: true).result == .success)
        #expect(server.requests.last?.target == "/go?room=214&ok=1")
    }
}
