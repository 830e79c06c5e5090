import EventLoop
import Glibc
import HotspotCore
import Varlink

/// Starts helpers, asks them, and ends them.
///
/// It has no deadlines: its caller cancels. It keeps a secret no longer than the process that received it. It reaps every process that it starts, and
/// none outlives ``shutDown(_:)`` or the daemon.
@LoopActor public final class HelperHost {
    /// The name of the prober's socket, which no helper may have.
    public nonisolated static let proberName = "probe"

    public internal(set) var configuration: HostConfiguration
    public private(set) var helpers: [HelperEntry] = []
    /// Called when the running processes, or the facts about the sandbox, have changed.
    public var onChange: () -> Void = {}
    /// Answers that came too late or too often, by helper (D18).
    public private(set) var ignoredAnswers: [String: Int] = [:]
    /// The networks that were sent to each helper, the newest first.
    public private(set) var given: [String: [Disclosure]] = [:]
    /// The reason why no helper can be started; `nil` while the sandbox works, and before it was tried.
    public internal(set) var sandboxProblem: Problem?

    private var byName: [String: HelperEntry] = [:]
    private var prober: [String]?
    /// The programs that serve helpers with `Activation=socket`, and the prober.
    private var programs: [String: Program] = [:]
    /// The shared programs, each made at its first question. A program that also answers the scan list has a second process, without a network.
    private var shared: [Program: SharedProgram] = [:]
    private let preparation: Preparation
    var processes: [ObjectIdentifier: HelperProcess] = [:]
    /// Processes that are still to be started.
    private var starts: [() -> Void] = []
    /// The descriptor of the system-call filter, or -1.
    var filter: Int32 = -1
    /// The browsers of helpers.
    public private(set) lazy var browsers = BrowserHost(self)
    let resolver: ResolverFile
    /// For tests: the error number with which the kernel refuses a start, or 0.
    var startRefusal: () -> Int32 = { 0 }
    private(set) var isShut = false
    private var onShut: (() -> Void)?

    /// Opens files that this process can no longer open once it has forbidden core dumps (prctl(2), PR_SET_DUMPABLE).
    public nonisolated static func openFiles() { _ = Spawn.scoreFile }

    /// Makes the folders. SIGPIPE is ignored in the process from now on: a helper that ends must not end the daemon.
    public init(configuration: HostConfiguration) {
        self.configuration = configuration
        preparation = Preparation(configuration: configuration)
        signal(SIGPIPE, SIG_IGN)
        resolver = ResolverFile(path: configuration.runtimeDirectory + "/helpers/resolv.conf")
        makeFolders()
    }

    isolated deinit { if filter >= 0 { close(filter) } }

    /// Makes the folders, including those that another program removed; programs whose sockets were in them start again for their
    /// next command.
    public func makeFolders() {
        mkdir(configuration.runtimeDirectory, 0o755)
        mkdir(configuration.runtimeDirectory + "/helpers", 0o700)
        for program in shared.values { program.retire() }
        browsers.listen()
    }

    // MARK: The helpers

    /// Hides these paths, instead of ``HostConfiguration/hiddenPaths``, from processes that start from now on.
    public func hide(_ paths: [String]) { configuration.hiddenPaths = paths + [configuration.runtimeDirectory] }

    /// Adopts the helpers that the folders offer now. Running commands finish first; unchanged helpers keep their processes.
    public func setHelpers(_ entries: [HelperEntry]) {
        let before = byName
        helpers = entries
        byName = Dictionary(entries.map { ($0.spec.name, $0) }, uniquingKeysWith: { first, _ in first })
        for name in before.keys where before[name] != byName[name] { preparation.end(name) }
        given = given.filter { byName[$0.key] != nil }
        groupServices()
    }

    /// Sets the program that answers ``probe(parameters:completion:)``. If a helper has the same command line, the prober and the helper share a
    /// process.
    public func setProber(exec: [String]?) {
        prober = exec
        groupServices()
    }

    private func groupServices() {
        programs = isShut ? [:] : Program.shared(of: helpers.map(\.spec), prober: prober)
        let wanted = Set(programs.values.flatMap { [$0, $0.withoutNetwork] })
        for (program, running) in shared where !wanted.contains(program) {
            shared[program] = nil
            running.retire()
        }
    }

    func spec(_ name: String) -> HelperSpec? { byName[name]?.spec }

