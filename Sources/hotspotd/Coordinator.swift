import ControlAPI
import ControlServer
import EventLoop
import Glibc
import HelperHost
import HotspotCore
import HotspotMachine
import LinkState
import Logging
import Store
import Varlink
import Vault
import Wireless

/// Everything that acts: it turns what the kernel, helpers, timers and clients say into events, and carries the machines' actions out.
///
/// Inputs: the radio, the links, the settings' reload, the control interface. Outputs: the journal, the control interface's events.
@LoopActor final class Coordinator {
    let settingsFile: String
    let isDefaultFile: Bool
    let services: Services
    var settings: Settings { services.settings }
    var log: Logger { services.log }

    var controllers: [Int: InterfaceController] = [:]
    /// Problems of the daemon as a whole, by their code.
    var ownProblems: [ProblemCode: Problem] = [:]
    var helperProblems: [HelperProblem] = []

    var wireless: WirelessMonitor?
    var links: LinkMonitor?
    let gate = GateKeeper()
    var linkFacts: any LinkFactsSource
    var arrivals: [Int: PendingArrival] = [:]
    /// What the radio says of each interface's network.
    var associations: [Int: WirelessAssociation] = [:]
    /// Which network each interface was in last, and with which addresses.
    var lastJoin: [Int: (network: NetworkID, addresses: Set<String>)] = [:]

    var control: ControlInterface?
    private var servers: [Server] = []
    lazy var filter = makeFilter()
    let checks = SharedCheck<CheckReply>()
    var lastScan: Instant?
    private var sources: [EventSource] = []
    private let helperFolders = FolderWatch()

    init(settings: Settings, file: String, isDefaultFile: Bool) throws {
        settingsFile = file
        self.isDefaultFile = isDefaultFile
        try Folder.make(settings.runtimeDirectory, mode: 0o755)
        // Before anything is touched that another daemon may be using.
        try Folder.lock(settings.runtimeDirectory)
        let store = try Store(directory: settings.stateDirectory)
        let vault: Vault
        do {
            vault = try Vault(keyFile: settings.stateDirectory + "/vault.key", hasSealedRows: store.hasSealedRows)
        } catch {
            // Without its key nothing can be opened or kept; everything else works.
            vault = Vault(locked: error)
            ownProblems[.vaultLocked] = Problem(
                .vaultLocked, "Stored answers cannot be used, and none are kept: \(error).",
                hint: "bring the key back, or forget the networks: hotspotctl forget SSID")
        }
        let configuration = HostConfiguration(
            runtimeDirectory: settings.runtimeDirectory, hiddenPaths: Self.hiddenPaths(settings, file: file),
            helperSocket: settings.helperControlSocket)
        var log = Logger(label: "hotspotd") { _ in JournalHandler(level: .info) }
        log.logLevel = settings.logLevel.loggerLevel
        services = Services(
            settings: settings, store: store, vault: vault, host: HelperHost(configuration: configuration), log: log)
        linkFacts = SystemLinkFacts(extraLeaseFiles: settings.leaseFiles)
    }

    /// What helpers do not see: what the daemon keeps, helper files, and the settings.
    private static func hiddenPaths(_ settings: Settings, file: String) -> [String] {
        [settings.stateDirectory, settings.runtimeDirectory] + settings.helperDirectories + [file, file + ".d"]
    }

    // MARK: Start and end

