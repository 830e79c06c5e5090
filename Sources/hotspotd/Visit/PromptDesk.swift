import ControlAPI
import EventLoop
import ForeignText
import HelperHost
import HotspotCore
import HotspotMachine
import Store
import Vault

/// The prompts of one interface, the user's answers, and the credentials that are kept of them.
@LoopActor final class PromptDesk {
    let services: Services
    private let journal: Journal
    private let problems: ProblemList
    private(set) var prompt: ShownPrompt?
    /// The last prompt that is gone, and why.
    private(set) var last: (token: String, sentence: String)?
    /// The fate of the last login's answers: one sentence for the user.
    private(set) var outcome: String?
    /// The user's answers, until they are sent; then, if they shall be kept, until the login is proven.
    var answers: UserAnswers?
    /// Why the prompt is about to go.
    private var ending: String?
    /// The owner of the credential that the helper got in this login.
    private(set) var released: CredentialOwner?
    /// The helper said that it is done; the proof is awaited.
    private var isAccepted = false
    /// The login did without all of what was typed.
    private var isUnsent = false
    /// The portal does not answer now: what was typed is sent once it asks the same again.
    private var isPostponed = false
    private var postponed: UserAnswers?
    /// The answers are of the login before, and others were typed since.
    private var isOfBefore = false
    /// Why none of what was typed is kept if this login is proven.
    private var needless: String?
    /// The credentials, as they are sealed, that were sent in this association and freed nothing: they are not sent again without the user.
    private var spent: Set<[UInt8]> = []
    /// Why a credential is kept back in this login.
    private var withheld: String?
    /// The company that this network's portal imitates, by the helper that found it.
    private var imitations: [String: String] = [:]
    /// The portal that Authenticate was for: its first page may lead on to another one, which asks.
    private var firstPortal: Portal?

    init(services: Services, journal: Journal, problems: ProblemList) {
        self.services = services
        self.journal = journal
        self.problems = problems
    }

    // MARK: Prompts

    func show(_ id: PromptID, _ prompt: Prompt, from helper: String, in network: NetworkID, portal: Portal?) {
        let known = self.prompt.flatMap { $0.id == id ? $0.token : nil }
        var prompt = prompt
        if let unsent = prompt.unsent, answers?.helper == helper { answers?.drop(unsent) }
        prompt.unsent = nil
        var shown = ShownPrompt(
            id: id, token: known ?? Services.randomID(octets: 4), helper: helper, network: network, portal: portal,
            asked: prompt, prompt: prompt, since: WallClock.now)
        shown.warning = warning(about: portal, in: network)
        offerStored(in: &shown)
        if let reason = reasonToAsk(shown) { withhold(reason, from: helper) }
        if shown.warning == nil, let offered = shown.offered, spent.contains(offered) { shown.warning = Self.spentWarning }
        self.prompt = shown
        (ending, postponed) = (nil, nil)
        if answers == nil { outcome = nil }
        journal.note { $0.isAsking = true }
        let before = answers.flatMap { $0.helper == helper ? $0.fields : nil } ?? []
        let isNew = !prompt.fields.isEmpty && prompt.fields.allSatisfy { field in !before.contains { $0.name == field.name } }
        let again = answers?.helper != helper ? "" : isNew ? " for more" : " again"
        journal.record("prompt", "\(Printable.text(prompt.title, limit: 200)) asks\(again)", helper: helper)
        if let warning = shown.warning { journal.record("warning", warning, helper: helper) }
        services.events?.promptsChanged()
    }

    func loginBegins(at portal: Portal?) { firstPortal = portal }

    /// Notes the company that the portal imitates, as a helper finds. Another helper's clean reply does not end the warning.
    func noteImitation(of company: String?, foundBy helper: String) {
        let company = company.map { Printable.text($0, limit: 64) } ?? ""
        imitations[helper] = company.isEmpty ? nil : company
    }

    /// The company that this network's portal imitates.
    var imitated: String? { imitations.min { $0.key < $1.key }?.value }

