import HotspotCore
import Synchronization

/// Texts that must not appear in anything that people, logs or journals read, in all the forms in which a helper is likely to repeat
/// them, see ``SecretForms``.
public struct Secrets: Sendable {
    /// What is shorter would mask half of any sentence, and stays.
    static let shortest = 3
    /// What stands in their place.
    static let mark = Array("•••".utf8)
    /// More of a text is not looked at, and not kept.
    public static let textLimit = 16 << 10
    /// So many ellipses of a text are looked at; nobody honest cuts more often.
    private static let cutLimit = 8
    /// So many octets before an ellipsis may be the beginning of a secret.
    private static let cutLength = 511

    /// What the search may cost all texts together, in octets compared: honest ones need next to nothing of it. A helper that has its
    /// user send answers of its own making, and then writes what is nearly the same again and again, could otherwise keep the loop busy
    /// for long. Once it is spent, what might be a secret is masked unseen.
    private static let comparisons = 8 << 20
    private let budget = Budget(Secrets.comparisons)

    /// What is left of it; a copy shares it.
    private final class Budget: Sendable {
        private let left: Mutex<Int>
        init(_ amount: Int) { left = Mutex(amount) }

        func take(_ amount: Int) -> Bool {
            left.withLock { left in
                guard left >= amount else { return false }
                left -= amount
                return true
            }
        }
    }

    /// By the first octet; the longest first, so that a secret within another leaves no rest.
    private var forms: [UInt8: [[UInt8]]] = [:]
    /// Octets that are compared for one ellipsis.
    private var cutCost = 0
    /// So much of a form's beginning is looked for first.
    private static let beginning = 8
    /// The lengths of these beginnings, and for each their hashes: a text is searched in time that grows with its length alone. A sieve
    /// of 64 bits, one for the beginning of each hash, spares nearly all looks into the set.
    private var hashes: [(length: Int, sieve: UInt64, hashes: Set<UInt64>)] = []
    /// The longest form, in octets.
    private(set) var longest = 0

    /// The secrets of these texts.
    public init(_ texts: some Sequence<String>) {
        var all: Set<[UInt8]> = []
        for text in texts where text.utf8.count >= Self.shortest {
            all.formUnion(SecretForms.all(of: text).filter { $0.count >= Self.shortest })
        }
        for form in all { forms[form[0], default: []].append(form) }
        cutCost = all.reduce(0) { $0 + 2 * min($1.count, Self.cutLength) + 16 }
        for key in forms.keys { forms[key]?.sort { $0.count > $1.count } }
        longest = all.map(\.count).max() ?? 0
        let beginnings = Set(all.map { Array($0.prefix(Self.beginning)) })
        hashes = Dictionary(grouping: beginnings, by: \.count).sorted { $0.key < $1.key }.map { length, beginnings in
            let hashes = Set(beginnings.map(Self.hash))
            return (length, hashes.reduce(0) { $0 | Self.sieve($1) }, hashes)
        }
    }

    private static func sieve(_ hash: UInt64) -> UInt64 { 1 << (hash >> 58) }

    private static let base: UInt64 = 0x100000001B3

    private static func hash(_ octets: [UInt8]) -> UInt64 { octets.reduce(0) { $0 &* base &+ UInt64($1) &+ 1 } }

    /// For each octet whether a form may begin there.
    private func candidates(in octets: [UInt8]) -> [Bool] {
        var candidates = [Bool](repeating: false, count: octets.count)
        for (length, sieve, known) in hashes where length <= octets.count {
            var power: UInt64 = 1
            for _ in 0..<length { power = power &* Self.base }
            var hash: UInt64 = 0
            for index in octets.indices {
                hash = hash &* Self.base &+ UInt64(octets[index]) &+ 1
                guard index >= length - 1 else { continue }
                if index >= length { hash = hash &- power &* (UInt64(octets[index - length]) &+ 1) }
                if sieve & Self.sieve(hash) != 0, known.contains(hash) { candidates[index - length + 1] = true }
            }
        }
        return candidates
    }

    /// Without the forms that have fewer octets.
    func withForms(from length: Int) -> Secrets {
        var long = self
        long.forms = forms.mapValues { forms in forms.filter { $0.count >= length } }.filter { !$0.value.isEmpty }
        long.hashes.removeAll { $0.length < length }
        return long
    }

    /// There is nothing to mask.
    public var isEmpty: Bool { forms.isEmpty }

    /// The text with each secret masked, also one that was cut off by an ellipsis. More than `limit` octets are not kept.
    public func mask(_ text: String, limit: Int = Secrets.textLimit) -> String {
        guard !isEmpty else { return text }
        var octets = Array(text.utf8.prefix(limit + 1))
        if octets.count > limit { octets = Array(octets.dropLast(longest)) + Self.ellipsis }
        return String(decoding: maskCut(mask(octets)), as: UTF8.self)
    }

