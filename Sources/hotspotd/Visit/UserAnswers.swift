import ForeignText
import HotspotCore
import Vault

/// The user's answers to a prompt. Their values appear in no log and no description.
struct UserAnswers: CustomStringConvertible, CustomDebugStringConvertible {
    /// The answers to the last prompt, which are sent.
    private(set) var values: [String: String]
    /// Whether they may be kept; `nil` if the user does not want it.
    private(set) var remember: Settings.Remember?
    /// The user agreed to keep this portal's answers, or asked for it beforehand.
    private(set) var confirmed: Bool
    let prompt: Prompt
    let helper: String
    /// The portal that asked.
    let portal: Portal?
    /// The answers to all prompts of this login, which may be kept.
    private(set) var all: [String: String]
    private(set) var fields: [Field]
    /// The names of those that were stored already.
    private(set) var stored: Set<String>
    /// The terms of one of the prompts were accepted.
    private(set) var acceptsTerms: Bool
    /// The names that the portal has for several fields: their answers cannot be told apart at the next visit.
    private(set) var ambiguous: Set<String> = []
    /// They had been accepted before, so that no box of the prompt was for them.
    var hadConsent = false

    init(
        values: [String: String], stored: Set<String> = [], remember: Settings.Remember?, confirmed: Bool = false, prompt: Prompt,
        helper: String, portal: Portal? = nil
    ) {
        self.stored = stored
        self.values = values
        self.remember = remember
        self.confirmed = confirmed
        self.prompt = prompt
        self.helper = helper
        self.portal = portal
        all = values
        fields = prompt.fields
        let ticked = prompt.fields.contains { $0.kind == .checkbox && Self.isYes(values[$0.name]) }
        acceptsTerms = prompt.hasTerms && (ticked || prompt.fields.isEmpty)
    }

    /// Adds the answers to an earlier prompt of the same helper and portal.
    func merged(after earlier: UserAnswers) -> UserAnswers {
        guard earlier.helper == helper, earlier.portal?.origin == portal?.origin, earlier.portal?.pin == portal?.pin else {
            return self
        }
        var both = self
        // A prompt for nothing new that may be kept does not ask about it.
        if !hasNews { (both.remember, both.confirmed) = (earlier.remember, earlier.confirmed) }
        both.stored.formUnion(earlier.stored.subtracting(all.keys))
        // A yes to these is none to those before.
        let isUnwanted =
            hasNews && earlier.hasNews && (earlier.remember == nil || (earlier.remember == .ask && !earlier.confirmed))
        let before = isUnwanted ? earlier.all.filter { earlier.stored.contains($0.key) } : earlier.all
        both.all.merge(before) { mine, _ in mine }
        both.ambiguous = earlier.ambiguous
        for field in earlier.fields {
            let mine = fields.first { $0.name == field.name }
            if let mine, !Field.isAlike(mine.label, field.label) { both.ambiguous.insert(field.name) }
        }
        both.fields += earlier.fields.filter { field in !fields.contains { $0.name == field.name } }
        both.acceptsTerms = acceptsTerms || earlier.acceptsTerms
        return both
    }

    /// A box was ticked that the portal does not require, such as one to stay signed in. Of several ways none requires the box for terms.
    var hasOwnTick: Bool {
        let ticked = fields.filter { $0.kind == .checkbox && Self.isYes(all[$0.name]) }
        let ofTerms = acceptsTerms && !ticked.contains(where: \.required) ? 1 : 0
        return ticked.count { !$0.required } > ofTerms
    }

    private static func isYes(_ answer: String?) -> Bool { answer == "yes" || answer == "true" }

    /// Leaves out answers that were not sent.
    mutating func drop(_ unsent: [String]) {
        for name in unsent {
            values[name] = nil
            all[name] = nil
            stored.remove(name)
        }
        fields.removeAll { unsent.contains($0.name) }
    }

    /// Leaves out answers that a login did without. A box that was not sent accepts nothing.
    mutating func dropNeedless(_ unsent: [String]) {
        if fields.contains(where: { $0.kind == .checkbox && unsent.contains($0.name) }) { acceptsTerms = false }
        drop(unsent)
    }

    /// Leaves out the answers to the last prompt, which were sent.
    mutating func forgetSent() { values = [:] }

    /// The names of the answers to the last prompt that the user confirmed as they were stored.
    var confirmedNames: [String] { stored.filter { values[$0] != nil }.sorted() }

    /// The answers that may be stored.
    var keepable: [String: String] { Release.keepable(all, fields: fields).filter { !ambiguous.contains($0.key) } }

    /// There is an answer that may be stored, and is not.
    var hasNews: Bool { keepable.keys.contains { !stored.contains($0) } }

    /// But for ticks the user typed nothing: these are the stored answers, with a yes.
    var areStored: Bool {
        fields.allSatisfy { $0.kind == .checkbox || stored.contains($0.name) || all[$0.name, default: ""].isEmpty }
            && !stored.isEmpty
    }

    var description: String { "answers to \(values.count) fields" }
    var debugDescription: String { description }

    /// The longest answer, in octets.
    static let valueLimit = 4096

    /// Returns why no answer can be this, one sentence.
    static func fault(in value: String) -> String? {
        if value.utf8.count > valueLimit { return "An answer has at most \(valueLimit) octets." }
        if value.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "An answer has no control characters."
        }
        return nil
    }

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
            if let message = fault(in: value) { return (field.name, message) }
            switch field.kind {
            case .checkbox:
                guard value.isEmpty || Field.tickWords.contains(value) else { return (field.name, "Answer yes or no.") }
                if field.required, value != "yes", value != "true" { return (field.name, "Without a yes nothing is sent.") }
            case .choice:
                if value.isEmpty ? field.required : !(field.choices ?? []).contains(value) {
                    return (field.name, "Choose one of \(list(field.choices ?? [])).")
                }
            case .text, .password, .email, .phone, .code:
                if value.isEmpty, field.required, !(field.mayBeEmpty && values[field.name] != nil) {
                    return (field.name, "Without an answer nothing is sent.")
                }
            }
        }
        return nil
    }
}

/// Returns names in a sentence of bounded length.
private func list(_ names: [String]) -> String { Printable.cut(names.joined(separator: ", "), limit: 500) }

extension Prompt {
    var hasTerms: Bool { terms != nil || termsURL != nil }
}