    /// Returns whether the portal that asks is another one than that of the first page.
    func isBehindAnother(_ portal: Portal?) -> Bool { firstPortal.map { $0.origin != portal?.origin } ?? false }

    /// Returns whether what the user typed before, and what the portal did not take, answers its prompt.
    private func answersLate(_ prompt: Prompt, of helper: String, at portal: Portal?) -> Bool {
        func isSame(_ one: Field, _ other: Field) -> Bool {
            (one.name, one.kind, one.label, one.required) == (other.name, other.kind, other.label, other.required)
                && one.choices == other.choices
        }
        guard answers == nil, let postponed, postponed.helper == helper, postponed.portal?.origin == portal?.origin,
            postponed.portal?.pin == portal?.pin, postponed.prompt.terms == prompt.terms,
            postponed.prompt.termsURL == prompt.termsURL, prompt.fields.count == postponed.prompt.fields.count,
            zip(prompt.fields, postponed.prompt.fields).allSatisfy(isSame)
        else { return false }
        (answers, self.postponed, outcome) = (postponed, nil, nil)
        journal.record("answered", "by what was typed before", helper: helper)
        return true
    }

    /// Returns whether what was typed before answers a prompt, so that the user need not; or what is stored for a portal behind another
    /// one's page: the helper has been given nothing for it until now. Once in a login.
    func answersItself(_ prompt: Prompt, of helper: String, in network: NetworkID, at portal: Portal?) -> Bool {
        if answersLate(prompt, of: helper, at: portal) { return true }
        guard isBehindAnother(portal), answers == nil, let portal, !prompt.handsOver else { return false }
        let fields = prompt.fields.filter { $0.kind != .checkbox }
        let boxes = prompt.fields.count { $0.kind == .checkbox && $0.required }
        let accepts = prompt.hasTerms && hasConsent(to: helper, in: network, portal: portal, hasMemory: true)
        guard boxes <= (accepts ? 1 : 0), accepts || !fields.isEmpty else { return false }
        if !fields.isEmpty {
            guard let found = stored(for: helper, in: network, portal), found.release == .automatic,
                !isSpent(found.credential), !services.vault.isLocked, services.host.mayHaveCredentials(helper),
                fields.allSatisfy({ found.credential.fieldNames.contains($0.name) && isSame($0, found.credential) })
            else { return false }
        }
        firstPortal = nil
        outcome = nil
        journal.record("answered", "by what is stored for this portal", helper: helper)
        return true
    }

    func withdraw(_ id: PromptID, in turn: [Action], _ departure: Departure) {
        guard let gone = prompt, gone.id == id else { return }
        last = (gone.token, ending ?? ShownPrompt.ending(in: turn, departure))
        // Without an answer to this prompt the next command has none, and not those to the one before.
        if ending == nil { answers?.forgetSent() }
        prompt = nil
        services.events?.promptsChanged()
    }

    /// Offers what is stored now, after the vault or the stored answers changed. A prompt that offered other answers gets a new name, so that
    /// no client sends what its user has not seen.
    func offerAgain() {
        guard var shown = prompt else { return }
        let offered = shown.offered
        offerStored(in: &shown)
        if let offered, shown.offered != offered {
            last = (shown.token, "The stored answers changed meanwhile.")
            shown.token = Services.randomID(octets: 4)
        }
        prompt = shown
        services.events?.promptsChanged()
    }

    /// Offers what is stored, now that the PIN was given. Returns whether the prompt waited for nothing but answers that may be sent
    /// without the user, and tells its clients so.
    func unlocked() -> Bool {
        let waited = prompt?.isLocked == true
        offerAgain()
        guard waited, answers == nil, let shown = prompt, let offered = shown.offered, !spent.contains(offered),
            let portal = shown.portal, let found = stored(for: shown.helper, in: shown.network, portal),
            found.release == .automatic, !found.credential.isRefused,
            shown.prompt.fields.allSatisfy({ !$0.required || shown.stored.contains($0.name) })
        else { return false }
        ending = "The PIN was given; the stored answers are sent."
        return true
    }

