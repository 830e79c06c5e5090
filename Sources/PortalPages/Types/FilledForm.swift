import BoundHTTP
import ForeignText
import HotspotCore

/// A form and the request that submits it, composed as in a browser (HTML Standard, section "Form submission").
package struct FilledForm: Sendable {
    /// The request.
    package let request: HTTPRequest
    /// The values that are sent, by name, in the form's order.
    package let pairs: [(name: String, value: String)]
    /// The labels of at most five boxes that the page has ticked and the form sends, and that do not accept terms.
    package let ticked: [String]
    /// The form as it is on the page.
    package let form: HTMLForm
    /// The button to press.
    package let button: HTMLControl?
    /// Whether the request contains answers of the user.
    package let carriesAnswers: Bool
    /// Whether one of the answers is a password.
    package let carriesPassword: Bool
    /// The address to which the form is sent.
    package let target: WebURL
    /// Whether the action has the same origin as the page.
    package let staysOnOrigin: Bool

    private static let nameLimit = 256
    private static let valueLimit = 8192

    /// Fills in a form. Throws ``TransferError`` (`refusedURL`) if ``RedirectPolicy`` refuses its action or the request is too long.
    ///
    /// - Parameters:
    ///   - url: the page's own address; relative actions are resolved against its base.
    ///   - answers: the answers by ``HTMLControl/answerName``.
    ///   - consent: whether to tick boxes that accept terms.
    package init(
        _ form: TypedForm, on page: HTMLPage, at url: WebURL, answers: [String: String] = [:], consent: Bool = false,
        redirects: RedirectPolicy
    ) throws(TransferError) {
        let button = Self.pressed(of: form, answers)
        let reference = button?.formAction ?? form.form.action
        let action = reference.isEmpty ? url : try redirects.target(of: reference, from: page.base)
        try redirects.check(action)
        var controls = Controls(form: form, button: button, answers: answers, consent: consent)
        for control in form.controls where control.name.utf8.count <= Self.nameLimit { controls.add(control) }
        pairs = controls.pairs.filter { $0.value.utf8.count <= Self.valueLimit }
            .map { ($0.name, $0.value.replacing("\r\n", with: "\n").replacing("\r", with: "\n").replacing("\n", with: "\r\n")) }
        var request: HTTPRequest
        switch button?.formMethod ?? form.method {
        case .get where pairs.isEmpty && !reference.isEmpty: request = HTTPRequest(action)
        case .get:
            guard let target = action.replacingQuery(WebURL.encode(pairs, in: form.charset)) else {
                throw TransferError(.refusedURL, "too long")
            }
            request = HTTPRequest(target)
        case .post: request = Self.post(pairs, form.form, to: action)
        }
        request.carriesAnswers = controls.carriesAnswers
        self.request = request
        target = action
        (self.form, self.button) = (form.form, button?.control)
        (ticked, carriesAnswers, carriesPassword) = (controls.ticked, controls.carriesAnswers, controls.carriesPassword)
        staysOnOrigin = action.origin == url.origin
    }

    /// Returns the button to press: the user's choice, or the usual one.
    private static func pressed(of form: TypedForm, _ answers: [String: String]) -> TypedControl? {
        guard let name = form.choices.first?.name, let answer = answers[name] else { return form.button }
        return Choices(form.choices).index(of: answer).map { form.choices[$0] } ?? form.button
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

    /// Returns whether an answer ticks a box.
    package static func isYes(_ answer: String) -> Bool { ["true", "yes", "on", "1", "y", "ja"].contains(answer.lowercased()) }

    /// The values that the controls of a form send, in the form's order.
    private struct Controls {
        let form: TypedForm
        let button: TypedControl?
        let answers: [String: String]
        let consent: Bool
        var pairs: [(name: String, value: String)] = []
        var (carriesAnswers, carriesPassword) = (false, false)
        var ticked: [String] = []
        private var radios: Set<String> = []

        init(form: TypedForm, button: TypedControl?, answers: [String: String], consent: Bool) {
            (self.form, self.button, self.answers, self.consent) = (form, button, answers, consent)
        }

        mutating func add(_ control: TypedControl) {
            let isPressed = control.control == button?.control
            if control.kind == .image, isPressed {
                let prefix = control.name.isEmpty ? "" : control.name + "."
                pairs += [(prefix + "x", "1"), (prefix + "y", "1")]
            }
            guard !control.name.isEmpty, let value = value(of: control, isPressed: isPressed) else { return }
            pairs.append((control.name, value))
        }

        /// Returns the value that a control sends; `nil` if it is not sent.
        private mutating func value(of control: TypedControl, isPressed: Bool) -> String? {
            let answer = answers[control.name]
            switch control.kind {
            case .hidden:
                return control.name == "_charset_" ? CharacterSets.name(of: form.charset) : copied(to: control) ?? control.value
            case .text, .email, .telephone, .textarea, .password:
                if let answer, !answer.isEmpty {
                    carriesAnswers = true
                    carriesPassword = carriesPassword || control.kind == .password
                }
                return answer ?? control.value
            case .checkbox:
                guard isTicked(control) else { return nil }
                noteTick(control)
                return control.value
            case .radio:
                guard radios.insert(control.name).inserted else { return nil }
                let group = form.controls.filter { $0.kind == .radio && $0.name == control.name }
                let chosen = answer.flatMap { Choices(group).index(of: $0) }.map { group[$0] }
                return (chosen ?? group.last(where: \.isChecked))?.value
            case .select:
                let chosen = answer.flatMap { Choices(control.options).index(of: $0) }.map { control.options[$0] }
                return (chosen ?? control.control.preselected).flatMap { $0.isDisabled ? nil : $0.value }
            case .submit: return isPressed ? control.value : nil
            case .image, .button, .file: return nil
            }
        }

        /// Returns the value that a script copies into a hidden control.
        private func copied(to control: TypedControl) -> String? {
            control.copyOf.flatMap { name in
                answers[name] ?? form.controls.first { $0.name == name && $0.kind != .hidden }?.value
            }
        }

        /// Returns whether a box is sent as ticked. The user's answer decides. Without an answer, a box for terms follows the consent, a box that
        /// agrees to more than access requires is never ticked, and any other box stays as it is on the page.
        private func isTicked(_ control: TypedControl) -> Bool {
            // If the page does not require such a box, the user was not asked about it, and the answer is to another form's box.
            let answer = control.words.agreesToMore && !control.isRequired ? nil : answers[control.answerName]
            if let answer { return isYes(answer) }
            if control.words.agreesToMore { return false }
            return control.words.isTerms ? consent : control.isChecked
        }

        /// Notes a box that the page has ticked and that accepts no terms.
        private mutating func noteTick(_ control: TypedControl) {
            let label = control.control.label
            guard answers[control.answerName] == nil, !control.isInvisible, !label.isEmpty, !control.words.isTerms,
                ticked.count < 5
            else {
                return
            }
            ticked.append(Printable.text(label, limit: 100))
        }
    }
}

extension WebURL {
    /// Encodes pairs in a character set of ``PageText``.
    fileprivate static func encode(_ pairs: [(name: String, value: String)], in charset: String) -> String {
        encode(pairs) { PageText.octets(of: $0, in: charset) }
    }
}
