import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PageLogin
@testable import hotspot_helpers

/// The WISPr helper against a scripted gateway over TLS.
@Suite(.serialized) struct WISPrHelperTests {
    /// A gateway: the probe is redirected over plain HTTP, the login is behind TLS.
    private struct Gateway {
        var authority: Authority
        var plain: ScriptedServer
        var login: ScriptedServer
        var port: Int
        var url: String { "https://127.0.0.1:\(port)" }
        var command: HelperCommand
    }

    private static func document(_ element: String, _ inner: String) -> String {
        "<WISPAccessGatewayParam><\(element)>\(inner)</\(element)></WISPAccessGatewayParam>"
    }

    private static func reply(_ code: Int, type: Int = 120, _ more: String = "") -> String {
        document("AuthenticationReply", "<MessageType>\(type)</MessageType><ResponseCode>\(code)</ResponseCode>\(more)")
    }

    /// - Parameters:
    ///   - loginURL: the address in the redirect; the gateway's own login by default.
    ///   - answers: the answers to logins and polls, in their order; the last one is repeated.
    ///   - page: the body of the portal's page.
    ///   - looks: the delays of the looks beside a login, whose answer then waits for the next probe.
    ///   - opens: the gateway opens when a login has reached it, whatever it answers.
    private func gateway(
        loginURL: String? = nil, proxies: Bool = false, page: String = "<p>Please log in</p>", looks: [Int] = [],
        opens: Bool = false, location: String = "Coach 7", answers: [String]
    ) throws -> Gateway {
        let authority = try Authority()
        let (count, probes) = (Locked(0), Locked(0))
        let login = ScriptedServer { request in
            switch request.path {
            case "/login", "/poll":
                if !looks.isEmpty, probes.wait(until: .after(milliseconds: 20_000), { $0 > 1 ? true : nil }) == nil {
                    return .send(octets(http(503, "")))
                }
                let index = count.with { count in
                    count += 1
                    return count - 1
                }
                return .keep(octets(http(200, answers.isEmpty ? "" : answers[min(index, answers.count - 1)])))
            case "/off":
                return .send(
                    octets(
                        http(200, Self.document("LogoffReply", "<MessageType>130</MessageType><ResponseCode>150</ResponseCode>")))
                )
            default: return .keep(octets(http(200, "<title>Train</title>" + page)))
            }
        }
        let port = try authority.front(login)
        let redirect = Self.document(
            "Redirect",
            "<MessageType>100</MessageType><ResponseCode>0</ResponseCode><LocationName>\(location)</LocationName><LoginURL>\(loginURL ?? "https://127.0.0.1:\(port)/login")</LoginURL>"
        )
        let plain = ScriptedServer { request in
            if request.path == "/" { probes.with { $0 += 1 } }
            if opens, count.with({ $0 > 0 }) { return .send(octets("HTTP/1.1 204 No Content\r\n\r\n")) }
            if proxies, request.path == "/" {
                let next = request.header("host") ?? ""
                return .send(
                    octets(
                        http(
                            302,
                            Self.document(
                                "Proxy",
                                "<MessageType>110</MessageType><NextURL>http://\(next)/next</NextURL><ResponseCode>200</ResponseCode><Delay>0</Delay>"
                            ),
                            "Location: https://127.0.0.1:\(port)/page")))
            }
            return .send(octets(http(302, redirect, "Location: https://127.0.0.1:\(port)/page", "Set-Cookie: visit=1; Path=/")))
        }
        let command = HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(probe: plain.url + "/"),
            scope: Scope(deadline: .after(milliseconds: 30_000)), attempts: SharedProbe(looks: looks),
            policy: .testing(authorities: authority.file))
        return Gateway(authority: authority, plain: plain, login: login, port: port, command: command)
    }

    private func evaluate(_ gateway: inout Gateway) throws -> Evaluation {
        let evaluation = try WISPrHelper().evaluate(gateway.command)
        gateway.command.portal = evaluation.portal
        gateway.command.session = evaluation.session
        return evaluation
    }

    private let account = ["UserName": "rider@train.test", "Password": "tunnel-vision"]

    /// The login goes over the connection on which Evaluate has read the key and the page.
    @Test func evaluateAndLoginHaveOneConnection() throws {
        var gateway = try gateway(answers: [Self.reply(50)])
        _ = try evaluate(&gateway)
        gateway.command.credential = account
        #expect(try WISPrHelper().authenticate(gateway.command).result == .success)
        #expect(gateway.login.requests.map(\.method) == ["GET", "POST"])
        #expect(gateway.login.requests.allSatisfy { $0.header("cookie") == "visit=1" }, "as the redirect of the probe set it")
        #expect(gateway.login.connections == 1)
    }

    @Test func theProofBeginsBesideTheLogin() throws {
        var gateway = try gateway(looks: [0], answers: [Self.reply(50)])
        _ = try evaluate(&gateway)
        gateway.command.credential = account
        #expect(try WISPrHelper().authenticate(gateway.command).result == .success)
    }

    @Test func logsInAndOff() throws {
        var gateway = try gateway(answers: [
            Self.reply(
                50,
                "<ReplyMessage>Welcome aboard</ReplyMessage><LogoffURL>/off</LogoffURL><MaxSessionTime>3600</MaxSessionTime>")
        ])
        let evaluation = try evaluate(&gateway)
        #expect(evaluation.confidence == .high)
        #expect(evaluation.portal?.origin == gateway.url)
        #expect(evaluation.portal?.pin?.utf8.count == 44)
        #expect(evaluation.portal?.title == "Coach 7")
        #expect(evaluation.needs == ["UserName", "Password"])
        // Without a credential it asks, and posts nothing.
        let asked = try WISPrHelper().authenticate(gateway.command)
        #expect(asked.result == .uiRequired)
        #expect(asked.prompt?.fields.map(\.kind) == [.text, .password])
        #expect(asked.portal?.pin == evaluation.portal?.pin)
        #expect(!gateway.login.requests.contains { $0.method == "POST" })
        gateway.command.credential = account
        let reply = try WISPrHelper().authenticate(gateway.command)
        #expect(reply.result == .success)
        #expect(reply.reason == "Welcome aboard")
        #expect(reply.session?.secondsRemaining == 3600)
        let post = try #require(gateway.login.requests.last)
        #expect(post.method == "POST" && post.path == "/login")
        #expect(post.body.hasPrefix("UserName=rider%40train.test&Password=tunnel-vision&"))
        for line in reply.trace ?? [] { #expect(!line.contains("tunnel-vision") && !line.contains("rider")) }
        gateway.command.session = reply.session
        #expect(try WISPrHelper().logoff(gateway.command).result == .success)
        #expect(gateway.login.requests.last?.path == "/off")
    }

    @Test(arguments: [("PayPal Wi\u{2011}Fi", "PayPal"), ("𝗙𝗮𝗰𝗲𝗯𝗼𝗼𝗸 Free", "Facebook")])
    func aLocationInACompanysNameIsLeft(_ location: String, _ company: String) throws {
        var gateway = try gateway(location: location, answers: [Self.reply(50)])
        // Stored answers for this very portal would mean that the user knows it.
        _ = try evaluate(&gateway)
        gateway.command.answers = account
        let reply = try WISPrHelper().presentUI(gateway.command)
        #expect(reply.result == .unsupportedNetwork && reply.imitates == company && reply.portal?.origin == gateway.url)
        #expect(!gateway.login.requests.contains { $0.method == "POST" })
    }

    /// Guests without an account use the page's form; where this helper has logged in before, it does so again.
    @Test(arguments: [
        ("<form method=post><input name=promo_code><button>Log in</button></form>", Confidence.none),
        ("<form method=post><input name=user><input type=password name=pass><button>Log in</button></form>", .high),
        ("<form method=post><button>Log in</button></form>", .high),
    ]) func leavesOtherQuestionsToThePage(_ page: String, _ confidence: Confidence) throws {
        var gateway = try gateway(page: page, answers: [Self.reply(50)])
        #expect(try evaluate(&gateway).confidence == confidence)
        gateway.command.session = WISPrLogin.session(of: Portal(origin: gateway.url, pin: "key", kind: "wispr"))
        #expect(try evaluate(&gateway).confidence == .high)
    }

    @Test func asksAgainAfterAWrongPassword() throws {
        var gateway = try gateway(answers: [Self.reply(100, "<ReplyMessage>Unknown rider</ReplyMessage>"), Self.reply(50)])
        _ = try evaluate(&gateway)
        gateway.command.credential = account
        let reply = try WISPrHelper().authenticate(gateway.command)
        #expect(reply.result == .uiRequired)
        #expect(reply.prompt?.message == "Unknown rider")
        #expect(reply.prompt?.fields.map(\.value) == [account["UserName"], nil])
        gateway.command.credential = nil
        gateway.command.session = reply.session
        gateway.command.portal = reply.portal
        gateway.command.answers = account
        #expect(try WISPrHelper().presentUI(gateway.command).result == .success)
    }

    @Test func pollsAPendingResult() throws {
        var gateway = try gateway(answers: [
            Self.reply(201, "<LoginResultsURL>/poll</LoginResultsURL>"),
            Self.document(
                "AuthenticationPollReply",
                "<MessageType>140</MessageType><ResponseCode>50</ResponseCode><LogoffURL>/off</LogoffURL>"),
        ])
        _ = try evaluate(&gateway)
        gateway.command.credential = account
        let reply = try WISPrHelper().authenticate(gateway.command)
        #expect(reply.result == .success)
        #expect(gateway.login.requests.suffix(2).map { "\($0.method) \($0.path)" } == ["POST /login", "GET /poll"])
        #expect(SessionMemory(reply.session).logoff?.url == gateway.url + "/off")
    }

    @Test func followsAProxy() throws {
        var gateway = try gateway(proxies: true, answers: [Self.reply(50)])
        #expect(try evaluate(&gateway).confidence == .high)
        #expect(gateway.plain.requests.contains { $0.path == "/next" })
        gateway.command.credential = account
        #expect(try WISPrHelper().authenticate(gateway.command).result == .success)
    }

    @Test(arguments: [
        (102, HelperResult.temporaryFailure), (255, .temporaryFailure), (105, .unsupportedNetwork), (7, .temporaryFailure),
    ])
    func reportsFailureCodes(_ code: Int, _ result: HelperResult) throws {
        var gateway = try gateway(answers: [Self.reply(code)])
        _ = try evaluate(&gateway)
        gateway.command.credential = account
        let reply = try WISPrHelper().authenticate(gateway.command)
        #expect(reply.result == result)
        #expect(reply.reason?.isEmpty == false)
    }

    @Test(arguments: ["", reply(255), "no document"]) func aGatewayThatOpensAndGivesNoResultHasLoggedIn(_ answer: String) throws {
        for opens in [true, false] {
            var gateway = try gateway(opens: opens, answers: [answer])
            _ = try evaluate(&gateway)
            gateway.command.credential = account
            let reply = try WISPrHelper().authenticate(gateway.command)
            #expect(reply.result == (opens ? .success : .temporaryFailure), "\(reply)")
        }
    }

    @Test func sendsNothingToAnotherKey() throws {
        var gateway = try gateway(answers: [Self.reply(50)])
        _ = try evaluate(&gateway)
        gateway.command.credential = account
        gateway.command.portal?.pin = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let reply = try WISPrHelper().authenticate(gateway.command)
        #expect(reply.result == .uiRequired)
        #expect(reply.portal?.pin != gateway.command.portal?.pin)
        #expect(reply.prompt?.message?.contains("nothing was sent") == true)
        #expect(!gateway.login.requests.contains { $0.method == "POST" })
    }

    /// The first visit takes the gateway's page, for its host's key, and the login; a later visit only the login.
    @Test func makesTheFewestRequests() throws {
        var gateway = try gateway(answers: [Self.reply(50, "<LogoffURL>/off</LogoffURL>")])
        _ = try evaluate(&gateway)
        gateway.command.credential = account
        var reply = try WISPrHelper().authenticate(gateway.command)
        #expect(gateway.plain.requests.map(\.path) == ["/"])
        #expect(gateway.login.requests.map(\.path) == ["/page", "/login"])
        gateway.command.link.attempt += "-2"
        gateway.command.link.association += "-2"
        gateway.command.session = reply.session
        reply = try WISPrHelper().maintain(gateway.command)
        #expect(reply.result == .authenticationRequired && reply.portal?.pin != nil)
        gateway.command.portal = reply.portal
        gateway.command.link.attempt += "-3"
        gateway.command.attempts.beginLogin(gateway.command.link)
        #expect(try WISPrHelper().authenticate(gateway.command).result == .success)
        #expect(gateway.plain.requests.map(\.path) == ["/", "/"])
        #expect(gateway.login.requests.map(\.path) == ["/page", "/login", "/login"])
    }

    @Test(arguments: ["http://127.0.0.1:8080/login", "https://localhost/login", "ftp://127.0.0.1/", "https://u:p@127.0.0.1/"])
    func refusesUnsafeLoginURLs(_ loginURL: String) throws {
        var gateway = try gateway(loginURL: loginURL, answers: [Self.reply(50)])
        let evaluation = try evaluate(&gateway)
        #expect(evaluation.confidence == .none)
        #expect(evaluation.reason?.isEmpty == false)
    }

    @Test func claimsNoOtherNetworks() throws {
        let open = ScriptedServer(["/": "HTTP/1.1 204 No Content\r\n\r\n"])
        let page = ScriptedServer(["/": http(200, "<form><input type=submit value=Continue></form>")])
        for server in [open, page] {
            let command = HelperCommand(
                network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open),
                link: loopback(probe: server.url + "/"), attempts: SharedProbe(), policy: .testing())
            #expect(try WISPrHelper().evaluate(command).confidence == .none)
        }
    }
}
