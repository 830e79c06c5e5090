import EventLoop
import Glibc
import HotspotCore
import Varlink

/// Processes, from their start until nothing of them is left.
extension HelperHost {
    func start(
        _ exec: [String], _ kind: HelperProcess.Kind, names: [String], writable: [String]
    ) throws(HelperFault) -> HelperProcess {
        if isShut { throw HelperFault(.helperNotStarted, "the daemon is ending") }
        if let fault = untimeliness(of: names) { throw fault }
        let process = try HelperProcess(
            exec, kind: kind, names: names, writable: writable, scratch: scratch, launcher: launcher,
            configuration: configuration)
        let key = ObjectIdentifier(process)
        processes[key] = process
        process.onContained = { [weak self] containment in
            guard let self else { return }
            for name in names { containments[name] = containment }
            launcher.coversFolders = containment.hidesFolders
            onChange()
            for body in untilContained.removeValue(forKey: key) ?? [] { body() }
        }
        process.onGone = { [weak self, weak process] in
            guard let self, let process else { return }
            processes[key] = nil
            viewEnded(of: key)
            for body in untilContained.removeValue(forKey: key) ?? [] { body() }
            if process.containment?.leavesNothing != true { endOrphans() }
            onChange()
            finishShutDown()
        }
        onChange()
        return process
    }

    /// Ends processes that nobody waits for, at once.
    func end(_ processes: [HelperProcess]) {
        for process in processes {
            process.onRelief()
            process.end(term: .zero, kill: .zero)
        }
        // Nobody is to be asked who is about to be gone.
        prepared = prepared.filter { _, process in !processes.contains { $0 === process } }
    }

    /// Calls back as soon as a process has told how far it is shut in, which it does before the helper's program begins, or is gone.
    func whenContained(_ process: HelperProcess, _ body: @escaping () -> Void) {
        guard process.containment == nil, process.isRunning else { return body() }
        untilContained[ObjectIdentifier(process), default: []].append(body)
    }

    /// What keeps the helper from the folders of its `ReadWritePaths=`.
    public func pathProblems(of name: String) -> [Problem] {
        guard let spec = helpers.first(where: { $0.spec.name == name })?.spec else { return [] }
        return spec.readWritePaths.compactMap {
            launcher.writableFolders.refusal(of: $0, exec: spec.activation.exec ?? [], hidden: launcher.refused)
                ?? WritablePath.problem(with: $0, denied: containments[name]?.deniedPaths[Launcher.canonical($0)])
        }
    }

    /// Before the first helper: each will have a control group of its own, if the daemon's was given to it.
    func divideControlGroup() {
        let place = ControlGroupPlace.find(
            root: ControlGroupPlace.root, membership: ControlFile.read("/proc/self/cgroup") ?? "", process: getpid())
        launcher.groups = ControlGroups(dividing: place, process: getpid(), limits: configuration.limits)
        launcher.missesGroups = place != .none
    }

    // MARK: Orphans

    /// From now on whatever a helper starts stays below this process, also where there are no process namespaces: it is known as a
    /// helper's, it is ended, and it is reaped. For a process of which helpers are the only children.
    public func adoptOrphans() { adoptsOrphans = Lineage.keepOrphans() }

    /// A process without a namespace of its own has ended: what it started and lost has become ours. As long as another such process
    /// runs nobody can tell whose it is, so only what has ended is reaped.
    private func endOrphans() {
        guard adoptsOrphans else { return }
        let known = Set(processIDs)
        let isAlone = processes.values.allSatisfy { $0.containment?.leavesNothing == true }
        var left = false
        for orphan in Lineage.children where !known.contains(orphan) {
            if isAlone { kill(orphan, SIGKILL) }
            if waitpid(orphan, nil, WNOHANG) == 0 { left = true }
        }
        // Its own children come next.
        if left, isAlone { later(.milliseconds(20)) { [weak self] in self?.endOrphans() } }
    }

    // MARK: What is known of them

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

    /// What the helper's processes were given that is nobody else's business, as long as they run: one that serves many commands may
    /// repeat in the next network what it was told in this one.
    public func secrets(givenTo name: String) -> Set<String> {
        processes.values.filter { $0.names.contains(name) }.reduce(into: []) { $0.formUnion($1.tail.given) }
    }

    /// The processes as the daemon sees them; the init where there is one.
    var processIDs: [pid_t] { processes.values.map(\.processID) }

    /// It is the first process of a helper that runs: what descends from it is that helper's.
    public func isHelper(process: pid_t) -> Bool { processes.values.contains { $0.processID == process } }

    /// What a process is to the daemon by its control group, which no helper can leave; `nil` where that says nothing, as helpers have no
    /// groups.
    public func descent(of process: pid_t) -> Lineage.Descent? {
        guard let groups = launcher.groups else { return nil }
        switch groups.place(of: process) {
        case .outside: return .foreign
        case .daemon: return nil
        case .helper(let group): return processes.values.first { $0.group == group }.map { .child($0.processID) } ?? .unclear
        case nil: return .unclear
        }
    }

    /// How many processes run.
    public var processCount: Int { processes.count }

    // MARK: The end

    /// Ends everything. Commands on their way fail as crashed; the completion is called when no process is left, and
    /// no file of one unless that takes long.
    public func shutDown(_ completion: @escaping () -> Void) {
        isShut = true
        onShut = completion
        prepared = [:]
        for expiry in expiries.values { expiry.cancel() }
        expiries = [:]
        regroup()
        for process in processes.values { process.end(term: .zero, kill: configuration.cancelKill) }
        if processes.isEmpty { later { self.finishShutDown() } }
    }

    private func finishShutDown() {
        guard isShut, processes.isEmpty, let onShut else { return }
        self.onShut = nil
        // What is left then is removed at the next start; connections could not be ended by anybody then.
        let finish = { [scratch] in scratch.finish(within: .seconds(2), onShut) }
        guard let groups = launcher.groups else { return finish() }
        groups.finish(within: LeftSockets.grace + .milliseconds(500), finish)
    }
}
