import EventLoop
import Glibc
import Synchronization

/// Calls of hotspotctl to NetworkManager.
enum NetworkManager {
    private static let manager = SystemBus.Object(
        "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager")

    /// Returns NetworkManager's properties, which every user may read; `nil` if it does not run. Runs the event loop, which a program can do only
    /// once.
    static func properties() -> [String: BusValue]? {
        final class Box: Sendable { let properties = Mutex<[String: BusValue]?>(nil) }
        let box = Box()
        Task.detached(executorPreference: EventLoop.shared) { @LoopActor in
            guard let bus = try? SystemBus({ _ in }) else { return EventLoop.shared.stop() }
            bus.properties(of: manager) { properties in
                // This use keeps the connection alive until the reply has arrived.
                if bus.isOpen { box.properties.withLock { $0 = properties } }
                EventLoop.shared.stop()
            }
        }
        _ = try? EventLoop.shared.run()
        return box.properties.withLock { $0 }
    }

    /// Makes NetworkManager read its settings again; links stay up.
    static func reload() throws(Failure) {
        guard system("nmcli general reload conf >/dev/null 2>&1") == 0 else {
            throw Failure(
                .failed, "NetworkManager did not reload its settings.", hint: "sudo systemctl reload NetworkManager")
        }
    }
}
