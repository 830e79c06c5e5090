import CLinux
import EventLoop
import ForeignText
import Glibc
import HotspotCore
import Varlink

/// Starts helpers, asks them, and ends them.
///
/// It knows no deadline: its caller cancels. It keeps no secret longer than the process that it was given to. Every process that it
/// starts is reaped here, and none outlives ``shutDown(_:)`` or the daemon.
@LoopActor public final class HelperHost {
    /// The name of the prober's socket, which no helper may have.
    public nonisolated static let proberName = "probe"

    public private(set) var configuration: HostConfiguration
    public private(set) var helpers: [HelperEntry] = []
    /// The set of running processes, or what is known of the sandbox, has changed.
    public var onChange: () -> Void = {}
    /// Answers that came too late or too often, by helper (D18).
    public private(set) var ignoredAnswers: [String: Int] = [:]
    /// The networks that each helper was sent, the newest first.
    public private(set) var given: [String: [HelperGiven]] = [:]
    /// Why no helper can be started; `nil` while the sandbox works, and before it was tried.
    public private(set) var sandboxProblem: Problem?

    private(set) var byName: [String: HelperEntry] = [:]
    private var prober: [String]?
    /// The programs that serve several commands, made when they are asked for the first time; those that answer the scan list run once
    /// more, without any network.
    private var services: [SocketService.Key: SocketService] = [:]
    private var serviceKeys: [String: SocketService.Key] = [:]
    private let preparation: Preparation
    private var processes: [ObjectIdentifier: HelperProcess] = [:]
    /// The processes that each helper had last ran in a sandbox.
    private var sandboxed: Set<String> = []
    private let filter: Int32
    private let resolver: ResolverFile
    private var deferred: [Int: EventSource] = [:]
    private var lastDeferred = 0
    /// Processes that are still to be started.
    private var starts: [() -> Void] = []
    /// For tests: an error number with which the kernel refuses a start, or 0.
    var startRefusal: () -> Int32 = { 0 }
    private var isShut = false
    private var onShut: (() -> Void)?

    /// Opens what a process can no longer open once it has forbidden that it is dumped (prctl(2), PR_SET_DUMPABLE).
    public nonisolated static func openFiles() { _ = Spawn.scoreFile }

    /// Makes the folders. SIGPIPE is ignored in the process from now on: a helper that ends must not end the daemon.
    public init(configuration: HostConfiguration) {
        self.configuration = configuration
        preparation = Preparation(configuration: configuration)
        signal(SIGPIPE, SIG_IGN)
        resolver = ResolverFile(path: configuration.runtimeDirectory + "/helpers/resolv.conf")
        filter = (try? SystemCallFilter.make()) ?? -1
        makeFolders()
    }

    /// Makes the folders, also those that something removed; programs whose sockets went with them start again for their next command.
    public func makeFolders() {
        mkdir(configuration.runtimeDirectory, 0o755)
        mkdir(configuration.runtimeDirectory + "/helpers", 0o700)
        for service in services.values { service.retire() }
        services = [:]
    }

    isolated deinit { if filter >= 0 { close(filter) } }

    // MARK: The helpers

    /// Takes the place of ``HostConfiguration/hiddenPaths``; processes that run keep what they see.
    public func hide(_ paths: [String]) { configuration.hiddenPaths = paths + [configuration.runtimeDirectory] }

    /// Takes over what the folders offer now. Running commands finish first; helpers that stayed the same keep their processes.
    public func setHelpers(_ entries: [HelperEntry]) {
        let before = byName
        helpers = entries
        byName = Dictionary(entries.map { ($0.spec.name, $0) }, uniquingKeysWith: { first, _ in first })
        for name in before.keys where before[name] != byName[name] { preparation.end(name) }
        given = given.filter { byName[$0.key] != nil }
        groupServices()
    }

    /// Sets the program that answers ``probe(parameters:completion:)``. If a helper has the same command line, they share a process.
    public func setProber(exec: [String]?) {
        prober = exec
        groupServices()
    }

