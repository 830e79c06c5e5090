import Glibc
import HotspotCore
import Testing

@testable import HelperKit

@Suite(.serialized) struct TLSTests {
    private func code(_ url: String, authority: String?, pin: String? = nil, milliseconds: Int = 10_000) -> TransferErrorCode? {
        var request = HTTPRequest(WebURL(url)!)
        // openssl serves one connection after the other.
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

    @Test func asksThePortalAPI() throws {
        let authority = try Authority()
        let body = #"{"captive":true,"user-portal-url":"http://portal.test/welcome"}"#
        try authority.page("api", http(200, body, "Content-Type: application/captive+json"))
        let port = try authority.serve("api-server")
        // The probe's endpoint does not answer; the API decides.
        let open = ScriptedServer { _ in .hold([]) }
        let link = loopback(probe: open.url + "/", api: "https://127.0.0.1:\(port)/api")
        let policy = NetworkPolicy.testing(authorities: authority.file)
        let store = AttemptStore()
        let scope = Scope(deadline: .after(milliseconds: 10_000))
        let result = try #require(store.probe(link, policy: policy, in: scope))
        #expect(result.verdict == .captive)
        #expect(result.portalURL?.text == "http://portal.test/welcome")
        #expect(result.evidence.map(\.body) == ["captive"])
        #expect(store.apiDocument(link, policy: policy, in: scope)?.captive == true)
        // An API with an untrusted certificate is ignored.
        var stranger = link
        stranger.attempt += "x"
        #expect(store.apiDocument(stranger, policy: .testing(), in: scope) == nil)
    }
}
