import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PageLogin
@testable import PortalCatalogue

/// Looks are probes that start while a login waits for its answer.
@Suite struct EarlyProofTests {
    private let open = ProbeResult(.online)

    /// Waits until a look has begun or ended.
    private func wait(_ flag: Locked<Bool>) -> Bool {
        flag.wait(until: .after(milliseconds: 20_000)) { $0 ? true : nil } ?? false
    }

    @Test func aLookThatFoundTheNetworkOpenIsTheProof() {
        let proof = EarlyProof(delays: [0], lifetime: 600_000) { [open] _ in open }
        while !proof.isProven { #expect(Scope().pause(milliseconds: 1)) }
        let asked = Locked(false)
        let result = proof.result(
            or: { _ in
                asked.with { $0 = true }
                return ProbeResult(.captive)
            }, in: Scope())
        #expect(result.verdict == .online && !asked.with { $0 })
    }

    /// The look still runs when the proof begins. If the look has an answer first, the proof ends.
    @Test func aLookThatStillRunsIsWaitedForBesideTheProof() {
        let (begun, mayEnd) = (Locked(false), Locked(false))
        let proof = EarlyProof(delays: [0]) { [open] _ in
            begun.with { $0 = true }
            return wait(mayEnd) ? open : ProbeResult(.limited)
        }
        #expect(wait(begun))
        let result = proof.result(
            or: { scope in
                mayEnd.with { $0 = true }
                _ = scope.pause(milliseconds: 20_000)
                return ProbeResult(.limited)
            }, in: Scope())
        #expect(result.verdict == .online)
    }

    /// If a look is the proof, its requests are in the prober's answer.
    @Test(
        arguments: [
            (["GET http://a.test/ → 302 in 1 ms"], .captive, ["GET http://a.test/ → 302 in 1 ms, during the login"]),
            ([], .limited, ["GET http://a.test/ → answer not needed, during the login"]),
            (["GET http://a.test/ → 204 in 1 ms"], .online, []),
        ] as [([String], Verdict, [String])])
    func theRequestsOfALookAreInTheLoginsTrace(lines: [String], found: Verdict, told: [String]) {
        let trace = Trace()
        let (begun, mayEnd) = (Locked(false), Locked(false))
        let proof = EarlyProof(delays: [0], lifetime: 600_000, asked: "GET http://a.test/", trace: trace) { scope in
            for line in lines { scope.trace.add(line) }
            begun.with { $0 = true }
            _ = wait(mayEnd)
            return ProbeResult(found)
        }
        #expect(wait(begun))
        #expect(proof.underWay == ["GET http://a.test/ → no answer yet, during the login"])
        mayEnd.with { $0 = true }
        while !proof.underWay.isEmpty { #expect(Scope().pause(milliseconds: 1)) }
        #expect(trace.lines == told)
    }

    /// A connection that was made before the gateway opened says nothing.
    @Test func aLookThatMetThePortalDecidesNothing() {
        let (begun, mayEnd) = (Locked(false), Locked(false))
        let proof = EarlyProof(delays: [0]) { _ in
            begun.with { $0 = true }
            return wait(mayEnd) ? ProbeResult(.captive) : ProbeResult(.limited)
        }
        #expect(wait(begun))
        let result = proof.result(
            or: { [open] _ in
                mayEnd.with { $0 = true }
                return open
            }, in: Scope())
        #expect(result.verdict == .online && !proof.isProven)
    }

    @Test func onlyAPlainOpenNetworkCountsAndNotForLong() {
        for found in [
            ProbeResult(.partial, problem: "httpsBlocked"), ProbeResult(.online, problem: "httpBlocked"), ProbeResult(.limited),
        ] {
            var looks = EarlyProof.Looks()
            let begins = looks.begin()
            #expect(begins)
            looks.end(found)
            #expect(looks.proof(within: 600_000) == nil, "\(found)")
        }
        var looks = EarlyProof.Looks()
        let begins = looks.begin()
        #expect(begins)
        looks.end(open)
        #expect(looks.proof(within: 600_000)?.verdict == .online && looks.proof(within: 0) == nil)
        looks.isOver = true
        let another = looks.begin()
        #expect(!another)
    }

    // MARK: - Logins

    /// A portal that answers a login only after somebody has seen the network open.
    private func portal(_ page: String) -> ScriptedServer {
        let state = Locked((isOpen: false, wasSeen: false))
        return ScriptedServer { request in
            switch request.path {
            case "/":
                let isOpen = state.with { state in
                    state.wasSeen = state.isOpen
                    return state.isOpen
                }
                return .send(octets(isOpen ? "HTTP/1.1 204 No Content\r\n\r\n" : redirect("/welcome")))
            case "/login":
                state.with { $0.isOpen = true }
                let wasSeen = state.wait(until: .after(milliseconds: 20_000)) { $0.wasSeen ? true : nil } ?? false
                return .send(octets(http(wasSeen ? 200 : 503, "<p>Welcome, you are online. <a href='/logout'>Log out</a></p>")))
            default: return .page("<title>Aroma</title>" + page)
            }
        }
    }

    private func command(_ server: ScriptedServer) -> HelperCommand {
        HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(probe: server.url + "/"),
            consent: true, attempts: SharedProbe(looks: [0, 50, 200]), policy: .testing())
    }

    /// A gateway keeps a connection that was made before the login reached it. So looks start later if the round trip is long.
    @Test func looksFollowTheLogin() {
        #expect(SharedProbe.delays(of: [20, 100], roundTrip: nil) == [20, 100])
        #expect(SharedProbe.delays(of: [20, 100], roundTrip: 200) == [120, 200])
    }

    @Test func theKernelKnowsTheRoundTrip() throws {
        let server = portal("")
        var request = HTTPRequest(try #require(WebURL(server.url + "/welcome")))
        let roundTrip = Locked([Int?]())
        request.onConnected = { milliseconds in
            roundTrip.with { $0.append(milliseconds) }
        }
        _ = try command(server).client().send(request, in: Scope())
        // Loopback takes microseconds.
        #expect(roundTrip.with { $0 }.compactMap(\.self).count == 1)
    }

    @Test func aFormIsLookedBeside() throws {
        let server = portal("<form method=post action=/login><input type=submit value='Go online'></form>")
        var command = command(server)
        let result = try #require(command.probe())
        command.portal = FormLogin(kind: "form", command: command).inspect(from: result)?.portal
        let reply = FormLogin(kind: "form", command: command).run(from: nil, isTypedNow: false)
        #expect(reply.result == .success, "\(reply)")
        #expect(command.probe(fresh: true)?.verdict == .online)
        // A probe of another attempt sends its own request.
        let before = server.requests.count { $0.path == "/" }
        command.link.attempt = "of its own"
        #expect(command.probe(fresh: true)?.verdict == .online)
        #expect(server.requests.count { $0.path == "/" } > before)
    }

    @Test func aPortalFileIsLookedBeside() throws {
        let file = "[Match]\nBody=Aroma\n[Portal]\nName=Aroma\n[Step]\nPost=/login\n"
        let portals = [try #require(try PortalFileParser.parse(Array(file.utf8), file: "aroma.portal"))]
        let server = portal("Welcome to Aroma")
        var command = command(server)
        command.portal = PortalLogin(command, portals: portals).evaluate().portal
        let reply = PortalLogin(command, portals: portals).run(isTypedNow: false)
        #expect(reply.result == .success, "\(reply)")
    }
}
