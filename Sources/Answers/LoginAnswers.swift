import ForeignText
import HotspotCore
import Vault

/// The prompts and answers of one interface as a value: events in, actions out. The rules are those of ``AnswerRule``.
public struct LoginAnswers: Sendable {
    /// Stored answers that hotspotd sent without asking the user, in this association.
    struct Releasing: Hashable, Sendable {
        enum Fate: Hashable, Sendable {
            case sent
            /// The helper reports that the login succeeded.
            case accepted
            /// The login was not proven: do not send the answers with these sealed octets again without asking the user.
            case spent([UInt8])
        }

        let owner: CredentialOwner
        var fate: Fate
        var isSpent: Bool { if case .spent = fate { true } else { false } }
    }

    public enum Event: Sendable {
        /// hotspotd is about to send Authenticate.
        case loginBegan
        /// hotspotd is about to send a command, which may carry stored answers.
        case commandPrepared
        /// The vault opened stored answers, which are now sent.
        case released
        /// The helper asks a question; the machine chose the prompt's number.
        case asked(Prompt, number: UInt64, token: String, since: Int)
        /// The vault opened stored answers for the prompt.
        case opened(StoredAnswers, [String: SecretText])
        /// The vault did not open stored answers.
        case notOpened(String)
        /// The user's answers to the prompt, already checked.
        ///
        /// - Parameters:
        ///   - confirmed: the names of the stored answers among them.
        ///   - from: the paired laptop on which the answers were typed.
        case answered(
            ShownPrompt, [String: SecretText], confirmed: Set<String>, remember: Bool, agreed: Bool, from: String? = nil)
        case dismissed
        case withdrawn(UInt64, because: String)
        /// The stored answers, the vault or the settings changed.
        case storedChanged(token: String)
        case pinGiven(token: String)
        case replied(Reply, to: Command)
        /// The login succeeded. If it sent no answers, the answers in `kept`, of an earlier login, count.
        case succeeded(kept: AnswerSheet?)
        /// The answers of an earlier login become the current answers again.
        case restored(AnswerSheet?)
        /// The login is proven.
        case proven
        /// The vault and the store have stored the answers, or could not.
        case sealed(Keeping, SealResult)
        case removed
        /// The login ended without a proof.
        case failed(mayReturn: Bool)
        case left
        case forgotten
        /// The login is proven on a network for which nothing is stored.
        case provenWithoutMemory
    }

    public enum Action: Hashable, Sendable {
        /// A rule decided.
        case ruled(AnswerRule)
        /// Show the current prompt, or that no prompt waits.
        case offer
        /// Answer the prompt in the user's place.
        case answerPrompt
        /// Begin the helper's login again.
        case logIn(helper: String)
        /// Open stored answers for the prompt.
        case open(StoredAnswers)
        /// Open stored answers and send them; from then on they belong to this owner.
        case release(StoredAnswers, to: CredentialOwner)
        case seal(Keeping)
        /// Remove these answers from the stored ones.
        case remove(Set<String>, from: StoredAnswers)
        case setRefused(StoredAnswers, Bool)
        case consent(AnswerSheet.Consent)
        case journal(kind: String, String, helper: String)
        /// Note in the attempt whether a question waits.
        case note(isAsking: Bool)
    }

    public private(set) var prompt: ShownPrompt?
    /// The last prompt that has ended, and why.
    public private(set) var last: (token: String, sentence: String)?
    /// The fate of the last login's answers.
    public internal(set) var outcome: AnswerRuling?
    /// The user's answers in this login.
    public internal(set) var sheet: AnswerSheet?
    /// The answers that wait until the portal asks the same questions again.
    private var postponed: AnswerSheet?
    var releases: [Releasing] = []
    /// The reason why this login does not send stored answers.
    private var withheld: String?
    /// The companies that this network's portal imitates; the key is the helper that reported the company.
    private var imitations: [String: String] = [:]
    /// The portal of the Authenticate command. Its first page may lead to another portal, which then asks.
    private var firstPortal: Portal?

    public init() {}

    // MARK: Queries

    /// The owner of the stored answers that the helper got in this login.
    public var released: CredentialOwner? { releases.last { !$0.isSpent }?.owner }
    /// Whether the login sent none of the user's answers, or needed none.
    public var hasSentNothing: Bool { sheet?.isUnsent ?? true }
    /// The company that this network's portal imitates.
    public var imitated: String? { imitations.min { $0.key < $1.key }?.value }

