import HotspotCore

/// A login through pages and forms: what the helpers for portals with a page have in common.
public struct FormLogin: Sendable {
    /// The protocol word of the portal.
    public let kind: String
    let visit: Visit

    /// Forms that are sent in one command.
    private static let stepLimit = 5

    /// A login for one command.
    public init(kind: String, visit: Visit) {
        self.kind = kind
        self.visit = visit
    }

    /// What Evaluate and Maintain need to know of the portal's first page.
    public struct Finding: Sendable {
        /// Who asks.
        public var portal: Portal
        /// Fields that a login will want.
        public var needs: [String]
        /// Something on the page can be sent or asked.
        public var canAct: Bool
        /// What is in the way.
        public var failure: TransferError?
    }

    /// Looks at the portal's first page, which is fetched once for all helpers. `nil` if the command was cancelled.
    public func look(at start: WebURL) -> Finding? { look(from: .url(start)) }

    /// Looks at the page that the probe led to.
    public func look(from result: ProbeResult) -> Finding? { Landing.start(of: result).flatMap(look(from:)) }

    private func look(from start: Landing.Start) -> Finding? {
        guard let landing = visit.attempts.landing(visit.link, start: start, policy: visit.policy, in: visit.scope) else {
            return nil
        }
        let engine = FormEngine(redirects: visit.redirects)
        let page = landing.journey.map { ($0.page, $0.final.url) }
        return Finding(
            portal: landing.portal(kind: kind), needs: page.map { engine.needs(on: $0.0, at: $0.1) } ?? [],
            canAct: page.map { engine.choose($0.0) != nil } ?? false, failure: landing.failure)
    }

    /// Authenticate and PresentUI: from the portal's page, or from the page that asked.
    ///
    /// - Parameters:
    ///   - start: where the portal begins, if it is known.
    ///   - isTypedNow: the answers are the user's, just now.
    public func run(from start: WebURL?, isTypedNow: Bool) -> Reply {
        let memory = Memory(visit.session)
        if isTypedNow, let saved = memory.page, let page = Self.page(saved) {
            let client = visit.client(cookies: CookieJar(lines: memory.cookies ?? []))
            let portal = Portal(origin: page.url.origin, pin: memory.pin, kind: kind, title: page.page.title)
            return fill(page.page, at: page.url, portal: portal, client: client, isTypedNow: true)
        }
        let landing: Landing
        if let start {
            guard let found = visit.attempts.landing(visit.link, start: .url(start), policy: visit.policy, in: visit.scope) else {
                return visit.reply(TransferError(.cancelled))
            }
            landing = found
        } else {
            guard let result = visit.probe() else { return visit.reply(TransferError(.cancelled)) }
            if result.verdict.isOpen {
                return visit.reply(.success, session: visit.session, reason: "The network is open already.")
            }
            guard result.verdict == .captive, let start = Landing.start(of: result),
                let found = visit.attempts.landing(visit.link, start: start, policy: visit.policy, in: visit.scope)
            else {
                return visit.reply(.temporaryFailure, reason: "No portal answers at present (\(result.problem ?? "noAnswer")).")
            }
            landing = found
        }
        // Its tokens serve once: whoever tries again begins anew.
        visit.attempts.forgetLandings(visit.link)
        if let failure = landing.failure { return visit.reply(failure, portal: landing.portal(kind: kind)) }
        guard let journey = landing.journey else { return visit.reply(TransferError(.emptyAnswer)) }
        return fill(
            journey.page, at: journey.final.url, portal: landing.portal(kind: kind), client: landing.client,
            isTypedNow: isTypedNow,
            start: landing.start)
    }

