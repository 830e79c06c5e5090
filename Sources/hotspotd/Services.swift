import EventLoop
import ForeignText
import HelperHost
import HotspotCore
import HotspotMachine
import Logging
import Store
import Vault

/// The objects that all parts of the daemon share.
@LoopActor final class Services {
    var settings: Settings
    let store: Store
    let vault: Vault
    let journalWriter: JournalWriter
    let host: HelperHost
    var strikes: StrikeBook
    /// The last change of each helper's file, or of a file that the helper reads, in milliseconds of Unix time.
    var editions: [String: Int] = [:]
    /// The last fault of each helper, until its next good answer.
    var faults: [String: Problem] = [:]
    var log: Logger { didSet { journalWriter.log = log } }
    /// The addresses at which the probe's server last answered, by the probe's URL. The probe already asks at that address while the name is being
    /// resolved.
    private(set) var probeAddresses: [String: String] = [:]
    /// Makes due timers wait after a suspend.
    let waking = Waking()
    weak var events: (any DaemonEvents)?

    init(settings: Settings, store: Store, vault: Vault, host: HelperHost, log: Logger) {
        self.settings = settings
        self.store = store
        self.vault = vault
        self.host = host
        self.log = log
        journalWriter = JournalWriter(store: store, log: log)
        strikes = StrikeBook(limit: settings.policy.quarantineAfter)
        for (url, address) in store.probeAddresses() where Self.mayBeAddress(address) { probeAddresses[url] = address }
    }

    /// Runs a write to the store. If it fails, the store reports a problem, and the login continues from memory.
    func saving(_ what: String, _ body: () throws -> Void) {
        do { try body() } catch { log.warning("\(what): \(error)") }
    }

    /// If the state folder could not be used before, saves the changes that are only in memory, and looks for the vault's key again.
    func recover() {
        store.save()
        vault.retry(keyFile: settings.keyFile, hasSealedRows: store.hasSealedRows)
    }

    /// Writes the records and the vault's key again if another program removed or replaced them.
    func reclaimState() {
        store.reclaim()
        do throws(VaultError) {
            guard try vault.restore(keyFile: settings.keyFile) else { return }
            log.warning("\(settings.keyFile) was removed or replaced; hotspotd wrote the vault's key to it again")
        } catch {
            log.warning("\(error)")
        }
    }

    var vaultProblem: Problem? {
        vault.lock.map {
            Problem(
                .vaultLocked, "hotspotd can neither use nor keep answers: \($0).",
                hint: "fix that, then: \(OwnService.reload)")
        }
    }

    /// Keeps the address of the probe's server; ignores text that cannot be an address.
    func remember(_ address: String, ofProbe url: String) {
        guard Self.mayBeAddress(address), probeAddresses[url] != address else { return }
        // Drop all other addresses, because the settings name one probe at a time.
        probeAddresses = [url: address]
        saving("the probe's address") { try store.setProbeAddress(address, of: url) }
    }

    private static func mayBeAddress(_ text: String) -> Bool {
        text.utf8.count <= 45 && text.allSatisfy { $0.isHexDigit || $0 == "." || $0 == ":" }
    }

    /// Returns random octets in hexadecimal, as an identifier.
    static func randomID(octets: Int = 8) -> String {
        Hex.encode((0..<octets).map { _ in UInt8.random(in: 0...255) })
    }

    // MARK: Helpers

    private func spec(of helper: String) -> HelperSpec? { host.helpers.first { $0.spec.name == helper }?.spec }

    func hasHelper(_ helper: String) -> Bool { spec(of: helper) != nil }

    func displayName(_ helper: String) -> String { spec(of: helper)?.displayName ?? helper }

    /// Returns the program of a helper. Everything stored for a helper is bound to its program.
    func program(of helper: String) -> String? { spec(of: helper)?.activation.identity }

    /// Returns the helpers that may be asked about a network, as candidates for the machine.
    func candidates(for network: NetworkID, _ ssid: SSID, _ security: Security) -> [Candidate] {
        host.helpers.map(\.spec).filter { isEnabled($0, in: network.switchName) && $0.covers(ssid, security) }.map { spec in
            Candidate(
                spec.name, priority: spec.priority, isQuarantined: strikes.isQuarantined(spec.name),
                edition: editions[spec.name] ?? 0)
        }
    }

    /// Returns why a helper is not asked about a joined network, as a sentence with the command that helps.
    func exclusion(of helper: String, from joined: Joined) -> String {
        let (network, name) = (joined.network, "\"\(joined.label)\"")
        let enable = "to switch it on: hotspotctl enable --helper \(helper)"
        guard let spec = spec(of: helper) else { return "\(helper) is no longer installed." }
        if !spec.enabled { return "\(helper) is switched off by Enabled=no in its file." }
        if store.isDisabled(helper: helper, ssid: nil) { return "\(helper) is switched off; \(enable)" }
        if store.isDisabled(helper: helper, ssid: network.switchName) {
            let word = ShellWord.argument(joined.label).map { " \($0)" } ?? ""
            return "\(helper) is switched off for \(name); \(enable)\(word)"
        }
        if !spec.security.isEmpty, !spec.security.contains(joined.security) {
            return "\(name) has the security \(joined.security.rawValue), which Security= in the file of \(helper) does not list."
        }
        if !spec.covers(joined.ssid, joined.security) {
            let sentence = "SSID= in the file of \(helper) does not include \(name)"
            return joined.security == .wired
                ? "\(sentence): the name of a wired network is empty, and only the pattern * covers it." : "\(sentence)."
        }
        return "\(helper) is not asked about \(name) yet; try again in a moment."
    }

    /// Returns whether a helper is switched on in its file, and not switched off by the user, for all networks or for this one.
    func isEnabled(_ spec: HelperSpec, for ssid: SSID?) -> Bool { isEnabled(spec, in: ssid?.hex) }

    /// Does the same for the network with this ``NetworkID/switchName``.
    private func isEnabled(_ spec: HelperSpec, in name: String?) -> Bool {
        spec.enabled && !store.isDisabled(helper: spec.name, ssid: name)
    }

    /// Shows a fault of a helper until the helper's next good answer, with a command that helps. A lack of resources is not the helper's fault.
    func blame(_ helper: String, _ problem: Problem) {
        guard problem.code != .helperNoRoom else { return }
        faults[helper] = Problem(
            problem.code, problem.message, hint: problem.hint ?? "hotspotctl disable --helper \(helper), or fix it")
    }

    /// Returns the problems of a helper's behaviour: its last fault, and quarantine. Returns none if the helper needs a sandbox and this computer
    /// allows none, because that problem is reported elsewhere.
    func conduct(_ helper: String) -> [Problem] {
        if host.sandboxProblem != nil, !host.missingContainment(of: helper).isEmpty { return [] }
        var problems = faults[helper].map { [$0] } ?? []
        if strikes.isQuarantined(helper) {
            problems.append(
                Problem(
                    .helperQuarantined,
                    "\(helper) failed \(strikes.count(helper)) times in a row; hotspotd does not wait for it until it answers again.",
                    hint: "hotspotctl disable --helper \(helper)"))
        }
        return problems
    }
}
