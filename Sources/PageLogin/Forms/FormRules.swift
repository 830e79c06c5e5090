import BoundHTTP
import HotspotCore
import PortalPages

/// A decision about one form.
enum FormRuling: Sendable {
    /// The form serves another purpose than a login.
    case other
    /// The form may be the login, but is not visible on the page.
    case hidden
    /// The form is a login that hotspotd must not send; with the reason.
    case refused(String)
    /// The form may be the login.
    case login

    var isOther: Bool { if case .other = self { true } else { false } }
    var isHidden: Bool { if case .hidden = self { true } else { false } }
    var isLogin: Bool { if case .login = self { true } else { false } }
    var reason: String? { if case .refused(let reason) = self { reason } else { nil } }
}

/// A form on its page.
struct FormCase: Sendable {
    let form: TypedForm
    let page: TypedPage
    let url: WebURL
    /// The names of the expected answers (``FormAnswers/expected``), and of the answers that the portal refused.
    var answered: Set<String> = []
    var refused: Set<String> = []
    /// The identities of the forms that were sent before and led to this page; `nil` on a first page.
    var sent: Set<[String]>?

    /// May a form be the login?
    static let rules: [PageRule<FormCase, FormRuling>] = [
        PageRule("F1", "A form with a multi-line field sends a message to people.") {
            $0.form.purpose.contains(.contact) ? .other : nil
        },
        PageRule("F2", "A form that searches is not a login.") { $0.form.purpose.contains(.search) ? .other : nil },
        PageRule(
            "F3",
            "A form that only chooses the language is not a login, unless the page has nothing else and the form leads to the next page."
        ) {
            $0.form.purpose.contains(.language) && !ChoiceCase.isOnlyStep($0.form, of: $0.page, at: $0.url) ? .other : nil
        },
        PageRule("F4", "A form that only opens the terms is not a login.") { $0.form.purpose.contains(.reading) ? .other : nil },
        PageRule("F5", "A form that ends this device's session is not a login.") { $0.form.isLogoff ? .other : nil },
        PageRule(
            "F6",
            "A form or layer is not a login if all its buttons are for a forgotten password, advertising, another company's account or cookies."
        ) {
            $0.form.purpose.contains(.aside) ? .other : nil
        },
        PageRule("F7", "A form without fields to fill in is not a login if all its buttons lead back or decline.") {
            $0.form.purpose.contains(.back) ? .other : nil
        },
        PageRule("F8", "A form without a button or a field cannot be sent, unless a script of the page sends it.") {
            $0.form.submits.isEmpty && $0.form.inputs.isEmpty && !$0.page.submitsItself ? .other : nil
        },
        // On a first page, such a form counts, because guests may pay for access with their e-mail address. A form that was sent counts if it comes
        // again.
        PageRule("F9", "After a form was sent, a form that asks for an e-mail address for advertising is not a login.") {
            guard let sent = $0.sent, $0.form.purpose.contains(.newsletter) else { return nil }
            return sent.contains($0.form.form.identity) ? nil : .other
        },
        PageRule("F10", "An invisible form is not sent, because only a script shows it.") { $0.form.isInvisible ? .hidden : nil },
        PageRule("F11", "hotspotd refuses a form that pays, or whose text says that access costs money.") {
            $0.pays ? .refused("The page asks for a payment or names a price; hotspotd never pays.") : nil
        },
        PageRule("F12", "hotspotd refuses a form if a script of the page takes part in sending it.", needsScripts: true) {
            $0.form.browserReason.map(FormRuling.refused)
        },
        PageRule("F13", "hotspotd refuses a form that disconnects several devices at once.") {
            $0.form.endsOthers && $0.form.typed.isEmpty
                ? .refused("The page asks which devices to disconnect, and several can be ticked.") : nil
        },
        PageRule("F14", "hotspotd refuses a form whose encoding is text/plain.") {
            $0.form.encoding == .text ? .refused("The page's form has an encoding that only browsers send.") : nil
        },
        PageRule("F15", "hotspotd refuses a form with two password fields, because it creates an account.") {
            $0.form.passwords.count > 1 ? .refused("The page asks you to create an account.") : nil
        },
        PageRule("F16", "hotspotd refuses a form if none of its fields has a name.", needsScripts: true) {
            let fields = $0.open
            return !fields.isEmpty && fields.allSatisfy(\.name.isEmpty)
                ? .refused("The page's fields have no names; only a script can send them.") : nil
        },
        PageRule("F17", "hotspotd refuses a form if several of its fields have the same name.") {
            let names = $0.open.map(\.name).filter { !$0.isEmpty }
            return Set(names).count < names.count ? .refused("Several fields of the page have the same name.") : nil
        },
        PageRule("F18", "hotspotd refuses a form whose password field is hidden and empty.", needsScripts: true) {
            $0.form.passwords.contains { $0.isInvisible && $0.value.isEmpty }
                ? .refused("The page hides its password field, so its form was not sent.") : nil
        },
        PageRule("F19", "hotspotd refuses a form that has nothing to fill in or tick, and no visible button.", needsScripts: true)
        {
            $0.hasOnlyButtons && $0.form.submits.allSatisfy(\.isInvisible)
                ? .refused("Only a script shows the page's button.") : nil
        },
        PageRule(
            "F20", "hotspotd refuses a form that has nothing to fill in or tick, and whose buttons are all disabled.",
            needsScripts: true
        ) {
            $0.hasOnlyButtons && $0.form.submits.allSatisfy(\.isDisabled)
                ? .refused("Only a script of the page can enable its button.") : nil
        },
        PageRule(
            "F21", "hotspotd refuses a form that has nothing to fill in or tick, and whose button does not say that it continues."
        ) {
            guard $0.hasOnlyButtons, !$0.choosesLanguage, !$0.page.submitsItself, let button = $0.form.button,
                !button.control.label.isEmpty,
                !button.label.isOnwardButton
            else { return nil }
            return .refused("The page's button does not say that it continues.")
        },
        PageRule("F22", "Any other form may be the login.") { _ in .login },
    ]

