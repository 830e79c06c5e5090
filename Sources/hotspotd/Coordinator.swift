import EventLoop
import Glibc
import HelperHost
import HotspotCore
import HotspotMachine
import LinkState
import Logging
import Store
import Vault

/// Makes, starts and ends the parts of the daemon, reads the settings again, and handles events that concern several parts.
@LoopActor final class Coordinator: DaemonEvents {
    private let settingsFile: String
    private let isDefaultFile: Bool
    private let services: Services
    private let problems: ProblemList
    private let helpers: HelperLoader
    private let links: LinkManager
    private let gate = GateKeeper()
    private let absence: Absence
    private let list: NetworkList
    private let backend: DaemonBackend
    private var control: ControlEndpoint?
    private let runtimeFolder = FolderWatch()
    private let stateFolder = FolderWatch()
    private var signals: [EventSource] = []
    private var isEnding = false

    private var settings: Settings { services.settings }
    private var log: Logger { services.log }

    init(settings: Settings, file: String, isDefaultFile: Bool) throws {
        settingsFile = file
        self.isDefaultFile = isDefaultFile
        try OwnFolder.make(settings.runtimeDirectory, mode: 0o755)
        // Lock first, before any change to files that another daemon may be using.
        try OwnFolder.lock(settings.runtimeDirectory)
        let store = try Store(directory: settings.stateDirectory)
        problems = ProblemList()
        let vault: Vault
        do {
            vault = try Vault(keyFile: settings.keyFile, hasSealedRows: store.hasSealedRows)
        } catch {
            // Without its key, the vault can neither open nor keep answers; everything else works.
            vault = Vault(locked: error)
        }
        vault.guardCredentials(by: store.pin?.lock)
        var configuration = HostConfiguration(
            runtimeDirectory: settings.runtimeDirectory, hiddenPaths: Self.hiddenPaths(settings, file: file),
            helperSocket: settings.helperControlSocket)
        configuration.containment = settings.containment
        var log = Logger(label: "hotspotd") { _ in JournalHandler(level: .info) }
        log.logLevel = settings.logLevel.loggerLevel
        services = Services(
            settings: settings, store: store, vault: vault, host: HelperHost(configuration: configuration), log: log)
        helpers = HelperLoader(services: services, problems: problems)
        links = LinkManager(services: services, problems: problems)
        absence = Absence(services: services, problems: problems) { [links] in links.controllers }
        list = NetworkList(services: services, links: links)
        problems.set(.vaultLocked, services.vaultProblem)
        backend = DaemonBackend(services: services, problems: problems, helpers: helpers, links: links, list: list)
    }

    /// Returns the paths that helpers do not see: the daemon's own files, helper files, and the settings.
    private static func hiddenPaths(_ settings: Settings, file: String) -> [String] {
        [settings.stateDirectory, settings.runtimeDirectory] + settings.helperDirectories + [file, file + ".d"]
    }

    // MARK: Start and end

    func start() throws {
        services.events = self
        services.host.onChange = { [weak self] in
            guard let self else { return }
            problems.set(.sandboxUnavailable, services.host.sandboxProblem)
            tellStatus()
        }
        services.waking.readAgain = { [weak self] in self?.links.readAgain($0) }
        problems.onNew = { [weak self] in self?.log.warning("\($0.message)") }
        problems.onChange = { [weak self] in self?.tellStatus() }
        helpers.onLoad = { [weak self] in
            self?.updateCandidates()
            self?.list.foldersChanged()
        }
        gate.wishes = { [weak self] in self?.links.gateWishes ?? ([:], []) }
        gate.onLeftovers = { [weak self] in self?.log.notice("the gate of an earlier daemon was removed") }
        gate.onTrouble = { [weak self] in self?.problems.set(.gate, $0?.problem) }
        backend.onSwitch = { [weak self] in self?.updateCandidates() }
        reportIgnoredSettings()
        for problem in services.store.problems { log.warning("\(problem.message)") }
        helpers.load()
        control = try ControlEndpoint(services: services, backend: backend)
        // Try the sandbox only now: the trial needs the socket that was just made, because a sandbox shows it to helpers.
        services.host.trySandbox()
        runtimeFolder.onChange = { [weak self] in self?.restoreSockets() }
        runtimeFolder.watch([settings.runtimeDirectory])
        stateFolder.onChange = { [weak self] in self?.restoreState() }
        _ = stateFolder.await(files: [services.store.path, settings.keyFile])
        // Check once now for sockets that were removed before the watch began.
        EventLoop.shared.later { [weak self] in self?.restoreSockets() }
        pruneHistory()
        signals = [
            try EventLoop.shared.onSignal(SIGTERM) { [weak self] in self?.shutDown() },
            try EventLoop.shared.onSignal(SIGINT) { [weak self] in self?.shutDown() },
            try EventLoop.shared.onSignal(SIGHUP) { [weak self] in self?.reload() },
        ]
        EventLoop.shared.enableWatchdog()
        applyGateSetting()
        try links.start()
        absence.applySettings()
        // Do not report READY if a part of the start, such as watching the kernel, has already ended the daemon.
        if isEnding { return }
        EventLoop.notify("READY=1\nSTATUS=Watching \(links.controllers.count) interfaces")
    }

