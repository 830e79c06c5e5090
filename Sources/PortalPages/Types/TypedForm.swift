import BoundHTTP
import ForeignText
import HotspotCore

/// A control with the purposes that its words express.
@dynamicMemberLookup public struct TypedControl: Sendable {
    /// The control as it was read.
    public let control: HTMLControl
    /// The purposes of its name and its label.
    package let words: Purposes
    /// The purposes of its label alone.
    package let label: Purposes
    /// Whether the control offers choices with prices, even if the page has already chosen one.
    package let isTariff: Bool
    /// Whether the control is a choice of languages.
    let isOfLanguage: Bool

    package init(_ control: HTMLControl) {
        self.control = control
        (words, label) = (Purposes(of: control.words), Purposes(of: control.label))
        switch control.kind {
        case .radio: isTariff = words.hasPrice || Currencies.endsWithSum(control.label)
        case .select:
            isTariff =
                Currencies.all.findsSum(in: control.options.map(\.label).joined(separator: " "))
                || control.options.contains { Currencies.endsWithSum($0.label) }
        case .hidden, .text, .password, .email, .telephone, .checkbox, .textarea, .submit, .image, .button, .file:
            isTariff = false
        }
        isOfLanguage =
            control.kind == .select
            && (words.isLanguage
                || (control.options.count > 1 && control.options.allSatisfy { Purposes(of: $0.label).has(.tongue) }))
    }

    /// Reads the control. Public for inlining; otherwise each access would cost a key path at run time.
    @inlinable @inline(__always) public subscript<Value>(dynamicMember path: KeyPath<HTMLControl, Value>) -> Value {
        control[keyPath: path]
    }

    package var isInput: Bool { isTypedIn && !control.name.isEmpty }

    private var isTypedIn: Bool {
        switch control.kind {
        case .text, .password, .email, .telephone, .textarea, .select, .radio, .checkbox: true
        case .hidden, .submit, .image, .button, .file: false
        }
    }

    /// The choice of a list that a browser preselects, unless the choice only tells the user to choose.
    package var chosenOption: HTMLControl.Option? {
        guard let first = control.preselected, !first.value.isEmpty, !first.isDisabled,
            !Purposes(of: first.label).isUndecided(first.label)
        else { return nil }
        return first
    }

    /// Whether the control's words suggest a bank card's security code or expiry date.
    package var isOfBankCard: Bool {
        let words = control.words.lowercased()
        return ["cvc", "cvv", "cvn", "expir", "mm/yy", "mm / yy", "mm/jj"].contains { words.contains($0) }
    }

    /// Whether the label, or a text field's value, is only the name of the administrator's account.
    var isAdministrator: Bool {
        [control.label, control.kind == .text ? control.value : ""].contains {
            ["admin", "administrator"].contains($0.lowercased().filter(\.isLetter))
        }
    }
}

