import HotspotCore
import Vault

/// Decides whether stored answers are sent, which of them a prompt offers, and what the prompt says about them.
extension LoginAnswers {
    /// Decides whether stored answers are sent with a command (D6, PlainHTTPAnswers=, and the vault's rule).
    mutating func release(_ context: Context) -> [Action] {
        // Give no reason if answers are stored only for other portals: hotspotd warns when this portal asks. An unreachable portal has not asked.
        guard let own = context.own, let portal = context.portal else {
            return context.otherOwner.map { withhold($0, context) } ?? []
        }
        // Give no reason if the user has answered: the user's answers are sent in place of the stored answers.
        if context.release == .confirmed, context.available != nil, !context.isLocked, sheet(for: context.helper) != nil {
            return []
        }
        let ruling: AnswerRuling? =
            switch context.release {
            case .refused(let refusal): context.otherOwner ?? .releaseRefused(refusal)
            case _ where !context.mayHaveCredentials: .noSandbox
            // Without the PIN, the user cannot see which answers to confirm.
            case _ where context.isLocked: .pinFirst
            case .automatic where own.isRefused: .refusedBefore
            case .automatic: isSpent(own) ? .sentBefore : nil
            case .confirmed, nil: .plainHTTP
            }
        return ruling.map { withhold($0, context) } ?? [.release(own, to: context.owner(at: portal))]
    }

    /// Returns the stored answers that the prompt can offer, locked or not; `nil` if the prompt asks for none of them.
    func wanted(in shown: ShownPrompt, _ context: Context) -> StoredAnswers? {
        context.available.flatMap { own in shown.asked.fields.contains { isWanted($0, of: own, shown) } ? own : nil }
    }

    /// Returns whether to offer the stored answer to a field: this login has no answer to the field yet, or only a stored secret that the user
    /// confirmed.
    private func isWanted(_ field: Field, of stored: StoredAnswers, _ shown: ShownPrompt) -> Bool {
        guard stored.fieldNames.contains(field.name) else { return false }
        guard let sheet = sheet(for: shown.helper), sheet.all[field.name] != nil else { return true }
        return field.kind.isSecret && sheet.confirmed.contains(field.name)
    }

    /// Returns the prompt with stored answers as defaults. Secret answers stay in the vault; the prompt only lists their fields.
    func offer(_ stored: StoredAnswers, _ values: [String: SecretText], in shown: ShownPrompt, _ context: Context) -> ShownPrompt
    {
        var shown = shown
        (shown.offered, shown.isLocked) = (stored.sealed, false)
        let answered = sheet(for: shown.helper)?.all ?? [:]
        let confirmed = sheet(for: shown.helper)?.confirmed ?? []
        // Do not offer a stored password beside other typed answers: it is shown as dots, so the user could take it for the new password, or
        // send it with another user's name.
        let isReplaced = answered.contains {
            stored.fieldNames.contains($0.key) && !confirmed.contains($0.key) && !$0.value.isEmpty
        }
        for (index, field) in shown.asked.fields.enumerated() where isWanted(field, of: stored, shown) {
            guard let value = values[field.name]?.text, field.kind != .choice || field.choices?.contains(value) == true else {
                continue
            }
            let mayBeShown = !field.kind.isSecret && stored.shownNames.contains(field.name)
            let mayBeHidden = (!isReplaced || confirmed.contains(field.name)) && stored.isSame(field)
            guard mayBeShown || mayBeHidden else { continue }
            shown.stored.append(field.name)
            shown.prompt.fields[index].value = mayBeShown ? value : nil
        }
        shown.note = note(for: shown, context)
        return shown
    }

    /// Returns the stored answers that the user may confirm; `nil` if they have changed since the prompt offered them.
    public func confirmable(_ shown: ShownPrompt, _ context: Context) -> StoredAnswers? {
        context.own.flatMap { $0.sealed == shown.offered ? $0 : nil }
    }

    /// Returns hotspotd's own sentence above the question: the reason to ask for answers that are stored, or a step that the user can take before
    /// answering.
    func note(for shown: ShownPrompt, _ context: Context) -> String? {
        if let reason = reasonToAsk(shown, context) { return "Asked again: \(reason.words)." }
        if !shown.stored.isEmpty, sheet?.helper != shown.helper, context.own?.isRefused == true {
            return AnswerRuling.offersRefused.words
        }
        guard context.isLocked, !shown.isLocked, remember(for: shown, context) != .never, shown.asked.asksForKeepable else {
            return nil
        }
        return AnswerRuling.unlockFirst.words
    }

    /// Returns why the prompt asks for answers that are stored; `nil` if none are stored, or if the prompt offers them.
    func reasonToAsk(_ shown: ShownPrompt, _ context: Context) -> AnswerRuling? {
        // If a question follows an answer, the portal's own words about that answer are shown instead.
        guard shown.portal != nil, shown.asked.asksForKeepable, sheet?.helper != shown.helper else { return nil }
        if let other = context.otherOwner { return other }
        guard let own = context.own else { return nil }
        if own.isRefused, released == nil, context.release == .automatic { return .refusedBefore }
        let isRelabelled = shown.asked.fields.contains { own.fieldNames.contains($0.name) && !own.isSame($0) }
        return isRelabelled ? .relabelled : nil
    }

    /// Returns the daemon's own words about a portal that imitates a company, or that differs from every portal with stored
    /// answers on this network. The asking helper does not matter.
    public func warning(_ context: Context) -> AnswerRuling? {
        if let imitated { return .imitation(imitated) }
        return context.portal.flatMap { portal in
            Release.mismatch(origin: portal.origin, pin: portal.pin, stored: context.stored.map(\.owner))
                .map { .impostor($0, context.stored) }
        }
    }

    /// Returns whether the answers to a prompt may be kept. An answer that hotspotd could never send again is not kept.
    public func remember(for shown: ShownPrompt, _ context: Context) -> Remember {
        guard let portal = shown.portal else { return .never }
        if case .refused = context.laterRelease(of: context.owner(at: portal)) { return .never }
        return context.remember == .always && shown.warning != nil ? .ask : context.remember
    }
}
