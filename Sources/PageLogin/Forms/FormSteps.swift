import ForeignText
import HelperKit
import HotspotCore

/// The steps of a login through pages and forms: a ``FormAttempt`` with the page that it is on.
struct FormSteps: LoginSteps {
    /// The result of the last form: nothing special, an error status, no answer, an open network while the page still asks, or no judgement of the
    /// answers by the portal.
    private enum FormEnd { case open, refused(status: Int), unanswered(String), opened, unjudged }

    private let command: HelperCommand
    private let isTypedNow: Bool
    /// The address of the first page.
    private let first: WebURL
    private var attempt: FormAttempt
    private var page: TypedPage
    private(set) var formPage: WebURL
    /// The terms of the page.
    private var terms: Terms?
    /// The terms of an earlier page. They also apply to a later page that shows only a part of them, or none.
    private var earlierTerms: Terms?
    /// Whether the prices of the page were known before the last move.
    private var knewPrices = false
    private var end = FormEnd.open
    /// The last form, and its page.
    private var lastForm: (filled: FilledForm, page: TypedPage, url: WebURL)?

    init(_ command: HelperCommand, on page: HTMLPage, at url: WebURL, portal: Portal, isTypedNow: Bool) {
        (self.command, self.page, formPage, first, self.isTypedNow) = (command, TypedPage(page), url, url, isTypedNow)
        let memory = SessionMemory(command.session)
        attempt = FormAttempt(command, at: portal, after: memory, isTypedNow: isTypedNow)
        guard isTypedNow else { return }
        // A first page was fetched again, with fresh tokens. A later page comes from the memory, because fetching it would mean sending the earlier
        // forms again.
        earlierTerms = memory.page?.terms.flatMap { Terms($0) }
        attempt.engine.answers.noteRefusedBefore(memory.page?.refused ?? [:])
        attempt.engine.answers.noteEarlier(memory.sent ?? [:])
        let hadPrice = attempt.asked?.contains { $0.hasPrefix(PriceMention.field) } ?? false
        attempt.engine.pricesAreKnown = memory.page != nil && !hadPrice
        // If the question did not show the terms again, the answer to an earlier question has accepted them.
        let accepted = AcceptedTerms(memory, isTypedNow: true)
        if attempt.isSame, earlierTerms != nil, !accepted.mustBeAccepted, accepted.hasAccepted { attempt.engine.consent = true }
    }

    var live: Portal { attempt.live }
    var asking: Portal { attempt.portal }
    var impliedAgreements: [String] { attempt.impliedAgreements }
    var hasSent: Bool { !attempt.hasSentNothing }
    var shownTerms: ShownTerms? { terms.map { ShownTerms($0, of: page.page, at: formPage) } }
    var engine: FormEngine {
        get { attempt.engine }
        set { attempt.engine = newValue }
    }

    mutating func next() -> LoginMove {
        terms = earlierTerms ?? engine.bindingTerms(on: page, at: formPage)
        knewPrices = engine.pricesAreKnown
        return attempt.move(on: page, at: formPage)
    }

    mutating func begin(_ move: LoginMove, acceptingTerms: Bool) {
        guard case .submit(let filled, _) = move else { return }
        if acceptingTerms, engine.saysYesToTerms { engine.consent = true }
        lastForm = (filled, page, formPage)
    }

    mutating func arrive(_ chain: RedirectChain) -> LoginMove? {
        (page, formPage) = (TypedPage(chain.page), chain.final.url)
        earlierTerms = attempt.asksAgain(page) ? terms : nil
        let move = attempt.arrive(chain, on: page, kind: live.kind)
        if move != nil { end = .refused(status: chain.final.status) }
        return move
    }

    mutating func show(_ chain: RedirectChain) {
        let url = chain.final.url
        if hasSent {
            _ = arrive(chain)
        } else {
            // A script may have led to another portal, so the login begins anew with this page.
            let portal = Portal(
                origin: url.origin, pin: chain.final.pin, kind: live.kind,
                title: chain.page.title.map { Printable.text($0, limit: 120) })
            self = FormSteps(command, on: chain.page, at: url, portal: portal, isTypedNow: isTypedNow)
        }
    }

    mutating func fail(_ error: TransferError, of move: LoginMove) -> LoginMove? {
        guard error.code == .timeout, lastForm?.filled.carriesAnswers == true else {
            return attempt.fail(error, at: formPage)
        }
        // The portal may have opened the network without answering, so the probe decides.
        end = .unanswered(error.description)
        return .done
    }

