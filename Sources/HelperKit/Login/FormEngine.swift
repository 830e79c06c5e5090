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

    /// The name of the prompt's box for terms where the page has no box of its own.
    static let termsField = "accept_terms"

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

    /// Decides what to do on a page.
    func decide(on page: HTMLPage, at url: WebURL) -> FormDecision {
        guard let form = choose(page) else { return .nothing }
        let termsHere = isBinding(form, page)
        let answers = validAnswers(for: form)
        let consent = consent || answers[Self.termsField].map(FilledForm.isYes) ?? false
        var fields = fields(of: form, consent: consent)
        let hasTermsBox = form.inputs.contains {
            $0.kind == .checkbox && FormWords.isTerms($0.words) && !FormWords.isAdvertising($0.words)
        }
        if termsHere, !hasTermsBox, !consent {
            fields.append(Field(name: Self.termsField, label: "I accept the terms of use", kind: .checkbox, required: true))
        }
        let open = fields.filter { field in
            guard field.required else { return false }
            guard let answer = answers[field.name] else { return true }
            return field.kind == .checkbox ? !FilledForm.isYes(answer) : answer.isEmpty
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
        if wantsAnswers, !filled.staysOnOrigin {
            return .refuse("The page would send the answers to \(filled.target.origin); nothing was sent.")
        }
        if filled.leavesForGateway {
            return .refuse("The page would change something at \(filled.target.origin); nothing was sent.")
        }
        if !open.isEmpty { return .ask(prompt(fields, form, page, url), form) }
        if filled.carriesPassword, !url.isSecure, !isTypedNow, !allowsPlainHTTP {
            return .ask(prompt(fields, form, page, url), form)
        }
        return .submit(filled, form)
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
        return answers.filter { !names.contains($0.key) || (isTypedNow && !remembered.contains($0.key)) }
    }

    /// Returns the names of the fields that a login with stored answers needs.
    func needs(on page: HTMLPage, at url: WebURL) -> [String] {
        guard let form = choose(page) else { return [] }
        return fields(of: form, consent: true).filter { $0.kind != .checkbox }.map(\.name)
    }

    /// Returns the form that is the login, of several.
    func choose(_ page: HTMLPage) -> HTMLForm? {
        let candidates = page.forms.filter { form in
            form.isPlain && !FormWords.isSearch(form) && !FormWords.isLanguage(form) && !FormWords.readsTerms(form)
                && !(form.submits.contains { FormWords.isLogout($0.words) } || FormWords.isLogout(form.action))
                && !(form.controls.isEmpty)
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

    /// Returns the fields that the user must fill in, in the page's order.
    private func fields(of form: HTMLForm, consent: Bool) -> [Field] {
        var fields: [Field] = []
        var seen: Set<String> = []
        let marksRequired = form.inputs.contains { $0.isRequired && $0.kind != .checkbox }
        for control in form.inputs where !control.isInvisible && control.name.utf8.count <= 256 {
            guard seen.insert(control.name).inserted, fields.count < 20 else { continue }
            let label = Printable.text(control.label.isEmpty ? control.name : control.label, limit: 120)
            let isOptional = control.words.contains("optional")
            let required = marksRequired ? control.isRequired : !isOptional
            func add(_ kind: Field.Kind, required: Bool = true, choices: [String]? = nil) {
                fields.append(Field(name: control.name, label: label, kind: kind, required: required, choices: choices))
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
                if !group.contains(where: \.isChecked), group.count > 1 {
                    add(.choice, choices: group.map { Printable.text($0.label.isEmpty ? $0.value : $0.label, limit: 80) })
                }
            case .select:
                let isUndecided = control.options.first { $0.isSelected }.map(\.value) ?? control.options.first?.value ?? ""
                if control.options.count > 1, isUndecided.isEmpty {
                    let choices = control.options.filter { !$0.value.isEmpty }.map { Printable.text($0.label, limit: 80) }
                    add(.choice, required: required, choices: choices)
                }
            case .text, .textarea, .password, .email, .telephone:
                guard control.value.isEmpty || control.kind == .password else { continue }
                add(Self.kind(of: control), required: required || control.kind == .password)
            case .hidden, .submit, .image, .button, .file: break
            }
        }
        return fields
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

    private func prompt(_ fields: [Field], _ form: HTMLForm, _ page: HTMLPage, _ url: WebURL) -> Prompt {
        let title = Printable.text(page.title ?? url.host, limit: 120)
        // Terms are shown only where submitting accepts them: for the daemon, an answered prompt with terms is consent. A mere link to
        // a privacy policy is not shown as terms.
        let terms = isBinding(form, page) ? terms(of: form, on: page, at: url) : nil
        let termsURL: String? = if case .address(let address)? = terms { address.text } else { nil }
        // Terms on the page itself are shown in the prompt.
        let text: String? = if case .text(let text)? = terms { text } else { nil }
        return Prompt(title: title, message: complaint(of: page), fields: fields, termsURL: termsURL, terms: text)
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
