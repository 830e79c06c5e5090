import ForeignText
import HotspotCore
import Store
import Vault

/// What a prompt says of the answers that are stored here, and whether its own may be kept.
extension PromptDesk {
    /// Returns the daemon's own sentence above the question: why it asks for what is stored, or what the user can do before answering.
    func note(for shown: ShownPrompt) -> String? {
        if let reason = reasonToAsk(shown) { return "Asked again: \(reason)." }
        if offersRefused(shown) { return "The portal did not take these stored answers when they were sent last." }
        guard services.vault.isLocked, !shown.isLocked, remember(for: shown) != .never, shown.asksForKeepable else { return nil }
        return "Without the PIN the answers are not remembered: hotspotctl credentials unlock"
    }

    /// Returns whether a first question offers answers that the portal refused.
    private func offersRefused(_ shown: ShownPrompt) -> Bool {
        guard let portal = shown.portal, !shown.stored.isEmpty, answers?.helper != shown.helper else { return false }
        return credential(of: owner(shown.network, shown.helper, portal))?.isRefused == true
    }

    /// Returns why the prompt asks for what is stored; `nil` if nothing of it is, or if it is offered.
    func reasonToAsk(_ shown: ShownPrompt) -> String? {
        // A question behind an answer is asked for what the portal says of that.
        guard let portal = shown.portal, shown.asksForKeepable, answers?.helper != shown.helper else { return nil }
        if let reason = otherOwner(than: shown.helper, in: shown.network, portal) { return reason }
        guard let credential = credential(of: owner(shown.network, shown.helper, portal)) else { return nil }
        let release = stored(for: shown.helper, in: shown.network, portal)?.release
        if credential.isRefused, released == nil, release == .automatic { return Self.refusedReason }
        guard
            shown.asked.fields.contains(where: { credential.fieldNames.contains($0.name) && !isSame($0, credential) })
        else { return nil }
        return "the portal calls a field otherwise than when its answer was stored"
    }

    /// Returns whether the portal calls the field what it was called when its answer was stored, as far as that is known.
    func isSame(_ field: Field, _ credential: StoredCredential) -> Bool {
        credential.labels[field.name].map { $0 == Field.folded(field.label) } ?? true
    }

    /// Returns the daemon's own words about a portal that imitates a company, or that differs from every portal with stored answers on
    /// this network. The asking helper does not matter.
    func warning(about portal: Portal?, in network: NetworkID) -> String? {
        if let imitated { return "This portal asks for your \(imitated) account, but it does not belong to \(imitated)." }
        let stored = services.store.credentials(network)
        guard let portal,
            let refusal = Release.mismatch(
                origin: portal.origin, pin: portal.pin, stored: stored.map { CredentialOwner($0, in: network) })
        else { return nil }
        let origins = Set(stored.map(\.origin)).sorted().prefix(3).map(Origin.shortened)
        return "\(refusal.sentence) They were stored for \(origins.joined(separator: " and ")). This may be an impostor."
    }

    /// Returns why this helper is not given what is stored for this very portal: it is another helper's, or another program's.
    func otherOwner(than helper: String, in network: NetworkID, _ portal: Portal) -> String? {
        if let own = stored(for: helper, in: network, portal) {
            guard own.release == .refused(.otherProgram) else { return nil }
            let program = Printable.cut(own.credential.program ?? "", limit: 300)
            return "the answers stored here belong to another program of the name \(helper), \(program)"
        }
        let owner = services.store.credentials(network).first { $0.origin == portal.origin && $0.pin == portal.pin }
        return owner.map { "the answers stored here belong to the helper \($0.helper); this is \(helper)" }
    }

    func remember(for shown: ShownPrompt) -> Settings.Remember {
        guard let portal = shown.portal else { return .never }
        let owner = owner(shown.network, shown.helper, portal)
        // An answer that could never be released again is not kept.
        if case .refused = Release.decide(stored: owner, asking: owner, plain: services.settings.plainHTTPAnswers) {
            return .never
        }
        switch services.settings.remember {
        case .never: return .never
        case .ask: return .ask
        case .always: return shown.warning == nil ? .always : .ask
        }
    }
}
