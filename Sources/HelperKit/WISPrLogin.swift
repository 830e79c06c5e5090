import HotspotCore

/// A login by WISPr 1.0 (`portals.md`, 1.5).
public struct WISPrLogin: Sendable {
    /// The credential's fields, named as they are posted.
    public static let fields = ["UserName", "Password"]

    /// Whether the gateway speaks WISPr.
    public enum Finding: Sendable {
        /// It does, and this is who asks.
        case found(Portal)
        /// It does, but not in a way that a credential could be sent.
        case unusable(String)
        /// It does not.
        case absent(String)
    }

    private struct Gateway {
        var login: WebURL
        var document: WISPrDocument
        var probed: WebURL
        var client: HTTPClient
        var pin: String?
    }

    private enum Search {
        case gateway(Gateway)
        case unusable(String)
        case absent(String)
    }

    private static let pollLimit = 15
    private static let pollInterval = 2000
    private static let proxyLimit = 3

    let visit: Visit

    /// A login for one command.
    public init(_ visit: Visit) { self.visit = visit }

    /// Looks for the gateway's document in what the probe brought, then on the portal's page.
    public func find(_ result: ProbeResult) -> Finding {
        switch search(result) {
        case .gateway(let gateway):
            let portal = portal(gateway)
            if gateway.login.isSecure, portal.pin == nil { return .unusable("The login address could not be reached securely.") }
            return .found(portal)
        case .unusable(let reason): return .unusable(reason)
        case .absent(let reason): return .absent(reason)
        }
    }

    private func search(_ result: ProbeResult) -> Search {
        guard let page = result.page else { return .absent("The gateway sent no WISPr document.") }
        var client = visit.client()
        var document = WISPrDocument.find(in: page.body)
        var host: String? = page.location.flatMap { WebURL($0, relativeTo: page.url)?.host }
        var pins: [String: String] = [:]
        // The page for people is fetched anyway, for the form helper: its host's key and its connection serve here too. On a return
        // visit the key is known, and the page is not worth a round trip.
        let login = document?.loginURL.flatMap { WebURL($0, relativeTo: page.url) }
        let isKnown = login.map { $0.origin == Memory(visit.session).origin && Memory(visit.session).pin != nil } ?? false
        if document == nil || (login?.host == host && !isKnown), let start = Landing.start(of: result),
            let landing = visit.attempts.landing(visit.link, start: start, policy: visit.policy, in: visit.scope),
            let journey = landing.journey
        {
            for hop in journey.hops {
                if let pin = hop.pin { pins[hop.url.origin] = pin }
                guard let found = WISPrDocument.find(in: hop.body) else { continue }
                // What the gateway said first counts; its page is only asked where it said nothing.
                if document == nil || hop.url == page.url {
                    document = found
                    host = page.url == hop.url ? host : hop.url.host
                }
            }
            client = landing.client
        }
        for _ in 0..<Self.proxyLimit {
            guard let proxy = document, proxy.isProxy, let next = proxy.nextURL.flatMap({ WebURL($0, relativeTo: page.url) })
            else { break }
            guard visit.scope.pause(milliseconds: min(proxy.delay ?? 0, 5) * 1000), (try? visit.redirects.check(next)) != nil,
                let answer = try? client.send(HTTPRequest(next), in: visit.scope)
            else { return .unusable("The gateway's proxy does not answer.") }
            document = WISPrDocument.find(in: answer.body)
            host = answer.location.flatMap { WebURL($0, relativeTo: answer.url)?.host } ?? next.host
        }
        guard let document, document.isRedirect, let text = document.loginURL else {
            return .absent("The gateway sent no WISPr document.")
        }
        guard let login = WebURL(text, relativeTo: page.url), (try? visit.redirects.check(login)) != nil else {
            return .unusable("The gateway names a login address that may not be used.")
        }
        guard login.isSecure else { return .unusable("The gateway wants the password without encryption.") }
        if let host, host != login.host {
            return .unusable("The gateway wants the password at another host than its page is on.")
        }
        return .gateway(Gateway(login: login, document: document, probed: page.url, client: client, pin: pins[login.origin]))
    }

    /// The portal with its key. The key of the last visit will do: it is enforced when something is sent, so that a look beforehand
    /// would only cost time.
    private func portal(_ gateway: Gateway) -> Portal {
        let memory = Memory(visit.session)
        var pin = gateway.pin
        if pin == nil, memory.origin == gateway.login.origin { pin = memory.pin }
        if pin == nil { pin = learnPin(gateway) }
        return Portal(origin: gateway.login.origin, pin: pin, kind: "wispr", title: gateway.document.locationName)
    }

    /// The key of the login's host: its front page is asked for, and nothing but the key looked at.
    private func learnPin(_ gateway: Gateway) -> String? {
        guard let front = WebURL(gateway.login.origin + "/") else { return nil }
        var request = HTTPRequest(front)
        request.bodyLimit = 16 * 1024
        return (try? gateway.client.send(request, in: visit.scope.limited(milliseconds: 8000)))?.pin
    }

    /// What Authenticate should get back after Evaluate: the key that was seen.
    public static func session(of portal: Portal) -> Session {
        var memory = Memory()
        memory.origin = portal.origin
        memory.pin = portal.pin
        return Session(memory: memory.value)
    }

