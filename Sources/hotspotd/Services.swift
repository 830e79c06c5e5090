import EventLoop
import HelperHost
import HotspotCore
import HotspotMachine
import LinkState
import Logging
import Store
import Vault

/// What every interface's controller needs of the daemon.
@LoopActor final class Services {
    var settings: Settings
    let store: Store
    let vault: Vault
    let journal: JournalWriter
    let host: HelperHost
    var strikes: StrikeBook
    /// The last thing that each helper did wrong, until its next good answer.
    var faults: [String: Problem] = [:]
    var log: Logger { didSet { journal.log = log } }
    /// `nil`: there is none, and a problem says so.
    var prober: [String]?

    /// What a timer brings waits here after a suspend.
    let waking = Waking()

    /// A step was taken on an interface.
    var onStep: (_ interface: String, _ step: Step) -> Void = { _, _ in }
    /// An attempt begins on some interface.
    var onAttempt: () -> Void = {}
    /// What `Status` shows has changed.
    var onStatus: () -> Void = {}
    /// A helper is told of networks in sight that it was not told of just before.
    var onDisclosed: (_ helper: String, _ networks: [Network]) -> Void = { _, _ in }
    /// What `Prompts` shows has changed.
    var onPrompts: () -> Void = {}
    /// A helper's strikes have changed.
    var onStrikes: () -> Void = {}
    /// What the DHCP client's record says of a link now.
    var facts: (_ link: LinkSnapshot) -> LinkFacts? = { _ in nil }
    /// A machine opens its link to ordinary programs, or closes it.
    var onGate: () -> Void = {}
    /// End this link.
    var disassociate: (_ index: Int) -> Bool = { _ in false }

    init(settings: Settings, store: Store, vault: Vault, host: HelperHost, log: Logger) {
        self.settings = settings
        self.store = store
        self.vault = vault
        self.host = host
        self.log = log
        journal = JournalWriter(store: store, log: log)
        strikes = StrikeBook(limit: settings.policy.quarantineAfter)
    }

    /// Writes that fail are told once, by the store's problem; the login goes on from memory.
    func saving(_ what: String, _ body: () throws -> Void) {
        do { try body() } catch { log.warning("\(what): \(error)") }
    }

    /// The helpers that may hear of a network, as the machine wants them.
    func candidates(for network: NetworkID, _ ssid: SSID, _ security: Security) -> [Candidate] {
        host.helpers.map(\.spec).filter { isEnabled($0, in: network.switchName) && $0.covers(ssid, security) }.map { spec in
            Candidate(spec.name, priority: spec.priority, isQuarantined: strikes.isQuarantined(spec.name))
        }
    }

    /// Switched on in its file, by the user, and by the user for this name.
    func isEnabled(_ spec: HelperSpec, for ssid: SSID?) -> Bool { isEnabled(spec, in: ssid?.hex) }

    /// The same for a network by its ``NetworkID/switchName``.
    private func isEnabled(_ spec: HelperSpec, in name: String?) -> Bool {
        spec.enabled && !store.isDisabled(helper: spec.name, ssid: name)
    }

    /// A helper did something wrong: shown with it until it answers well, with a command that helps. That the machine had no room
    /// for it is not its doing.
    func blame(_ helper: String, _ problem: Problem) {
        guard problem.code != .helperNoRoom else { return }
        faults[helper] = Problem(
            problem.code, problem.message, hint: problem.hint ?? "hotspotctl disable --helper \(helper), or mend it")
    }

    /// What is to be said of a helper's conduct.
    func conduct(_ helper: String) -> [Problem] {
        var problems = faults[helper].map { [$0] } ?? []
        if strikes.isQuarantined(helper) {
            problems.append(
                Problem(
                    .helperQuarantined,
                    "\(helper) missed its deadline or died \(strikes.count(helper)) times in a row: it is asked, but not waited for; one good answer releases it.",
                    hint: "hotspotctl disable --helper \(helper)"))
        }
        return problems
    }

    func displayName(_ helper: String) -> String {
        host.helpers.first { $0.spec.name == helper }?.spec.displayName ?? helper
    }
}
