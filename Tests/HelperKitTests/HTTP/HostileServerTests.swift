import Glibc
import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PortalPages

/// Servers that pose as something else: a proxy, a server of another protocol, or of other hosts. docs/hostile.md lists them.
@Suite struct HostileServerTests {
    private func client(_ authorities: String? = nil) -> HTTPClient {
        HTTPClient(link: loopback(), policy: .testing(authorities: authorities))
    }

    private func get(_ url: String, _ client: HTTPClient, milliseconds: Int = 20_000) throws(TransferError) -> HTTPResponse {
        try client.send(HTTPRequest(WebURL(url)!), in: Scope(deadline: .after(milliseconds: milliseconds)))
    }

    /// The error code of a request whose server sends these octets.
    private func code(_ octets: [UInt8]) -> TransferErrorCode? {
        let server = ScriptedServer { _ in .send(octets) }
        do throws(TransferError) {
            _ = try get(server.url, client())
            return nil
        } catch {
            return error.code
        }
    }

    /// HTTP/0.9, an HTTP/2 server that begins with its settings, a TLS alert, and other protocols.
    @Test(arguments: [
        octets("<html><title>HTTP/0.9</title></html>"), [0, 0, 18, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100, 0, 4, 0, 1, 0, 0],
        [21, 3, 3, 0, 2, 2, 40], octets("SSH-2.0-OpenSSH_9.2\r\n"), octets("220 mail.example ESMTP\r\n"),
        octets("-ERR unknown command\r\n"),
        octets("ICY 200 OK\r\n\r\n"),
    ]) func otherProtocolsAreNoAnswers(_ answer: [UInt8]) { #expect(code(answer) == .badAnswer) }

    @Test func anotherProtocolIsNotGoneOverTo() throws {
        let authority = try Authority()
        let other = ScriptedServer([:])
        let offer = "Alt-Svc: h2=\"127.0.0.1:\(other.port)\"; ma=3600, h3=\"127.0.0.1:\(other.port)\""
        let server = ScriptedServer(["/": http(200, "one", offer, "Upgrade: h2c", "Connection: Upgrade")])
        let url = "https://127.0.0.1:\(try authority.front(server))/"
        let client = client(authority.file)
        for _ in 0..<2 { #expect(try get(url, client).body == octets("one")) }
        #expect(server.requests.count == 2 && other.requests.isEmpty)
        #expect(server.requests.allSatisfy { $0.head.contains("HTTP/1.1") && $0.header("upgrade") == nil })
    }

    @Test func noProxyIsGivenAnything() throws {
        let server = ScriptedServer(["/": http(407, "", "Proxy-Authenticate: Basic realm=\"x\"", "Proxy-Authenticate: NTLM")])
        let client = client()
        #expect(try get(server.url + "/", client).status == 407)
        #expect(try get(server.url + "/", client).status == 407)
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0.header("proxy-authorization") == nil && $0.header("authorization") == nil })
    }

    @Test func aLongAddressIsNotFollowed() throws {
        let long = ScriptedServer(["/": redirect("/" + String(repeating: "a", count: 200_000))])
        #expect { try get(long.url + "/", client()) } throws: { ($0 as? TransferError)?.code == .badAnswer }
        // An address that fits into a head may still be too long to be followed.
        let server = ScriptedServer(["/": redirect("/" + String(repeating: "a", count: 15_000))])
        let request = HTTPRequest(WebURL(server.url + "/")!)
        let answer = try client().send(request, in: Scope())
        #expect(throws: TransferError(.refusedURL, "not a web address")) {
            try RedirectChain.follow(answer, to: request, client: client(), in: Scope())
        }
    }

    @Test func oddHeaderLinesDoNotCount() throws {
        let head = "HTTP/1.1 200 OK\r\nX-First: a\r\n  folded: b\r\n"
        let odd = octets(head) + octets("X-Odd: ") + [0xFF, 0xE9, 0x80] + octets("\r\nContent-Length: 4\r\n\r\npage")
        let server = ScriptedServer { _ in .send(odd) }
        let response = try get(server.url + "/", client())
        #expect(response.status == 200 && response.body == octets("page"))
        #expect(response["x-first"]?.hasPrefix("a") == true && response["folded"] == nil)
        #expect(response["x-odd"]?.unicodeScalars.allSatisfy { $0 == "\u{FFFD}" } == true)
        #expect(code(octets("HTTP/1.1 200 OK\r\nNoColon\r\nContent-Length: 4\r\n\r\npage")) == .badHeader)
    }

    /// An answer that ends after each of its octets.
    @Test func noPartOfAnAnswerIsAPage() {
        let whole = octets("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<p>Login</p>")
        for length in whole.indices {
            let end = code(Array(whole[..<length]))
            #expect([.emptyAnswer, .shortAnswer, .badAnswer, .reset].contains(end), "\(length): \(String(describing: end))")
        }
        #expect(code(whole) == nil)
    }

    // MARK: Cookies

    @Test(arguments: [
        "a=1; Domain=example.test", "a=1; Domain=0.0.1", "a=1; Domain=com", "a=1; Domain=co.uk", "a=\u{1}1", "a\u{7}=1",
    ]) func foreignCookiesAreNotKept(_ cookie: String) throws {
        let server = ScriptedServer(["/": http(200, "", "Set-Cookie: \(cookie)", "Set-Cookie: own=2")])
        let client = client()
        for _ in 0..<2 { _ = try get(server.url + "/", client) }
        #expect(server.requests[1].header("cookie") == "own=2")
    }

    /// As in a browser, a cookie may be for the host's own domain, but not for a suffix that many owners share.
    @Test func cookiesOfADomain() throws {
        let server = ScriptedServer([
            "/": http(
                200, "", "Set-Cookie: suffix=1; Domain=co.uk", "Set-Cookie: other=1; Domain=other.co.uk",
                "Set-Cookie: own=1; Domain=hotel.co.uk", "Set-Cookie: deep=1; Domain=a.wifi.hotel.co.uk")
        ])
        let names = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let client = HTTPClient(link: loopback(nameservers: ["127.0.0.1:\(names.port)"]), policy: .testing())
        for host in ["wifi.hotel.co.uk", "login.hotel.co.uk", "other.co.uk"] {
            _ = try get("http://\(host):\(server.port)/", client)
        }
        #expect(server.requests.map { $0.header("cookie") } == [nil, "own=1", nil])
    }
}
