import BoundHTTP
import ForeignText
import HotspotCore
import PortalPages

/// The fields of a prompt.
extension FormEngine {
    /// Returns the names of the fields that a login with stored answers needs.
    func needs(on page: TypedPage, at url: WebURL) -> [String] {
        guard !FirstPageCase(page, at: url).isNoPortals, case .options(let options) = ChoiceCase(page, at: url).choice.ruling
        else {
            return []
        }
        return fields(of: options, consent: true, values: [:]).filter { $0.kind != .checkbox && !$0.isPreselected }
            .map(\.name)
    }

    /// Returns whether a page has a form or link that could be a login.
    func canAct(on page: TypedPage, at url: WebURL) -> Bool {
        if case .options = ChoiceCase(page, at: url).choice.ruling { true } else { false }
    }

    /// Returns the fields of all ways to log in. If there are several ways, no field except a box is required.
    func fields(of options: [LoginOption], consent: Bool, values: [String: String]) -> [Field] {
        guard options.count > 1 else { return fields(of: options[0].form, consent: consent, values: values) }
        var result: [Field] = []
        let all = options.map { fields(of: $0.form, consent: consent, values: values) }
        for (option, fields) in zip(options, all) {
            for var field in fields {
                // Whether every way requires this box.
                let isEverywhere = all.allSatisfy { $0.contains { $0.name == field.name && $0.kind == .checkbox && $0.required } }
                // Forms for several ways often use one name for different fields. Such a field gets all their labels.
                if let index = result.firstIndex(where: { $0.name == field.name }) {
                    if !result[index].label.contains(field.label) { result[index].label += " / " + field.label }
                    continue
                }
                // A box of one form means nothing in the other forms, so it is not required.
                if !isEverywhere, field.kind != .checkbox || options.contains(where: { $0.form.form != option.form.form }) {
                    (field.required, field.assumed) = (false, nil)
                }
                result.append(field)
            }
        }
        return result
    }

    /// Returns the fields of the question in the page's order, with these values as defaults instead of the page's values. A choice that the page has
    /// preselected is included, but is no reason to ask.
    private func fields(of form: TypedForm, consent: Bool, values: [String: String]) -> [Field] {
        let question = FormQuestion(form, self, consent: consent, values: values)
        var (fields, asked): ([Field], Set<String>) = ([], [])
        // Skips controls with the prefix of hotspotd's own boxes, which ask for consent to an unusual way of sending.
        for control in form.inputs
        where !control.isInvisible && control.answerName.utf8.count <= 256 && !control.name.hasPrefix(ConsentRequired.prefix) {
            guard fields.count < 20, !asked.contains(control.answerName), let field = question.field(for: control) else {
                continue
            }
            fields.append(field)
            asked.insert(field.name)
        }
        if let button = form.choices.first, !asked.contains(button.name) {
            fields.append(question.buttons(named: button.name))
        }
        return fields
    }

    /// Drops stored and sent answers if the page now uses the name of their field for another field, so that the user decides about them.
    package mutating func dropRenamed(on page: HTMLPage) {
        func isRenamed(_ name: String, _ isSame: (String) -> Bool) -> Bool {
            let controls = page.forms.flatMap(\.inputs).filter { $0.answerName == name && !$0.isInvisible }
            return !controls.isEmpty && !controls.contains { isSame(Self.label(of: $0)) }
        }
        answers.dropRenamed(isRenamed)
    }

    static func label(of control: TypedControl) -> String { label(of: control.control) }

    static func label(of control: HTMLControl) -> String {
        // The label of a radio button is one of the choices; the legend is the question.
        let question = control.kind == .radio ? control.legend ?? "" : control.label
        let words = Printable.text(question.isEmpty ? control.name : question, limit: 120)
        return control.isDate == true ? words + " (YYYY-MM-DD)" : words
    }

    func label(of name: String, in form: TypedForm) -> String {
        form.inputs.first { $0.answerName == name }.map(Self.label) ?? name
    }

    /// Returns the value as a prompt can offer it; `nil` for secrets, and for values that do not fit into a prompt.
    static func offer(_ value: String, for kind: Field.Kind) -> String? {
        let isShown = !value.isEmpty && value.utf8.count <= offerLimit && Printable.text(value, limit: offerLimit) == value
        return isShown && !kind.isSecret ? value : nil
    }

    /// Returns the controls of a page's visible forms in which a guest can type, including those without a name.
    package static func questions(on page: HTMLPage) -> [HTMLControl] {
        page.forms.map(TypedForm.init).filter { !$0.isInvisible && !$0.purpose.contains(.search) }.flatMap(\.fields)
            .filter { !$0.isReadOnly }.map(\.control)
    }

    package static func kind(of control: HTMLControl) -> Field.Kind { kind(of: TypedControl(control)) }

    static func kind(of control: TypedControl) -> Field.Kind {
        switch control.kind {
        case .password: .password
        case .email: .email
        case .telephone: .phone
        default: control.words.isCode ? .code : control.words.isEmail ? .email : .text
        }
    }
}

