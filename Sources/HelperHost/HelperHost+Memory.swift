import CLaunch
import EventLoop
import HotspotCore

/// What large answers leave behind.
///
/// Nothing of an answer is kept but what it says, cut to size. The allocator keeps its pages all the same, spread over all that
/// was read at the same time: a hundred answers of 1 MB left some 60 MB with a daemon that needs 8.
extension HelperHost {
    /// Octets of answers after which memory is worth giving back. No honest race has as many.
    nonisolated static let tidyAfter = 8 << 20
    /// From then to when it is given back: the other answers of the race come meanwhile, and who has answered is gone.
    nonisolated static let tidyDelay = Duration.seconds(2)

    func countReceived(_ count: Int) {
        received += count
        guard received > Self.tidyAfter, tidying == nil else { return }
        tidying = try? EventLoop.shared.schedule(after: Self.tidyDelay, accuracy: .milliseconds(100)) { [weak self] in
            guard let self else { return }
            tidying = nil
            received = 0
            launch_trim()
        }
    }
}
