import ControlAPI
import Glibc
import HotspotCore

/// Asks a person, on the terminal or in dialogs.
protocol Questioner {
    /// Asks every field of a prompt.
    ///
    /// - Parameter earlier: the questions that the user has already answered in this dialogue.
    func ask(_ prompt: PendingPrompt, after earlier: EarlierQuestions) throws(Failure) -> TypedAnswers

    /// Asks whether to keep the answers for this portal.
    func agreesToRemember() throws(Failure) -> Bool

    /// Asks for the PIN of the stored answers.
    func pin(_ question: String) throws(Failure) -> String
}

extension ControlClient {
    /// Asks for the PIN of the stored answers until it is right. Returns `false` if the user types nothing.
    ///
    /// - Parameters:
    ///   - resumes: whether a login that waits only for the PIN goes on with the stored answers.
    ///   - prepare: called before each try.
    func unlock(
        _ asker: any Questioner, _ question: String, isDialog: Bool, resumes: Bool = true, prepare: () -> Void = {}
    ) throws(Failure) -> Bool {
        var question = question
        while true {
            let pin = try asker.pin(question)
            if pin.isEmpty { return false }
            do throws(Failure) {
                prepare()
                _ = try call("Unlock", resumes ? ["pin": .string(pin)] : ["pin": .string(pin), "resume": false])
                return true
            } catch {
                guard case .wrongPIN(left: 1...) = error.refusal else { throw error }
                if !isDialog { error.report() }
                question = isDialog ? error.message : "PIN"
            }
        }
    }
}

/// Asks for answers on the terminal.
struct Asker: Questioner {
    let renderer: Renderer
    /// The interface of the prompt.
    let interface: String
    /// Returns why the prompt can no longer be answered; `nil` while it waits.
    let end: () -> Failure?

    private static let tries = 3

    /// Asks every field of a prompt. Enter sends the stored answer of a field.
    func ask(_ prompt: PendingPrompt, after earlier: EarlierQuestions) throws(Failure) -> TypedAnswers {
        TerminalLine.dropTypedAhead()
        Output.ask(renderer.heading(prompt, isWarned: earlier.warned.contains(prompt.portal)).joined(separator: "\n") + "\n")
        for line in renderer.terms(of: prompt) { Output.ask(line + "\n") }
        var answers: [String: String] = [:]
        var (stored, cleared): ([String], [String]) = ([], [])
        var agreements: Set<Agreement> = []
        for (index, field) in prompt.fields.enumerated() {
            let label = renderer.label(field, at: index + 1)
            if field.kind == .checkbox {
                let agreement = Agreement(field.label, prompt)
                let answer = try askBox(field, label, isAgreed: earlier.agreements.contains(agreement))
                answers[field.name] = answer
                if answer == "yes" { agreements.insert(agreement) }
                continue
            }
            let isStored = prompt.stored?.contains(field.name) == true
            let isLeftEmpty = earlier.left.contains(field.name)
            if let answer = try askText(field, label, isStored: isStored, isLeftEmpty: isLeftEmpty) {
                answers[field.name] = answer
                // Sends an empty answer only if the user removed a default with `-`; an empty line is not an answer.
                if answer.isEmpty, isStored || preset(of: field) != nil { cleared.append(field.name) }
            } else {
                stored.append(field.name)
            }
        }
        if prompt.handsOver {
            let entry = renderer.entry(prompt.warning)
            Output.ask("  \(entry.prefix(1).uppercased())\(entry.dropFirst()): \(renderer.browse(prompt))\n")
            guard try agrees("  Have you logged in with a browser? [y/N] ", isNeeded: false) else { throw renderer.stays(prompt) }
        } else if prompt.fields.isEmpty {
            let question = prompt.termsURL == nil && prompt.terms == nil ? "Continue" : "Accept the terms"
            let agreement = Agreement(question, prompt)
            let isAgreed = earlier.agreements.contains(agreement)
            _ = try agrees(
                "  \(renderer.bar) \(question)? \(isAgreed ? "[Y/n]" : "[y/n]") ", isNeeded: true, isAgreed: isAgreed)
            agreements.insert(agreement)
        }
        let left = Set(prompt.fields.filter(\.isAssumed).map(\.name) + cleared)
        let values = answers.filter { !$0.value.isEmpty || left.contains($0.key) }
        return TypedAnswers(values: values, stored: stored, agreements: agreements)
    }

    /// Returns the default that is shown; `nil` if there is none.
    private func preset(of field: Field) -> String? {
        field.kind.isSecret ? nil : field.value.flatMap { $0.isEmpty ? nil : $0 }
    }

    func agreesToRemember() throws(Failure) -> Bool {
        try agrees("  Remember these answers for this portal? [y/N] ", isNeeded: false)
    }

    func pin(_ question: String) throws(Failure) -> String { try readLine(question + ": ", true) }

    /// Asks whether to open a portal despite a warning.
    func opensAnyway(_ warning: String) throws(Failure) -> Bool {
        TerminalLine.dropTypedAhead()
        return try agrees("\(renderer.tone("!", .bad)) \(warning) Open it anyway? [y/N] ", isNeeded: false)
    }

    private func askBox(_ field: Field, _ label: String, isAgreed: Bool) throws(Failure) -> String {
        let mark = label.last.map { ".?!:".contains($0) } == true ? "" : "?"
        // Ignores whether the portal ticked the box: that does not mean that the user agrees.
        let choice = isAgreed ? "[Y/n]" : field.required ? "[y/n]" : "[y/N]"
        let question = "  \(renderer.bar) \(label)\(mark) \(choice) "
        return try agrees(question, isNeeded: field.required, isAgreed: isAgreed) ? "yes" : "no"
    }