    /// Returns the answers of this login, if they are for this helper.
    public func sheet(for helper: String) -> AnswerSheet? { sheet?.helper == helper ? sheet : nil }

    /// Returns whether the portal that asks differs from the portal of the first page.
    func isBehindAnother(_ portal: Portal?) -> Bool { firstPortal.map { $0.origin != portal?.origin } ?? false }

    func isSpent(_ stored: StoredAnswers) -> Bool {
        stored.isRefused || releases.contains { $0.fate == .spent(stored.sealed) }
    }

    // MARK: Events

    public mutating func handle(_ event: Event, _ context: Context) -> [Action] {
        switch event {
        case .loginBegan:
            firstPortal = context.portal
            return []
        case .commandPrepared: return release(context)
        case .released: return noteReleased(context)
        case .asked(let prompt, let number, let token, let since):
            if let ruling = answersItself(prompt, context) {
                outcome = nil
                return [.ruled(ruling.rule), .journal(kind: "answered", ruling.words, helper: context.helper), .answerPrompt]
            }
            return ask(prompt, number, token, since, context)
        case .opened(let stored, let values):
            guard let shown = prompt else { return [] }
            let wasLocked = shown.isLocked
            prompt = offer(stored, values, in: shown, context)
            return [.offer] + (wasLocked ? goOn(with: stored, context) : [])
        case .notOpened(let reason):
            prompt?.isLocked = false
            return withhold(AnswerRuling(.unreadable, reason), context) + (prompt == nil ? [] : [.offer])
        case .answered(let shown, let values, let confirmed, let remember, let agreed, let laptop):
            let new = AnswerSheet(
                values, confirmed: confirmed, to: shown.prompt, of: shown.helper, at: shown.portal,
                wish: remember ? self.remember(for: shown, context) : nil, isConfirmed: agreed, hadConsent: context.hasConsent)
            sheet = sheet.map(new.merged) ?? new
            prompt?.ending = laptop.map(AnswerRuling.answered) ?? .answered
            let words = "by the user" + (laptop.map { " on \($0)" } ?? "")
            return [.ruled(.later), .note(isAsking: false), .journal(kind: "answered", words, helper: shown.helper)]
        case .dismissed:
            prompt?.ending = .dismissed
            return [.ruled(.gone)]
        case .withdrawn(let number, let cause): return withdraw(number, cause)
        case .storedChanged(let token): return offerAgain(token, context)
        case .pinGiven(let token): return offerAgain(token, context, isUnlocking: true)
        case .replied(let reply, let command): return replied(reply, command, context)
        case .succeeded(let kept): return succeed(kept, context)
        case .restored(let kept):
            sheet = kept
            return []
        case .proven: return prove(context)
        case .sealed(let keeping, let result): return sealed(keeping, result, context)
        case .removed:
            let words = outcome.map { $0.words + " " } ?? ""
            outcome = AnswerRuling(.cleared, words + AnswerRuling.cleared)
            return [.ruled(.cleared)]
        case .failed(let mayReturn): return fail(mayReturn, context)
        case .left:
            let actions = fail(false, context)
            if postponed != nil { outcome = .unproven(mayReturn: false) }
            (releases, postponed, imitations) = ([], nil, [:])
            return actions
        case .forgotten:
            (outcome, postponed) = (nil, nil)
            return []
        case .provenWithoutMemory:
            (outcome, postponed) = (nil, nil)
            endLogin(context)
            return []
        }
    }

    // MARK: Prompts

