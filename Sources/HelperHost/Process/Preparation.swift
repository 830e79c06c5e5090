import EventLoop
import HotspotCore

/// Processes that are started before they are asked, so that their start-up hides behind association and DHCP.
///
/// Each interface has its own wishes; a process stays as long as one of them still wants it. A wish that is neither used nor withdrawn
/// (an association that never gets an address) ends by itself (R2).
@LoopActor final class Preparation {
    private let configuration: HostConfiguration
    /// The waiting processes of helpers that serve one command each.
    private var processes: [String: HelperProcess] = [:]
    /// Helpers whose processes start in one of the next turns of the loop.
    private var pending: Set<String> = []
    private var wanted: [Int: Set<String>] = [:]
    private var expiries: [Int: EventSource] = [:]

    init(configuration: HostConfiguration) { self.configuration = configuration }

    /// Notes that the interface may soon ask these helpers. What it wanted before stays wanted.
    func want(_ names: [String], for interface: Int, onExpiry: @escaping () -> Void) {
        wanted[interface, default: []].formUnion(names)
        expiries[interface] = try? EventLoop.shared.schedule(
            after: configuration.preparation, accuracy: .seconds(1), onExpiry)
    }

    func expect(_ name: String) { pending.insert(name) }

    /// Whether the process is still to be started; it was not, where the helper was asked or is not wanted any more.
    func claim(_ name: String) -> Bool { pending.remove(name) != nil }

    func hasProcess(_ name: String) -> Bool { processes[name] != nil }

    func add(_ process: HelperProcess, for name: String) {
        processes[name] = process
        process.onExit = { [weak self, weak process] in
            if let self, processes[name] === process { processes[name] = nil }
        }
    }

    /// Hands over the process that waits for this helper's command, if there is one.
    func use(_ name: String) -> HelperProcess? {
        pending.remove(name)
        return processes.removeValue(forKey: name).flatMap { $0.isRunning ? $0 : nil }
    }

    /// Withdraws the interface's wishes, and ends what was prepared for it alone. Returns the helpers that no interface wants any more.
    func standDown(interface: Int) -> Set<String> {
        expiries.removeValue(forKey: interface)?.cancel()
        guard let names = wanted.removeValue(forKey: interface) else { return [] }
        let unwanted = names.subtracting(wanted.values.joined())
        for name in unwanted { end(name) }
        return unwanted
    }

    func isWanted(_ name: String) -> Bool { wanted.values.contains { $0.contains(name) } }

    /// Ends the process of a helper whose file is another one now.
    func end(_ name: String) {
        pending.remove(name)
        processes.removeValue(forKey: name)?.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
    }

    func shutDown() {
        processes = [:]
        pending = []
        for expiry in expiries.values { expiry.cancel() }
        expiries = [:]
    }
}