extension Field {
    /// Whether the page has preselected one of the choices.
    fileprivate var isPreselected: Bool { kind == .choice && value != nil }
}

/// A form as a question to the user.
private struct FormQuestion {
    private let form: TypedForm
    private let engine: FormEngine
    private let consent: Bool
    /// The defaults that replace the page's values, by name.
    private let values: [String: String]
    /// Whether the page marks the fields that must be filled in.
    private let marksRequired: Bool
    /// Whether the portal refused the sent answers.
    private let isRefused: Bool
    /// Whether the page disables its button until a box is ticked.
    private let needsTick: Bool

    init(_ form: TypedForm, _ engine: FormEngine, consent: Bool, values: [String: String]) {
        (self.form, self.engine, self.consent, self.values) = (form, engine, consent, values)
        marksRequired = form.inputs.contains { $0.isRequired && $0.kind != .checkbox }
        isRefused = form.inputs.contains { engine.answers.sent($0.answerName) != nil }
        needsTick = !form.submits.isEmpty && form.submits.allSatisfy(\.isDisabled) && form.typed.isEmpty
    }

    /// Returns the field for a control; `nil` if the user is not asked for it.
    func field(for control: TypedControl) -> Field? {
        switch control.kind {
        case .checkbox: box(control)
        case .radio: group(control)
        case .select: list(control)
        case .text, .textarea, .password, .email, .telephone: text(control)
        case .hidden, .submit, .image, .button, .file: nil
        }
    }

    /// Returns the choice between buttons that start different logins.
    func buttons(named name: String) -> Field {
        let choices = Choices(form.choices).texts
        let before = values[name].flatMap { choices.contains($0) ? $0 : nil }
        return Field(name: name, label: "Button", kind: .choice, required: false, choices: choices, value: before ?? choices[0])
    }

    private func box(_ control: TypedControl) -> Field? {
        let box = Field(name: control.answerName, label: FormEngine.label(of: control), kind: .checkbox, required: true)
        if control.words.agreesToMore { return control.isRequired ? box : nil }
        if control.words.isTerms { return consent ? nil : box }
        if control.isChecked { return nil }
        if control.isRequired || needsTick { return box }
        // Offers the box after a refusal: the portal may require a tick that its page does not mark as required.
        return isRefused ? Field(name: box.name, label: box.label, kind: .checkbox, required: false) : nil
    }

    private func group(_ control: TypedControl) -> Field? {
        let group = form.inputs.filter { $0.kind == .radio && $0.name == control.name }
        // A preselected choice that declines the terms does not count: the page cannot decline them for the user.
        let checked = form.endsOthers ? nil : group.lastIndex { $0.isChecked && !($0.words.isTerms && $0.label.declines) }
        guard group.count > 1, checked == nil || !Purposes(of: control.name).isLanguage else { return nil }
        let texts = Choices(group).texts
        return choice(control, of: texts, preselected: checked.map { texts[$0] })
    }

    private func list(_ control: TypedControl) -> Field? {
        let chosen = control.chosenOption
        guard control.options.count > 1, chosen == nil || !control.words.isLanguage else { return nil }
        let first = control.control.preselected
        let all = zip(control.options, Choices(control.options).texts)
        let open = all.filter { !$0.0.isDisabled && !$0.0.value.isEmpty && !(chosen == nil && $0.0 == first) }
        let preselected = form.endsOthers ? nil : open.first { $0.0 == chosen }?.1
        return choice(control, of: open.map(\.1), preselected: preselected, required: isRequired(control) || form.endsOthers)
    }

    private func choice(
        _ control: TypedControl, of choices: [String], preselected: String?, required: Bool = true
    ) -> Field {
        let before = values[control.name].flatMap { choices.contains($0) ? $0 : nil }
        return Field(
            name: control.name, label: FormEngine.label(of: control), kind: .choice, required: required && preselected == nil,
            choices: choices, value: before ?? preselected)
    }

    private func text(_ control: TypedControl) -> Field? {
        let kind = FormEngine.kind(of: control)
        let value = FormEngine.offer(values[control.name] ?? control.value, for: kind)
        // The portal has fixed the value if the user cannot change it, or if a prompt cannot show it. Then the user is not asked.
        let isConstant = control.isReadOnly || (value == nil && engine.answers.sent(control.name) == nil && kind != .password)
        if isConstant, !control.value.isEmpty { return nil }
        let isWanted = isRequired(control)
        var field = Field(
            name: control.name, label: FormEngine.label(of: control), kind: kind,
            required: isWanted || (kind == .password && !control.words.isOptional), choices: nil, value: value)
        if isWanted, !marksRequired, !kind.isSecret { field.assumed = true }
        return field
    }

    private func isRequired(_ control: TypedControl) -> Bool {
        marksRequired ? control.isRequired || control.control.label.contains("*") : !control.words.isOptional
    }
}
