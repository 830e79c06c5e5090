import EventLoop
import HotspotCore

/// One command on its way. It lives until its completion was called or it was cancelled; dropping the handle changes nothing.
@LoopActor public final class HelperCall {
    var onCancel: (() -> Void)?
    /// Called at most once, when nothing can come any more: so many answers came too late or too often, and changed nothing (D18).
    public var onIgnored: (Int) -> Void = { _ in }
    private var completion: ((HelperOutcome) -> Void)?

    init(completion: @escaping (HelperOutcome) -> Void) { self.completion = completion }

    /// The completion may still be called.
    public var isLive: Bool { completion != nil }

    /// Ends the command: the helper reads end-of-file at once, and a process for this command alone gets SIGTERM after 20 ms and
    /// SIGKILL after 60 ms. The completion is not called any more, also when an answer is already on its way.
    public func cancel() {
        guard completion != nil else { return }
        completion = nil
        let onCancel = onCancel
        self.onCancel = nil
        onCancel?()
    }

    func complete(_ outcome: HelperOutcome) {
        guard let completion else { return }
        self.completion = nil
        onCancel = nil
        completion(outcome)
    }
}
