import ForeignText
import HelperKit
import HotspotCore

/// One attempt to log in through pages and forms, as a value: takes a page and returns the next move. ``LoginDriver`` runs the loop.
package struct FormAttempt: Sendable {
    static let samePage = "The portal shows the same page again."

    package var engine: FormEngine
    /// The portal of the login.
    let live: Portal
    /// The portal that asks at present; redirects change it.
    private(set) var portal: Portal
    /// The request that logs off, if a page has offered one.
    private(set) var logoff: SessionMemory.SavedRequest?
    /// The agreements that an answer to the last prompt implies.
    package private(set) var impliedAgreements: [String] = []
    /// Whether the command is about this portal.
    let isSame: Bool
    /// Whether stored answers were released for this portal.
    private let hasReleasedAnswers: Bool
    /// Whether the answers were given for another portal.
    private let isStranger: Bool
    /// Whether the user has just confirmed a prompt without fields, after a login in a browser.
    let isConfirmation: Bool
    /// The names of the answers that the user has just typed.
    let typed: Set<String>
    /// The names of the answered prompt's fields, if they are known.
    let asked: Set<String>?
    let link: Link
    /// The command's scope, whose trace names the rule of each move.
    private let scope: Scope
    /// The rule that made the last move.
    package private(set) var rule: RuleName?
    private(set) var steps = 0
    private var sent: Set<HTMLForm> = []
    /// The names of the fields of each form that was sent.
    private var answered: Set<[String]> = []
    /// The names of the answers that no form has sent.
    var unsent: [String] { engine.answers.unsent }
    /// The names of the answers that the portal refused, in this command or before.
    var refusedAnswers: Set<String> { engine.answers.refused(of: typed) }

    /// Begins an attempt with the command's answers and its credential, which are only for the command's portal.
    ///
    /// - Parameters: - agreed: the unusual ways of sending to which the user agreed. - impliedAgreements: the agreements that an answer to the prompt
    ///   implies. - asked: the names of the prompt's fields. - isTypedNow: whether the user has just typed the answers, as in PresentUI.
    package init(
        _ command: HelperCommand, at live: Portal, agreed: [String] = [], impliedAgreements: [String] = [],
        asked: [String]? = nil,
        mustAcceptTerms: Bool = false, isTypedNow: Bool
    ) {
        self.asked = asked.map { Set($0) }
        (self.live, portal, link, scope) = (live, live, command.link, command.scope)
        isSame = command.isAbout(live)
        hasReleasedAnswers = command.hasAnswers(for: live)
        isStranger = isTypedNow && !isSame && command.portal != nil
        typed = isTypedNow ? Set(command.answers.keys) : []
        isConfirmation = isTypedNow && isSame && command.answers.isEmpty
        let credential = command.credential ?? [:]
        engine = FormEngine(
            redirects: command.redirects, consent: command.consent && isSame && !mustAcceptTerms, isTypedNow: isTypedNow,
            allowsPlainHTTP: isSame && command.credential != nil)
        engine.mask = Mask((Array(credential.values) + command.answers.values).filter { !Field.tickWords.contains($0) })
        engine.agreed = Set(agreed)
        engine.leadsInside = { [link = command.link, scope = command.scope] in link.leadsInside($0, in: scope) }
        if isSame { addAnswers(of: command) }
        if isTypedNow { engine.answers.give(command.answered) }
        guard isSame, isTypedNow else { return }
        if !command.answers.isEmpty { engine.agreed.formUnion(impliedAgreements) }
        for (name, answer) in command.answers where name.hasPrefix(ConsentRequired.prefix) && FilledForm.isYes(answer) {
            // Consent to a price is not kept: the user is asked about a price at each login.
            if name.hasPrefix(PriceMention.field) { continue }
            engine.agreed.insert(ConsentRequired.agreement(live.origin, name))
        }
    }

    private mutating func addAnswers(of command: HelperCommand) {
        engine.answers = FormAnswers(command.credential ?? [:], source: .stored)
        engine.answers.setStoredLabels(command.labels)
        guard engine.isTypedNow else { return engine.answers.awaitConfirmation(of: command.offered) }
        for (name, answer) in command.answers { engine.answers[name] = answer }
        engine.answers.setSource(.typed, of: command.answers.keys)
        engine.answers.setSource(.confirmed, of: command.confirmed.filter { command.answers[$0] != nil })
    }

    /// Returns the next move on a page.
    package mutating func move(on page: HTMLPage, at url: WebURL) -> LoginMove { move(on: TypedPage(page), at: url) }

    mutating func move(on page: TypedPage, at url: WebURL) -> LoginMove {
        engine.dropRenamed(on: page.page)
        if hasSentNothing {
            findLogoff(on: page, at: url)
            let first = FirstPageCase(page, at: url, isKnown: hasReleasedAnswers).ruled
            switch first.ruling {
            case .portal: break
            case .imitation(let company):
                note(first.rule)
                return .leave(company)
            case .none(let result, let reason):
                note(first.rule)
                return .end(result, reason + says(page))
            }
        }
        let ruled = MoveCase.ruled(self, on: page, at: url)
        note(ruled.rule)
        let move = carryOut(ruled.ruling, on: page, at: url)
        return ruled.rule.needsScripts ? .render(because: ruled.rule, orElse: move) : move
    }

    private mutating func carryOut(_ ruling: MoveRuling, on page: TypedPage, at url: WebURL) -> LoginMove {
        switch ruling {
        case .done: return .done
        case .end(let result, let reason): return .end(result, reason)
        case .handOver(let reason): return handOver(reason, at: url)
        case .ask(let prompt, let form, let page): return ask(prompt, form, on: page, at: url)
        case .send(let filled, let form):
            noteSent(form, on: page)
            return .submit(filled, form)
        }
    }

    private mutating func note(_ rule: RuleName) {
        self.rule = rule
        scope.trace.add("page rule \(rule)")
    }

    private mutating func ask(_ prompt: Prompt, _ form: HTMLForm, on page: TypedPage, at url: WebURL) -> LoginMove {
        var prompt = prompt
        if hasSentNothing {
            if isStranger {
                prompt.begin("This is not the same portal as before, so nothing was sent.")
            } else if asksForMore(prompt) {
                prompt.begin("The page has changed, so nothing was sent.")
            }
            let unsent = typed.subtracting(form.inputs.map(\.answerName))
            if !unsent.isEmpty { prompt.unsent = unsent.sorted() }
        }
        if url.origin != portal.origin, prompt.fields.contains(where: { $0.kind != .checkbox }) {
            prompt.message = [prompt.message, "Your answers go to \(url.origin)."].compactMap(\.self).joined(separator: " ")
        }
        impliedAgreements = engine.impliedAgreements(on: page, at: url)
        return .ask(prompt, keeping: hasSentNothing ? nil : form)
    }

    /// Notes that a form is sent, with the answers to its fields and to hotspotd's own boxes.
    private mutating func noteSent(_ form: HTMLForm, on page: TypedPage) {
        let names = form.inputs.map(\.answerName)
        let buttons = page.forms.first { $0.form == form }?.choices.map(\.name) ?? []
        if asksAgain(page), engine.refusal(on: page) != nil { engine.answers.noteRefused(answered.joined()) }
        steps += 1
        sent.insert(form)
        answered.insert(names)
        let ours = engine.answers.values.keys.filter { $0 == FormEngine.termsField || $0.hasPrefix(ConsentRequired.prefix) }
        engine.answers.noteSent(names + buttons + ours)
        engine.offerAnswers(of: form)
        engine.answers.offerEarlier()
        engine.textBefore += page.page.sentences
        engine.sentForms.insert(form.identity)
        engine.pricesAreKnown = false
    }

    /// Returns whether a form with the same fields was sent.
    func hasAnswered(_ form: HTMLForm) -> Bool { answered.contains(form.inputs.map(\.answerName)) }

    /// Returns whether this form was sent.
    func hasSent(_ form: HTMLForm) -> Bool { sent.contains(form) || wasPressed(form) }

    /// Returns whether this form is only a button that was already pressed, even if its token has changed.
    func wasPressed(_ form: HTMLForm) -> Bool { form.inputs.isEmpty && engine.sentForms.contains(form.identity) }

    /// Returns whether a page has a form with the same fields as a form that was sent. Forms with only buttons look alike and do not count.
    func asksAgain(_ page: TypedPage) -> Bool {
        page.forms.contains { !$0.inputs.isEmpty && answered.contains($0.inputs.map(\.answerName)) }
    }

    /// Returns whether the portal shows an answered or pressed form again, without an error.
    private func repeatsItself(_ prompt: Prompt, _ reason: String?) -> Bool {
        reason == Self.samePage || prompt.message?.contains(FormEngine.unexplained) == true
    }

    /// Whether no form was sent.
    var hasSentNothing: Bool { steps == 0 }

    /// Whether a form with something to fill in was sent.
    var hasAnswered: Bool { answered.contains { !$0.isEmpty } }

    /// Returns the answers that the portal has refused, according to this page: answers for which the page asks again, and answers that were refused
    /// before.
    func refused(by page: TypedPage) -> [String: String] {
        let asked = Set(page.forms.flatMap(\.inputs).map(\.answerName))
        let offered = engine.answers.sent.filter { asked.contains($0.key) }.mapValues(\.value)
        return engine.answers.refusedBefore.merging(offered) { $1 }
    }

    /// Returns whether a prompt has a question that the answered prompt did not have.
    private func asksForMore(_ prompt: Prompt) -> Bool {
        guard let asked, !typed.isEmpty else { return false }
        return prompt.fields.contains { $0.required && !asked.contains($0.name) }
    }

    /// Returns the beginning of the page's words, without the answers that the page repeats.
    func words(of page: TypedPage) -> String { Printable.text(engine.mask.apply(page.summary), limit: 200) }

    /// Returns the page's own words, to follow a sentence of hotspotd.
    func says(_ page: TypedPage) -> String {
        let words = words(of: page)
        return words.isEmpty ? "" : " It says: \(words)"
    }

    /// Notes the page to which a form has led. Returns the last move, or `nil` if the login continues with that page.
    mutating func arrive(_ chain: RedirectChain, on page: TypedPage, kind: String) -> LoginMove? {
        if chain.leftPortal { return .done }
        let url = chain.final.url
        if url.origin != portal.origin {
            engine.answers.dropValues()
            // If a host that received the answers with the user's consent asks again, it acts for the portal that asked, so the portal stays.
            if !(asksAgain(page) && sendsAnswers(to: url)) {
                // Another portal asks now, for which the answers are not meant.
                portal = Portal(origin: url.origin, pin: chain.final.pin, kind: kind, title: page.title)
                engine.answers.forgetSent()
            }
        }
        findLogoff(on: page, at: url)
        guard isRefusal(chain, page), case .nothing = ChoiceCase(page, at: url).choice.ruling else { return nil }
        return .end(.temporaryFailure, "The portal answered with status \(chain.final.status)." + says(page))
    }

    /// Returns whether the status of the answer to a form reports a failure. After a redirect, a 4xx status other than 403 may only mean that the
    /// page behind an accepted form is missing. Some portals report success with any status.
    private func isRefusal(_ chain: RedirectChain, _ page: TypedPage) -> Bool {
        let status = chain.final.status
        guard status >= 400, !page.soundsLikeSuccess else { return false }
        return chain.hops.count == 1 || status >= 500 || status == 403
    }

    /// Returns the next move after a form without newly typed answers got an error status. If a fresh token or the server's recovery may help, the
    /// login is tried again later; otherwise only a browser can continue.
    func giveUp(_ reason: String, status: Int, at url: WebURL) -> LoginMove {
        status >= 500 || [401, 403, 408, 419, 429].contains(status)
            ? .end(.temporaryFailure, reason) : handOver(reason, at: url)
    }

    /// Returns whether the user agreed that the portal's form sends the answers to this origin.
    private func sendsAnswers(to target: WebURL) -> Bool {
        guard let page = WebURL(portal.origin + "/") else { return false }
        return ConsentRequired.allCases.contains { engine.agreed.contains($0.agreement(on: page, to: target)) }
    }

    /// Returns the prompt of this page again, so that the user can change the answers that were just sent without effect.
    mutating func askAgain(on page: TypedPage, at url: WebURL, because reason: String) -> LoginMove {
        guard url.origin == portal.origin, case .ask(var prompt, let form, _) = move(on: page, at: url) else {
            return .end(.temporaryFailure, reason)
        }
        // A portal's words may lack a full stop.
        let end = reason.last.map { ".!?…。".contains($0) } ?? true ? " " : ". "
        prompt.message = prompt.message?.replacing(FormEngine.unexplained, with: reason + end + FormEngine.wayOut)
        return .ask(prompt, keeping: form)
    }

    /// Returns the last move after the request of a form on this page failed.
    func fail(_ error: TransferError, at url: WebURL) -> LoginMove {
        // Some portals redirect in circles after the login until the gateway has opened.
        if steps > 1, error.code == .refusedURL || error.code == .tooManyRedirects { return .done }
        if [.tlsFailed, .clockWrong].contains(error.code), let page = WebURL(portal.origin + "/") {
            return .ask(.unproven(error, page: page), reason: error.description)
        }
        // A page that ends hotspotd's browser may work in the user's own browser, which has more memory.
        if error.code == .browserEnded { return handOver(error.description, at: url) }
        return .end(.temporaryFailure, error.description)
    }

    func offersLogoff(_ page: TypedPage, at url: WebURL) -> Bool {
        page.offersLogoff || PortalLogoff.find(on: page, at: url, of: live.origin, redirects: engine.redirects) != nil
    }

    /// Returns whether the answers sent so far may open the network while this question waits: the portal shows the same page without an error, or
    /// asks other questions. A question for a code does not count, because such a portal may open only for a moment.
    func mayOpen(_ prompt: Prompt, _ reason: String?, on page: TypedPage) -> Bool {
        guard !hasSentNothing, !prompt.fields.contains(where: { $0.kind == .code }) else { return false }
        return repeatsItself(prompt, reason) || (reason == nil && engine.refusal(on: page) == nil && !asksAgain(page))
    }

    /// Returns whether the network is likely to open within seconds, so that the question need not be asked.
    func opensSoon(_ prompt: Prompt, _ reason: String?, on page: TypedPage, at url: WebURL) -> Bool {
        mayOpen(prompt, reason, on: page)
            && (repeatsItself(prompt, reason) || page.soundsLikeSuccess || offersLogoff(page, at: url))
    }

    /// Finds a request that logs off. A page of another origin does not replace a request that was already found.
    private mutating func findLogoff(on page: TypedPage, at url: WebURL) {
        guard logoff == nil || url.origin == live.origin else { return }
        logoff = PortalLogoff.find(on: page, at: url, of: live.origin, redirects: engine.redirects) ?? logoff
    }

    /// Returns the move if a page looks like the end of a login, but nothing was sent and the network is not open: waiting would not help.
    func handOverUnsent(on page: TypedPage, at url: WebURL) -> LoginMove {
        let reason = "The portal's page has no questions, but the network is not open." + says(page)
        guard !unsent.isEmpty, case .ask(var prompt, let form, _) = handOver(reason, at: url) else {
            return handOver(reason, at: url)
        }
        prompt.unsent = unsent
        return .ask(prompt, keeping: form, reason: reason)
    }

    /// Asks the user to continue in a browser; a later probe shows whether the login succeeded there.
    private func handOver(_ reason: String, at url: WebURL) -> LoginMove {
        .ask(.handOver(reason, title: portal.title ?? url.host, page: url), reason: reason)
    }
}

extension Prompt {
    /// Puts a sentence before the message.
    package mutating func begin(_ sentence: String) { message = sentence + (message.map { " " + $0 } ?? "") }

    /// Says why the user is asked again about an origin that already received the answers.
    package mutating func begin(keyChanged target: WebURL) {
        begin("The key of \(target.origin) has changed, so nothing was sent.")
    }

    /// Returns the hand-over of a page without a trusted certificate, because many gateways sign their certificates themselves. A browser shows the
    /// certificate, and the user decides.
    static func unproven(_ error: TransferError, page: WebURL) -> Prompt {
        handOver("\(error) Do not type a password there that you use elsewhere.", title: page.host, page: page)
    }

    /// Returns a prompt without fields that sends the user to a browser. Other people may read the prompt, so parts of the page's address that look
    /// like a guest's name or a session are left out.
    package static func handOver(_ reason: String, title: String, page: WebURL) -> Prompt {
        // The portal's words may lack a full stop.
        let end = reason.last.map { ".!?…。".contains($0) } ?? true ? "" : "."
        return Prompt(
            title: title,
            message: "\(reason)\(end) You can also log in with your own browser; hotspotd will notice. "
                + "The page: \(page.shown)")
    }
}
