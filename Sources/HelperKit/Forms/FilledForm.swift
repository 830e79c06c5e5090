import ForeignText
import HotspotCore

/// A form and the request that submits it, composed as by a browser (HTML Standard, section "Form submission").
package struct FilledForm: Sendable {
    /// The request.
    package let request: HTTPRequest
    /// The values that are sent, by name, in the form's order.
    package let pairs: [(name: String, value: String)]
    /// The labels of boxes that are sent because the page ticks them, and agree to no terms; at most five.
    package let ticked: [String]
    /// The request has answers of the user.
    package let carriesAnswers: Bool
    /// A password is among them.
    package let carriesPassword: Bool
    /// The address of the form's action.
    package let target: WebURL
    /// The action has the same origin as the page.
    package let staysOnOrigin: Bool

    private static let nameLimit = 256
    private static let valueLimit = 8192

    /// Fills a form. Throws ``TransferError`` (`refusedURL`) if its action is refused by ``RedirectPolicy`` or the request is too long.
    ///
    /// - Parameters:
    ///   - url: the page's own address; relative actions are resolved against its base.
    ///   - consent: whether boxes of terms are ticked.
    init(
        _ form: HTMLForm, on page: HTMLPage, at url: WebURL, answers: [String: String], consent: Bool, redirects: RedirectPolicy
    ) throws(TransferError) {
        func isChoice(_ answer: String, _ label: String, _ value: String) -> Bool {
            answer == FormWords.choice(label, value) || answer == label || answer == value
        }
        let buttons = Self.buttons(of: form)
        let pressed = buttons.first.flatMap { first in
            answers[first.name].flatMap { answer in buttons.first { isChoice(answer, $0.label, $0.value) } }
        }
        let button = pressed ?? Self.button(of: form)
        let reference = button?.formAction ?? form.action
        let action = reference.isEmpty ? url : try redirects.target(of: reference, from: page.base)
        try redirects.check(action)
        var pairs: [(name: String, value: String)] = []
        var (typed, password) = (false, false)
        var ticked: [String] = []
        var radios: Set<String> = []
        for control in form.controls where control.name.utf8.count <= Self.nameLimit {
            let answer = answers[control.name]
            if control.kind == .image, control == button {
                let prefix = control.name.isEmpty ? "" : control.name + "."
                pairs += [(prefix + "x", "1"), (prefix + "y", "1")]
            }
            guard !control.name.isEmpty else { continue }
            switch control.kind {
            case .hidden:
                let copied = control.copyOf.flatMap { name in
                    answers[name] ?? form.controls.first { $0.name == name && $0.kind != .hidden }?.value
                }
                pairs.append(
                    (control.name, control.name == "_charset_" ? PageText.name(of: form.charset) : copied ?? control.value))
            case .text, .email, .telephone, .textarea, .password:
                if let answer, !answer.isEmpty {
                    typed = true
                    password = password || control.kind == .password
                }
                pairs.append((control.name, answer ?? control.value))
            case .checkbox:
                guard Self.isTicked(control, answer: answer, consent: consent) else { continue }
                pairs.append((control.name, control.value))
                if answer == nil, !control.isInvisible, !control.label.isEmpty, !FormWords.isTerms(control.words),
                    ticked.count < 5
                {
                    ticked.append(Printable.text(control.label, limit: 100))
                }
            case .radio:
                guard radios.insert(control.name).inserted else { continue }
                let group = form.controls.filter { $0.kind == .radio && $0.name == control.name }
                let chosen = answer.flatMap { answer in group.first { isChoice(answer, $0.label, $0.value) } }
                if let value = (chosen ?? group.last(where: \.isChecked))?.value { pairs.append((control.name, value)) }
            case .select:
                let chosen = answer.flatMap { answer in control.options.first { isChoice(answer, $0.label, $0.value) } }
                if let option = chosen ?? control.preselected, !option.isDisabled { pairs.append((control.name, option.value)) }
            case .submit: if control == button { pairs.append((control.name, control.value)) }
            case .image, .button, .file: break
            }
        }
        pairs = pairs.filter { $0.value.utf8.count <= Self.valueLimit }
            .map { ($0.name, $0.value.replacing("\r\n", with: "\n").replacing("\r", with: "\n").replacing("\n", with: "\r\n")) }
        switch button?.formMethod ?? form.method {
        case .get where pairs.isEmpty && !reference.isEmpty: request = HTTPRequest(action)
        case .get:
            guard let target = action.replacingQuery(WebURL.encode(pairs, in: form.charset)) else {
                throw TransferError(.refusedURL, "too long")
            }
            request = HTTPRequest(target)
        case .post: request = Self.post(pairs, form, to: action)
        }
        self.pairs = pairs
        target = action
        self.ticked = ticked
        carriesAnswers = typed
        carriesPassword = password
        staysOnOrigin = action.origin == url.origin
    }

    private static func post(_ pairs: [(name: String, value: String)], _ form: HTMLForm, to action: WebURL) -> HTTPRequest {
        var request = HTTPRequest(posting: [], to: action)
        switch form.encoding {
        case .urlEncoded: request.body = WebURL.encode(pairs, in: form.charset)
        case .text:
            request.contentType = "text/plain"
            request.body = pairs.map { "\($0.name)=\($0.value)\r\n" }.joined()
        case .multipart:
            let boundary = "----hotspot" + String(UInt64.random(in: .min ... .max), radix: 36)
            request.contentType = "multipart/form-data; boundary=\(boundary)"
            request.body =
                pairs.map { pair in
                    let name = pair.name.replacing("\"", with: "%22").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
                    return "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(pair.value)\r\n"
                }.joined() + "--\(boundary)--\r\n"
        }
        return request
    }

    /// Returns whether a box is sent as ticked: by the answer, else boxes of terms by the consent, those that agree to more than the access
    /// needs never, others as the page has it.
    private static func isTicked(_ control: HTMLControl, answer: String?, consent: Bool) -> Bool {
        if let answer { return isYes(answer) }
        if FormWords.agreesToMore(control.words) { return false }
        if FormWords.isTerms(control.words) { return consent }
        return control.isChecked
    }

    /// Returns whether an answer ticks a box.
    package static func isYes(_ answer: String) -> Bool { ["true", "yes", "on", "1", "y", "ja"].contains(answer.lowercased()) }

    /// Returns the buttons of which each means another login, such as one for an hour and one for the day, the usual one first. The name of
    /// that one stands for all.
    static func buttons(of form: HTMLForm) -> [HTMLControl] {
        guard let usual = button(of: form), usual.kind == .submit, !usual.name.isEmpty else { return [] }
        let others = own(form).others.filter {
            $0.kind == .submit && !$0.name.isEmpty && ($0.name, $0.value) != (usual.name, usual.value)
                && $0.formAction == usual.formAction
                && !FormWords.isFree($0.label) && !FormWords.isTerms($0.label)
        }
        return others.isEmpty ? [] : [usual] + others
    }

    private static func own(_ form: HTMLForm) -> (others: [HTMLControl], visible: [HTMLControl]) {
        let visible = form.submits.filter {
            !$0.isInvisible && (form.endsOthers || !FormWords.isLogout($0.words)) && !FormWords.isPayment($0.words)
        }
        let own = visible.filter {
            !FormWords.isSocial($0.words) && !FormWords.leadsBack(button: $0.label) && !FormWords.isRecovery($0.label)
                && !FormWords.declines($0.label)
        }
        return (own, visible)
    }

    /// Returns the button that submits the login, of several.
    static func button(of form: HTMLForm) -> HTMLControl? {
        let (own, visible) = own(form)
        return own.first { FormWords.isOnward($0.label) } ?? own.first { FormWords.isOnwardButton($0.label) } ?? own.first
            ?? visible.first ?? form.submits.first
    }
}
