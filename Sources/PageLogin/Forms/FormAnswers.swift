import HotspotCore

/// The answers of one login to a portal's forms, by the name of the control: what may be sent, what was sent, and what became of it.
package struct FormAnswers: Hashable, Sendable {
    /// Where an answer comes from.
    enum Source: Hashable, Sendable {
        /// The user has typed it now.
        case typed
        /// It is stored, and the user has said yes to it now.
        case confirmed
        /// It comes from the vault: it fills its field, and accepts no terms.
        case stored
    }

    /// The fate of an answer.
    enum Fate: Hashable, Sendable {
        /// No form has sent it.
        case unsent
        /// A form of this command has sent it.
        case sent
        /// The portal asked for it again, with words against it.
        case refused
    }

    /// An answer that was sent; of a secret without its text.
    package struct Sent: Codable, Hashable, Sendable {
        /// The portal's label of the field.
        var label: String
        var value: String
    }

    private struct Answer: Hashable, Sendable {
        /// The value that a form may send; `nil` after a form has sent it.
        var value: String?
        var source = Source.typed
        /// It is stored, and the user has to confirm it first.
        var awaitsConfirmation = false
        /// The portal's label of the field when the daemon stored the answer, folded.
        var storedLabel: String?
        /// The user gave it in this login.
        var isGiven = false
        var fate = Fate.unsent
        /// The value that a form of this login has sent: it is offered to the user, and is not sent again without the user.
        var sent: Sent?
        /// As above, before this command: offered once a form of this command was sent.
        var sentEarlier: Sent?
        /// The value that the portal refused before it asked the user this time.
        var refusedBefore: String?
    }

    private var all: [String: Answer] = [:]

    package init() {}

    /// - Parameter source: of all answers.
    init(_ values: [String: String], source: Source = .typed) {
        all = values.mapValues { Answer(value: $0, source: source) }
    }

    // MARK: Before they are sent

    /// The value that a form may send for a control.
    package subscript(name: String) -> String? {
        get { all[name]?.value }
        set { all[name, default: Answer()].value = newValue }
    }

    /// All that may be sent.
    package var values: [String: String] { all.compactMapValues(\.value) }

    /// Returns whether the user gave an answer now, or confirmed it. A stored one fills its field, and accepts no terms.
    package func isFromUser(_ name: String) -> Bool { all[name]?.source != .stored }

    func isTyped(_ name: String) -> Bool { all[name].map { $0.source == .typed } ?? true }

    /// The names of the answers that there are, or that the user has to confirm.
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

    /// Drops what is stored for a field that the page calls something else now, and what was sent to one: the user decides about those.
    ///
    /// - Parameter isRenamed: whether the page has a field of a name, and none of which a label is the same.
    mutating func dropRenamed(_ isRenamed: (_ name: String, _ isSame: (String) -> Bool) -> Bool) {
        for (name, answer) in all {
            if answer.source == .stored, let label = answer.storedLabel, isRenamed(name, { Field.folded($0) == label }) {
                all[name]?.value = nil
            }
            if let sent = answer.sent, isRenamed(name, { Field.isAlike($0, sent.label) }) { all[name]?.sent = nil }
        }
    }

    /// Drops all that may be sent: another portal asks now.
    mutating func dropValues() { for name in all.keys { all[name]?.value = nil } }

    // MARK: Sent answers

    /// Notes what the user gave in this login, and no form has sent.
    mutating func give(_ names: some Sequence<String>) { for name in names { all[name, default: Answer()].isGiven = true } }

    /// The names of the answers that the user gave in this login, and that no form has sent.
    var unsent: [String] { all.filter { $0.value.isGiven && $0.value.fate == .unsent }.keys.sorted() }

    /// Notes that an answer was sent, which is offered from now on.
    ///
    /// - Parameter shown: its text; of a secret none.
    package mutating func noteSent(_ name: String, label: String, shown: String) {
        var answer = all[name] ?? Answer()
        (answer.value, answer.fate, answer.sent) = (nil, .sent, Sent(label: label, value: shown))
        all[name] = answer
    }

    /// Notes that a form with these fields is sent, with the answers that there are for them.
    mutating func noteSent(_ names: some Sequence<String>) {
        for name in names where all[name]?.value != nil || all[name]?.fate == .refused { all[name]?.fate = .sent }
    }

    /// Notes that the portal refused what was sent to these fields.
    mutating func noteRefused(_ names: some Sequence<String>) {
        for name in names where all[name]?.fate == .sent { all[name]?.fate = .refused }
    }

    /// Returns what was sent to a field; empty for a secret.
    package func sent(_ name: String) -> String? { all[name]?.sent?.value }

    /// All that was sent.
    package var sent: [String: Sent] { all.compactMapValues(\.sent) }

    /// Returns whether a form of this command has sent an answer to this field.
    func wasSentNow(_ name: String) -> Bool { all[name].map { $0.sent != nil && $0.fate != .unsent } ?? false }

    /// Forgets what was sent: another portal asks now.
    mutating func forgetSent() {
        for name in all.keys {
            all[name]?.sent = nil
            all[name]?.sentEarlier = nil
        }
    }

    /// Notes what was sent in this login before this command.
    mutating func noteEarlier(_ earlier: [String: Sent]) {
        for (name, sent) in earlier { all[name, default: Answer()].sentEarlier = sent }
    }

    /// The answers that forms sent in this login, before this command and in it.
    var sentEver: [String: Sent] { all.compactMapValues { $0.sent ?? $0.sentEarlier } }

    /// Offers what was sent before this command, where a page asks for it again.
    mutating func offerEarlier() { for (name, answer) in all where answer.sent == nil { all[name]?.sent = answer.sentEarlier } }

    // MARK: Refused answers

    /// Notes what the portal refused before it asked the user this time.
    package mutating func noteRefusedBefore(_ values: [String: String]) {
        for (name, value) in values { all[name, default: Answer()].refusedBefore = value }
    }

    func refusedBefore(_ name: String) -> String? { all[name]?.refusedBefore }

    /// The answers that the portal refused before this command, and that no form has sent again; secrets without their text.
    var refusedBefore: [String: String] { all.compactMapValues { $0.fate == .unsent ? $0.refusedBefore : nil } }

    /// The names of the answers that the login was done without, though they were sent.
    ///
    /// - Parameter typed: the names of those that were typed now.
    func refused(of typed: Set<String>) -> Set<String> {
        Set(all.filter { $0.value.fate == .refused && typed.contains($0.key) }.keys).union(refusedBefore.keys)
    }
}

extension FormAnswers: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, String)...) { self.init(Dictionary(elements) { $1 }) }
}
