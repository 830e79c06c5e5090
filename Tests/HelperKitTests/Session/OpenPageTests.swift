import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PageLogin
@testable import PortalPages

/// Pages behind a login that must stay open.
@Suite struct OpenPageTests {
    private func command(_ server: ScriptedServer, session: Session? = nil) -> HelperCommand {
        var command = HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open),
            link: loopback(probe: server.url + "/probe"), scope: Scope(deadline: .after(milliseconds: 30_000)),
            attempts: SharedProbe(), policy: .testing())
        command.session = session
        return command
    }

    private func page(_ head: String) throws -> (page: HTMLPage, url: WebURL) {
        let url = try #require(WebURL("http://portal.test:1000/keepalive?1"))
        let body = Array((head + "<p>Leave this window open.").utf8)
        return (HTMLReader.read(HTTPResponse(url: url, status: 200, body: body)), url)
    }

    @Test(arguments: [
        ("<meta http-equiv=refresh content='60'>", 60), ("<meta http-equiv=refresh content='1800; url=/keepalive?2'>", 1800),
        ("<meta http-equiv=refresh content='7;http://portal.test:1000/keepalive?2'>", 7),
        ("<meta http-equiv=refresh content='2'>", 5), ("<meta http-equiv=refresh content='20;url=http://www.portal.test/'>", 20),
    ]) func itsRefreshIsItsSchedule(_ head: String, _ seconds: Int) throws {
        let (page, url) = try page(head)
        let open = try #require(OpenPage(page, at: url, redirects: RedirectPolicy(), now: 1000))
        #expect(open.secondsLeft(at: 1000) == seconds && open.secondsLeft(at: 1002) == seconds - 2)
        // Late, and after a restart of the computer.
        #expect(open.secondsLeft(at: 100_000) == 0 && open.secondsLeft(at: 3) == seconds)
    }

    @Test(arguments: [
        "", "<meta http-equiv=refresh content='0;/next'>", "<meta http-equiv=refresh content='30;url=http://news.test/'>",
        "<meta http-equiv=refresh content='99999999999'>", "<meta http-equiv=refresh content='3600;url=/logout'>",
        "<template><meta http-equiv=refresh content='30'></template>",
    ]) func otherPagesNeedNotStayOpen(_ head: String) throws {
        let (page, url) = try page(head)
        #expect(OpenPage(page, at: url, redirects: RedirectPolicy()) == nil)
    }

    /// The login keeps the page, and says when to load it.
    @Test func aLoginKeepsThePage() throws {
        let server = ScriptedServer { request in
            switch request.path {
            case "/in": .page("<h1>You are online</h1><meta http-equiv=refresh content='240;url=/keep?2'>Leave this window open")
            default: .page("<form method=post action=/in><input type=submit value=Connect></form>")
            }
        }
        let reply = FormLogin(kind: "form", command: command(server)).run(from: nil, isTypedNow: false)
        #expect(reply.result == .success && reply.session?.maintainAfter == 240)
        #expect(SessionMemory(reply.session).openPage != nil)
    }

    @Test(arguments: [true, false]) func maintainLoadsThePageThatIsDue(_ isDue: Bool) throws {
        let server = ScriptedServer { request in
            switch request.target {
            case "/keep?2": .page("<meta http-equiv=refresh content='90;url=/keep?3'>Leave this window open")
            default: .send(octets(http(204, "")))
            }
        }
        var memory = SessionMemory()
        let url = try #require(WebURL(server.url + "/keep?1"))
        let page = HTMLReader.read(
            HTTPResponse(url: url, status: 200, body: Array("<meta http-equiv=refresh content='240;url=/keep?2'>".utf8)))
        memory.openPage = OpenPage(page, at: url, redirects: RedirectPolicy(.testing()), now: isDue ? -1000 : 1 << 40)
        let reply = Maintenance.run(command(server, session: Session(memory: memory.value))) { _ in nil }
        #expect(reply.result == .success && reply.session?.maintainAfter == (isDue ? 90 : 240))
        #expect(server.requests.map(\.path) == (isDue ? ["/keep", "/probe"] : ["/probe"]))
        #expect((SessionMemory(reply.session).openPage != memory.openPage) == isDue)
    }

    /// The page's further refreshes come later; Maintain on an open network does not wait for them.
    @Test func itIsLoadedOnceAtATime() throws {
        let server = ScriptedServer { request in
            switch request.path {
            case "/probe": .send(octets(http(204, "")))
            default: .page("<meta http-equiv=refresh content='8;url=/keep?\(request.target.utf8.count)x'>Stay here")
            }
        }
        var memory = SessionMemory()
        let url = try #require(WebURL(server.url + "/keep?1"))
        let page = HTMLReader.read(HTTPResponse(url: url, status: 200, body: Array("<meta http-equiv=refresh content=8>".utf8)))
        memory.openPage = OpenPage(page, at: url, redirects: RedirectPolicy(.testing()), now: -1000)
        let reply = Maintenance.run(command(server, session: Session(memory: memory.value))) { _ in nil }
        #expect(reply.session?.maintainAfter == 8 && server.requests.map(\.path) == ["/keep", "/probe"])
    }

    @Test func aLoginThatIsOpenDoesNotWaitForARefresh() throws {
        let isOpen = Locked(false)
        let server = ScriptedServer { request in
            switch request.path {
            case "/probe": return .send(octets(isOpen.with { $0 } ? http(204, "") : redirect("/login")))
            case "/in":
                isOpen.with { $0 = true }
                return .page("<meta http-equiv=refresh content='9;url=/keep?2'>Leave this window open")
            case "/login": return .page("<form method=post action=/in><input type=submit value=Connect></form>")
            default: return .page("<meta http-equiv=refresh content='9;url=/keep?3'>Leave this window open")
            }
        }
        let reply = FormLogin(kind: "form", command: command(server)).run(from: nil, isTypedNow: false)
        #expect(reply.result == .success && reply.session?.maintainAfter == 9)
        #expect(!server.requests.map(\.path).contains("/keep"))
    }

    /// Loading the answer to a form once more would log in once more, perhaps with a voucher.
    @Test(arguments: [("get", "", false), ("get", ";url=/keep", true), ("post", "", true)])
    func aLoginIsNotRepeated(_ method: String, _ target: String, _ isKept: Bool) throws {
        let server = ScriptedServer { request in
            request.path == "/in"
                ? .page("<h1>You are online</h1><meta http-equiv=refresh content='60\(target)'>")
                : .page(
                    "<form method=\(method) action=/in><input type=hidden name=code value=1><input type=submit value=Connect></form>"
                )
        }
        let reply = FormLogin(kind: "form", command: command(server)).run(from: nil, isTypedNow: false)
        #expect(reply.result == .success && (reply.session?.maintainAfter != nil) == isKept)
    }

    /// After a return, the page belongs to an older session.
    @Test func itIsNotLoadedAtAReturn() throws {
        let server = ScriptedServer { request in request.path == "/probe" ? .send(octets(http(204, ""))) : .page("") }
        var memory = SessionMemory()
        let url = try #require(WebURL(server.url + "/keep"))
        let page = HTMLReader.read(HTTPResponse(url: url, status: 200, body: Array("<meta http-equiv=refresh content=30>".utf8)))
        memory.openPage = OpenPage(page, at: url, redirects: RedirectPolicy(.testing()), now: -1000)
        var command = command(server, session: Session(memory: memory.value))
        command.network.justJoined = true
        let reply = Maintenance.run(command) { _ in nil }
        #expect(server.requests.map(\.path) == ["/probe"] && reply.session?.maintainAfter == 0)
    }

    /// A page that fails is loaded again after its pause. A page without a refresh is no longer kept open.
    @Test(arguments: [(503, "", true), (200, "Goodbye", false)]) func thePageMayFail(
        _ status: Int, _ body: String, _ goesOn: Bool
    ) throws {
        let server = ScriptedServer { request in
            request.path == "/keep" ? .send(status == 200 ? octets(http(200, body)) : []) : .send(octets(http(204, "")))
        }
        var memory = SessionMemory()
        let url = try #require(WebURL(server.url + "/keep"))
        let page = HTMLReader.read(HTTPResponse(url: url, status: 200, body: Array("<meta http-equiv=refresh content=30>".utf8)))
        memory.openPage = OpenPage(page, at: url, redirects: RedirectPolicy(.testing()), now: -1000)
        let reply = Maintenance.run(command(server, session: Session(memory: memory.value))) { _ in nil }
        #expect(reply.result == .success)
        // A slow machine may need a part of the pause.
        let pause = reply.session?.maintainAfter
        #expect(goesOn ? pause.map((1...30).contains) == true : pause == nil)
    }

    /// The memory of other helpers is left alone.
    @Test func aMemoryWithoutAPageStaysAsItIs() throws {
        let server = ScriptedServer { _ in .send(octets(http(204, ""))) }
        let memory: JSONValue = ["token": "of another helper"]
        let reply = Maintenance.run(command(server, session: Session(memory: memory))) { _ in nil }
        #expect(reply.session?.memory == memory && reply.session?.maintainAfter == nil)
    }
}