    private mutating func ask(
        _ prompt: Prompt, _ number: UInt64, _ token: String, _ since: Int, _ context: Context
    ) -> [Action] {
        let helper = context.helper
        var prompt = prompt
        if let unsent = prompt.unsent, sheet?.helper == helper { sheet?.setFate(.dropped) { unsent.contains($0.name) } }
        prompt.unsent = nil
        var shown = ShownPrompt(
            number: number, token: self.prompt?.number == number ? self.prompt!.token : token, helper: helper,
            network: context.network, portal: context.portal, prompt: prompt, since: since)
        let offered = wanted(in: shown, context)
        shown.isLocked = offered != nil && context.isLocked
        let warning = warning(context)
        shown.warning = warning?.words
        if shown.warning == nil, let offered, !shown.isLocked, releases.contains(where: { $0.fate == .spent(offered.sealed) }) {
            shown.warning = AnswerRuling.sentBefore.words
        }
        shown.note = note(for: shown, context)
        self.prompt = shown
        postponed = nil
        if sheet == nil { outcome = nil }
        var actions: [Action] = warning.map { [.ruled($0.rule)] } ?? []
        if let reason = reasonToAsk(shown, context) { actions += withhold(reason, context) }
        let before = sheet(for: helper)?.fields
        let isNew =
            !prompt.fields.isEmpty && prompt.fields.allSatisfy { field in before?.contains { $0.name == field.name } != true }
        let again = before == nil ? "" : isNew ? " for more" : " again"
        let title = Printable.text(prompt.title, limit: 200)
        actions += [.note(isAsking: true), .journal(kind: "prompt", "\(title) asks\(again)", helper: helper)]
        if let warning = shown.warning { actions.append(.journal(kind: "warning", warning, helper: helper)) }
        return actions + [Self.offer(offered, context)]
    }

    /// Returns the action that shows the prompt: at once, or once the stored answers are open.
    private static func offer(_ stored: StoredAnswers?, _ context: Context) -> Action {
        if let stored, !context.isLocked { .open(stored) } else { .offer }
    }

    /// Returns why hotspotd answers a prompt without the user: typed answers that were not sent fit the prompt, or answers are stored for this second
    /// portal, which counts once in a login.
    private mutating func answersItself(_ prompt: Prompt, _ context: Context) -> AnswerRuling? {
        guard sheet == nil else { return nil }
        if var late = postponed, late.answers(prompt, of: context.helper, at: context.portal) {
            late.setFate(.open) { _ in true }
            (sheet, postponed) = (late, nil)
            return .answeredLate
        }
        guard isBehindAnother(context.portal), !prompt.handsOver else { return nil }
        let fields = prompt.fields.filter { $0.kind != .checkbox }
        let boxes = prompt.fields.count { $0.kind == .checkbox && $0.required }
        let accepts = prompt.hasTerms && context.hasConsent
        guard boxes <= (accepts ? 1 : 0), accepts || !fields.isEmpty else { return nil }
        if !fields.isEmpty {
            guard let own = context.available, context.release == .automatic, !isSpent(own), !context.isLocked,
                fields.allSatisfy({ own.fieldNames.contains($0.name) && own.isSame($0) })
            else { return nil }
        }
        firstPortal = nil
        return .answeredFromStore
    }

    /// Offers the stored answers as they are now. If the prompt offered other answers before, it gets a new token, so that no client sends answers
    /// that its user has not seen.
    private mutating func offerAgain(_ token: String, _ context: Context, isUnlocking: Bool = false) -> [Action] {
        guard var shown = prompt else { return [] }
        let stored = wanted(in: shown, context)
        let (offered, wasLocked) = (shown.offered, shown.isLocked)
        (shown.prompt, shown.stored, shown.offered) = (shown.asked, [], nil)
        shown.isLocked = stored != nil && (context.isLocked || (isUnlocking && wasLocked))
        if let offered, context.isLocked || stored?.sealed != offered {
            last = (shown.token, AnswerRuling.storedChanged.words)
            shown.token = token
        }
        shown.note = note(for: shown, context)
        prompt = shown
        return [.ruled(.changed), Self.offer(stored, context)]
    }

    /// Begins the login again after the PIN, if the prompt waited only for answers that may be sent without the user.
    private mutating func goOn(with stored: StoredAnswers, _ context: Context) -> [Action] {
        guard sheet == nil, let shown = prompt, shown.offered != nil, context.release == .automatic, !isSpent(stored),
            shown.prompt.fields.allSatisfy({ !$0.required || shown.stored.contains($0.name) })
        else { return [] }
        prompt?.ending = .pinGiven
        return [.ruled(.pinGiven), .logIn(helper: shown.helper)]
    }

