import ControlAPI
import Glibc
import HotspotCore

/// Asks for answers on the terminal.
struct Asker {
    let renderer: Renderer
    /// Asks a question and returns the line that answers it.
    var readLine: (_ question: String, _ secret: Bool) throws(Failure) -> String = TerminalLine.read

    private static let tries = 3

    /// Asks every field of a prompt.
    func ask(_ prompt: PendingPrompt) throws(Failure) -> [String: String] {
        Output.ask(renderer.heading(prompt).joined(separator: "\n") + "\n")
        let terms = renderer.safe(prompt.terms ?? "", limit: 2000)
        if !terms.isEmpty { Output.ask("  \(renderer.bar) Terms: \(terms)\n") }
        var answers: [String: String] = [:]
        var termsURL = prompt.termsURL
        for (index, field) in prompt.fields.enumerated() {
            let label = renderer.label(field, at: index + 1)
            if field.kind == .checkbox {
                answers[field.name] = try askBox(field, label, termsURL)
                termsURL = nil
            } else {
                answers[field.name] = try askText(field, label)
            }
        }
        if prompt.fields.isEmpty {
            let question = termsURL.map { "Accept the terms (\(renderer.safe($0)))" } ?? "Continue"
            guard try agrees("  \(question)? [y/N] ") else {
                throw Failure(.failed, "nothing was answered.", hint: "hotspotctl answer --dismiss")
            }
        }
        return answers.filter { !$0.value.isEmpty }
    }

    private func askBox(_ field: Field, _ label: String, _ termsURL: String?) throws(Failure) -> String {
        let place = termsURL.map { " (\(renderer.safe($0)))" } ?? ""
        // A box that the portal ticked is no agreement of the user.
        let agreed = try agrees("  \(renderer.bar) \(label)\(place)? [y/N] ")
        guard agreed || !field.required else {
            throw Failure(.failed, "the portal requires this.", hint: "hotspotctl answer --dismiss")
        }
        return agreed ? "yes" : "no"
    }

    private func askText(_ field: Field, _ label: String) throws(Failure) -> String {
        let choices = field.kind == .choice ? field.choices ?? [] : []
        // A choice that is a number itself could be taken for a position in the list.
        let isNumbered = !choices.contains { Int($0) != nil }
        for (index, choice) in choices.enumerated() {
            Output.ask("  \(renderer.bar)   \(isNumbered ? "\(index + 1))" : "-") \(renderer.safe(choice, limit: 200))\n")
        }
        let preset = field.kind.isSecret ? nil : field.value.flatMap { $0.isEmpty ? nil : $0 }
        let range = choices.isEmpty || !isNumbered ? "" : " [1-\(choices.count)]"
        let shown = preset.map { " [\(renderer.safe($0, limit: 200))]" } ?? ""
        for _ in 0..<Self.tries {
            var value = try readLine("  \(renderer.bar) \(label)\(range)\(shown): ", field.kind.isSecret)
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
        throw Failure(.answerNeeded, "no answer to '\(label)'.", hint: "hotspotctl answer")
    }

    private func agrees(_ question: String) throws(Failure) -> Bool {
        ["y", "yes", "j", "ja"].contains(try readLine(question, false).lowercased())
    }
}
