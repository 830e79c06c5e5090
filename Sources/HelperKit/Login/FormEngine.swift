import ForeignText
import HotspotCore

/// Decides what to do on a page: submit its form, ask the user, or give up. A value that neither fetches nor sends.
struct FormEngine: Sendable {
    /// What to do on a page.
    enum FormDecision: Sendable {
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
    enum Unusual: String, CaseIterable {
        /// The page leads from another origin to an address of the link's own networks, which is how web pages attack routers.
        case leadsInside = "send"
        /// A password would be a part of an address over plain HTTP.
        case passwordInAddress = "password-in-address"

        /// The beginning of the names of the boxes that agree.
        static let prefix = "agree:"

        func box(for target: WebURL) -> Field {
            let label =
                switch self {
                case .leadsInside: "Send this to \(target.origin), a device within this network"
                case .passwordInAddress: "Put the password into an address of \(target.origin), which others nearby can read"
                }
            return Field(name: "\(Self.prefix)\(rawValue):\(target.origin)", label: label, kind: .checkbox, required: true)
        }

        func agreement(on page: WebURL, to target: WebURL) -> String { Self.agreement(page.origin, box(for: target).name) }

        /// Returns the text that remembers an answered box.
        static func agreement(_ origin: String, _ box: String) -> String { "\(origin) \(box)" }
    }

    /// The name of the prompt's box for terms where the page has no box of its own.
    static let termsField = "accept_terms"
    /// The longest value that a prompt can offer, and the longest answer that is sent, in octets.
    private static let (offerLimit, answerLimit) = (200, 8192)

    var redirects = RedirectPolicy()
    /// The answers, by name of the control.
    var answers: [String: String] = [:]
    /// The user accepted this portal's terms earlier, or the daemon's policy accepts them.
    var consent = false
    /// The user has just typed the answers for this portal; they are not stored ones.
    var isTypedNow = false
    /// The names of answers that come from the vault nevertheless: they fill fields, but accept no terms.
    var remembered: Set<String> = []
    /// Hides the answers that the page's error messages repeat.
    var mask = Mask([])
    /// Stored passwords may be sent over plain HTTP, because the daemon released them for this portal.
    var allowsPlainHTTP = false
    /// Answers that were sent already: they are offered to the user, and not sent again without.
    var offered: [String: String] = [:]
    /// The unusual ways of sending that the user agreed to.
    var agreed: Set<String> = []
    /// Whether a URL leads to an address of the link's own networks.
    var leadsInside: @Sendable (WebURL) -> Bool = { _ in false }

    /// Decides what to do on a page.
    func decide(on page: HTMLPage, at url: WebURL) -> FormDecision {
        guard let form = choose(page) else { return .nothing }
        let termsHere = isBinding(form, page)
        let valid = validAnswers(for: form)
        let faults = form.inputs.compactMap { control in
            valid[control.name].flatMap { Self.fault(in: $0, for: control) }.map { (control.name, $0) }
        }
        let answers = valid.filter { answer in !faults.contains { $0.0 == answer.key } }
        let consent = consent || answers[Self.termsField].map(FilledForm.isYes) ?? false
        let typed = isTypedNow ? answers.filter { !remembered.contains($0.key) } : [:]
        var fields = fields(of: form, consent: consent, values: typed.merging(offered) { $1 })
        let hasTermsBox = form.inputs.contains {
            $0.kind == .checkbox && FormWords.isTerms($0.words) && !FormWords.isAdvertising($0.words)
        }
        if termsHere, !hasTermsBox, !consent {
            fields.append(Field(name: Self.termsField, label: "I accept the terms of use", kind: .checkbox, required: true))
        }
        if form.passwords.count > 1 { return .refuse("The page wants a new account with a password; please use a browser once.") }
        if form.passwords.contains(where: \.isInvisible) || (form.isInvisible && !form.passwords.isEmpty) {
            return .refuse("The page hides its password field; nothing was sent.")
        }
        let filled: FilledForm
        do throws(TransferError) {
            filled = try FilledForm(form, on: page, at: url, answers: answers, consent: consent, redirects: redirects)
        } catch {
            return .refuse(error.description)
        }
        let wantsAnswers = form.inputs.contains { $0.kind != .checkbox }
        let leadsInside = !filled.staysOnOrigin && leadsInside(filled.target)
        if wantsAnswers, !filled.staysOnOrigin, !leadsInside {
            return .refuse("The page would send the answers to \(filled.target.origin); nothing was sent.")
        }
        for unusual in Unusual.allCases where !agreed.contains(unusual.agreement(on: url, to: filled.target)) {
            let isMet =
                switch unusual {
                case .leadsInside: leadsInside
                case .passwordInAddress: form.method == .get && !form.passwords.isEmpty && !filled.target.isSecure
                }
            if isMet { fields.append(unusual.box(for: filled.target)) }
        }
        let isOpen = fields.contains { field in
            guard field.required else { return false }
            guard let answer = answers[field.name] else { return true }
            return field.kind == .checkbox ? !FilledForm.isYes(answer) : answer.isEmpty
        }
        let isPlain = !(url.isSecure && filled.target.isSecure)
        let needsUser = filled.carriesPassword && isPlain && !isTypedNow && !allowsPlainHTTP
        guard isOpen || needsUser || !faults.isEmpty else { return .submit(filled, form) }
        return .ask(prompt(fields, form, page, url, faults.first?.1), form)
    }

