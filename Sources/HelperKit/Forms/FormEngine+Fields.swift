import ForeignText
import HotspotCore

/// The fields of a prompt.
extension FormEngine {
    /// Returns the names of the fields that a login with stored answers needs.
    func needs(on page: HTMLPage, at url: WebURL) -> [String] {
        guard FormWords.notice(of: page) == nil, case .options(let options) = FormChoice(page, at: url) else { return [] }
        return fields(of: options, consent: true, values: [:]).filter { $0.kind != .checkbox && !$0.isPreselected }
            .map(\.name)
    }

    /// Returns whether a page has a form or link that could be a login.
    func canAct(on page: HTMLPage, at url: WebURL) -> Bool {
        if case .options = FormChoice(page, at: url) { true } else { false }
    }

    /// Returns the fields of all ways to log in; with several, none has to be filled in.
    func fields(of options: [LoginOption], consent: Bool, values: [String: String]) -> [Field] {
        guard options.count > 1 else { return fields(of: options[0].form, consent: consent, values: values) }
        var result: [Field] = []
        let all = options.map { fields(of: $0.form, consent: consent, values: values) }
        for (option, fields) in zip(options, all) {
            for var field in fields {
                // Whichever way the user takes has this box.
                let isEverywhere = all.allSatisfy { $0.contains { $0.name == field.name && $0.kind == .checkbox && $0.required } }
                // Forms for several ways often have one name for different things.
                if let index = result.firstIndex(where: { $0.name == field.name }) {
                    if !result[index].label.contains(field.label) { result[index].label += " / " + field.label }
                    continue
                }
                // A box of one form does not matter to the others.
                if !isEverywhere, field.kind != .checkbox || options.contains(where: { $0.form != option.form }) {
                    (field.required, field.assumed) = (false, nil)
                }
                result.append(field)
            }
        }
        return result
    }