    /// Makes stored answers the defaults of the fields that the helper does not have from elsewhere. Secret ones stay in the vault; of
    /// them only the names of the fields are known.
    private func offerStored(in shown: inout ShownPrompt) {
        defer { shown.note = note(for: shown) }
        (shown.prompt, shown.stored, shown.offered, shown.isLocked) = (shown.asked, [], nil, false)
        guard let portal = shown.portal, let found = stored(for: shown.helper, in: shown.network, portal),
            services.host.mayHaveCredentials(shown.helper)
        else { return }
        switch found.release {
        case .automatic, .confirmed: break
        case .refused: return
        }
        let names = found.credential.fieldNames
        let answered = allAnswers(for: shown.helper)
        let confirmed = answered.isEmpty ? [] : answers?.stored ?? []
        let wanted = shown.prompt.fields.filter {
            names.contains($0.name) && (answered[$0.name] == nil || ($0.kind.isSecret && confirmed.contains($0.name)))
        }
        // Behind dots a stored password would look like the new one, or go out with another user's name.
        let isReplaced = answered.contains { names.contains($0.key) && !confirmed.contains($0.key) && !$0.value.isEmpty }
        // Behind a PIN the prompt says so, and offers nothing.
        shown.isLocked = !wanted.isEmpty && services.vault.isLocked
        guard !wanted.isEmpty, !shown.isLocked, let values = open(found.credential, found.owner) else { return }
        shown.offered = found.credential.sealed
        for index in shown.prompt.fields.indices where wanted.contains(shown.prompt.fields[index]) {
            let field = shown.prompt.fields[index]
            guard let value = values[field.name], field.kind != .choice || field.choices?.contains(value) == true else {
                continue
            }
            let mayBeShown = !field.kind.isSecret && found.credential.shownNames.contains(field.name)
            let mayBeHidden = !isReplaced || confirmed.contains(field.name)
            guard mayBeShown || (mayBeHidden && isSame(field, found.credential)) else { continue }
            shown.stored.append(field.name)
            shown.prompt.fields[index].value = mayBeShown ? value : nil
        }
    }

    // MARK: Answers

    /// Returns typed answers together with the stored ones of these fields, which the prompt offered.
    func complete(
        _ typed: [String: String], stored names: [String], for shown: ShownPrompt
    ) throws(ControlError) -> [String: String] {
        guard !names.isEmpty else { return typed }
        if let name = names.first(where: { !shown.stored.contains($0) }) {
            throw .invalidAnswer(field: Printable.text(name, limit: 64), message: "No answer is stored for it.")
        }
        guard let portal = shown.portal, let found = stored(for: shown.helper, in: shown.network, portal),
            found.credential.sealed == shown.offered, let values = open(found.credential, found.owner)
        else {
            offerAgain()
            throw .noSuchPrompt(shown.token, reason: last?.sentence)
        }
        let words = names.prefix(16).map { Printable.text($0, limit: 64) }.joined(separator: ", ")
        journal.record("credential", "confirmed by the user: \(words)", helper: shown.helper)
        return values.filter { names.contains($0.key) }.merging(typed) { $1 }
    }

    /// Holds answers, which were checked before, until the login is proven.
    ///
    /// - Parameter confirmed: the user agreed to keep this portal's answers, or asked for it beforehand (`--remember`).
    func accept(
        _ values: [String: String], stored: Set<String> = [], remember: Bool, confirmed: Bool = false, for shown: ShownPrompt
    ) {
        var new = UserAnswers(
            values: values, stored: stored, remember: remember ? self.remember(for: shown) : nil, confirmed: confirmed,
            prompt: shown.prompt, helper: shown.helper, portal: shown.portal)
        new.hadConsent = hasConsent(to: shown.helper, in: shown.network, portal: shown.portal, hasMemory: true)
        answers = answers.map { new.merged(after: $0) } ?? new
        isUnsent = false
        ending = "It was answered already, perhaps in another terminal."
        journal.note { $0.isAsking = false }
    }

