import ForeignText
import HotspotCore
import Store
import Vault

/// Keeps the answers of a proven login, and says what became of them.
extension PromptDesk {
    /// Answers that no portal has checked.
    static let unsent = "What was typed is not kept, because it was not sent: the network opened without it."
    static let needless = "What was typed is not kept, because the login was done without it."

    /// Seals answers if they may be kept; returns one sentence for the user.
    func keep(_ kept: [String: String], _ answers: UserAnswers, for owner: CredentialOwner) -> String {
        let release = Release.decide(stored: owner, asking: owner, plain: services.settings.plainHTTPAnswers)
        func notRemembered(_ why: String) -> String {
            let terms = keepsTerms && isConsented(answers, owner)
            return "Not remembered\(why)\(terms ? " Only that you accept the terms is." : "")\(earlier(of: owner))"
        }
        if answers.remember == nil { return notRemembered(", as you wished.") }
        if answers.hasNews {
            // The settings may have changed since they were given.
            if case .refused(let refusal) = release { return notRemembered(": \(refusal.sentence)") }
            switch services.settings.remember == .never ? .never : answers.remember {
            case .never: return notRemembered(" (Remember=never).")
            case .ask: if !answers.confirmed { return notRemembered(", because you were not asked whether to.") }
            case nil, .always: break
            }
            do {
                try seal(kept, answers, for: owner)
            } catch StoreError.notSaved(let reason) {
                return "Remembered until the daemon ends, because nothing is saved now: \(reason)."
            } catch {
                services.log.warning("keeping answers: \(error)")
                return "Not remembered: \(error)."
            }
        }
        if !answers.hasNews, services.settings.remember == .never {
            return "The stored answers stay stored (Remember=never keeps no new ones)."
        }
        relabel(kept, answers, for: owner)
        guard services.host.mayHaveCredentials(owner.helper) else {
            return
                "Remembered for this network's portal; they are not sent by themselves, because this helper runs without a sandbox."
        }
        switch release {
        case .confirmed:
            // Enter alone is not enough where the page also asks for a code or a tick, and a page that needs nothing of it may not ask.
            let isNeeded = answers.fields.contains { $0.required && $0.kind != .checkbox }
            let next =
                asksAgain(answers, owner, release) ? ", and offered next time" : isNeeded ? "; next time Enter sends them" : ""
            let pin = services.vault.hasPIN ? "; after a restart the PIN is asked for first" : ""
            return "Remembered for this network's portal\(next)\(pin)."
        case .automatic where asksAgain(answers, owner, release): return "Remembered for this network's portal."
        case .automatic where services.vault.hasPIN:
            return "Remembered for this network's portal; next time you will not be asked, except for the PIN after a restart."
        case .automatic: return "Remembered for this network's portal; next time you will not be asked."
        case .refused: return "Remembered for this network's portal."
        }
    }

    /// Returns a sentence on the answers that were stored for this portal before, and stay; with a space in front.
    private func earlier(of owner: CredentialOwner) -> String {
        guard credential(of: owner) != nil else { return "" }
        let network = ShellWord.argument(owner.network.label) ?? "NETWORK"
        return " Earlier answers stay stored; to remove them: hotspotctl credentials remove \(network)"
    }

    /// Seals stored answers again that the user has confirmed under another label.
    private func relabel(_ kept: [String: String], _ answers: UserAnswers, for owner: CredentialOwner) {
        guard !answers.hasNews, let before = credential(of: owner),
            answers.fields.contains(where: { kept[$0.name] != nil && !isSame($0, before) })
        else { return }
        do { try seal(kept, answers, for: owner) } catch { services.log.warning("keeping a field's label: \(error)") }
    }

    static let cleared = "What you left out is not stored any more."

    /// Removes the stored answers in whose place the user has given none. Returns whether there were any.
    func clear(_ answers: UserAnswers, of owner: CredentialOwner) -> Bool {
        let left = Set(answers.fields.filter { $0.kind != .checkbox && !$0.isAssumed && answers.all[$0.name] == "" }.map(\.name))
        // Only what is removed is opened.
        guard !left.isEmpty, services.settings.remember != .never, let before = credential(of: owner),
            !left.isDisjoint(with: before.fieldNames), let values = open(before, owner)
        else { return false }
        let rest = values.filter { !left.contains($0.key) }
        services.saving("removing an answer") {
            if rest.isEmpty { return try services.store.deleteCredential(before) }
            try seal(rest, for: owner, shownNames: before.shownNames.filter { rest[$0] != nil }, labels: before.labels)
        }
        return true
    }

    /// Returns whether the same page will ask next time: for a code, or for a tick that is not the one for terms with a remembered
    /// consent.
    private func asksAgain(_ answers: UserAnswers, _ owner: CredentialOwner, _ release: Release) -> Bool {
        let ticks = answers.fields.count { $0.kind == .checkbox && $0.required }
        // Where the user confirms what is stored, a portal behind another one's page shows its terms as well.
        let isKnown = release == .automatic || !isBehindAnother(answers.portal)
        let isTicked = isKnown && !answers.hadConsent && isConsented(answers, owner)
        return answers.fields.contains { $0.kind == .code } || ticks > (isTicked ? 1 : 0)
    }

    /// Accepted terms are remembered until they change.
    var keepsTerms: Bool { services.settings.acceptTerms == .remembered && services.settings.remember != .never }

    /// Returns whether the user has accepted the terms in this login, and is not asked for them next time.
    func isConsented(_ answers: UserAnswers, _ owner: CredentialOwner) -> Bool {
        answers.acceptsTerms && hasConsent(to: owner.helper, in: owner.network, portal: answers.portal, hasMemory: true)
    }

    /// The most answers that are kept for one portal.
    private static let keptLimit = 64

    /// Seals answers. Stored ones that this login did not ask for stay with them: a portal may ask for a voucher on one visit, and for the
    /// room on the next.
    ///
    /// A portal that asks for a stored password as for ordinary text does not get it shown.
    private func seal(_ kept: [String: String], _ answers: UserAnswers, for owner: CredentialOwner) throws {
        let before = credential(of: owner)
        var (all, shown) = (kept, before?.shownNames ?? [])
        let stored = before.map { CredentialOwner($0, in: owner.network) }
        // Not those of another program that had the helper's name.
        if let before, let stored, stored.program == nil || stored.program == owner.program, let values = open(before, stored) {
            let rest = values.filter { stored in !answers.fields.contains { $0.name == stored.key } }
            // A page with other names each time must not fill the vault.
            if kept.count + rest.count <= Self.keptLimit { all.merge(rest) { asked, _ in asked } }
        }
        for field in answers.fields where field.kind.isSecret || !answers.stored.contains(field.name) {
            shown.removeAll { $0 == field.name }
            if !field.kind.isSecret { shown.append(field.name) }
        }
        let asked = Dictionary(answers.fields.map { ($0.name, Field.folded($0.label)) }) { first, _ in first }
        let labels = (before?.labels ?? [:]).merging(asked) { $1 }
        try seal(all, for: owner, shownNames: shown.filter { all[$0] != nil }, labels: labels)
    }
}