    /// Ranks several forms: the form with the lowest number goes first.
    static let ranks: [PageRule<FormCase, Int>] = [
        PageRule("R1", "First place: a form with a field that was answered before, even if the portal refused the answer.") {
            form in
            form.form.typed.contains { form.answered.contains($0.name) || form.refused.contains($0.name) } ? 0 : nil
        },
        PageRule("R2", "Third place: a form with questions.") { $0.form.typed.isEmpty ? nil : 2 },
        PageRule("R3", "Fifth place: a button with a price.") { PriceMention(of: $0.form, on: $0.page) == .elsewhere ? nil : 4 },
        PageRule("R4", "Second place: among buttons that name languages, the one for English.") {
            $0.choosesLanguage && $0.form.button?.control.label.lowercased().contains("english") == true ? 1 : nil
        },
        PageRule("R5", "Second place: a form without a button, a form whose button continues, or any button for free access.") {
            guard let button = $0.form.button else { return 1 }
            return button.label.isFree || (button.label.isOnward && $0.form.drawn == nil) ? 1 : nil
        },
        // A button for access may also create an account, so it ranks below a form with questions.
        PageRule("R6", "Fourth place: any other button.") { _ in 3 },
    ]

    /// The fields that a guest can fill in.
    private var open: [TypedControl] { form.fields.filter { !$0.isReadOnly } }

    private var hasOnlyButtons: Bool {
        !form.submits.isEmpty && form.typed.isEmpty && form.controls.allSatisfy { $0.kind != .checkbox }
    }

    /// Whether the page has only buttons, each of which names a language.
    var choosesLanguage: Bool {
        page.forms.count > 1
            && page.forms.allSatisfy { form in
                form.inputs.isEmpty && form.submits.count == 1 && form.submits[0].label.has(.tongue)
            }
    }

    /// Whether the form pays, judged by its fields, or by a text that says that access costs money.
    var pays: Bool {
        let buttons = form.submits.filter { !$0.isInvisible }
        if !buttons.isEmpty, buttons.allSatisfy(\.words.isPayment) { return true }
        // A card number beside other questions, without any words about paying, may be the number of a gym's card.
        func isBanks() -> Bool {
            form.typed.count == 1 || page.words.isPayment || form.controls.contains(where: \.isOfBankCard)
        }
        return form.typed.contains { $0.words.asksToPay || ($0.label.asksForCard && isBanks()) }
            || form.inputs.contains(where: \.isTariff) || PriceMention(of: form, on: page) == .access
    }
}

/// A form that may be the login, compared with the other forms of its page.
struct FormBesideCase: Sendable {
    let form: TypedForm
    let page: TypedPage
    /// All forms that may be the login, as earlier rows have left them.
    let open: [TypedForm]
    /// Whether the page has a login that hotspotd cannot send.
    let hasRefusedLogin: Bool

    /// Is a form ignored in favour of others?
    static let rules: [PageRule<FormBesideCase, Bool>] = [
        PageRule(
            "G1",
            "A form without an address is ignored if another form has questions and an address: it only wraps the other form."
        ) {
            $0.form.leadsNowhere && $0.open.contains { !$0.typed.isEmpty && !$0.leadsNowhere } ? true : nil
        },
        PageRule(
            "G2", "If hotspotd cannot send the page's login, a button beside it does not count, unless it is for free access."
        ) {
            $0.hasRefusedLogin && !$0.form.goesOnFree && !$0.open.contains { !$0.typed.isEmpty } ? true : nil
        },
        PageRule("G3", "A button below the portal's refusal is ignored, because it only leads back to the form.") {
            $0.page.saysRefused && $0.form.inputs.isEmpty ? true : nil
        },
        PageRule("G4", "Any other form counts.") { _ in false },
    ]
}
