import HotspotCore

/// Names and choices that a helper had before it was told a secret. To say them again is no echo, however alike they are: a portal that
/// refused an answer asks the same question once more.
public struct KnownWords: Sendable {
    fileprivate var names: Set<String>
    fileprivate var choices: Set<String>
    fileprivate var stored: [String: String]
    /// Where the daemon sent it, and what is shown already.
    var origins: Set<String>

    /// Without arguments: nothing.
    ///
    /// - Parameters:
    ///   - asked: the fields of its questions that were answered since.
    ///   - parameters: of its command. The names of answers and of a stored credential are the names of its own former fields.
    ///   - shown: the origin of the portal that people see already.
    public init(asked: [Field] = [], parameters: JSONValue = [:], shown: String? = nil) {
        stored = parameters["credential"]?.object?.compactMapValues(\.string) ?? [:]
        names = Set(asked.map(\.name)).union(stored.keys)
        if let answers = parameters["answers"]?.object { names.formUnion(answers.keys) }
        choices = Set(asked.flatMap { $0.choices ?? [] })
        origins = Set([parameters["portal"]?["origin"]?.string, shown].compactMap { $0 })
    }

    /// What was chosen at an earlier visit is stored like any other answer, but was the portal's word first. Whoever offers it under
    /// another name, as a part of another text or as the only choice has no reason to.
    fileprivate func has(_ choice: String, of field: Field) -> Bool {
        choices.contains(choice) || (field.kind == .choice && (field.choices?.count ?? 0) > 1 && stored[field.name] == choice)
    }
}

extension Prompt {
    /// In a list of more choices than this a short text says nothing: one of countries and their codes has most numbers of rooms in it,
    /// and one of years many a code.
    private static let manyChoices = 8
    /// What has fewer octets is short.
    private static let shortLimit = 5

    /// The same without these secrets in anything that is only read. Names and choices come back to the helper with the answers, so
    /// they stay as they are; one that repeats a secret is the helper's fault, and the fault does not repeat it.
    ///
    /// A value that would be filled in is left out instead: a mask in its place would be sent.
    public func masked(_ secrets: Secrets, known: KnownWords = KnownWords()) throws(HelperFault) -> Prompt {
        guard !secrets.isEmpty else { return self }
        var prompt = self
        prompt.title = secrets.mask(title)
        prompt.message = message.map { secrets.mask($0) }
        // The longest text of all, and one whose end matters.
        prompt.terms = terms.map { secrets.mask($0, limit: 4 * Secrets.textLimit) }
        prompt.termsURL = termsURL.map { secrets.mask($0) }
        for (index, field) in fields.enumerated() {
            if !known.names.contains(field.name), secrets.mask(field.name) != field.name { throw Self.repeats("name", index) }
            let choices = field.choices ?? []
            let telling = choices.count > Self.manyChoices ? secrets.withForms(from: Self.shortLimit) : secrets
            for choice in choices where !known.has(choice, of: field) && telling.mask(choice) != choice {
                throw Self.repeats("choices", index)
            }
            prompt.fields[index].label = secrets.mask(field.label)
            if let value = field.value, secrets.mask(value) != value { prompt.fields[index].value = nil }
        }
        return prompt
    }

    private static func repeats(_ what: String, _ index: Int) -> HelperFault {
        HelperFault(
            .helperRepeatsSecret,
            "«reply.prompt.fields.\(index).\(what)» repeats an answer or a stored credential, which others could read there")
    }
}