    /// Returns the fields that the user is asked for, in the page's order, with these values as defaults instead of the page's. A choice
    /// that the page has made is among them, but is no reason to ask.
    private func fields(of form: HTMLForm, consent: Bool, values: [String: String]) -> [Field] {
        var fields: [Field] = []
        var seen: Set<String> = []
        let marksRequired = form.inputs.contains { $0.isRequired && $0.kind != .checkbox }
        let isRefused = form.inputs.contains { offered[$0.name] != nil }
        // A page that disables its button until a box is ticked.
        let needsTick = !form.submits.isEmpty && form.submits.allSatisfy(\.isDisabled) && FormChoice.typed(in: form).isEmpty
        // A box that agrees to an unusual way of sending has a label of ours.
        for control in form.inputs
        where !control.isInvisible && control.name.utf8.count <= 256 && !control.name.hasPrefix(Unusual.prefix) {
            guard seen.insert(control.name).inserted, fields.count < 20 else { continue }
            let label = Self.label(of: control)
            let isOptional = FormWords.isOptional(control.words)
            let required = marksRequired ? control.isRequired || control.label.contains("*") : !isOptional
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
                if FormWords.agreesToMore(control.words) {
                    if control.isRequired { add(.checkbox) }
                } else if FormWords.isTerms(control.words) {
                    if !consent { add(.checkbox) }
                } else if control.isRequired || needsTick, !control.isChecked {
                    add(.checkbox)
                } else if isRefused, !control.isChecked {
                    // The portal may want a tick that its page does not mark.
                    add(.checkbox, required: false)
                }
            case .radio:
                let group = form.inputs.filter { $0.kind == .radio && $0.name == control.name }
                // A page does not decline its terms for the user.
                let checked =
                    form.endsOthers
                    ? nil : group.last { $0.isChecked && !(FormWords.isTerms($0.words) && FormWords.declines($0.label)) }
                if group.count > 1, checked == nil || !FormWords.isLanguage(control.name) {
                    addChoice(
                        of: group.map { ($0.label, $0.value) }, preselected: checked.map { ($0.label, $0.value) })
                }
            case .select:
                let first = control.preselected
                let isUndecided = first.map { $0.value.isEmpty || $0.isDisabled || FormWords.isUndecided($0.label) } ?? true
                if control.options.count > 1, isUndecided || !FormWords.isLanguage(control.words) {
                    let open = control.options.filter { !$0.isDisabled && !$0.value.isEmpty && !(isUndecided && $0 == first) }
                    addChoice(
                        of: open.map { ($0.label, $0.value) },
                        preselected: isUndecided || form.endsOthers ? nil : first.map { ($0.label, $0.value) },
                        required: required || form.endsOthers)
                }
            case .text, .textarea, .password, .email, .telephone:
                let kind = Self.kind(of: control)
                let value = Self.offer(values[control.name] ?? control.value, for: kind)
                // The portal's own constant: it cannot be changed, or not be shown.
                let isConstant = control.isReadOnly || (value == nil && offered[control.name] == nil && kind != .password)
                if isConstant, !control.value.isEmpty { continue }
                add(kind, required: required || (kind == .password && !isOptional), value: value)
                if required, !marksRequired, !kind.isSecret { fields[fields.count - 1].assumed = true }
            case .hidden, .submit, .image, .button, .file: break
            }
        }
        let buttons = FilledForm.buttons(of: form)
        if let name = buttons.first?.name, seen.insert(name).inserted {
            let choices = buttons.map { FormWords.choice($0.label, $0.value) }
            let before = values[name].flatMap { choices.contains($0) ? $0 : nil }
            fields.append(
                Field(name: name, label: "Button", kind: .choice, required: false, choices: choices, value: before ?? choices[0]))
        }
        return fields
    }

    /// Drops the stored answers to fields that the page calls something else than when they were given: the user decides about those. A next
    /// page may have the name of a field for something else as well.
    package mutating func dropRenamed(on page: HTMLPage) {
        func isRenamed(_ name: String, _ isSame: (String) -> Bool) -> Bool {
            let controls = page.forms.flatMap(\.inputs).filter { $0.name == name && !$0.isInvisible }
            return !controls.isEmpty && !controls.contains { isSame(Self.label(of: $0)) }
        }
        for name in remembered {
            if let label = labels[name], isRenamed(name, { Field.folded($0) == label }) { answers[name] = nil }
        }
        for (name, label) in offeredLabels where isRenamed(name, { Field.isAlike($0, label) }) { offered[name] = nil }
    }

    static func label(of control: HTMLControl) -> String {
        // The label of a radio button is one of the answers.
        let question = control.kind == .radio ? control.legend ?? "" : control.label
        let words = Printable.text(question.isEmpty ? control.name : question, limit: 120)
        return control.isDate == true ? words + " (YYYY-MM-DD)" : words
    }

    func label(of name: String, in form: HTMLForm) -> String {
        form.inputs.first { $0.name == name }.map(Self.label) ?? name
    }

    /// Returns the value as a prompt can offer it; `nil` for secrets, and for what a prompt does not show whole.
    static func offer(_ value: String, for kind: Field.Kind) -> String? {
        let isShown = !value.isEmpty && value.utf8.count <= offerLimit && Printable.text(value, limit: offerLimit) == value
        return isShown && !kind.isSecret ? value : nil
    }

    /// Returns the controls of a page's visible forms in which a guest can type, also those without a name.
    package static func questions(on page: HTMLPage) -> [HTMLControl] {
        page.forms.filter { !$0.isInvisible && !FormWords.isSearch($0) }.flatMap(\.fields).filter { !$0.isReadOnly }
    }

    package static func kind(of control: HTMLControl) -> Field.Kind {
        switch control.kind {
        case .password: .password
        case .email: .email
        case .telephone: .phone
        default:
            if FormWords.isCode(control.words) {
                .code
            } else if FormWords.isEmail(control.words) {
                .email
            } else {
                .text
            }
        }
    }
}

extension Field {
    /// The page has chosen already.
    fileprivate var isPreselected: Bool { kind == .choice && value != nil }
}
