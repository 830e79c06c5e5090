import Glibc
import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PageLogin
@testable import PortalPages

@Suite struct ProbeRunTests {
    private let store = SharedProbe()

    /// The link names the first endpoint of the usual plan, for helpers that probe by themselves.
    @Test func theUsualProbeAsksTheOthersAsWell() {
        let usual = ProbeRun.Plan(link: loopback(probe: Link.usualProbe.url, expect: Link.usualProbe.expect))
        #expect(usual.named == ProbeEndpoint.usual && usual.address != nil && usual.https != nil)
        let own = ProbeRun.Plan(link: loopback(probe: Link.usualProbe.url, expect: "hello"))
        #expect(own.named == [ProbeEndpoint(url: Link.usualProbe.url, expect: "hello")] && own.address == nil && own.https == nil)
    }

    @Test func probesBypassCaches() throws {
        let server = ScriptedServer(["/generate_204": "HTTP/1.1 204 No Content\r\n\r\n"])
        let link = loopback(probe: server.url + "/generate_204")
        let result = try #require(store.probe(link, policy: .testing(), in: Scope()))
        #expect(result.verdict == .online)
        #expect(result.evidence.count == 1)
        #expect(result.evidence[0].request == "GET \(server.url)/generate_204")
        #expect(server.requests[0].target.hasPrefix("/generate_204?r="))
        #expect(server.requests[0].header("cache-control") == "no-cache")
    }

