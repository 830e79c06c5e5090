import HotspotCore

/// One way to log in that a page offers.
struct LoginOption: Sendable {
    var form: HTMLForm
    /// The names of the controls that the user fills in for it, without boxes.
    var names: [String]
    /// The other ways, which are only offered where the user is asked anyway.
    var others: [LoginOption] = []
}

/// The choice among a page's forms and links.
enum FormChoice: Sendable {
    /// The ways to log in, of which the user fills in one.
    case options([LoginOption])
    /// There is a login, but it must not be sent from here, with the reason.
    case refuse(String)
    /// The page has nothing that could be a login.
    case nothing

    private static let optionLimit = 3

    /// - Parameters:
    ///   - answered: the names of the answers that there are.
    ///   - refused: the names of those that the portal refused.
    ///   - sent: the marks of the forms that were sent before, and have led here.
    init(
        _ page: HTMLPage, at url: WebURL, answered: Set<String> = [], refused: Set<String> = [], behind sent: Set<[String]>? = nil
    ) {
        var candidates = page.forms.filter { Self.isCandidate($0, page) }
        // On a first page the address may be what access costs, and a page that was sent may come again.
        if let sent { candidates.removeAll { FormWords.isNewsletter($0) && !sent.contains($0.mark) } }
        if candidates.isEmpty, let language = Self.languageStep(of: page, at: url) { candidates = [language] }
        let visible = candidates.filter { !$0.isInvisible }
        let refusal = { (form: HTMLForm) in Self.refusal(of: form, on: page) }
        var open = visible.filter { refusal($0) == nil }
        // A form that leads nowhere is a wrapper for the page's other forms.
        if open.contains(where: { !Self.typed(in: $0).isEmpty && !$0.leadsNowhere }) { open.removeAll(where: \.leadsNowhere) }
        let asks = { (form: HTMLForm) in !Self.typed(in: form).isEmpty }
        // Where the login is a script's, no other form is it, such as the one that registers.
        if visible.contains(where: { asks($0) && !Self.pays($0, on: page) }), !open.contains(where: asks) {
            open.removeAll { !Self.goesOnFree($0) }
        }
        // A button below a refusal only leads back.
        if FormWords.saysRefused(page) { open.removeAll { $0.inputs.isEmpty } }
        if open.isEmpty {
            if !visible.contains(where: { !Self.typed(in: $0).isEmpty }), !page.hasLooseField,
                let link = Self.link(on: page, at: url)
            {
                self = .options([LoginOption(form: link, names: [])])
            } else if let reason = visible.lazy.compactMap(refusal).first {
                self = .refuse(reason)
            } else if candidates.contains(where: { !$0.inputs.isEmpty || $0.controls.contains(where: \.isField) }) {
                self = .refuse("The page shows its form only by a script.")
            } else {
                self = .nothing
            }
            return
        }
        func rank(_ form: HTMLForm) -> Int {
            let typed = Self.typed(in: form)
            // The way that was taken, also where it is asked for again.
            if typed.contains(where: { answered.contains($0.name) || refused.contains($0.name) }) { return 0 }
            guard typed.isEmpty else { return 2 }
            // Of two buttons, the one without a price.
            if PriceMention(of: form, on: page) != .elsewhere { return 4 }
            // A button for access may also be one that registers.
            return FilledForm.button(of: form).map { FormWords.isOnward($0.label) || FormWords.isFree($0.label) } ?? true ? 1 : 3
        }
        let ranks = open.map(rank)
        let best = open[open.indices.min { (ranks[$0], $0) < (ranks[$1], $1) }!]
        // A trial is given once: where an account would do as well, the user decides.
        let isRefused = Self.typed(in: best).contains { refused.contains($0.name) }
        let trial =
            open.first { !asks($0) && (Self.beginsTrial($0) || (isRefused && Self.goesOnFree($0))) }
            ?? Self.trialLink(on: page, at: url)
        let ways = open.filter(asks)
        if let trial, !ways.isEmpty, asks(best) || Self.beginsTrial(best) {
            let first = asks(best) ? [best] + ways.filter { $0 != best } : ways
            self = .options(first.flatMap(Self.options).prefix(Self.optionLimit - 1) + [LoginOption(form: trial, names: [])])
            return
        }
        guard asks(best) else {
            let others = ways.flatMap(Self.options).prefix(Self.optionLimit - 1)
            self = .options([LoginOption(form: best, names: [], others: Array(others))])
            return
        }
        self = .options(Array(([best] + ways.filter { $0 != best }).flatMap(Self.options).prefix(Self.optionLimit)))
    }