    private func fill(
        _ page: HTMLPage, at url: WebURL, portal live: Portal, client: HTTPClient, isTypedNow: Bool, start: WebURL? = nil
    ) -> Reply {
        // Who asks now, which a redirect may change. What is logged in to stays `live`: answers go nowhere else, and clicks
        // begin there.
        var (page, url, portal) = (page, url, live)
        var answers = visit.credential ?? [:]
        if isTypedNow { answers.merge(visit.answers) { $1 } }
        // Answers are for the portal that they were given for, and no other.
        let isSamePortal = visit.portal.map { $0.origin == live.origin && $0.pin == live.pin } ?? false
        if !isSamePortal { answers = [:] }
        var terms = TermsWatch(Memory(visit.session), isTypedNow: isTypedNow)
        var engine = FormEngine(
            redirects: visit.redirects, answers: answers, consent: visit.consent && isSamePortal && !terms.mustBeAccepted,
            isTypedNow: isTypedNow, allowsPlainHTTP: isSamePortal && visit.credential != nil)
        engine.remembered = Set((visit.credential ?? [:]).keys).subtracting(visit.answers.keys)
        engine.mask = Mask(Array((visit.credential ?? [:]).values) + Array(visit.answers.values))
        var logoff = Logoff.find(on: page, at: url, redirects: visit.redirects)
        var sent: Set<HTMLForm> = []
        var typedInto: Set<[String]> = []
        var outside: Set<String> = Set([visit.link.probeURL].compactMap { $0 }.compactMap { WebURL($0)?.host })
        outside.formUnion(ProbeEndpoint.usual.compactMap { WebURL($0.url)?.host })
        if let host = start?.host { outside.remove(host) }
        outside.remove(url.host)
        for step in 0...Self.stepLimit {
            let isFirst = step == 0
            if engine.consent, !isTypedNow, terms.haveChanged(engine.bindingTerms(on: page, at: url), client, url, visit.scope) {
                engine.consent = false
            }
            switch engine.step(on: page, at: url) {
            case .nothing where isFirst:
                if isTypedNow { return success(live, logoff, client, terms) }
                if page.isTruncated {
                    return visit.reply(
                        .temporaryFailure, portal: portal,
                        reason: "The portal's page is too large, and what was read of it has no form.")
                }
                // Nobody but a browser can do this; the probe tells afterwards whether it was done. The path stays out of the
                // message, which others may read: it often names the guest or the session, and the portal leads there anyway.
                let prompt = Prompt(
                    title: portal.title ?? url.host,
                    message: "This page needs a browser. Open \(url.origin) in one, log in there, and confirm here.")
                return ask(prompt, portal, client, terms, page: nil, url)
            case .nothing: return success(live, logoff, client, terms)
            case .refuse(let reason):
                if !isFirst, FormWords.soundsLikeSuccess(page) { return success(live, logoff, client, terms) }
                return visit.reply(.unsupportedNetwork, portal: portal, reason: reason)
            case .ask(var prompt, let form):
                if !isFirst, FormWords.soundsLikeSuccess(page), form.passwords.isEmpty {
                    return success(live, logoff, client, terms)
                }
                if isFirst, isTypedNow, !isSamePortal, visit.portal != nil {
                    prompt.message =
                        "This is another portal than before; nothing was sent." + (prompt.message.map { " " + $0 } ?? "")
                }
                terms.show(engine.consent ? nil : engine.bindingTerms(on: page, at: url), client, url, visit.scope)
                if terms.changed {
                    prompt.message = "The terms of this portal have changed." + (prompt.message.map { " " + $0 } ?? "")
                }
                return ask(prompt, portal, client, terms, page: isFirst ? nil : (page, form), url)
            case .submit(let filled, let form):
                let names = form.inputs.map(\.name)
                if !names.isEmpty, filled.carriesAnswers, typedInto.contains(names) {
                    // The form again, with the answers that were just refused.
                    engine.answers = [:]
                    guard case .ask(var prompt, let form) = engine.step(on: page, at: url) else {
                        return visit.reply(
                            .failure, portal: portal,
                            reason: engine.complaint(of: page) ?? "The portal did not accept the answers.")
                    }
                    prompt.message = prompt.message ?? "The portal did not accept the answers."
                    return ask(prompt, portal, client, terms, page: (page, form), url)
                }
                if !sent.insert(form).inserted {
                    return visit.reply(.temporaryFailure, portal: portal, reason: "The portal shows the same page again.")
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
                    visit.scope.trace.add(
                        "form with \(form.controls.count) controls, \(filled.carriesAnswers ? "with" : "without") answers")
                    let response = try client.send(request, in: visit.scope)
                    let journey = try Journey.follow(
                        response, to: request, client: client, outside: outside, submittedFrom: url, in: visit.scope)
                    if journey.left { return success(live, logoff, client, terms) }
                    page = journey.page
                    url = journey.final.url
                    if url.origin != portal.origin {
                        // What comes next is asked by somebody else: no answer of before is for them.
                        portal = Portal(origin: url.origin, pin: journey.final.pin, kind: kind, title: page.title)
                        engine.answers = [:]
                    }
                    // Another origin's way out takes no place of the portal's own.
                    if logoff == nil || url.origin == live.origin {
                        logoff = Logoff.find(on: page, at: url, redirects: visit.redirects) ?? logoff
                    }
                    if journey.final.status >= 500 || journey.final.status == 403, page.forms.isEmpty {
                        return visit.reply(
                            .temporaryFailure, portal: portal, reason: "The portal answered with status \(journey.final.status).")
                    }
                } catch {
                    if error.code == .keyChanged {
                        return visit.reply(.unsupportedNetwork, portal: portal, reason: error.description)
                    }
                    // Some portals lead in circles after the login, until the gateway has opened.
                    if !isFirst, error.code == .refusedURL || error.code == .tooManyRedirects {
                        return success(live, logoff, client, terms)
                    }
                    return visit.reply(error, portal: portal)
                }
            }
        }
        return visit.reply(.temporaryFailure, portal: portal, reason: "The portal asks to go on without end.")
    }

    private func ask(
        _ prompt: Prompt, _ portal: Portal, _ client: HTTPClient, _ terms: TermsWatch, page: (HTMLPage, HTMLForm)?, _ url: WebURL
    ) -> Reply {
        var memory = Memory(visit.session)
        terms.keep(in: &memory)
        memory.origin = portal.origin
        memory.pin = portal.pin
        memory.cookies = client.cookies.lines(within: Memory.cookieLimit)
        // A first page is fetched again with fresh tokens; a later one cannot be reached without what was sent before.
        memory.page = page.map { Memory.SavedPage(url: url.text, base: $0.0.base.text, title: $0.0.title, form: $0.1) }
        return visit.reply(.uiRequired, prompt: prompt, portal: portal, session: Session(memory: memory.value))
    }

    private func success(_ portal: Portal, _ logoff: Memory.SavedRequest?, _ client: HTTPClient, _ terms: TermsWatch) -> Reply {
        var memory = Memory(visit.session)
        terms.keep(in: &memory)
        memory.shownTerms = nil
        memory.origin = portal.origin
        memory.pin = portal.pin
        memory.logoff = logoff ?? memory.logoff
        memory.cookies = client.cookies.lines(within: Memory.cookieLimit)
        memory.page = nil
        return visit.reply(.success, portal: portal, session: Session(memory: memory.value))
    }

    private static func page(_ saved: Memory.SavedPage) -> (page: HTMLPage, url: WebURL)? {
        guard let url = WebURL(saved.url), let base = WebURL(saved.base) else { return nil }
        let page = HTMLPage(
            title: saved.title, base: base, forms: [saved.form], links: [], refresh: nil, scriptTarget: nil, submitsItself: false,
            text: saved.form.text, errors: [], isTruncated: false)
        return (page, url)
    }
}
