import HotspotCore

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
        /// The page has a form that could be a login.
        public var canAct: Bool
        /// Why the page could not be fetched.
        public var failure: TransferError?
        /// The page, and its address.
        fileprivate var page: (HTMLPage, WebURL)?

        /// The company that the page imitates, by the check for pages that are left to a browser.
        package var imitates: String? {
            page.flatMap { page, url in Company.imitated(by: page, asking: Prompt(title: ""), at: url) }?.name
        }
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
            canAct: page.map { engine.canAct(on: $0.0, at: $0.1) } ?? false, failure: portalPage.failure, page: page)
    }

    /// Answers Authenticate and PresentUI: submits the forms from the portal's first page on, or from the page that asked the user.
    ///
    /// - Parameters:
    ///   - start: the address of the portal's first page; without it, the page to which the probe leads.
    ///   - isTypedNow: the user has just typed the command's answers, as in PresentUI.
    public func run(from start: WebURL?, isTypedNow: Bool) -> Reply {
        let memory = SessionMemory(command.session)
        if isTypedNow, let asked = page(keptIn: memory) {
            let client = command.client(cookies: CookieJar(lines: memory.cookies ?? []))
            return fill(asked.page, at: asked.url, portal: asked.portal, client: client, isTypedNow: true)
        }
        /// Says that the portal did not answer, and so nothing was sent.
        func notNow(_ reply: Reply) -> Reply {
            var reply = reply
            if isTypedNow, reply.result == .temporaryFailure { reply.unsent = command.answered }
            return reply
        }
        let portalPage: PortalPage
        if let start {
            guard let page = command.portalPage(.url(start)) else { return command.reply(TransferError(.cancelled)) }
            portalPage = page
        } else {
            guard let result = command.probe() else { return command.reply(TransferError(.cancelled)) }
            if result.verdict.isOpen { return command.replyOpenAlready() }
            guard result.verdict == .captive, let page = PortalPage.source(result).flatMap(command.portalPage) else {
                let problem = result.problem ?? "noAnswer"
                return notNow(command.reply(.temporaryFailure, reason: "The probe finds no portal at present (\(problem))."))
            }
            portalPage = page
        }
        // The tokens in its forms are valid once, so the next command fetches the page again.
        command.attempts.forgetPortalPages(command.link)
        if let failure = portalPage.failure {
            // A portal that did not answer has shown no key to compare.
            guard failure.needsBrowser else { return notNow(command.reply(failure)) }
            let portal = portalPage.portal(kind: kind)
            let prompt = Prompt.unproven(failure, page: portalPage.start)
            return command.reply(.uiRequired, prompt: prompt, portal: portal, reason: failure.description)
        }
        guard let chain = portalPage.chain else { return command.reply(TransferError(.emptyAnswer)) }
        let status = chain.final.status
        // 511 is a portal's own (RFC 6585).
        if status >= 500, status != 511, chain.page.forms.isEmpty, chain.page.links.isEmpty {
            return notNow(command.reply(.temporaryFailure, reason: "The portal answered with status \(status)."))
        }
        return fill(
            chain.page, at: chain.final.url, portal: portalPage.portal(kind: kind), client: portalPage.client,
            isTypedNow: isTypedNow, start: portalPage.start)
    }

    /// Goes on like ``run(from:isTypedNow:)`` from a page that the caller has fetched, or from the page that asked the user.
    package func run(on chain: RedirectChain, client: HTTPClient, isTypedNow: Bool) -> Reply {
        let start = chain.hops[0].url
        if isTypedNow, let asked = page(keptIn: SessionMemory(command.session)) {
            return fill(asked.page, at: asked.url, portal: asked.portal, client: client, isTypedNow: true, start: start)
        }
        let url = chain.final.url
        let portal = Portal(origin: url.origin, pin: chain.final.pin, kind: kind, title: chain.page.title)
        return fill(chain.page, at: url, portal: portal, client: client, isTypedNow: isTypedNow, start: start)
    }

    /// Returns the page that asked the user, and the portal that it belongs to.
    private func page(keptIn memory: SessionMemory) -> (page: HTMLPage, url: WebURL, portal: Portal)? {
        guard let kept = memory.page.flatMap(Self.page) else { return nil }
        let portal = Portal(origin: memory.origin ?? kept.url.origin, pin: memory.pin, kind: kind, title: kept.page.title)
        return (kept.page, kept.url, portal)
    }

    private func fill(
        _ page: HTMLPage, at url: WebURL, portal live: Portal, client: HTTPClient, isTypedNow: Bool, start: WebURL? = nil
    ) -> Reply {
        let first = url
        var (page, url, memory) = (page, url, SessionMemory(command.session))
        var terms = AcceptedTerms(memory, isTypedNow: isTypedNow)
        var attempt = FormAttempt(
            command, at: live, agreed: memory.agreed ?? [], impliedAgreements: memory.said ?? [], asked: memory.asked,
            mustAcceptTerms: terms.mustBeAccepted, isTypedNow: isTypedNow)
        (memory.said, memory.asked) = (nil, nil)
        memory.agreed = attempt.engine.agreed.isEmpty ? nil : attempt.engine.agreed.sorted()
        // The first page is fetched again with fresh tokens; a later one cannot be reached without the forms sent before.
        var known = isTypedNow ? memory.page?.terms.flatMap { Terms($0) } : nil
        if isTypedNow {
            attempt.engine.answers.noteRefusedBefore(memory.page?.refused ?? [:])
            attempt.engine.answers.noteEarlier(memory.sent ?? [:])
            let hadPrice = attempt.asked?.contains { $0.hasPrefix(PriceMention.field) } ?? false
            attempt.engine.pricesAreKnown = memory.page != nil && !hadPrice
        }
        (memory.page, memory.sent) = (nil, nil)
        // A question that did not show the terms again had them accepted by the answer before.
        if isTypedNow, attempt.isSame, known != nil, !terms.mustBeAccepted, terms.hasAccepted { attempt.engine.consent = true }
        var outside = RedirectChain.outsideHosts(of: command.link)
        for host in [start?.host, url.host] { if let host { outside.remove(host) } }
        // Why the answer to the answers did not come.
        var unanswered: String?
        // The last page is no answer to the login, but asks on.
        var isAsking = false
        // The portal has not judged the answers.
        var isUnjudged = false
        // The page of the last form.
        var formPage = url
        // The address of the last form's request.
        var submitted: WebURL?
        // The status with which it refused the last form.
        var refusal: Int?
        while true {
            // The page of which typed answers are sent now, and its terms.
            var asking: (page: HTMLPage, url: WebURL, terms: Terms?)?
            let pricesAreKnown = attempt.engine.pricesAreKnown
            // A page without the rest of what it showed, or with the portal's words about the answers, has the terms from before.
            let shown = known ?? attempt.engine.bindingTerms(on: page, at: url)
            // They may have changed while a question waited that did not show them.
            if attempt.engine.consent, terms.haveChanged(shown, client, url, showing: page.sentences, command.scope) {
                attempt.engine.consent = false
            }
            let consent = attempt.engine.consent
            let hasAnswered = attempt.hasAnswered
            var move = attempt.move(on: page, at: url)
            // A button behind the login may be the one that ends the session.
            if hasAnswered, case .submit(_, let form) = move, form.inputs.isEmpty,
                command.probe(fresh: true)?.verdict.isOpen == true
            {
                move = .done
            }
            if case .submit(let filled, let form) = move {
                if isTypedNow, !consent, shown != nil {
                    terms.accept()
                    if attempt.engine.saysYesToTerms { attempt.engine.consent = true }
                }
                command.scope.trace.add(
                    "form with \(form.controls.count) controls\(filled.carriesAnswers ? ", with answers" : "")")
                if !filled.ticked.isEmpty {
                    command.scope.trace.add("boxes as the page ticks them: \(filled.ticked.joined(separator: ", "))")
                }
                var request = filled.request
                request.referer = url
                let target = filled.target.origin
                formPage = url
                submitted = request.method == .get ? request.url : nil
                let isPortal = target == attempt.portal.origin
                if filled.carriesAnswers { request.requiredPin = isPortal ? attempt.portal.pin : memory.pins?[target] }
                if isTypedNow, filled.carriesAnswers { asking = (page, url, shown) }
                do throws(TransferError) {
                    let response = try command.logIn(request, by: client)
                    if filled.carriesAnswers, !isPortal, let pin = response.pin {
                        memory.pins = (memory.pins ?? [:]).merging([target: pin]) { $1 }
                    }
                    let chain = try RedirectChain.follow(
                        response, to: request, client: client, outside: outside, submittedFrom: url,
                        agreed: attempt.engine.agreed, in: command.scope,
                        mayWait: { command.probe(fresh: true)?.verdict.isOpen != true })
                    (page, url) = (chain.page, chain.final.url)
                    known = attempt.asksAgain(page) ? shown : nil
                    guard let last = attempt.arrive(chain, kind: kind) else { continue }
                    (move, refusal) = (last, chain.final.status)
                } catch {
                    if error.code == .timeout, filled.carriesAnswers {
                        // It may have let the guest in: the proof goes on for as long as there is time.
                        (move, unanswered) = (.done, error.description)
                    } else if error.code == .keyChanged, !isPortal {
                        memory.pins?[target] = nil
                        (move, isUnjudged) = (attempt.askAgain(about: filled.target, on: page, at: url), true)
                        memory.agreed = attempt.engine.agreed.isEmpty ? nil : attempt.engine.agreed.sorted()
                    } else {
                        move = attempt.fail(error)
                    }
                }
            }
            // A gateway may open and break its answer off, or open by itself: the probe knows.
            if case .end(.temporaryFailure, let reason) = move, isTypedNow || !attempt.hasSentNothing {
                if command.probe(fresh: true)?.verdict.isOpen == true {
                    move = .done
                } else if let asking {
                    (page, url, known) = asking
                    attempt.engine.pricesAreKnown = pricesAreKnown
                    (move, isUnjudged) = (attempt.askAgain(on: page, at: url, because: reason), true)
                } else if let refusal {
                    // The address of a form that is refused may show nothing.
                    move = attempt.giveUp(reason, status: refusal, at: formPage)
                }
            } else if case .done = move, attempt.hasSentNothing, !(isTypedNow && command.answers.isEmpty),
                command.probe(fresh: true)?.verdict.isOpen != true,
                !(RedirectChain.leadsOut(page, at: url, on: command.link) && command.opensLate())
            {
                move = attempt.handOverUnsent(on: page, at: url)
            } else if case .ask(let prompt, _, let reason) = move, !attempt.hasSentNothing,
                attempt.engine.refusal(on: TypedPage(page)) == nil,
                !prompt.fields.contains(where: { $0.kind == .code }),
                command.probe(fresh: true)?.verdict.isOpen == true
                    || (attempt.opensSoon(prompt, reason, on: page, at: url) && command.opensLate())
            {
                // The page behind a login may ask on, such as for a guest's opinion. One that wants a code may be open for a moment only.
                (move, isAsking) = (.done, true)
            }
            // Keeps how the session can be ended. The query of an address that a form has made can have the answers.
            func keepWayOut() {
                memory.logoff = attempt.logoff ?? memory.logoff
                memory.statusPage = (url.origin == live.origin && url.query == nil ? url : first).text
            }
            switch move {
            case .submit: continue
            case .end(let result, let reason): return command.reply(result, portal: attempt.portal, reason: reason)
            case .leave(let company): return command.leave(attempt.portal, imitating: company)
            case .done:
                terms.keep(in: &memory)
                memory.shownTerms = nil
                keepWayOut()
                memory.openPage = OpenPage(page, at: url, redirects: command.redirects, submitted: submitted)
                var done = reply(.success, memory, live, client)
                if attempt.hasSentNothing { done.unsent = [] }
                // What the last page said is told if the portal does not open.
                let words = attempt.words(of: page)
                if let unanswered {
                    done.reason = unanswered
                } else if !attempt.hasSentNothing, !isAsking, !words.isEmpty {
                    done.reason = Reply.portalAnswered + words
                }
                if !attempt.refusedAnswers.isEmpty { done.refused = attempt.refusedAnswers.sorted() }
                guard !attempt.unsent.isEmpty else { return done }
                done.unsent = attempt.unsent
                if attempt.hasSentNothing { done.reason = "The portal asks for nothing more; the answers were not sent." }
                return done
            case .ask(var prompt, let form, let reason):
                memory.said = attempt.impliedAgreements.isEmpty ? nil : attempt.impliedAgreements
                memory.asked = prompt.fields.map(\.name)
                if reason == nil { terms.show(consent ? nil : shown, client, url, showing: page.sentences, command.scope) }
                if let change = terms.change { prompt.begin(change) }
                if attempt.mayOpen(prompt, reason, on: page) {
                    prompt.mayOpen = true
                    keepWayOut()
                }
                // A page that is kept has no links.
                if case .address(let address, _, _)? = known, prompt.terms != nil {
                    (prompt.terms, prompt.termsURL) = (nil, address.text)
                }
                terms.keep(in: &memory)
                let sent = attempt.engine.answers.sentEver
                memory.sent = sent.isEmpty ? nil : sent
                memory.page = form.map {
                    SessionMemory.SavedPage(
                        url: url.text, base: page.base.text, title: page.title, form: $0,
                        others: attempt.engine.otherWays(than: $0, on: TypedPage(page), at: url),
                        refused: attempt.refused(by: page),
                        sentences: page.sentences.reduce(0) { $0 + $1.utf8.count } <= Self.keptSentences ? page.sentences : nil,
                        terms: shown?.saved)
                }
                var asked = reply(.uiRequired, memory, attempt.portal, client, prompt, reason)
                let refused = prompt.fields.map(\.name).filter(attempt.engine.answers.wasSentNow)
                if !refused.isEmpty, !isUnjudged { asked.refused = refused.sorted() }
                asked.imitates = Company.imitated(by: page, asking: prompt, at: url)?.name
                return asked
            }
        }
    }

    /// The most octets of a page's text that are kept while it asks.
    private static let keptSentences = 3000

    private func reply(
        _ result: HelperResult, _ memory: SessionMemory, _ portal: Portal, _ client: HTTPClient, _ prompt: Prompt? = nil,
        _ reason: String? = nil
    ) -> Reply {
        var memory = memory
        memory.origin = portal.origin
        memory.pin = portal.pin
        memory.cookies = client.cookies.lines(within: SessionMemory.cookieLimit)
        return command.reply(
            result, prompt: prompt, portal: portal,
            session: Session(maintainAfter: memory.openPage?.secondsLeft(), memory: memory.value), reason: reason)
    }

    private static func page(_ saved: SessionMemory.SavedPage) -> (page: HTMLPage, url: WebURL)? {
        guard let url = WebURL(saved.url), let base = WebURL(saved.base) else { return nil }
        var page = HTMLPage(
            title: saved.title, base: base, forms: [saved.form] + (saved.others ?? []), links: [], refresh: nil,
            scriptTarget: nil, submitsItself: true,
            text: saved.form.text, errors: [], isTruncated: false)
        page.sentences = saved.sentences ?? []
        return (page, url)
    }
}