    /// Moves the answers that a form has sent to those that are only offered again, secrets without their text.
    mutating func offerAnswers(of form: HTMLForm) {
        for control in form.inputs {
            guard let answer = answers.removeValue(forKey: control.name) else { continue }
            offered[control.name] = Self.offer(answer, for: Self.kind(of: control)) ?? ""
        }
    }

    /// Returns why an answer must not be sent, if so: a browser lets the user type neither more than the page allows nor a control character.
    private static func fault(in answer: String, for control: HTMLControl) -> String? {
        let label = Printable.text(control.label.isEmpty ? control.name : control.label, limit: 120)
        if answer.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "The answer to \"\(label)\" has control characters; nothing was sent."
        }
        if let limit = control.maxLength, limit >= 0, answer.utf16.count > limit {
            return "The answer to \"\(label)\" is longer than the \(limit) characters that the page allows; nothing was sent."
        }
        return answer.utf8.count > answerLimit ? "The answer to \"\(label)\" is too long; nothing was sent." : nil
    }

    /// Returns the answers without those that would accept terms which the user does not accept now: a stored answer is not consent.
    private func validAnswers(for form: HTMLForm) -> [String: String] {
        var names: Set<String> = [Self.termsField]
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

    /// Returns the names of the fields that a login with stored answers needs.
    func needs(on page: HTMLPage, at url: WebURL) -> [String] {
        guard let form = choose(page) else { return [] }
        return fields(of: form, consent: true, values: [:]).filter { $0.kind != .checkbox && !$0.isPreselected }.map(\.name)
    }

    /// Returns the form that is the login, of several.
    func choose(_ page: HTMLPage) -> HTMLForm? {
        let candidates = page.forms.filter { form in
            form.isPlain && !FormWords.isSearch(form) && !FormWords.isLanguage(form) && !FormWords.readsTerms(form)
                && !(form.submits.contains { FormWords.isLogout($0.words) } || FormWords.isLogout(form.action))
                && (!form.submits.isEmpty || !form.inputs.isEmpty || page.submitsItself)
        }
        let visible = candidates.filter { !$0.isInvisible }
        func rank(_ form: HTMLForm) -> Int {
            let typed = form.inputs.filter { $0.kind != .checkbox }
            if !answers.isEmpty, !typed.isEmpty, typed.contains(where: { answers[$0.name] != nil }) { return 0 }
            return typed.isEmpty ? 1 : 2
        }
        return (visible.isEmpty ? candidates : visible).enumerated().min {
            (rank($0.element), $0.offset) < (rank($1.element), $1.offset)
        }?
        .element
    }

    /// Returns the fields that the user is asked for, in the page's order, with these values as defaults instead of the page's. A choice
    /// that the page has made is among them, but is no reason to ask.
    private func fields(of form: HTMLForm, consent: Bool, values: [String: String]) -> [Field] {
        var fields: [Field] = []
        var seen: Set<String> = []
        let marksRequired = form.inputs.contains { $0.isRequired && $0.kind != .checkbox }
        // A box that agrees to an unusual way of sending has a label of ours.
        for control in form.inputs
        where !control.isInvisible && control.name.utf8.count <= 256 && !control.name.hasPrefix(Unusual.prefix) {
            guard seen.insert(control.name).inserted, fields.count < 20 else { continue }
            let label = Printable.text(control.label.isEmpty ? control.name : control.label, limit: 120)
            let isOptional = control.words.contains("optional")
            let required = marksRequired ? control.isRequired : !isOptional
            func add(_ kind: Field.Kind, required: Bool = true, choices: [String]? = nil, value: String? = nil) {
                fields.append(
                    Field(name: control.name, label: label, kind: kind, required: required, choices: choices, value: value))
            }
            func addChoice(
                of options: [(label: String, value: String)], preselected: (label: String, value: String)?, required: Bool = true
            ) {
                let choices = options.map { FormWords.choice($0.label, $0.value) }
                let preselected = preselected.map { FormWords.choice($0.label, $0.value) }
                let before = values[control.name].flatMap { choices.contains($0) ? $0 : nil }
                add(.choice, required: required && preselected == nil, choices: choices, value: before ?? preselected)
            }
            switch control.kind {
            case .checkbox:
                if FormWords.isAdvertising(control.words) {
                    if control.isRequired { add(.checkbox) }
                } else if FormWords.isTerms(control.words) {
                    if !consent { add(.checkbox) }
                } else if control.isRequired, !control.isChecked {
                    add(.checkbox)
                }
            case .radio:
                let group = form.inputs.filter { $0.kind == .radio && $0.name == control.name }
                let checked = group.first(where: \.isChecked)
                if group.count > 1, checked == nil || !FormWords.isLanguage(control.name.lowercased()) {
                    addChoice(of: group.map { ($0.label, $0.value) }, preselected: checked.map { ($0.label, $0.value) })
                }
            case .select:
                let first = control.options.first(where: \.isSelected) ?? control.options.first
                let selected = first.flatMap { $0.value.isEmpty ? nil : ($0.label, $0.value) }
                if control.options.count > 1, selected == nil || !FormWords.isLanguage(control.words) {
                    addChoice(
                        of: control.options.filter { !$0.value.isEmpty }.map { ($0.label, $0.value) }, preselected: selected,
                        required: required)
                }
            case .text, .textarea, .password, .email, .telephone:
                let kind = Self.kind(of: control)
                let value = Self.offer(values[control.name] ?? control.value, for: kind)
                // The portal's own constant: it cannot be changed, or not be shown.
                let isConstant = control.isReadOnly || (value == nil && offered[control.name] == nil && kind != .password)
                if isConstant, !control.value.isEmpty { continue }
                add(kind, required: required || kind == .password, value: value)
            case .hidden, .submit, .image, .button, .file: break
            }
        }
        return fields
    }

    /// Returns the value as a prompt can offer it; `nil` for secrets, and for what a prompt does not show whole.
    private static func offer(_ value: String, for kind: Field.Kind) -> String? {
        let isShown = !value.isEmpty && value.utf8.count <= offerLimit && Printable.text(value, limit: offerLimit) == value
        return isShown && !kind.isSecret ? value : nil
    }

    private static func kind(of control: HTMLControl) -> Field.Kind {
        switch control.kind {
        case .password: .password
        case .email: .email
        case .telephone: .phone
        default:
            if FormWords.isCode(control.words) {
                .code
            } else if control.words.contains("email") || control.words.contains("e-mail") {
                .email
            } else {
                .text
            }
        }
    }

    /// Whether submitting this form accepts terms.
    private func isBinding(_ form: HTMLForm, _ page: HTMLPage) -> Bool {
        form.inputs.contains { $0.kind == .checkbox && FormWords.isTerms($0.words) } || FormWords.bindsReader(form.text)
            || FormWords.bindsReader(page.text)
    }

    private func prompt(_ fields: [Field], _ form: HTMLForm, _ page: HTMLPage, _ url: WebURL, _ fault: String?) -> Prompt {
        let title = Printable.text(page.title ?? url.host, limit: 120)
        let isRefused = fields.contains { offered[$0.name] != nil }
        let complaint = complaint(of: page) ?? (isRefused ? "The portal did not accept the answers." : nil)
        let messages = [Company.warning(about: form, on: page, at: url), fault, complaint].compactMap { $0 }
        let message = messages.isEmpty ? nil : messages.joined(separator: " ")
        // Terms are shown only where submitting accepts them: for the daemon, an answered prompt with terms is consent. A mere link to
        // a privacy policy is not shown as terms.
        let terms = isBinding(form, page) ? terms(of: form, on: page, at: url) : nil
        let termsURL: String? = if case .address(let address)? = terms { address.text } else { nil }
        // Terms on the page itself are shown in the prompt.
        let text: String? = if case .text(let text)? = terms { text } else { nil }
        return Prompt(title: title, message: message, fields: fields, termsURL: termsURL, terms: text)
    }

    /// Returns the page's error message without the answers that it repeats.
    func complaint(of page: HTMLPage) -> String? { page.errors.first.map { Printable.text(mask.apply($0), limit: 200) } }

    /// Returns the terms that submitting the page's form accepts; `nil` if there are none.
    func bindingTerms(on page: HTMLPage, at url: WebURL) -> Terms? {
        guard let form = choose(page), isBinding(form, page) else { return nil }
        return terms(of: form, on: page, at: url)
    }

    private func terms(of form: HTMLForm, on page: HTMLPage, at url: WebURL) -> Terms? {
        let references =
            form.inputs.filter { $0.kind == .checkbox }.flatMap(\.links)
            + page.links.filter { FormWords.isTerms($0.text.lowercased()) }.map(\.reference)
        if let address = references.lazy.compactMap({ try? redirects.target(of: $0, from: page.base) }).first {
            return .address(address)
        }
        if let reader = page.forms.first(where: FormWords.readsTerms),
            let filled = try? FilledForm(reader, on: page, at: url, answers: [:], consent: false, redirects: redirects),
            filled.request.method == .get
        {
            return .address(filled.request.url)
        }
        let boxes = form.inputs.filter { $0.kind == .checkbox && FormWords.isTerms($0.words) }.map(\.label).filter { !$0.isEmpty }
        let source = boxes.isEmpty ? (FormWords.bindsReader(form.text) ? form.text : page.text) : boxes.joined(separator: " ")
        let text = PageText.squeezed(source, limit: 8192)
        return text.isEmpty ? nil : .text(text)
    }
}

extension Field {
    /// The page has chosen already.
    fileprivate var isPreselected: Bool { kind == .choice && value != nil }
}