    /// Returns the answer; `nil` stands for the stored answer.
    ///
    /// - Parameter isLeftEmpty: whether the user has just left the field empty.
    private func askText(
        _ field: Field, _ label: String, isStored: Bool, isLeftEmpty: Bool
    ) throws(Failure) -> String? {
        let choices = field.kind == .choice ? field.choices ?? [] : []
        // Does not number the choices if one of them is itself a number, which could be mistaken for a position in the list.
        let isNumbered = !choices.contains { Int($0) != nil }
        for (index, choice) in choices.enumerated() {
            Output.ask("  \(renderer.bar)   \(isNumbered ? "\(index + 1))" : "-") \(renderer.safe(choice, limit: 200))\n")
        }
        let preset = preset(of: field)
        let range = choices.isEmpty || !isNumbered ? "" : " [1-\(choices.count)]"
        let mask = isStored && field.value != "" ? " [\(renderer.sign("•••", "***"))]" : ""
        let mayClear = field.kind != .choice && (isStored || preset != nil) && field.mayBeEmpty
        let shown =
            (preset.map { " [\(renderer.safe($0, limit: 200))]" } ?? mask) + (mayClear ? " (- for none)" : "")
            + (field.kind.isHidden ? " (not shown)" : "")
        var isLeftEmpty = isLeftEmpty
        for _ in 0..<Self.tries {
            var value = try readLine("  \(renderer.bar) \(label)\(range)\(shown): ", field.kind.isHidden)
            if mayClear, value == "-" { return "" }
            if isStored, value.isEmpty || value == preset { return nil }
            if value.isEmpty, let preset { value = preset }
            if isNumbered, let number = Int(value), choices.indices.contains(number - 1) { value = choices[number - 1] }
            if value.isEmpty {
                if !field.required || (isLeftEmpty && field.mayBeEmpty) { return "" }
                isLeftEmpty = true
                Output.ask(
                    field.mayBeEmpty
                        ? "  The page does not say whether this field is required; press Enter again to leave it empty.\n"
                        : "  Nothing is sent until you answer this.\n")
            } else if !choices.isEmpty, !choices.contains(value) {
                Output.ask("  That is not one of the choices.\n")
            } else {
                return value
            }
        }
        throw Failure(.answerNeeded, QuotedProblem.join("A field needs an answer.", label), hint: renderer.answer(interface))
    }

    private func readLine(_ question: String, _ secret: Bool) throws(Failure) -> String {
        try TerminalLine.read(question, secret, end: end)
    }

    /// Returns whether the user agrees. If the login requires a yes, only an explicit no ends the dialogue: an empty line may have been typed before
    /// the question appeared, and the earlier answers would be lost.
    ///
    /// - Parameter isAgreed: whether the user has just agreed to the same text, so that an empty line means yes.
    private func agrees(_ question: String, isNeeded: Bool, isAgreed: Bool = false) throws(Failure) -> Bool {
        for _ in 0..<Self.tries {
            let answer = try readLine(question, false).lowercased()
            if ["y", "yes", "j", "ja"].contains(answer) || (isAgreed && answer.isEmpty) { return true }
            if ["n", "no", "nein"].contains(answer) || (!isNeeded && answer.isEmpty) { break }
            Output.ask(
                answer.isEmpty
                    ? "  Type y to continue or n to stop; nothing is sent unless you answer y.\n" : "  Please answer y or n.\n")
        }
        guard isNeeded else { return false }
        let hint = "\(renderer.answer(interface)), or \(renderer.answer(interface, " --dismiss"))"
        throw Failure(.failed, "The portal requires a yes, so you are not logged in.", hint: hint)
    }
}

/// Answers to one prompt: typed values, and the fields whose stored answer is sent.
struct TypedAnswers {
    var values: [String: String]
    var stored: [String] = []
    var agreements: Set<Agreement> = []
}

/// Consent to one check box of one portal, or to its terms.
struct Agreement: Hashable {
    /// The whole label: the text after the part that is shown may have changed.
    let label: String
    let interface: String
    let portal: String?
    let terms: String?
    let termsURL: String?

    init(_ label: String, _ prompt: PendingPrompt) {
        self.label = label
        interface = prompt.interface
        portal = prompt.portal
        terms = prompt.terms
        termsURL = prompt.termsURL
    }
}

/// The earlier questions of one dialogue.
struct EarlierQuestions {
    /// The portals whose warning was shown.
    var warned: Set<String?> = []
    var agreements: Set<Agreement> = []
    /// The fields that were left empty.
    var left: Set<String> = []
    /// Whether to keep the answers, by portal, if the user was asked.
    var wishes: [String?: Bool] = [:]
    /// Whether a code was typed.
    var hasCode = false
    /// The beginning of "Nothing was sent": "Nothing", or "Nothing more" after the first answer.
    var nothing = "Nothing"

    mutating func add(_ prompt: PendingPrompt, _ answers: TypedAnswers) {
        nothing = "Nothing more"
        warned.insert(prompt.portal)
        agreements.formUnion(answers.agreements)
        left.formUnion(answers.values.filter(\.value.isEmpty).keys)
        if prompt.fields.contains(where: { $0.kind == .code && answers.values[$0.name] != nil }) { hasCode = true }
    }
}