    func dismissed() { ending = "It was dismissed, perhaps in another terminal." }

    /// Notes that the helper calls the login done, and drops the answers that it did without. Returns whether it sent none.
    func loginAccepted(by helper: String, _ reply: Reply) -> Bool {
        isAccepted = true
        let (unsent, refused) = (reply.unsent ?? [], reply.refused ?? [])
        guard !(unsent + refused).isEmpty, let given = answers, given.helper == helper else { return false }
        answers?.dropNeedless(unsent + refused)
        func areAll(_ names: [String]) -> Bool {
            given.values.allSatisfy { names.contains($0.key) || ["", "no", "false"].contains($0.value) }
        }
        isUnsent = areAll(unsent)
        // A code may have been sent, which is never kept.
        if given.hasNews, answers?.hasNews == false, areAll(unsent + refused) {
            needless = isUnsent ? Self.unsent : Self.needless
        }
        return isUnsent
    }

    /// Notes that the portal does not answer now, and that these answers were not sent.
    func loginPostponed(by helper: String, _ unsent: [String]) {
        guard let answers, answers.helper == helper, !unsent.isEmpty, answers.all == answers.values else { return }
        isPostponed = answers.values.allSatisfy { unsent.contains($0.key) || ["", "no", "false"].contains($0.value) }
    }

    /// The login sent none of the user's answers, or had none.
    var hasSentNothing: Bool { answers == nil || isUnsent }

    /// Puts answers of an earlier login of this visit in the place of those that were not sent.
    func restore(_ earlier: UserAnswers) {
        isOfBefore = isUnsent
        (answers, needless, isUnsent) = (earlier, nil, false)
    }

    /// Drops answers whose login is not proven.
    ///
    /// - Parameter mayReturn: the network may open late, and the login count after all.
    func dropAnswers(mayReturn: Bool = false) {
        if isAccepted, let released, let sent = credential(of: released) { spent.insert(sent.sealed) }
        if isPostponed {
            postponed = answers
            outcome = "What you answered was not sent. It will be, once the portal asks the same again."
        } else if let answers, answers.hasNews {
            let mayBeKept = mayReturn && ![nil, .never].contains(answers.remember) && services.settings.remember != .never
            let exception = mayBeKept ? ", unless the network opens soon" : ""
            outcome = "What was typed is not kept, because no login with it is proven\(exception)."
            journal.record("credential", "not kept: no login with it is proven\(exception)", helper: answers.helper)
        }
        endLogin()
    }

    /// Forgets what belongs to one login.
    private func endLogin() {
        (answers, released, withheld, needless) = (nil, nil, nil, nil)
        (isAccepted, isUnsent, isOfBefore, isPostponed) = (false, false, false, false)
    }

    /// Drops the sentence about answers that are forgotten.
    func forgetOutcome() { (outcome, postponed) = (nil, nil) }

    /// Drops what belongs to the association.
    func leaveNetwork() {
        dropAnswers()
        (spent, postponed, imitations) = ([], nil, [:])
    }

    /// The answers to the last prompt, to be sent.
    var values: [String: String] { answers?.values ?? [:] }

    /// Returns the user's answers to all questions of this helper in this login.
    func allAnswers(for helper: String) -> [String: String] { answers?.helper == helper ? answers?.all ?? [:] : [:] }

    /// Returns the fields that the user filled in for this helper.
    func fields(for helper: String) -> [Field] { answers?.helper == helper ? answers?.fields ?? [] : [] }

    // MARK: Credentials and consent