    /// Makes one service of all helpers that have the same command line.
    private func groupServices() {
        var groups: [[String]: SocketService.Key] = [:]
        for entry in helpers {
            guard case .socket(let exec) = entry.spec.activation, byName[entry.spec.name] == entry else { continue }
            groups[exec, default: SocketService.Key(exec: exec, names: [])].names.append(entry.spec.name)
            groups[exec]?.readPaths += entry.spec.readPaths
            groups[exec]?.readWritePaths += entry.spec.readWritePaths
        }
        if let prober, !isShut {
            groups[prober, default: SocketService.Key(exec: prober, names: [])].names.append(Self.proberName)
        }
        serviceKeys = [:]
        for key in groups.values where !isShut { for name in key.names { serviceKeys[name] = key } }
        let wanted = Set(serviceKeys.values.flatMap { [$0, Self.withoutNetwork($0)] })
        for (key, service) in services where !wanted.contains(key) {
            services[key] = nil
            service.retire()
        }
    }

    private static func withoutNetwork(_ key: SocketService.Key) -> SocketService.Key {
        var key = key
        key.names.removeAll { $0 == proberName }
        key.withoutNetwork = true
        return key
    }

    private func service(_ name: String, withoutNetwork: Bool = false) throws(HelperFault) -> SocketService {
        guard let key = serviceKeys[name] else { throw HelperFault(.helperNotStarted, "there is no socket for it") }
        let wanted = withoutNetwork ? Self.withoutNetwork(key) : key
        if let known = services[wanted] { return known }
        let service = SocketService(wanted, configuration: configuration) { [weak self] listeners throws(HelperFault) in
            guard let self else { throw HelperFault(.helperNotStarted, "the daemon is ending") }
            return try start(sandbox(wanted), .service(listeners: listeners), names: wanted.names)
        }
        services[wanted] = service
        return service
    }

    // MARK: Processes

    private func sandbox(_ key: SocketService.Key, isService: Bool = true) -> Sandbox {
        let limits = configuration.limits
        return Sandbox(
            exec: key.exec, readPaths: key.readPaths.filter(isReadable),
            readWritePaths: key.readWritePaths.filter { WritablePath.refusal(of: $0, hidden: configuration.hiddenPaths) == nil },
            hasNetwork: !key.withoutNetwork, listeners: isService ? key.names.count : 0,
            processorTime: isService ? limits.serviceProcessorTime : limits.processorTime, limits: limits,
            hiddenPaths: configuration.hiddenPaths, helperSocket: configuration.helperSocket, resolverFile: resolver.path)
    }

    private func sandbox(_ spec: HelperSpec, _ exec: [String], hasNetwork: Bool) -> Sandbox {
        sandbox(
            SocketService.Key(
                exec: exec, names: [], readPaths: spec.readPaths, readWritePaths: spec.readWritePaths, withoutNetwork: !hasNetwork
            ),
            isService: false)
    }

    /// The folders and files that a helper with this command line sees for its own.
    public func ownPaths(of exec: [String]) -> [String] { sandbox(SocketService.Key(exec: exec, names: [])).ownPaths }

    /// Whether a path of `ReadPaths=` is shown: nothing of the daemon's, and nothing in the place of the sandbox's own folders.
    private func isReadable(_ path: String) -> Bool {
        let canonical = FilePath.canonical(path)
        let refused = configuration.hiddenPaths.map(FilePath.canonical) + ["/proc", "/sys", "/dev"]
        return !["/", "/tmp", "/run"].contains(canonical) && !refused.contains { FilePath.isWithin(canonical, $0) }
    }

