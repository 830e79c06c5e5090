import ControlAPI
import Glibc
import HotspotCore

/// Asks for answers on the terminal.
struct Asker {
    let renderer: Renderer
    /// Asks a question and returns the line that answers it.
    var readLine: (_ question: String, _ secret: Bool) throws(Failure) -> String = TerminalLine.read

    private static let tries = 3

    /// Asks every field of a prompt. Enter sends what is stored for a field.
    ///
    /// - Parameter isWarned: the user has read the warning about this portal.
    func ask(_ prompt: PendingPrompt, isWarned: Bool = false) throws(Failure) -> TypedAnswers {
        Output.ask(renderer.heading(prompt, isWarned: isWarned).joined(separator: "\n") + "\n")
        let terms = renderer.safe(prompt.terms ?? "", limit: 2000)
        if !terms.isEmpty { Output.ask("  \(renderer.bar) Terms: \(terms)\n") }
        var answers: [String: String] = [:]
        var stored: [String] = []
        var termsURL = prompt.termsURL
        for (index, field) in prompt.fields.enumerated() {
            let label = renderer.label(field, at: index + 1)
            if field.kind == .checkbox {
                answers[field.name] = try askBox(field, label, termsURL)
                termsURL = nil
            } else if let answer = try askText(field, label, isStored: prompt.stored?.contains(field.name) == true) {
                answers[field.name] = answer
            } else {
                stored.append(field.name)
            }
        }
        if prompt.fields.isEmpty {
            let question = termsURL.map { "Accept the terms (\(renderer.safe($0)))" } ?? "Continue"
            _ = try agrees("  \(renderer.bar) \(question)? [y/n] ", isNeeded: true)
        }
        return TypedAnswers(values: answers.filter { !$0.value.isEmpty }, stored: stored)
    }

    /// Asks whether the answers shall be kept for this portal.
    func agreesToRemember() throws(Failure) -> Bool {
        try agrees("  Remember these answers for this portal? [y/N] ", isNeeded: false)
    }

    private func askBox(_ field: Field, _ label: String, _ termsURL: String?) throws(Failure) -> String {
        let place = termsURL.map { " (\(renderer.safe($0)))" } ?? ""
        let words = label + place
        let mark = words.last.map { ".?!:".contains($0) } == true ? "" : "?"
        // A box that the portal ticked is no agreement of the user.
        let choice = field.required ? "[y/n]" : "[y/N]"
        return try agrees("  \(renderer.bar) \(words)\(mark) \(choice) ", isNeeded: field.required) ? "yes" : "no"
    }

    /// Returns the answer; `nil` for the stored one.
    private func askText(_ field: Field, _ label: String, isStored: Bool) throws(Failure) -> String? {
        let choices = field.kind == .choice ? field.choices ?? [] : []
        // A choice that is a number itself could be taken for a position in the list.
        let isNumbered = !choices.contains { Int($0) != nil }
        for (index, choice) in choices.enumerated() {
            Output.ask("  \(renderer.bar)   \(isNumbered ? "\(index + 1))" : "-") \(renderer.safe(choice, limit: 200))\n")
        }
        let preset = field.kind.isSecret ? nil : field.value.flatMap { $0.isEmpty ? nil : $0 }
        let range = choices.isEmpty || !isNumbered ? "" : " [1-\(choices.count)]"
        let mask = isStored ? " [\(renderer.sign("•••", "***"))]" : ""
        let shown = preset.map { " [\(renderer.safe($0, limit: 200))]" } ?? mask
        for _ in 0..<Self.tries {
            var value = try readLine("  \(renderer.bar) \(label)\(range)\(shown): ", field.kind.isSecret)
            if value.isEmpty, isStored { return nil }
            if value.isEmpty, let preset { value = preset }
            if isNumbered, let number = Int(value), choices.indices.contains(number - 1) { value = choices[number - 1] }
            if value.isEmpty {
                if !field.required { return "" }
                Output.ask("  An answer is needed.\n")
            } else if !choices.isEmpty, !choices.contains(value) {
                Output.ask("  That is not one of the choices.\n")
            } else {
                return value
            }
        }
        throw Failure(.answerNeeded, Hearsay.join("Nothing was sent, without an answer to:", label), hint: "hotspotctl answer")
    }

    /// Returns whether the user agrees. Where nothing goes on without it, an empty line is asked again: it may have been typed ahead, and
    /// the answers before it would be lost.
    private func agrees(_ question: String, isNeeded: Bool) throws(Failure) -> Bool {
        for _ in 0..<Self.tries {
            let answer = try readLine(question, false).lowercased()
            if ["y", "yes", "j", "ja"].contains(answer) { return true }
            guard isNeeded else { return false }
            guard answer.isEmpty else { break }
            Output.ask("  Type y to go on, or n to stop; without it nothing is sent.\n")
        }
        throw Failure(
            .failed, "The portal requires this; nothing was sent.", hint: "hotspotctl answer, or hotspotctl answer --dismiss")
    }
}

/// Answers to one prompt: what was typed, and the fields for which the stored answer is sent.
struct TypedAnswers {
    var values: [String: String]
    var stored: [String] = []
}