    /// Returns the answers that were kept for this network, this helper and this portal, if they may be sent without the user (D6,
    /// PlainHTTPAnswers=, and the vault's rule).
    ///
    /// The labels go with them: the helper sends no answer to a field that is called something else now.
    func releasedCredential(
        for helper: String, in network: NetworkID, portal: Portal
    ) -> (values: [String: String], labels: [String: String])? {
        guard let found = stored(for: helper, in: network, portal) else {
            // Another portal is warned of where it asks; one that cannot be reached has asked for nothing.
            if let reason = otherOwner(than: helper, in: network, portal) { withhold(reason, from: helper) }
            return nil
        }
        switch found.release {
        case .automatic, .confirmed: break
        case .refused(.otherProgram):
            if let reason = otherOwner(than: helper, in: network, portal) { withhold(reason, from: helper) }
            return nil
        case .refused(let refusal):
            withhold(refusal.sentence, from: helper)
            return nil
        }
        guard services.host.mayHaveCredentials(helper) else {
            withhold("this helper runs without a sandbox", from: helper)
            return nil
        }
        // Only behind the PIN does the user see what there is to confirm.
        guard !services.vault.isLocked else {
            withhold("\(VaultError.pinNeeded)", from: helper)
            return nil
        }
        guard found.release == .automatic else {
            // What the user has just answered goes out as the answer.
            if answers?.helper == helper { return nil }
            withhold(
                "the portal speaks plain HTTP, so they are not sent without your yes (PlainHTTPAnswers=confirm)", from: helper)
            return nil
        }
        guard !isSpent(found.credential) else {
            withhold(found.credential.isRefused ? Self.refusedReason : Self.spentWarning, from: helper)
            return nil
        }
        guard let values = open(found.credential, found.owner) else { return nil }
        let asking = owner(network, helper, portal)
        released = asking
        journal.record("credential", "released for \(Printable.text(portal.origin, limit: 300))", helper: helper)
        if found.owner != asking {
            services.saving("binding answers") {
                try seal(values, for: asking, shownNames: found.credential.shownNames, labels: found.credential.labels)
            }
        }
        return (values, found.credential.labels)
    }

    /// Returns the credential of this network, helper and portal, its owner, and the rule for its release.
    func stored(
        for helper: String, in network: NetworkID, _ portal: Portal
    ) -> (credential: StoredCredential, owner: CredentialOwner, release: Release)? {
        let found = services.store.credential(network, helper: helper, origin: portal.origin, pin: portal.pin)
        guard let found else { return nil }
        let stored = CredentialOwner(found, in: network)
        let release = Release.decide(
            stored: stored, asking: owner(network, helper, portal), plain: services.settings.plainHTTPAnswers)
        return (found, stored, release)
    }

    static let refusedReason = "the portal did not take the stored answers when they were sent last"
    private static let spentWarning = "The stored answers were sent in this visit already, and the network did not open."

    private func isSpent(_ credential: StoredCredential) -> Bool { spent.contains(credential.sealed) || credential.isRefused }

    /// Notes that the portal refused stored answers, which were sent without the user or with no more than a yes. They are not sent by
    /// themselves any more, for some portals lock a guest out after a few tries, and the next prompt says so.
    func storedAnswersRefused(_ names: [String], by helper: String, in network: NetworkID) {
        var refused = released
        if let answers { refused = answers.areStored ? answers.portal.map { owner(network, helper, $0) } : nil }
        guard let refused, let sent = credential(of: refused), names.contains(where: sent.fieldNames.contains) else { return }
        setRefused(sent, true)
    }

    private func setRefused(_ credential: StoredCredential, _ isRefused: Bool) {
        services.saving("noting what a portal thinks of answers") { try services.store.setRefused(credential, isRefused) }
    }

    /// Returns the names of the fields for which answers are stored here that the user has to confirm, if the helper may have them.
    func offeredNames(to helper: String, in network: NetworkID, portal: Portal) -> [String] {
        guard let found = stored(for: helper, in: network, portal), services.host.mayHaveCredentials(helper) else { return [] }
        if case .refused = found.release { return [] }
        return found.credential.fieldNames
    }

    func credential(of owner: CredentialOwner) -> StoredCredential? {
        services.store.credential(owner.network, helper: owner.helper, origin: owner.origin, pin: owner.pin)
    }

