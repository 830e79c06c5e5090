import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PageLogin
@testable import hotspot_helpers

/// The shortcuts of an attempt's connections; none of them makes a login less certain.
@Suite(.serialized) struct ConnectionPoolTests {
    private func request(_ url: String, pin: String? = nil) -> HTTPRequest {
        var request = HTTPRequest(WebURL(url)!)
        request.requiredPin = pin
        return request
    }

    private func code(_ client: HTTPClient, _ request: HTTPRequest) -> TransferErrorCode? {
        do throws(TransferError) {
            _ = try client.send(request, in: Scope(deadline: .after(milliseconds: 10_000)))
            return nil
        } catch {
            return error.code
        }
    }

    private func command(_ probe: ScriptedServer, session: Session? = nil) -> HelperCommand {
        HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open, justJoined: true),
            link: loopback(probe: probe.url + "/"), session: session, scope: Scope(deadline: .after(milliseconds: 30_000)),
            attempts: SharedProbe(), policy: .testing())
    }

    // MARK: Kept connections

    @Test func clientsOfAnAttemptShareConnectionsButNoCookies() throws {
        let server = ScriptedServer { _ in .keep(octets(http(200, "", "Set-Cookie: visit=abc; Path=/"))) }
        let command = command(server)
        for _ in 0..<3 { _ = try command.client().send(request(server.url + "/"), in: Scope()) }
        #expect(server.connections == 1)
        #expect(server.requests.allSatisfy { $0.header("cookie") == nil })
        var fresh = request(server.url + "/")
        fresh.needsFreshConnection = true
        _ = try command.client().send(fresh, in: Scope())
        #expect(server.connections == 2)
        var other = command
        other.link = loopback()
        _ = try other.client().send(request(server.url + "/"), in: Scope())
        #expect(server.connections == 3)
    }

    @Test func twoTransfersAtOnceHaveTwoConnections() throws {
        let begun = Locked(0)
        let server = ScriptedServer { _ in
            begun.with { $0 += 1 }
            // Each request waits for the other.
            _ = begun.wait(until: .after(milliseconds: 20_000)) { $0 >= 2 ? true : nil }
            return .keep(octets(http(200, "")))
        }
        let command = command(server)
        let done = Locked(0)
        for _ in 0..<2 {
            Worker.start {
                let answer = try? command.client().send(self.request(server.url + "/"), in: Scope())
                done.with { $0 += answer?.status == 200 ? 1 : 100 }
            }
        }
        #expect(done.wait(until: .after(milliseconds: 30_000)) { $0 >= 2 ? $0 : nil } == 2)
        #expect(server.connections == 2)
    }

    @Test func aKeptConnectionWithAnotherKeyThanRequiredIsNotUsed() throws {
        let authority = try Authority()
        let server = ScriptedServer { _ in .keep(octets(http(200, ""))) }
        let url = "https://127.0.0.1:\(try authority.front(server))/"
        let pool = ConnectionPool()
        let link = loopback()
        let client = HTTPClient(link: link, policy: .testing(authorities: authority.file), connections: pool)
        let pin = try #require(try client.send(request(url), in: Scope()).pin)
        let second = HTTPClient(link: link, policy: .testing(authorities: authority.file), connections: pool)
        #expect(code(second, request(url, pin: pin)) == nil)
        #expect(server.connections == 1 && server.requests.count == 2)
        #expect(code(second, request(url, pin: "A" + pin.dropFirst(2) + "=")) == .keyChanged)
        #expect(server.requests.count == 2)
        // A client that checks certificates does not reuse a connection of a client that does not.
        #expect(code(HTTPClient(link: link, policy: .testing(), connections: pool), request(url)) == .tlsFailed)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: ["TLSv1_2", "TLSv1_3"]) func sessionsAreResumedWithTheSameKey(version: String) throws {
        let authority = try Authority()
        let url = "https://127.0.0.1:\(try authority.resume(version: version))/"
        let client = HTTPClient(link: loopback(), policy: .testing(authorities: authority.file))
        let first = try client.send(request(url), in: Scope())
        #expect(first.body == octets("whole"))
        let again = try client.send(request(url, pin: first.pin), in: Scope())
        #expect(again.body == octets("resumed") && again.pin == first.pin)
        #expect(code(client, request(url, pin: "A" + (first.pin ?? "").dropFirst(2) + "=")) == .keyChanged)
        // Another attempt begins from nothing.
        let other = HTTPClient(link: loopback(), policy: .testing(authorities: authority.file))
        #expect(try other.send(request(url), in: Scope()).body == octets("whole"))
    }

    @Test(arguments: ["TLSv1_2", "TLSv1_3"]) func aSessionIsNotResumedAtAServerWithAnotherKey(version: String) throws {
        let authority = try Authority()
        let url = "https://127.0.0.1:\(try authority.resume(version: version, then: "other"))/"
        let client = HTTPClient(link: loopback(), policy: .testing(authorities: authority.file))
        let pin = try client.send(request(url), in: Scope()).pin
        #expect(code(client, request(url, pin: pin)) == .keyChanged)
        let met = try client.send(request(url), in: Scope())
        #expect(met.pin != nil && met.pin != pin)
    }

    // MARK: Connections made ahead

    @Test func theFirstRequestUsesTheConnectionMadeAhead() throws {
        let server = ScriptedServer { _ in .page("here") }
        let command = command(server)
        let pool = command.attempts.connections(command.link)
        for _ in 0..<2 { pool.connectAhead(to: WebURL(server.url)!, link: command.link, policy: .testing()) }
        #expect(server.waitForConnections())
        #expect(server.requests.isEmpty)
        let answer = try command.client().send(request(server.url + "/"), in: Scope())
        #expect(answer.body == octets("here") && answer.address == "127.0.0.1")
        #expect(server.connections == 1)
        _ = try command.client().send(request(server.url + "/"), in: Scope())
        #expect(server.connections == 2)
    }

    /// If a server answers before the request, or hangs up, the client connects again: that answer belongs to no request.
    @Test(arguments: ["", http(200, "forged")]) func whatComesUnaskedIsNoAnswer(greeting: String) throws {
        let server = ScriptedServer(greeting: octets(greeting)) { _ in .page("asked") }
        let command = command(server)
        command.attempts.connections(command.link).connectAhead(to: WebURL(server.url)!, link: command.link, policy: .testing())
        #expect(server.waitForConnections())
        #expect(try command.client().send(request(server.url + "/"), in: Scope()).body == octets("asked"))
        #expect(server.connections == 2)
    }

    /// If a gateway has forgotten the connection, the request is repeated once; the user's answers are never sent twice.
    @Test(arguments: [HTTPRequest.Method.get, .post]) func aPageIsAskedForAgain(method: HTTPRequest.Method) throws {
        let asked = Locked(0)
        let server = ScriptedServer { _ in
            .send(
                octets(
                    asked.with { asked in
                        asked += 1
                        return asked == 1 ? "" : http(200, "")
                    }))
        }
        let command = command(server)
        command.attempts.connections(command.link).connectAhead(to: WebURL(server.url)!, link: command.link, policy: .testing())
        var request = request(server.url + "/")
        request.method = method
        #expect(code(command.client(), request) == (method == .get ? nil : .emptyAnswer))
        #expect(server.requests.count == (method == .get ? 2 : 1))
    }

    @Test func nothingIsConnectedAheadToARefusedAddress() throws {
        let server = ScriptedServer { _ in .send([]) }
        let (link, pool) = (loopback(), ConnectionPool())
        for (text, policy) in [(server.url, NetworkPolicy.field), ("http://user@127.0.0.1:\(server.port)/", .testing())] {
            pool.connectAhead(to: WebURL(text)!, link: link, policy: policy)
            // The work has ended when this returns.
            #expect(pool.takeReady(for: WebURL(text)!, in: Scope()) == nil)
        }
        #expect(server.connections == 0)
    }

    @Test func aFailureAheadIsNoFailureOfTheRequest() throws {
        let port = ScriptedServer([:]).port
        let (link, pool) = (loopback(), ConnectionPool())
        let client = HTTPClient(link: link, policy: .testing(), connections: pool)
        pool.connectAhead(to: WebURL("http://127.0.0.1:\(port)/")!, link: link, policy: .testing())
        #expect(code(client, request("http://127.0.0.1:\(port)/")) == .connectFailed)
    }

    // MARK: The portal

    private func session(_ portal: ScriptedServer) -> Session {
        var memory = SessionMemory()
        memory.origin = portal.url
        return Session(memory: memory.value)
    }

    /// At a return, hotspotd connects to the portal's server during the probe, and sends nothing if the network is open.
    @Test func onlyAReturnMeetsThePortalBesideTheProbe() throws {
        let open = ScriptedServer(["/": "HTTP/1.1 204 No Content\r\n\r\n"])
        let portal = ScriptedServer { _ in .send([]) }
        var command = command(open, session: session(portal))
        #expect(try FormHelper().maintain(command).result == .success)
        #expect(portal.waitForConnections())
        #expect(portal.requests.isEmpty)
        command.link = loopback(probe: open.url + "/")
        command.network.justJoined = false
        #expect(try FormHelper().maintain(command).result == .success)
        #expect(command.attempts.connections(command.link).takeReady(for: WebURL(portal.url)!, in: Scope()) == nil)
        #expect(portal.connections == 1 && portal.requests.isEmpty)
    }

    /// The page, its fresh copy for the answers, and the answers go over the connection that was made during the probe.
    @Test func aLoginHasOneConnection() throws {
        let form = "<form method=post action=/login><input name=room><input type=submit></form>"
        let portal = ScriptedServer { request in
            .keep(octets(http(200, request.method == "POST" ? "You are now connected" : form)))
        }
        let gateway = ScriptedServer(["/": redirect(portal.url + "/in")])
        var command = command(gateway, session: session(portal))
        #expect(try FormHelper().maintain(command).result == .authenticationRequired)
        let asked = try FormHelper().authenticate(command)
        #expect(asked.result == .uiRequired)
        (command.portal, command.session, command.answers) = (asked.portal, asked.session, ["room": "12"])
        #expect(try FormHelper().presentUI(command).result == .success)
        #expect(portal.connections == 1 && portal.requests.last?.body == "room=12")
    }

    /// The headers of a redirect to another host suffice to connect to the portal's server.
    @Test func aRedirectNamesThePortalBeforeTheVerdict() throws {
        let portal = ScriptedServer(host: 2) { _ in .send([]) }
        let isMet = Locked(false)
        let gateway = ScriptedServer { _ in
            // The body never ends, so the answer is not complete.
            .hold(octets("HTTP/1.1 302 Found\r\nLocation: \(portal.url)/in\r\nContent-Length: 10\r\n\r\n"))
        }
        let link = loopback(probe: gateway.url + "/")
        let (store, scope) = (SharedProbe(), Scope(deadline: .after(milliseconds: 60_000)))
        Worker.start {
            _ = store.probe(link, policy: .testing(), in: scope)
            isMet.with { $0 = true }
        }
        #expect(portal.waitForConnections())
        #expect(portal.requests.isEmpty)
        scope.cancellation.cancel()
        #expect(isMet.wait(until: .after(milliseconds: 20_000)) { $0 ? true : nil } == true)
    }
}
