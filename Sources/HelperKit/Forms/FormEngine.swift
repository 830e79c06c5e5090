import ForeignText
import HotspotCore

/// Decides what to do on a page: submit its form, ask the user, or give up. A value that neither fetches nor sends.
package struct FormEngine: Sendable {
    /// The thing to do on a page.
    package enum FormDecision: Sendable {
        /// Submit the form.
        case submit(FilledForm, HTMLForm)
        /// Ask the user for what the form needs.
        case ask(Prompt, HTMLForm)
        /// The page has no form that could be a login.
        case nothing
        /// The form must not be submitted, with the reason.
        case refuse(String)
    }

    /// A way of sending that only the user can agree to, for one origin of a page and one that it leads to.
    package enum Unusual: String, CaseIterable {
        /// The page leads from another origin to an address of the link's own networks, which is how web pages attack routers.
        case leadsInside = "send"
        /// A password, or the number of a document, would be a part of an address over plain HTTP.
        case passwordInAddress = "password-in-address"
        /// The page sends the answers to another origin. The prompt says so, and answering it agrees; the other ways have a box.
        case answersElsewhere = "answers"

        /// The beginning of the names of the boxes that agree.
        package static let prefix = "agree:"

        package func box(for target: WebURL) -> Field {
            let label =
                switch self {
                case .leadsInside: "Send this to \(target.origin), a device within this network"
                case .passwordInAddress: "Put the answers into an address of \(target.origin), which others nearby can read"
                case .answersElsewhere: "Your answers go to \(target.origin)"
                }
            return Field(name: "\(Self.prefix)\(rawValue):\(target.origin)", label: label, kind: .checkbox, required: true)
        }

        package func agreement(on page: WebURL, to target: WebURL) -> String {
            Self.agreement(page.origin, box(for: target).name)
        }

        /// Returns the text that remembers an answered box.
        package static func agreement(_ origin: String, _ box: String) -> String { "\(origin) \(box)" }
    }

    /// The sentence about answers that were sent, where the page has no word of them.
    static let unexplained = "The portal asks for the same again, and does not say why. " + wayOut
    /// The sentence of a question that comes again, and may come for ever.
    static let wayOut = "hotspotctl browse opens the page in a browser."
    /// The name of the prompt's box for terms where the page has no box of its own.
    package static let termsField = "accept_terms"
    /// The beginning of the name of the box for a price that the page mentions.
    static let priceField = Unusual.prefix + "price:"
    /// The longest value that a prompt can offer, and the longest answer that is sent, in octets.
    static let (offerLimit, answerLimit) = (200, 8192)

    package var redirects = RedirectPolicy()
    /// The answers, by name of the control.
    package var answers: [String: String] = [:]
    /// The names of answers that are stored, and that the user has to confirm.
    package var expected: Set<String> = []
    /// The user accepted this portal's terms earlier, or the daemon's policy accepts them.
    package var consent = false
    /// The user has just typed the answers for this portal; they are not stored ones.
    package var isTypedNow = false
    /// The names of answers that come from the vault nevertheless: they fill fields, but accept no terms.
    package var remembered: Set<String> = []
    /// The names of the answers that the user confirmed as they were stored.
    package var confirmed: Set<String> = []
    /// What the portal called the fields of stored answers, where that is known.
    package var labels: [String: String] = [:]
    /// Hides the answers that the page's error messages repeat.
    package var mask = Mask([])
    /// Stored passwords may be sent over plain HTTP, because the daemon released them for this portal.
    package var allowsPlainHTTP = false
    /// Answers that were sent already: they are offered to the user, and not sent again without.
    package var offered: [String: String] = [:]
    /// What the portal called the fields of those.
    var offeredLabels: [String: String] = [:]
    /// The names of those that were sent in this command.
    var offeredNow: Set<String> = []
    /// The page is one that is kept, and had no price beside its form when it was read whole.
    var pricesAreKnown = false
    /// The text of the pages of which forms and buttons were sent, piece by piece, as far as it is known.
    var textBefore: [String] = []
    /// The marks of these forms.
    var sentForms: Set<[String]> = []
    /// Answers that the portal refused before it asked the user this time, secrets without their text.
    package var refused: [String: String] = [:]
    /// The unusual ways of sending that the user agreed to.
    package var agreed: Set<String> = []
    /// Whether a URL leads to an address of the link's own networks.
    package var leadsInside: @Sendable (WebURL) -> Bool = { _ in false }

    /// The user has just ticked the prompt's own box for terms.
    var saysYesToTerms: Bool {
        isTypedNow && !remembered.contains(Self.termsField) && answers[Self.termsField].map(FilledForm.isYes) ?? false
    }

    /// Decides what to do on a page.
    package func decide(on page: HTMLPage, at url: WebURL) -> FormDecision {
        switch choice(page, at: url) {
        case .nothing: .nothing
        case .refuse(let reason): .refuse(reason)
        case .options(let options) where options.contains { givesAway($0.form, on: page) }:
            .refuse("The page would put an e-mail address and its password into an unencrypted address.")
        case .options(let options): decide(options, on: page, at: url)
        }
    }

    /// Whether a form sends an e-mail address and a password for all to read: no gateway's account is known by it.
    private func givesAway(_ form: HTMLForm, on page: HTMLPage) -> Bool {
        form.method == .get && !form.passwords.isEmpty && form.fields.contains { Self.kind(of: $0) == .email }
            && WebURL(form.action, relativeTo: page.base)?.isSecure != true
    }

    private func decide(_ found: [LoginOption], on page: HTMLPage, at url: WebURL) -> FormDecision {
        // Where the user is asked for the terms of a button, the page's login is a way too.
        let others = found.count == 1 && !isTypedNow && !consent && isBinding(found[0].form, page) ? found[0].others : []
        let options = others + found
        let picked = pick(options)
        let form = picked.option.form
        let termsHere = isBinding(form, page)
        // Fields of the ways that were not picked are sent as the page fills them.
        let unpicked = Set(options.flatMap(\.names)).subtracting(picked.option.names)
        let valid = validAnswers(for: form).filter { !picked.isFilled || !unpicked.contains($0.key) }
        let faults = form.inputs.compactMap { control in
            valid[control.name].flatMap { Self.fault(in: $0, for: control) }.map { (control.name, $0) }
        }
        var answers = valid.filter { answer in !faults.contains { $0.0 == answer.key } }
        if picked.isFilled, !picked.option.names.isEmpty, picked.option.names.allSatisfy({ answers[$0] != nil }) {
            // A box that was ticked for the way before this one stands in both.
            let ticks = form.inputs.filter { $0.kind == .checkbox && answers[$0.name] == nil && offeredNow.contains($0.name) }
            for tick in ticks { answers[tick.name] = offered[tick.name] }
        }
        let consent = consent || saysYesToTerms
        let typed = isTypedNow ? answers.filter { !remembered.contains($0.key) } : [:]
        // Where nothing to type is a way too, Enter must be able to say it.
        let mayStayEmpty = !picked.isFilled && options.contains(where: \.names.isEmpty)
        var fields = fields(
            of: picked.isFilled ? [picked.option] : options, consent: consent,
            values: mayStayEmpty ? [:] : typed.merging(offered) { $1 }
        ).filter { !picked.isFilled || !unpicked.contains($0.name) }
        let hasTermsBox = form.inputs.contains {
            ($0.kind == .checkbox || $0.kind == .radio) && FormWords.isTerms($0.words) && !FormWords.agreesToMore($0.words)
        }
        if termsHere, !hasTermsBox, !consent {
            fields.append(Field(name: Self.termsField, label: "I accept the terms of use", kind: .checkbox, required: true))
        }
        let beside = pricesAreKnown ? nil : PriceMention(beside: form, on: page).box
        if let box = PriceMention(of: form, on: page).box ?? beside { fields.append(box) }
        let filled: FilledForm
        do throws(TransferError) {
            filled = try FilledForm(form, on: page, at: url, answers: answers, consent: consent, redirects: redirects)
        } catch {
            return .refuse(error.description)
        }
        let open = unusual(filled, form, at: url)
        fields += open.filter { $0 != .answersElsewhere }.map { $0.box(for: filled.target) }
        let isOpen = fields.contains { field in
            guard field.required else { return false }
            guard let answer = answers[field.name] else { return true }
            return field.kind == .checkbox ? !FilledForm.isYes(answer) : answer.isEmpty && !field.mayBeEmpty
        }
        let isPlain = !(url.isSecure && filled.target.isSecure)
        // The daemon released them for the page's origin, which does not cover an unencrypted action of an encrypted page.
        let isCovered = allowsPlainHTTP && !(url.isSecure && !filled.target.isSecure)
        let needsUser = filled.carriesPassword && isPlain && !isTypedNow && !isCovered
        guard isOpen || !picked.isFilled || needsUser || open.contains(.answersElsewhere) || !faults.isEmpty else {
            return .submit(filled, form)
        }
        let fault =
            faults.first?.1
            ?? (options.count > 1 && !hasSent(fields)
                ? missing(of: picked.isFilled ? [picked.option] : options, in: typed, fields) : nil)
        return .ask(prompt(fields, options, page, url, filled, fault), form)
    }

    /// Returns which answer a way of several lacks that the user has begun to fill in; `nil` if there is none.
    private func missing(of options: [LoginOption], in typed: [String: String], _ fields: [Field]) -> String? {
        func isTyped(_ name: String) -> Bool { typed[name]?.isEmpty == false }
        guard let begun = options.first(where: { $0.names.contains(where: isTyped) }),
            let name = begun.names.first(where: { !isTyped($0) })
                ?? fields.first(where: { $0.kind == .checkbox && $0.required && !FilledForm.isYes(typed[$0.name] ?? "") })?.name
        else { return nil }
        return "\"\(label(of: name, in: begun.form))\" was not given; nothing was sent."
    }

    /// Returns the way to log in that the answers are for, and whether they fill it in; a single way is judged field by field.
    func pick(_ options: [LoginOption]) -> (option: LoginOption, isFilled: Bool) {
        guard options.count > 1 else { return (options[0], true) }
        let complete = options.filter { !$0.names.isEmpty && $0.names.allSatisfy { answers[$0]?.isEmpty == false } }
        // What was typed now goes before what is stored, and the way that was tried before is taken only where nothing else is filled in.
        let untried = complete.filter { $0.names.contains { answers[$0] != refused[$0] } }
        let typed = untried.first { isTypedNow && !remembered.union(confirmed).isSuperset(of: $0.names) }
        // Where what was typed is refused, what is stored is not sent in its place: the user reads the refusal first.
        let isRefused = isTypedNow && options.flatMap(\.names).contains(where: offeredNow.contains)
        let filled = typed ?? (isRefused ? nil : untried.first ?? complete.first)
        // With nothing typed the user has picked the way that asks for nothing.
        let isEmpty = isTypedNow && offered.isEmpty && options.flatMap(\.names).allSatisfy { answers[$0]?.isEmpty ?? true }
        if filled == nil, isEmpty, let free = options.first(where: \.names.isEmpty) { return (free, true) }
        return (filled ?? options[0], filled != nil)
    }

    /// Returns the ways to log in that a page offers; none if it has none, or one that must not be sent.
    private func ways(on page: HTMLPage, at url: WebURL) -> [LoginOption] {
        if case .options(let options) = choice(page, at: url) { options } else { [] }
    }

    private func choice(_ page: HTMLPage, at url: WebURL) -> FormChoice {
        FormChoice(
            page, at: url, answered: expected.union(answers.keys), refused: Set(offered.keys),
            behind: sentForms.isEmpty ? nil : sentForms)
    }

    /// Returns the forms of the other ways to log in; `nil` if there are none.
    func otherWays(than form: HTMLForm, on page: HTMLPage, at url: WebURL) -> [HTMLForm]? {
        let others = ways(on: page, at: url).map(\.form).filter { $0 != form }
        return others.isEmpty ? nil : others
    }

    /// Returns the unusual ways of a request that the user did not agree to.
    private func unusual(_ filled: FilledForm, _ form: HTMLForm, at url: WebURL) -> [Unusual] {
        let isAway = !filled.staysOnOrigin
        let isInside = isAway && leadsInside(filled.target)
        return Unusual.allCases.filter { unusual in
            let isMet =
                switch unusual {
                case .leadsInside: isInside
                case .passwordInAddress:
                    filled.request.method == .get && !filled.target.isSecure
                        && form.fields.contains { $0.kind == .password || FormWords.isIdentity($0.words) }
                case .answersElsewhere: isAway && !isInside && !FormChoice.typed(in: form).isEmpty
                }
            return isMet && !agreed.contains(unusual.agreement(on: url, to: filled.target))
        }
    }

    /// Returns the agreements that answering the prompt of this page gives without a box.
    package func said(on page: HTMLPage, at url: WebURL) -> [String] {
        ways(on: page, at: url).compactMap { option in
            guard
                let filled = try? FilledForm(option.form, on: page, at: url, answers: [:], consent: false, redirects: redirects),
                unusual(filled, option.form, at: url).contains(.answersElsewhere)
            else { return nil }
            return Unusual.answersElsewhere.agreement(on: url, to: filled.target)
        }
    }

    /// Forgets what the user agreed to for an origin that a page leads to.
    package mutating func forgetAgreements(for target: WebURL) {
        agreed = agreed.filter { !$0.hasSuffix(":" + target.origin) }
    }

    /// Moves the answers that a form has sent to those that are only offered again, secrets without their text.
    package mutating func offerAnswers(of form: HTMLForm) {
        for control in form.inputs {
            guard let answer = answers.removeValue(forKey: control.name) else { continue }
            offered[control.name] = Self.offer(answer, for: Self.kind(of: control)) ?? ""
            offeredLabels[control.name] = Self.label(of: control)
            offeredNow.insert(control.name)
        }
    }

    /// Whether a form of this command had one of these fields.
    func hasSent(_ fields: [Field]) -> Bool { fields.contains { offeredNow.contains($0.name) } }

    /// What was sent, by name, secrets without their text.
    var sent: [String: SessionMemory.SentAnswer] {
        offered.reduce(into: [:]) { $0[$1.key] = SessionMemory.SentAnswer(label: offeredLabels[$1.key] ?? "", value: $1.value) }
    }

    /// Offers what was sent before this command, where a page asks for it again.
    mutating func offer(_ earlier: [String: SessionMemory.SentAnswer]) {
        for (name, answer) in earlier where offered[name] == nil {
            (offered[name], offeredLabels[name]) = (answer.value, answer.label)
        }
    }

    /// Returns why an answer must not be sent, if so: a browser lets the user type neither more than the page allows nor a control character.
    private static func fault(in answer: String, for control: HTMLControl) -> String? {
        let label = Self.label(of: control)
        if answer.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "The answer to \"\(label)\" has control characters; nothing was sent."
        }
        if control.isDate == true, !isDate(answer) {
            return "The answer to \"\(label)\" is no date like 1990-07-14; nothing was sent."
        }
        if let limit = control.maxLength, limit >= 0, answer.utf16.count > limit {
            return "The answer to \"\(label)\" is longer than the \(limit) characters that the page allows; nothing was sent."
        }
        return answer.utf8.count > answerLimit ? "The answer to \"\(label)\" is too long; nothing was sent." : nil
    }

    private static func isDate(_ answer: String) -> Bool {
        let parts = answer.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [4, 2, 2] && parts.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }

    /// Returns the answers without those that would accept terms which the user does not accept now: a stored answer is not consent.
    private func validAnswers(for form: HTMLForm) -> [String: String] {
        var names: Set<String> = [Self.termsField]
        // A device that went offline the last time is not the answer of today.
        if form.endsOthers { names.formUnion(form.inputs.map(\.name)) }
        for input in form.inputs where FormWords.isTerms(input.words) {
            switch input.kind {
            case .checkbox: names.insert(input.name)
            case .radio, .select: if !consent { names.insert(input.name) }
            case .text, .email, .telephone, .textarea, .password, .hidden, .submit, .image, .button, .file: break
            }
        }
        return answers.filter { answer in
            !(names.contains(answer.key) || answer.key.hasPrefix(Unusual.prefix))
                || (isTypedNow && !remembered.contains(answer.key))
        }
    }
}

extension FormEngine {
    /// Makes an engine without answers.
    package init(for redirects: RedirectPolicy) { self.init(redirects: redirects) }

    /// Returns the form that is the login, of several.
    package func choose(_ page: HTMLPage, at url: WebURL) -> HTMLForm? {
        let options = ways(on: page, at: url)
        return options.isEmpty ? nil : pick(options).option.form
    }
}
