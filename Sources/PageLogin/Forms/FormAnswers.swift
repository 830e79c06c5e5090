import HotspotCore

/// The answers of one login to a portal's forms, by the control's name: which may be sent, which were sent, and what happened to them.
package struct FormAnswers: Hashable, Sendable {
    /// The source of an answer.
    enum Source: Hashable, Sendable {
        /// The user has just typed the answer.
        case typed
        /// The answer is stored, and the user has just confirmed it.
        case confirmed
        /// The answer comes from the vault: it may fill its field, but it accepts no terms.
        case stored
    }

    /// The fate of an answer.
    enum Fate: Hashable, Sendable {
        /// No form has sent the answer.
        case unsent
        /// A form of this command has sent the answer.
        case sent
        /// The portal asked for the answer again, with an error.
        case refused
    }

    /// An answer that was sent; for a secret, without its text.
    package struct Sent: Codable, Hashable, Sendable {
        /// The portal's label of the field.
        var label: String
        var value: String
    }

    private struct Answer: Hashable, Sendable {
        /// The value that a form may send; `nil` after a form has sent it.
        var value: String?
        var source = Source.typed
        /// Whether the answer is stored, and the user has to confirm it first.
        var awaitsConfirmation = false
        /// The portal's label of the field when the daemon stored the answer, folded.
        var storedLabel: String?
        /// Whether the user typed or confirmed the answer in this login.
        var isGiven = false
        var fate = Fate.unsent
        /// The value that a form of this login has sent. It is offered to the user, and is not sent again without asking.
        var sent: Sent?
        /// The value that an earlier command of this login sent. It is offered once a form of this command was sent.
        var sentEarlier: Sent?
        /// The value that the portal had refused when it last asked the user.
        var refusedBefore: String?
    }

    private var all: [String: Answer] = [:]

    package init() {}

    /// - Parameter source: the source of all answers.
    init(_ values: [String: String], source: Source = .typed) {
        all = values.mapValues { Answer(value: $0, source: source) }
    }

    // MARK: Before they are sent

    /// The value that a form may send for a control.
    package subscript(name: String) -> String? {
        get { all[name]?.value }
        set { all[name, default: Answer()].value = newValue }
    }

    /// All values that may be sent.
    package var values: [String: String] { all.compactMapValues(\.value) }

    /// Returns whether the user typed or confirmed an answer now. A stored answer fills its field, but accepts no terms.
    package func isFromUser(_ name: String) -> Bool { all[name]?.source != .stored }

    func isTyped(_ name: String) -> Bool { all[name].map { $0.source == .typed } ?? true }

    /// The names of the answers that may be sent, or that the user has to confirm first.
    var expected: Set<String> { Set(all.filter { $0.value.value != nil || $0.value.awaitsConfirmation }.keys) }

    mutating func setSource(_ source: Source, of names: some Sequence<String>) {
        for name in names { all[name, default: Answer()].source = source }
    }

    mutating func awaitConfirmation(of names: some Sequence<String>) {
        for name in names { all[name, default: Answer()].awaitsConfirmation = true }
    }

    mutating func setStoredLabels(_ labels: [String: String]) {
        for (name, label) in labels { all[name, default: Answer()].storedLabel = label }
    }

    /// Drops stored and sent answers to fields that the page has renamed, so that the user decides about them.
    ///
    /// - Parameter isRenamed: returns whether the page has a field of this name, but `isSame` accepts the label of no such field.
    mutating func dropRenamed(_ isRenamed: (_ name: String, _ isSame: (String) -> Bool) -> Bool) {
        for (name, answer) in all {
            if answer.source == .stored, let label = answer.storedLabel, isRenamed(name, { Field.folded($0) == label }) {
                all[name]?.value = nil
            }
            if let sent = answer.sent, isRenamed(name, { Field.isAlike($0, sent.label) }) { all[name]?.sent = nil }
        }
    }

    /// Drops all values that may be sent, because they are not for the portal that asks now.
    mutating func dropValues() { for name in all.keys { all[name]?.value = nil } }

    // MARK: Sent answers

    /// Notes the answers that the user typed or confirmed in this login.
    mutating func give(_ names: some Sequence<String>) { for name in names { all[name, default: Answer()].isGiven = true } }

    /// The names of the answers that the user typed or confirmed in this login and that no form has sent.
    var unsent: [String] { all.filter { $0.value.isGiven && $0.value.fate == .unsent }.keys.sorted() }

    /// Notes that an answer was sent, so that it is offered from now on.
    ///
    /// - Parameter shown: the answer's text; empty for a secret.
    package mutating func noteSent(_ name: String, label: String, shown: String) {
        var answer = all[name] ?? Answer()
        (answer.value, answer.fate, answer.sent) = (nil, .sent, Sent(label: label, value: shown))
        all[name] = answer
    }

    /// Notes that a form with these fields is sent, with the answers to them.
    mutating func noteSent(_ names: some Sequence<String>) {
        for name in names where all[name]?.value != nil || all[name]?.fate == .refused { all[name]?.fate = .sent }
    }

    /// Notes that the portal refused the answers sent to these fields.
    mutating func noteRefused(_ names: some Sequence<String>) {
        for name in names where all[name]?.fate == .sent { all[name]?.fate = .refused }
    }

    /// Returns the answer that was sent to a field; empty for a secret.
    package func sent(_ name: String) -> String? { all[name]?.sent?.value }

    /// All answers that were sent.
    package var sent: [String: Sent] { all.compactMapValues(\.sent) }

    /// Returns whether a form of this command has sent an answer to this field.
    func wasSentNow(_ name: String) -> Bool { all[name].map { $0.sent != nil && $0.fate != .unsent } ?? false }

    /// Forgets the sent answers, because they were not for the portal that asks now.
    mutating func forgetSent() {
        for name in all.keys {
            all[name]?.sent = nil
            all[name]?.sentEarlier = nil
        }
    }

    /// Notes the answers that earlier commands of this login sent.
    mutating func noteEarlier(_ earlier: [String: Sent]) {
        for (name, sent) in earlier { all[name, default: Answer()].sentEarlier = sent }
    }

    /// The answers that forms of this login sent, in this command or before.
    var sentEver: [String: Sent] { all.compactMapValues { $0.sent ?? $0.sentEarlier } }

    /// Offers answers that earlier commands sent, if a page asks for them again.
    mutating func offerEarlier() { for (name, answer) in all where answer.sent == nil { all[name]?.sent = answer.sentEarlier } }

    // MARK: Refused answers

    /// Notes the values that the portal had refused when it last asked the user.
    package mutating func noteRefusedBefore(_ values: [String: String]) {
        for (name, value) in values { all[name, default: Answer()].refusedBefore = value }
    }

    func refusedBefore(_ name: String) -> String? { all[name]?.refusedBefore }

    /// The answers that the portal refused before this command and that no form has sent again; secrets without their text.
    var refusedBefore: [String: String] { all.compactMapValues { $0.fate == .unsent ? $0.refusedBefore : nil } }

    /// Returns the names of the refused answers: answers typed now that the portal refused, and answers that it refused before this command and that
    /// no form has sent again.
    ///
    /// - Parameter typed: the names of the answers that were typed now.
    func refused(of typed: Set<String>) -> Set<String> {
        Set(all.filter { $0.value.fate == .refused && typed.contains($0.key) }.keys).union(refusedBefore.keys)
    }
}

extension FormAnswers: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, String)...) { self.init(Dictionary(elements) { $1 }) }
}
