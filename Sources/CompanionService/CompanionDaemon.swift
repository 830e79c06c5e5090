import ControlAPI
import EventLoop

/// The daemon as the service sees it: it provides its status and its questions, and takes answers and accepted offers.
@LoopActor protocol CompanionDaemon: AnyObject {
    /// Called with the interfaces at each change, and with `nil` when no daemon answers.
    var onStatus: ([InterfaceStatus]?) -> Void { get set }
    /// Called with the waiting questions at each change.
    var onPrompts: ([PendingPrompt]) -> Void { get set }

    func start()
    /// Calls back once, after this method has returned.
    func answer(_ parameters: AnswerParameters, _ done: @escaping (Result<Void, DaemonRefusal>) -> Void)
    /// Calls back once, after this method has returned.
    func addOffered(_ offer: OfferedParameters, _ done: @escaping (Result<OfferedReply, DaemonRefusal>) -> Void)
}

/// The reason why the daemon refused a request: one sentence for the user.
struct DaemonRefusal: Error, Hashable {
    let message: String
}
