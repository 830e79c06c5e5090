import EventLoop
import HotspotCore

/// Processes that were started before something was to be kept from them: a helper's folders, its program, settings.
///
/// What a process sees is decided at its start. So whoever could see or write more than it may now gets no further command, and ends as
/// soon as nobody waits for it; and a helper whose file is new is not started before that.
extension HelperHost {
    /// The helpers or the settings are other ones than before.
    ///
    /// - Parameter new: the helpers whose file is new or has changed.
    func renewViews(for new: [String]) {
        let outdated = processes.filter { _, process in
            if process.isRunning, !process.isOutdated { process.isOutdated = launcher.isOutdated(process) }
            return process.isRunning && process.isOutdated
        }
        guard !outdated.isEmpty else { return }
        for name in new { awaitedEnds[name, default: []].formUnion(outdated.keys) }
        end(outdated.values.filter { !$0.isBusy() })
    }

    /// A process is gone, and whoever was not to be seen by it may begin.
    func viewEnded(of process: ObjectIdentifier) {
        for name in awaitedEnds.keys {
            awaitedEnds[name]?.remove(process)
            if awaitedEnds[name]?.isEmpty == true { awaitedEnds[name] = nil }
        }
    }

    /// Why none of these is to be started yet; `nil` if nothing is in the way.
    func untimeliness(of names: [String]) -> HelperFault? {
        guard names.contains(where: { awaitedEnds[$0] != nil }) else { return nil }
        return HelperFault(
            .helperNoRoom, "its file is new, and a helper that was started before it, and could see too much, is still at work")
    }
}

extension Launcher {
    /// Whether a process sees or may write what it would not if it were started now.
    func isOutdated(_ process: HelperProcess) -> Bool {
        process.view.goesBeyond(view(exec: process.exec, writable: process.readWritePaths))
    }
}
