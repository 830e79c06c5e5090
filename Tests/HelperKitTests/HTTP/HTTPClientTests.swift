import Foundation
import Glibc
import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PortalPages

@Suite struct HTTPClientTests {
    private func send(
        _ server: ScriptedServer, _ path: String = "/", policy: NetworkPolicy = .testing(), milliseconds: Int = 20_000,
        _ change: (inout HTTPRequest) -> Void = { _ in }
    ) throws(TransferError) -> HTTPResponse {
        var request = HTTPRequest(WebURL(server.url + path)!)
        change(&request)
        return try HTTPClient(link: loopback(), policy: policy).send(
            request, in: Scope(deadline: .after(milliseconds: milliseconds)))
    }

    private func failure(_ answer: String, milliseconds: Int = 20_000) -> TransferErrorCode? {
        let server = ScriptedServer { _ in .send(octets(answer)) }
        do throws(TransferError) {
            _ = try send(server, milliseconds: milliseconds)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func fetches() throws {
        let server = ScriptedServer(["/": http(200, "hello", "X-Word: a", "Server: test")])
        let response = try send(server)
        #expect(response.status == 200)
        #expect(response.phrase == "Text")
        #expect(response.body == octets("hello"))
        #expect(response["x-word"] == "a")
        #expect(response.address == "127.0.0.1")
        let request = try #require(server.requests.first)
        #expect(request.header("user-agent")?.hasPrefix("Mozilla/5.0") == true)
        #expect(request.header("accept-encoding") == "identity")
        #expect(request.head.hasPrefix("GET / HTTP/1.1"))
    }

    @Test func sendsOneAcceptHeader() throws {
        let server = ScriptedServer(["/": http(200, "")])
        _ = try send(server) { $0.accept = PortalAPIDocument.mediaType }
        let lines = server.requests[0].head.split(separator: "\r\n").filter { $0.lowercased().hasPrefix("accept:") }
        #expect(lines == ["Accept: application/captive+json"])
    }

    @Test func postsForms() throws {
        let server = ScriptedServer(["/": http(200, "")])
        let request = HTTPRequest(posting: [("a", "1 2"), ("b", "ü")], to: WebURL(server.url + "/")!)
        _ = try HTTPClient(link: loopback(), policy: .testing()).send(request, in: Scope())
        #expect(server.requests[0].method == "POST")
        #expect(server.requests[0].body == "a=1%202&b=%C3%BC")
        #expect(server.requests[0].header("content-type") == "application/x-www-form-urlencoded")
        #expect(server.requests[0].header("expect") == nil)
    }

    @Test func followsNoRedirect() throws {
        let server = ScriptedServer(["/": redirect("/next"), "/next": http(200, "no")])
        let response = try send(server)
        #expect(response.location == "/next")
        #expect(server.requests.count == 1)
    }

    @Test func answersNoAuthenticationChallenge() throws {
        let server = ScriptedServer(["/": http(401, "", "WWW-Authenticate: Basic realm=\"x\"")])
        #expect(try send(server).status == 401)
        #expect(server.requests.count == 1)
        #expect(server.requests[0].header("authorization") == nil)
    }

    // MARK: Hostile servers

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n",
        "HTTP/1.1 9999 Huh\r\n\r\n", "HTTP/1.1 099 Huh\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 999 Huh\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 abc Huh\r\n\r\n", "HTTP/1.1 200 OK\r\nX: a\u{0}b\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0x10\r\n\r\n", "just words",
    ])
    func refusesBadHeads(_ answer: String) { #expect([.badAnswer, .badHeader].contains(failure(answer))) }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func refusesBadChunks(_ answer: String) {
        #expect([.reset, .badAnswer].contains(failure(answer)))
    }

    @Test func refusesEndlessHeads() throws {
        let line = octets("X-Again: " + String(repeating: "y", count: 400) + "\r\n")
        let many = ScriptedServer { _ in .repeating(octets("HTTP/1.1 200 OK\r\n"), line) }
        #expect(throws: TransferError(.badAnswer, "an endless head")) { try send(many) }
        let single = ScriptedServer { _ in
            .repeating(octets("HTTP/1.1 200 OK\r\nX: "), octets(String(repeating: "z", count: 4096)))
        }
        #expect(throws: TransferError.self) { try send(single) }
        let interim = ScriptedServer { _ in .repeating([], octets("HTTP/1.1 100 Continue\r\n\r\n")) }
        #expect(throws: TransferError.self) { try send(interim) }
    }

    @Test func reportsBrokenAnswers() {
        #expect(failure("") == .emptyAnswer)
        #expect(failure("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort") == .shortAnswer)
        #expect(failure("HTTP/1.1 200 OK\r\nNo colon here\r\n\r\n<p>Hello") == .badHeader)
        #expect(failure("HTTP/1.1 200 OK\r\nContent-Encoding: dcz\r\n\r\npacked") == .badEncoding)
        #expect(failure("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nnot really packed") == .badEncoding)
    }