    /// Returns the controls of a form that the user types or chooses in.
    static func typed(in form: HTMLForm) -> [HTMLControl] {
        let inputs = form.inputs
        let chosen = Set(inputs.lazy.filter { $0.kind == .radio && $0.isChecked }.map(\.name))
        // Which of their devices goes offline is the user's choice, whatever the page has chosen.
        let mayChoose = !form.endsOthers
        return inputs.filter {
            $0.kind != .checkbox && !$0.isInvisible && !$0.isReadOnly && !(mayChoose && isChosen($0, chosen))
        }
    }

    /// Returns whether the page has chosen already.
    ///
    /// - Parameter chosen: the names of the groups of radio buttons that have a checked one.
    private static func isChosen(_ control: HTMLControl, _ chosen: Set<String>) -> Bool {
        switch control.kind {
        case .radio: chosen.contains(control.name)
        case .select: control.preselected.map { !$0.value.isEmpty && !$0.isDisabled && !FormWords.isUndecided($0.label) } ?? false
        default: false
        }
    }

    /// Returns the ways to log in with one form: an account or a voucher, if it has fields for both.
    private static func options(of form: HTMLForm) -> [LoginOption] {
        let typed = typed(in: form)
        let vouchers = typed.filter { FormWords.isVoucher($0.words) }.map(\.name)
        let account = typed.map(\.name).filter { !vouchers.contains($0) }
        let hasPassword = typed.contains { $0.kind == .password && !vouchers.contains($0.name) }
        guard hasPassword, !vouchers.isEmpty, !typed.contains(where: \.isRequired) else {
            return [LoginOption(form: form, names: typed.map(\.name))]
        }
        return [LoginOption(form: form, names: account), LoginOption(form: form, names: vouchers)]
    }

    /// Returns whether a form goes on without an account, beside one that asks for it.
    private static func goesOnFree(_ form: HTMLForm) -> Bool {
        guard typed(in: form).isEmpty, let button = FilledForm.button(of: form) else { return false }
        return FormWords.isFree(button.label)
    }

    private static func beginsTrial(_ form: HTMLForm) -> Bool {
        FilledForm.button(of: form).map { FormWords.isTrial($0.label) } ?? false
    }

    /// Returns the link that begins a trial, as a form that has no fields.
    private static func trialLink(on page: HTMLPage, at url: WebURL) -> HTMLForm? {
        let link = page.links.first {
            !$0.isInert && $0.text.count <= 60 && FormWords.isTrial($0.text) && !FormWords.isPayment($0.text)
        }
        guard let link, let target = WebURL(link.reference, relativeTo: page.base), target != url, isSameSite(target, url) else {
            return nil
        }
        return HTMLForm(leadingTo: target, label: link.text)
    }

    /// Returns the form of a first page that asks for nothing but the language, and goes on.
    private static func languageStep(of page: HTMLPage, at url: WebURL) -> HTMLForm? {
        let visible = page.forms.filter { !$0.isInvisible }
        guard visible.count == 1, FormWords.isLanguage(visible[0]), !page.hasLooseField, link(on: page, at: url) == nil,
            visible[0].submits.contains(where: { FormWords.isOnward($0.label) })
        else { return nil }
        return visible[0]
    }

    private static func isCandidate(_ form: HTMLForm, _ page: HTMLPage) -> Bool {
        let labels = form.submits.map(\.words)
        if FormWords.isContact(form) || FormWords.isSearch(form) || FormWords.isLanguage(form) || FormWords.readsTerms(form) {
            return false
        }
        if form.isLogoff { return false }
        let isOther = { (text: String) in
            FormWords.isRecovery(text) || FormWords.isAdvertising(text)
                || (typed(in: form).isEmpty && (FormWords.isSocial(text, to: form.action) || FormWords.isCookieNotice(text)))
        }
        if !labels.isEmpty, labels.allSatisfy(isOther) { return false }
        let leadsAway = { (label: String) in FormWords.leadsBack(button: label) || FormWords.declines(label) }
        if form.inputs.isEmpty, !labels.isEmpty, labels.allSatisfy(leadsAway) { return false }
        return !form.submits.isEmpty || !form.inputs.isEmpty || page.submitsItself
    }

