import ForeignText
import HotspotCore

/// One try to log in through pages and forms, as a value: a page goes in, the next move comes out. ``FormLogin`` makes the transfers.
package struct FormAttempt: Sendable {
    /// The next thing to do.
    package enum Move: Sendable {
        /// Submit the form.
        case submit(FilledForm, HTMLForm)
        /// Ask the user. The form is kept if its page cannot be reached again; the reason is given if only a browser can go on.
        case ask(Prompt, keeping: HTMLForm? = nil, reason: String? = nil)
        /// The portal has nothing more to ask; the probe decides.
        case done
        /// Give up, with the reason.
        case end(HelperResult, String)
        /// Send nothing: the page imitates this company.
        case leave(Company)
    }

    /// The most forms that are submitted in one command.
    private static let stepLimit = 5
    private static let samePage = "The portal shows the same page again."
    /// Octets of text below which a page that loads scripts has nothing to say without them.
    private static let bareText = 40

    package var engine: FormEngine
    /// The portal that is logged in to.
    let live: Portal
    /// The portal that asks now; redirects change it.
    private(set) var portal: Portal
    /// The request that logs off, if a page has offered one.
    private(set) var logoff: SessionMemory.SavedRequest?
    /// The agreements that answering the last prompt gives.
    package private(set) var said: [String] = []
    /// The command is about this portal.
    let isSame: Bool
    /// Stored answers were released for this very portal.
    private let hasReleasedAnswers: Bool
    /// Answers were given, for another portal.
    private let isStranger: Bool
    /// A prompt without fields was answered: the login was done in a browser.
    private let isConfirmation: Bool
    /// The names of the answers that were typed now.
    private let typed: Set<String>
    /// Those that no form has sent yet.
    private(set) var unsent: Set<String>
    /// What was sent in this login before this command.
    var earlier: [String: SessionMemory.SentAnswer] = [:]
    /// The names of the fields that the answered prompt had, where they are known.
    let asked: Set<String>?
    private let link: Link
    private var steps = 0
    private var sent: Set<HTMLForm> = []
    /// The names of the fields of each form that was sent.
    private var answered: Set<[String]> = []
    /// Those of the forms that the portal refused, and that were not sent again.
    private var refused: Set<String> = []
    /// The answers that the login was done without, though they were sent, now or before.
    var refusedAnswers: Set<String> {
        refused.intersection(typed).union(refusedBefore.keys)
    }
    /// The answers that the portal refused before this command and that were not sent anew, secrets without their text.
    private var refusedBefore: [String: String] {
        let sent = Set(answered.joined())
        return engine.refused.filter { !sent.contains($0.key) }
    }

    /// Begins a try with the command's answers and its credential, which are for the command's portal and no other.
    ///
    /// - Parameters:
    ///   - agreed: the unusual ways of sending that the user agreed to.
    ///   - said: those that answering the prompt agrees to.
    ///   - asked: the names of the prompt's fields.
    ///   - isTypedNow: the user has just typed the answers, as in PresentUI.
    package init(
        _ command: HelperCommand, at live: Portal, agreed: [String] = [], said: [String] = [], asked: [String]? = nil,
        mustAcceptTerms: Bool = false, isTypedNow: Bool
    ) {
        self.asked = asked.map { Set($0) }
        (self.live, portal, link) = (live, live, command.link)
        isSame = command.isAbout(live)
        hasReleasedAnswers = command.hasAnswers(for: live)
        isStranger = isTypedNow && !isSame && command.portal != nil
        typed = isTypedNow ? Set(command.answers.keys) : []
        unsent = isTypedNow ? Set(command.answered) : []
        isConfirmation = isTypedNow && isSame && command.answers.isEmpty
        let credential = command.credential ?? [:]
        engine = FormEngine(
            redirects: command.redirects, consent: command.consent && isSame && !mustAcceptTerms, isTypedNow: isTypedNow,
            allowsPlainHTTP: isSame && command.credential != nil)
        engine.mask = Mask((Array(credential.values) + command.answers.values).filter { !Field.tickWords.contains($0) })
        engine.agreed = Set(agreed)
        engine.leadsInside = { [link = command.link, scope = command.scope] in link.leadsInside($0, in: scope) }
        guard isSame else { return }
        engine.answers = isTypedNow ? credential.merging(command.answers) { $1 } : credential
        engine.remembered = Set(credential.keys).subtracting(command.answers.keys)
        (engine.labels, engine.expected) = (command.labels, isTypedNow ? [] : Set(command.offered))
        guard isTypedNow else { return }
        engine.confirmed = command.confirmed
        if !command.answers.isEmpty { engine.agreed.formUnion(said) }
        for (name, answer) in command.answers where name.hasPrefix(FormEngine.Unusual.prefix) && FilledForm.isYes(answer) {
            // A price is asked about at each login.
            if name.hasPrefix(FormEngine.priceField) { continue }
            engine.agreed.insert(FormEngine.Unusual.agreement(live.origin, name))
        }
    }

    /// Returns the next move on a page.
    package mutating func move(on page: HTMLPage, at url: WebURL) -> Move {
        let isFirst = steps == 0
        engine.dropRenamed(on: page)
        if isFirst { findLogoff(on: page, at: url) }
        if isFirst, let notice = FormWords.notice(of: page) {
            let isOver = notice.purpose == .offline || notice.purpose == .ended
            return .end(isOver ? .temporaryFailure : .unsupportedNetwork, notice.text + says(page))
        }
        if isFirst, !hasReleasedAnswers, let company = Company.imitated(by: page, at: url) { return .leave(company) }
        let soundsDone = FormWords.soundsLikeSuccess(page)
        switch engine.decide(on: page, at: url) {
        case .nothing where !isFirst:
            if !soundsDone, let refusal = engine.refusal(on: page) {
                // A short page is told whole: its heading says less than what stands below.
                return handOver(page.text.utf8.count <= 200 ? words(of: page) : refusal, at: url)
            }
            return asksOn(page) ? handOver(words(of: page), at: url) : .done
        // Without typed answers it is the portal's own end of a login, such as one in a browser.
        case .nothing where engine.isTypedNow && typed.isEmpty: return .done
        case .nothing: return endWithoutLogin(on: page, at: url)
        case .refuse(let reason):
            // A form that a script shows may be the login of a page that always has a link to log off.
            let hasHidden = page.forms.contains { $0.isInvisible && $0.controls.contains(where: \.isField) }
            let isLive = soundsDone || (isFirst && !hasHidden && (logoff != nil || page.offersLogoff))
            let asksNothing = page.forms.allSatisfy { $0.isInvisible || $0.fields.isEmpty } && !page.hasLooseField
            return (isLive && (!isFirst || asksNothing) && !page.forms.contains(where: \.endsOthers))
                || (isFirst && isConfirmation) ? .done : handOver(reason, at: url)
        case .ask(var prompt, let form):
            // Words of success do not end a login while the page asks for something new, unless it lets the user log off already.
            if soundsDone, !isFirst, form.passwords.isEmpty, !form.endsOthers,
                answered.contains(form.inputs.map(\.name))
                    || (offersLogoff(page, at: url) && !prompt.fields.contains { $0.kind == .code })
            {
                return .done
            }
            if isFirst, isStranger {
                prompt.begin("This is another portal than before; nothing was sent.")
            } else if isFirst, asksForMore(prompt) {
                prompt.begin("The page has changed; nothing was sent.")
            }
            if url.origin != portal.origin, prompt.fields.contains(where: { $0.kind != .checkbox }) {
                prompt.message = [prompt.message, "Your answers go to \(url.origin)."].compactMap(\.self).joined(separator: " ")
            }
            if isFirst {
                let unsent = typed.subtracting(form.inputs.map(\.name))
                if !unsent.isEmpty { prompt.unsent = unsent.sorted() }
            }
            said = engine.said(on: page, at: url)
            return .ask(prompt, keeping: isFirst ? nil : form)
        case .submit(_, let form) where page.forms.contains(form) && form.carriesNothing && FormWords.saysGranted(page):
            // The button leads on to a web site.
            return .done
        case .submit(let filled, let form):
            let names = form.inputs.map(\.name)
            if !names.isEmpty, answered.contains(names) {
                return handOver(engine.refusal(on: page) ?? FormEngine.unexplained, at: url)
            }
            // A button that comes again was pressed, whatever token it has now.
            let wasPressed = { [sent = engine.sentForms] (form: HTMLForm) in form.inputs.isEmpty && sent.contains(form.mark) }
            let isNew = sent.insert(form).inserted && !wasPressed(form)
            guard isNew else {
                // Behind answers a page of the house may lead back until the gateway opens.
                if hasAnswered, form.inputs.isEmpty { return .done }
                // Where a button does not open, such as one for free access that is used up, the page's other way is asked for.
                var rest = page
                rest.forms.removeAll(where: wasPressed)
                if rest.forms.count < page.forms.count, case .ask(var prompt, let form) = engine.decide(on: rest, at: url) {
                    if prompt.message == nil { prompt.message = engine.refusal(on: page) ?? Self.samePage }
                    said = engine.said(on: rest, at: url)
                    return .ask(prompt, keeping: form)
                }
                return handOver(engine.complaint(of: page) ?? Self.samePage, at: url)
            }
            if soundsDone, !isFirst, !filled.staysOnOrigin, form.inputs.isEmpty { return .done }
            guard steps < Self.stepLimit else { return handOver("The portal shows one form after another.", at: url) }
            if asksAgain(page), engine.refusal(on: page) != nil { refused.formUnion(answered.joined()) }
            steps += 1
            answered.insert(names)
            refused.subtract(names)
            noteSent(names + FilledForm.buttons(of: form).map(\.name))
            engine.offerAnswers(of: form)
            engine.offer(earlier)
            engine.textBefore += page.sentences
            engine.sentForms.insert(form.mark)
            engine.pricesAreKnown = false
            return .submit(filled, form)
        }
    }

    /// Returns whether a page behind a form asks for data that only a browser can send. No gateway opens before it has them.
    private func asksOn(_ page: HTMLPage) -> Bool {
        let shown = page.forms.filter { !$0.isInvisible }
        if shown.flatMap(\.submits).count(where: { !$0.isInvisible && FormWords.isLogout($0.words) }) > 1 { return true }
        return !FormWords.soundsLikeSuccess(page) && shown.contains { $0.asks && !$0.isLogoff && !FormWords.isNewsletter($0) }
    }

    /// Returns whether a page has a form with the fields of one that was sent. Buttons alone are not told apart.
    func asksAgain(_ page: HTMLPage) -> Bool {
        page.forms.contains { !$0.inputs.isEmpty && answered.contains($0.inputs.map(\.name)) }
    }

    /// Returns whether the portal shows again what was answered or pressed, without a word.
    private func repeatsItself(_ prompt: Prompt, _ reason: String?) -> Bool {
        reason == Self.samePage || prompt.message?.contains(FormEngine.unexplained) == true
    }

    /// No form was sent.
    var hasSentNothing: Bool { steps == 0 }

    /// A form with something to fill in was sent.
    var hasAnswered: Bool { answered.contains { !$0.isEmpty } }

    /// Returns the answers that the portal has refused, as this page shows: those that it asks for again, and those of before.
    func refused(by page: HTMLPage) -> [String: String] {
        let asked = Set(page.forms.flatMap(\.inputs).map(\.name))
        return refusedBefore.merging(engine.offered.filter { asked.contains($0.key) }) { $1 }
    }

    /// Whether a prompt wants something that the one before, which was answered, did not ask for.
    private func asksForMore(_ prompt: Prompt) -> Bool {
        guard let asked, !typed.isEmpty else { return false }
        return prompt.fields.contains { $0.required && !asked.contains($0.name) }
    }

    /// Notes that a form with these fields is sent, and with it the answers to them and to our own boxes.
    private mutating func noteSent(_ names: [String]) {
        for name in engine.answers.keys
        where names.contains(name) || name == FormEngine.termsField || name.hasPrefix(FormEngine.Unusual.prefix) {
            unsent.remove(name)
        }
    }

    /// Returns the end on a first page that has nothing to fill in or press.
    private func endWithoutLogin(on page: HTMLPage, at url: WebURL) -> Move {
        if page.isTooComplicated { return handOver(HTMLReader.complicatedReason, at: url) }
        if RedirectChain.leadsOut(page, at: url, on: link) || FormWords.soundsLikeSuccess(page) { return .done }
        if page.isTruncated { return handOver("The page is too large, and what was read of it has no form.", at: url) }
        let isRefusal = FormWords.saysRefused(page) || (page.forms.isEmpty && engine.refusal(on: page) != nil)
        let isBare = page.loadsScripts && page.text.utf8.count < Self.bareText && !isRefusal
        if logoff != nil || page.offersLogoff, !page.hasLooseField, !isBare { return .done }
        let waitsForScript = page.links.contains { $0.isInert && FormWords.isOnward($0.text) && !FormWords.leadsBack($0.text) }
        // Terms without a control to accept them are a script's.
        let hasTerms = page.hasScripts && FormWords.bindsReader(page.text)
        // A page that says to go on, and has nothing to press, gets it from its scripts.
        let saysOn = page.loadsScripts && ([page.title ?? ""] + page.headings).contains(where: FormWords.isOnward)
        let isElsewhere = FormWords.offersSocialLogin(page) || FormWords.asksToScan(page)
        let leadsOn = page.links.contains { self.leadsOn($0, from: page, at: url) }
        if page.isScripted || waitsForScript || isBare || hasTerms || (!isRefusal && (isElsewhere || leadsOn || saysOn)) {
            return handOver("This page needs a browser.", at: url)
        }
        let words = says(page)
        if words.isEmpty { return handOver("The portal's page is empty.", at: url) }
        return .end(.temporaryFailure, "hotspotd sees no login on the portal's page; hotspotctl browse opens it." + words)
    }

    /// Returns whether a link seems to go on: its words say so, or it leads from the place of the probe's page to another host.
    private func leadsOn(_ hyperlink: HTMLPage.Hyperlink, from page: HTMLPage, at url: WebURL) -> Bool {
        guard !FormWords.leadsBack(hyperlink.text), !FormWords.declines(hyperlink.text),
            let target = WebURL(hyperlink.reference, relativeTo: page.base)
        else { return false }
        let isInPlace = RedirectChain.outsideHosts(of: link).contains(url.host) && target.host != url.host
        return isInPlace || (FormWords.isOnward(hyperlink.text) && !hyperlink.text.contains("://"))
    }

    /// Returns the beginning of the page's words, without the answers that it repeats.
    func words(of page: HTMLPage) -> String { Printable.text(engine.mask.apply(FormWords.summary(of: page)), limit: 200) }

    /// Returns the page's own words behind a sentence of ours.
    private func says(_ page: HTMLPage) -> String {
        let words = words(of: page)
        return words.isEmpty ? "" : " It says: \(words)"
    }

    /// Notes where a form has led. Returns the last move, or `nil` if the login goes on with the chain's page.
    mutating func arrive(_ chain: RedirectChain, kind: String) -> Move? {
        if chain.leftPortal { return .done }
        let (page, url) = (chain.page, chain.final.url)
        if url.origin != portal.origin {
            engine.answers = [:]
            // One that answers are sent to with the user's yes refuses them for the portal that asked.
            if !(asksAgain(page) && sendsAnswers(to: url)) {
                // Another portal asks now; the answers are not for it.
                portal = Portal(origin: url.origin, pin: chain.final.pin, kind: kind, title: page.title)
                (engine.offered, earlier) = ([:], [:])
            }
        }
        findLogoff(on: page, at: url)
        guard isRefusal(chain), case .nothing = FormChoice(page, at: url) else { return nil }
        return .end(.temporaryFailure, "The portal answered with status \(chain.final.status)." + says(page))
    }

    /// Returns whether a portal's answer to a form is a failure by its status. The page behind an accepted form may be missing, as long as
    /// the portal does not say that it refuses; some report success with any status.
    private func isRefusal(_ chain: RedirectChain) -> Bool {
        let status = chain.final.status
        guard status >= 400, !FormWords.soundsLikeSuccess(chain.page) else { return false }
        return chain.hops.count == 1 || status >= 500 || status == 403
    }

    /// Returns the next move where a portal refused a form without answers by its status. An address that does not take the form will not take
    /// it later either; a token may be fresh then, and a server well.
    func giveUp(_ reason: String, status: Int, at url: WebURL) -> Move {
        status >= 500 || [401, 403, 408, 419, 429].contains(status)
            ? .end(.temporaryFailure, reason) : handOver(reason, at: url)
    }

    /// Whether the user agreed that the portal's form goes to this origin.
    private func sendsAnswers(to target: WebURL) -> Bool {
        guard let page = WebURL(portal.origin + "/") else { return false }
        return FormEngine.Unusual.allCases.contains { engine.agreed.contains($0.agreement(on: page, to: target)) }
    }

    /// Returns the next move where the answers of a moment ago were sent from this page, and nothing came of it: they are offered again.
    mutating func askAgain(on page: HTMLPage, at url: WebURL, because reason: String) -> Move {
        guard url.origin == portal.origin, case .ask(var prompt, let form, _) = move(on: page, at: url) else {
            return .end(.temporaryFailure, reason)
        }
        // A portal's words may have no end of a sentence.
        let end = reason.last.map { ".!?…。".contains($0) } ?? true ? " " : ". "
        prompt.message = prompt.message?.replacing(FormEngine.unexplained, with: reason + end + FormEngine.wayOut)
        return .ask(prompt, keeping: form)
    }

    /// Returns the last move after a form whose transfer failed.
    func fail(_ error: TransferError) -> Move {
        // Some portals redirect in circles after the login until the gateway has opened.
        if steps > 1, error.code == .refusedURL || error.code == .tooManyRedirects { return .done }
        if error.code == .tlsFailed, let page = WebURL(portal.origin + "/") {
            return .ask(.unproven(error, page: page), reason: error.description)
        }
        return .end(.temporaryFailure, error.description)
    }

    /// Returns the next move after a form whose target has another key than before.
    mutating func askAgain(about target: WebURL, on page: HTMLPage, at url: WebURL) -> Move {
        engine.forgetAgreements(for: target)
        let next = move(on: page, at: url)
        guard case .ask(var prompt, let form, let reason) = next else { return next }
        prompt.begin(keyChanged: target)
        return .ask(prompt, keeping: form, reason: reason)
    }

    private func offersLogoff(_ page: HTMLPage, at url: WebURL) -> Bool {
        page.offersLogoff || PortalLogoff.find(on: page, at: url, of: live.origin, redirects: engine.redirects) != nil
    }

    /// Returns whether a network that opens while this question stands was opened by what was sent before: the portal shows the same again
    /// without a word against it, or asks for something else. One that wants a code may be open for a moment only.
    func mayOpen(_ prompt: Prompt, _ reason: String?, on page: HTMLPage) -> Bool {
        guard !hasSentNothing, !prompt.fields.contains(where: { $0.kind == .code }) else { return false }
        return repeatsItself(prompt, reason) || (reason == nil && engine.refusal(on: page) == nil && !asksAgain(page))
    }

    /// Returns whether the network is likely to open within seconds in place of the question.
    func opensSoon(_ prompt: Prompt, _ reason: String?, on page: HTMLPage, at url: WebURL) -> Bool {
        mayOpen(prompt, reason, on: page)
            && (repeatsItself(prompt, reason) || FormWords.soundsLikeSuccess(page) || offersLogoff(page, at: url))
    }

    /// Looks for a request that logs off; that of another origin does not replace the portal's own.
    private mutating func findLogoff(on page: HTMLPage, at url: WebURL) {
        guard logoff == nil || url.origin == live.origin else { return }
        logoff = PortalLogoff.find(on: page, at: url, of: live.origin, redirects: engine.redirects) ?? logoff
    }

    /// Returns the move where a page looks like the end of a login, nothing was sent, and the network is not open: waiting opens nothing.
    func handOverUnsent(on page: HTMLPage, at url: WebURL) -> Move {
        let reason = "The portal asks for nothing, and the network is not open." + says(page)
        guard !unsent.isEmpty, case .ask(var prompt, let form, _) = handOver(reason, at: url) else {
            return handOver(reason, at: url)
        }
        prompt.unsent = unsent.sorted()
        return .ask(prompt, keeping: form, reason: reason)
    }

    /// Asks the user to go on in a browser; the probe shows later whether that was done.
    private func handOver(_ reason: String, at url: WebURL) -> Move {
        .ask(.handOver(reason, title: portal.title ?? url.host, page: url), reason: reason)
    }
}

extension Prompt {
    /// Puts a sentence before the message.
    package mutating func begin(_ sentence: String) { message = sentence + (message.map { " " + $0 } ?? "") }

    /// Says why the user is asked anew about an origin that the answers went to before.
    package mutating func begin(keyChanged target: WebURL) {
        begin("\(target.origin) has another key than before; nothing was sent.")
    }

    /// Returns the hand-over of a page without a trusted certificate: many gateways sign theirs themselves. A browser shows the
    /// certificate, and the user decides.
    static func unproven(_ error: TransferError, page: WebURL) -> Prompt {
        handOver("\(error) Type no password there that you use elsewhere.", title: page.host, page: page)
    }

    /// Returns a prompt without fields that sends the user to a browser. The page's address is named without what looks like a guest's name
    /// or a session, because other people may read the prompt.
    package static func handOver(_ reason: String, title: String, page: WebURL) -> Prompt {
        // The portal's words may have no end of a sentence.
        let end = reason.last.map { ".!?…。".contains($0) } ?? true ? "" : "."
        return Prompt(
            title: title,
            message: "\(reason)\(end) A login in a browser on this network counts as one here. "
                + "The page: \(page.shown)")
    }
}
