import HotspotCore
import TestSupport
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PageLogin
@testable import PortalCatalogue
@testable import PortalPages

/// The helper of portal files against a server: the commands one after the other, and the rules of trust.
@Suite struct PortalFileLoginTests {
    /// A portal that sends a code to a phone, and answers with JSON.
    private static let file = """
        [Match]
        Path=/welcome
        Body=Aroma
        [Portal]
        Name=Aroma
        Ask=phone phone Phone number
        Ask=code code Code
        [Step]
        Post=/sms
        Field=phone=${answer:phone}
        Set=token=${json:token}
        [Step]
        Post=/login
        JSON={"token":"${value:token}","code":"${answer:code}"}
        Header=X-Requested-With: XMLHttpRequest
        [Success]
        When=${json:ok} is true
        [Failure]
        When=${json:ok} is false
        Means=refused
        Text=${json:why}
        [Session]
        Open=/status?token=${value:token}
        Seconds=${json:left}
        [Logoff]
        Post=/logoff
        Field=token=${value:token}
        """

    private func aroma() -> ScriptedServer {
        ScriptedServer { request in
            func json(_ text: String) -> ScriptedServer.Action { .page(text) }
            switch request.path {
            case "/": return .send(octets(redirect("/welcome")))
            case "/welcome": return .page("<title>Aroma</title>Welcome to Aroma")
            case "/sms": return json(#"{"token":"t&7"}"#)
            case "/login":
                return json(request.body.contains(#""code":"4711""#) ? #"{"ok":true}"# : #"{"ok":false,"why":"4712 is wrong"}"#)
            case "/status": return json(#"{"left":1800}"#)
            default: return json("{}")
            }
        }
    }

    private func portal(_ text: String = file) throws -> PortalFile {
        try #require(try PortalFileParser.parse(Array(text.utf8), file: "aroma.portal"))
    }

    private func command(_ server: ScriptedServer, authorities: String? = nil) -> HelperCommand {
        HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(probe: server.url + "/"),
            scope: Scope(deadline: .after(milliseconds: 30_000)), attempts: SharedProbe(),
            policy: .testing(authorities: authorities))
    }

    @Test func logsInAsksAgainAndLogsOff() throws {
        let server = aroma()
        let portals = [try portal()]
        var command = command(server)
        let claim = PortalLogin(command, portals: portals).evaluate()
        #expect(claim.confidence == .high && claim.needs == ["phone"] && claim.portal?.kind == "aroma")
        #expect(claim.reason == "aroma.portal matches by address, page.")
        command.portal = claim.portal
        let phone = PortalLogin(command, portals: portals).run(isTypedNow: false)
        #expect(phone.result == .uiRequired && phone.prompt?.fields.map(\.name) == ["phone"])
        #expect(!server.requests.contains { $0.method == "POST" })

        (command.portal, command.session, command.answers) = (phone.portal, phone.session, ["phone": "+49 1"])
        let code = PortalLogin(command, portals: portals).run(isTypedNow: true)
        #expect(code.result == .uiRequired && code.prompt?.fields.map(\.name) == ["code"])

        // The portal asks again after a wrong code, and sends no second message to the phone. Its words do not show the code.
        (command.session, command.answers) = (code.session, ["code": "4712"])
        let wrong = PortalLogin(command, portals: portals).run(isTypedNow: true)
        #expect(wrong.result == .uiRequired && wrong.prompt?.fields.map(\.name) == ["code"])
        #expect(wrong.prompt?.message == "… is wrong" && wrong.prompt?.fields.first?.value == nil)

        (command.session, command.answers) = (wrong.session, ["code": "4711"])
        let done = PortalLogin(command, portals: portals).run(isTypedNow: true)
        #expect(done.result == .success, "\(done)")
        let posts = server.requests.filter { $0.method == "POST" }
        #expect(posts.map(\.path) == ["/sms", "/login", "/login"])
        #expect(posts.first?.body == "phone=%2B49%201" && posts.last?.body == #"{"token":"t&7","code":"4711"}"#)
        #expect(posts.last?.header("content-type") == "application/json")
        #expect(posts.last?.header("x-requested-with") == "XMLHttpRequest")

        (command.session, command.answers) = (done.session, [:])
        let left = PortalLogin(command, portals: portals).logoff()
        #expect(left.result == .success && SessionMemory(left.session).logoff == nil)
        #expect(SessionMemory(left.session).origin == SessionMemory(done.session).origin, "the next login keeps what was agreed")
        #expect(server.requests.last?.path == "/logoff" && server.requests.last?.body == "token=t%267")
    }

    @Test func readsWhatIsLeftOfTheSession() throws {
        let server = ScriptedServer { request in
            .send(octets(request.path == "/status" ? http(200, #"{"left":1800}"#) : "HTTP/1.1 204 No Content\r\n\r\n"))
        }
        var command = command(server)
        var memory = PortalMemory(nil)
        memory.catalogue = "aroma"
        memory.status = .init(HTTPRequest(WebURL(server.url + "/status")!))
        command.session = Session(memory: memory.value(beside: SessionMemory(nil)))
        let reply = PortalLogin(command, portals: [try portal()]).maintain()
        #expect(reply.result == .success && reply.session?.secondsRemaining == 1800)
        #expect(PortalMemory(reply.session).status != nil, "the memory is kept")
    }

    /// If a folder has too many files, the last files by name are ignored, which is reported.
    @Test func aFolderHasAThousandFiles() throws {
        let folder = TemporaryFolder()
        for number in 0...1000 { folder.write("\(number).portal", number == 999 ? Self.file : "", mode: 0o644) }
        let listing = PortalCatalogue([folder.path]).read(reporting: false)
        #expect(
            listing.mistakes.map(\.description) == [
                "\(folder.path): contains more than 1000 portal files; the others are ignored"
            ])
        #expect(listing.portals.isEmpty, "999 is the last by name")
    }

    /// A page without a field for the password counts too, if the file asks for a password.
    @Test(arguments: [
        ("<title>Aroma</title><h1>Yahoo! Mail</h1>", "password", "Yahoo"),
        ("<title>Aroma by 𝗔𝗽𝗽𝗹𝗲 𝗜𝗗</title>", "password", "Apple"), ("<title>Aroma by Apple ID</title>", "phone", nil),
    ]) func aPageInACompanysNameIsLeft(_ page: String, _ kind: String, _ company: String?) throws {
        let server = ScriptedServer(["/": redirect("/welcome"), "/welcome": http(200, page)])
        let file = try portal(Self.file.replacing("Ask=phone phone", with: "Ask=phone \(kind)"))
        let reply = PortalLogin(command(server), portals: [file]).run(isTypedNow: false)
        #expect(reply.imitates == company && (reply.result == .unsupportedNetwork) == (company != nil), "\(reply)")
        #expect(!server.requests.contains { $0.method == "POST" })
    }

    @Test func knowsNoOtherPortal() throws {
        let server = ScriptedServer(["/": redirect("/welcome"), "/welcome": http(200, "<title>Other</title>")])
        let command = command(server)
        #expect(PortalLogin(command, portals: [try portal()]).evaluate().confidence == .none)
        #expect(PortalLogin(command, portals: [try portal()]).run(isTypedNow: false).result == .unsupportedNetwork)
    }

    // MARK: - Trust

    private static let head = "[Match]\nPath=/in\n[Portal]\nName=A\nAsk=user text User\nAsk=password password Password\n"

    /// A portal at `/in` with this page, and a file with these lines.
    private func play(
        _ steps: String, page: String = "Welcome", typed: [String: String] = [:], stored: [String: String]? = nil,
        authorities: String? = nil, change: (inout HelperCommand) -> Void = { _ in }
    ) throws -> (reply: Reply, posts: [ScriptedServer.Request]) {
        let server = ScriptedServer { request in
            .send(octets(request.path == "/" ? redirect("/in") : http(200, request.path == "/in" ? page : "{}")))
        }
        var command = command(server, authorities: authorities)
        command.portal = Portal(origin: server.url, kind: "a")
        (command.answers, command.credential) = (typed, stored)
        change(&command)
        let reply = PortalLogin(command, portals: [try portal(Self.head + steps.replacing("HERE", with: server.url))])
            .run(isTypedNow: !typed.isEmpty)
        return (reply, server.requests.filter { !["/", "/in"].contains($0.path) })
    }

    private static let both = ["user": "guest", "password": "secret"]
    private static let fields = "Field=user=${answer:user}\nField=p=${answer:password}\n"

    @Test func answersStayWithThePortal() throws {
        let other = ScriptedServer(["/take": http(200, "{}")])
        let steps = "[Step]\nPost=\(other.url)/take\n" + Self.fields
        let asked = try play(steps, typed: Self.both)
        let box = "agree:send:\(other.url)"
        #expect(asked.reply.result == .uiRequired && asked.reply.prompt?.fields.map(\.name) == ["user", "password", box])
        #expect(other.requests.isEmpty)
        let agreed = try play(steps, typed: Self.both.merging([box: "yes"]) { $1 })
        #expect(agreed.reply.result == .success && other.requests.map(\.body) == ["user=guest&p=secret"])
        // The first prompt asks for both at once.
        #expect(try play(steps).reply.prompt?.fields.map(\.name) == ["user", "password", box])
    }

    @Test func anotherKeyOfTheTargetIsAskedAbout() throws {
        let authority = try Authority()
        let other = ScriptedServer(["/take": http(200, "{}")])
        let target = "https://127.0.0.1:\(try authority.front(other))"
        let steps = "[Step]\nPost=\(target)/take\n" + Self.fields
        let typed = Self.both.merging(["agree:send:\(target)": "yes"]) { $1 }
        let first = try play(steps, typed: typed, authorities: authority.file).reply
        #expect(first.result == .success && SessionMemory(first.session).pins?[target] != nil)
        var memory = SessionMemory(first.session)
        memory.pins = [target: "another"]
        let asked = try play(steps, typed: typed, authorities: authority.file) { $0.session = Session(memory: memory.value) }
        #expect(asked.reply.result == .uiRequired && other.requests.count == 1)
        #expect(asked.reply.prompt?.message == "The key of \(target) has changed, so nothing was sent.")
        #expect(SessionMemory(asked.reply.session).pins == nil)
    }

    @Test func answersForAnotherPortalAreNotSent() throws {
        let (reply, posts) = try play("[Step]\nPost=/take\n" + Self.fields, typed: Self.both) {
            $0.portal = Portal(origin: "http://other.example", kind: "a")
        }
        #expect(reply.result == .uiRequired && posts.isEmpty)
        #expect(reply.prompt?.message == "This is not the same portal as before, so nothing was sent.")
    }

    /// A password in an address over plain HTTP, even in an enciphered form, needs a yes; its digest does not.
    @Test func passwordsInAddressesNeedAYes() throws {
        for value in ["${answer:password}", "${answer:password|hex}", "${value:x}", "${answer:password|xor:x}"] {
            let steps = "[Step]\nSet=x=${answer:password|base64}\n[Step]\nOpen=/take\nField=p=\(value)\n"
            let (reply, sent) = try play(steps, typed: Self.both)
            #expect(reply.prompt?.fields.last?.name.hasPrefix("agree:password-in-address:") == true && sent.isEmpty, "\(value)")
        }
        let (reply, sent) = try play("[Step]\nOpen=/take\nField=p=${answer:password|md5|hex}\n", typed: Self.both)
        #expect(reply.result == .success && sent.map(\.target) == ["/take?p=5ebe2294ecd0e0f08eab7690d2a6ee69"])
    }

    /// If a page asks for answers that the file does not send, an operator made the page; a file for that operator's host still matches.
    @Test(arguments: [
        ("", Confidence.high, Confidence.high), ("<form><input type=tel name=number><button>Go</button></form>", .high, .high),
        ("<form method=post><input type=email name=mail><input name=room><button>Go</button></form>", .none, .high),
        ("<form role=search><input name=q><button>Search</button></form>", .high, .high),
    ]) func leavesOtherQuestionsToThePage(_ form: String, _ byPath: Confidence, _ byHost: Confidence) throws {
        let server = ScriptedServer { request in
            request.path == "/" ? .send(octets(redirect("/welcome"))) : .page("<title>Aroma</title>" + form)
        }
        #expect(PortalLogin(command(server), portals: [try portal()]).evaluate().confidence == byPath)
        let file = Self.file.replacing("Path=/welcome", with: "Host=127.0.0.1")
        #expect(PortalLogin(command(server), portals: [try portal(file)]).evaluate().confidence == byHost)
    }

    /// The page's terms, and terms that only the file names; a stored answer is not consent.
    @Test(arguments: [("By connecting you accept the terms of use.", ""), ("Welcome", "Terms=/terms\n")])
    func termsNeedAYes(_ page: String, _ line: String) throws {
        let steps = line + "[Step]\nPost=/take\n"
        #expect(try play(steps, page: page).reply.prompt?.fields.map(\.name) == ["accept_terms"])
        #expect(try play(steps, page: page, stored: ["accept_terms": "yes"]).posts.allSatisfy { $0.method == "GET" })
        let (reply, posts) = try play(steps, page: page, typed: ["accept_terms": "yes"])
        #expect(reply.result == .success && posts.contains { $0.path == "/take" })
        #expect(try play(steps, page: page) { $0.consent = true }.reply.result == .success)
    }

    /// The portal shows its page again with an error; the terms that the page has were accepted before.
    @Test func aRefusalChangesNoTerms() throws {
        let server = ScriptedServer { request in
            func page(_ error: String) -> String {
                "\(error)<form action=/go method=post><input name=user><input type=submit value=Go></form>"
                    + "By going on you accept the terms of use: be kind."
            }
            return switch request.path {
            case "/": .send(octets(redirect("/in")))
            case "/in": .page(page(""))
            case "/go" where request.body.contains("user=guest"): .page("You are now connected")
            default: .page(page("<p>There is no such guest.</p>"))
            }
        }
        let file = try portal(Self.head + "[Step]\nSubmit=*\n[Failure]\nWhen=${body} has no such guest\nMeans=refused\n")
        var command = command(server)
        command.portal = Portal(origin: server.url, kind: "a")
        func answer(_ answers: [String: String]) throws -> Reply {
            command.answers = answers
            let reply = PortalLogin(command, portals: [file]).run(isTypedNow: true)
            command.session = reply.session
            return reply
        }
        command.session = PortalLogin(command, portals: [file]).run(isTypedNow: false).session
        #expect(try answer(["user": "guest", "accept_terms": "yes"]).result == .success)
        command.consent = true
        command.session = PortalLogin(command, portals: [file]).run(isTypedNow: false).session
        let refused = try answer(["user": "gust"])
        #expect(refused.prompt?.message?.contains("terms") == false && refused.prompt?.fields.map(\.name) == ["user"])
        #expect(try answer(["user": "guest"]).result == .success)
    }

    /// A portal that answers the probe with its page: a redirect to its own host does not end the login.
    @Test func aPortalMayBeAtTheProbesAddress() throws {
        let server = ScriptedServer { request in
            switch request.path {
            case "/take": .send(octets(redirect("/next")))
            case "/next": .page(#"{"ok":false}"#)
            default: .page("<title>Aroma</title><form><button>Go</button></form>")
            }
        }
        let file = "[Match]\nBody=Aroma\n[Portal]\nName=A\n[Step]\nPost=/take\n[Failure]\nWhen=${json:ok} is false\nMeans=later\n"
        let reply = PortalLogin(command(server), portals: [try portal(file)]).run(isTypedNow: false)
        #expect(reply.result == .temporaryFailure && server.requests.contains { $0.path == "/next" })
    }

    /// openNDS may answer with status 511 while it is busy, and open nevertheless.
    @Test func aGatewayThatOpensAndSaysOtherwiseHasLoggedIn() throws {
        for opens in [true, false] {
            let isOpen = Locked(false)
            let server = ScriptedServer { request in
                switch request.path {
                case "/": .send(octets(isOpen.with { $0 } ? "HTTP/1.1 204 No Content\r\n\r\n" : redirect("/welcome")))
                case "/take":
                    isOpen.with {
                        $0 = opens
                        return .send(octets(http(511, "<p>Network Authentication Required</p>")))
                    }
                default: .page("<title>Aroma</title>Welcome to Aroma")
                }
            }
            let file = "[Match]\nBody=Aroma\n[Portal]\nName=A\n[Step]\nPost=/take\n[Logoff]\nOpen=/off\n"
            let reply = PortalLogin(command(server), portals: [try portal(file)]).run(isTypedNow: false)
            #expect(reply.result == (opens ? .success : .temporaryFailure), "\(reply)")
            #expect((PortalMemory(reply.session).logoff == nil) == !opens)
        }
    }

    @Test func stopsLoops() throws {
        let (reply, sent) = try play("[Step]\nOpen=/poll\nUntil=${json:done} is yes\nTimes=3\n")
        #expect(reply.result == .temporaryFailure && reply.reason == "The portal gave no result in time." && sent.count == 3)
    }

    /// No file makes a login of more than 40 requests.
    @Test func limitsRequests() throws {
        let steps = [15, 30, 45].map { count in
            "[Step]\nOpen=/poll\nSet=n=x${value:n}\nUntil=${value:n} is \(String(repeating: "x", count: count))\n"
        }
        let (reply, sent) = try play(steps.joined())
        #expect(reply.reason == "This login takes too many requests." && sent.count == 40)
    }

    /// The portal's page already shows that a login is useless. Words that only an answer causes, and missing words, do not count.
    @Test(arguments: [
        ("has expired", "over", HelperResult.failure, 0), ("has expired", "later", .temporaryFailure, 0),
        ("has expired", "unsupported", .unsupportedNetwork, 0), ("has expired", "browser", .uiRequired, 0),
        ("has expired", "refused", .success, 1), ("has not online;{}", "over", .success, 1),
    ]) func failuresOfTheFirstPageAreTold(_ condition: String, _ means: String, _ result: HelperResult, _ requests: Int) throws {
        let failure = "[Failure]\nWhen=${body} \(condition)\nMeans=\(means)\nText=Too late.\n"
        let (reply, sent) = try play("[Step]\nPost=/take\n" + failure, page: "This voucher has expired.")
        #expect(reply.result == result && sent.count == requests, "\(reply)")
        if requests == 0 { #expect(reply.reason == "Too late.") }
    }

    @Test func anUnexpectedPageIsLeftToOthers() throws {
        for step in ["Submit=login", "Follow=*free*", "Open=http://${json:host}/", "Open=ftp://portal.example/"] {
            let (reply, sent) = try play("[Step]\n\(step)\n")
            #expect(reply.result == .unsupportedNetwork && sent.isEmpty, "\(step)")
            #expect(reply.reason?.hasPrefix("The portal does not match aroma.portal (line 7): ") == true)
        }
    }
}
