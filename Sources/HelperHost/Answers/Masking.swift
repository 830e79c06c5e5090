import ForeignText
import HotspotCore

extension JSONValue {
    /// The secrets in a command's parameters: the user's answers, and the values that the vault released. The answer to a checkbox is not a secret.
    public var secrets: [String] {
        ["credential", "answers"].flatMap { self[$0]?.object?.values.compactMap(\.string) ?? [] }
            .filter { !Field.tickWords.contains($0) }
    }
}

extension HelperOutcome {
    /// The outcome with these secrets masked wherever people can read it. A prompt that cannot be masked becomes a fault, see
    /// ``Prompt/masked(_:known:)``.
    public func masked(_ all: Secrets, known: KnownWords = KnownWords()) -> HelperOutcome {
        guard !all.isEmpty else { return self }
        let secrets = all.sparing(known.hosts)
        switch self {
        case .evaluation(var evaluation):
            evaluation.reason = secrets.mask(evaluation.reason)
            evaluation.portal = evaluation.portal?.masked(secrets, known)
            if let url = evaluation.session?.venueURL, secrets.appear(in: url) { evaluation.session?.venueURL = nil }
            return .evaluation(evaluation)
        case .reply(var reply):
            reply.reason = secrets.mask(reply.reason)
            reply.trace = reply.trace?.map { secrets.mask($0) }
            reply.imitates = secrets.mask(reply.imitates)
            reply.portal = reply.portal?.masked(secrets, known)
            if let url = reply.session?.venueURL, secrets.appear(in: url) { reply.session?.venueURL = nil }
            do throws(HelperFault) { reply.prompt = try reply.prompt?.masked(all, known: known) } catch {
                return .failed(error)
            }
            return .reply(reply)
        case .failed(let fault): return .failed(fault.masked(secrets))
        case .annotations, .value, .notRecognized: return self
        }
    }
}

extension HelperFault {
    func masked(_ secrets: Secrets) -> HelperFault {
        HelperFault(code, secrets.mask(sentence), standardError: secrets.mask(standardError), cause: cause)
    }
}

extension Portal {
    /// An origin cannot be masked, because the credential is bound to it. If an unknown origin repeats a secret, the portal is dropped.
    fileprivate func masked(_ secrets: Secrets, _ known: KnownWords) -> Portal? {
        if !known.origins.contains(origin), secrets.appear(in: origin) { return nil }
        return Portal(origin: origin, pin: pin, kind: secrets.mask(kind), title: secrets.mask(title))
    }
}

/// Names, choices and origins that a helper or the daemon used before the helper received a secret. They may be repeated even if they contain the
/// secret: a portal that refuses an answer asks the same question again.
public struct KnownWords: Sendable {
    fileprivate let names: Set<String>
    private let choices: Set<String>
    private let stored: [String: String]
    /// The user's answers in this login.
    private let answers: [String: String]
    /// The fields that were typed without echo.
    private let unseen: Set<String>
    fileprivate let origins: Set<String>
    /// The hosts of these origins, which occur in the addresses of the portal's pages and terms.
    fileprivate var hosts: [String] { origins.map { String(Origin.host(of: $0)) } }
    /// The title and the labels of the helper's answered questions.
    private let texts: Set<String>
    /// The secrets that this command sent.
    fileprivate let told: Secrets

    /// Collects the known words: from the fields of the helper's answered questions, the parameters of its command (names of answers and of a stored
    /// credential are names of its former fields), the user's earlier answers in this login, the origin of the portal that is already shown, and the
    /// title of the answered question.
    public init(
        asked: [Field] = [], parameters: JSONValue = [:], earlier: [String: String] = [:], shown: String? = nil,
        title: String? = nil
    ) {
        stored = parameters["credential"]?.object?.compactMapValues(\.string) ?? [:]
        let last = parameters["answers"]?.object?.compactMapValues(\.string) ?? [:]
        answers = earlier.merging(last) { $1 }
        names = Set(asked.map(\.name)).union(stored.keys).union(last.keys)
        unseen = Set(asked.filter(\.kind.isSecret).map(\.name))
        choices = Set(asked.flatMap { $0.choices ?? [] })
        texts = Set(asked.map(\.label) + [title].compactMap(\.self))
        told = Secrets(parameters.secrets)
        origins = Set([parameters["portal"]?["origin"]?.string, shown].compactMap { $0 })
    }

    /// Returns a text with these secrets masked, but leaves the title and labels of an answered question as they are: the code "kongres" is not
    /// masked in "Kongresshotel".
    fileprivate func mask(_ text: String, _ secrets: Secrets) -> String { texts.contains(text) ? text : secrets.mask(text) }

    /// Returns whether the helper may repeat a choice: an answered question offered it, or it is the stored answer to this field. A portal once
    /// offered the stored choice itself, as one of several choices in a field with this name.
    fileprivate func has(_ choice: String, of field: Field) -> Bool {
        choices.contains(choice) || (field.kind == .choice && (field.choices?.count ?? 0) > 1 && stored[field.name] == choice)
    }

    /// Returns whether a field offers the user's own answer again.
    fileprivate func offersAnswer(_ field: Field) -> Bool {
        !field.kind.isSecret && !unseen.contains(field.name) && field.value == answers[field.name] ?? stored[field.name]
    }
}

extension Prompt {
    /// In a longer list of choices, a secret shorter than ``shortSecret`` occurs by chance: a list of country codes contains most room numbers.
    private static let manyChoices = 8
    private static let shortSecret = 5

    /// The prompt with these secrets masked where people only read it. Names and choices return to the helper with the answers, so they cannot be
    /// masked: if one repeats a secret of this command, the prompt becomes a fault that does not quote it. Names and choices may repeat secrets of
    /// earlier commands, because a portal may ask again for the same answer, which was one of its choices. A prefilled value that repeats a secret is
    /// left out, because its mask would be sent as an answer; a refused answer is offered again in its own field, unless it is a password or a code.
    public func masked(_ secrets: Secrets, known: KnownWords = KnownWords()) throws(HelperFault) -> Prompt {
        guard !secrets.isEmpty else { return self }
        // Do not mask choices in other texts: choices are the portal's words, even if one of them was an answer to the same question.
        let offered = fields.filter { $0.kind == .choice }.compactMap(\.choices).filter { $0.count > 1 }
        let secrets = secrets.without(offered.joined()).sparing(known.hosts)
        var prompt = self
        prompt.title = known.mask(title, secrets)
        prompt.message = secrets.mask(message)
        prompt.terms = secrets.mask(terms)
        prompt.termsURL = secrets.mask(termsURL)
        for (index, field) in fields.enumerated() {
            if !known.names.contains(field.name), known.told.appear(in: field.name) { throw Self.repeats("name", index) }
            let choices = field.choices ?? []
            let telling = choices.count > Self.manyChoices ? known.told.withForms(from: Self.shortSecret) : known.told
            for choice in choices where !known.has(choice, of: field) && telling.appear(in: choice) {
                throw Self.repeats("choices", index)
            }
            prompt.fields[index].label = known.mask(field.label, secrets)
            if let value = field.value, secrets.appear(in: value), !known.offersAnswer(field) { prompt.fields[index].value = nil }
        }
        return prompt
    }

    private static func repeats(_ what: String, _ index: Int) -> HelperFault {
        HelperFault(
            .helperRepeatsSecret,
            "\"reply.prompt.fields.\(index).\(what)\" repeats an answer or a stored credential, so other people could read it"
        )
    }
}
