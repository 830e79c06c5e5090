import ControlAPI
import HotspotCore

/// Asks for answers in dialogs of the desktop: one form for the fields, and a question for each check box.
struct DialogAsker: Questioner {
    let renderer: Renderer
    let program: DialogProgram
    /// The first line of each dialog; `nil` for a question of this computer's portal.
    let introduction: String?
    let end: () -> Failure?

    private static let tries = 3
    /// The first entry of a list: it stands for no choice, or for the stored answer if there is one.
    static let none = "–"

    init(renderer: Renderer, program: DialogProgram, introduction: String? = nil, end: @escaping () -> Failure?) {
        self.introduction = introduction
        self.renderer = Renderer(style: .plain, now: renderer.now)
        self.program = program
        self.end = end
    }

    func ask(_ prompt: PendingPrompt, after earlier: EarlierQuestions) throws(Failure) -> TypedAnswers {
        let terms = renderer.terms(of: prompt)
        var heading = renderer.heading(prompt, isWarned: earlier.warned.contains(prompt.portal)) + terms
        if let introduction { heading[0] = "\(introduction)\n\(heading[0])" }
        if prompt.handsOver {
            let question = prompt.warning == nil ? "This login needs a browser. Open one?" : "Open it in a browser anyway?"
            guard try agrees((heading + ["", question]).joined(separator: "\n"), mayDecline: false) else { throw Self.cancelled }
            let anyway = prompt.warning == nil ? [] : ["--anyway"]
            throw DesktopPrograms.become(DesktopPrograms.own(["browse"] + anyway + [prompt.interface]))
        }
        var answers = TypedAnswers(values: [:])
        if prompt.fields.contains(where: { $0.kind != .checkbox }) {
            try askForm(prompt, heading, earlier, &answers)
            heading = [heading[0]] + terms
        }
        for (index, field) in prompt.fields.enumerated() where field.kind == .checkbox {
            let agreement = Agreement(field.label, prompt)
            // The user's earlier yes still counts if the words are the same.
            var isAgreed = earlier.agreements.contains(agreement)
            if !isAgreed {
                let text = heading + ["", "  \(renderer.bar) \(renderer.label(field, at: index + 1))"]
                isAgreed = try agrees(text.joined(separator: "\n"), mayDecline: !field.required)
            }
            answers.values[field.name] = isAgreed ? "yes" : "no"
            if isAgreed { answers.agreements.insert(agreement) }
        }
        if prompt.fields.isEmpty {
            let question = prompt.termsURL == nil && prompt.terms == nil ? "Continue" : "Accept the terms"
            let agreement = Agreement(question, prompt)
            if !earlier.agreements.contains(agreement) {
                _ = try agrees((heading + ["", "\(question)?"]).joined(separator: "\n"), mayDecline: false)
            }
            answers.agreements.insert(agreement)
        }
        return answers
    }

    func agreesToRemember() throws(Failure) -> Bool { try agrees("Remember these answers for this portal?", mayDecline: true) }

    func pin(_ question: String) throws(Failure) -> String {
        try show("\(question)", [DialogProgram.Entry(label: "PIN", isHidden: true)])[0]
    }

    /// Asks for the fields other than check boxes, and asks again for required fields that the user left empty.
    private func askForm(
        _ prompt: PendingPrompt, _ heading: [String], _ earlier: EarlierQuestions, _ answers: inout TypedAnswers
    ) throws(Failure) {
        var questions = prompt.fields.enumerated().filter { $1.kind != .checkbox }.map { index, field in
            FieldQuestion(
                field, renderer.label(field, at: index + 1), isStored: prompt.stored?.contains(field.name) == true,
                isLeftEmpty: earlier.left.contains(field.name))
        }
        var text = heading + questions.filter(\.isLong).map { "  \(renderer.bar) \($0.label)" }
        for _ in 0..<Self.tries where !questions.isEmpty {
            let values = try show(text.joined(separator: "\n"), questions.map { $0.entry(renderer) })
            var again: [FieldQuestion] = []
            for (question, value) in zip(questions, values) {
                switch question.decide(value) {
                case .stored: answers.stored.append(question.field.name)
                case .answer(let value): answers.values[question.field.name] = value
                case .omitted: break
                case .missing:
                    var next = question
                    next.isLeftEmpty = true
                    again.append(next)
                }
            }
            questions = again
            let isSure = again.contains { !$0.field.mayBeEmpty }
            text =
                [heading[0]] + [
                    isSure
                        ? "Nothing is sent until you answer this."
                        : "The page does not say whether this field is required; you may leave it empty."
                ]
        }
        guard let missing = questions.first else { return }
        throw Failure(.answerNeeded, QuotedProblem.join("A field needs an answer.", missing.label))
    }