    /// Returns the running program that answers under this name, and starts one if there is none.
    private func sharedProgram(_ name: String, hasNetwork: Bool = true) throws(HelperFault) -> SharedProgram {
        guard let named = programs[name] else { throw HelperFault(.helperNotStarted, "there is no socket for it") }
        let program = hasNetwork ? named : named.withoutNetwork
        if let known = shared[program], !known.isRetired { return known }
        let started = try SharedProgram(program.names, configuration) { listeners throws(HelperFault) in
            try start(program, listeners)
        }
        if program.browses { started.isBrowsing = { [weak self] in self?.browsers.running ?? 0 > 0 } }
        shared[program] = started
        return started
    }

    // MARK: Processes that wait

    /// Starts the helpers that will be asked, so that they are ready when the network is joined. If there are many, they start over several turns of
    /// the loop.
    public func prepare(_ names: [String], for interface: Int = 0) {
        guard !isShut else { return }
        preparation.want(names + [Self.proberName], for: interface) { [weak self] in self?.standDown(interface: interface) }
        // The prober starts first, because its verdict is needed to judge every answer.
        if prober != nil { _ = try? sharedProgram(Self.proberName) }
        for name in names {
            startLater { [weak self] in
                if let self, preparation.lacks(name) { prepare(name) }
            }
        }
    }

    /// Starts the program that answers probes and also serves hotspotd's own helpers. It waits for the interface's next network until
    /// ``standDown(interface:)``, however long that takes.
    public func awaitNetwork(on interface: Int) {
        guard !isShut, let program = programs[Self.proberName] else { return }
        _ = Rehearsal.isComplete
        preparation.want(program.names, for: interface, onExpiry: nil)
        // A program that has served commands is replaced, because it ends soon and may know secrets of the last network.
        if let known = shared[program], known.wasAsked { known.retire() }
        (try? sharedProgram(Self.proberName))?.awaitCommand()
    }

    /// Starts a helper's process. If that fails, the first command reports it.
    private func prepare(_ name: String) {
        switch spec(name)?.activation {
        case .stdio:
            if let process = try? start(oneShot(name)) { preparation.add(process, for: name) }
        case .socket: _ = try? sharedProgram(name)
        case .external, nil: break
        }
    }

    /// Ends the services that received secrets, once their commands are done: the portal of the next network must not read the secrets of the last
    /// network (R1). New processes replace them, because the next network may come at once.
    public func forgetSecrets() {
        for (program, told) in shared where !told.process.tail.given.isEmpty {
            told.retire()
            guard let name = program.names.first else { continue }
            (try? sharedProgram(name, hasNetwork: program.hasNetwork))?.limitTime()
        }
    }

    /// Ends the unused processes that were prepared only for this interface.
    public func standDown(interface: Int) {
        // Keep a shared process while another interface wants one of its helpers.
        for name in preparation.standDown(interface: interface) {
            guard let program = programs[name], !program.names.contains(where: preparation.isWanted) else { continue }
            shared[program]?.standDown()
        }
    }

    private func oneShot(_ name: String, hasNetwork: Bool = true) -> Program {
        var program = Program(exec: spec(name)?.activation.exec ?? [], names: [name], hasNetwork: hasNetwork)
        (program.readPaths, program.readWritePaths) = (spec(name)?.readPaths ?? [], spec(name)?.readWritePaths ?? [])
        program.browses = hasNetwork && spec(name)?.browses == true
        return program
    }

    // MARK: Commands

    /// Sends a command. The completion is called once, never before this method returns, and not after ``HelperCall/cancel()``.
    @discardableResult public func send(
        _ command: Command, to helper: String, parameters: JSONValue, completion: @escaping (HelperOutcome) -> Void
    ) -> HelperCall {
        var question = Question(method: command.method, parameters: parameters, command: command)
        // The scan list is answered without network access.
        question.hasNetwork = command != .filterScanList
        return ask(question, of: helper, completion)
    }

    /// Asks a helper for its name and version; the outcome is a ``HelperOutcome/value(_:)``.
    @discardableResult public func describe(_ helper: String, completion: @escaping (HelperOutcome) -> Void) -> HelperCall {
        ask(Question(method: "org.hotspotd.Helper.Describe", parameters: [:]), of: helper, completion)
    }

    /// Asks the prober; the outcome is a ``HelperOutcome/value(_:)`` of the type in `org.hotspotd.Probe.varlink`.
    @discardableResult public func probe(parameters: JSONValue, completion: @escaping (HelperOutcome) -> Void) -> HelperCall {
        let question = Question(method: "org.hotspotd.Probe.Probe", parameters: parameters)
        return ask(question, of: Self.proberName, completion)
    }

