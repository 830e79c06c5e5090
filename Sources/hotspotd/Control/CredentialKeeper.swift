import Answers
import ControlAPI
import EventLoop
import ForeignText
import HotspotCore
import Store
import Vault

/// Stored answers without their values, for clients that list or change them, and the PIN that guards them.
@LoopActor final class CredentialKeeper {
    private let services: Services
    private let controllers: () -> [InterfaceController]
    /// The names of the fields that portals have asked for, kept until the daemon ends.
    private var asked: [Requester: Set<String>] = [:]
    /// The largest number of field names that are kept for one portal.
    private static let namesLimit = 64

    private struct Requester: Hashable {
        let network: NetworkID
        let helper: String
        let origin: String
    }

    init(services: Services, controllers: @escaping () -> [InterfaceController]) {
        self.services = services
        self.controllers = controllers
    }

    private var store: Store { services.store }

    // MARK: Credentials

    func list(_ ssid: String?) throws(ControlError) -> [CredentialStatus] { try found(ssid).compactMap { status($0) } }

    /// Returns the credentials of the networks with this name, whatever their security; without a name, all credentials.
    private func found(_ ssid: String?) throws(ControlError) -> [StoredCredential] {
        guard let ssid else { return store.allCredentials }
        let name = try DaemonBackend.switchName(ssid)
        return store.allCredentials.filter { NetworkID(key: $0.network)?.switchName == name }
    }

    private func status(_ credential: StoredCredential) -> CredentialStatus? {
        guard let network = NetworkID(key: credential.network) else { return nil }
        var asking = CredentialOwner(credential, in: network)
        asking.program = services.program(of: credential.helper)
        let release = Release.decide(
            stored: CredentialOwner(credential, in: network), asking: asking, plain: services.settings.plainHTTPAnswers)
        let word: CredentialRelease =
            switch release {
            // The user must confirm answers that the portal refused.
            case .automatic: credential.isRefused ? .confirm : .automatic
            case .confirmed: .confirm
            case .refused: .never
            }
        var status = CredentialStatus(
            ssid: network.label, security: network.security.rawValue, helper: credential.helper, portal: credential.origin,
            fields: credential.fieldNames, release: word)
        // The portal whose prompt waits now, otherwise the portal of the last login.
        let present = controllers().compactMap { $0.desk.prompt }.first { $0.network == network }?.portal
        let last = present ?? store.remembered(network, now: WallClock.now)?.portal
        if let last, last.origin == credential.origin, last.pin != credential.pin { status.earlierKey = true }
        return status
    }

    /// Stores answers for the network's known portal: the portal of its stored answers, otherwise the portal of the last login.
    func add(_ ssid: String, helper: String?, _ answers: [String: String]) throws(ControlError) -> CredentialStatus {
        let stored = try found(ssid).filter { helper == nil || $0.helper == helper }
        let owner = try owner(of: stored, name: DaemonBackend.switchName(ssid), helper: helper)
        return try add(answers, for: owner, beside: stored.first)
    }

    /// Stores answers to fields that the portal is known to have.
    ///
    /// - Parameter stored: the owner's earlier answers, which stay unless `answers` replaces them.
    private func add(
        _ answers: [String: String], for owner: CredentialOwner, beside stored: StoredCredential?
    ) throws(ControlError) -> CredentialStatus {
        guard services.settings.remember != .never else {
            throw .failed(code: .disabled, message: "No answers are kept (Remember=never).")
        }
        if let fault = Self.fault(in: answers, for: known(owner, stored)) {
            throw .invalidAnswer(field: fault.field, message: fault.message)
        }
        if case .refused(let refusal) = Release.decide(
            stored: owner, asking: owner, plain: services.settings.plainHTTPAnswers)
        {
            throw .failed(code: .notSaved, message: refusal.sentence)
        }
        try keep(answers, beside: stored, of: owner)
        let new = store.credential(owner.network, helper: owner.helper, origin: owner.origin, pin: owner.pin)
        guard let new, let status = status(new) else { throw .failed(code: .notSaved, message: "Nothing was stored.") }
        storedChanged()
        return status
    }