    func start() throws {
        services.onStep = { [weak self] interface, step in self?.control?.stepped(interface, step) }
        services.onStatus = { [weak self] in
            self?.gate.machinesMoved()
            self?.control?.statusChanged()
        }
        services.onPrompts = { [weak self] in self?.control?.promptsChanged() }
        services.onDisclosed = { [weak self] in self?.disclosed($0, $1) }
        services.onStrikes = { [weak self] in self?.updateCandidates() }
        services.host.onChange = { [weak self] in self?.control?.statusChanged() }
        services.facts = { [weak self] link in self?.ownFacts(self?.linkFacts.facts(for: link), of: link) }
        services.disassociate = { [weak self] index in self?.disassociate(index) ?? false }
        services.onGate = { [weak self] in self?.gate.machinesMoved() }
        services.waking.readAgain = { [weak self] in self?.readLinksAgain($0) }
        helperFolders.onChange = { [weak self] in
            self?.log.info("the helper folders have changed")
            self?.loadHelpers()
        }
        services.host.trySandbox()
        loadHelpers()

        let socket = try Socket.listen(path: settings.controlSocket, mode: 0o666)
        let helperSocket = try Socket.listen(path: settings.helperControlSocket, mode: 0o600)
        let permission = Permission()
        let control = ControlInterface(backend: self, permission: permission)
        control.onChange = { [weak self] method, peer, allowed in
            self?.log.info("\(allowed ? "" : "refused: ")\(method) by user \(peer.uid)")
        }
        control.onRefusals = { [weak self] method, user, count in
            self?.log.info(
                "refused: \(count) more of \(method ?? "many methods") by \(user.map { "user \($0)" } ?? "many users")")
        }
        self.control = control
        servers = [
            try Server(
                listening: socket, product: "hotspotd", version: version, interfaces: [control], standing: permission.standing),
            try Server(
                listening: helperSocket, product: "hotspotd", version: version, interfaces: [control],
                standing: { _ in .restricted }),
        ]

        services.saving("pruning the journal") { try services.store.prune(now: WallClock.now) }
        sources = [
            try EventLoop.shared.onSignal(SIGTERM) { [weak self] in self?.shutDown() },
            try EventLoop.shared.onSignal(SIGINT) { [weak self] in self?.shutDown() },
            try EventLoop.shared.onSignal(SIGHUP) { [weak self] in self?.reload() },
        ]
        EventLoop.shared.enableWatchdog()
        startGate()
        startWatching()
        EventLoop.notify("READY=1\nSTATUS=Watching \(controllers.count) interfaces")
    }

    private func shutDown() {
        log.info("ending")
        EventLoop.notify("STOPPING=1")
        sources = []
        for server in servers { server.close() }
        wireless?.stop()
        links?.stop()
        for controller in controllers.values { controller.leave("the daemon ends") }
        controllers = [:]
        services.journal.flush()
        gate.end()
        unlink(settings.controlSocket)
        unlink(settings.helperControlSocket)
        services.host.shutDown { EventLoop.shared.stop() }
    }

    /// SIGHUP: the settings and the helper folders again. What cannot be read leaves everything as it was.
    private func reload() {
        do {
            let (next, kept) = settings.following(try Settings.load(settingsFile, isDefault: isDefaultFile))
            withdraw(.settings)
            services.settings = next
            services.host.hide(Self.hiddenPaths(next, file: settingsFile))
            services.host.trySandbox()
            services.log.logLevel = next.logLevel.loggerLevel
            followGate()
            services.strikes.limit = next.policy.quarantineAfter
            linkFacts = SystemLinkFacts(extraLeaseFiles: next.leaseFiles)
            updateLinks()
            log.info("the settings were read again; rules and times count from the next join of an interface on")
            if !kept.isEmpty {
                log.warning("\(kept.joined(separator: ", ")): the change counts from the next start of the daemon on")
            }
        } catch {
            log.error("\(error); the settings from before stay in force")
            show(Problem(.settings, "\(error)", hint: "systemctl reload hotspotd, once it is mended"))
        }
        loadHelpers()
    }