    private func ask(_ question: Question, of name: String, _ completion: @escaping (HelperOutcome) -> Void) -> HelperCall {
        let call = HelperCall(question, to: name, host: self, completion: completion)
        begin(call)
        return call
    }

    /// Begins a command; failures are reported in the next turn.
    func begin(_ call: HelperCall) {
        do throws(HelperFault) { try deliver(call) } catch {
            EventLoop.shared.later { call.complete(.failed(error)) }
        }
    }

    private func deliver(_ call: HelperCall) throws(HelperFault) {
        let (name, question) = (call.name, call.question)
        if isShut { throw HelperFault(.helperNotStarted, "the daemon is ending") }
        if name == Self.proberName {
            guard prober != nil else { throw HelperFault(.helperNotStarted, "there is no prober") }
            return try sharedProgram(name).send(call)
        }
        guard let spec = spec(name) else { throw HelperFault(.helperNotStarted, "there is no such helper") }
        if question.hasCredential, spec.activation.exec != nil, configuration.containment == .none {
            throw HelperFault(.helperNotStarted, "it runs without a sandbox, so it gets no stored answers")
        }
        resolver.update()
        switch spec.activation {
        case .stdio:
            if question.hasNetwork, let waiting = preparation.use(name) { return try hand(call, to: waiting, waited: true) }
            startLater {
                // A call that was cancelled before its turn starts nothing.
                guard call.isLive else { return }
                do throws(HelperFault) {
                    try self.hand(call, to: self.start(self.oneShot(name, hasNetwork: question.hasNetwork)), waited: false)
                } catch { call.complete(.failed(error)) }
            }
        case .socket: try sharedProgram(name, hasNetwork: question.hasNetwork).send(call)
        case .external(let path):
            try PathTrust.check(path: path)
            _ = try Exchange(call, with: .external, at: path, configuration)
        }
    }

    /// Sends a question to a process that was started for it.
    ///
    /// - Parameter waited: whether the process was started before there was a question. If so, output that it has already written is a fault.
    private func hand(_ call: HelperCall, to process: HelperProcess, waited: Bool) throws(HelperFault) {
        guard let streams = process.takeStreams() else { throw process.unanswered("its process has already ended") }
        do throws(HelperFault) {
            if waited, ChildPipe.isReadable(streams.fromHelper) {
                close(streams.toHelper)
                close(streams.fromHelper)
                throw HelperFault(.helperMalformed, "it answered before it was asked")
            }
            _ = try Exchange(call, with: .process(process), input: streams.fromHelper, output: streams.toHelper, configuration)
        } catch {
            process.end(term: .zero, kill: configuration.cancelKill)
            throw error
        }
    }

    /// Starts a process in a turn of its own: two hundred starts at once would block everything else. Each start is followed by a new turn, so that
    /// clients' requests are served in between.
    private func startLater(_ body: @escaping () -> Void) {
        starts.append(body)
        if starts.count == 1 { EventLoop.shared.later(priority: 10, startNext) }
    }

    private func startNext() {
        starts[0]()
        starts.removeFirst()
        if !starts.isEmpty { EventLoop.shared.later(priority: 10, startNext) }
    }

    // MARK: Data sent to helpers, and ignored answers

    func countIgnored(_ count: Int, _ name: String) { ignoredAnswers[name, default: 0] += count }

    func recordGiven(_ question: Question, to name: String) {
        guard name != Self.proberName, let new = Disclosure(question) else { return }
        given[name] = Disclosure.adding(new, to: given[name] ?? [])
    }

    /// Forgets which networks were sent to helpers.
    public func forgetGiven() { given = [:] }

    /// Forgets that the network with this name was sent to helpers.
    public func forgetGiven(of network: String) {
        given = given.mapValues { all in all.compactMap { $0.without(network) } }
    }

    // MARK: The end

    /// Ends everything. Running commands fail as crashed; the completion is called when no process is left.
    public func shutDown(_ completion: @escaping () -> Void) {
        isShut = true
        onShut = completion
        preparation.shutDown()
        browsers.stop()
        groupServices()
        for process in processes.values { process.end(term: .zero, kill: configuration.cancelKill) }
        if processes.isEmpty { EventLoop.shared.later { self.finishShutDown() } }
    }

    func finishShutDown() {
        guard isShut, processes.isEmpty, let onShut else { return }
        self.onShut = nil
        unlink(resolver.path)
        onShut()
    }
}
