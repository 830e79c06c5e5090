import CLinux
import EventLoop
import ForeignText
import Glibc
import HotspotCore

/// The processes of helpers, and their properties.
extension HelperHost {
    /// Starts a program: if it has sockets, for many commands; otherwise with pipes for one command.
    func start(_ program: Program, _ listeners: [SharedProgram.Listener] = []) throws(HelperFault) -> HelperProcess {
        if isShut { throw HelperFault(.helperNotStarted, "the daemon is ending") }
        let isContained = configuration.containment == .sandbox
        if isContained { try makeFilter() }
        let refusal = startRefusal()
        if refusal != 0 { throw HelperFault.refused(refusal) }
        resolver.update()
        var sandbox = sandbox(program, listeners: listeners.count)
        var variables: [String] = []
        if program.browses, isContained, let socket = browsers.socket {
            variables = ["\(BrowserHost.variable)=\(socket)"]
            if !socket.isEmpty { sandbox.browserSocket = socket }
        }
        return try start(sandbox, filter: isContained ? filter : nil, listeners, names: program.names, variables: variables)
    }

    /// Makes the system-call filter at the first start; if that fails, the next start tries again. A failure causes no strike against the helper.
    private func makeFilter() throws(HelperFault) {
        guard filter < 0 else { return }
        do throws(Errno) { filter = try SystemCallFilter.make() } catch {
            throw HelperFault(.helperNoRoom, "its system-call filter could not be made: \(error)")
        }
    }

    /// Starts a process, and keeps it until it has ended.
    func start(
        _ sandbox: Sandbox, filter: Int32?, _ listeners: [SharedProgram.Listener], names: [String], variables: [String] = []
    ) throws(HelperFault) -> HelperProcess {
        let process = try HelperProcess(
            sandbox, filter: filter, listeners: listeners, names: names, variables: variables,
            errorLimit: configuration.limits.standardError)
        let key = ObjectIdentifier(process)
        processes[key] = process
        process.onGone = { [weak self] in
            guard let self else { return }
            processes[key] = nil
            // Large answers fragment the heap: without this call, 100 answers occupied 25 MB for as long as the daemon ran.
            if processes.isEmpty { malloc_trim(0) }
            onChange()
            finishShutDown()
        }
        onChange()
        return process
    }

    private func sandbox(_ program: Program, listeners: Int = 0) -> Sandbox {
        var limits = configuration.limits
        // For each connection of its browser, the helper's proxy needs a thread and two descriptors.
        if program.browses { (limits.processes, limits.descriptors) = (160, 512) }
        return Sandbox(
            exec: program.exec, readPaths: program.readPaths.filter(isReadable),
            readWritePaths: program.readWritePaths.filter {
                WritablePath.refusal(of: $0, hidden: configuration.hiddenPaths) == nil
            },
            hasNetwork: program.hasNetwork, listeners: listeners,
            processorTime: listeners > 0 ? limits.serviceProcessorTime : limits.processorTime, limits: limits,
            hiddenPaths: configuration.hiddenPaths, helperSocket: configuration.helperSocket, resolverFile: resolver.path)
    }

    /// Returns the folders and files that a helper with this command line sees as its own.
    public func ownPaths(of exec: [String]) -> [String] { sandbox(Program(exec: exec, names: [])).ownPaths }

    /// Returns whether a path of `ReadPaths=` may be shown: it belongs neither to the daemon nor to the sandbox's own folders.
    private func isReadable(_ path: String) -> Bool {
        let canonical = FilePath.canonical(path)
        let refused = configuration.hiddenPaths.map(FilePath.canonical) + ["/proc", "/sys", "/dev"]
        return !["/", "/tmp", "/run"].contains(canonical) && !refused.contains { FilePath.isWithin(canonical, $0) }
    }

    // MARK: The sandbox

    /// Tries the sandbox once with a program that does nothing, so that ``sandboxProblem`` is known before the first login.
    public func trySandbox() {
        guard configuration.containment == .sandbox else { return }
        do throws(HelperFault) {
            let process = try start(Program(exec: ["/usr/bin/true"], names: []))
            process.keepsLabel = true
            process.onExit = { [weak self, weak process] in self?.tried(process?.failure, process?.label) }
            process.end(term: .seconds(10), kill: .seconds(10))
        } catch { tried(error.sentence, nil) }
    }

    private func tried(_ failure: String?, _ label: String?) {
        guard !isShut else { return }
        sandboxProblem = failure.map(SandboxRefusal.ofThisComputer(label: label).problem)
        onChange()
    }

    /// Returns whether the helper runs in one of the daemon's sandboxes.
    public func isSandboxed(_ name: String) -> Bool {
        spec(name)?.activation.exec != nil && configuration.containment == .sandbox && sandboxProblem == nil
    }

    /// Returns the reasons why the helper runs without a sandbox, or cannot run.
    public func missingContainment(of name: String) -> [String] {
        if case .external = spec(name)?.activation { return [] }
        if configuration.containment == .none { return ["Containment=none (the helper gets no stored answers)"] }
        return sandboxProblem.map { [$0.message] } ?? []
    }

    /// Whether the helper may get stored answers: the daemon starts it in a sandbox, or a trusted user runs it.
    public func mayHaveCredentials(_ name: String) -> Bool {
        guard case .external(let path) = spec(name)?.activation else { return configuration.containment == .sandbox }
        return (try? PathTrust.check(path: path)) != nil
    }

    /// Returns one problem for each path of `ReadWritePaths=` to which the helper cannot write, and of `ReadPaths=` that it may not see. A missing
    /// path of `ReadPaths=` is not a problem.
    public func pathProblems(of name: String) -> [Problem] {
        guard let spec = spec(name) else { return [] }
        let unseen = spec.readPaths.filter { !isReadable($0) }.map {
            Problem(
                .helperPathRefused, "ReadPaths= contains \(Printable.text($0, limit: 200)), which helpers may not see.",
                hint: "name the helper's own folders and files, separated by spaces")
        }
        return unseen
            + spec.readWritePaths.compactMap {
                WritablePath.refusal(of: $0, hidden: configuration.hiddenPaths) ?? WritablePath.problem(with: $0)
            }
    }

    // MARK: Processes

    /// The helpers that the process with this token serves, as long as it runs; none for an unknown token.
    public func helperNames(forToken token: String) -> [String] {
        processes.values.first { $0.token == token && $0.isRunning }?.names.filter { $0 != Self.proberName } ?? []
    }

    public func isRunning(_ name: String) -> Bool { processes.values.contains { $0.names.contains(name) } }

    public var processCount: Int { processes.count }

    /// Returns the secrets that the helper's running processes received: a process that serves many commands may repeat them in the next network.
    public func secrets(givenTo name: String) -> Set<String> {
        processes.values.filter { $0.names.contains(name) }.reduce(into: []) { $0.formUnion($1.tail.given) }
    }
}
