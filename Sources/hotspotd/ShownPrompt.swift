import HotspotCore
import HotspotMachine

/// A question that waits for the user.
struct ShownPrompt {
    let id: PromptID
    /// The name of the question in the control interface.
    let token: String
    let helper: String
    let prompt: Prompt
    /// Unix time in milliseconds.
    let since: Int
}

/// What the user answered. Its values appear in no log and no description.
struct GivenAnswers: CustomStringConvertible, CustomDebugStringConvertible {
    /// To the last question: what is sent.
    let values: [String: String]
    let remember: Bool
    let prompt: Prompt
    let helper: String
    /// Who asked.
    let portal: Portal?
    /// To all questions of this login: what may be kept.
    private(set) var all: [String: String]
    private(set) var fields: [Field]
    /// The terms of one of the questions were accepted.
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

    /// These answers after those to an earlier question of the same helper and portal; others have nothing to do with each other.
    func following(_ earlier: GivenAnswers) -> GivenAnswers {
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

    /// The most that one answer may be long, in octets.
    static let valueLimit = 4096

    /// What is wrong with answers to a prompt: the field, and one sentence; `nil` if nothing is.
    static func fault(in values: [String: String], for prompt: Prompt) -> (field: String, message: String)? {
        for name in values.keys.sorted() where !prompt.fields.contains(where: { $0.name == name }) {
            return (
                Printable.text(name, limit: 64),
                "There is no such field; asked are \(prompt.fields.map(\.name).joined(separator: ", "))."
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
                guard ["", "yes", "no", "true", "false"].contains(value) else { return (field.name, "Answer yes or no.") }
                if field.required, value != "yes", value != "true" { return (field.name, "This must be accepted to go on.") }
            case .choice:
                if value.isEmpty ? field.required : !(field.choices ?? []).contains(value) {
                    return (field.name, "Choose one of \((field.choices ?? []).joined(separator: ", ")).")
                }
            case .text, .password, .email, .phone, .code:
                if field.required, value.isEmpty { return (field.name, "An answer is needed.") }
            }
        }
        return nil
    }
}

extension Prompt {
    /// There is something to accept.
    var hasTerms: Bool { terms != nil || termsURL != nil }

    /// Cut to what a person can be asked, and a client be sent: 32 fields, short labels, and terms of 64 KiB at most.
    var limited: Prompt {
        Prompt(
            title: Printable.text(title, limit: 200), message: message.map { Printable.text($0, limit: 1000) },
            fields: fields.prefix(32).map { field in
                Field(
                    // A name that is too long is no name that an answer could be kept under.
                    name: field.name.utf8.count <= 256 ? field.name : "", label: Printable.text(field.label, limit: 200),
                    kind: field.kind,
                    required: field.required,
                    choices: field.choices.map { choices in choices.prefix(256).filter { $0.utf8.count <= 256 } },
                    value: field.value.map { Printable.text($0, limit: 1000) })
            },
            termsURL: termsURL.flatMap { url in
                url.utf8.count <= 2048 && (url.hasPrefix("https://") || url.hasPrefix("http://"))
                    ? Printable.text(url, limit: 2048) : nil
            },
            terms: terms.map { String(decoding: $0.utf8.prefix(64 * 1024), as: UTF8.self) })
    }
}
