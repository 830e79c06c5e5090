import Answers
import HotspotCore
import Testing
import Vault

/// Carries out the actions of `LoginAnswers` as the daemon does, with a model of the vault, the store and the helper.
struct DaemonModel {
    static let network = NetworkID.wireless(SSID(printable: "Hotel")!, .open)
    static let secure = Portal(origin: "https://p.example", pin: "cGlu", kind: "form")
    static let plain = Portal(origin: "http://p.example", kind: "form")
    static let canary = "canary-4711"

    var answers = LoginAnswers()
    var context: LoginAnswers.Context
    /// The values of the stored answers, by their sealed octets.
    var vault: [[UInt8]: [String: String]] = [:]
    var consents: [AnswerSheet.Consent] = []
    var rules: [AnswerRule] = []
    var journal: [String] = []
    /// All answers that were sealed, and all stored answers that were released.
    var sealed: [Keeping] = []
    var released: [(stored: StoredAnswers, to: CredentialOwner)] = []
    var didAnswerItself = false
    var didLogIn = false
    /// The disk's result for the next answers that are sealed.
    var disk = SealResult.saved
    var isVaultBroken = false
    private var seals: UInt8 = 0
    private var prompts: UInt64 = 0

    init(_ portal: Portal? = DaemonModel.secure, _ helper: String = "form") {
        context = LoginAnswers.Context(network: Self.network, helper: helper, program: "/bin/\(helper)", portal: portal)
    }

    // MARK: Events

    @discardableResult mutating func feed(_ event: LoginAnswers.Event) -> [LoginAnswers.Action] {
        (rules, journal, didAnswerItself, didLogIn) = ([], [], false, false)
        return turn(event)
    }

    private mutating func turn(_ event: LoginAnswers.Event) -> [LoginAnswers.Action] {
        let actions = answers.handle(event, context)
        for action in actions { perform(action) }
        return actions
    }

    private mutating func perform(_ action: LoginAnswers.Action) {
        switch action {
        case .ruled(let rule): rules.append(rule)
        case .offer: break
        case .answerPrompt: didAnswerItself = true
        case .logIn: didLogIn = true
        case .open(let stored):
            let values = isVaultBroken ? nil : vault[stored.sealed]
            _ = turn(values.map { .opened(stored, $0.mapValues(SecretText.init)) } ?? .notOpened("it was changed"))
        case .release(let stored, let owner):
            if !isVaultBroken { released.append((stored, owner)) }
            _ = turn(isVaultBroken ? .notOpened("it was changed") : .released)
        case .seal(let keeping):
            sealed.append(keeping)
            if disk == .saved {
                let rest = keeping.before.flatMap { vault[$0.sealed] }?.filter { keeping.staying.contains($0.key) } ?? [:]
                store(
                    rest.merging(keeping.values.mapValues(\.text)) { $1 }, keeping.owner, keeping.shownNames, keeping.labels)
            }
            _ = turn(.sealed(keeping, disk))
        case .remove(let names, let stored):
            let rest = vault[stored.sealed]?.filter { !names.contains($0.key) } ?? [:]
            store(rest, stored.owner, stored.shownNames, stored.labels)
            _ = turn(.removed)
        case .setRefused(let stored, let isRefused):
            context.stored = context.stored.map { old in
                guard old == stored else { return old }
                return StoredAnswers(
                    owner: old.owner, fieldNames: old.fieldNames, shownNames: old.shownNames, labels: old.labels,
                    isRefused: isRefused, sealed: old.sealed)
            }
        case .consent(let consent): consents.append(consent)
        case .journal(_, let words, _): journal.append(words)
        case .note: break
        }
    }

    /// Stores answers, replacing those of the same owner.
    mutating func store(
        _ values: [String: String], _ owner: CredentialOwner, _ shownNames: [String] = [], _ labels: [String: String] = [:],
        isRefused: Bool = false
    ) {
        context.stored.removeAll {
            $0.owner.helper == owner.helper && $0.owner.origin == owner.origin && $0.owner.pin == owner.pin
        }
        guard !values.isEmpty else { return }
        seals += 1
        vault[[seals]] = values
        context.stored.append(
            StoredAnswers(
                owner: owner, fieldNames: values.keys.sorted(), shownNames: shownNames, labels: labels, isRefused: isRefused,
                sealed: [seals]))
    }

    // MARK: A login

    func owner(_ helper: String = "form", at portal: Portal = DaemonModel.secure, program: String? = "/bin/form")
        -> CredentialOwner
    {
        CredentialOwner(
            network: Self.network, helper: helper, origin: portal.origin, pin: portal.pin, program: program)
    }

    static func field(_ name: String, _ kind: Field.Kind = .text, required: Bool = true, label: String = "") -> Field {
        Field(name: name, label: label, kind: kind, required: required)
    }

    static let login = [field("room"), field("name", .password)]

    mutating func ask(_ fields: [Field] = DaemonModel.login, terms: String? = nil, _ change: (inout Prompt) -> Void = { _ in }) {
        prompts += 1
        var prompt = Prompt(title: "Hotel", fields: fields, terms: terms)
        change(&prompt)
        feed(.asked(prompt, number: prompts, token: "t\(prompts)", since: 0))
    }

    /// Answers the prompt and removes it from the screen, as the machine does.
    mutating func answer(
        _ values: [String: String], stored: Set<String> = [], remember: Bool = true, agreed: Bool = false
    ) {
        guard let shown = answers.prompt else {
            Issue.record("nothing is asked")
            return
        }
        let opened = answers.confirmable(shown, context).flatMap { vault[$0.sealed] } ?? [:]
        let all = opened.filter { stored.contains($0.key) }.merging(values) { $1 }.mapValues(SecretText.init)
        feed(.answered(shown, all, confirmed: stored, remember: remember, agreed: agreed))
        feed(.withdrawn(shown.number, because: "An answer is no longer needed."))
    }

    mutating func reply(
        _ result: HelperResult, unsent: [String]? = nil, refused: [String]? = nil, to command: Command = .presentUI
    ) {
        var reply = Reply(result)
        (reply.unsent, reply.refused) = (unsent, refused)
        feed(.replied(reply, to: command))
    }

    /// Logs in with answers, up to the proof.
    mutating func logIn(_ values: [String: String] = ["room": "214", "name": DaemonModel.canary]) {
        ask()
        answer(values)
        reply(.success)
        feed(.succeeded(kept: nil))
        feed(.proven)
    }

    var outcome: String? { answers.outcome?.words }
    var stored: [[String: String]] { context.stored.compactMap { vault[$0.sealed] } }
}