    @Test(arguments: ["", "Content-Length: 1073741824\r\n"])
    func cutsLongBodies(_ header: String) throws {
        let server = ScriptedServer { _ in
            .repeating(octets("HTTP/1.1 200 OK\r\n\(header)\r\n"), [UInt8](repeating: 0x61, count: 65536))
        }
        let response = try send(server)
        #expect(response.isTruncated)
        #expect(response.body.count == HTTPRequest.pageLimit)
        #expect(throws: TransferError.self) { try send(server) { $0.refusesLongBody = true } }
    }

    /// `<title>Welcome</title><form><input name=room>`, packed.
    private static let packed: [(coding: String, octets: [UInt8])] = [
        (
            "gzip",
            [
                31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 179, 41, 201, 44, 201, 73, 181, 11, 79, 205, 73, 206, 207, 77, 181, 209, 135,
                112, 109, 210, 242, 139, 114, 237, 108, 50, 243, 10, 74, 75, 20, 242, 18, 115, 83, 109, 139, 242, 243, 115, 237,
                0, 171, 252, 131, 153, 45, 0, 0, 0,
            ]
        ),
        (
            "deflate",
            [
                120, 156, 179, 41, 201, 44, 201, 73, 181, 11, 79, 205, 73, 206, 207, 77, 181, 209, 135, 112, 109, 210, 242, 139,
                114, 237, 108, 50, 243, 10, 74, 75, 20, 242, 18, 115, 83, 109, 139, 242, 243, 115, 237, 0, 129, 253, 16, 199,
            ]
        ),
    ]

    @Test(arguments: [0, 1]) func unpacksABodyThatWasNotAskedFor(_ index: Int) throws {
        let (coding, body) = Self.packed[index]
        let server = ScriptedServer { _ in
            .send(octets("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n") + body)
        }
        let response = try send(server)
        #expect(HTMLReader.read(response).title == "Welcome")
        #expect(server.requests[0].header("accept-encoding") == "identity")
    }