    private func start(_ sandbox: Sandbox, _ wiring: HelperProcess.Wiring, names: [String]) throws(HelperFault) -> HelperProcess {
        if isShut { throw HelperFault(.helperNotStarted, "the daemon is ending") }
        let isContained = configuration.containment == .sandbox
        if isContained, filter < 0 { throw HelperFault(.helperNotStarted, "its system-call filter could not be made") }
        let refusal = startRefusal()
        if refusal != 0 { throw HelperFault.refused("", refusal) }
        resolver.update()
        let process = try HelperProcess(
            sandbox, filter: isContained ? filter : nil, as: wiring, names: names, errorLimit: configuration.limits.standardError)
        let key = ObjectIdentifier(process)
        processes[key] = process
        process.onGone = { [weak self, weak process] in
            guard let self else { return }
            if isContained, process?.ranInSandbox == true {
                sandboxed.formUnion(names)
                sandboxProblem = nil
            }
            processes[key] = nil
            // Large answers leave pieces all over the heap: without this 100 of them cost 25 MB for as long as the daemon runs.
            if processes.isEmpty { malloc_trim(0) }
            onChange()
            finishShutDown()
        }
        onChange()
        return process
    }

    /// Prepares the helpers that will be asked, because a station begins to associate. Many are started over several turns of the loop.
    public func prepare(_ names: [String], for interface: Int = 0) {
        guard !isShut else { return }
        preparation.want(names + [Self.proberName], for: interface) { [weak self] in self?.standDown(interface: interface) }
        // The prober first: all answers are weighed against its verdict.
        if prober != nil { try? service(Self.proberName).prepare() }
        for name in names {
            preparation.expect(name)
            startLater { [weak self] in
                if let self, preparation.claim(name) { prepare(name) }
            }
        }
    }

    private func prepare(_ name: String) {
        guard let spec = byName[name]?.spec else { return }
        switch spec.activation {
        case .stdio(let exec) where !preparation.hasProcess(name):
            // If it fails, the first command says so.
            if let process = try? start(sandbox(spec, exec, hasNetwork: true), .stdio, names: [name]) {
                preparation.add(process, for: name)
            }
        case .socket: try? service(name).prepare()
        case .stdio, .external: break
        }
    }

    /// Ends what was prepared for this interface alone and not used.
    public func standDown(interface: Int) {
        // Others may want the process that they share.
        for name in preparation.standDown(interface: interface) {
            guard let key = serviceKeys[name], !key.names.contains(where: preparation.isWanted) else { continue }
            services[key]?.standDown()
        }
    }

    /// Tries the sandbox once with a program that does nothing, so that ``sandboxProblem`` tells before the first login why no helper
    /// can be started.
    public func trySandbox() {
        guard configuration.containment == .sandbox else { return }
        let trial = Sandbox(
            exec: ["/usr/bin/true"], processorTime: 10, limits: configuration.limits, hiddenPaths: configuration.hiddenPaths,
            resolverFile: resolver.path)
        do throws(HelperFault) {
            let process = try start(trial, .stdio, names: [])
            process.onExit = { [weak self, weak process] in self?.tried(process?.failure) }
            process.end(term: .seconds(10), kill: .seconds(10))
        } catch { tried(error.sentence) }
    }

    private func tried(_ failure: String?) {
        guard !isShut else { return }
        sandboxProblem = failure.map {
            Problem(
                .sandboxUnavailable, "No helper can be started: \($0).",
                hint: access(Sandbox.bubblewrap, X_OK) == 0
                    ? "allow hotspotd to make user namespaces (/usr/share/doc/hotspotd/apparmor-hotspotd is an AppArmor profile for it), then: systemctl restart hotspotd. Or set Containment=none, without any protection"
                    : "apt install bubblewrap, then: systemctl reload hotspotd")
        }
        onChange()
    }

    // MARK: What is known of them

    /// Why the helper cannot write to a folder of its `ReadWritePaths=`, or read one of its `ReadPaths=`.
    public func pathProblems(of name: String) -> [Problem] {
        guard let spec = byName[name]?.spec else { return [] }
        let unseen = spec.readPaths.filter { !isReadable($0) || FilePath.kind(of: $0) == nil }.map {
            Problem(
                isReadable($0) ? .helperPathMissing : .helperPathRefused,
                "ReadPaths= has \(Printable.text($0, limit: 200)), which is \(isReadable($0) ? "not there" : "not shown to helpers").",
                hint: "name folders and files of the helper's own, with a space between two of them")
        }
        return unseen
            + spec.readWritePaths.compactMap {
                WritablePath.refusal(of: $0, hidden: configuration.hiddenPaths) ?? WritablePath.problem(with: $0)
            }
    }

