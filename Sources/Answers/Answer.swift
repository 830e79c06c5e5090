import ForeignText
import HotspotCore

/// A text that descriptions and mirrors hide.
public struct SecretText: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public let text: String

    public init(_ text: String) { self.text = text }

    public var description: String { "•••" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The answer to one field in one login: its value, its source and its fate.
public struct Answer: Hashable, Sendable {
    public enum Source: Hashable, Sendable {
        case typed
        /// The user confirmed the stored answer with Enter.
        case confirmed
    }

    public enum Fate: Hashable, Sendable {
        /// The answer to the last prompt: the next command sends it.
        case open
        /// The answer to an earlier prompt of this login.
        case sent
        /// The helper reports success with this answer; the probe has not proven the login yet.
        case accepted
        /// The portal refused this answer; the login succeeded without it.
        case refused
        /// The login succeeded without sending this answer.
        case needless
        /// The page asked for something else before this answer was sent.
        case dropped
        /// The portal did not reply. hotspotd sends this answer when the portal asks the same question again.
        case postponed
        /// An earlier login sent this answer; the user has since typed another answer, which was not sent.
        case earlier
    }

    /// The field that the prompt asked for, without a value.
    public let field: Field
    /// The value; `nil` if the field was not answered.
    public internal(set) var value: SecretText?
    public internal(set) var source: Source
    public internal(set) var fate: Fate
    /// Whether the portal uses this name for several fields, so that hotspotd cannot assign their answers at the next visit.
    public internal(set) var isAmbiguous = false

    public var name: String { field.name }

    /// Whether the answer is an unticked checkbox, an empty text, or missing.
    var isBlank: Bool { value.map { ["", "no", "false"].contains($0.text) } ?? true }
    var isTicked: Bool { field.kind == .checkbox && ["yes", "true"].contains(value?.text) }
    /// Whether the answer belongs to the login, so that it may be sent or stored.
    var counts: Bool { ![.refused, .needless, .dropped].contains(fate) }
}

extension Answer {
    /// The longest answer, in octets.
    static let valueLimit = 4096

    /// Returns the reason why this value cannot be an answer, in one sentence.
    public static func fault(in value: String) -> String? {
        if value.utf8.count > valueLimit { return "An answer has at most \(valueLimit) octets." }
        if value.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "An answer must not contain control characters."
        }
        return nil
    }

    /// Returns the first fault in answers to a prompt: the field, and one sentence.
    public static func fault(in values: [String: String], for prompt: Prompt) -> (field: String, message: String)? {
        for name in values.keys.sorted() where !prompt.fields.contains(where: { $0.name == name }) {
            return (
                Printable.text(name, limit: 64),
                "This field does not exist; the portal asks for \(list(prompt.fields.map(\.name)))."
            )
        }
        for field in prompt.fields {
            let value = values[field.name] ?? ""
            if let message = fault(in: value) { return (field.name, message) }
            switch field.kind {
            case .checkbox:
                guard value.isEmpty || Field.tickWords.contains(value) else { return (field.name, "Answer yes or no.") }
                if field.required, value != "yes", value != "true" {
                    return (field.name, "Nothing is sent unless you answer yes.")
                }
            case .choice:
                if value.isEmpty ? field.required : !(field.choices ?? []).contains(value) {
                    return (field.name, "Choose one of \(list(field.choices ?? [])).")
                }
            case .text, .password, .email, .phone, .code:
                if value.isEmpty, field.required, !(field.mayBeEmpty && values[field.name] != nil) {
                    return (field.name, "Nothing is sent until you answer this.")
                }
            }
        }
        return nil
    }

    /// Returns names in a sentence of bounded length.
    private static func list(_ names: [String]) -> String { Printable.cut(names.joined(separator: ", "), limit: 500) }
}

/// Whether answers are kept (Remember=).
public enum Remember: String, Sendable, CaseIterable { case never, ask, always }

/// Whether accepted terms are accepted again without the user (AcceptTerms=).
public enum AcceptTerms: String, Sendable, CaseIterable { case ask, remembered, yes }
