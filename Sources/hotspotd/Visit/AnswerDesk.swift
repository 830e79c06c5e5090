import Answers
import ControlAPI
import EventLoop
import ForeignText
import HelperHost
import HotspotCore
import HotspotMachine
import Store
import Vault

/// The shell of one interface's ``LoginAnswers``: reports stored answers to it, opens the vault, and writes the store and the journal.
@LoopActor final class AnswerDesk {
    typealias Event = LoginAnswers.Event
    typealias Context = LoginAnswers.Context

    private let services: Services
    private let journal: Journal
    private let problems: ProblemList
    private(set) var answers = LoginAnswers()
    var prompt: ShownPrompt? { answers.prompt }

    init(services: Services, journal: Journal, problems: ProblemList) {
        self.services = services
        self.journal = journal
        self.problems = problems
    }

    // MARK: Events

    /// Returns the outside facts that the rules need.
    ///
    /// - Parameter hasMemory: whether the helper gets its session's memory back, so that it can notice changed terms.
    func context(for helper: String = "", in network: NetworkID, at portal: Portal?, hasMemory: Bool = true) -> Context {
        let (settings, store) = (services.settings, services.store)
        var context = Context(network: network, helper: helper, program: services.program(of: helper), portal: portal)
        context.stored = store.credentials(network).map { StoredAnswers($0, in: network) }
        context.hasStoredConsent =
            portal.flatMap {
                store.consent(network, origin: $0.origin, helper: helper, program: context.program, hasMemory: hasMemory)
            } != nil
        context.mayHaveCredentials = services.host.mayHaveCredentials(helper)
        (context.isLocked, context.hasPIN) = (services.vault.isLocked, services.vault.hasPIN)
        (context.plain, context.remember, context.terms) = (settings.plainHTTPAnswers, settings.remember, settings.acceptTerms)
        context.hasMemory = hasMemory
        return context
    }

    func context(for shown: ShownPrompt) -> Context { context(for: shown.helper, in: shown.network, at: shown.portal) }

    /// Passes an event to the rules, performs the resulting actions, and returns them all.
    ///
    /// - Parameter given: the context of the event; by default the context of the waiting prompt.
    @discardableResult func feed(_ event: Event, _ given: Context? = nil) -> [LoginAnswers.Action] {
        let context = given ?? prompt.map(self.context) ?? self.context(in: .anonymous, at: nil)
        return answers.handle(event, context).flatMap { [$0] + perform($0, context) }
    }

    /// Performs an action. If that leads to another event, returns the actions of that event.
    private func perform(_ action: LoginAnswers.Action, _ context: Context) -> [LoginAnswers.Action] {
        switch action {
        // The caller performs these actions.
        case .answerPrompt, .logIn, .release: break
        case .ruled(let rule): services.log.debug("\(journal.interface): \(rule.number)")
        case .offer: services.events?.promptsChanged()
        case .open(let stored):
            guard let values = open(stored, context) else { break }
            return feed(.opened(stored, values.mapValues(SecretText.init)), context)
        case .seal(let keeping): return feed(.sealed(keeping, seal(keeping, context)), context)
        case .remove(let names, let stored): return remove(names, from: stored, context)
        case .setRefused(let stored, let isRefused):
            guard let credential = credential(stored) else { break }
            services.saving("noting that a portal refused answers") { try services.store.setRefused(credential, isRefused) }
        case .consent(let consent):
            services.saving("remembering a consent") {
                try services.store.setConsent(
                    context.network, origin: consent.portal.origin, helper: context.helper, program: context.program,
                    terms: consent.terms, hasMemory: context.hasMemory, now: WallClock.now)
            }
        case .journal(let kind, let words, let helper): journal.record(kind, words, helper: helper)
        case .note(let isAsking): journal.note { $0.isAsking = isAsking }
        }
        return []
    }

    // MARK: The vault and the store

    private func open(_ stored: StoredAnswers, _ context: Context) -> [String: String]? {
        do throws(VaultError) {
            return try services.vault.openAnswers(stored.sealed, for: stored.owner.purpose)
        } catch {
            if error != .pinNeeded {
                problems.report(
                    Problem(.vault, "The stored answers cannot be opened: \(error)", hint: "hotspotctl forget SSID"))
            }
            feed(.notOpened("\(error)"), context)
            return nil
        }
    }

    private func seal(_ keeping: Keeping, _ context: Context) -> SealResult {
        let rest = keeping.staying.isEmpty ? nil : keeping.before.flatMap { open($0, context) }
        let staying = rest?.filter { keeping.staying.contains($0.key) } ?? [:]
        do {
            try seal(
                staying.merging(keeping.values.mapValues(\.text)) { $1 }, for: keeping.owner, keeping.shownNames, keeping.labels)
            return .saved
        } catch StoreError.notSaved(let reason) {
            return .untilTheEnd(reason)
        } catch {
            services.log.warning("keeping answers: \(error)")
            return .failed("\(error)")
        }
    }

