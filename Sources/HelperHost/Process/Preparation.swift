import EventLoop
import HotspotCore

/// Starts processes before their first command, so that they start up while the network is joined.
///
/// Each interface names the helpers that it wants; a process stays as long as any interface wants it. If a wish is neither used nor withdrawn,
/// because an association never gets an address, it expires (R2).
@LoopActor final class Preparation {
    private let configuration: HostConfiguration
    /// The waiting processes of helpers that serve one command each.
    private var processes: [String: HelperProcess] = [:]
    private var wanted: [Int: (names: Set<String>, expiry: EventSource?)] = [:]

    init(configuration: HostConfiguration) { self.configuration = configuration }

    /// Notes that the interface may soon ask these helpers. Earlier wishes stay.
    ///
    /// - Parameter onExpiry: called if the helpers were not asked for some time; `nil` if the wish lasts until it is withdrawn.
    func want(_ names: [String], for interface: Int, onExpiry: (() -> Void)?) {
        let expiry = onExpiry.flatMap {
            try? EventLoop.shared.schedule(after: configuration.preparation, accuracy: .seconds(1), $0)
        }
        wanted[interface] = (wanted[interface]?.names.union(names) ?? Set(names), expiry)
    }

    /// Returns whether the helper is wanted and has no waiting process.
    func lacks(_ name: String) -> Bool { isWanted(name) && processes[name] == nil }

    func add(_ process: HelperProcess, for name: String) {
        processes[name] = process
        process.onExit = { [weak self, weak process] in
            if let self, processes[name] === process { processes[name] = nil }
        }
    }

    /// Hands over the process that waits for this helper's command, if there is one, and drops the wish.
    func use(_ name: String) -> HelperProcess? {
        for interface in wanted.keys { wanted[interface]?.names.remove(name) }
        return processes.removeValue(forKey: name)
    }

    /// Withdraws the interface's wishes, and ends the processes that only it wanted. Returns the helpers that no interface wants any longer.
    func standDown(interface: Int) -> Set<String> {
        let unwanted = (wanted.removeValue(forKey: interface)?.names ?? []).filter { !isWanted($0) }
        for name in unwanted { end(name) }
        return unwanted
    }

    func isWanted(_ name: String) -> Bool { wanted.values.contains { $0.names.contains(name) } }

    /// Ends the process that waits for this helper's command, if there is one, and drops the wish.
    func end(_ name: String) { use(name)?.end(term: configuration.cancelTerm, kill: configuration.cancelKill) }

    func shutDown() { (processes, wanted) = ([:], [:]) }
}
