import HelperKit
import HotspotCore
import Rendering

/// A login through pages and forms.
public struct FormLogin: Sendable {
    /// The value of ``Portal/kind`` in the replies.
    public let kind: String
    let command: HelperCommand

    /// Makes a login for one command.
    public init(kind: String, command: HelperCommand) {
        self.kind = kind
        self.command = command
    }

    /// The facts about a portal's first page that Evaluate and Maintain need.
    public struct Inspection: Sendable {
        /// The portal.
        public var portal: Portal
        /// The names of the fields that a login needs.
        public var needs: [String]
        /// Whether the page has a form that could be a login.
        public var canAct: Bool
        /// Why the page could not be fetched.
        public var failure: TransferError?
        /// The page, and its address.
        fileprivate var page: (TypedPage, WebURL)?

        /// The company that the page imitates, judged as for pages that are handed over to a browser.
        package var imitates: String? {
            page.flatMap { page, url in ImitatedBrand.imitated(by: page, asking: Prompt(title: ""), at: url) }?.name
        }
    }

    /// Inspects the portal's first page at an address; the helpers of an attempt share one request for it. `nil` if the command was cancelled or its
    /// time is over.
    public func inspect(at url: WebURL) -> Inspection? { inspect(.url(url)) }

    /// Inspects the page to which the probe led; `nil` if the probe led to no page, or for the reasons of ``inspect(at:)``.
    public func inspect(from result: ProbeResult) -> Inspection? { PortalPage.source(result).flatMap(inspect) }

    private func inspect(_ source: PortalPage.PageSource) -> Inspection? {
        guard let portalPage = command.portalPage(source) else { return nil }
        let engine = FormEngine(redirects: command.redirects)
        let page = portalPage.chain.map { (TypedPage($0.page), $0.final.url) }
        return Inspection(
            portal: portalPage.portal(kind: kind), needs: page.map { engine.needs(on: $0.0, at: $0.1) } ?? [],
            canAct: page.map { engine.canAct(on: $0.0, at: $0.1) } ?? false, failure: portalPage.failure, page: page)
    }

    /// Answers Authenticate and PresentUI: submits forms, from the portal's first page or from the page that asked the user.
    ///
    /// - Parameters:
    ///   - start: the address of the portal's first page; without it, the page to which the probe leads.
    ///   - isTypedNow: whether the user has just typed the command's answers, as in PresentUI.
    public func run(from start: WebURL?, isTypedNow: Bool) -> Reply {
        if isTypedNow, let reply = answer() { return reply }
        if SessionMemory(command.session).rendered != nil { return forgettingPage.run(from: start, isTypedNow: isTypedNow) }
        // Returns the reply for a portal that did not answer.
        func notNow(_ reply: Reply) -> Reply { isTypedNow ? command.sendingLater(reply) : reply }
        let portalPage: PortalPage
        if let start {
            guard let page = command.portalPage(.url(start)) else { return command.reply(TransferError(.cancelled)) }
            portalPage = page
        } else {
            guard let result = command.probe() else { return command.reply(TransferError(.cancelled)) }
            if result.verdict.isOpen { return command.replyOpenAlready() }
            guard result.verdict == .captive, let page = PortalPage.source(result).flatMap(command.portalPage) else {
                let problem = result.problem ?? "noAnswer"
                return notNow(command.reply(.temporaryFailure, reason: "The probe finds no portal now (\(problem))."))
            }
            portalPage = page
        }
        // The tokens in the page's forms are valid only once, so the next command fetches the page again.
        command.attempts.forgetPortalPages(command.link)
        if let failure = portalPage.failure {
            // Without an answer from the portal, its key is unknown, so the key is not compared.
            guard failure.needsBrowser else { return notNow(command.reply(failure)) }
            let portal = portalPage.portal(kind: kind)
            let prompt = Prompt.unproven(failure, page: portalPage.start)
            return command.reply(.uiRequired, prompt: prompt, portal: portal, reason: failure.description)
        }
        guard let chain = portalPage.chain else { return command.reply(TransferError(.emptyAnswer)) }
        let status = chain.final.status
        // Status 511 is not an error of the portal: only a portal itself sends it (RFC 6585).
        if status >= 500, status != 511, chain.page.forms.isEmpty, chain.page.links.isEmpty {
            return notNow(command.reply(.temporaryFailure, reason: "The portal answered with status \(status)."))
        }
        return logIn(
            on: chain.page, at: chain.final.url, portal: portalPage.portal(kind: kind), client: portalPage.client,
            isTypedNow: isTypedNow, start: portalPage.start)
    }

