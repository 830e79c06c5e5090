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
        let stored = memory.origin == gateway.login.origin ? memory.pin : nil
        return portal(gateway, pin: gateway.pin ?? stored ?? fetchPin(gateway))
    }

    private func portal(_ gateway: Gateway, pin: String?) -> Portal {
        Portal(origin: gateway.login.origin, pin: pin, kind: "wispr", title: gateway.document.locationName)
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
        var (account, message): (WISPrAttempt.Account?, String?)
        let live: Portal
        if let user = credential["UserName"], let password = credential["Password"], !user.isEmpty,
            let expected = command.portal, expected.origin == gateway.login.origin, let pin = expected.pin
        {
            account = WISPrAttempt.Account(user: user, password: password)
            live = portal(gateway, pin: pin)
        } else {
            live = portal(gateway)
            let isOther = command.portal != nil && !command.isAbout(live)
            message = isOther && !credential.isEmpty ? "This is another portal than before; nothing was sent." : nil
        }
        let attempt = WISPrAttempt(
            account, at: live, login: gateway.login, probed: gateway.probed, redirects: command.redirects,
            leadsInside: { command.link.leadsInside($0, in: command.scope) }, fetchPin: { fetchPin(gateway) })
        var driver = LoginDriver(command, attempt, by: HTTPCarrier(command, gateway.client), isTypedNow: isTypedNow)
        return driver.run(from: message.map { attempt.ask($0) }) { attempt, _, reply, memory in
            guard reply.result == .success else { return }
            memory.logoff = attempt.logoff.map { SessionMemory.SavedRequest(url: $0.text, body: nil) }
            reply.session?.secondsRemaining = attempt.granted?.sessionSeconds
            reply.reason = attempt.granted?.message
        }
    }
}
