import BoundHTTP
import ForeignText
import HotspotCore
import PortalPages

/// The decision about the form of a page.
enum SendingRuling: Sendable {
    case send, ask
    /// The form must not be sent; with the reason.
    case refuse(String)
}

/// A page's ways to log in, filled in with the answers that may be sent.
struct SendingCase: Sendable {
    private let engine: FormEngine
    private let page: TypedPage
    private let url: WebURL
    /// The page's ways to log in, and the ways that are offered to the user.
    private let (found, options): ([LoginOption], [LoginOption])
    private let picked: (option: LoginOption, isFilled: Bool)
    /// The answers that may be sent with the chosen form.
    private let answers: [String: String]
    /// The reasons why other answers must not be sent.
    private let faults: [String]
    /// The fields of the question.
    private let fields: [Field]
    private let filled: Result<FilledForm, TransferError>
    /// The consents that the user has not given.
    private let consents: [ConsentRequired]

    private var form: TypedForm { picked.option.form }

    init(_ engine: FormEngine, _ found: [LoginOption], on page: TypedPage, at url: WebURL) {
        (self.engine, self.page, self.url, self.found) = (engine, page, url, found)
        options = engine.offered(found, on: page)
        let picked = engine.pick(options)
        self.picked = picked
        let form = picked.option.form
        // Fields of the ways that were not chosen are sent as the page fills them in.
        let unpicked = picked.isFilled ? Set(options.flatMap(\.names)).subtracting(picked.option.names) : []
        let valid = engine.validAnswers(for: form).filter { !unpicked.contains($0.key) }
        let faulty = form.inputs.compactMap { control in
            valid[control.answerName].flatMap { Self.fault(in: $0, for: control) }.map { (control.answerName, $0) }
        }
        faults = faulty.map(\.1)
        var answers = valid.filter { answer in !faulty.contains { $0.0 == answer.key } }
        answers.merge(engine.earlierTicks(of: picked.option, isFilled: picked.isFilled, answers: answers)) { $1 }
        self.answers = answers
        do throws(TransferError) {
            filled = .success(
                try FilledForm(
                    form, on: page.page, at: url, answers: answers, consent: engine.consent || engine.saysYesToTerms,
                    redirects: engine.redirects))
        } catch {
            filled = .failure(error)
        }
        consents = (try? filled.get()).map { engine.consentRequired(for: $0, form, at: url) } ?? []
        var fields = Self.fields(engine, options, picked, answers).filter { !unpicked.contains($0.name) }
        fields += Self.boxes(engine, form, page)
        if let target = (try? filled.get())?.target {
            fields += consents.filter { $0 != .answersElsewhere }.map { $0.box(for: target) }
        }
        self.fields = fields
    }

    /// Is the form sent, or is the user asked?
    static let rules: [PageRule<SendingCase, SendingRuling>] = [
        PageRule("Q1", "hotspotd refuses a form that would put an e-mail address and its password into an unencrypted address.") {
            sending in
            sending.found.contains { sending.givesAway($0.form) }
                ? .refuse("The page would send an e-mail address and its password as part of an unencrypted address.") : nil
        },
        PageRule("Q2", "hotspotd refuses a form whose address is not allowed or is too long.") {
            if case .failure(let error) = $0.filled { .refuse(error.description) } else { nil }
        },
        PageRule("Q3", "hotspotd asks if a browser would refuse an answer, such as a date in words.") {
            $0.faults.isEmpty ? nil : .ask
        },
        PageRule("Q4", "hotspotd asks if the page offers several ways to log in, and none is filled in.") {
            $0.picked.isFilled ? nil : .ask
        },
        PageRule("Q5", "hotspotd asks if a field or box that must be filled in has no answer.") { $0.isOpen ? .ask : nil },
        PageRule("Q6", "hotspotd asks if a stored password would be sent unencrypted, and was not released for that.") {
            $0.needsUser ? .ask : nil
        },
        PageRule("Q7", "hotspotd asks if the answers go to another origin, and the user has not agreed to that.") {
            $0.consents.contains(.answersElsewhere) ? .ask : nil
        },
        PageRule("Q8", "Any other form is sent.") { _ in .send },
    ]

    var decision: Ruled<FormEngine.FormDecision> {
        let ruled = Self.rules.ruling(on: self)
        switch (ruled.ruling, filled) {
        case (.refuse(let reason), _): return ruled.becoming(.refuse(reason))
        case (_, .failure(let error)): return ruled.becoming(.refuse(error.description))
        case (.send, .success(let filled)): return ruled.becoming(.submit(filled, form.form))
        case (.ask, .success(let filled)):
            let prompt = engine.prompt(fields, options, page, url, filled, faults.first ?? missing)
            return ruled.becoming(.ask(prompt, form.form))
        }
    }

    /// Returns whether a form puts an e-mail address and a password into an unencrypted address. A gateway's own user names are not e-mail addresses.
    private func givesAway(_ form: TypedForm) -> Bool {
        form.method == .get && !form.passwords.isEmpty && form.fields.contains { FormEngine.kind(of: $0) == .email }
            && WebURL(form.form.action, relativeTo: page.base)?.isSecure != true
    }

    private var isOpen: Bool {
        fields.contains { field in
            guard field.required else { return false }
            guard let answer = answers[field.name] else { return true }
            return field.kind == .checkbox ? !FilledForm.isYes(answer) : answer.isEmpty && !field.mayBeEmpty
        }
    }