    /// All helpers that the process with this token speaks for, as long as it runs; none for an unknown token.
    public func helperNames(forToken token: String) -> [String] {
        guard !token.isEmpty else { return [] }
        return processes.values.first { $0.token == token && $0.isRunning }?.names.filter { $0 != Self.proberName } ?? []
    }

    public func isRunning(_ name: String) -> Bool { processes.values.contains { $0.names.contains(name) } }

    /// "sandboxed", once a process of the helper has run so; empty before, without a sandbox, and for one that another program runs.
    public func containment(of name: String) -> [String] {
        sandboxed.contains(name) || (configuration.containment == .sandbox && sandboxProblem == nil && isRunning(name))
            ? ["sandboxed"] : []
    }

    /// Why the helper runs without a sandbox, or cannot run.
    public func missingContainment(of name: String) -> [String] {
        if case .external = byName[name]?.spec.activation { return [] }
        if configuration.containment == .none { return ["Containment=none (it gets no stored answers)"] }
        return sandboxProblem.map { [$0.message] } ?? []
    }

    /// Forgets which networks helpers were sent.
    public func forgetGiven() { given = [:] }

    /// Forgets that helpers were sent the network with this name.
    public func forgetGiven(of network: String) {
        given = given.mapValues { all in all.compactMap { $0.without(network) } }
    }

    /// The secrets that the helper's running processes were given: one that serves many commands may repeat in the next network what it
    /// was told in this one.
    public func secrets(givenTo name: String) -> Set<String> {
        processes.values.filter { $0.names.contains(name) }.reduce(into: []) { $0.formUnion($1.tail.given) }
    }

    public var processCount: Int { processes.count }

    // MARK: Commands

    /// Sends a command. The completion is called once, never before this returns, and not after ``HelperCall/cancel()``.
    @discardableResult public func send(
        _ command: Command, to helper: String, parameters: JSONValue, completion: @escaping (HelperOutcome) -> Void
    ) -> HelperCall {
        ask(
            Question(
                method: command.method, parameters: parameters, expectation: .init(command),
                // The scan list is answered from what it says, without any network.
                hasNetwork: command != .filterScanList || !configuration.filterWithoutNetwork), of: helper, completion: completion
        )
    }

    /// Asks a helper for its name and version; the outcome is a ``HelperOutcome/value(_:)``.
    @discardableResult public func describe(_ helper: String, completion: @escaping (HelperOutcome) -> Void) -> HelperCall {
        ask(
            Question(method: "org.hotspotd.Helper.Describe", parameters: [:], expectation: .value), of: helper,
            completion: completion)
    }

    /// Asks the prober; the outcome is a ``HelperOutcome/value(_:)`` of the type that `probe.varlink` has.
    @discardableResult public func probe(parameters: JSONValue, completion: @escaping (HelperOutcome) -> Void) -> HelperCall {
        ask(
            Question(method: "org.hotspotd.Probe.Probe", parameters: parameters, expectation: .value), of: Self.proberName,
            completion: completion)
    }

    private func ask(_ question: Question, of name: String, completion: @escaping (HelperOutcome) -> Void) -> HelperCall {
        let call = HelperCall(question, to: name, host: self, completion: completion)
        begin(call, attempt)
        return call
    }

