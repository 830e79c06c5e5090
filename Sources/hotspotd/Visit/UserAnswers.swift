import ForeignText
import HotspotCore

/// The user's answers to a prompt. Their values appear in no log and no description.
struct UserAnswers: CustomStringConvertible, CustomDebugStringConvertible {
    /// The answers to the last prompt, which are sent.
    let values: [String: String]
    let remember: Bool
    let prompt: Prompt
    let helper: String
    /// The portal that asked.
    let portal: Portal?
    /// The answers to all prompts of this login, which may be kept.
    private(set) var all: [String: String]
    private(set) var fields: [Field]
    /// The terms of one of the prompts were accepted.
    private(set) var acceptsTerms: Bool

    init(values: [String: String], remember: Bool, prompt: Prompt, helper: String, portal: Portal? = nil) {
        self.values = values
        self.remember = remember
        self.prompt = prompt
        self.helper = helper
        self.portal = portal
        all = values
        fields = prompt.fields
        let ticked = prompt.fields.contains { $0.kind == .checkbox && ["yes", "true"].contains(values[$0.name] ?? "") }
        acceptsTerms = prompt.hasTerms && (ticked || prompt.fields.isEmpty)
    }

    /// Adds the answers to an earlier prompt of the same helper and portal.
    func following(_ earlier: UserAnswers) -> UserAnswers {
        guard earlier.helper == helper, earlier.portal?.origin == portal?.origin, earlier.portal?.pin == portal?.pin else {
            return self
        }
        var both = self
        both.all.merge(earlier.all) { mine, _ in mine }
        both.fields += earlier.fields.filter { field in !fields.contains { $0.name == field.name } }
        both.acceptsTerms = acceptsTerms || earlier.acceptsTerms
        return both
    }

    var description: String { "answers to \(values.count) fields" }
    var debugDescription: String { description }

    /// The longest answer, in octets.
    static let valueLimit = 4096

    /// Returns the first fault in answers to a prompt: the field, and one sentence.
    static func fault(in values: [String: String], for prompt: Prompt) -> (field: String, message: String)? {
        for name in values.keys.sorted() where !prompt.fields.contains(where: { $0.name == name }) {
            return (
                Printable.text(name, limit: 64),
                "There is no such field; asked are \(list(prompt.fields.map(\.name)))."
            )
        }
        for field in prompt.fields {
            let value = values[field.name] ?? ""
            if value.utf8.count > valueLimit { return (field.name, "An answer has at most \(valueLimit) octets.") }
            if value.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                return (field.name, "An answer has no control characters.")
            }
            switch field.kind {
            case .checkbox:
                guard value.isEmpty || Field.tickWords.contains(value) else { return (field.name, "Answer yes or no.") }
                if field.required, value != "yes", value != "true" { return (field.name, "This must be accepted to go on.") }
            case .choice:
                if value.isEmpty ? field.required : !(field.choices ?? []).contains(value) {
                    return (field.name, "Choose one of \(list(field.choices ?? [])).")
                }
            case .text, .password, .email, .phone, .code:
                if field.required, value.isEmpty { return (field.name, "An answer is needed.") }
            }
        }
        return nil
    }
}

/// Names in a sentence of bounded length.
private func list(_ names: [String]) -> String { Printable.cut(names.joined(separator: ", "), limit: 500) }

extension Prompt {
    var hasTerms: Bool { terms != nil || termsURL != nil }
}