    /// Continues like ``run(from:isTypedNow:)``, from a page that the caller has fetched, or from the page that asked the user.
    package func run(on chain: RedirectChain, client: HTTPClient, isTypedNow: Bool) -> Reply {
        let (start, url) = (chain.hops[0].url, chain.final.url)
        if isTypedNow, let reply = answer(by: client, from: start) { return reply }
        let portal = Portal(origin: url.origin, pin: chain.final.pin, kind: kind, title: chain.page.title)
        return logIn(on: chain.page, at: url, portal: portal, client: client, isTypedNow: isTypedNow, start: start)
    }

    /// Continues from the page that asked the user; `nil` if the memory does not contain it.
    private func answer(by client: HTTPClient? = nil, from start: WebURL? = nil) -> Reply? {
        let memory = SessionMemory(command.session)
        if memory.rendered != nil { return answerRendered(memory, by: client, from: start) }
        guard let (page, url) = memory.page?.restored else { return nil }
        let portal = Portal(origin: memory.origin ?? url.origin, pin: memory.pin, kind: kind, title: page.title)
        return logIn(
            on: page, at: url, portal: portal, client: client ?? memory.client(command), isTypedNow: true, start: start)
    }

    /// Closes the page that is open in a browser, and returns the same login without its memory.
    private var forgettingPage: FormLogin {
        var (command, memory) = (command, SessionMemory(command.session))
        memory.rendered.flatMap(OpenPages.shared.take)?.close()
        (memory.rendered, memory.page, memory.sent) = (nil, nil, nil)
        command.session?.memory = memory.value
        return FormLogin(kind: kind, command: command)
    }

    /// Continues from the page that is open in a browser. `nil` if the page was closed: then the login starts over, and must reach the same question.
    private func answerRendered(_ memory: SessionMemory, by client: HTTPClient?, from start: WebURL?) -> Reply? {
        let client = client ?? memory.client(command)
        let hosts = [start?.host, memory.origin.flatMap { WebURL($0 + "/") }?.host].compactMap(\.self)
        let http = HTTPCarrier(command, client, at: hosts, mayWait: { !command.isOpen() })
        var carrier = RenderingCarrier(http, from: start, command)
        guard let chain = try? carrier.goOn() else { return nil }
        let url = chain.final.url
        let portal = Portal(origin: url.origin, pin: chain.final.pin, kind: kind, title: chain.page.title)
        return logIn(FormSteps(command, on: chain.page, at: url, portal: portal, isTypedNow: true), by: carrier, isTypedNow: true)
    }

    private func logIn(
        on page: HTMLPage, at url: WebURL, portal live: Portal, client: HTTPClient, isTypedNow: Bool, start: WebURL? = nil
    ) -> Reply {
        let steps = FormSteps(command, on: page, at: url, portal: live, isTypedNow: isTypedNow)
        let http = HTTPCarrier(
            command, client, at: [start?.host, url.host].compactMap(\.self), mayWait: { !command.isOpen() })
        return logIn(steps, by: RenderingCarrier(http, from: start, command), isTypedNow: isTypedNow)
    }

    private func logIn(_ steps: FormSteps, by carrier: RenderingCarrier, isTypedNow: Bool) -> Reply {
        var driver = LoginDriver(command, steps, by: carrier, isTypedNow: isTypedNow)
        return driver.run { steps, move, reply, memory in
            if case .ask(_, let form, _) = move {
                steps.finishQuestion(&reply, keeping: form, in: &memory)
            } else {
                steps.finishLogin(&reply, in: &memory)
            }
            reply.session?.maintainAfter = memory.openPage?.secondsLeft()
        }
    }
}

extension SessionMemory.SavedPage {
    /// The page as far as it was saved, and its address.
    fileprivate var restored: (page: HTMLPage, url: WebURL)? {
        guard let url = WebURL(url), let base = WebURL(base) else { return nil }
        var page = HTMLPage(saved: form, at: base)
        page.title = title
        page.forms += others ?? []
        page.sentences = sentences ?? []
        return (page, url)
    }
}
