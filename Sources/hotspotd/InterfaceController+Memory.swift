import EventLoop
import ForeignText
import HotspotCore
import HotspotMachine
import Store
import Varlink
import Vault

/// What the user is asked, and what is kept of the answers.
extension InterfaceController {
    func show(_ id: PromptID, _ prompt: Prompt, _ helper: String) {
        self.prompt = ShownPrompt(
            id: id, token: self.prompt?.id == id ? self.prompt!.token : Token.random(octets: 4), helper: helper, prompt: prompt,
            since: WallClock.now)
        record("prompt", "\(Printable.text(prompt.title, limit: 200)) asks", helper: helper)
        services.onPrompts()
    }

    /// Takes the user's answers in. They are checked before.
    func give(_ values: [String: String], remember: Bool, to prompt: ShownPrompt) {
        let given = GivenAnswers(
            values: values, remember: remember, prompt: prompt.prompt, helper: prompt.helper, portal: named)
        answers = answers.map { given.following($0) } ?? given
        feed(.promptAnswered(prompt.id))
    }

    /// The answers that were kept for this network, this helper and this portal; D6 and the vault's rule.
    func releasedCredential(for helper: String) -> [String: String]? {
        // Who could read the daemon's folders gets nothing that is kept there.
        guard let joined, let portal = named, services.host.mayHaveCredentials(helper) else { return nil }
        let asking = owner(joined.network, helper, portal)
        guard
            let stored = services.store.credential(joined.network, helper: helper, origin: portal.origin, pin: portal.pin)
        else { return nil }
        var owner = asking
        owner.program = stored.program
        switch Release.decide(stored: owner, asking: asking, allowPlain: services.settings.allowPlainHTTPCredentials) {
        case .allowed: break
        case .refused(.otherProgram):
            record(
                "credential",
                "kept back: it was stored for another program of this name, \(Printable.cut(stored.program ?? "", limit: 300))",
                helper: helper)
            return nil
        case .refused: return nil
        }
        do {
            let credential = try services.vault.openAnswers(stored.sealed, for: owner.purpose)
            record("credential", "released for \(Printable.text(portal.origin, limit: 300))", helper: helper)
            if owner != asking {
                services.saving("binding answers") { try keep(credential, for: asking, fieldNames: stored.fieldNames) }
            }
            return credential
        } catch {
            report(Problem(.vault, "The stored answers cannot be opened: \(error)", hint: "hotspotctl forget SSID"))
            return nil
        }
    }

    /// Whose answers are kept or asked for. Whatever has the helper's name now must be what had it then.
    private func owner(_ network: NetworkID, _ helper: String, _ portal: Portal) -> CredentialOwner {
        CredentialOwner(
            network: network, helper: helper, origin: portal.origin, pin: portal.pin,
            program: program(of: helper))
    }

    private func program(of helper: String) -> String? {
        services.host.helpers.first { $0.spec.name == helper }?.spec.activation.identity
    }

    private func keep(_ answers: [String: String], for owner: CredentialOwner, fieldNames: [String]) throws {
        try services.store.setCredential(
            owner.network, helper: owner.helper, origin: owner.origin, pin: owner.pin, program: owner.program,
            fieldNames: fieldNames, sealed: try services.vault.seal(answers, for: owner.purpose))
    }

    /// The user accepted this portal's terms as this helper shows them, or accepts all by the settings.
    func hasConsent(to helper: String) -> Bool {
        switch services.settings.acceptTerms {
        case .yes: true
        case .ask: false
        case .remembered:
            if let joined, let portal = named {
                services.store.consent(
                    joined.network, origin: portal.origin, helper: helper, program: program(of: helper)) != nil
            } else {
                false
            }
        }
    }

    func remember(_ helper: String) {
        guard let joined, joined.network.key != nil else { return }
        let network = joined.network
        services.saving("remembering a choice") {
            try services.store.remember(network, RememberedChoice(helper: helper, portal: portal, committed: WallClock.now))
            if let session, sessionOwner == helper {
                let sealed = try services.vault.seal(
                    Coding.encode(session), for: .session(network: network, helper: helper, program: program(of: helper)))
                try services.store.setSealedSession(network, sealed)
            }
        }
        keepAnswers(network, helper)
        answers = nil
    }

    /// Another helper's success stays remembered, whoever failed here on request.
    func forgetChoice(of helper: String) {
        if sessionOwner == helper { dropSession() }
        guard let joined, services.store.remembered(joined.network, now: WallClock.now)?.helper == helper else { return }
        services.saving("forgetting a choice") { try services.store.dropChoice(joined.network) }
    }

    /// Answers are kept only now: the login that they were for is proven. They are filed under the portal that asked for them, wherever
    /// it led afterwards.
    private func keepAnswers(_ network: NetworkID, _ helper: String) {
        guard let answers, answers.helper == helper, let portal = answers.portal else { return }
        if services.settings.acceptTerms == .remembered, answers.acceptsTerms {
            services.saving("remembering a consent") {
                try services.store.setConsent(
                    network, origin: portal.origin, helper: helper, program: program(of: helper),
                    terms: answers.prompt.terms ?? answers.prompt.termsURL ?? "", now: WallClock.now)
            }
        }
        guard answers.remember else { return }
        let kept = Release.keepable(answers.all, fields: answers.fields)
        let owner = owner(network, helper, portal)
        // What could never be released again is not kept either.
        guard !kept.isEmpty,
            case .allowed = Release.decide(
                stored: owner, asking: owner, allowPlain: services.settings.allowPlainHTTPCredentials)
        else { return }
        services.saving("keeping answers") { try keep(kept, for: owner, fieldNames: kept.keys.sorted()) }
    }

    func restoreSession(helper: String?) {
        session = nil
        sessionOwner = helper
        guard let helper, let joined, let sealed = services.store.sealedSession(joined.network) else { return }
        do {
            let secret = try open(sealed, joined.network, helper)
            session = try Coding.decode(Session.self, from: secret.withBytes { Array($0) })
        } catch {
            services.log.notice(
                "\(name): the stored session cannot be opened, or belongs to another program than \(helper)'s of now: \(error)")
        }
    }

    /// What an older daemon sealed names no program.
    private func open(_ session: [UInt8], _ network: NetworkID, _ helper: String) throws -> SecretBytes {
        let program = program(of: helper)
        do {
            return try services.vault.open(session, for: .session(network: network, helper: helper, program: program))
        } catch {
            guard program != nil else { throw error }
            return try services.vault.open(session, for: .session(network: network, helper: helper))
        }
    }
}
