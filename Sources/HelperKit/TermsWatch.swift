import HotspotCore

/// Which terms were accepted, which are shown now, and whether they are still the same: changed terms ask again.
struct TermsWatch: Sendable {
    private var accepted: [String]
    private var shown: [String]
    /// The prompt that was answered showed terms: an earlier consent does not count for them.
    let mustBeAccepted: Bool
    /// The portal's terms are not those that were accepted.
    private(set) var changed = false

    init(_ memory: Memory, isTypedNow: Bool) {
        accepted = memory.terms ?? []
        shown = isTypedNow ? memory.shownTerms ?? [] : []
        mustBeAccepted = !shown.isEmpty
    }

    /// Whether these terms are others than those that were accepted. What was never seen, and what cannot be read now, has not changed:
    /// the consent stands then.
    mutating func haveChanged(_ terms: Terms?, _ client: HTTPClient, _ page: WebURL, _ scope: Scope) -> Bool {
        guard let terms, !accepted.isEmpty, let now = terms.fingerprint(asking: client, of: page, in: scope),
            !accepted.contains(now)
        else { return false }
        shown = [now]
        changed = true
        return true
    }

    /// A prompt shows these terms.
    mutating func show(_ terms: Terms?, _ client: HTTPClient, _ page: WebURL, _ scope: Scope) {
        guard let terms else { return }
        if changed, !shown.isEmpty { return }
        shown = terms.fingerprint(asking: client, of: page, in: scope).map { [$0] } ?? []
    }

    /// The user accepted what was shown.
    mutating func accept() {
        for mark in shown where !accepted.contains(mark) { accepted.append(mark) }
        accepted = Array(accepted.suffix(Terms.keptLimit))
        shown = []
    }

    func keep(in memory: inout Memory) {
        memory.terms = accepted.isEmpty ? nil : accepted
        memory.shownTerms = shown.isEmpty ? nil : shown
    }
}
