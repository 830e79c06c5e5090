import HotspotCore

/// A login through pages and forms.
public struct FormLogin: Sendable {
    /// The value of ``Portal/kind`` in the replies.
    public let kind: String
    let command: HelperCommand

    /// The most forms that are submitted in one command.
    private static let stepLimit = 5

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
        /// The page has a form that could be a login.
        public var canAct: Bool
        /// Why the page could not be fetched.
        public var failure: TransferError?
    }

    /// Inspects the portal's first page at an address; it is fetched once for all helpers of an attempt. `nil` if the command was
    /// cancelled or its time is over.
    public func inspect(at url: WebURL) -> Inspection? { inspect(.url(url)) }

    /// Inspects the page to which the probe led; `nil` if it led to none, or as in ``inspect(at:)``.
    public func inspect(from result: ProbeResult) -> Inspection? { PortalPage.source(result).flatMap(inspect) }

    private func inspect(_ source: PortalPage.PageSource) -> Inspection? {
        guard let portalPage = command.portalPage(source) else { return nil }
        let engine = FormEngine(redirects: command.redirects)
        let page = portalPage.chain.map { ($0.page, $0.final.url) }
        return Inspection(
            portal: portalPage.portal(kind: kind), needs: page.map { engine.needs(on: $0.0, at: $0.1) } ?? [],
            canAct: page.map { engine.choose($0.0) != nil } ?? false, failure: portalPage.failure)
    }

    /// Answers Authenticate and PresentUI: submits the forms from the portal's first page on, or from the page that asked the user.
    ///
    /// - Parameters:
    ///   - start: the address of the portal's first page; without it, the page to which the probe leads.
    ///   - isTypedNow: the user has just typed the command's answers, as in PresentUI.
    public func run(from start: WebURL?, isTypedNow: Bool) -> Reply {
        let memory = SessionMemory(command.session)
        if isTypedNow, let saved = memory.page, let page = Self.page(saved) {
            let client = command.client(cookies: CookieJar(lines: memory.cookies ?? []))
            let portal = Portal(origin: page.url.origin, pin: memory.pin, kind: kind, title: page.page.title)
            return fill(page.page, at: page.url, portal: portal, client: client, isTypedNow: true)
        }
        let portalPage: PortalPage
        if let start {
            guard let page = command.portalPage(.url(start)) else { return command.reply(TransferError(.cancelled)) }
            portalPage = page
        } else {
            guard let result = command.probe() else { return command.reply(TransferError(.cancelled)) }
            if result.verdict.isOpen {
                return command.reply(.success, session: command.session, reason: "The network is open already.")
            }
            guard result.verdict == .captive, let page = PortalPage.source(result).flatMap(command.portalPage) else {
                return command.reply(.temporaryFailure, reason: "No portal answers at present (\(result.problem ?? "noAnswer")).")
            }
            portalPage = page
        }
        // The tokens in its forms are valid once, so the next command fetches the page again.
        command.attempts.forgetPortalPages(command.link)
        if let failure = portalPage.failure { return command.reply(failure, portal: portalPage.portal(kind: kind)) }
        guard let chain = portalPage.chain else { return command.reply(TransferError(.emptyAnswer)) }
        return fill(
            chain.page, at: chain.final.url, portal: portalPage.portal(kind: kind), client: portalPage.client,
            isTypedNow: isTypedNow, start: portalPage.start)
    }

    private func fill(
        _ page: HTMLPage, at url: WebURL, portal live: Portal, client: HTTPClient, isTypedNow: Bool, start: WebURL? = nil
    ) -> Reply {
        // `portal` is the one that asks now and changes with redirects. `live` is the one that is logged in to.
        var (page, url, portal) = (page, url, live)
        var answers = command.credential ?? [:]
        if isTypedNow { answers.merge(command.answers) { $1 } }
        // The answers were given for the command's portal and are sent to no other.
        let isSamePortal = command.portal.map { $0.origin == live.origin && $0.pin == live.pin } ?? false
        if !isSamePortal { answers = [:] }
        var terms = AcceptedTerms(SessionMemory(command.session), isTypedNow: isTypedNow)
        var engine = FormEngine(
            redirects: command.redirects, answers: answers, consent: command.consent && isSamePortal && !terms.mustBeAccepted,
            isTypedNow: isTypedNow, allowsPlainHTTP: isSamePortal && command.credential != nil)
        engine.remembered = Set((command.credential ?? [:]).keys).subtracting(command.answers.keys)
        engine.mask = Mask(Array((command.credential ?? [:]).values) + Array(command.answers.values))
        var logoff = PortalLogoff.find(on: page, at: url, redirects: command.redirects)
        var sent: Set<HTMLForm> = []
        var typedInto: Set<[String]> = []
        var outside: Set<String> = Set([command.link.probeURL].compactMap { $0 }.compactMap { WebURL($0)?.host })
        outside.formUnion(ProbeEndpoint.usual.compactMap { WebURL($0.url)?.host })
        if let host = start?.host { outside.remove(host) }
        outside.remove(url.host)
        for step in 0...Self.stepLimit {
            let isFirst = step == 0
            if engine.consent, !isTypedNow, terms.haveChanged(engine.bindingTerms(on: page, at: url), client, url, command.scope)
            {
                engine.consent = false
            }
            switch engine.decide(on: page, at: url) {
            case .nothing where isFirst:
                if isTypedNow { return success(live, logoff, client, terms) }
                if page.isTruncated {
                    return command.reply(
                        .temporaryFailure, portal: portal,
                        reason: "The portal's page is too large, and what was read of it has no form.")
                }
                // Only a browser can do this login; the probe shows later whether it was done. The message does not name the path,
                // which often has the name of a guest or session; other people may read the prompt.
                let prompt = Prompt(
                    title: portal.title ?? url.host,
                    message: "This page needs a browser. Open \(url.origin) in one, log in there, and confirm here.")
                return ask(prompt, portal, client, terms, page: nil, url)
            case .nothing: return success(live, logoff, client, terms)
            case .refuse(let reason):
                if !isFirst, FormWords.soundsLikeSuccess(page) { return success(live, logoff, client, terms) }
                return command.reply(.unsupportedNetwork, portal: portal, reason: reason)
            case .ask(var prompt, let form):
                if !isFirst, FormWords.soundsLikeSuccess(page), form.passwords.isEmpty {
                    return success(live, logoff, client, terms)
                }
                if isFirst, isTypedNow, !isSamePortal, command.portal != nil {
                    prompt.message =
                        "This is another portal than before; nothing was sent." + (prompt.message.map { " " + $0 } ?? "")
                }
                terms.show(engine.consent ? nil : engine.bindingTerms(on: page, at: url), client, url, command.scope)
                if terms.changed {
                    prompt.message = "The terms of this portal have changed." + (prompt.message.map { " " + $0 } ?? "")
                }
                return ask(prompt, portal, client, terms, page: isFirst ? nil : (page, form), url)
            case .submit(let filled, let form):
                let names = form.inputs.map(\.name)
                if !names.isEmpty, filled.carriesAnswers, typedInto.contains(names) {
                    // The portal shows the form again, so it refused the answers.
                    engine.answers = [:]
                    guard case .ask(var prompt, let form) = engine.decide(on: page, at: url) else {
                        return command.reply(
                            .failure, portal: portal,
                            reason: engine.complaint(of: page) ?? "The portal did not accept the answers.")
                    }
                    prompt.message = prompt.message ?? "The portal did not accept the answers."
                    return ask(prompt, portal, client, terms, page: (page, form), url)
                }
                if !sent.insert(form).inserted {
                    return command.reply(.temporaryFailure, portal: portal, reason: "The portal shows the same page again.")
                }
                if !isFirst, !filled.staysOnOrigin, FormWords.soundsLikeSuccess(page) {
                    return success(live, logoff, client, terms)
                }
                if step == Self.stepLimit { break }
                if isTypedNow, !engine.consent, engine.bindingTerms(on: page, at: url) != nil { terms.accept() }
                if filled.carriesAnswers { typedInto.insert(names) }
                var request = filled.request
                request.referer = url
                if filled.carriesAnswers { request.requiredPin = portal.pin }
                do throws(TransferError) {
                    command.scope.trace.add(
                        "form with \(form.controls.count) controls, \(filled.carriesAnswers ? "with" : "without") answers")
                    let response = try client.send(request, in: command.scope)
                    let chain = try RedirectChain.follow(
                        response, to: request, client: client, outside: outside, submittedFrom: url, in: command.scope)
                    if chain.leftPortal { return success(live, logoff, client, terms) }
                    page = chain.page
                    url = chain.final.url
                    if url.origin != portal.origin {
                        // Another portal asks now; the answers are not for it.
                        portal = Portal(origin: url.origin, pin: chain.final.pin, kind: kind, title: page.title)
                        engine.answers = [:]
                    }
                    // The logoff of another origin does not replace the portal's own.
                    if logoff == nil || url.origin == live.origin {
                        logoff = PortalLogoff.find(on: page, at: url, redirects: command.redirects) ?? logoff
                    }
                    if chain.final.status >= 500 || chain.final.status == 403, page.forms.isEmpty {
                        return command.reply(
                            .temporaryFailure, portal: portal, reason: "The portal answered with status \(chain.final.status).")
                    }
                } catch {
                    if error.code == .keyChanged {
                        return command.reply(.unsupportedNetwork, portal: portal, reason: error.description)
                    }
                    // Some portals redirect in circles after the login until the gateway has opened.
                    if !isFirst, error.code == .refusedURL || error.code == .tooManyRedirects {
                        return success(live, logoff, client, terms)
                    }
                    return command.reply(error, portal: portal)
                }
            }
        }
        return command.reply(.temporaryFailure, portal: portal, reason: "The portal shows one form after another.")
    }

    private func ask(
        _ prompt: Prompt, _ portal: Portal, _ client: HTTPClient, _ terms: AcceptedTerms, page: (HTMLPage, HTMLForm)?,
        _ url: WebURL
    ) -> Reply {
        var memory = SessionMemory(command.session)
        terms.keep(in: &memory)
        memory.origin = portal.origin
        memory.pin = portal.pin
        memory.cookies = client.cookies.lines(within: SessionMemory.cookieLimit)
        // The first page is fetched again with fresh tokens; a later one cannot be reached without the forms sent before.
        memory.page = page.map { SessionMemory.SavedPage(url: url.text, base: $0.0.base.text, title: $0.0.title, form: $0.1) }
        return command.reply(.uiRequired, prompt: prompt, portal: portal, session: Session(memory: memory.value))
    }

    private func success(_ portal: Portal, _ logoff: SessionMemory.SavedRequest?, _ client: HTTPClient, _ terms: AcceptedTerms)
        -> Reply
    {
        var memory = SessionMemory(command.session)
        terms.keep(in: &memory)
        memory.shownTerms = nil
        memory.origin = portal.origin
        memory.pin = portal.pin
        memory.logoff = logoff ?? memory.logoff
        memory.cookies = client.cookies.lines(within: SessionMemory.cookieLimit)
        memory.page = nil
        return command.reply(.success, portal: portal, session: Session(memory: memory.value))
    }

    private static func page(_ saved: SessionMemory.SavedPage) -> (page: HTMLPage, url: WebURL)? {
        guard let url = WebURL(saved.url), let base = WebURL(saved.base) else { return nil }
        let page = HTMLPage(
            title: saved.title, base: base, forms: [saved.form], links: [], refresh: nil, scriptTarget: nil, submitsItself: false,
            text: saved.form.text, errors: [], isTruncated: false)
        return (page, url)
    }
}
