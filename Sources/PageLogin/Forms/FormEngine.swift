import BoundHTTP
import ForeignText
import HotspotCore
import PortalPages

/// Decides what to do on a page: submit its form, ask the user, or give up. A value that makes no requests.
package struct FormEngine: Sendable {
    /// The next step on a page.
    package enum FormDecision: Sendable {
        /// Submit the form.
        case submit(FilledForm, HTMLForm)
        /// Ask the user for the answers that the form needs.
        case ask(Prompt, HTMLForm)
        /// The page contains no form that could be a login.
        case nothing
        /// The form must not be submitted; with the reason.
        case refuse(String)
    }

    /// The sentence to show if the page asks again for sent answers, without an error message.
    static let unexplained = "The portal asks the same question again and does not say why. " + wayOut
    /// The user's way out of a question that the portal repeats, perhaps without end.
    static let wayOut = "hotspotctl browse opens the page in a browser."
    /// The name of the prompt's box for terms, if the page has no such box.
    package static let termsField = "accept_terms"
    /// The longest value that a prompt can offer, and the longest answer that is sent, in octets.
    static let (offerLimit, answerLimit) = (200, 8192)

    package var redirects = RedirectPolicy()
    package var answers = FormAnswers()
    /// Whether the user accepted this portal's terms earlier, or the daemon's settings accept them.
    package var consent = false
    /// Whether the user has just typed the answers for this portal; otherwise they are stored answers.
    package var isTypedNow = false
    /// Hides the answers that the page's error messages repeat.
    package var mask = Mask([])
    /// Whether stored passwords may be sent over plain HTTP, because the daemon released them for this portal.
    package var allowsPlainHTTP = false
    /// Whether the page was kept from an earlier command, in which it showed no price beside its form.
    var pricesAreKnown = false
    /// The text of the earlier pages, piece by piece, as far as it is known: the pages whose forms were sent or whose buttons were pressed.
    var textBefore: [String] = []
    /// The identities of the forms that were sent, and of the buttons that were pressed.
    var sentForms: Set<[String]> = []
    /// The unusual ways of sending to which the user agreed.
    package var agreed: Set<String> = []
    /// Returns whether a URL leads to an address of the link's own networks.
    package var leadsInside: @Sendable (WebURL) -> Bool = { _ in false }

    /// Whether the user has just ticked hotspotd's own box for terms.
    package var saysYesToTerms: Bool {
        isTypedNow && answers.isFromUser(Self.termsField) && answers[Self.termsField].map(FilledForm.isYes) ?? false
    }

    /// Decides what to do on a page.
    package func decide(on page: HTMLPage, at url: WebURL) -> FormDecision { ruled(on: TypedPage(page), at: url).ruling }

    /// Decides what to do on a page, and by which rule.
    func ruled(on page: TypedPage, at url: WebURL) -> Ruled<FormDecision> {
        let choice = choice(on: page, at: url)
        switch choice.ruling {
        case .nothing: return choice.becoming(.nothing)
        case .refuse(let reason): return choice.becoming(.refuse(reason))
        case .options(let options): return SendingCase(self, options, on: page, at: url).decision
        }
    }

    /// Returns the way to log in that fits the answers, and whether the answers fill it in completely. A single way counts as filled in, because its
    /// fields are checked later.
    func pick(_ options: [LoginOption]) -> (option: LoginOption, isFilled: Bool) {
        guard options.count > 1 else { return (options[0], true) }
        let complete = options.filter { !$0.names.isEmpty && $0.names.allSatisfy { answers[$0]?.isEmpty == false } }
        // Typed answers are preferred to stored answers, and untried ways to ways that were tried before.
        let untried = complete.filter { $0.names.contains { answers[$0] != answers.refusedBefore($0) } }
        let typed = untried.first { isTypedNow && $0.names.contains(where: answers.isTyped) }
        // If the portal refuses the typed answers, stored ones are not sent instead: the user must see the refusal first.
        let isRefused = isTypedNow && options.flatMap(\.names).contains(where: answers.wasSentNow)
        let filled = typed ?? (isRefused ? nil : untried.first ?? complete.first)
        // A user who typed nothing has chosen the way that asks no questions.
        let isEmpty = isTypedNow && answers.sent.isEmpty && options.flatMap(\.names).allSatisfy { answers[$0]?.isEmpty ?? true }
        if filled == nil, isEmpty, let free = options.first(where: \.names.isEmpty) { return (free, true) }
        return (filled ?? options[0], filled != nil)
    }

    /// Returns the ways to log in that a page offers; the list is also empty if the only login must not be sent.
    func ways(on page: TypedPage, at url: WebURL) -> [LoginOption] {
        if case .options(let options) = choice(on: page, at: url).ruling { options } else { [] }
    }

    private func choice(on page: TypedPage, at url: WebURL) -> Ruled<FormChoice> {
        ChoiceCase(
            page, at: url, answered: answers.expected, refused: Set(answers.sent.keys),
            behind: sentForms.isEmpty ? nil : sentForms
        ).choice
    }

    /// Returns the ways to log in that are offered to the user. If the only way needs consent to terms, the page's other ways are offered as well.
    func offered(_ found: [LoginOption], on page: TypedPage) -> [LoginOption] {
        let isAsked = found.count == 1 && !isTypedNow && !consent && isBinding(found[0].form, page)
        return isAsked ? found[0].others + found : found
    }

    /// Returns the forms of the other ways to log in; `nil` if there are none.
    func otherWays(than form: HTMLForm, on page: TypedPage, at url: WebURL) -> [HTMLForm]? {
        let others = ways(on: page, at: url).map(\.form.form).filter { $0 != form }
        return others.isEmpty ? nil : others
    }

    /// Returns the consents that a request needs and that the user has not given yet.
    func consentRequired(for filled: FilledForm, _ form: TypedForm, at url: WebURL) -> [ConsentRequired] {
        let isAway = !filled.staysOnOrigin
        let isInside = isAway && leadsInside(filled.target)
        return ConsentRequired.allCases.filter { consent in
            let isMet =
                switch consent {
                case .leadsInside: isInside
                case .passwordInAddress:
                    filled.request.method == .get && !filled.target.isSecure
                        && form.fields.contains { $0.kind == .password || $0.words.isIdentity }
                case .answersElsewhere: isAway && !isInside && !form.typed.isEmpty
                }
            return isMet && !agreed.contains(consent.agreement(on: url, to: filled.target))
        }
    }

    /// Returns the agreements that an answer to this page's prompt implies, without a box.
    package func impliedAgreements(on page: HTMLPage, at url: WebURL) -> [String] {
        impliedAgreements(on: TypedPage(page), at: url)
    }

    func impliedAgreements(on page: TypedPage, at url: WebURL) -> [String] {
        ways(on: page, at: url).compactMap { option in
            guard
                let filled = try? FilledForm(option.form, on: page.page, at: url, redirects: redirects),
                consentRequired(for: filled, option.form, at: url).contains(.answersElsewhere)
            else { return nil }
            return ConsentRequired.answersElsewhere.agreement(on: url, to: filled.target)
        }
    }

    /// Forgets the user's agreements for the target of a page.
    package mutating func forgetAgreements(for target: WebURL) {
        agreed = agreed.filter { !$0.hasSuffix(":" + target.origin) }
    }

    /// Marks the answers that a form has sent, so that they are only offered from now on; the text of secrets is dropped.
    package mutating func offerAnswers(of form: HTMLForm) {
        for control in form.inputs {
            guard let answer = answers[control.answerName] else { continue }
            answers.noteSent(
                control.answerName, label: Self.label(of: control), shown: Self.offer(answer, for: Self.kind(of: control)) ?? "")
        }
    }

    /// Returns whether a form with one of these fields was sent in this command.
    func hasSent(_ fields: [Field]) -> Bool { fields.contains { answers.wasSentNow($0.name) } }
}

extension FormEngine {
    /// Makes an engine without answers.
    package init(for redirects: RedirectPolicy) { self.init(redirects: redirects) }

    /// Returns the form for the login, if the page has several.
    package func choose(_ page: HTMLPage, at url: WebURL) -> HTMLForm? {
        let options = ways(on: TypedPage(page), at: url)
        return options.isEmpty ? nil : pick(options).option.form.form
    }
}