    /// The same for raw octets.
    func mask(_ octets: [UInt8]) -> [UInt8] {
        guard !isEmpty else { return octets }
        var masked: [UInt8] = []
        masked.reserveCapacity(octets.count)
        let candidates = candidates(in: octets)
        var index = 0
        while index < octets.count {
            if candidates[index], let length = match(octets[index...]) {
                masked += Self.mark
                index += length
            } else {
                masked.append(octets[index])
                index += 1
            }
        }
        return masked
    }

    /// How much of the text is the longest form that it begins with; all of it where nobody can tell any more.
    private func match(_ text: ArraySlice<UInt8>) -> Int? {
        guard let first = text.first, let forms = forms[first] else { return nil }
        for form in forms {
            let common = zip(form, text).prefix { $0 == $1 }.count
            guard budget.take(common + 1) else { return text.count }
            if common == form.count { return common }
        }
        return nil
    }

    private static let ellipsis = Array("…".utf8)

    /// What stands before an ellipsis may be the beginning of a secret.
    private func maskCut(_ octets: [UInt8]) -> [UInt8] {
        var masked: [UInt8] = []
        var index = 0
        var cuts = 0
        while index < octets.count {
            if octets[index] == Self.ellipsis[0], cuts < Self.cutLimit, octets[index...].starts(with: Self.ellipsis) {
                cuts += 1
                let cut =
                    budget.take(cutCost)
                    ? forms.values.joined().map { Self.overlap(masked, $0) }.max() ?? 0 : min(masked.count, Self.cutLength)
                if cut >= Self.shortest { masked.replaceSubrange((masked.count - cut)..., with: Self.mark) }
                masked += Self.ellipsis
                index += Self.ellipsis.count
            } else {
                masked.append(octets[index])
                index += 1
            }
        }
        return masked
    }

    /// The octets at the end of a text that are a beginning of the form, and not all of it: found in one pass over both (Knuth, Morris
    /// and Pratt), however alike they are.
    private static func overlap(_ text: [UInt8], _ form: [UInt8]) -> Int {
        let beginning = form.dropLast().prefix(cutLength)
        /// For each beginning the longest shorter one that it ends with.
        var shorter = [Int](repeating: 0, count: beginning.count)
        var matched = 0
        func grow(_ octet: UInt8) {
            while matched > 0, matched == beginning.count || beginning[matched] != octet { matched = shorter[matched - 1] }
            if !beginning.isEmpty, beginning[matched] == octet { matched += 1 }
        }
        for index in beginning.indices.dropFirst() {
            grow(beginning[index])
            shorter[index] = matched
        }
        matched = 0
        for octet in text.suffix(cutLength) { grow(octet) }
        return matched
    }
}

extension JSONValue {
    /// The texts of a command that must not appear anywhere else: what the user typed, and what the vault released. A tick is none.
    public var secrets: [String] {
        ["credential", "answers"].flatMap { self[$0]?.object?.values.compactMap(\.string) ?? [] }
            .filter { !Field.tickWords.contains($0) }
    }
}

extension HelperOutcome {
    /// The same without these texts where people read: the reason, the trace, what went wrong, and the next question, which may echo an
    /// answer. A question whose fields cannot be masked is the helper's fault, see ``Prompt/masked(_:known:)``.
    public func masked(_ secrets: Secrets, known: KnownWords = KnownWords()) -> HelperOutcome {
        guard !secrets.isEmpty else { return self }
        switch self {
        case .evaluation(var evaluation):
            evaluation.reason = evaluation.reason.map { secrets.mask($0) }
            evaluation.portal = evaluation.portal?.masked(secrets, known: known)
            evaluation.session?.mask(secrets)
            return .evaluation(evaluation)
        case .reply(var reply):
            reply.reason = reply.reason.map { secrets.mask($0) }
            reply.trace = reply.trace?.map { secrets.mask($0) }
            reply.portal = reply.portal?.masked(secrets, known: known)
            reply.session?.mask(secrets)
            do throws(HelperFault) {
                if let prompt = reply.prompt { reply.prompt = try prompt.masked(secrets, known: known) }
            } catch {
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
        HelperFault(
            code, secrets.mask(sentence), standardError: standardError.map { secrets.mask($0) }, cause: cause)
    }
}

extension Portal {
    /// The origin stays, for by it the credential is bound. Everybody reads it, and nothing can be masked in it: a new one that
    /// repeats a secret makes the portal none.
    fileprivate func masked(_ secrets: Secrets, known: KnownWords) -> Portal? {
        if !known.origins.contains(origin), secrets.mask(origin) != origin { return nil }
        var portal = self
        portal.kind = secrets.mask(kind)
        portal.title = title.map { secrets.mask($0) }
        return portal
    }
}

extension Session {
    /// The memory is the helper's own and nobody reads it; the address of the venue's page is shown, and is none without its
    /// secret.
    fileprivate mutating func mask(_ secrets: Secrets) {
        if let url = venueURL, secrets.mask(url) != url { venueURL = nil }
    }
}
