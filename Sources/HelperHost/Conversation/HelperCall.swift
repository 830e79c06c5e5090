import EventLoop
import HotspotCore

/// One command on its way. It lives until its completion was called or it was cancelled; dropping the handle changes nothing.
@LoopActor public final class HelperCall {
    /// What cancelling does: to the command, or to a process that has answered and not ended yet.
    var onCancel: (() -> Void)?
    /// The host's: the question was sent, as it is here.
    var onSent: (Question) -> Void = { _ in }
    /// Called at most once, when nothing can come any more, with the number of answers that came too late or too often and changed
    /// nothing (D18).
    public var onIgnored: (Int) -> Void = { _ in }
    /// The host's: asks once more after a while, because there was no room for a process; `false` if that was tried often enough.
    var onNoRoom: () -> Bool = { false }
    /// Between two attempts: late output of the first one is ignored.
    var isPausing = false
    private var completion: ((HelperOutcome) -> Void)?

    init(completion: @escaping (HelperOutcome) -> Void) { self.completion = completion }

    /// The completion may still be called.
    public var isLive: Bool { completion != nil }

    /// Ends the command: the helper reads end-of-file at once, and a process for this command alone gets SIGTERM after 20 ms and
    /// SIGKILL after 60 ms, also if it has answered and is still there. The completion is not called any more, also when an answer is
    /// already on its way.
    public func cancel() {
        completion = nil
        releaseRetry()
        let onCancel = onCancel
        self.onCancel = nil
        onCancel?()
    }

    /// - Parameter lingering: what cancelling does from now on.
    func complete(_ outcome: HelperOutcome, lingering: (() -> Void)? = nil) {
        guard let completion, !isPausing else { return }
        if case .failed(let fault) = outcome, fault.isLackOfRoom {
            // Before it is asked, since it may be asked in this very turn.
            (isPausing, onCancel) = (true, nil)
            if onNoRoom() { return }
            isPausing = false
        }
        self.completion = nil
        releaseRetry()
        onCancel = lingering
        completion(outcome)
    }

    /// The closure that would begin it once more holds the call itself.
    private func releaseRetry() { onNoRoom = { false } }
}
