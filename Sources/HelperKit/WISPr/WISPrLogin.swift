import HotspotCore

/// A login by WISPr 1.0 (Wi-Fi Alliance; appendix D, "The Smart Client to Access Gateway Interface Protocol"): the gateway's redirect
/// holds an XML document with the address to which user name and password are posted.
public struct WISPrLogin: Sendable {
    /// The names of the credential's fields, as they are posted.
    public static let fields = ["UserName", "Password"]

    /// Whether a network's gateway speaks WISPr.
    public enum Detection: Sendable {
        /// It does, for this portal.
        case portal(Portal)
        /// It does, but not so that a credential may be sent to it, with the reason.
        case unusable(String)
        /// It does not, with the reason.
        case absent(String)
    }

    private struct Gateway {
        var login: WebURL
        var document: WISPrDocument
        var probed: WebURL
        var client: HTTPClient
        var pin: String?
    }

    private enum GatewaySearch {
        case gateway(Gateway)
        case unusable(String)
        case absent(String)
    }

    /// The most proxies that are followed.
    private static let proxyLimit = 3

    let command: HelperCommand

    /// Makes a login for one command.
    public init(_ command: HelperCommand) { self.command = command }

    /// Looks for the gateway's document in the probe's answer, then on the portal's page.
    public func detect(_ result: ProbeResult) -> Detection {
        switch search(result) {
        case .gateway(let gateway):
            let portal = portal(gateway)
            if gateway.login.isSecure, portal.pin == nil { return .unusable("The login address could not be reached securely.") }
            // Without a session of this helper, its account may not exist, while the page lets in guests that have none.
            if SessionMemory(command.session).origin != gateway.login.origin,
                let chain = PortalPage.source(result).flatMap(command.portalPage)?.chain,
                Self.needsNoAccount(chain.page, at: chain.final.url)
            {
                return .unusable("The portal's page asks for something other than an account.")
            }
            return .portal(portal)
        case .unusable(let reason): return .unusable(reason)
        case .absent(let reason): return .absent(reason)
        }
    }

    /// Whether a page's login asks for something that is no account, such as a code.
    package static func needsNoAccount(_ page: HTMLPage, at url: WebURL) -> Bool {
        guard page.forms.allSatisfy(\.passwords.isEmpty), let form = FormEngine(for: RedirectPolicy()).choose(page, at: url)
        else {
            return false
        }
        return !TypedForm(form).typed.isEmpty
    }

    private func search(_ result: ProbeResult) -> GatewaySearch {
        guard let page = result.page else { return .absent("The portal's page could not be fetched.") }
        var client = command.client()
        var document = WISPrDocument.find(in: page.body)
        var host: String? = page.location.flatMap { WebURL($0, relativeTo: page.url)?.host }
        var pins: [String: String] = [:]
        // The form helper fetches the portal's page anyway; its host's key and its connection are used here too. At a later visit the
        // key is known, and the page is not fetched.
        let login = document?.loginURL.flatMap { WebURL($0, relativeTo: page.url) }
        let isKnown =
            login.map { $0.origin == SessionMemory(command.session).origin && SessionMemory(command.session).pin != nil } ?? false
        if document == nil || (login?.host == host && !isKnown),
            let portalPage = PortalPage.source(result).flatMap(command.portalPage), let chain = portalPage.chain
        {
            for hop in chain.hops {
                if let pin = hop.pin { pins[hop.url.origin] = pin }
                guard let other = WISPrDocument.find(in: hop.body) else { continue }
                // The document in the gateway's redirect wins over one on its page.
                if document == nil || hop.url == page.url {
                    document = other
                    host = page.url == hop.url ? host : hop.url.host
                }
            }
            client = portalPage.client
        }
        for _ in 0..<Self.proxyLimit {
            guard let proxy = document, proxy.isProxy, let next = proxy.nextURL.flatMap({ WebURL($0, relativeTo: page.url) })
            else { break }
            guard command.scope.pause(milliseconds: min(proxy.delay ?? 0, 5) * 1000), (try? command.redirects.check(next)) != nil,
                let answer = try? client.send(HTTPRequest(next), in: command.scope)
            else { return .unusable("The gateway's proxy does not answer.") }
            document = WISPrDocument.find(in: answer.body)
            host = answer.location.flatMap { WebURL($0, relativeTo: answer.url)?.host } ?? next.host
        }
        guard let document, document.isRedirect, let text = document.loginURL else {
            return .absent("The gateway sent no WISPr document.")
        }
        guard let login = WebURL(text, relativeTo: page.url), (try? command.redirects.check(login)) != nil else {
            return .unusable("The gateway names a login address that may not be used.")
        }
        guard login.isSecure else { return .unusable("The gateway asks for the password without encryption.") }
        if let host, host != login.host {
            return .unusable("The gateway asks for the password at another host than that of its page.")
        }
        return .gateway(Gateway(login: login, document: document, probed: page.url, client: client, pin: pins[login.origin]))
    }

    /// Returns the portal with its key. A key from an earlier visit is enough, because it is enforced when something is sent.
    private func portal(_ gateway: Gateway) -> Portal {
        let memory = SessionMemory(command.session)
        var pin = gateway.pin
        if pin == nil, memory.origin == gateway.login.origin { pin = memory.pin }
        if pin == nil { pin = fetchPin(gateway) }
        return Portal(origin: gateway.login.origin, pin: pin, kind: "wispr", title: gateway.document.locationName)
    }

