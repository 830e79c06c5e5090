import EventLoop
import HotspotCore

/// What the kernel counts by user, a helper shares with the daemon: it may take all that there is.
extension HelperHost {
    /// Something of this kind has run out, and nobody knows who has it. Every process is ended at once that nobody waits for: one
    /// that idles, was prepared, lingers, or is about to end anyway. Those are started anew when they are needed; what they had
    /// taken is free when they are gone. At most once in ``HostConfiguration/reliefInterval``.
    func relieve(of what: String) {
        guard !isShut else { return }
        if let lastRelief, EventLoop.now - lastRelief < configuration.reliefInterval { return }
        let idle = processes.values.filter { $0.isRunning && !$0.isBusy() }
        guard !idle.isEmpty else { return }
        lastRelief = EventLoop.now
        end(idle)
        onRelief(Set(idle.flatMap(\.names)).sorted(), what)
    }
}