    /// Takes over what the helper folders offer now, and is called again when they change.
    func loadHelpers() {
        // Watched first and read then, so that no change falls between the two.
        helperFolders.watch(settings.helperDirectories)
        var catalog = HelperFolders.load(directories: settings.helperDirectories)
        if helperFolders.await(files: catalog.awaited) {
            catalog = HelperFolders.load(directories: settings.helperDirectories)
        }
        if let failure = helperFolders.failure {
            show(
                Problem(
                    .helperFoldersNotWatched, "Changes in the helper folders are not noticed: \(failure)",
                    hint: "systemctl reload hotspotd, after a change"))
        } else {
            withdraw(.helperFoldersNotWatched)
        }
        for problem in catalog.problems where !helperProblems.contains(problem) {
            log.warning("\(problem.subject): \(problem.problem.message)")
        }
        helperProblems = catalog.problems
        services.host.setHelpers(catalog.entries)
        services.prober = (settings.probeExec.isEmpty ? Prober.find() : settings.probeExec).map {
            Prober.spelled($0, as: catalog.entries.map(\.spec))
        }
        services.host.setProber(exec: services.prober)
        if services.prober == nil {
            show(
                Problem(
                    .proberMissing, "hotspot-helpers was not found beside hotspotd or in libexec.", hint: "set [Probe] Exec="))
        } else {
            withdraw(.proberMissing)
        }
        updateCandidates()
    }

    func updateCandidates() {
        for controller in controllers.values { controller.updateCandidates() }
        filter.helpersChanged()
        control?.statusChanged()
    }

    func show(_ problem: Problem) {
        if ownProblems[problem.code] != problem { log.warning("\(problem.message)") }
        ownProblems[problem.code] = problem
        control?.statusChanged()
    }

    func withdraw(_ code: ProblemCode) { if ownProblems.removeValue(forKey: code) != nil { control?.statusChanged() } }
}

extension Settings.LogLevel {
    var loggerLevel: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}

/// Folders that the daemon makes.
enum Folder {
    /// Makes a folder and its parents if they are missing.
    static func make(_ path: String, mode: mode_t) throws(DaemonError) {
        var built = ""
        for part in path.split(separator: "/") {
            built += "/" + part
            if mkdir(built, built == path ? mode : 0o755) != 0, errno != EEXIST {
                throw DaemonError("\(built): \(String(cString: strerror(errno)))")
            }
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw DaemonError("\(path) is not a folder") }
        guard access(path, W_OK) == 0 else { throw DaemonError("\(path) cannot be written; name another folder in the settings") }
        chmod(path, mode)
    }
}

extension Folder {
    /// One daemon for one runtime folder: the lock lasts as long as the process.
    static func lock(_ folder: String) throws(DaemonError) {
        let descriptor = open(folder + "/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw DaemonError("\(folder)/lock: \(String(cString: strerror(errno)))") }
        // A daemon that was killed is outlived for a moment by what it had started.
        for _ in 0..<40 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
            usleep(50_000)
        }
        throw DaemonError("another hotspotd is running with \(folder); it has to end first")
    }
}

/// Why the daemon cannot start: one sentence.
struct DaemonError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Where our helpers are, when the settings do not say.
enum Prober {
    /// Beside the daemon's own program, else in libexec.
    static func find() -> [String]? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        var places: [String] = []
        if length > 0 {
            let own = String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
            if let slash = own.lastIndex(of: "/") {
                let folder = String(own[..<slash])
                places = [folder + "/hotspot-helpers", folder + "/../libexec/hotspotd/hotspot-helpers"]
            }
        }
        places.append("/usr/libexec/hotspotd/hotspot-helpers")
        return places.first { access($0, X_OK) == 0 }.map { [resolved($0)] }
    }

    /// The prober by the words that a helper's file has for the same program and arguments: one process serves both, and they share
    /// each attempt's probe.
    static func spelled(_ exec: [String], as helpers: [HelperSpec]) -> [String] {
        for helper in helpers {
            guard case .socket(let words) = helper.activation, words.dropFirst() == exec.dropFirst() else { continue }
            if let first = words.first, resolved(first) == resolved(exec[0]) { return words }
        }
        return exec
    }

    /// Without links and dots: entries with the same program share one process, by its path.
    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}