    func patience(before move: LoginMove) -> Patience? {
        switch move {
        // A button after the login may end the session, so hotspotd probes before pressing it.
        case .submit(_, let form): attempt.hasAnswered && form.inputs.isEmpty ? .once : nil
        // A gateway may open the network and break off its answer, or open it later by itself, so the probe decides.
        case .end(.temporaryFailure, _): isTypedNow || hasSent ? .once : nil
        case .done where hasSent || (isTypedNow && command.answers.isEmpty): nil
        case .done: RedirectChain.leadsOut(page.page, at: formPage, on: command.link) ? .seconds : .once
        // The page after a login may ask more, such as a guest's opinion, so hotspotd probes first, except before a question for a code: such a
        // portal may open only for a moment.
        case .ask(let prompt, _, _)
        where !hasSent || engine.refusal(on: page) != nil || prompt.fields.contains { $0.kind == .code }: nil
        case .ask(let prompt, _, let reason):
            attempt.opensSoon(prompt, reason, on: page, at: formPage) ? .seconds : .once
        case .request, .render, .probe, .end, .leave: nil
        }
    }

    mutating func settle(_ move: LoginMove, isOpen: Bool) -> LoginMove {
        if isOpen {
            if case .ask = move { end = .opened }
            return .done
        }
        if case .done = move { return attempt.handOverUnsent(on: page, at: formPage) }
        guard case .end(_, let reason) = move, let lastForm else { return move }
        if isTypedNow, lastForm.filled.carriesAnswers {
            (page, formPage, earlierTerms) = (lastForm.page, lastForm.url, terms)
            (engine.pricesAreKnown, end) = (knewPrices, .unjudged)
            return attempt.askAgain(on: page, at: formPage, because: reason)
        }
        // Gives up at the address of the form's page: the address that refused the form may show an empty page.
        return if case .refused(let status) = end { attempt.giveUp(reason, status: status, at: lastForm.url) } else { move }
    }

    // MARK: - The end

    /// Adds the data about forms to the reply after a login.
    func finishLogin(_ reply: inout Reply, in memory: inout SessionMemory) {
        keepWayOut(in: &memory)
        let submitted = lastForm?.filled.request
        memory.openPage = OpenPage(
            page.page, at: formPage, redirects: command.redirects, submitted: submitted?.method == .get ? submitted?.url : nil)
        switch end {
        case .unanswered(let reason): reply.reason = reason
        case .opened: break
        case .open, .refused, .unjudged:
            // The words of the last page are reported if the portal does not open.
            let words = attempt.words(of: page)
            if hasSent, !words.isEmpty { reply.reason = Reply.portalAnswered + words }
        }
        if !attempt.refusedAnswers.isEmpty { reply.refused = attempt.refusedAnswers.sorted() }
        if !attempt.unsent.isEmpty || !hasSent { reply.unsent = attempt.unsent }
        if !attempt.unsent.isEmpty, !hasSent {
            reply.reason = "The portal has no more questions; the answers were not sent."
        }
    }

    /// Adds the data about forms to the reply that asks the user.
    ///
    /// - Parameter form: the form to keep, if its page cannot be fetched again.
    func finishQuestion(_ reply: inout Reply, keeping form: HTMLForm?, in memory: inout SessionMemory) {
        guard var prompt = reply.prompt else { return }
        let names = prompt.fields.map(\.name)
        if attempt.mayOpen(prompt, reply.reason, on: page) {
            prompt.mayOpen = true
            keepWayOut(in: &memory)
        }
        // A kept page has no links, so the prompt names the earlier address of the terms.
        if case .address(let address, _, _)? = earlierTerms, prompt.terms != nil {
            (prompt.terms, prompt.termsURL) = (nil, address.text)
        }
        let sent = engine.answers.sentEver
        (memory.asked, memory.sent) = (names, sent.isEmpty ? nil : sent)
        memory.page = form.map {
            SessionMemory.SavedPage(
                url: formPage.text, base: page.base.text, title: page.title, form: $0,
                others: engine.otherWays(than: $0, on: page, at: formPage), refused: attempt.refused(by: page),
                sentences: page.sentences.reduce(0) { $0 + $1.utf8.count } <= Self.keptSentences ? page.sentences : nil,
                terms: terms?.saved)
        }
        let refused = names.filter(engine.answers.wasSentNow)
        if case .unjudged = end {} else if !refused.isEmpty { reply.refused = refused.sorted() }
        reply.imitates = ImitatedBrand.imitated(by: page, asking: prompt, at: formPage)?.name
        reply.prompt = prompt
    }

    /// The largest part of a page's text that is kept while it asks, in octets.
    private static let keptSentences = 3000

    /// Keeps the way to end the session. Does not keep a page's address that has a query, because a form may have put answers into the query.
    private func keepWayOut(in memory: inout SessionMemory) {
        memory.logoff = attempt.logoff ?? memory.logoff
        memory.statusPage = (formPage.origin == live.origin && formPage.query == nil ? formPage : first).text
    }
}

extension FormAttempt {
    /// Begins an attempt with the data that an earlier command of this login kept.
    package init(_ command: HelperCommand, at live: Portal, after memory: SessionMemory, isTypedNow: Bool) {
        self.init(
            command, at: live, agreed: memory.agreed ?? [], impliedAgreements: memory.impliedAgreements ?? [],
            asked: memory.asked,
            mustAcceptTerms: AcceptedTerms(memory, isTypedNow: isTypedNow).mustBeAccepted, isTypedNow: isTypedNow)
    }
}