/// A form with the purposes that its words express.
@dynamicMemberLookup public struct TypedForm: Sendable {
    /// A purpose of a form other than a login.
    package struct Purpose: OptionSet, Hashable, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The form sends a message to people, such as a complaint: it has a multi-line field, and a login never has one.
        package static let contact = Purpose(rawValue: 1)
        /// The form searches, according to its name or its only control's name. If it only opens an address, its button or action may say so instead.
        package static let search = Purpose(rawValue: 2)
        package static let language = Purpose(rawValue: 4)
        /// The form only opens the terms, such as the second form of openNDS.
        package static let reading = Purpose(rawValue: 8)
        /// The form ends this device's session.
        package static let logOff = Purpose(rawValue: 16)
        /// The form ends sessions of other devices: the account allows only a few at a time, and the guest chooses which ones end.
        static let endOthers = Purpose(rawValue: 32)
        /// The form asks for an e-mail address for advertising.
        package static let newsletter = Purpose(rawValue: 64)
        /// The form's buttons are for something else: a forgotten password, advertising, another company's account, cookies.
        package static let aside = Purpose(rawValue: 128)
        /// The form has only buttons that lead back or decline.
        package static let back = Purpose(rawValue: 256)
    }

    /// The form as it was read.
    public let form: HTMLForm
    /// The controls, without the paid choices if the page has chosen a free one.
    package let controls: [TypedControl]
    /// The labels of the choices that were left out.
    package let costly: [String]
    /// The purposes of the form's text, of its action, and of the heading above it.
    package let (words, action, heading): (Purposes, Purposes, Purposes)
    package let purpose: Purpose
    /// The controls in which the user types or chooses, without boxes and without choices that the page has already made.
    package let typed: [TypedControl]
    /// The button that submits the login; of several, the one whose words fit best.
    package let button: TypedControl?
    /// The buttons that start different logins, such as a button for an hour and a button for the day; the usual button comes first. In the answers,
    /// the user's choice has the first button's name.
    package let choices: [TypedControl]
    private let parts: Parts

    package init(_ form: HTMLForm) {
        self.form = form
        (controls, costly) = Self.free(form.controls.map(TypedControl.init))
        (words, action) = (Purposes(of: form.text), Purposes(of: form.action))
        heading = form.heading.map { Purposes(of: $0) } ?? []
        parts = Parts(form, controls, action)
        var purpose = parts.purpose
        typed = parts.typed(choosingDevices: purpose.contains(.endOthers))
        let isNotice = form.drawn == .layer && typed.isEmpty && words.isCookieNotice
        if isNotice || parts.isAside(nothingTyped: typed.isEmpty) { purpose.insert(.aside) }
        if typed.count == 1, typed[0].kind == .email || typed[0].words.isEmail,
            [heading, action, Purposes(of: form.hints), typed[0].words].contains(where: \.isAdvertising)
                || parts.submits.contains(where: \.label.isAdvertising)
        {
            purpose.insert(.newsletter)
        }
        self.purpose = purpose
        (button, choices) = parts.buttons(endingOthers: purpose.contains(.endOthers))
    }

    /// Returns controls without the paid choices if the page has chosen a free one, and the labels of those choices.
    private static func free(_ controls: [TypedControl]) -> ([TypedControl], costly: [String]) {
        var (left, costly): ([TypedControl], [String]) = ([], [])
        let radios = controls.filter { $0.kind == .radio }
        // For each group of radio buttons by name: whether the chosen button is free. If the page has chosen several, the last one counts.
        let chosen = Dictionary(radios.filter(\.isChecked).map { ($0.name, $0.label.isFreeChoice) }) { $1 }
        let tariffs = Set(radios.filter(\.isTariff).map(\.name))
        for control in controls {
            switch control.kind {
            case .radio:
                guard tariffs.contains(control.name), chosen[control.name] == true, !control.label.isFreeChoice else { break }
                costly.append(control.control.label)
                continue
            case .select where control.isTariff && control.chosenOption.map { Purposes(of: $0.label).isFreeChoice } ?? false:
                var list = control.control
                list.options.removeAll { !Purposes(of: $0.label).isFreeChoice }
                costly += control.options.map(\.label).filter { label in !list.options.contains { $0.label == label } }
                left.append(TypedControl(list))
                continue
            default: break
            }
            left.append(control)
        }
        return (left, costly)
    }

    /// Reads the form. Public for inlining; otherwise each access would cost a key path at run time.
    @inlinable @inline(__always) public subscript<Value>(dynamicMember path: KeyPath<HTMLForm, Value>) -> Value {
        form[keyPath: path]
    }

    /// The controls that are sent, without buttons.
    package var inputs: [TypedControl] { parts.inputs }
    /// The controls in which the user can type, including those without a name.
    package var fields: [TypedControl] { parts.fields }
    package var submits: [TypedControl] { parts.submits }
    package var passwords: [TypedControl] { controls.filter { $0.kind == .password } }
    /// The boxes that accept terms, visible or not.
    package var termsBoxes: [TypedControl] { controls.filter { $0.isInput && $0.kind == .checkbox && $0.words.isTerms } }

    package var isLogoff: Bool { purpose.contains(.logOff) }
    package var endsOthers: Bool { purpose.contains(.endOthers) }

    /// Whether a guest has something to fill in or to tick.
    package var asks: Bool {
        !form.isInvisible && purpose.isDisjoint(with: [.search, .language])
            && (inputs + fields).contains { !$0.isInvisible && !$0.isReadOnly }
    }

    /// Whether the form's button continues without an account, and the form has no questions.
    package var goesOnFree: Bool { typed.isEmpty && button?.label.isFree ?? false }

    package var beginsTrial: Bool { button.map { $0.label.beginsTrial($0.control.label) } ?? false }

    /// Whether the form sends no data and its address has no query, so that a gateway could not tell its purpose.
    package var carriesNothing: Bool { !form.action.contains("?") && controls.allSatisfy { $0.kind == .submit } }

    /// Whether the form has no address and would only show its page again.
    package var leadsNowhere: Bool { form.action.isEmpty && form.method == .get && submits.allSatisfy { $0.formAction == nil } }
}

/// The inputs, fields and buttons of a form, from which its purposes are determined.
private struct Parts {
    let form: HTMLForm
    let inputs: [TypedControl]
    let submits: [TypedControl]
    let fields: [TypedControl]
    let action: Purposes

    init(_ form: HTMLForm, _ controls: [TypedControl], _ action: Purposes) {
        (self.form, self.action) = (form, action)
        inputs = controls.filter(\.isInput)
        submits = controls.filter { $0.kind == .submit || $0.kind == .image }
        fields = controls.filter { $0.control.isField && !$0.isInvisible }
    }

    /// The purposes that do not depend on ``TypedForm/typed``.
    var purpose: TypedForm.Purpose {
        var purpose: TypedForm.Purpose = []
        if isContact { purpose.insert(.contact) }
        if isSearch { purpose.insert(.search) }
        if !inputs.isEmpty, inputs.allSatisfy(\.isOfLanguage) { purpose.insert(.language) }
        if readsTerms { purpose.insert(.reading) }
        if submits.contains(where: \.words.isLogout) || action.isLogout { purpose.insert(choosesDevices ? .endOthers : .logOff) }
        if inputs.isEmpty, !submits.isEmpty, submits.allSatisfy({ $0.words.leadsBackAsButton || $0.words.declines }) {
            purpose.insert(.back)
        }
        return purpose
    }

