import EventLoop
import HotspotCore

/// Starts that fail because the machine has no room for another process.
///
/// The room may be taken by those who have just lost the race and are on their way out, and the one who finds none is the winner.
/// So the same command begins anew: first when whoever was cancelled is gone, then with growing pauses, as long as somebody waits
/// for it.
extension HelperHost {
    /// The pauses before the further attempts, two seconds in all. The first is a cancellation's and a little.
    var patience: [Duration] {
        [configuration.cancelKill + .milliseconds(10)] + [120, 240, 480, 1080].map { .milliseconds($0) }
    }

    /// Begins a command, and again while there is no room for its process.
    ///
    /// - Parameter body: begins it; it may run more than once.
    func beginPatiently(_ call: HelperCall, _ name: String, _ body: @escaping () throws(HelperFault) -> Void) {
        var pauses = patience[...]
        call.onNoRoom = { [weak self, weak call] in
            guard let self, let call, !isShut, let pause = pauses.popFirst() else { return false }
            if untimeliness(of: [name]) == nil { relieve(of: "processes, threads or memory") }
            later(pause) { [weak self] in
                guard let self, call.isLive else { return }
                call.isPausing = false
                begin(call, name, body)
            }
            return true
        }
        begin(call, name, body)
    }
}