    /// Authenticate and PresentUI.
    public func run(isTypedNow: Bool) -> Reply {
        guard let result = visit.probe() else { return visit.reply(TransferError(.cancelled)) }
        if result.verdict.isOpen { return visit.reply(.success, session: visit.session, reason: "The network is open already.") }
        guard result.verdict == .captive else {
            return visit.reply(.temporaryFailure, reason: "No portal answers at present (\(result.problem ?? "noAnswer")).")
        }
        let gateway: Gateway
        switch search(result) {
        case .gateway(let found): gateway = found
        case .unusable(let reason), .absent(let reason): return visit.reply(.unsupportedNetwork, reason: reason)
        }
        var credential = visit.credential ?? [:]
        if isTypedNow { credential.merge(visit.answers) { $1 } }
        let given = visit.portal
        guard let user = credential["UserName"], let password = credential["Password"], !user.isEmpty,
            given?.origin == gateway.login.origin, let pin = given?.pin
        else {
            let portal = portal(gateway)
            let isOther = given != nil && !(given?.origin == portal.origin && given?.pin == portal.pin)
            return ask(portal, isOther && !credential.isEmpty ? "This is another portal than before; nothing was sent." : nil)
        }
        do throws(TransferError) {
            return try login(gateway, user: user, password: password, pin: pin)
        } catch {
            if error.code == .keyChanged {
                // Not the key that the credential was given to: what was found is shown, and a person decides.
                let live = Portal(
                    origin: gateway.login.origin, pin: learnPin(gateway), kind: "wispr", title: gateway.document.locationName)
                return ask(live, "This portal's key has changed; nothing was sent.")
            }
            return visit.reply(error, portal: given)
        }
    }

    private func ask(_ portal: Portal, _ message: String?) -> Reply {
        var memory = Memory(visit.session)
        memory.origin = portal.origin
        memory.pin = portal.pin
        let prompt = Prompt(
            title: portal.title ?? portal.origin, message: message,
            fields: [
                Field(name: "UserName", label: "User name", kind: .text, required: true),
                Field(name: "Password", label: "Password", kind: .password, required: true),
            ])
        return visit.reply(.uiRequired, prompt: prompt, portal: portal, session: Session(memory: memory.value))
    }

    private func login(_ gateway: Gateway, user: String, password: String, pin: String) throws(TransferError) -> Reply {
        let pairs: [(name: String, value: String)] = [
            ("UserName", user), ("Password", password), ("button", "Login"), ("FNAME", "0"),
            ("OriginatingServer", gateway.probed.origin + gateway.probed.path),
        ]
        var request = HTTPRequest(posting: pairs, to: gateway.login)
        request.requiredPin = pin
        var response = try gateway.client.send(request, in: visit.scope)
        var document = try answer(&response, gateway)
        let portal = Portal(origin: gateway.login.origin, pin: pin, kind: "wispr", title: gateway.document.locationName)
        var polls = 0
        var results = document?.resultsURL
        while document?.responseCode == 201 {
            results = document?.resultsURL ?? results
            guard polls < Self.pollLimit, let reference = results,
                let url = try? visit.redirects.target(of: reference, from: gateway.login, withSecrets: true)
            else { return visit.reply(.temporaryFailure, portal: portal, reason: "The gateway has not decided in time.") }
            polls += 1
            guard visit.scope.pause(milliseconds: Self.pollInterval) else {
                throw TransferError(visit.scope.cancellation.isCancelled ? .cancelled : .timeout)
            }
            var poll = HTTPRequest(url)
            poll.requiredPin = pin
            response = try gateway.client.send(poll, in: visit.scope)
            document = try answer(&response, gateway)
        }
        let message = document?.message
        switch document?.responseCode {
        case 50:
            var memory = Memory(visit.session)
            memory.origin = portal.origin
            memory.pin = pin
            memory.logoff = document?.logoffURL.flatMap { try? visit.redirects.target(of: $0, from: gateway.login) }
                .map { Memory.SavedRequest(url: $0.text, body: nil) }
            return visit.reply(
                .success, portal: portal, session: Session(secondsRemaining: document?.sessionSeconds, memory: memory.value),
                reason: message)
        case 100:
            var reply = ask(portal, message ?? "The gateway did not accept user name and password.")
            reply.reason = message
            return reply
        case 105:
            return visit.reply(
                .unsupportedNetwork, portal: portal, reason: message ?? "The gateway has no login for this account.")
        case 102, 255:
            return visit.reply(.temporaryFailure, portal: portal, reason: message ?? "The gateway's login service is in trouble.")
        case let code:
            let what = code.map { "code \($0)" } ?? "no result"
            return visit.reply(.temporaryFailure, portal: portal, reason: message ?? "The gateway answered with \(what).")
        }
    }

    /// The document of an answer, or of where the answer leads: some gateways put it behind one more redirect.
    private func answer(_ response: inout HTTPResponse, _ gateway: Gateway) throws(TransferError) -> WISPrDocument? {
        for _ in 0..<4 {
            if let document = WISPrDocument.find(in: response.body) { return document }
            guard let location = response.location else { return nil }
            let target = try visit.redirects.target(of: location, from: response.url)
            response = try gateway.client.send(HTTPRequest(target), in: visit.scope)
        }
        return nil
    }
}