    /// 100 MiB of zeros in 100 KiB: unpacking ends at the page's limit.
    @Test func aBombEndsAtThePagesLimit() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("bomb-\(UInt32.random(in: 0 ... .max))").path
        defer { unlink(path) }
        let pack = Process()
        pack.executableURL = URL(fileURLWithPath: "/bin/sh")
        pack.arguments = ["-c", "head -c 104857600 /dev/zero | gzip > '\(path)'"]
        try pack.run()
        pack.waitUntilExit()
        let body = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(body.count > 1000 && body.count < HTTPRequest.pageLimit)
        let server = ScriptedServer { _ in
            .send(octets("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n") + body)
        }
        let response = try send(server)
        #expect(response.isTruncated && response.body.count == HTTPRequest.pageLimit)
    }

    // MARK: As browsers send

    /// The page, the request's address, and the headers that a browser sends with a POST from it.
    @Test(
        arguments: [
            ("http://h.test/login?mac=1#top", "http://h.test/go", "http://h.test/login?mac=1", "http://h.test"),
            ("http://h.test/login", "http://other.test/go", "http://h.test/", "http://h.test"),
            ("https://h.test:8443/a", "https://h.test:8443/b", "https://h.test:8443/a", "https://h.test:8443"),
            ("https://h.test/a", "https://h.test:8443/b", "https://h.test/", "https://h.test"),
            ("https://h.test/a", "http://h.test/b", nil, "null"),
            ("http://h.test/a", "https://h.test/b", "http://h.test/", "http://h.test"),
            (nil, "http://h.test/b", nil, "http://h.test"),
        ] as [(String?, String, String?, String)])
    func namesThePageThatSends(_ page: String?, _ target: String, _ referrer: String?, _ origin: String) throws {
        var request = HTTPRequest(posting: [], to: try #require(WebURL(target)))
        request.referer = page.flatMap { WebURL($0) }
        #expect(request.referrer == referrer && request.originHeader == origin)
    }

    @Test func aFormCarriesTheHeadersOfAPage() throws {
        let server = ScriptedServer { _ in .page("ok") }
        let page = try #require(WebURL(server.url + "/login?mac=1"))
        _ = try send(server) {
            ($0.method, $0.body, $0.referer) = (.post, "room=214", page)
        }
        #expect(server.requests[0].header("origin") == server.url && server.requests[0].header("referer") == page.text)
        _ = try send(server) { $0.referer = page }
        #expect(server.requests[1].header("origin") == nil && server.requests[1].header("referer") == page.text)
    }

    /// A server reads a POST on a kept connection, and closes it without an answer. It may have used the voucher.
    @Test(arguments: [HTTPRequest.Method.post, .get]) func aPostGoesOutOnce(_ method: HTTPRequest.Method) throws {
        let count = Locked(0)
        let server = ScriptedServer { request in
            let number = count.with { count in
                count += 1
                return count
            }
            return number == 2 ? .send([]) : .keep(octets(http(200, "page")))
        }
        let client = HTTPClient(link: loopback(), policy: .testing())
        var request = HTTPRequest(try #require(WebURL(server.url + "/")))
        _ = try client.send(request, in: Scope())
        (request.method, request.body) = (method, method == .post ? "voucher=ABC" : nil)
        if method == .post {
            do throws(TransferError) {
                _ = try client.send(request, in: Scope())
                Issue.record("there is no answer")
            } catch {
                #expect(error.code == .emptyAnswer && error.description.contains("not sent again"))
            }
            #expect(server.requests.map(\.method) == ["GET", "POST"])
        } else {
            #expect(try client.send(request, in: Scope()).status == 200)
            #expect(server.requests.count == 3)
        }
    }

    @Test func endsAtTheDeadline() throws {
        let silent = ScriptedServer { _ in .hold([]) }
        #expect(throws: TransferError.self) { try send(silent, milliseconds: 200) }
        do throws(TransferError) { _ = try send(silent, milliseconds: 200) } catch { #expect(error.code == .timeout) }
    }

    @Test func cancels() throws {
        let server = ScriptedServer { _ in .hold(octets("HTTP/1.1 200 OK\r\n")) }
        let cancellation = Cancellation()
        let outcome = Locked<TransferErrorCode?>(nil)
        let url = WebURL(server.url + "/")!
        Worker.start {
            do throws(TransferError) {
                _ = try HTTPClient(link: loopback(), policy: .testing()).send(
                    HTTPRequest(url), in: Scope(cancellation: cancellation))
            } catch {
                outcome.with { $0 = error.code }
            }
        }
        #expect(server.waitForRequests())
        cancellation.cancel()
        #expect(outcome.wait(until: .after(milliseconds: 15_000)) { $0 } == .cancelled)
    }

    // MARK: The link

    @Test func failsWithoutItsInterface() {
        let server = ScriptedServer(["/": http(200, "")])
        var link = loopback()
        link.interface = "no-such-link0"
        #expect {
            try HTTPClient(link: link, policy: .testing()).send(HTTPRequest(WebURL(server.url)!), in: Scope())
        } throws: {
            ($0 as? TransferError)?.code == .bindFailed
        }
        #expect(server.requests.isEmpty)
    }

    @Test func refusesLoopback() {
        let server = ScriptedServer(["/": http(200, "")])
        for host in ["127.0.0.1", "127.1", "localhost"] {
            #expect {
                try HTTPClient(link: loopback(), policy: .field).send(
                    HTTPRequest(WebURL("http://\(host):\(server.port)/")!), in: Scope())
            } throws: {
                [.refusedAddress, .noNameserver].contains(($0 as? TransferError)?.code)
            }
        }
        #expect(server.requests.isEmpty)
    }

    @Test func failsWithoutNameserver() {
        #expect(throws: TransferError(.noNameserver)) {
            try HTTPClient(link: loopback(), policy: .testing()).send(HTTPRequest(WebURL("http://portal.example/")!), in: Scope())
        }
    }

    // MARK: Cookies

    @Test func keepsCookiesOfALogin() throws {
        let server = ScriptedServer([
            "/": http(200, "", "Set-Cookie: visit=abc; Path=/", "Set-Cookie: other=x; Domain=elsewhere.test")
        ])
        let client = HTTPClient(link: loopback(), policy: .testing())
        for _ in 0..<2 { _ = try client.send(HTTPRequest(WebURL(server.url + "/")!), in: Scope()) }
        #expect(server.requests[0].header("cookie") == nil)
        #expect(server.requests[1].header("cookie") == "visit=abc")
        let kept = HTTPClient(link: loopback(), policy: .testing(), cookies: client.cookies)
        _ = try kept.send(HTTPRequest(WebURL(server.url + "/")!), in: Scope())
        #expect(server.requests[2].header("cookie") == "visit=abc")
    }

    @Test func limitsCookies() throws {
        let many = (0..<120).map { "Set-Cookie: c\($0)=" + String(repeating: "v", count: 300) }.joined(separator: "\r\n")
        let server = ScriptedServer(["/": http(200, "", many)])
        let client = HTTPClient(link: loopback(), policy: .testing())
        for _ in 0..<2 { _ = try client.send(HTTPRequest(WebURL(server.url + "/")!), in: Scope()) }
        #expect(client.cookies.lines.count <= CookieJar.limit)
        #expect(server.requests[1].header("cookie")!.utf8.count <= 8200)
        #expect(client.cookies.lines(within: 1000).count == 3)
    }

    @Test func tracesWithoutQueries() throws {
        let server = ScriptedServer(["/login": http(200, "")])
        let scope = Scope()
        _ = try HTTPClient(link: loopback(), policy: .testing()).send(
            HTTPRequest(WebURL(server.url + "/login?password=tunnel")!), in: scope)
        #expect(scope.trace.lines.count == 1)
        #expect(scope.trace.lines[0].hasPrefix("GET \(server.url)/login?… → 200 in "))
        #expect(!scope.trace.lines[0].contains("tunnel"))
    }
}