    /// A redirect decides at once; the HTTPS server never answers, so the test ends only if the probe does not wait for it.
    @Test(arguments: ["?token=1", "#/splash"]) func aRedirectEndsTheProbe(_ token: String) throws {
        let server = ScriptedServer(["/": redirect("http://portal.test/login" + token)])
        let silent = ScriptedServer { _ in .hold([]) }
        let link = loopback(probe: server.url + "/")
        let result = try #require(
            store.probe(
                link, https: "https://127.0.0.1:\(silent.port)/", policy: .testing(),
                in: Scope(deadline: .after(milliseconds: 60_000))))
        #expect(result.verdict == .captive)
        #expect(result.answer.portalURL == "http://portal.test/login" + token)
        #expect(result.evidence[0].headers["location"] == "http://portal.test/login")
    }

    /// HTTPS connects, but its answer never comes; HTTP answers after the HTTPS request was sent.
    @Test func theAnswerOverHTTPSIsNotWaitedFor() throws {
        let authority = try Authority()
        let silent = ScriptedServer { _ in .hold([]) }
        let server = ScriptedServer { _ in
            .send(octets(silent.waitForRequests() ? "HTTP/1.1 204 No Content\r\n\r\n" : http(500, "")))
        }
        let https = "https://127.0.0.1:\(try authority.front(silent))/"
        let result = try #require(
            store.probe(
                loopback(probe: server.url + "/"), https: https, policy: .testing(authorities: authority.file),
                in: Scope(deadline: .after(milliseconds: 60_000))))
        #expect(result.verdict == .online && result.problem == nil)
        #expect(result.evidence.filter(\.isUnanswered).map(\.request) == ["GET \(https)"])
    }

    /// A link whose probe's server has a name, and answered at 127.0.0.1 earlier.
    private func remembering(_ server: ScriptedServer, names: ScriptedNameserver) -> Link {
        var link = loopback(probe: "http://probe.test:\(server.port)/", nameservers: ["127.0.0.1:\(names.port)"])
        link.probeAddress = "127.0.0.1"
        return link
    }

    /// The request goes out once, before the name is resolved, and counts if the name resolves to that address.
    @Test func aRememberedServerIsAskedBesideItsName() throws {
        let server = ScriptedServer(["/": "HTTP/1.1 204 No Content\r\n\r\n"])
        let names = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let link = remembering(server, names: names)
        let result = try #require(store.probe(link, policy: .testing(), in: Scope()))
        #expect(result.verdict == .online && result.probeAddress == "127.0.0.1")
        #expect(server.requests.count == 1 && names.questions == 1)
        #expect(result.evidence.map(\.request) == ["GET http://probe.test:\(server.port)/"])
        // The name is now known, so no request goes out ahead of it.
        _ = store.probe(link, fresh: true, policy: .testing(), in: Scope())
        #expect(server.requests.count == 2 && names.questions == 1)
    }

    /// A nameserver's answer of a moment ago does not prove that the nameserver answers now.
    @Test func aProbeThatAsksNamesAsksForKnownOnesAgain() throws {
        let server = ScriptedServer(["/": "HTTP/1.1 204 No Content\r\n\r\n"])
        let names = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let link = remembering(server, names: names)
        for questions in 1...3 {
            let result = store.probe(link, fresh: true, asksNames: true, policy: .testing(), in: Scope())
            #expect(result?.verdict == .online && names.questions == questions)
        }
    }

    /// The server, or a portal in its place, answers at the address of the last proof, and no nameserver gave that address.
    @Test(arguments: [redirect("/login"), "HTTP/1.1 204 No Content\r\n\r\n"]) func anAnswerAtARememberedAddressSaysSo(
        _ answer: String
    ) throws {
        let server = ScriptedServer(["/": answer])
        let names = ScriptedNameserver(a: .silence, aaaa: .silence)
        let link = remembering(server, names: names)
        let result = ProbeRun(link: link, plan: ProbeRun.Plan(link: link), policy: .testing(), api: nil, limit: 1500).result(
            in: Scope())
        #expect(result.verdict == .limited && result.problem == "dnsTimeout")
        let url = "GET http://probe.test:\(server.port)/"
        #expect(result.evidence.filter { $0.status != nil }.map(\.request) == [url + " at 127.0.0.1"])
        #expect(result.evidence.filter { $0.error?.hasPrefix("dnsTimeout") == true }.map(\.request) == [url])
    }

    /// A gateway that answers names falsely, and lets the server's own address through, must not look open.
    @Test func aRememberedServerProvesNothingWhereTheNameLeadsElsewhere() throws {
        let server = ScriptedServer(["/": "HTTP/1.1 204 No Content\r\n\r\n"])
        let names = ScriptedNameserver(a: .address([127, 0, 0, 9]))
        let result = try #require(
            store.probe(remembering(server, names: names), fresh: true, policy: .testing(), in: Scope()))
        #expect(result.verdict == .limited && result.problem == "connectFailed" && result.probeAddress == nil)
    }

    /// If the name does not resolve, there is nothing to compare the address with.
    @Test func aRememberedServerProvesNothingWithoutItsName() throws {
        let server = ScriptedServer(["/": "HTTP/1.1 204 No Content\r\n\r\n"])
        let names = ScriptedNameserver(a: .code(3), aaaa: .code(3))
        let result = try #require(
            store.probe(remembering(server, names: names), fresh: true, policy: .testing(), in: Scope()))
        #expect(result.verdict == .limited && result.problem == "dnsFailed")
    }

    /// Another probe makes this process forget the name. The server is silent, but the nameserver is not.
    @Test func aRememberedServerThatIsSilentIsNotASilentNameserver() throws {
        let names = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let forgets = Locked<Link?>(nil)
        let server = ScriptedServer { _ in
            if let link = forgets.with({ $0 }) { NamePins.shared.forget("probe.test", link: link) }
            return .hold([])
        }
        let link = remembering(server, names: names)
        forgets.with { $0 = link }
        // The nameserver of this test has to answer within the limit, on a busy machine as well.
        for _ in 1...3 {
            let run = ProbeRun(
                link: link, plan: ProbeRun.Plan(link: link), policy: .testing(), api: nil, limit: 3000, patience: 3000)
            let result = run.result(in: Scope())
            #expect(result.verdict == .limited && result.problem != "dnsTimeout")
            #expect(!result.evidence.contains { $0.error?.hasPrefix("dnsTimeout") == true })
        }
    }

    @Test func aRememberedServerThatIsGoneIsAskedAgainAtItsName() throws {
        let requests = Locked(0)
        let server = ScriptedServer { _ in
            let number = requests.with { count in
                count += 1
                return count
            }
            return .send(octets(number == 1 ? "" : "HTTP/1.1 204 No Content\r\n\r\n"))
        }
        let names = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let result = try #require(store.probe(remembering(server, names: names), policy: .testing(), in: Scope()))
        #expect(result.verdict == .online && server.requests.count == 2)
    }

    /// The trace of a command does not claim another command's request.
    @Test func aPageThatAnotherCommandFetchedIsToldAsThat() throws {
        let server = ScriptedServer(["/": http(200, "<title>Portal</title>")])
        let link = loopback(probe: server.url + "/")
        let url = try #require(WebURL(server.url + "/"))
        let lines = [Scope(), Scope()].map { scope in
            let questions = RedirectChain.Questions(agreed: [])
            _ = store.portalPage(link, source: .url(url), asking: questions, policy: .testing(), in: scope)
            return scope.trace.lines
        }
        #expect(server.requests.count == 1 && lines.map(\.count) == [1, 1])
        #expect(!lines[0][0].hasSuffix(", fetched before") && lines[1][0] == lines[0][0] + ", fetched before")
    }

    @Test func allHelpersShareOneProbe() throws {
        let server = ScriptedServer { _ in
            usleep(50_000)
            return .page("<title>Portal</title>")
        }
        let link = loopback(probe: server.url + "/")
        let store = store
        let done = Locked(0)
        for _ in 0..<5 {
            Worker.start {
                let result = store.probe(link, policy: .testing(), in: Scope())
                if result?.verdict == .captive { done.with { $0 += 1 } }
            }
        }
        #expect(done.wait(until: .after(milliseconds: 20_000)) { $0 == 5 ? true : nil } == true)
        #expect(server.requests.count == 1)
        _ = store.probe(link, fresh: true, policy: .testing(), in: Scope())
        #expect(server.requests.count == 2)
        _ = store.probe(link, policy: .testing(), in: Scope())
        #expect(server.requests.count == 2)
    }

    @Test func cancellingOneCommandDoesNotCancelTheOthers() throws {
        let gate = Locked(false)
        let server = ScriptedServer { _ in
            _ = gate.wait(until: .after(milliseconds: 2000)) { $0 ? true : nil }
            return .send(octets("HTTP/1.1 204 No Content\r\n\r\n"))
        }
        let link = loopback(probe: server.url + "/")
        let store = store
        let cancellation = Cancellation()
        let results = Locked([String]())
        Worker.start {
            let result = store.probe(link, policy: .testing(), in: Scope())
            results.with { $0.append(result?.verdict == .online ? "online" : "other") }
        }
        #expect(server.waitForRequests())
        Worker.start {
            let result = store.probe(link, policy: .testing(), in: Scope(cancellation: cancellation))
            results.with { $0.append(result == nil ? "cancelled" : "answered") }
        }
        cancellation.cancel()
        #expect(results.wait(until: .after(milliseconds: 20_000)) { $0.isEmpty ? nil : $0 } == ["cancelled"])
        gate.with { $0 = true }
        #expect(results.wait(until: .after(milliseconds: 20_000)) { $0.count == 2 ? $0 : nil } == ["cancelled", "online"])
        #expect(server.requests.count == 1)
    }

    @Test func fallsBackInOrder() throws {
        let empty = ScriptedServer(["/": http(200, "")])
        let good = ScriptedServer(["/": http(200, "yes")])
        let result = try #require(
            store.probe(
                loopback(),
                endpoints: [ProbeEndpoint(url: empty.url, expect: "204"), ProbeEndpoint(url: good.url, expect: "yes")],
                policy: .testing(), in: Scope()))
        #expect(result.verdict == .online)
        #expect(result.evidence.map(\.status) == [200, 200])
    }

    @Test func refusedConnectionsAreLimited() throws {
        let port = ScriptedServer([:]).port
        let result = try #require(store.probe(loopback(probe: "http://127.0.0.1:\(port)/"), policy: .testing(), in: Scope()))
        #expect(result.verdict == .limited)
        #expect(result.problem == "connectFailed")
    }
}