    private func shutDown(code: Int32 = 0) {
        guard !isEnding else { return }
        isEnding = true
        log.info("ending")
        EventLoop.notify("STOPPING=1")
        signals = []
        (runtimeFolder.onChange, stateFolder.onChange) = ({}, {})
        control?.close()
        links.stop()
        services.journalWriter.flush()
        gate.end()
        services.host.shutDown { EventLoop.shared.stop(code: code) }
    }

    /// Reads the settings and the helper folders again, on SIGHUP. If the settings have a mistake, the previous settings stay in force.
    private func reload() {
        restoreSockets()
        services.recover()
        problems.set(.vaultLocked, services.vaultProblem)
        do {
            let (next, kept) = settings.replaced(by: try Settings.load(settingsFile, isDefault: isDefaultFile))
            problems.withdraw(.settings)
            services.settings = next
            services.host.hide(Self.hiddenPaths(next, file: settingsFile))
            services.host.trySandbox()
            services.log.logLevel = next.logLevel.loggerLevel
            pruneHistory()
            applyGateSetting()
            services.strikes.limit = next.policy.quarantineAfter
            links.applySettings()
            for controller in links.controllers { controller.desk.offerAgain() }
            absence.applySettings()
            log.info(
                """
                the settings were read again; TimeoutSec=, MaintainIntervalSec=, LowGraceSec=, Rules=, OnTimeout= and OnFailure= count at \
                an interface from its next join on
                """)
            if !kept.isEmpty {
                log.warning("\(kept.joined(separator: ", ")): the change takes effect when the daemon starts again")
            }
            reportIgnoredSettings()
        } catch {
            log.error("\(error); the previous settings stay in force")
            problems.report(Problem(.settings, "\(error)", hint: "fix it, then: \(OwnService.reload)"))
        }
        helpers.load()
    }

    /// Makes the runtime folder and the sockets again if something removed them.
    private func restoreSockets() {
        guard let control, !control.isReachable else { return }
        let folder = settings.runtimeDirectory
        log.warning("\(folder) or its sockets were removed; hotspotd creates them again")
        control.close()
        do {
            try OwnFolder.make(folder, mode: 0o755)
            if access(folder + "/lock", F_OK) != 0 { try OwnFolder.lock(folder) }
            services.host.makeFolders()
            self.control = try ControlEndpoint(services: services, backend: backend)
        } catch {
            log.error("\(error)")
            // Under a service manager, end the daemon: only the manager may create this folder, and the next daemon continues the sessions.
            if getenv("INVOCATION_ID") != nil { shutDown() }
        }
    }

    /// Writes the state again if something removed or replaced it, and logs the store's new problems.
    private func restoreState() {
        let before = services.store.problems
        services.reclaimState()
        let after = services.store.problems
        guard after != before else { return }
        for problem in after where !before.contains(problem) { log.warning("\(problem.message)") }
        tellStatus()
    }

    /// Sets up the gate, or removes the rules that this or an earlier daemon left, as the settings require.
    private func applyGateSetting() {
        let isWanted = settings.gate == .routes
        if isWanted { log.info("links are closed to ordinary programs until you are logged in") }
        gate.setWanted(isWanted)
    }

    private func pruneHistory() {
        services.store.journalLifetime = settings.historyDays * 86_400_000
        services.saving("pruning the journal") { try services.store.prune(now: WallClock.now) }
    }

    private func reportIgnoredSettings() { for note in settings.ignoredEntries { log.warning("\(note)") } }

    private func updateCandidates() {
        for controller in links.controllers { controller.updateCandidates() }
        list.helpersChanged()
        tellStatus()
    }

    /// Sends the status to the clients that watch it, but not during a rejoin: clients need not see that a network was left for a moment.
    private func tellStatus() { if !backend.isRejoining { control?.interface.statusChanged() } }

    // MARK: Events

    func stepTaken(_ step: Step, on interface: String) { control?.interface.stepped(interface, step) }
    func attemptBegan() { list.attemptBegan() }
    func statusChanged() {
        gate.machinesMoved()
        absence.stateChanged()
        tellStatus()
    }
    func promptsChanged() { control?.interface.promptsChanged() }
    func networkListChanged() { control?.interface.listChanged() }
    func scanListDisclosed(_ networks: [Network], to helper: String) { list.recordDisclosure(of: networks, to: helper) }
    func strikesChanged() { updateCandidates() }
    func linksChanged() { gate.linksChanged() }
    func giveUp(because reason: String) {
        log.error("\(reason)")
        shutDown(code: 1)
    }
    func gateChanged() { gate.machinesMoved() }
    func loginProven(on index: Int) { links.tellManager(of: index) }
    func facts(for link: LinkSnapshot) -> LinkFacts? { links.facts(for: link) }
    func disassociate(_ index: Int, keepingAway ssid: SSID?, for duration: Duration?) -> Bool {
        links.disassociate(index, keepingAway: ssid, for: duration)
    }
    func holdReleased(_ ssid: SSID) { links.associations.release(ssid) }
}
