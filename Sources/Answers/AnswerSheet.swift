import HotspotCore
import Vault

/// The user's answers in one login at one portal, the accepted terms, and whether the user wants the answers kept.
public struct AnswerSheet: Hashable, Sendable {
    /// The terms of one portal that the user accepted.
    public struct Consent: Hashable, Sendable {
        public let portal: Portal
        /// The text or the address of the terms.
        public let terms: String
    }

    public let helper: String
    /// The portal that asked.
    public let portal: Portal?
    /// The last prompt, without values.
    public let prompt: Prompt
    public private(set) var answers: [Answer]
    public private(set) var consents: [Consent]
    /// The user's wish about keeping the answers; `nil` if the user does not want them kept.
    private(set) var wish: Remember?
    /// Whether the user was asked about keeping this portal's answers.
    private(set) var isConfirmed: Bool
    /// Whether the terms had been accepted before, so that the prompt had no box for them.
    let hadConsent: Bool

    init(
        _ values: [String: SecretText], confirmed names: Set<String>, to prompt: Prompt, of helper: String, at portal: Portal?,
        wish: Remember?, isConfirmed: Bool, hadConsent: Bool
    ) {
        var prompt = prompt
        for index in prompt.fields.indices { prompt.fields[index].value = nil }
        (self.helper, self.portal, self.prompt) = (helper, portal, prompt)
        (self.wish, self.isConfirmed, self.hadConsent) = (wish, isConfirmed, hadConsent)
        answers = prompt.fields.map { field in
            Answer(
                field: field, value: values[field.name],
                source: names.contains(field.name) ? .confirmed : .typed, fate: .open)
        }
        let accepts = prompt.hasTerms && (prompt.fields.isEmpty || answers.contains(where: \.isTicked))
        consents = accepts ? portal.map { [Consent(portal: $0, terms: prompt.terms ?? prompt.termsURL ?? "")] } ?? [] : []
    }

    // MARK: Lists for the wire, the store and the rules

    /// The answers that belong to the login.
    var counting: [Answer] { answers.filter(\.counts) }
    public var fields: [Field] { counting.map(\.field) }

    /// The answers to the last prompt, which the next command sends.
    public var open: [String: String] { Self.values(answers.filter { $0.fate == .open }) }
    /// The answers to all prompts of this login.
    public var all: [String: String] { Self.values(counting) }
    /// The names of the stored answers that the user confirmed for the last prompt.
    public var confirmedNames: [String] { open.keys.filter(confirmed.contains).sorted() }
    /// The names of all stored answers that the user confirmed in this login.
    var confirmed: Set<String> { Set(counting.filter { $0.source == .confirmed && $0.value != nil }.map(\.name)) }
    /// The answers that may be stored.
    var keepable: [String: String] { Self.keepable(counting) }
    /// Whether an answer may be stored and is not stored yet.
    var hasNews: Bool { keepable.keys.contains { !confirmed.contains($0) } }
    /// Whether the user accepted the terms of this portal.
    var acceptsTerms: Bool { consents.contains { isSame($0.portal, portal) } }
    var isAmbiguous: Bool { counting.contains(where: \.isAmbiguous) }

    private static func values(_ answers: [Answer]) -> [String: String] {
        Dictionary(answers.compactMap { answer in answer.value.map { (answer.name, $0.text) } }) { first, _ in first }
    }

    private static func keepable(_ answers: [Answer]) -> [String: String] {
        let unique = answers.filter { !$0.isAmbiguous }
        return Release.keepable(values(unique), fields: unique.map(\.field))
    }

    /// Whether the user ticked a box that the portal does not require, such as "stay signed in". If a page offers several ways to log in, it does not
    /// require even the box for the terms, so one tick for accepted terms does not count.
    var hasOwnTick: Bool {
        let ticked = counting.filter(\.isTicked)
        let ofTerms = acceptsTerms && !ticked.contains(where: \.field.required) ? 1 : 0
        return ticked.count { !$0.field.required } > ofTerms
    }

    /// Whether the user typed nothing, but only confirmed stored answers and perhaps ticked boxes.
    var areStored: Bool {
        !confirmed.isEmpty
            && counting.allSatisfy { $0.field.kind == .checkbox || $0.source == .confirmed || $0.value?.text ?? "" == "" }
    }