    private var isContact: Bool {
        form.passwords.isEmpty
            && fields.contains { $0.kind == .textarea && !$0.isReadOnly && !$0.words.isOptional && $0.words.has(.contact) }
    }

    private var isSearch: Bool {
        let names = inputs.map { $0.name.lowercased() }
        if form.hints.contains("search") || names == ["q"] || names == ["s"] || names == ["search"] { return true }
        guard form.method == .get, form.passwords.isEmpty, inputs.contains(where: \.control.isField) else { return false }
        return submits.contains { $0.label.has(.search) } || action.has(.search)
    }

    private var readsTerms: Bool {
        guard inputs.isEmpty, let first = submits.first, first.label.isTerms, first.label.has(.reading) else { return false }
        let label = first.control.label.lowercased()
        return !["accept", "agree", "i "].contains(where: label.hasPrefix)
    }

    /// Whether the guest chooses among several devices.
    private var choosesDevices: Bool {
        let shown = inputs.filter {
            !$0.isInvisible && !$0.words.isLanguage && !$0.words.isTerms && !$0.words.agreesToMore
        }
        return shown.contains { $0.kind == .select && $0.options.count > 1 }
            || [HTMLControl.InputType.radio, .checkbox].contains { kind in shown.count { $0.kind == kind } > 1 }
    }

    /// Returns the controls in which the user types or chooses. The user always chooses the device that goes offline, whatever the page
    /// has chosen.
    func typed(choosingDevices: Bool) -> [TypedControl] {
        let chosen = Set(inputs.lazy.filter { $0.kind == .radio && $0.isChecked }.map(\.name))
        func isChosen(_ control: TypedControl) -> Bool {
            switch control.kind {
            case .radio: chosen.contains(control.name)
            case .select: control.chosenOption != nil
            default: false
            }
        }
        return inputs.filter {
            $0.kind != .checkbox && !$0.isInvisible && !$0.isReadOnly && (choosingDevices || !isChosen($0))
        }
    }

    func isAside(nothingTyped: Bool) -> Bool {
        let isSocialForm = action.isSocial && HTMLPage.Hyperlink(text: "", reference: form.action).leadsToSocial
        return !submits.isEmpty
            && submits.allSatisfy {
                ($0.words.isRecovery && form.drawn != .boxes) || $0.words.isAdvertising
                    || (nothingTyped && ($0.words.isSocial || isSocialForm || $0.words.isCookieNotice))
            }
    }

    func buttons(endingOthers: Bool) -> (usual: TypedControl?, choices: [TypedControl]) {
        let visible = submits.filter {
            !$0.isInvisible && (endingOthers || !$0.words.isLogout) && !$0.words.isPayment
        }
        let own = visible.filter {
            !$0.words.isSocial && !$0.label.leadsBackAsButton && !$0.label.isRecovery && !$0.label.declines
        }
        let button =
            own.first(where: \.label.isOnward) ?? own.first(where: \.label.isOnwardButton) ?? own.first
            // For boxes, no other button is taken: it may request another code instead of submitting the boxes.
            ?? (form.drawn == .boxes ? nil : visible.first ?? submits.first)
        guard let usual = button, usual.kind == .submit, !usual.name.isEmpty else { return (button, []) }
        let others = own.filter {
            $0.kind == .submit && !$0.name.isEmpty && ($0.name, $0.value) != (usual.name, usual.value)
                && $0.formAction == usual.formAction && !$0.label.isFree && !$0.label.isTerms
        }
        return (usual, others.isEmpty ? [] : [usual] + others)
    }
}

extension HTMLPage.Hyperlink {
    /// Whether the link leads to another company's account. Ignores addresses in its query: the page that the user wanted may be one of
    /// them.
    var leadsToSocial: Bool {
        let parts = reference.split { $0 == "?" || $0 == "&" }
        let own = parts.enumerated().filter {
            $0.offset == 0 || !($0.element.contains("://") || $0.element.lowercased().contains("%3a"))
        }
        return Purposes(of: text).isSocial || Purposes(of: own.map(\.element).joined(separator: " ")).isSocial
    }
}

extension HTMLForm {
    /// The identity of the form: its address without the query, which may contain tokens, and the names of its controls.
    package var identity: [String] {
        let place = action.split(separator: "?", omittingEmptySubsequences: false).first ?? ""
        return [String(place)] + controls.map(\.name)
    }

    /// Makes a form that only leads to an address, in place of a link or refresh.
    package init(leadingTo target: WebURL, label: String = "") {
        self.init(
            action: target.text, method: .get, hints: "", isInvisible: false,
            controls: [HTMLControl(kind: .submit, name: "", label: label)], text: "")
    }
}