    /// Returns the key of the login's host, by a request for its front page.
    private func fetchPin(_ gateway: Gateway) -> String? {
        guard let front = WebURL(gateway.login.origin + "/") else { return nil }
        var request = HTTPRequest(front)
        request.bodyLimit = 16 * 1024
        return (try? gateway.client.send(request, in: command.scope.limited(milliseconds: 8000)))?.pin
    }

    /// Returns the session that an answer to Evaluate passes on to Authenticate: the portal's key.
    public static func session(of portal: Portal) -> Session {
        var memory = SessionMemory()
        memory.origin = portal.origin
        memory.pin = portal.pin
        return Session(memory: memory.value)
    }

    /// Answers Authenticate and PresentUI.
    ///
    /// - Parameter isTypedNow: the user has just typed the command's answers, as in PresentUI.
    public func run(isTypedNow: Bool) -> Reply {
        guard let result = command.probe() else { return command.reply(TransferError(.cancelled)) }
        if result.verdict.isOpen { return command.replyOpenAlready() }
        guard result.verdict == .captive else {
            return command.reply(.temporaryFailure, reason: "No portal answers at present (\(result.problem ?? "noAnswer")).")
        }
        let gateway: Gateway
        switch search(result) {
        case .gateway(let value): gateway = value
        case .unusable(let reason), .absent(let reason): return command.reply(.unsupportedNetwork, reason: reason)
        }
        if !command.hasAnswers(for: portal(gateway)), let name = gateway.document.locationName,
            let company = Company.imitated(naming: [name], at: gateway.login)
        {
            return command.leave(portal(gateway), imitating: company)
        }
        var credential = command.credential ?? [:]
        if isTypedNow { credential.merge(command.answers) { $1 } }
        let expected = command.portal
        guard let user = credential["UserName"], let password = credential["Password"], !user.isEmpty,
            expected?.origin == gateway.login.origin, let pin = expected?.pin
        else {
            let portal = portal(gateway)
            let isOther = expected != nil && !command.isAbout(portal)
            return ask(portal, isOther && !credential.isEmpty ? "This is another portal than before; nothing was sent." : nil)
        }
        do throws(TransferError) {
            return try login(gateway, user: user, password: password, pin: pin)
        } catch {
            if error.code == .keyChanged {
                // The credential was released for another key: the user decides about the portal that was met.
                let live = Portal(
                    origin: gateway.login.origin, pin: fetchPin(gateway), kind: "wispr", title: gateway.document.locationName)
                return ask(live, "This portal's key has changed; nothing was sent.")
            }
            return command.reply(error, portal: expected)
        }
    }

    private func ask(_ portal: Portal, _ message: String?, refused user: String? = nil) -> Reply {
        var memory = SessionMemory(command.session)
        memory.origin = portal.origin
        memory.pin = portal.pin
        let prompt = Prompt(
            title: portal.title ?? portal.origin, message: message,
            fields: [
                Field(name: "UserName", label: "User name", kind: .text, required: true, value: user),
                Field(name: "Password", label: "Password", kind: .password, required: true),
            ])
        return command.reply(.uiRequired, prompt: prompt, portal: portal, session: Session(memory: memory.value))
    }

    private func login(_ gateway: Gateway, user: String, password: String, pin: String) throws(TransferError) -> Reply {
        let portal = Portal(origin: gateway.login.origin, pin: pin, kind: "wispr", title: gateway.document.locationName)
        var attempt = WISPrAttempt(login: gateway.login, pin: pin, redirects: command.redirects) { [command] in
            command.link.leadsInside($0, in: command.scope)
        }
        var move = attempt.begin(user: user, password: password, probed: gateway.probed)
        while true {
            switch move {
            case .send(let request):
                do throws(TransferError) {
                    move = attempt.receive(try command.logIn(request, by: gateway.client))
                } catch {
                    if error.code == .keyChanged { throw error }
                    move = attempt.lost(error) ?? .end(.temporaryFailure, error.description)
                }
            case .wait(let milliseconds, let request):
                guard command.scope.pause(milliseconds: milliseconds) else {
                    throw TransferError(command.scope.cancellation.isCancelled ? .cancelled : .timeout)
                }
                move = .send(request)
            case .done(let seconds, let logoff, let message):
                var memory = SessionMemory(command.session)
                memory.origin = portal.origin
                memory.pin = pin
                memory.logoff = logoff.map { SessionMemory.SavedRequest(url: $0.text, body: nil) }
                return command.reply(
                    .success, portal: portal, session: Session(secondsRemaining: seconds, memory: memory.value), reason: message)
            case .ask(let message):
                var reply = ask(portal, message ?? "The gateway did not accept user name and password.", refused: user)
                reply.reason = message
                return reply
            case .end(.temporaryFailure, _) where command.probe(fresh: true)?.verdict.isOpen == true:
                // A gateway may open and break its answer off.
                move = .done(seconds: nil, logoff: nil, message: nil)
            case .end(let result, let reason): return command.reply(result, portal: portal, reason: reason)
            }
        }
    }
}