    func open(_ credential: StoredCredential, _ owner: CredentialOwner) -> [String: String]? {
        do throws(VaultError) {
            return try services.vault.openAnswers(credential.sealed, for: owner.purpose)
        } catch {
            withhold("\(error)", from: credential.helper)
            guard error != .pinNeeded else { return nil }
            problems.report(Problem(.vault, "The stored answers cannot be opened: \(error)", hint: "hotspotctl forget SSID"))
            return nil
        }
    }

    /// Writes into the journal why stored answers are not sent by themselves, once for each login.
    private func withhold(_ reason: String, from helper: String) {
        guard withheld != reason else { return }
        withheld = reason
        journal.record("credential", "kept back: \(reason)", helper: helper)
    }

    /// Returns whether the user accepted this portal's terms as this helper shows them, or accepts all by the settings.
    ///
    /// - Parameter hasMemory: the helper gets the memory of its session back, by which it sees changed terms.
    func hasConsent(to helper: String, in network: NetworkID, portal: Portal?, hasMemory: Bool) -> Bool {
        switch services.settings.acceptTerms {
        case .yes: true
        case .ask: false
        case .remembered:
            portal.map {
                services.store.consent(
                    network, origin: $0.origin, helper: helper, program: services.program(of: helper), hasMemory: hasMemory)
                    != nil
            } ?? false
        }
    }

    /// Keeps the answers, now that the login that they were given for is proven, under the portal that asked for them.
    ///
    /// - Parameter hasMemory: the helper keeps a memory of the session.
    func keepAnswers(for network: NetworkID, of helper: String, hasMemory: Bool) {
        defer {
            endLogin()
            spent = []
        }
        if let needless { outcome = needless }
        guard let answers, answers.helper == helper else { return }
        let kept = answers.keepable
        guard let portal = answers.portal else {
            if !kept.isEmpty { outcome = "Not remembered: the helper does not say which portal asked." }
            return
        }
        let owner = owner(network, helper, portal)
        if !answers.stored.isEmpty, let stored = credential(of: owner), stored.isRefused { setRefused(stored, false) }
        // Nothing is remembered for a second portal of a network without a yes of its own.
        let isAgreed = answers.confirmed || warning(about: portal, in: network) == nil
        if services.settings.acceptTerms == .remembered, answers.acceptsTerms, isAgreed {
            services.saving("remembering a consent") {
                try services.store.setConsent(
                    network, origin: portal.origin, helper: helper, program: services.program(of: helper),
                    terms: answers.prompt.terms ?? answers.prompt.termsURL ?? "", hasMemory: hasMemory, now: WallClock.now)
            }
        }
        defer {
            if clear(answers, of: owner) { outcome = (outcome.map { $0 + " " } ?? "") + Self.cleared }
        }
        guard !kept.isEmpty else {
            if !answers.ambiguous.isEmpty {
                outcome = "Not remembered: the portal has one name for different fields."
            } else if keepsTerms, isConsented(answers, owner) {
                outcome = "That you accept the terms is remembered for this network's portal, until it shows others."
            }
            return
        }
        var sentence = keep(kept, answers, for: owner)
        if answers.hasOwnTick, sentence.hasPrefix("Remembered") { sentence += " Ticks are not kept." }
        if isOfBefore {
            sentence =
                "What was typed last was not sent; the answers before it: \(sentence.prefix(1).lowercased())\(sentence.dropFirst())"
        }
        outcome = sentence
        journal.record("credential", sentence, helper: helper)
    }

    func owner(_ network: NetworkID, _ helper: String, _ portal: Portal) -> CredentialOwner {
        CredentialOwner(
            network: network, helper: helper, origin: portal.origin, pin: portal.pin, program: services.program(of: helper))
    }

    func seal(
        _ answers: [String: String], for owner: CredentialOwner, shownNames: [String], labels: [String: String]
    ) throws {
        try services.store.setCredential(
            owner.network, helper: owner.helper, origin: owner.origin, pin: owner.pin, program: owner.program,
            fieldNames: answers.keys.sorted(), shownNames: shownNames, labels: labels,
            sealed: try services.vault.seal(answers, for: owner.purpose))
    }
}
