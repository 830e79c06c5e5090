import CLaunch
import EventLoop
import Glibc
import HotspotCore
import Varlink

/// Starts helpers, asks them, and ends them.
///
/// It knows no deadline: whoever asks cancels. It keeps no secret longer than the command that carries it. Every process that it
/// starts is reaped here, and none outlives ``shutDown(_:)`` or the daemon.
@LoopActor public final class HelperHost {
    /// The name of the prober's socket, which no helper may have.
    public nonisolated static let proberName = "probe"

    /// Where and how much.
    public let configuration: HostConfiguration
    /// The helpers that can be asked.
    public private(set) var helpers: [HelperEntry] = []
    /// The set of running processes, or what is known of one, has changed.
    public var onChange: () -> Void = {}
    /// Answers that came too late or too often, by helper (D18).
    public private(set) var ignoredAnswers: [String: Int] = [:]

    var launcher: Launcher
    private var byName: [String: HelperEntry] = [:]
    private var prober: [String]?
    private var services: [String: SocketService] = [:]
    private var prepared: [String: HelperProcess] = [:]
    /// Who will be prepared in one of the next turns of the loop.
    private var toPrepare: Set<String> = []
    private var processes: [ObjectIdentifier: HelperProcess] = [:]
    private var containments: [String: Containment] = [:]
    private var deferred: [ObjectIdentifier: EventSource] = [:]
    private let pacer = Pacer()
    /// Counts the calls of ``standDown()``; what was to be prepared before one is not any more.
    private var preparation = 0
    private var isShut = false
    private var onShut: (() -> Void)?

    /// Makes the folders, and removes what an earlier daemon left in them. SIGPIPE is ignored in the process from now on: a
    /// helper that ends must not end the daemon.
    public init(configuration: HostConfiguration) {
        self.configuration = configuration
        signal(SIGPIPE, SIG_IGN)
        Scratch.makeFolder(configuration.runtimeDirectory)
        Scratch.makeFolder(configuration.runtimeDirectory + "/helpers")
        chmod(configuration.runtimeDirectory + "/helpers", 0o700)
        for directory in configuration.hiddenDirectories { Scratch.makeFolder(directory) }
        Scratch.prepare(configuration.scratchDirectory)
        launcher = Launcher(configuration)
    }

    // MARK: Who can be asked

    /// Takes over what the folders offer now. Running commands finish first; helpers that stayed the same keep their processes.
    public func setHelpers(_ entries: [HelperEntry]) {
        let before = byName
        helpers = entries
        byName = Dictionary(entries.map { ($0.spec.name, $0) }, uniquingKeysWith: { first, _ in first })
        for (name, process) in prepared where before[name] != byName[name] {
            prepared[name] = nil
            process.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
        }
        regroup()
    }

    /// The program that answers ``probe(parameters:completion:)``. If a helper has the same command line, they share a process.
    public func setProber(exec: [String]?) {
        prober = exec
        regroup()
    }

    private func regroup() {
        var groups: [[String]: SocketService.Key] = [:]
        for entry in helpers {
            guard case .socket(let exec) = entry.spec.activation, byName[entry.spec.name] == entry else { continue }
            groups[exec, default: SocketService.Key(exec: exec, names: [], writable: [])].names.append(entry.spec.name)
            groups[exec]?.writable += entry.spec.readWritePaths
        }
        if let prober, !isShut {
            groups[prober, default: SocketService.Key(exec: prober, names: [], writable: [])].names.append(Self.proberName)
        }
        let wanted = isShut ? [] : Set(groups.values)
        var kept: [SocketService.Key: SocketService] = [:]
        var retired: Set<ObjectIdentifier> = []
        for service in services.values {
            if wanted.contains(service.key) {
                kept[service.key] = service
            } else if retired.insert(ObjectIdentifier(service)).inserted {
                service.retire()
            }
        }
        services = [:]
        for key in wanted {
            let service =
                kept[key]
                ?? SocketService(key, directory: configuration.runtimeDirectory + "/helpers", configuration: configuration) {
                    [weak self] listeners throws(HelperFault) in
                    guard let self else { throw HelperFault(.helperNotStarted, "the daemon is ending") }
                    return try start(key.exec, .service(listeners: listeners), names: key.names, writable: key.writable)
                }
            for name in key.names { services[name] = service }
        }
    }

    // MARK: Association

    /// A station begins to associate: the processes that will be asked are started, so that their start-up hides behind it. Many of
    /// them are started over several turns of the loop.
    public func prepare(_ names: [String]) {
        // The prober first: everybody's answer is weighed against its verdict.
        if prober != nil { services[Self.proberName]?.prepare() }
        let preparation = preparation
        for name in names {
            toPrepare.insert(name)
            pacer.run { [weak self] in
                // Who was asked meanwhile was started for that, and needs no second process.
                if let self, self.preparation == preparation, toPrepare.remove(name) != nil { prepare(name) }
            }
        }
    }