    private func show(_ text: String, _ entries: [DialogProgram.Entry]) throws(Failure) -> [String] {
        var outputs: [String] = []
        for command in program.forms(text, entries) {
            let run = try DialogRun(command, end: end)
            guard run.status == 0 else { throw Self.cancelled }
            outputs.append(run.output)
        }
        guard let values = program.values(outputs, entries) else {
            throw Failure(.failed, "Cannot read the answers from \(program.kind.rawValue).")
        }
        return values
    }

    /// Returns whether the user agrees; throws if the user closes the dialog, or declines a question that needs a yes.
    func agrees(_ text: String, mayDecline: Bool) throws(Failure) -> Bool {
        let run = try DialogRun(program.question(text, mayDecline: mayDecline), end: end)
        switch program.reply(status: run.status, output: run.output, mayDecline: mayDecline) {
        case .yes: return true
        case .no: return false
        case .cancelled: throw Self.cancelled
        }
    }

    private static let cancelled = Failure(.answerNeeded, "The dialog was closed.")
}

/// One field of a form in a dialog.
struct FieldQuestion {
    enum Decision: Equatable {
        case stored, omitted, missing
        case answer(String)
    }

    let field: Field
    let label: String
    let isStored: Bool
    /// Whether the user has just left the field empty.
    var isLeftEmpty: Bool

    init(_ field: Field, _ label: String, isStored: Bool, isLeftEmpty: Bool) {
        (self.field, self.label, self.isStored, self.isLeftEmpty) = (field, label, isStored, isLeftEmpty)
    }

    private var choices: [String] { field.kind == .choice ? field.choices ?? [] : [] }

    /// The portal's default. A stored answer is not shown, because it would be in the process list.
    private var preset: String? {
        isStored || field.kind.isSecret ? nil : field.value.flatMap { $0.isEmpty ? nil : $0 }
    }

    private var mayClear: Bool { choices.isEmpty && (isStored || preset != nil) && field.mayBeEmpty }

    /// The longest label in a form, in octets: it must fit on one line.
    private static let limit = 60

    /// Whether the label is too long for a line of the form. That line then shows only the beginning; the text above the form shows the whole label.
    var isLong: Bool { label.utf8.count > Self.limit }

    /// Returns the field as an entry of the dialog.
    func entry(_ renderer: Renderer) -> DialogProgram.Entry {
        let empty = choices.isEmpty ? "empty" : DialogAsker.none
        let hint =
            isStored
            ? " (\(empty) keeps the stored answer\(mayClear ? "; - clears it" : ""))"
            : preset.map { " (\(empty) means \(renderer.safe($0, limit: 60))\(mayClear ? "; - clears it" : ""))" }
                ?? (field.required ? "" : " (optional)")
        return DialogProgram.Entry(
            label: "\(renderer.bar) \(isLong ? renderer.safe(label, limit: Self.limit) : label)\(hint)",
            isHidden: field.kind.isHidden,
            choices: choices.isEmpty ? [] : [DialogAsker.none] + choices.map { renderer.safe($0, limit: 100) })
    }

    /// Returns the meaning of a value from the dialog.
    func decide(_ value: String) -> Decision {
        var value = value
        if !choices.isEmpty {
            let shown = choices.map { Renderer.safe($0, limit: 100) }
            value = shown.firstIndex(of: value).map { choices[$0] } ?? ""
        }
        if mayClear, value == "-" { return .answer("") }
        if isStored, value.isEmpty { return .stored }
        if value.isEmpty, let preset { value = preset }
        guard value.isEmpty else { return .answer(value) }
        if !field.required { return .omitted }
        guard isLeftEmpty, field.mayBeEmpty else { return .missing }
        // An empty answer is sent, because the page does not say that the field is required.
        return .answer("")
    }
}