    /// Returns the values of stored answers for one portal.
    func shared(_ ssid: String, helper: String?, portal: String?) throws(ControlError) -> SharedReply {
        let stored = try found(ssid).filter { (helper == nil || $0.helper == helper) && (portal == nil || $0.origin == portal) }
        guard let credential = stored.first, let network = NetworkID(key: credential.network) else {
            throw .failed(code: .noPortal, message: "No answers are stored for this network.")
        }
        guard stored.count == 1 else {
            throw .failed(
                code: .noPortal, message: "Answers are stored for several portals or helpers of this network: name one of them.")
        }
        guard !services.vault.isLocked else {
            throw .failed(code: .vaultLocked, message: "The stored answers are locked by the PIN.")
        }
        do throws(VaultError) {
            let values = try services.vault.openAnswers(credential.sealed, for: CredentialOwner(credential, in: network).purpose)
            return SharedReply(
                network: credential.network, helper: credential.helper, portal: credential.origin, portalKey: credential.pin,
                answers: values)
        } catch {
            throw .failed(code: .vault, message: "The stored answers cannot be opened: \(error).")
        }
    }

    /// Answers the portal's prompt with answers that a paired laptop offered. If they do not fit the prompt, stores them.
    func addOffered(_ offer: OfferedParameters, from laptop: String) throws(ControlError) -> OfferedReply {
        let here = controllers().first { controller in
            let portal = controller.commands.shownPortal
            return controller.joined.map { $0.network.key == offer.network } == true && portal?.origin == offer.portal
                && portal?.pin == offer.portalKey
        }
        guard let here, let joined = here.joined else {
            throw .failed(
                code: .noPortal, message: "The offer is for another network, or the portal here has another address or key.")
        }
        // Refuse the offer: the user must see the warning first, and sees it when answering by hand.
        if let warning = here.warning { throw .suspiciousPortal(warning: warning) }
        let prompt = here.desk.prompt.flatMap { shown in
            shown.portal.map { ($0.origin, $0.pin) == (offer.portal, offer.portalKey) } == true ? shown : nil
        }
        if let prompt, let values = Self.answers(offer.answers, to: prompt) {
            note(prompt)
            here.answer(prompt, values, remember: true, confirmed: true, from: laptop)
            return OfferedReply(interface: here.name, helper: prompt.helper, answered: true)
        }
        guard
            let helper = prompt?.helper ?? here.machine.state.chosenHelper
                ?? store.remembered(joined.network, now: WallClock.now)?.helper
        else { throw .failed(code: .noPortal, message: "No helper has used this portal yet. Log in first: hotspotctl login") }
        let keepable = prompt.map { Release.keepable(offer.answers, fields: $0.prompt.fields) } ?? offer.answers
        guard !keepable.isEmpty else {
            throw .failed(code: .noPortal, message: "The portal asks for other fields than the offer contains.")
        }
        let owner = CredentialOwner(
            network: joined.network, helper: helper, origin: offer.portal, pin: offer.portalKey,
            program: services.program(of: helper))
        let stored = store.credential(joined.network, helper: helper, origin: owner.origin, pin: owner.pin)
        // Replace answers that were stored for another program.
        _ = try add(keepable, for: owner, beside: stored.flatMap { CredentialOwner($0, in: joined.network) == owner ? $0 : nil })
        return OfferedReply(interface: here.name, helper: helper, answered: false)
    }

    /// Returns the offered answers to a prompt; `nil` if they are not enough. A required tick is the user's consent, which an offer cannot contain.
    private static func answers(_ offered: [String: String], to shown: ShownPrompt) -> [String: String]? {
        let fields = shown.prompt.fields
        guard !fields.isEmpty, !shown.prompt.fields.contains(where: { $0.kind == .checkbox && $0.required }) else { return nil }
        let asked = fields.filter { $0.kind != .checkbox }
        let values = offered.filter { name, _ in asked.contains { $0.name == name } }
        guard asked.allSatisfy({ !$0.required || values[$0.name] != nil }), !values.isEmpty,
            Answer.fault(in: values, for: shown.prompt) == nil
        else { return nil }
        return values
    }

    /// Returns the owner of these stored answers; without stored answers, the owner at the portal of the last login. Throws unless there is exactly
    /// one owner.
    private func owner(
        of stored: [StoredCredential], name: String, helper: String?
    ) throws(ControlError) -> CredentialOwner {
        let now = WallClock.now
        let owners =
            stored.isEmpty
            ? store.records(now: now).networks.compactMap { network -> CredentialOwner? in
                guard network.switchName == name, let choice = store.remembered(network, now: now), let portal = choice.portal,
                    helper == nil || choice.helper == helper
                else { return nil }
                return CredentialOwner(
                    network: network, helper: choice.helper, origin: portal.origin, pin: portal.pin,
                    program: services.program(of: choice.helper))
            }
            : stored.compactMap { credential in
                NetworkID(key: credential.network).map { CredentialOwner(credential, in: $0) }
            }
        if let owner = owners.first, owners.count == 1 { return owner }
        guard owners.isEmpty else {
            throw .failed(
                code: .noPortal,
                message: "This network has several portals or helpers: remove the ones that you do not want, or name the helper.")
        }
        let by = helper.map { " by \(Printable.text($0, limit: 64))" } ?? ""
        let here = controllers().first { $0.joined?.network.switchName == name }
        let option = helper.flatMap(ShellWord.argument).map { " --helper \($0)" } ?? ""
        var command = "hotspotctl login" + option + (here.map { " \($0.name)" } ?? "")
        if let here, here.machine.state.isKeptFree { command = "hotspotctl logoff \(here.name), then \(command)" }
        throw .failed(
            code: .noPortal,
            message: "No login\(by) at a known portal has succeeded here yet, so hotspotd does not know the portal's fields. "
                + "Log in once: \(command). Its answers can be stored then.")
    }