    private func prepare(_ name: String) {
        guard let entry = byName[name] else { return }
        switch entry.spec.activation {
        case .stdio(let exec):
            guard prepared[name] == nil else { return }
            // If it fails, the first command says so.
            guard
                let process = try? start(
                    exec, .stdio(withoutNetwork: false), names: [name], writable: entry.spec.readWritePaths)
            else { return }
            prepared[name] = process
            process.onExit = { [weak self, weak process] in
                if self?.prepared[name] === process { self?.prepared[name] = nil }
            }
        case .socket: services[name]?.prepare()
        case .external: break
        }
    }

    /// What was prepared and not used is ended.
    public func standDown() {
        preparation += 1
        toPrepare = []
        let unused = prepared
        prepared = [:]
        for process in unused.values { process.end(term: configuration.cancelTerm, kill: configuration.cancelKill) }
        for service in services.values { service.standDown() }
    }

    // MARK: Commands

    /// Sends a command. The completion is called once, never before this returns, and not after ``HelperCall/cancel()``.
    @discardableResult public func send(
        _ command: Command, to helper: String, parameters: JSONValue, completion: @escaping (HelperOutcome) -> Void
    ) -> HelperCall {
        ask(
            Question(method: command.method, parameters: parameters, expectation: .init(command)), of: helper,
            // The scan list is answered from what it says, without any network.
            alone: command == .filterScanList && configuration.filterWithoutNetwork, completion: completion)
    }

    /// Asks a helper for its name and version; the outcome is a ``HelperOutcome/value(_:)``.
    @discardableResult public func describe(
        _ helper: String, completion: @escaping (HelperOutcome) -> Void
    ) -> HelperCall {
        ask(
            Question(method: "org.hotspotd.Helper.Describe", parameters: [:], expectation: .value), of: helper, alone: false,
            completion: completion)
    }

    /// Asks the prober; the outcome is a ``HelperOutcome/value(_:)`` of the type that `probe.varlink` has.
    @discardableResult public func probe(
        parameters: JSONValue, completion: @escaping (HelperOutcome) -> Void
    ) -> HelperCall {
        let call = HelperCall(completion: completion)
        begin(call, Self.proberName) { () throws(HelperFault) in
            guard let service = self.services[Self.proberName] else { throw HelperFault(.helperNotStarted, "there is no prober") }
            try service.send(
                Question(method: "org.hotspotd.Probe.Probe", parameters: parameters, expectation: .value), to: Self.proberName,
                call: call, onIgnored: { self.countIgnored($0, Self.proberName, call) })
        }
        return call
    }

    private func ask(
        _ question: Question, of name: String, alone: Bool, completion: @escaping (HelperOutcome) -> Void
    ) -> HelperCall {
        let call = HelperCall(completion: completion)
        begin(call, name) { () throws(HelperFault) in
            guard let entry = self.byName[name] else { throw HelperFault(.helperNotStarted, "there is no such helper") }
            let onIgnored: (Int) -> Void = { self.countIgnored($0, name, call) }
            switch entry.spec.activation {
            case .stdio(let exec):
                if !alone { self.toPrepare.remove(name) }
                if !alone, let waiting = self.prepared.removeValue(forKey: name), waiting.isRunning {
                    return try self.hand(question, to: waiting, name: name, call: call)
                }
                self.pacer.run {
                    // Cancelled before its turn: then nothing is started at all.
                    guard call.isLive else { return }
                    self.begin(call, name) { () throws(HelperFault) in
                        let process = try self.start(
                            exec, .stdio(withoutNetwork: alone), names: [name], writable: entry.spec.readWritePaths)
                        try self.hand(question, to: process, name: name, call: call)
                    }
                }
            case .socket:
                guard let service = self.services[name] else { throw HelperFault(.helperNotStarted, "there is no socket for it") }
                try service.send(question, to: name, call: call, onIgnored: onIgnored)
            case .external(let path):
                try self.ask(question, at: path, name: name, call: call, onIgnored: onIgnored)
            }
        }
        return call
    }

    private func hand(
        _ question: Question, to process: HelperProcess, name: String, call: HelperCall
    ) throws(HelperFault) {
        do throws(HelperFault) {
            _ = try OneShot(question, name: name, process: process, call: call, configuration: configuration) { [weak self] in
                self?.countIgnored($0, name, call)
            }
        } catch {
            process.end(term: .zero, kill: configuration.cancelKill)
            throw error
        }
    }