    /// Returns why a form must not be sent from here; `nil` if it may.
    private static func refusal(of form: HTMLForm, on page: HTMLPage) -> String? {
        if pays(form, on: page) { return "The page asks for a payment or names a price, and hotspotd pays for nothing." }
        if let reason = form.browserReason { return reason }
        if form.endsOthers, typed(in: form).isEmpty { return "The page asks which devices to disconnect; several can be ticked." }
        if form.encoding == .text { return "The page's form has an encoding that only browsers send." }
        if form.passwords.count > 1 { return "The page wants a new account with a password." }
        let fields = form.fields.filter { !$0.isReadOnly }
        if !fields.isEmpty, fields.allSatisfy(\.name.isEmpty) {
            return "The page's fields have no names; only a script can send them."
        }
        let names = fields.map(\.name).filter { !$0.isEmpty }
        if Set(names).count < names.count { return "The page has several fields of one name." }
        if form.passwords.contains(where: { $0.isInvisible && $0.value.isEmpty }) {
            return "The page hides its password field; this form was not sent."
        }
        let buttons = form.submits
        if form.controls.allSatisfy({ $0.kind != .checkbox }), typed(in: form).isEmpty, !buttons.isEmpty {
            if buttons.allSatisfy(\.isInvisible) { return "The page shows its button only by a script." }
            if buttons.allSatisfy(\.isDisabled) { return "A script of the page has to enable its button." }
            let label = FilledForm.button(of: form)?.label ?? ""
            if !label.isEmpty, !page.submitsItself, !FormWords.isOnwardButton(label) {
                return "The page's button does not say that it goes on."
            }
        }
        return nil
    }

    /// Returns whether a form pays by what it asks for, or its text says that access costs.
    private static func pays(_ form: HTMLForm, on page: HTMLPage) -> Bool {
        let buttons = form.submits.filter { !$0.isInvisible }
        if !buttons.isEmpty, buttons.allSatisfy({ FormWords.isPayment($0.words) }) { return true }
        let typed = typed(in: form)
        // A card beside other questions, and without a word of paying, may be a gym's.
        let isBanks = {
            typed.count == 1 || FormWords.asksToPay(page.text) || FormWords.hasPrice(page.text)
                || form.controls.contains(where: Self.isOfBankCard)
        }
        let asksToPay = typed.contains {
            FormWords.asksToPay($0.words) || (FormWords.asksForCard($0.label) && isBanks())
        }
        return asksToPay || form.inputs.contains(where: isTariff) || PriceMention(of: form, on: page) == .access
    }

    /// Returns whether a control is for what stands on a bank's card beside its number.
    private static func isOfBankCard(_ control: HTMLControl) -> Bool {
        let words = control.words.lowercased()
        return ["cvc", "cvv", "cvn", "expir", "mm/yy", "mm / yy", "mm/jj"].contains { words.contains($0) }
    }

    /// Returns whether a control is a choice among sums, also where the page has chosen already.
    private static func isTariff(_ control: HTMLControl) -> Bool {
        switch control.kind {
        case .radio: FormWords.hasPrice(control.words) || Currencies.endsWithSum(control.label)
        case .select:
            FormWords.hasPrice(control.options.map(\.label).joined(separator: " "))
                || control.options.contains { Currencies.endsWithSum($0.label) }
        case .hidden, .text, .password, .email, .telephone, .checkbox, .textarea, .submit, .image, .button, .file: false
        }
    }

