import HelperKit
import HotspotCore

/// A login by WISPr 1.0 (Wi-Fi Alliance; appendix D, "The Smart Client to Access Gateway Interface Protocol"): the gateway's redirect contains an XML
/// document with the address to which the user name and the password are sent.
public struct WISPrLogin: Sendable {
    /// The names of the credential's fields, as they are posted.
    public static let fields = ["UserName", "Password"]

    /// The reason why a network's gateway does not speak WISPr, or not safely enough for a credential.
    public struct Unusable: Error {
        /// The reason.
        public let reason: String
    }

    private struct Gateway {
        var login: WebURL
        var document: WISPrDocument
        var probed: WebURL
        var client: HTTPClient
        var pin: String?
    }

    /// The largest number of proxies that are followed.
    private static let proxyLimit = 3

    let command: HelperCommand

    /// Makes a login for one command.
    public init(_ command: HelperCommand) { self.command = command }

    /// Returns the portal of the gateway's document, which is in the probe's answer or on the portal's page. Throws ``Unusable``.
    public func detect(_ result: ProbeResult) throws(Unusable) -> Portal {
        let gateway = try search(result)
        let portal = portal(gateway)
        if portal.pin == nil { throw Unusable(reason: "The login address could not be reached securely.") }
        // If this helper has no session at this gateway, the user may have no account, and the page may admit guests without an account.
        if SessionMemory(command.session).origin != gateway.login.origin,
            let chain = PortalPage.source(result).flatMap(command.portalPage)?.chain,
            Self.needsNoAccount(chain.page, at: chain.final.url)
        {
            throw Unusable(reason: "The portal's page asks for something other than an account.")
        }
        return portal
    }

    /// Returns whether a page's login asks for something other than an account, such as a code.
    package static func needsNoAccount(_ page: HTMLPage, at url: WebURL) -> Bool {
        guard page.forms.allSatisfy(\.passwords.isEmpty), let form = FormEngine(for: RedirectPolicy()).choose(page, at: url)
        else {
            return false
        }
        return !TypedForm(form).typed.isEmpty
    }

    private func search(_ result: ProbeResult) throws(Unusable) -> Gateway {
        guard let page = result.page else { throw Unusable(reason: "The portal's page could not be fetched.") }
        var client = command.client(cookies: page.cookies)
        var document = WISPrDocument.find(in: page.body)
        var host: String? = page.location.flatMap { WebURL($0, relativeTo: page.url)?.host }
        var pins: [String: String] = [:]
        // The form helper fetches the portal's page anyway, so the key and the connection of the page's host are also used here. At a later visit the
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
                // The document in the gateway's redirect is preferred to a document on its page.
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
            else { throw Unusable(reason: "The gateway's proxy does not answer.") }
            document = WISPrDocument.find(in: answer.body)
            host = answer.location.flatMap { WebURL($0, relativeTo: answer.url)?.host } ?? next.host
        }
        guard let document, document.isRedirect, let text = document.loginURL else {
            throw Unusable(reason: "The gateway sent no WISPr document.")
        }
        guard let login = WebURL(text, relativeTo: page.url), (try? command.redirects.check(login)) != nil else {
            throw Unusable(reason: "The gateway names a login address that is not allowed.")
        }
        guard login.isSecure else { throw Unusable(reason: "The gateway asks for the password without encryption.") }
        if let host, host != login.host {
            throw Unusable(reason: "The gateway wants the password sent to a host other than the one that served its page.")
        }
        return Gateway(login: login, document: document, probed: page.url, client: client, pin: pins[login.origin])
    }

    /// Returns the portal with its key. A key from an earlier visit is enough, because each request requires it.
    private func portal(_ gateway: Gateway) -> Portal {
        let memory = SessionMemory(command.session)
        let stored = memory.origin == gateway.login.origin ? memory.pin : nil
        return Portal(
            origin: gateway.login.origin, pin: gateway.pin ?? stored ?? fetchPin(gateway), kind: "wispr",
            title: gateway.document.locationName)
    }

    /// Fetches the front page of the login's host, and returns the host's key.
    private func fetchPin(_ gateway: Gateway) -> String? {
        guard let front = WebURL(gateway.login.origin + "/") else { return nil }
        var request = HTTPRequest(front)
        request.bodyLimit = 16 * 1024
        return (try? gateway.client.send(request, in: command.scope.limited(milliseconds: 8000)))?.pin
    }

    /// Returns the session that an answer to Evaluate passes to Authenticate: the portal's key.
    public static func session(of portal: Portal) -> Session {
        var memory = SessionMemory()
        memory.origin = portal.origin
        memory.pin = portal.pin
        return Session(memory: memory.value)
    }

    /// Answers Authenticate and PresentUI.
    ///
    /// - Parameter isTypedNow: whether the user has just typed the command's answers, as in PresentUI.
    public func run(isTypedNow: Bool) -> Reply {
        guard let result = command.probe() else { return command.reply(TransferError(.cancelled)) }
        if result.verdict.isOpen { return command.replyOpenAlready() }
        guard result.verdict == .captive else {
            return command.reply(.temporaryFailure, reason: "No portal answers now (\(result.problem ?? "noAnswer")).")
        }
        let gateway: Gateway
        do throws(Unusable) { gateway = try search(result) } catch {
            return command.reply(.unsupportedNetwork, reason: error.reason)
        }
        var live = portal(gateway)
        if !command.hasAnswers(for: live), let name = gateway.document.locationName,
            let company = ImitatedBrand.imitated(naming: [name], at: gateway.login)
        {
            return command.leave(live, imitating: company)
        }
        var credential = command.credential ?? [:]
        if isTypedNow { credential.merge(command.answers) { $1 } }
        var (account, message): ((user: String, password: String)?, String?)
        if let user = credential["UserName"], let password = credential["Password"], !user.isEmpty,
            command.portal?.origin == live.origin, let pin = command.portal?.pin
        {
            (live.pin, account) = (pin, (user, password))
        } else if command.portal != nil, !command.isAbout(live), !credential.isEmpty {
            message = "This is not the same portal as before, so nothing was sent."
        }
        var engine = FormEngine(for: command.redirects)
        engine.leadsInside = { command.link.leadsInside($0, in: command.scope) }
        let attempt = WISPrAttempt(
            account, at: live, login: gateway.login, probed: gateway.probed, engine: engine, fetchPin: { fetchPin(gateway) })
        var driver = LoginDriver(command, attempt, by: HTTPCarrier(command, gateway.client), isTypedNow: isTypedNow)
        return driver.run(from: message.map { attempt.ask($0) }) { attempt, _, reply, memory in
            guard reply.result == .success else { return }
            memory.logoff = attempt.logoff.map { SessionMemory.SavedRequest(url: $0.text) }
            reply.session?.secondsRemaining = attempt.granted?.sessionSeconds
            reply.reason = attempt.granted?.message
        }
    }
}