    private var needsUser: Bool {
        guard let filled = try? filled.get(), filled.carriesPassword, !engine.isTypedNow else { return false }
        let isPlain = !(url.isSecure && filled.target.isSecure)
        // The daemon released the answers for the page's origin. If the page is encrypted and the form's target is not, that does not suffice.
        return isPlain && !(engine.allowsPlainHTTP && !(url.isSecure && !filled.target.isSecure))
    }

    /// The answers that the user has just typed.
    private var typed: [String: String] { Self.typed(engine, answers) }

    private static func typed(_ engine: FormEngine, _ answers: [String: String]) -> [String: String] {
        engine.isTypedNow ? answers.filter { engine.answers.isFromUser($0.key) } : [:]
    }

    private static func fields(
        _ engine: FormEngine, _ options: [LoginOption], _ picked: (option: LoginOption, isFilled: Bool),
        _ answers: [String: String]
    ) -> [Field] {
        // If one way needs no typing, Enter must select it, so no earlier answers are offered.
        let mayStayEmpty = !picked.isFilled && options.contains(where: \.names.isEmpty)
        return engine.fields(
            of: picked.isFilled ? [picked.option] : options, consent: engine.consent || engine.saysYesToTerms,
            values: mayStayEmpty ? [:] : typed(engine, answers).merging(engine.answers.sent.mapValues(\.value)) { $1 })
    }

    /// Returns the boxes that hotspotd adds: for terms without a box on the page, and for a price on the page.
    private static func boxes(_ engine: FormEngine, _ form: TypedForm, _ page: TypedPage) -> [Field] {
        // The page cannot accept its terms for the user.
        let accepted = Set(form.inputs.filter { $0.kind == .radio && $0.isChecked && !$0.label.declines }.map(\.name))
        let hasTermsBox = form.inputs.contains {
            ($0.kind == .checkbox || ($0.kind == .radio && !accepted.contains($0.name))) && $0.words.isTerms
                && !$0.words.agreesToMore
        }
        let isBound = !hasTermsBox && !engine.consent && !engine.saysYesToTerms && engine.isBinding(form, page)
        let terms =
            isBound
            ? Field(name: FormEngine.termsField, label: "I accept the terms of use", kind: .checkbox, required: true) : nil
        let beside = engine.pricesAreKnown ? nil : PriceMention(beside: form, on: page).box
        return [terms, PriceMention(of: form, on: page).box ?? beside].compactMap(\.self)
    }

    /// If there are several ways, the sentence about the answer that is missing in the way that the user has begun to fill in; `nil` if none is
    /// missing.
    private var missing: String? {
        guard options.count > 1, !engine.hasSent(fields) else { return nil }
        let typed = typed
        func isTyped(_ name: String) -> Bool { typed[name]?.isEmpty == false }
        guard let begun = (picked.isFilled ? [picked.option] : options).first(where: { $0.names.contains(where: isTyped) }),
            let name = begun.names.first(where: { !isTyped($0) })
                ?? fields.first(where: { $0.kind == .checkbox && $0.required && !FilledForm.isYes(typed[$0.name] ?? "") })?.name
        else { return nil }
        return "\"\(engine.label(of: name, in: begun.form))\" was not answered, so nothing was sent."
    }

    /// Returns why an answer must not be sent; `nil` if it may be sent. Like a browser, limits its length and accepts no control characters.
    private static func fault(in answer: String, for control: TypedControl) -> String? {
        let label = FormEngine.label(of: control)
        if answer.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "The answer to \"\(label)\" contains control characters, so nothing was sent."
        }
        if control.isDate == true, !isDate(answer) {
            return "The answer to \"\(label)\" is not a date like 1990-07-14, so nothing was sent."
        }
        if let limit = control.maxLength, limit >= 0, answer.utf16.count > limit {
            return "The answer to \"\(label)\" is longer than the \(limit) characters that the page allows, so nothing was sent."
        }
        return answer.utf8.count > FormEngine.answerLimit ? "The answer to \"\(label)\" is too long, so nothing was sent." : nil
    }

    private static func isDate(_ answer: String) -> Bool {
        let parts = answer.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [4, 2, 2] && parts.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }
}

extension FormEngine {
    /// Returns the answers without those that would accept terms which the user does not accept now: a stored answer is not consent.
    fileprivate func validAnswers(for form: TypedForm) -> [String: String] {
        var names: Set<String> = [Self.termsField]
        // The choice of the device that goes offline is not reused: today it may be another device.
        if form.endsOthers { names.formUnion(form.inputs.map(\.answerName)) }
        for input in form.inputs where input.words.isTerms {
            switch input.kind {
            case .checkbox: names.insert(input.answerName)
            case .radio, .select: if !consent { names.insert(input.name) }
            case .text, .email, .telephone, .textarea, .password, .hidden, .submit, .image, .button, .file: break
            }
        }
        return answers.values.filter { answer in
            !(names.contains(answer.key) || answer.key.hasPrefix(ConsentRequired.prefix))
                || (isTypedNow && answers.isFromUser(answer.key))
        }
    }

    /// If this way is filled in, returns its boxes that were ticked and sent earlier in this command.
    fileprivate func earlierTicks(of option: LoginOption, isFilled: Bool, answers valid: [String: String]) -> [String: String] {
        guard isFilled, !option.names.isEmpty, option.names.allSatisfy({ valid[$0] != nil }) else { return [:] }
        let ticks = option.form.inputs.filter {
            $0.kind == .checkbox && valid[$0.answerName] == nil && answers.wasSentNow($0.answerName)
        }
        return ticks.reduce(into: [:]) { $0[$1.answerName] = answers.sent($1.answerName) }
    }
}
