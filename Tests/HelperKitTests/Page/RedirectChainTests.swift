import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PortalPages

@Suite struct RedirectChainTests {
    private func chain(_ server: ScriptedServer, _ request: HTTPRequest? = nil) throws(TransferError) -> RedirectChain {
        let client = HTTPClient(link: loopback(), policy: .testing())
        let request = request ?? HTTPRequest(WebURL(server.url + "/")!)
        let scope = Scope(deadline: .after(milliseconds: 20_000))
        return try RedirectChain.follow(try client.send(request, in: scope), to: request, client: client, in: scope)
    }

    @Test func followsAllKindsOfRedirects() throws {
        let server = ScriptedServer([
            "/": redirect("/meta"), "/meta": http(200, "<meta http-equiv=refresh content=\"0; url='/script'\">"),
            "/script": http(200, "<script>window.location.replace('\\/form');</script>"),
            "/form": http(
                200,
                "<form action=/end><input type=hidden name=k value=v><input type=submit name=go formaction=/no></form>"
                    + "<script>document.forms[0].submit()</script>"),
            "/end": http(200, "<title>End</title>"),
        ])
        let chain = try chain(server)
        #expect(chain.page.title == "End")
        #expect(server.requests.map(\.target) == ["/", "/meta", "/script", "/form", "/end?k=v"])
    }

    @Test func aRedirectKeepsTheFragment() throws {
        let server = ScriptedServer([
            "/": redirect("/app#/splash?mac=1"), "/app": redirect("/app/"), "/app/": http(200, "<script src=app.js></script>"),
        ])
        let chain = try chain(server)
        #expect(chain.final.url.href == server.url + "/app/#/splash?mac=1")
        #expect(server.requests.map(\.target) == ["/", "/app", "/app/"])
    }

    /// If a first page leads to the probe's address, the device is already logged in.
    @Test func aFirstPageThatLeadsOutIsTheLast() throws {
        let server = ScriptedServer([
            "/": http(200, "<meta http-equiv=refresh content='0; url=http://detectportal.firefox.com/success.txt'>")
        ])
        let chain = try chain(server)
        #expect(chain.hops.count == 1 && chain.final.url.text == server.url + "/")
    }

    @Test func aFirstPageThatReportsSuccessIsNotLeftForAnotherOrigin() throws {
        let other = ScriptedServer(["/": http(200, "<title>Other</title>")])
        for (text, hops) in [("You're online!", 1), ("Please wait", 2)] {
            let server = ScriptedServer(["/": http(200, "<meta http-equiv=refresh content='0; url=\(other.url)/'>\(text)")])
            #expect(try chain(server).hops.count == hops)
        }
    }

    @Test func endsCircularRedirects() {
        let server = ScriptedServer { _ in .send(octets(redirect("/?again"))) }
        #expect(throws: TransferError(.tooManyRedirects)) { try chain(server) }
        #expect(server.requests.count == RedirectPolicy.limit + 1)
    }

    @Test func endsEndlessRefreshes() throws {
        let server = ScriptedServer { request in
            .page("<meta http-equiv=refresh content='0;url=/?\(request.target.utf8.count)'>")
        }
        _ = try chain(server)
        #expect(server.requests.count <= RedirectPolicy.pageLimit + 1)
    }

    @Test(arguments: ["file:///etc/passwd", "http://user:word@127.0.0.1/", "javascript:alert(1)"])
    func refusesTargets(_ target: String) {
        let server = ScriptedServer(["/": redirect(target)])
        do throws(TransferError) {
            _ = try chain(server)
            Issue.record("followed")
        } catch {
            #expect(error.code == .refusedURL)
        }
    }

    @Test func repeatsNoPostAtAnotherOrigin() throws {
        let thief = ScriptedServer(["/": http(200, "thanks")])
        let server = ScriptedServer(["/": redirect(thief.url + "/", status: 307)])
        let request = HTTPRequest(posting: [("password", "secret")], to: WebURL(server.url + "/")!)
        #expect(throws: TransferError.self) { try chain(server, request) }
        #expect(thief.requests.isEmpty)
    }

    /// Without answers, a repeated POST goes to another origin, but not to another host of the network.
    @Test(arguments: [1, 2] as [UInt8]) func repeatsAPostWithoutAnswers(host: UInt8) throws {
        let other = ScriptedServer(host: host, ["/": http(200, "<title>Other</title>")])
        let server = ScriptedServer(["/": redirect(other.url + "/", status: 308)])
        var request = HTTPRequest(posting: [("go", "1")], to: WebURL(server.url + "/")!)
        request.carriesAnswers = false
        let title = try? chain(server, request).page.title
        #expect(title == (host == 1 ? "Other" : nil))
        #expect(other.requests.map { $0.method + $0.body } == (host == 1 ? ["POSTgo=1"] : []))
    }

    @Test func turnsPostIntoGetAfter303() throws {
        let server = ScriptedServer(["/": redirect("/done", status: 303), "/done": http(200, "ok")])
        _ = try chain(server, HTTPRequest(posting: [("password", "secret")], to: WebURL(server.url + "/")!))
        #expect(server.requests[1].method == "GET")
        #expect(server.requests[1].body.isEmpty)
    }
}