    /// A helper that someone else runs: nothing is known of its process.
    private func ask(
        _ question: Question, at path: String, name: String, call: HelperCall, onIgnored: @escaping (Int) -> Void
    ) throws(HelperFault) {
        let exchange: Exchange
        do throws(VarlinkError) {
            let socket = try Socket.connect(path: path, nonblocking: true)
            exchange = Exchange(question, on: try Connection(socket: socket.take(), limit: configuration.limits.message))
        } catch {
            throw HelperFault(.helperNotStarted, error.description)
        }
        let patience = configuration.serviceCancel
        call.onCancel = {
            exchange.onIgnored = { self.later { exchange.close() } }
            exchange.abandon()
            self.later(patience) { exchange.close() }
        }
        exchange.onEnding = { ending in
            switch ending {
            case .answered(let outcome): call.complete(outcome.named(name, standardError: nil))
            case .closed:
                call.complete(.failed(HelperFault(.helperCrashed, "\(name): it closed the connection without an answer")))
            }
            self.later { exchange.close() }
        }
        exchange.onOver = { onIgnored(exchange.ignored) }
    }

    /// Runs the beginning of a command; what it throws is told in the next turn.
    private func begin(_ call: HelperCall, _ name: String, _ body: () throws(HelperFault) -> Void) {
        do throws(HelperFault) {
            if isShut { throw HelperFault(.helperNotStarted, "the daemon is ending") }
            try body()
        } catch {
            later { call.complete(HelperOutcome.failed(error).named(name, standardError: nil)) }
        }
    }

    private func later(_ delay: Duration = .zero, _ body: @escaping () -> Void) {
        var key: ObjectIdentifier?
        guard
            let source = try? EventLoop.shared.schedule(
                after: delay,
                { [weak self] in
                    if let key { self?.deferred[key] = nil }
                    body()
                })
        else { return body() }
        key = ObjectIdentifier(source)
        deferred[ObjectIdentifier(source)] = source
    }

    private func countIgnored(_ count: Int, _ name: String, _ call: HelperCall) {
        guard count > 0 else { return }
        ignoredAnswers[name, default: 0] += count
        call.onIgnored(count)
    }

    // MARK: Processes

    private func start(
        _ exec: [String], _ kind: HelperProcess.Kind, names: [String], writable: [String]
    ) throws(HelperFault) -> HelperProcess {
        if isShut { throw HelperFault(.helperNotStarted, "the daemon is ending") }
        let process = try HelperProcess(
            exec, kind: kind, names: names, writable: writable, launcher: launcher, configuration: configuration)
        processes[ObjectIdentifier(process)] = process
        process.onContained = { [weak self] containment in
            for name in names { self?.containments[name] = containment }
            self?.launcher.coversFolders = containment.hidesFolders
            self?.onChange()
        }
        process.onGone = { [weak self, weak process] in
            guard let self, let process else { return }
            processes[ObjectIdentifier(process)] = nil
            onChange()
            finishShutDown()
        }
        onChange()
        return process
    }

    /// The helper whose process was started with this token, as long as the process runs. If helpers share it, the first of them.
    public func helperName(forToken token: String) -> String? {
        guard !token.isEmpty else { return nil }
        return processes.values.first { $0.token == token && $0.isRunning }?.names.first
    }

    /// All helpers that the process with this token speaks for, as long as it runs; none for a token of nobody.
    public func helperNames(forToken token: String) -> [String] {
        guard !token.isEmpty else { return [] }
        return processes.values.first { $0.token == token && $0.isRunning }?.names.filter { $0 != Self.proberName } ?? []
    }

    /// Whether a process of the helper runs.
    public func isRunning(_ name: String) -> Bool { processes.values.contains { $0.names.contains(name) } }

    /// How far the helper's last process was shut in, in words; empty before its first one, and for one that someone else runs.
    public func containment(of name: String) -> [String] { containments[name]?.words ?? [] }

    /// What the helper's last process should have had and the machine could not give, in words.
    public func missingContainment(of name: String) -> [String] { containments[name]?.missing ?? [] }

    /// What keeps the helper from the folders of its `ReadWritePaths=`.
    public func pathProblems(of name: String) -> [Problem] {
        byName[name]?.spec.readWritePaths.compactMap {
            WritablePath.problem(
                with: $0, hidden: launcher.hidden, denied: containments[name]?.deniedPaths[Launcher.canonical($0)])
        } ?? []
    }

    /// Whether the helper's last process could not read the daemon's folders. Without that it must get no stored credential. A helper
    /// that someone else runs is that one's concern, and the folders' permissions'.
    public func isKeptFromFolders(_ name: String) -> Bool {
        if case .external = byName[name]?.spec.activation { return true }
        return containments[name]?.hidesFolders ?? false
    }

    /// The processes as the daemon sees them; the init where there is one.
    var processIDs: [pid_t] { processes.values.map(\.processID) }

    /// How many processes run.
    public var processCount: Int { processes.count }

    // MARK: The end

    /// Ends everything. Commands on their way fail as crashed; the completion is called when no process is left.
    public func shutDown(_ completion: @escaping () -> Void) {
        isShut = true
        onShut = completion
        prepared = [:]
        regroup()
        for process in processes.values { process.end(term: .zero, kill: configuration.cancelKill) }
        if processes.isEmpty { later { self.finishShutDown() } }
    }

    private func finishShutDown() {
        guard isShut, processes.isEmpty, let onShut else { return }
        self.onShut = nil
        onShut()
    }
}