    private mutating func withdraw(_ number: UInt64, _ cause: String) -> [Action] {
        guard let gone = prompt, gone.number == number else { return [] }
        last = (gone.token, gone.ending?.words ?? cause)
        // Without an answer to this prompt, the next command carries no answers, not even those to the previous prompt.
        if gone.ending == nil { sheet?.setFate(.sent) { $0.fate == .open } }
        prompt = nil
        return [.ruled(gone.ending?.rule ?? .gone), .offer]
    }

    // MARK: Replies

    private mutating func replied(_ reply: Reply, _ command: Command, _ context: Context) -> [Action] {
        guard [.authenticate, .presentUI].contains(command) else { return [] }
        let (unsent, refused, isOurs) = (reply.unsent ?? [], reply.refused ?? [], sheet?.helper == context.helper)
        // Change only the finding of this helper: its success must not end another helper's warning.
        if reply.result != .temporaryFailure {
            let company = reply.imitates.map { Printable.text($0, limit: 64) } ?? ""
            imitations[context.helper] = company.isEmpty ? nil : company
        }
        if reply.result == .success {
            for index in releases.indices where releases[index].fate == .sent { releases[index].fate = .accepted }
            if isOurs { sheet?.finish(unsent: unsent, refused: refused) }
        }
        if command == .presentUI, reply.result == .temporaryFailure, isOurs { sheet?.postpone(unsent) }
        guard reply.result == .uiRequired, reply.prompt?.mayOpen != true else { return [] }
        // Mark stored answers as refused if they were sent without the user, or if the user only confirmed them: some portals lock a guest out after
        // a few attempts.
        let asker =
            sheet.map { $0.areStored ? $0.portal : nil } ?? released.map { Portal(origin: $0.origin, pin: $0.pin, kind: "") }
        guard let stored = context.own(at: asker), refused.contains(where: stored.fieldNames.contains) else { return [] }
        return [.ruled(.refused), .setRefused(stored, true)]
    }

    private mutating func noteReleased(_ context: Context) -> [Action] {
        guard let portal = context.portal else { return [] }
        releases.removeAll { !$0.isSpent }
        releases.append(Releasing(owner: context.owner(at: portal), fate: .sent))
        let origin = Printable.text(portal.origin, limit: 300)
        return [.ruled(.released), .journal(kind: "credential", "released for \(origin)", helper: context.helper)]
    }

    /// A second login may have run without the answers that the first login sent. If the second login is proven, the answers of the first login count
    /// (D25).
    private mutating func succeed(_ kept: AnswerSheet?, _ context: Context) -> [Action] {
        guard hasSentNothing, var kept, kept.helper == context.helper else { return [] }
        if sheet?.isUnsent == true { kept.setFate(.earlier) { _ in true } }
        sheet = kept
        return [.ruled(.earlier)]
    }

    private mutating func fail(_ mayReturn: Bool, _ context: Context) -> [Action] {
        defer { endLogin(context) }
        guard let sheet else { return [] }
        if sheet.isPostponed {
            (postponed, outcome) = (sheet, .postponed)
            return [.ruled(.postponed)]
        }
        guard sheet.hasNews else { return [] }
        let mayBeKept = mayReturn && ![nil, .never].contains(sheet.wish) && context.remember != .never
        outcome = .unproven(mayReturn: mayBeKept)
        return [
            .ruled(.unproven),
            .journal(kind: "credential", "not kept: \(AnswerRuling.noProof(mayReturn: mayBeKept))", helper: sheet.helper),
        ]
    }

    /// Forgets the data of one login. Stored answers that the portal accepted without opening the network stay marked as spent.
    mutating func endLogin(_ context: Context) {
        releases = releases.compactMap { release in
            let owner = release.owner
            let sent = context.stored.first {
                ($0.owner.helper, $0.owner.origin, $0.owner.pin) == (owner.helper, owner.origin, owner.pin)
            }
            return switch release.fate {
            case .spent: release
            case .accepted: sent.map { Releasing(owner: owner, fate: .spent($0.sealed)) }
            case .sent: nil
            }
        }
        (sheet, withheld) = (nil, nil)
    }

    /// Writes into the journal why stored answers are not sent automatically, once in each login.
    mutating func withhold(_ ruling: AnswerRuling, _ context: Context) -> [Action] {
        guard withheld != ruling.words else { return [] }
        withheld = ruling.words
        return [.ruled(ruling.rule), .journal(kind: "credential", "kept back: \(ruling.words)", helper: context.helper)]
    }
}