    /// Returns the only link to go on of a page without forms, or the only one without an account, as a form that has no fields.
    private static func link(on page: HTMLPage, at url: WebURL) -> HTMLForm? {
        // The link of a page that refuses only leads back.
        if !page.errors.isEmpty || FormWords.failure(in: page) != nil { return nil }
        let soundsDone = FormWords.soundsLikeSuccess(page)
        var targets: [String: HTMLPage.Hyperlink] = [:]
        for link in page.links where !link.isInert && link.text.count <= 60 {
            let isOther =
                [
                    FormWords.isLogout, FormWords.isPayment, FormWords.isAdvertising, FormWords.isRecovery,
                ].contains { $0(link.text + " " + link.reference) } || FormWords.isSocial(link.text, to: link.reference)
            guard !isOther, !FormWords.leadsBack(link.text), !FormWords.declines(link.text),
                let target = WebURL(link.reference, relativeTo: page.base),
                target != url, !files.contains(where: { target.path.lowercased().hasSuffix($0) })
            else { continue }
            // A page may greet its user before the gateway lets anyone in.
            if opensGateway(target) {
                if FormWords.isOnwardButton(link.text) { targets[target.text] = link }
            } else if !soundsDone, FormWords.isOnward(link.text) || FormWords.isFree(link.text), isSameSite(target, url) {
                targets[target.text] = link
            }
        }
        if targets.count > 1 { targets = targets.filter { FormWords.isFree($0.value.text) } }
        guard targets.count == 1, let (target, link) = targets.first, let address = WebURL(target) else { return nil }
        return HTMLForm(leadingTo: address, label: link.text)
    }

    /// The endings of what a browser saves in place of showing it.
    private static let files = [".apk", ".exe", ".msi", ".dmg", ".zip", ".pdf", ".mobileconfig", ".crt", ".cer", ".pem"]

    /// Whether an address is one by which a gateway opens: those of nodogsplash, openNDS and Meraki.
    private static func opensGateway(_ target: WebURL) -> Bool {
        guard target.scheme == "http" || target.scheme == "https" else { return false }
        let query = target.query ?? ""
        return ["/nodogsplash_auth/", "/opennds_auth/"].contains { target.path.hasPrefix($0) && query.contains("tok=") }
            || (target.path.hasSuffix("/splash/grant") && target.host.hasSuffix(".network-auth.com"))
    }

    /// Returns whether two addresses have a host of one domain, or one numeric host.
    static func isSameSite(_ target: WebURL, _ page: WebURL) -> Bool {
        guard target.scheme == "http" || target.scheme == "https" else { return false }
        func site(_ host: String) -> Substring {
            InternetAddress(host) == nil ? host.split(separator: ".").suffix(2).joined(separator: ".")[...] : host[...]
        }
        return site(target.host) == site(page.host)
    }
}

extension HTMLForm {
    /// It ends a session of this device or of another one.
    private var isAboutLogoff: Bool { submits.contains { FormWords.isLogout($0.words) } || FormWords.isLogout(action) }

    /// It ends this device's session.
    var isLogoff: Bool { isAboutLogoff && !endsOthers }

    /// It ends the sessions of other devices, as the guest chooses among them: an account has room for a few at a time.
    var endsOthers: Bool {
        guard isAboutLogoff else { return false }
        let shown = inputs.filter {
            !$0.isInvisible && !FormWords.isLanguage($0.words) && !FormWords.isTerms($0.words)
                && !FormWords.agreesToMore($0.words)
        }
        return shown.contains { $0.kind == .select && $0.options.count > 1 }
            || [HTMLControl.InputType.radio, .checkbox].contains { kind in shown.count { $0.kind == kind } > 1 }
    }

    /// It has nothing but buttons, so that no gateway could tell what it is for.
    var carriesNothing: Bool { !action.contains("?") && controls.allSatisfy { $0.kind == .submit } }

    /// What tells it from others, apart from tokens: its address without the query, and the names of its controls.
    var mark: [String] {
        let place = action.split(separator: "?", omittingEmptySubsequences: false).first ?? ""
        return [String(place)] + controls.map(\.name)
    }

    /// It has no address and would only show its page again.
    var leadsNowhere: Bool { action.isEmpty && method == .get && submits.allSatisfy { $0.formAction == nil } }

    /// A form that only goes on to an address, in place of a link or refresh.
    init(leadingTo target: WebURL, label: String = "") {
        self.init(
            action: target.text, method: .get, hints: "", isInvisible: false,
            controls: [HTMLControl(kind: .submit, name: "", label: label)], text: "")
    }
}
