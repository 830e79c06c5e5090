import EventLoop
import HotspotCore

/// One command on its way. It lives until its completion was called or it was cancelled; dropping the handle changes nothing.
@LoopActor public final class HelperCall {
    let name: String
    let question: Question
    /// Cancels the command, or ends a process that has answered and is still there.
    var onCancel: (() -> Void)?
    /// Called at most once, when nothing can come any more, with the number of answers that came too late or too often and changed
    /// nothing (D18).
    public var onIgnored: (Int) -> Void = { _ in }
    /// The pauses that are left before further attempts.
    var pauses: ArraySlice<Duration>
    /// Between two attempts: late output of the first one is ignored.
    var isPausing = false
    /// The secrets that a helper was sent.
    private(set) var secrets: [String] = []
    private weak var host: HelperHost?
    private var completion: ((HelperOutcome) -> Void)?

    init(_ question: Question, to name: String, host: HelperHost, completion: @escaping (HelperOutcome) -> Void) {
        self.question = question
        self.name = name
        self.host = host
        self.completion = completion
        pauses = host.retryPauses[...]
    }

    /// The completion may still be called.
    public var isLive: Bool { completion != nil }

    /// Ends the command: the helper reads end-of-file at once, and a process for this command alone gets SIGTERM after 20 ms and
    /// SIGKILL after 60 ms, also if it has answered and is still there. The completion is not called any more, also when an answer is
    /// already on its way.
    public func cancel() {
        completion = nil
        let onCancel = onCancel
        self.onCancel = nil
        onCancel?()
    }

    func sent() {
        secrets = question.parameters.secrets
        host?.recordGiven(question, to: name)
    }

    /// Nothing can come any more.
    func countIgnored(_ count: Int) {
        guard count > 0 else { return }
        host?.countIgnored(count, name)
        onIgnored(count)
    }

    func fail(_ fault: HelperFault, standardError: String? = nil) { complete(.failed(fault), standardError: standardError) }

    /// Calls the completion. A fault gets the helper's name and what it wrote to standard error, and loses the secrets that were sent,
    /// which it may quote (R3).
    ///
    /// - Parameter lingering: what cancelling does from now on.
    func complete(_ outcome: HelperOutcome, standardError: String? = nil, lingering: (() -> Void)? = nil) {
        guard let completion, !isPausing else { return }
        var outcome = outcome
        if case .failed(let fault) = outcome {
            if fault.isLackOfRoom, host?.retry(self) == true { return }
            outcome = .failed(
                HelperFault(
                    fault.code, "\(name): \(fault.sentence)", standardError: standardError ?? fault.standardError,
                    cause: fault.cause
                ).masked(Secrets(secrets)))
        }
        self.completion = nil
        onCancel = lingering
        completion(outcome)
    }
}
