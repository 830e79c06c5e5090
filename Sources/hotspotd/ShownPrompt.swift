import ForeignText
import HelperHost
import HotspotCore
import HotspotMachine
import Varlink

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
    /// There is something to accept.
    var hasTerms: Bool { terms != nil || termsURL != nil }
}

extension HelperOutcome {
    /// The same as it may go on to people and clients: without secrets, and with a question that can be shown; one that cannot is the
    /// fault of this helper.
    func presentable(without secrets: Secrets, known: KnownWords, of helper: String) -> HelperOutcome {
        guard case .reply(var reply) = self, let prompt = reply.prompt?.limited else { return masked(secrets, known: known) }
        // Before the search for secrets, which takes its time; and after it, since masks are longer than what they hide.
        guard prompt.fits else { return .failed(Self.tooLong.of(helper)) }
        reply.prompt = prompt
        switch HelperOutcome.reply(reply).masked(secrets, known: known) {
        case .failed(let fault): return .failed(fault.of(helper))
        case .reply(let masked) where masked.prompt?.fits == false: return .failed(Self.tooLong.of(helper))
        case let outcome: return outcome
        }
    }

    private static let tooLong = HelperFault(
        .helperTooLong, "«reply.prompt» is longer than \(Prompt.octetLimit / 1024) KiB, too long to be shown")
}

extension HelperFault {
    /// The same under the name of whose fault it is.
    fileprivate func of(_ helper: String) -> HelperFault {
        HelperFault(code, "\(helper): \(sentence)", standardError: standardError, cause: cause)
    }
}
