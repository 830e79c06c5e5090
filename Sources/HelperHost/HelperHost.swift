import CLaunch
import EventLoop
import Glibc
import HotspotCore
import Varlink

/// Starts helpers, asks them, and ends them.
///
/// It knows no deadline: whoever asks cancels. It keeps no secret longer than the process that it was given to. Every process that it
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
    /// Processes of these helpers were ended because something ran out that is counted for all processes of the daemon's user;
    /// the second is what ran out. For the log.
    public var onRelief: ([String], String) -> Void = { _, _ in }
    /// Answers that came too late or too often, by helper (D18).
    public private(set) var ignoredAnswers: [String: Int] = [:]
    /// What each helper was told lately, the newest first.
    public private(set) var given: [String: [HelperGiven]] = [:]

    private let passingBan: PassingBan
    var launcher: Launcher
    let scratch: Scratch
    private(set) var byName: [String: HelperEntry] = [:]
    private var prober: [String]?
    private(set) var services: [String: SocketService] = [:]
    /// The same programs without any network, for the scan list; made when they are asked for the first time.
    private var listServices: [String: SocketService] = [:]
    var prepared: [String: HelperProcess] = [:]
    /// Who will be prepared in one of the next turns of the loop.
    var toPrepare: Set<String> = []
    /// Who is to be ready, by the interface that may ask.
    var wanted: [Int: Set<String>] = [:]
    var expiries: [Int: EventSource] = [:]
    var processes: [ObjectIdentifier: HelperProcess] = [:]
    var containments: [String: Containment] = [:]
    /// What waits for a process to tell how far it is shut in.
    var untilContained: [ObjectIdentifier: [() -> Void]] = [:]
    /// The processes whose end a helper waits for, because they were started before its file was there and see too much.
    var awaitedEnds: [String: Set<ObjectIdentifier>] = [:]
    var adoptsOrphans = false
    private var deferred: [ObjectIdentifier: EventSource] = [:]
    var lastRelief: Instant?
    private var shortage: EventSource?
    var received = 0
    var tidying: EventSource?
    let pacer = Pacer()
    var isShut = false
    var onShut: (() -> Void)?

    /// Makes the folders, and removes what an earlier daemon left in them. SIGPIPE is ignored in the process from now on: a
    /// helper that ends must not end the daemon.
    public init(configuration: HostConfiguration) {
        self.configuration = configuration
        passingBan = PassingBan(limit: Int(configuration.limits.descriptors) + Int(LAUNCH_MAXIMUM_LISTENERS))
        signal(SIGPIPE, SIG_IGN)
        Scratch.makeFolder(configuration.runtimeDirectory)
        Scratch.makeFolder(configuration.runtimeDirectory + "/helpers")
        chmod(configuration.runtimeDirectory + "/helpers", 0o700)
        for directory in configuration.hiddenDirectories { Scratch.makeFolder(directory) }
        scratch = Scratch(configuration.scratchDirectory)
        launcher = Launcher(configuration)
        shortage = EventLoop.shared.onShortage { [weak self] in
            self?.relieve(of: "watches of epoll (fs.epoll.max_user_watches)")
        }
        launcher.onRefusal = { [weak self] code in
            // EAGAIN: the user's limit, the unit's TasksMax=, or the machine's.
            guard code == EAGAIN || code == ENOMEM else { return }
            self?.later { self?.relieve(of: code == EAGAIN ? "processes and threads" : "memory") }
        }
        if configuration.dividesControlGroup { divideControlGroup() }
    }

    /// Takes the place of ``HostConfiguration/protectedDirectories``. Whoever was started before gets no further command.
    public func protect(_ paths: [String]) {
        launcher.protect(paths)
        renewViews(for: [])
    }

    // MARK: Who can be asked

    var hasProber: Bool { prober != nil }

    /// Takes over what the folders offer now. Running commands finish first; helpers that stayed the same keep their processes, unless
    /// those see what the new ones keep from them.
    public func setHelpers(_ entries: [HelperEntry]) {
        let before = byName
        helpers = entries
        byName = Dictionary(entries.map { ($0.spec.name, $0) }, uniquingKeysWith: { first, _ in first })
        for (name, process) in prepared where before[name] != byName[name] {
            prepared[name] = nil
            process.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
        }
        given = given.filter { byName[$0.key] != nil }
        awaitedEnds = awaitedEnds.filter { byName[$0.key] != nil }
        regroup()
        renewViews(for: byName.keys.filter { before[$0] != byName[$0] })
    }

    /// The program that answers ``probe(parameters:completion:)``. If a helper has the same command line, they share a process.
    public func setProber(exec: [String]?) {
        prober = exec
        regroup()
    }

    func regroup() {
        var groups: [[String]: SocketService.Key] = [:]
        for entry in helpers {
            guard case .socket(let exec) = entry.spec.activation, byName[entry.spec.name] == entry else { continue }
            groups[exec, default: SocketService.Key(exec: exec, names: [], writable: [])].names.append(entry.spec.name)
            groups[exec]?.writable += entry.spec.readWritePaths
        }
        if let prober, !isShut {
            groups[prober, default: SocketService.Key(exec: prober, names: [], writable: [])].names.append(Self.proberName)
        }
        launcher.writableFolders = WritableFolders(helpers)
        launcher.filesOfAll = helpers.flatMap { entry in
            let file = Launcher.canonical(entry.file)
            let linked = file == entry.file ? [] : [file]
            if case .external(let path) = entry.spec.activation { return linked + [Launcher.canonical(path)] }
            return linked
        }
        let wanted = isShut ? [] : Set(groups.values)
        var kept: [SocketService.Key: SocketService] = [:]
        var retired: Set<ObjectIdentifier> = []
        let withoutNetwork = Set(wanted.map(Self.withoutNetwork))
        for service in Array(services.values) + listServices.values {
            if wanted.contains(service.key) {
                kept[service.key] = service
            } else if !withoutNetwork.contains(service.key), retired.insert(ObjectIdentifier(service)).inserted {
                service.retire()
            }
        }
        listServices = listServices.filter { withoutNetwork.contains($1.key) }
        services = [:]
        for key in wanted {
            let service = kept[key] ?? makeService(key)
            for name in key.names { services[name] = service }
        }
    }

    private static func withoutNetwork(_ key: SocketService.Key) -> SocketService.Key {
        var key = key
        key.names.removeAll { $0 == proberName }
        key.withoutNetwork = true
        return key
    }

    private func service(_ name: String, withoutNetwork: Bool) throws(HelperFault) -> SocketService {
        guard let service = services[name] else { throw HelperFault(.helperNotStarted, "there is no socket for it") }
        guard withoutNetwork else { return service }
        if let known = listServices[name] { return known }
        let alone = makeService(Self.withoutNetwork(service.key))
        for name in alone.key.names { listServices[name] = alone }
        return alone
    }

    private func makeService(_ key: SocketService.Key) -> SocketService {
        SocketService(
            key, directory: configuration.runtimeDirectory + "/helpers", configuration: configuration,
            host: SocketService.Host(
                start: { [weak self] listeners throws(HelperFault) in
                    guard let self else { throw HelperFault(.helperNotStarted, "the daemon is ending") }
                    return try start(
                        key.exec, .service(listeners: listeners, withoutNetwork: key.withoutNetwork), names: key.names,
                        writable: key.writable)
                },
                whenContained: { [weak self] process, body in
                    guard let self else { return body() }
                    whenContained(process, body)
                },
                isOutdated: { [weak self] process in self?.launcher.isOutdated(process) ?? false }))
    }

    // MARK: Commands

    /// Sends a command. The completion is called once, never before this returns, and not after ``HelperCall/cancel()``.
    ///
    /// A stored credential in the parameters leaves only for a process that is known to be kept from the daemon's folders; for any
    /// other it is left out, and ``HelperCall/onWithheld`` tells.
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
        call.onReceived = { [weak self] in self?.countReceived($0) }
        beginPatiently(call, Self.proberName) { () throws(HelperFault) in
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
        call.onSent = { [weak self] question in self?.recordGiven(question, to: name) }
        call.onReceived = { [weak self] in self?.countReceived($0) }
        beginPatiently(call, name) { () throws(HelperFault) in
            guard let entry = self.byName[name] else { throw HelperFault(.helperNotStarted, "there is no such helper") }
            if let fault = self.untimeliness(of: [name]) { throw fault }
            let onIgnored: (Int) -> Void = { self.countIgnored($0, name, call) }
            switch entry.spec.activation {
            case .stdio(let exec):
                if !alone { self.toPrepare.remove(name) }
                if !alone, let waiting = self.prepared.removeValue(forKey: name), waiting.isRunning {
                    return try self.hand(question, to: waiting, waited: true, name: name, call: call)
                }
                self.pacer.run {
                    // Cancelled before its turn: then nothing is started at all.
                    guard call.isLive else { return }
                    self.begin(call, name) { () throws(HelperFault) in
                        let process = try self.start(
                            exec, .stdio(withoutNetwork: alone), names: [name], writable: entry.spec.readWritePaths)
                        try self.hand(question, to: process, waited: false, name: name, call: call)
                    }
                }
            case .socket:
                try self.service(name, withoutNetwork: alone).send(question, to: name, call: call, onIgnored: onIgnored)
            case .external(let path):
                try self.ask(question, at: path, name: name, call: call, onIgnored: onIgnored)
            }
        }
        return call
    }

    /// Hands a question to a process of its own; a credential waits until that very process has told how far it is shut in.
    private func hand(
        _ question: Question, to process: HelperProcess, waited: Bool, name: String, call: HelperCall
    ) throws(HelperFault) {
        guard question.hasCredential else { return try handNow(question, to: process, waited: waited, name: name, call: call) }
        let (term, kill) = (configuration.cancelTerm, configuration.cancelKill)
        call.onCancel = { process.end(term: term, kill: kill) }
        process.isBusy = { call.isLive }
        whenContained(process) {
            guard call.isLive else { return }
            let isKept = process.containment?.hidesFolders ?? false
            if !isKept, process.isRunning { call.onWithheld() }
            self.begin(call, name) { () throws(HelperFault) in
                try self.handNow(
                    isKept ? question : question.withoutCredential(), to: process, waited: waited, name: name, call: call)
            }
        }
    }

    private func handNow(
        _ question: Question, to process: HelperProcess, waited: Bool, name: String, call: HelperCall
    ) throws(HelperFault) {
        do throws(HelperFault) {
            _ = try OneShot(question, name: name, process: process, waited: waited, call: call, configuration: configuration) {
                [weak self] in
                self?.countIgnored($0, name, call)
            }
        } catch {
            process.end(term: .zero, kill: configuration.cancelKill)
            throw error
        }
    }

    /// Runs the beginning of a command; what it throws is told in the next turn.
    func begin(_ call: HelperCall, _ name: String, _ body: () throws(HelperFault) -> Void) {
        do throws(HelperFault) {
            if isShut { throw HelperFault(.helperNotStarted, "the daemon is ending") }
            try body()
        } catch {
            later { call.complete(HelperOutcome.failed(error).named(name, standardError: nil)) }
        }
    }

    func later(_ delay: Duration = .zero, _ body: @escaping () -> Void) {
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

    private func recordGiven(_ question: Question, to name: String) {
        guard let new = HelperGiven(question) else { return }
        given[name] = HelperGiven.adding(new, to: given[name] ?? [])
    }
}