    /// Seals answers, and stores them together with those that are already stored.
    private func keep(
        _ answers: [String: String], beside stored: StoredCredential?, of owner: CredentialOwner
    ) throws(ControlError) {
        do {
            let kept = try stored.map { try services.vault.openAnswers($0.sealed, for: owner.purpose) } ?? [:]
            let all = kept.merging(answers) { $1 }
            try store.setCredential(
                owner.network, helper: owner.helper, origin: owner.origin, pin: owner.pin, program: owner.program,
                fieldNames: all.keys.sorted(), shownNames: stored?.shownNames.filter { answers[$0] == nil } ?? [],
                labels: stored?.labels ?? [:],
                sealed: try services.vault.seal(all, for: owner.purpose))
        } catch StoreError.notSaved(let reason) {
            // Undo the change, which is already in memory: a later write would save it.
            putBack(stored, owner)
            throw .failed(
                code: .notSaved,
                message: "Nothing was stored: \(reason). Try again once the state folder can be written.")
        } catch {
            let isLocked = error as? VaultError == .pinNeeded
            let remedy = services.vault.lock == nil || isLocked ? "" : " Fix that, then: \(OwnService.reload)"
            throw .failed(code: .notSaved, message: "Nothing was stored: \(error).\(remedy)")
        }
    }

    /// Undoes a change that is only in memory, because any later write would save it.
    private func putBack(_ before: StoredCredential?, _ owner: CredentialOwner) {
        if let before {
            try? store.setCredential(
                owner.network, helper: before.helper, origin: before.origin, pin: before.pin, program: before.program,
                fieldNames: before.fieldNames, shownNames: before.shownNames, labels: before.labels, sealed: before.sealed)
        } else if let new = store.credential(owner.network, helper: owner.helper, origin: owner.origin, pin: owner.pin) {
            try? store.deleteCredential(new)
        }
    }

    /// Notes the fields that a portal asks for.
    func note(_ shown: ShownPrompt) {
        guard let portal = shown.portal else { return }
        let names = shown.prompt.fields.filter { $0.kind != .code && $0.kind != .checkbox }.map(\.name)
        let asker = Requester(network: shown.network, helper: shown.helper, origin: portal.origin)
        // A portal may spread its fields over several pages.
        asked[asker] = Set((asked[asker] ?? []).union(names).prefix(Self.namesLimit))
    }

    /// Returns the names of the fields of this owner's portal: the fields with stored answers, and the fields of its prompts so far.
    private func known(_ owner: CredentialOwner, _ stored: StoredCredential?) -> Set<String> {
        for prompt in controllers().compactMap(\.desk.prompt) { note(prompt) }
        let last = asked[Requester(network: owner.network, helper: owner.helper, origin: owner.origin)] ?? []
        return last.union(stored?.fieldNames ?? [])
    }

    /// Returns the first fault in answers that were given without a prompt: the field, and one sentence.
    ///
    /// - Parameter known: the names of the portal's fields; empty if they are not known.
    private static func fault(in answers: [String: String], for known: Set<String>) -> (field: String, message: String)? {
        guard !answers.isEmpty else { return ("", "No answers were given.") }
        for (name, value) in answers.sorted(by: { $0.key < $1.key }) {
            let shown = Printable.text(name, limit: 64)
            if name.isEmpty || name.utf8.count > 256 || name.utf8.contains(10) {
                return (shown, "There is no field with this name.")
            }
            if !known.isEmpty, !known.contains(name) {
                let names = Printable.cut(known.sorted().joined(separator: ", "), limit: 500)
                return (shown, "There is no field with this name; the fields are \(names).")
            }
            if value.isEmpty { return (shown, "An answer is needed.") }
            if let message = Answer.fault(in: value) { return (shown, message) }
        }
        return nil
    }

    private func offerAgain() { for controller in controllers() { controller.desk.offerAgain() } }

    private func storedChanged() {
        offerAgain()
        services.events?.networkListChanged()
    }

