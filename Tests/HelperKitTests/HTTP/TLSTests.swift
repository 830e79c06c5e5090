import Glibc
import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit

@Suite(.serialized) struct TLSTests {
    private func code(_ url: String, authority: String?, pin: String? = nil, milliseconds: Int = 10_000) -> TransferErrorCode? {
        var request = HTTPRequest(WebURL(url)!)
        // openssl serves one connection after the other, so each request needs a new connection.
        request.needsFreshConnection = true
        request.requiredPin = pin
        do throws(TransferError) {
            _ = try HTTPClient(link: loopback(), policy: .testing(authorities: authority)).send(
                request, in: Scope(deadline: .after(milliseconds: milliseconds)))
            return nil
        } catch {
            return error.code
        }
    }

    @Test func checksCertificatesAndPins() throws {
        let authority = try Authority()
        try authority.page("index", http(200, "hello"))
        let port = try authority.serve("good")
        let url = "https://127.0.0.1:\(port)/index"
        let client = HTTPClient(link: loopback(), policy: .testing(authorities: authority.file))
        var request = HTTPRequest(WebURL(url)!)
        request.needsFreshConnection = true
        let response = try client.send(request, in: Scope(deadline: .after(milliseconds: 10_000)))
        #expect(response.body == octets("hello"))
        let pin = try #require(response.pin)
        #expect(pin.utf8.count == 44)
        #expect(code(url, authority: authority.file, pin: pin) == nil)
        #expect(code(url, authority: authority.file, pin: "A" + pin.dropFirst() + "x") == .keyChanged)
        // None of the system's authorities has signed it.
        #expect(code(url, authority: nil) == .tlsFailed)
        let other = try authority.serve("other", subject: "DNS:other.test")
        #expect(code("https://127.0.0.1:\(other)/index", authority: authority.file) == .tlsFailed)
        let own = try authority.serve("own", signed: false)
        #expect(code("https://127.0.0.1:\(own)/index", authority: authority.file) == .tlsFailed)
    }

    @Test func reportsFailedHandshakes() {
        let server = ScriptedServer { _ in .send([]) }
        let plain = code("https://127.0.0.1:\(server.port)/", authority: nil, milliseconds: 500)
        // The server waits for a request that never comes, until the deadline.
        #expect(plain == .timeout || plain == .tlsFailed)
    }

    // MARK: Hostile servers

    /// Posts a secret to a server with this certificate. Returns the code of its failure, and what arrived.
    private func post(
        _ authority: Authority, _ name: String, host: String = "127.0.0.1"
    ) throws -> (code: TransferErrorCode?, requests: [String]) {
        let server = ScriptedServer(["/": http(200, "ok")])
        let names = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let link = loopback(nameservers: ["127.0.0.1:\(names.port)"])
        let url = WebURL("https://\(host):\(try authority.front(server, name: name))/")!
        let client = HTTPClient(link: link, policy: .testing(authorities: authority.file))
        var code: TransferErrorCode?
        do throws(TransferError) {
            _ = try client.send(
                HTTPRequest(posting: [("password", "canary")], to: url), in: Scope(deadline: .after(milliseconds: 20_000)))
        } catch {
            code = error.code
        }
        return (code, server.requests.map(\.body))
    }

    @Test func certificatesOfAnotherTimeAreNamedAsThat() throws {
        let authority = try Authority()
        try authority.certify("past", from: "19700101000000Z", to: "19710101000000Z")
        try authority.certify("future", from: "20980101000000Z", to: "20990101000000Z")
        for name in ["past", "future"] {
            let (code, requests) = try post(authority, name)
            #expect(code == .clockWrong && requests.isEmpty, "\(name)")
        }
    }

    @Test func chainsAreReadToTheirEnd() throws {
        let authority = try Authority()
        try authority.certify("between", subject: "DNS:between.test", isAuthority: true)
        try authority.certify("leaf", issuer: "between")
        #expect(try post(authority, "leaf") == (.tlsFailed, []))
        try authority.append(["between"], to: "leaf")
        #expect(try post(authority, "leaf") == (nil, ["password=canary"]))
        // 64 KiB of certificates are read, 200 KiB are refused.
        try authority.append([String](repeating: "between", count: 140), to: "leaf")
        #expect(try post(authority, "leaf") == (nil, ["password=canary"]))
        try authority.append([String](repeating: "between", count: 300), to: "leaf")
        #expect(try post(authority, "leaf") == (.tlsFailed, []))
    }

    @Test func namesAreMatchedAsBrowsersDo() throws {
        let authority = try Authority()
        let many = (0..<1000).map { "DNS:host\($0).test" }.joined(separator: ",")
        try authority.certify("many", subject: many + ",IP:127.0.0.1")
        #expect(try post(authority, "many").code == nil)
        #expect(try post(authority, "many", host: "host999.test").code == nil)
        #expect(try post(authority, "many", host: "host1000.test") == (.tlsFailed, []))
        try authority.certify("address")
        #expect(try post(authority, "address", host: "portal.test") == (.tlsFailed, []))
        for (name, pattern) in [("all", "*"), ("top", "*.test"), ("deep", "*.portal.test"), ("inner", "www.*.test")] {
            try authority.certify(name, subject: "DNS:\(pattern)")
            #expect(try post(authority, name, host: "portal.test") == (.tlsFailed, []), "\(pattern)")
        }
        #expect(try post(authority, "deep", host: "www.portal.test").code == nil)
        #expect(try post(authority, "deep", host: "a.www.portal.test") == (.tlsFailed, []))
    }

    @Test(arguments: TLSBreach.allCases) func brokenConnectionsFail(_ way: TLSBreach) throws {
        let authority = try Authority()
        let port = try authority.breakOff(way)
        let expected: TransferErrorCode? =
            switch way {
            case .alert, .close, .garbage: .tlsFailed
            case .truncation: .shortAnswer
            case .forgery: .reset
            // Portals in small devices end their connections this way, and browsers accept it.
            case .plainEnd: nil
            }
        #expect(code("https://127.0.0.1:\(port)/", authority: authority.file) == expected)
    }

    @Test func asksThePortalAPI() throws {
        let authority = try Authority()
        let body = #"{"captive":true,"user-portal-url":"http://portal.test/welcome"}"#
        try authority.page("api", http(200, body, "Content-Type: application/captive+json"))
        let port = try authority.serve("api-server")
        // The probe's endpoint does not answer; the API decides.
        let open = ScriptedServer { _ in .hold([]) }
        let link = loopback(probe: open.url + "/", api: "https://127.0.0.1:\(port)/api")
        let policy = NetworkPolicy.testing(authorities: authority.file)
        let store = SharedProbe()
        let scope = Scope(deadline: .after(milliseconds: 10_000))
        let result = try #require(store.probe(link, policy: policy, in: scope))
        #expect(result.verdict == .captive)
        #expect(result.portalURL?.text == "http://portal.test/welcome")
        #expect(result.evidence.compactMap(\.body) == ["captive"])
        #expect(store.apiDocument(link, policy: policy, in: scope)?.captive == true)
        // An API with an untrusted certificate is ignored.
        var stranger = link
        stranger.attempt += "x"
        #expect(store.apiDocument(stranger, policy: .testing(), in: scope) == nil)
    }
}