    /// Whether the login sent none of the answers to the last prompt.
    public var isUnsent: Bool {
        answers.contains { $0.fate == .needless }
            && !answers.contains { [.accepted, .refused].contains($0.fate) && !$0.isBlank }
    }

    /// Whether the login succeeded without any of the new answers, and without any other answer, such as a code.
    var isNeedless: Bool {
        let lost = Self.keepable(answers.filter { [.needless, .refused].contains($0.fate) && $0.source == .typed })
        return !lost.isEmpty && !hasNews && !answers.contains { $0.fate == .accepted && !$0.isBlank }
    }

    var isOfEarlierLogin: Bool { answers.contains { $0.fate == .earlier } }
    var isPostponed: Bool { answers.contains { $0.fate == .postponed } }

    // MARK: Changes

    /// Returns these answers together with the answers to an earlier prompt of the same helper and portal. Terms that the user accepted at another
    /// portal of the same login stay accepted.
    func merged(after earlier: AnswerSheet) -> AnswerSheet {
        guard earlier.helper == helper else { return self }
        var both = self
        both.consents += earlier.consents.filter { old in !consents.contains { isSame($0.portal, old.portal) } }
        guard isSame(earlier.portal, portal) else { return both }
        // A prompt without new answers to keep leaves the user's wish unchanged.
        if !hasNews { (both.wish, both.isConfirmed) = (earlier.wish, earlier.isConfirmed) }
        let isUnwanted = hasNews && earlier.hasNews && (earlier.wish == nil || (earlier.wish == .ask && !earlier.isConfirmed))
        for var old in earlier.counting {
            old.fate = .sent
            if isUnwanted, old.source == .typed { old.value = nil }
            guard let index = both.answers.firstIndex(where: { $0.name == old.name }) else {
                both.answers.append(old)
                continue
            }
            let isAlike = Field.isAlike(both.answers[index].field.label, old.field.label)
            both.answers[index].isAmbiguous = old.isAmbiguous || !isAlike
            guard both.answers[index].value == nil else { continue }
            (both.answers[index].value, both.answers[index].source, both.answers[index].fate) = (old.value, old.source, .sent)
        }
        return both
    }

    mutating func setFate(_ fate: Answer.Fate, where isMeant: (Answer) -> Bool) {
        for index in answers.indices where answers[index].counts && isMeant(answers[index]) { answers[index].fate = fate }
    }

    /// Notes the fate of the answers in a login that the helper reports as a success. A box that was not sent accepts no terms.
    mutating func finish(unsent: [String], refused: [String]) {
        if counting.contains(where: { $0.field.kind == .checkbox && (unsent + refused).contains($0.name) }) {
            consents.removeAll { isSame($0.portal, portal) }
        }
        setFate(.needless) { unsent.contains($0.name) }
        setFate(.refused) { refused.contains($0.name) }
        setFate(.accepted) { $0.fate == .open }
    }

    /// Postpones the answers, because the portal did not reply. Does nothing if one of the answers was sent.
    mutating func postpone(_ unsent: [String]) {
        guard !unsent.isEmpty, counting.allSatisfy({ $0.value == nil || $0.fate == .open }),
            counting.allSatisfy({ unsent.contains($0.name) || $0.isBlank })
        else { return }
        setFate(.postponed) { _ in true }
    }

    /// Returns whether these answers fit a prompt: the same portal asks the same questions again.
    func answers(_ asked: Prompt, of helper: String, at portal: Portal?) -> Bool {
        helper == self.helper && isSame(portal, self.portal) && prompt.terms == asked.terms && prompt.termsURL == asked.termsURL
            && prompt.fields.count == asked.fields.count
            && zip(prompt.fields, asked.fields).allSatisfy { old, new in
                (old.name, old.kind, old.label, old.required) == (new.name, new.kind, new.label, new.required)
                    && old.choices == new.choices
            }
    }
}

/// Returns whether two portals have the same address and key.
func isSame(_ one: Portal?, _ other: Portal?) -> Bool { one?.origin == other?.origin && one?.pin == other?.pin }

extension Prompt {
    var hasTerms: Bool { terms != nil || termsURL != nil }
    /// Whether the prompt asks for something that may be stored.
    var asksForKeepable: Bool { fields.contains { $0.kind != .code && $0.kind != .checkbox } }
}