    private func seal(
        _ answers: [String: String], for owner: CredentialOwner, _ shownNames: [String], _ labels: [String: String]
    ) throws {
        try services.store.setCredential(
            owner.network, helper: owner.helper, origin: owner.origin, pin: owner.pin, program: owner.program,
            fieldNames: answers.keys.sorted(), shownNames: shownNames.filter { answers[$0] != nil }, labels: labels,
            sealed: try services.vault.seal(answers, for: owner.purpose))
    }

    private func remove(_ names: Set<String>, from stored: StoredAnswers, _ context: Context) -> [LoginAnswers.Action] {
        guard let rest = open(stored, context)?.filter({ !names.contains($0.key) }) else { return [] }
        services.saving("removing an answer") {
            if rest.isEmpty { return try credential(stored).map(services.store.deleteCredential) ?? () }
            try seal(rest, for: stored.owner, stored.shownNames, stored.labels)
        }
        return feed(.removed, context)
    }

    private func credential(_ stored: StoredAnswers) -> StoredCredential? {
        let owner = stored.owner
        return services.store.credential(owner.network, helper: owner.helper, origin: owner.origin, pin: owner.pin)
    }

    // MARK: Prompts and answers

    /// Shows a prompt. Returns whether it is already answered, with answers that were typed before or are stored.
    func ask(
        _ prompt: Prompt, _ id: PromptID, of helper: String, in network: NetworkID, at portal: Portal?
    ) -> Bool {
        feed(
            .asked(prompt, number: id.number, token: Services.randomID(octets: 4), since: WallClock.now),
            context(for: helper, in: network, at: portal)
        ).contains(.answerPrompt)
    }

    /// Offers the stored answers again, after the vault or the answers changed.
    func offerAgain() { feed(.storedChanged(token: Services.randomID(octets: 4))) }

    /// Offers the stored answers after the PIN was typed. Returns the helper whose login continues.
    func unlocked() -> String? {
        for case .logIn(let helper) in feed(.pinGiven(token: Services.randomID(octets: 4))) { return helper }
        return nil
    }

    /// Returns typed answers together with the stored answers to these fields, which the prompt offered.
    func complete(
        _ typed: [String: String], stored names: [String], for shown: ShownPrompt
    ) throws(ControlError) -> [String: String] {
        guard !names.isEmpty else { return typed }
        if let name = names.first(where: { !shown.stored.contains($0) }) {
            throw .invalidAnswer(field: Printable.text(name, limit: 64), message: "No answer is stored for this field.")
        }
        let context = context(for: shown)
        guard let stored = answers.confirmable(shown, context), let values = open(stored, context) else {
            offerAgain()
            throw .noSuchPrompt(shown.token, reason: answers.last?.sentence)
        }
        let words = names.prefix(16).map { Printable.text($0, limit: 64) }.joined(separator: ", ")
        journal.record("credential", "confirmed by the user: \(words)", helper: shown.helper)
        return values.filter { names.contains($0.key) }.merging(typed) { $1 }
    }

    /// Returns the stored answers to send with a command, and the portal's labels of their fields: the helper does not send the answer to a field
    /// whose label has changed.
    func released(_ context: Context) -> (values: [String: String], labels: [String: String])? {
        for case .release(let stored, let owner) in feed(.commandPrepared, context) {
            guard let values = open(stored, context) else { return nil }
            feed(.released, context)
            // Bind answers of an older daemon, which belong to no program, to the helper's present program.
            if stored.owner != owner {
                services.saving("binding answers") { try seal(values, for: owner, stored.shownNames, stored.labels) }
            }
            return (values, stored.labels)
        }
        return nil
    }

    /// Returns hotspotd's own warning about a portal that imitates a company, or that differs from the portals with stored answers.
    func warning(about portal: Portal?, in network: NetworkID) -> String? {
        answers.warning(context(in: network, at: portal))?.words
    }

    func remember(for shown: ShownPrompt) -> Remember { answers.remember(for: shown, context(for: shown)) }
}

extension ShownPrompt {
    var id: PromptID { PromptID(number: number) }
}

extension StoredAnswers {
    init(_ stored: StoredCredential, in network: NetworkID) {
        self.init(
            owner: CredentialOwner(stored, in: network), fieldNames: stored.fieldNames, shownNames: stored.shownNames,
            labels: stored.labels, isRefused: stored.isRefused, sealed: stored.sealed)
    }
}

extension CredentialOwner {
    /// The owner for which a credential was stored.
    init(_ stored: StoredCredential, in network: NetworkID) {
        self.init(
            network: network, helper: stored.helper, origin: stored.origin, pin: stored.pin, program: stored.program)
    }
}
