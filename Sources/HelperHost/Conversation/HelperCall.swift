import EventLoop
import ForeignText
import HotspotCore

/// A command whose outcome is open. It lives until its completion was called or it was cancelled; dropping the handle does not cancel it.
@LoopActor public final class HelperCall {
    let name: String
    let question: Question
    /// Cancels the command, or ends a process that has answered and still runs.
    var onCancel: (() -> Void)?
    /// Called at most once, when no further answer can come, with the number of ignored answers: those that came too late or repeatedly (D18).
    public var onIgnored: (Int) -> Void = { _ in }
    /// Whether a process ended without accepting the call, so that the call moved to the next process.
    private(set) var wasMoved = false
    /// The secrets that were sent to the helper with this call.
    private(set) var secrets: [String] = []
    private weak var host: HelperHost?
    private var completion: ((HelperOutcome) -> Void)?

    init(_ question: Question, to name: String, host: HelperHost, completion: @escaping (HelperOutcome) -> Void) {
        self.question = question
        self.name = name
        self.host = host
        self.completion = completion
    }

    /// Whether the completion may still be called.
    public var isLive: Bool { completion != nil }

    /// Ends the command. The helper reads end-of-file at once; a process that serves only this command gets SIGTERM after 20 ms and SIGKILL after 60
    /// ms, even if it has answered. The completion is no longer called, even if an answer is already on its way.
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

    func beginAgain() {
        (wasMoved, onCancel) = (true, nil)
        host?.begin(self)
    }

    func countIgnored(_ count: Int) {
        guard count > 0 else { return }
        host?.countIgnored(count, name)
        onIgnored(count)
    }

    /// Calls the completion. A fault gets the helper's name and its standard error, with every secret of this call masked (R3).
    ///
    /// - Parameter lingering: called if the call is cancelled after its answer.
    func complete(_ outcome: HelperOutcome, tail: ErrorTail? = nil, lingering: (() -> Void)? = nil) {
        guard let completion else { return }
        self.completion = nil
        onCancel = lingering
        guard case .failed(let fault) = outcome else { return completion(outcome) }
        let named = HelperFault(fault.code, "\(name): \(fault.sentence)", standardError: tail?.text(), cause: fault.cause)
        completion(.failed(named.masked(Secrets(secrets))))
    }
}
