import EventLoop
import ForeignText
import HelperHost
import HotspotCore
import HotspotMachine
import Store
import Vault

/// The prompts of one interface, the user's answers, and the credentials that are kept of them.
@LoopActor final class PromptDesk {
    private let services: Services
    private let journal: Journal
    private let problems: ProblemList
    private(set) var prompt: ShownPrompt?
    /// The user's answers, until they are sent; then, if they shall be kept, until the login is proven.
    var answers: UserAnswers?

    init(services: Services, journal: Journal, problems: ProblemList) {
        self.services = services
        self.journal = journal
        self.problems = problems
    }

    // MARK: Prompts

    func show(_ id: PromptID, _ prompt: Prompt, from helper: String) {
        let known = self.prompt.flatMap { $0.id == id ? $0.token : nil }
        self.prompt = ShownPrompt(
            id: id, token: known ?? Services.randomID(octets: 4), helper: helper, prompt: prompt, since: WallClock.now)
        journal.record("prompt", "\(Printable.text(prompt.title, limit: 200)) asks", helper: helper)
        services.events?.promptsChanged()
    }

    func withdraw(_ id: PromptID) {
        guard prompt?.id == id else { return }
        prompt = nil
        services.events?.promptsChanged()
    }

    // MARK: Answers

    /// Stores answers, which were checked before, until the login is proven.
    func store(_ values: [String: String], remember: Bool, for shown: ShownPrompt, portal: Portal?) {
        let new = UserAnswers(values: values, remember: remember, prompt: shown.prompt, helper: shown.helper, portal: portal)
        answers = answers.map { new.following($0) } ?? new
    }

    func dropAnswers() { answers = nil }

    /// The answers to the last prompt, to be sent.
    var values: [String: String] { answers?.values ?? [:] }

    /// The fields that the user filled in for this helper.
    func fields(for helper: String) -> [Field] { answers?.helper == helper ? answers?.fields ?? [] : [] }

    // MARK: Credentials and consent

    /// Returns the answers that were kept for this network, this helper and this portal (D6 and the vault's rule).
    func releasedCredential(for helper: String, in network: NetworkID, portal: Portal) -> [String: String]? {
        guard services.host.mayHaveCredentials(helper) else { return nil }
        let asking = owner(network, helper, portal)
        guard let stored = services.store.credential(network, helper: helper, origin: portal.origin, pin: portal.pin)
        else { return nil }
        var owner = asking
        owner.program = stored.program
        switch Release.decide(stored: owner, asking: asking, allowPlain: services.settings.allowPlainHTTPCredentials) {
        case .allowed: break
        case .refused(.otherProgram):
            journal.record(
                "credential",
                "kept back: it was stored for another program of this name, \(Printable.cut(stored.program ?? "", limit: 300))",
                helper: helper)
            return nil
        case .refused: return nil
        }
        do {
            let credential = try services.vault.openAnswers(stored.sealed, for: owner.purpose)
            journal.record("credential", "released for \(Printable.text(portal.origin, limit: 300))", helper: helper)
            if owner != asking {
                services.saving("binding answers") { try seal(credential, for: asking, fieldNames: stored.fieldNames) }
            }
            return credential
        } catch {
            problems.report(
                Problem(.vault, "The stored answers cannot be opened: \(error)", hint: "hotspotctl forget SSID"))
            return nil
        }
    }

    /// The user accepted this portal's terms as this helper shows them, or accepts all by the settings.
    func hasConsent(to helper: String, in network: NetworkID, portal: Portal?) -> Bool {
        switch services.settings.acceptTerms {
        case .yes: true
        case .ask: false
        case .remembered:
            portal.map {
                services.store.consent(
                    network, origin: $0.origin, helper: helper, program: services.program(of: helper)) != nil
            } ?? false
        }
    }

    /// Keeps the answers, now that the login that they were given for is proven, under the portal that asked for them.
    func keepAnswers(for network: NetworkID, of helper: String) {
        defer { answers = nil }
        guard let answers, answers.helper == helper, let portal = answers.portal else { return }
        if services.settings.acceptTerms == .remembered, answers.acceptsTerms {
            services.saving("remembering a consent") {
                try services.store.setConsent(
                    network, origin: portal.origin, helper: helper, program: services.program(of: helper),
                    terms: answers.prompt.terms ?? answers.prompt.termsURL ?? "", now: WallClock.now)
            }
        }
        guard answers.remember else { return }
        let kept = Release.keepable(answers.all, fields: answers.fields)
        let owner = owner(network, helper, portal)
        // An answer that could never be released again is not kept.
        guard !kept.isEmpty,
            case .allowed = Release.decide(
                stored: owner, asking: owner, allowPlain: services.settings.allowPlainHTTPCredentials)
        else { return }
        services.saving("keeping answers") { try seal(kept, for: owner, fieldNames: kept.keys.sorted()) }
    }

    private func owner(_ network: NetworkID, _ helper: String, _ portal: Portal) -> CredentialOwner {
        CredentialOwner(
            network: network, helper: helper, origin: portal.origin, pin: portal.pin, program: services.program(of: helper))
    }

    private func seal(_ answers: [String: String], for owner: CredentialOwner, fieldNames: [String]) throws {
        try services.store.setCredential(
            owner.network, helper: owner.helper, origin: owner.origin, pin: owner.pin, program: owner.program,
            fieldNames: fieldNames, sealed: try services.vault.seal(answers, for: owner.purpose))
    }
}

/// A prompt that waits for the user.
struct ShownPrompt {
    let id: PromptID
    /// The name of the prompt in the control interface.
    let token: String
    let helper: String
    let prompt: Prompt
    /// Unix time in milliseconds.
    let since: Int
}
