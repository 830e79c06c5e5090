import HotspotCore
import Testing
import Varlink

@testable import HelperKit
@testable import hotspot_helpers

/// The form helper: what it claims, what it sends over plain HTTP, and which terms it accepts.
@Suite struct FormHelperTests {
    private func visit(_ server: ScriptedServer, attempts: AttemptStore = AttemptStore()) -> Visit {
        Visit(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(probe: server.url + "/"),
            scope: Scope(deadline: .after(milliseconds: 30_000)), attempts: attempts, policy: .testing())
    }

    @Test func claimsCaptiveNetworksOnly() throws {
        let open = ScriptedServer(["/": "HTTP/1.1 204 No Content\r\n\r\n"])
        #expect(try FormHelper().evaluate(visit(open)).confidence == .none)
        let portal = ScriptedServer(["/": redirect("/in"), "/in": http(200, "<title>Inn</title><form><input name=room></form>")])
        let evaluation = try FormHelper().evaluate(visit(portal))
        #expect(evaluation.confidence == .low)
        #expect(evaluation.portal == Portal(origin: portal.url, kind: "form", title: "Inn"))
        #expect(evaluation.needs == ["room"])
    }

    /// The daemon releases a credential for a plain portal only where the settings allow it; the helper then sends it.
    @Test func sendsWhatWasReleased() throws {
        let server = ScriptedServer([
            "/": redirect("/in"),
            "/in": http(
                200,
                "<form method=post action=/login><input name=u><input type=password name=p><input type=submit></form>"),
            "/login": http(200, "You are now connected"),
        ])
        var visit = visit(server)
        visit.portal = Portal(origin: server.url, kind: "form")
        #expect(try FormHelper().authenticate(visit).result == .uiRequired)
        visit.credential = ["u": "guest", "p": "sesame"]
        #expect(try FormHelper().authenticate(visit).result == .success)
        #expect(server.requests.last?.body == "u=guest&p=sesame")
    }

    // MARK: Terms

    private func cafe(_ terms: Monitor<String>) -> ScriptedServer {
        ScriptedServer { request in
            switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/terms":
                .send(
                    octets(http(200, "<h1>House rules</h1><p>\(terms.with { $0 })</p><p>It is 12:0\(Int.random(in: 0...9))</p>")))
            case "/go": .send(octets(http(200, "You are now connected")))
            default:
                .send(
                    octets(
                        http(
                            200,
                            "<form action=/go><label><input type=checkbox name=ok value=1>I accept the <a href=/terms>terms</a></label><input type=submit value=Connect></form>"
                        )))
            }
        }
    }

    @Test func asksAgainWhenTheTermsChange() throws {
        let terms = Monitor("Pay with a smile.")
        let server = cafe(terms)
        var visit = visit(server)
        let evaluation = try FormHelper().evaluate(visit)
        visit.portal = evaluation.portal
        let asked = try FormHelper().authenticate(visit)
        #expect(asked.result == .uiRequired)
        #expect(asked.prompt?.termsURL == server.url + "/terms")
        #expect(Memory(asked.session).terms == nil)
        visit.session = asked.session
        visit.answers = ["ok": "yes"]
        let done = try FormHelper().presentUI(visit)
        #expect(done.result == .success)
        #expect(Memory(done.session).terms?.count == 1)
        #expect(Memory(done.session).shownTerms == nil)

        // The next visit: the daemon says that the user accepted before.
        visit.session = done.session
        visit.answers = [:]
        visit.consent = true
        #expect(try FormHelper().authenticate(visit).result == .success)

        terms.with { $0 = "Pay 5 € for every hour." }
        let again = try FormHelper().authenticate(visit)
        #expect(again.result == .uiRequired)
        #expect(again.prompt?.fields.map(\.name) == ["ok"])
        #expect(again.prompt?.message?.contains("have changed") == true)
        // Dismissed, and tried again: still not accepted, whatever the daemon remembers.
        visit.session = again.session
        #expect(try FormHelper().authenticate(visit).result == .uiRequired)
        // An answer that does not accept them is none.
        visit.answers = ["ok": "no"]
        #expect(try FormHelper().presentUI(visit).result == .uiRequired)
        visit.answers = ["ok": "yes"]
        let accepted = try FormHelper().presentUI(visit)
        #expect(accepted.result == .success)
        visit.session = accepted.session
        visit.answers = [:]
        #expect(try FormHelper().authenticate(visit).result == .success)
    }

    @Test func keepsAConsentWhereTheTermsAreSilent() throws {
        let server = cafe(Monitor("x"))
        var visit = visit(server)
        visit.portal = Portal(origin: server.url, kind: "form")
        visit.consent = true
        // By policy, or from before this was kept: nothing is known of what was accepted.
        #expect(try FormHelper().authenticate(visit).result == .success)
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
        let reply = try FormHelper().authenticate(visit(server))
        #expect(reply.prompt?.termsURL == nil)
        #expect(reply.prompt?.terms?.contains("be kind") == true)
    }

    @Test func fingerprintsAreOfWords() {
        let one = Terms.fingerprint(of: "Rule 1: Be kind.\n It is 12:05:33 on 1.7.2026 at 192.0.2.7, token 8f3a77c1d2e4b5")
        #expect(one == Terms.fingerprint(of: "rule 1: be kind. It is 07:15:00 on 3.9.2027 at 192.0.2.99, token 00ff77c1d2e4b5"))
        #expect(one != Terms.fingerprint(of: "Rule 1: Be quick. It is 12:05:33 on 1.7.2026 at 192.0.2.7, token 8f3a77c1d2e4b5"))
        #expect(Terms.fingerprint(of: "5 € an hour") != Terms.fingerprint(of: "9 € an hour"))
    }

    // MARK: Round trips

    /// A login that follows from Maintain has an attempt of its own, and does not ask again what Maintain just saw.
    @Test func aReturnVisitLooksOnce() throws {
        let server = ScriptedServer([
            "/": redirect("/in"), "/in": http(200, "<form action=/go><input type=submit value=Continue></form>"),
            "/go": http(200, "You are now connected"),
        ])
        let attempts = AttemptStore()
        let service = HelperService([FormHelper()], version: "1", attempts: attempts, policy: .testing())
        var link = loopback(probe: server.url + "/")
        let network = JSONValue.encoding(Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open))!
        func ask(_ method: String) -> String? {
            let call = Call(
                method: "org.hotspotd.Helper." + method, parameters: .object(["network": network, "link": .encoding(link)!]))
            return service.dispatch(call, name: "form", Cancellation()).parameters?["reply"]?["result"]?.string
        }
        #expect(ask("Maintain") == "authenticationRequired")
        #expect(server.requests.map(\.path) == ["/", "/in"])
        link.attempt += "-2"
        #expect(ask("Authenticate") == "success")
        #expect(server.requests.map(\.path) == ["/", "/in", "/go"])
        // What was known before the login says nothing afterwards.
        link.attempt += "-3"
        #expect(ask("Maintain") == "authenticationRequired")
        #expect(server.requests.map(\.path) == ["/", "/in", "/go", "/", "/in"])
    }
}