    /// Removes credentials, and returns their number.
    func remove(_ ssid: String, helper: String?, portal: String?) throws(ControlError) -> Int {
        let unwanted = try found(ssid).filter {
            (helper == nil || $0.helper == helper) && (portal == nil || $0.origin == portal)
        }
        guard !unwanted.isEmpty else { return 0 }
        do {
            for credential in unwanted { try store.deleteCredential(credential) }
        } catch {
            throw .untilTheEnd(error)
        }
        store.scrub()
        storedChanged()
        return unwanted.count
    }

    // MARK: The PIN

    var pinWord: String { !services.vault.hasPIN ? "none" : services.vault.isLocked ? "locked" : "open" }

    /// Opens the credentials until the daemon ends.
    ///
    /// - Parameter resumes: whether a login that waits only for the PIN continues with the stored answers. Otherwise its prompt offers them.
    func unlock(_ guess: String, resumes: Bool = true) throws(ControlError) {
        guard let pin = store.pin else { throw .failed(code: .noPIN, message: "There is no PIN.") }
        // Erase the answers now if the daemon ended after the last wrong PIN, before it could erase them.
        guard pin.guesses < PINLock.limit else { throw erased() }
        do throws(VaultError) { try services.vault.checkLock() } catch {
            throw .failed(code: .vault, message: "Cannot check the PIN, because it was set with another key: \(error).")
        }
        do throws(StoreError) { try store.countGuess() } catch {
            throw .failed(code: .notSaved, message: "Cannot check the PIN, because the attempt cannot be counted: \(error).")
        }
        let isRight: Bool
        do throws(VaultError) { isRight = try services.vault.unlock(guess) } catch {
            throw .failed(code: .vault, message: "The PIN cannot be checked: \(error).")
        }
        guard isRight else {
            let left = PINLock.limit - pin.guesses - 1
            guard left > 0 else { throw erased() }
            services.log.warning("a wrong PIN; the stored answers are erased after \(left) more in a row")
            throw .wrongPIN(left: left)
        }
        services.saving("a right PIN") { try store.forgiveGuesses() }
        if resumes { for controller in controllers() { controller.resumeAfterPIN() } } else { offerAgain() }
    }

    /// Erases the PIN and the answers that it guards.
    private func erased() -> ControlError {
        do throws(StoreError) { try store.eraseCredentials() } catch {
            return .failed(code: .notSaved, message: "The stored answers could not be erased: \(error).")
        }
        services.vault.guardCredentials(by: nil)
        services.log.warning("the stored answers and their PIN were erased after \(PINLock.limit) wrong PINs in a row")
        storedChanged()
        return .wrongPIN(left: 0)
    }

    func setPIN(_ next: String?, old: String?) throws(ControlError) {
        if let next, next.count < 4 || next.utf8.count > 128 || Answer.fault(in: next) != nil {
            throw .failed(code: .badPIN, message: "A PIN has at least 4 letters or digits, and at most 128 octets.")
        }
        let credentials = store.allCredentials
        if next == nil, store.pin != nil, credentials.isEmpty {
            // Do not ask for this PIN: it guards nothing, and if the vault has another key now, no guess could be right.
            do { try store.setPIN(nil, credentials: []) } catch {
                throw .failed(code: .notSaved, message: "The PIN was not changed: \(error).")
            }
            return services.vault.guardCredentials(by: nil)
        }
        if store.pin != nil {
            guard let old else { throw .failed(code: .badPIN, message: "A PIN is already set: type the current PIN as well.") }
            try unlock(old)
        } else if next == nil {
            throw .failed(code: .noPIN, message: "There is no PIN.")
        }
        let sealed = credentials.compactMap { credential in
            NetworkID(key: credential.network).map { (credential.sealed, CredentialOwner(credential, in: $0).purpose) }
        }
        guard sealed.count == credentials.count else { throw .failed(code: .vault, message: "A stored network has no name.") }
        do {
            try services.vault.changePIN(to: next, credentials: sealed) { lock, sealed in
                let changed = zip(credentials, sealed).map { credential, sealed in
                    var credential = credential
                    credential.sealed = sealed
                    return credential
                }
                try store.setPIN(lock.map(StoredPIN.init), credentials: changed)
            }
        } catch {
            throw .failed(code: .notSaved, message: "The PIN was not changed: \(error).")
        }
        offerAgain()
    }
}

extension StoredPIN {
    init(_ lock: PINLock) { self.init(salt: lock.salt, passes: lock.passes, memory: lock.memory, names: lock.names) }

    var lock: PINLock { PINLock(salt: salt, passes: passes, memory: memory, names: names) }
}