    private func attempt(_ call: HelperCall) throws(HelperFault) {
        let (name, question) = (call.name, call.question)
        if name == Self.proberName {
            guard prober != nil else { throw HelperFault(.helperNotStarted, "there is no prober") }
            return try service(name).send(call)
        }
        guard let entry = byName[name] else { throw HelperFault(.helperNotStarted, "there is no such helper") }
        if question.hasCredential, entry.spec.activation.exec != nil, configuration.containment == .none {
            throw HelperFault(.helperNotStarted, "it runs without a sandbox, and gets no stored answers")
        }
        resolver.update()
        switch entry.spec.activation {
        case .stdio(let exec):
            if question.hasNetwork, let waiting = preparation.use(name) { return try hand(call, to: waiting, waited: true) }
            startLater {
                // Cancelled before its turn: then nothing is started at all.
                guard call.isLive else { return }
                self.begin(call) { call throws(HelperFault) in
                    let sandbox = self.sandbox(entry.spec, exec, hasNetwork: question.hasNetwork)
                    try self.hand(call, to: self.start(sandbox, .stdio, names: [name]), waited: false)
                }
            }
        case .socket: try service(name, withoutNetwork: !question.hasNetwork).send(call)
        case .external(let path): try ask(call, at: path)
        }
    }

    /// Hands a question to a process of its own.
    private func hand(_ call: HelperCall, to process: HelperProcess, waited: Bool) throws(HelperFault) {
        do throws(HelperFault) {
            _ = try OneShot(call, process: process, waited: waited, configuration: configuration)
        } catch {
            process.end(term: .zero, kill: configuration.cancelKill)
            throw error
        }
    }

    /// The pauses before further attempts where the machine has no room for another process, two seconds in all. The room may be taken
    /// by helpers that have just lost the race and are ending: the first pause is a cancellation's and a little.
    var retryPauses: [Duration] {
        [configuration.cancelKill + .milliseconds(10)] + [120, 240, 480, 1080].map { .milliseconds($0) }
    }

    /// Begins a call once more after a while, because there was no room for its process; `false` if that was tried often enough.
    func retry(_ call: HelperCall) -> Bool {
        guard !isShut, let pause = call.pauses.popFirst() else { return false }
        // Before it begins, since that may be in this very turn.
        (call.isPausing, call.onCancel) = (true, nil)
        later(pause) { [weak self] in
            guard let self, call.isLive else { return }
            call.isPausing = false
            begin(call, attempt)
        }
        return true
    }

    /// Runs the beginning of a command; what it throws is reported in the next turn.
    private func begin(_ call: HelperCall, _ body: (HelperCall) throws(HelperFault) -> Void) {
        do throws(HelperFault) {
            if isShut { throw HelperFault(.helperNotStarted, "the daemon is ending") }
            try body(call)
        } catch {
            later { call.fail(error) }
        }
    }

    /// Starts a process in a turn of its own: two hundred at once would keep everything else waiting. The next turn is asked for after a
    /// start, so that a client's request which came meanwhile goes first.
    private func startLater(_ body: @escaping () -> Void) {
        starts.append(body)
        if starts.count == 1 { later(priority: 10, startNext) }
    }

    private func startNext() {
        starts[0]()
        starts.removeFirst()
        if !starts.isEmpty { later(priority: 10, startNext) }
    }

    func later(_ delay: Duration = .zero, priority: Int64 = 0, _ body: @escaping () -> Void) {
        lastDeferred += 1
        let key = lastDeferred
        deferred[key] = try? EventLoop.shared.schedule(after: delay) { [weak self] in
            self?.deferred[key] = nil
            body()
        }
        guard let source = deferred[key] else { return body() }
        source.setPriority(priority)
    }

    func countIgnored(_ count: Int, _ name: String) { ignoredAnswers[name, default: 0] += count }

    func recordGiven(_ question: Question, to name: String) {
        guard name != Self.proberName, let new = HelperGiven(question) else { return }
        given[name] = HelperGiven.adding(new, to: given[name] ?? [])
    }

    // MARK: The end

    /// Ends everything. Commands on their way fail as crashed; the completion is called when no process is left.
    public func shutDown(_ completion: @escaping () -> Void) {
        isShut = true
        onShut = completion
        preparation.shutDown()
        groupServices()
        for process in processes.values { process.end(term: .zero, kill: configuration.cancelKill) }
        if processes.isEmpty { later { self.finishShutDown() } }
    }

    private func finishShutDown() {
        guard isShut, processes.isEmpty, let onShut else { return }
        self.onShut = nil
        unlink(resolver.path)
        onShut()
    }
}
