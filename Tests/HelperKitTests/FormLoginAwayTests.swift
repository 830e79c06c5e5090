import HotspotCore
import Testing

@testable import HelperKit

/// What becomes of a login that leads elsewhere once its form was answered, and what is said of it.
@Suite struct FormLoginAwayTests {
    private func visit(_ server: ScriptedServer) -> Visit {
        Visit(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(probe: server.url + "/"),
            scope: Scope(deadline: .after(milliseconds: 30_000)), attempts: AttemptStore(), policy: .testing())
    }

    private func run(_ visit: Visit, typed: Bool = false) -> Reply {
        FormLogin(kind: "form", visit: visit).run(from: nil, isTypedNow: typed)
    }

    /// A portal that asks for a room, or for a click only, and leads on to `target`.
    private func hotel(leadingTo target: String, asking: Bool = true) -> ScriptedServer {
        let input = asking ? "<input name=room>" : ""
        return ScriptedServer([
            "/": redirect("/in"), "/in": http(200, "<form method=post action=/login>\(input)<button name=go>Go</button></form>"),
            "/login": redirect(target),
        ])
    }

    @Test func namesThePortalThatWasLoggedInTo() throws {
        let ads = ScriptedServer(["/welcome": http(200, "<title>Shop</title>Buy")])
        let server = hotel(leadingTo: ads.url + "/welcome")
        var visit = visit(server)
        visit.portal = Portal(origin: server.url, kind: "form")
        visit.credential = ["room": "214"]
        let reply = run(visit)
        #expect(reply.result == .success)
        #expect(reply.portal?.origin == server.url)
        #expect(Memory(reply.session).origin == server.url)
        #expect(ads.requests.map(\.path) == ["/welcome"])
    }

    @Test(arguments: ["", "HTTP/1.1 9999 X\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"], [true, false])
    func succeedsThoughTheWayOutIsNotOpenYet(_ answer: String, asking: Bool) throws {
        let out = ScriptedServer { _ in .send(octets(answer)) }
        let server = hotel(leadingTo: out.url + "/", asking: asking)
        var visit = visit(server)
        visit.portal = Portal(origin: server.url, kind: "form")
        visit.credential = ["room": "214"]
        let reply = run(visit)
        #expect(reply.result == .success)
        #expect(reply.portal?.origin == server.url)
        #expect(out.requests.isEmpty == false)
    }

    @Test func failsWhereThePortalItselfFails() {
        let broken = ScriptedServer { request in
            switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/in": .send(octets(http(200, "<form method=post action=/login><button name=go>Go</button></form>")))
            case "/login": .send(octets(redirect("/done")))
            default: .send([])
            }
        }
        #expect(run(visit(broken)).result == .temporaryFailure)
        // The form itself was not answered.
        let silent = ScriptedServer { request in
            .send(
                request.path == "/login"
                    ? [] : octets(http(200, "<form method=post action=/login><button name=go>Go</button></form>")))
        }
        #expect(run(visit(silent)).result == .temporaryFailure)
    }

    @Test func repeatsNoAnswersToOthers() throws {
        let server = ScriptedServer { request in
            let form = "<form method=post action=/login><label>Surname <input name=surname></label><input type=submit></form>"
            switch request.path {
            case "/": return .send(octets(redirect("/in")))
            case "/login": return .send(octets(http(200, "<p class=error>Surname 'BRANDT' unknown.</p>" + form)))
            default: return .send(octets(http(200, form)))
            }
        }
        var visit = visit(server)
        visit.portal = Portal(origin: server.url, kind: "form")
        visit.answers = ["surname": "Brandt"]
        let typed = run(visit, typed: true)
        #expect(typed.result == .uiRequired)
        #expect(typed.prompt?.message?.hasPrefix("Surname '…' unknown.") == true)
        visit.answers = [:]
        visit.credential = ["surname": "Brandt"]
        let stored = run(visit)
        #expect(stored.prompt?.message?.hasPrefix("Surname '…' unknown.") == true)
    }

    @Test func keepsThePathOfABrowserPageToItself() {
        let server = ScriptedServer([
            "/": redirect("/guest/mr-brandt"), "/guest/mr-brandt": http(200, "<div id=app></div><script src=app.js></script>"),
        ])
        let reply = run(visit(server))
        #expect(reply.result == .uiRequired)
        #expect(reply.prompt?.message?.contains(server.url) == true)
        #expect(reply.prompt?.message?.contains("brandt") == false)
    }

    @Test func acceptsNothingFromMemory() {
        let server = ScriptedServer([
            "/": redirect("/in"), "/go": http(200, "You are now connected"),
            "/in": http(
                200,
                "<form action=/go><input name=room><label><input type=checkbox name=ok value=1>I accept the terms</label><input type=submit></form>"
            ),
        ])
        var visit = visit(server)
        visit.portal = Portal(origin: server.url, kind: "form")
        visit.credential = ["room": "214", "ok": "yes"]
        #expect(run(visit).result == .uiRequired)
        // Typed is the room; the box is still only remembered.
        visit.answers = ["room": "214"]
        #expect(run(visit, typed: true).result == .uiRequired)
        #expect(!server.requests.contains { $0.path == "/go" })
        visit.answers = ["room": "214", "ok": "yes"]
        #expect(run(visit, typed: true).result == .success)
        #expect(server.requests.last?.target == "/go?room=214&ok=1")
    }
}
